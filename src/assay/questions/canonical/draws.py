"""First canonical pairs of many orders of one side at once, each judged on rows it was not found on.

For draws of chance the rows of one side change their order and the other side stays. All orders go through each fold
together, as stacks of small matrices, in the notation of `canonical_row_folds`:

    a, b       weights of the first pair of the training rows, for each order and each pair of ridges
    forms      a^T T_xy b, a^T T_xx a, b^T T_yy b on the fold, about the mean of the training rows
    reached    sum of the first over folds / sqrt(sum of the second times sum of the third)

The ridge of a fold is the one that reaches most on the *other* folds of its split, so that a fold does not choose what
it measures. Several splits into folds are pooled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.questions.canonical.row_folds import SideFold

_EPS = float(np.finfo(np.float64).eps)
_TIED = 1e-10  # correlations that rounding cannot tell apart: the larger ridge wins


@dataclass(frozen=True, slots=True, eq=False)
class ReachedPairs:
    """What first pairs reach on unseen rows.

    Attributes:
        correlation: (B,) of each order, ridges chosen fold by fold.
        best: (B,) number of the ridges that do best over all folds.
    """

    correlation: Array
    best: NDArray[np.intp]


def reached(
    splits: Sequence[tuple[Sequence[NDArray[np.intp]], Sequence[SideFold]]],
    Y: Array,
    orders: NDArray[np.intp],
    ridges: Sequence[tuple[float, float]],
) -> ReachedPairs:
    """Judge the first pair of each order.

    Args:
        splits: for each split the row numbers of its folds, and the side that stays, from `side_folds` of these.
        Y: (n, q) the other side.
        orders: (B, n) rows of it that come beside those of the side that stays.
        ridges: k pairs, ascending.
    """
    centred = Y - Y.mean(axis=0)
    S = centred.T @ centred
    picked, every = [], []
    for numbers, kept in splits:
        forms = _forms(numbers, kept, centred[orders], S, ridges)
        others = forms.sum(axis=0) - forms
        chosen = _best(_ratio(others))
        picked.append(np.take_along_axis(forms, chosen[:, None, :, None], axis=3)[..., 0].sum(axis=0))
        every.append(forms.sum(axis=0))
    return ReachedPairs(_ratio(np.sum(picked, axis=0)[None])[0], _best(_ratio(np.sum(every, axis=0)[None]))[0])


def _forms(
    numbers: Sequence[NDArray[np.intp]],
    kept: Sequence[SideFold],
    Y: Array,
    S: Array,
    ridges: Sequence[tuple[float, float]],
) -> Array:
    """(folds, 3, B, k) forms of each fold.

    Args:
        numbers, kept: as in `reached`.
        Y: (B, n, q) orders of the other side, about its mean.
        S: (q, q) its products, which no order changes.
        ridges: k pairs.
    """
    n = Y.shape[1]
    parts = [Y[:, rows] for rows in numbers]
    products = [side.rows.T @ part for side, part in zip(kept, parts, strict=True)]
    between = np.sum(products, axis=0)
    found = []
    for side, part, both in zip(kept, parts, products, strict=True):
        own, total = part.transpose(0, 2, 1) @ part, part.sum(axis=1)
        mean, rows = -total / side.others, part.shape[1]
        scatter = S - own - side.others * _outer(mean, mean)
        _still(scatter, S, n)
        values, V = np.linalg.eigh(scatter / max(side.others - 1.0, 1.0))
        across = between - both - side.others * _outer(side.mean[None], mean)
        training = side.training.vectors.T @ (across / max(side.others - 1.0, 1.0)) @ V
        x_mean, x_total = side.mean[None], side.total[None]
        cross = both - _outer(x_total, mean) - _outer(x_mean, total - rows * mean)
        cross = side.training.vectors.T @ cross @ V
        about = own - _outer(total, mean) - _outer(mean, total - rows * mean)
        about = V.transpose(0, 2, 1) @ about @ V
        # what is at most this is a direction without variance but for rounding
        real = values > 8.0 * values.shape[1] * _EPS * values[:, -1:]
        each = []
        for rx, ry in ridges:
            x = 1.0 / np.sqrt(side.training.values + rx)
            y = np.where(real, 1.0, 0.0) / np.sqrt(np.where(real, values, 1.0) + ry)
            a, b = _pair(training * x[:, None] * y[:, None, :])
            a, b = a * x, b * y
            each.append([_form(a, cross, b), _form(a, side.own[None], a), _form(b, about, b)])
        found.append(np.moveaxis(np.array(each), 0, -1))
    return np.stack(found)


def _pair(M: Array) -> tuple[Array, Array]:
    """(B, r) and (B, s) leading singular vectors of (B, r, s) matrices."""
    wide = M.shape[1] <= M.shape[2]
    small = M if wide else M.transpose(0, 2, 1)
    if small.shape[1] == 0:
        one, other = np.zeros((len(M), 0)), np.zeros((len(M), small.shape[2]))
    else:
        one = np.linalg.eigh(small @ small.transpose(0, 2, 1))[1][:, :, -1]
        other = np.einsum("bij,bi->bj", small, one)
        length = np.linalg.norm(other, axis=1, keepdims=True)
        other = np.divide(other, length, out=np.zeros_like(other), where=length > 0.0)
    return (one, other) if wide else (other, one)


def _still(scatter: Array, S: Array, n: int) -> None:
    """A column that is constant outside the fold leaves what rounding leaves of the difference: nothing, in place."""
    still = np.einsum("bii->bi", scatter) <= 8.0 * n * _EPS * np.diag(S)
    scatter[still[:, :, None] | still[:, None, :]] = 0.0


def _ratio(forms: Array) -> Array:
    """(..., B, k) correlations of (..., 3, B, k) forms; 0 where a side does not vary."""
    across, left, right = np.moveaxis(forms, 1, 0)
    spread = np.sqrt(np.maximum(left, 0.0)) * np.sqrt(np.maximum(right, 0.0))
    return np.asarray(np.divide(across, spread, out=np.zeros_like(spread), where=spread > 0.0))


def _best(correlations: Array) -> NDArray[np.intp]:
    """(...,) number of the largest along the last axis, the last of equal ones."""
    top = correlations >= correlations.max(axis=-1, keepdims=True) - _TIED
    return np.asarray(top.shape[-1] - 1 - top[..., ::-1].argmax(axis=-1))


def _outer(x: Array, y: Array) -> Array:
    return np.asarray(x[:, :, None] * y[:, None, :])


def _form(a: Array, T: Array, b: Array) -> Array:
    """(B,) a^T T b of each."""
    return np.asarray(((a[:, None, :] @ T)[:, 0] * b).sum(axis=1))
