"""Loss, gradient and curvature of logistic regression over a block of rows; blocks add up.

design    z_i = ((x_i - c) * s, 1), (m,); the 1 only where there is an intercept
scores    theta (k, m) with k = g - 1;  A theta z_i, (g,), for contrasts A (g, k) of g classes
loss      sum_i w_i (log sum_j exp(score_ij) - score_i,class(i))
gradient  A^T R^T Z, (k, m), with residuals R_ij = w_i (p_ij - [class(i) = j])
curvature sum over pairs of classes j < l of (A_j - A_l)(A_j - A_l)^T (x) Z^T diag(w p_j p_l) Z, (k m, k m)

Of few classes the curvature is made as this sum of squares; of many as (A^T (x) 1) B (A (x) 1), whose blocks
-Z^T diag(w p_j p_l) Z are one product of the (b, g m) matrix of p_ij z_i, and B_jj = Z^T diag(w p_j (1 - p_j)) Z.

Two classes have A = (0, 1)^T: theta is the usual one vector. For more, the columns of A are orthonormal and orthogonal
to 1: the symmetric form with coefficients that sum to zero over classes, whose squared length is that of theta.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.linalg as sla
from scipy.sparse import issparse
from scipy.special import expit, softmax

from assay.arrays import Array, Indices
from assay.engine.local import in_threads

Rows: TypeAlias = Any  # (b, d) array, float64 or float32, or a sparse matrix

_TINY = float(np.finfo(np.float64).tiny)
_CHUNK = 1 << 18  # numbers of a chunk: 2 MB, so that the products after the first find it in the cache
_FEW = 8  # classes up to which each pair of them has a product of its own


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """What rows add to the problem; `a + b` is what both add.

    Attributes:
        loss: minus the log likelihood.
        doubtful: rows whose own class has a chance of at most one half; with none, the scores separate the classes.
        gradient: (k, m).
        curvature: (k m, k m), parameters in the order of theta.ravel(); None if not asked for.
    """

    loss: float
    doubtful: int
    gradient: Array
    curvature: Array | None = None

    def __add__(self, other: Terms) -> Terms:
        both = None if self.curvature is None or other.curvature is None else self.curvature + other.curvature
        return Terms(self.loss + other.loss, self.doubtful + other.doubtful, self.gradient + other.gradient, both)


@dataclass(frozen=True, slots=True, eq=False)
class LogisticDesign:
    """How rows enter the products.

    Attributes:
        centre: (d,) subtracted, so that columns far from zero keep their digits; None for sparse rows.
        scale: (d,) multiplied after that; None where squares stay in range without.
        intercept: whether a column of ones follows.
    """

    centre: Array | None
    scale: Array | None
    intercept: bool

    def chunks(self, rows: Rows) -> Iterator[tuple[slice, Array]]:
        """Chunks of the design, (b, m) each; a chunk is overwritten by the next."""
        n, d = rows.shape
        step = int(np.clip(_CHUNK // max(d, 1), 64, 4096))
        dense = not issparse(rows)
        # in the layout of the data: transposing costs more than the products
        order: Literal["F", "C"] = "F" if dense and rows.flags.f_contiguous and not rows.flags.c_contiguous else "C"
        buffer = np.ones((min(step, n), d + self.intercept), order=order)
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            Z = buffer[: part.stop - start]
            values = rows[part] if dense else rows[part].toarray()
            if self.centre is None:
                Z[:, :d] = values
            else:
                np.subtract(values, self.centre, out=Z[:, :d])
            if self.scale is not None:
                Z[:, :d] *= self.scale
            yield part, Z


@lru_cache
def contrasts(g: int) -> Array:
    """Contrasts A of g classes, (g, g - 1), read-only.

    >>> contrasts(2).tolist()
    [[0.0], [1.0]]
    """
    A = np.array([[0.0], [1.0]] if g == 2 else sla.helmert(g).T, dtype=np.float64, order="C")
    A.flags.writeable = False
    return A


def block_terms(
    design: LogisticDesign, rows: Rows, codes: Indices, weights: Array | None, theta: Array, *, curvature: bool
) -> Terms:
    """What a block adds.

    Args:
        design: how its rows enter.
        rows: (b, d).
        codes: (b,) classes, counted from 0.
        weights: (b,), or None for 1 each.
        theta: (k, m) parameters.
        curvature: whether second derivatives are wanted.
    """
    if not curvature and (issparse(rows) or (design.centre is None and design.scale is None)):
        return _terms_of_products(design, rows, codes, weights, theta)
    k, m = theta.shape
    A = contrasts(k + 1)
    of_classes = A @ theta
    loss, doubtful, gradient = 0.0, 0, np.zeros((k, m))
    bent = (_OfPairs if k < _FEW else _OfBlocks)(k + 1, m) if curvature else None
    for part, Z in design.chunks(rows):
        w = None if weights is None else weights[part]
        if k == 1:
            one, unsure, residual, chances = _two_classes(Z @ theta[0], codes[part], w)
            gradient[0] += residual @ Z
        else:
            one, unsure, residual, chances = _many_classes(Z @ of_classes.T, codes[part], w)
            gradient += A.T @ (residual.T @ Z)
        loss += one
        doubtful += unsure
        if bent is not None:
            bent.add(Z, chances, w)
    return Terms(loss, doubtful, gradient, None if bent is None else bent.contrasted(A))


def sparse_chances(design: LogisticDesign, rows: Rows, theta: Array) -> Array:
    """Chances of the classes of sparse rows, (b, g); of two classes the second comes alone, (b, 1)."""
    k = len(theta)
    scores = _scores(design, rows, theta if k == 1 else contrasts(k + 1) @ theta)
    return np.asarray(expit(scores) if k == 1 else softmax(scores, axis=1))


def sparse_bend(design: LogisticDesign, rows: Rows, chances: Array, weights: Array | None, direction: Array) -> Array:
    """The curvature of the loss of sparse rows times a direction, (k, m), without the curvature.

    Args:
        design, rows, weights: as for `block_terms`.
        chances: of `sparse_chances`.
        direction: (k, m).
    """
    k = len(direction)
    A = contrasts(k + 1)
    moved = _scores(design, rows, direction if k == 1 else A @ direction)
    if k == 1:
        change = chances * (1.0 - chances) * moved
    else:
        change = chances * (moved - np.einsum("ij,ij->i", chances, moved)[:, None])
    if weights is not None:
        change *= weights[:, None]
    back = _gradient_of(design, rows, change)
    return back if k == 1 else A.T @ back


class _OfPairs:
    """The curvature as a sum of squares: a product of its own for each pair of g classes."""

    def __init__(self, g: int, m: int) -> None:
        self._products = np.zeros((g * (g - 1) // 2, m, m))

    def add(self, Z: Array, chances: Array, w: Array | None) -> None:
        first = chances if w is None else chances * w[:, None]
        for product, (i, j) in zip(self._products, combinations(range(chances.shape[1]), 2), strict=True):
            root = Z * np.sqrt(first[:, i] * chances[:, j])[:, None]
            product += root.T @ root

    def contrasted(self, A: Array) -> Array:
        g, k = A.shape
        m = self._products.shape[1]
        total = np.zeros((k, m, k, m))
        for product, (i, j) in zip(self._products, combinations(range(g), 2), strict=True):
            apart = A[i] - A[j]
            total += np.einsum("a,b,ij->aibj", apart, apart, product)
        return total.reshape(k * m, k * m)


class _OfBlocks:
    """The curvature of many classes: the products of all pairs are one product of (b, g m) numbers."""

    def __init__(self, g: int, m: int) -> None:
        self._every, self._own = np.zeros((g * m, g * m)), np.zeros((g, m, m))

    def add(self, Z: Array, chances: Array, w: Array | None) -> None:
        root = np.ones(len(Z)) if w is None else np.sqrt(w)
        g, m = self._own.shape[:2]
        step = max(1, 4 * _CHUNK // (g * m))
        for part in (slice(start, start + step) for start in range(0, len(Z), step)):
            scaled = Z[part] * root[part, None]
            spread = (chances[part, :, None] * scaled[:, None, :]).reshape(-1, g * m)
            self._every += spread.T @ spread
            for own, bend in zip(self._own, (chances[part] * _of_others(chances[part])).T, strict=True):
                own += (scaled * bend[:, None]).T @ scaled

    def contrasted(self, A: Array) -> Array:
        (g, k), m = A.shape, self._own.shape[1]
        B = -self._every.reshape(g, m, g, m)
        B[np.arange(g), :, np.arange(g), :] = self._own
        half = np.tensordot(A, B, (0, 0))
        H = np.tensordot(half, A, (2, 0)).transpose(0, 1, 3, 2).reshape(k * m, k * m)
        return np.asarray(0.5 * (H + H.T))


def _of_others(chances: Array) -> Array:
    """(b, g) the chance of all other classes, which keeps its digits where one class is nearly sure."""
    at = np.arange(len(chances)), chances.argmax(axis=1)
    others = 1.0 - chances
    rest = chances.copy()
    rest[at] = 0.0
    others[at] = rest.sum(axis=1)
    return others


def score_ranges(design: LogisticDesign, rows: Rows, codes: Indices, weights: Array | None, theta: Array) -> Array:
    """How far the scores of a row lie apart, highest minus lowest: (g,) the largest for rows of each class."""
    of_classes = contrasts(len(theta) + 1) @ theta
    found = np.zeros(len(of_classes))
    every = [(slice(0, len(codes)), _scores(design, rows, of_classes), None)] if issparse(rows) else None
    for part, scores, _ in every or _scored(design, rows, of_classes):
        apart = np.ptp(scores, axis=1)
        if weights is not None:
            apart[weights[part] == 0.0] = 0.0
        np.maximum.at(found, codes[part], apart)
    return found


def advantages(design: LogisticDesign, rows: Rows, codes: Indices, theta: Array) -> Array:
    """By how much each row's own class is ahead of the next, (b,), negative where behind; rows scaled to length 1."""
    of_classes = contrasts(len(theta) + 1) @ theta
    found = np.empty(len(codes))
    for part, scores, lengths in _scored(design, rows, of_classes):
        own = np.take_along_axis(scores, codes[part, None], axis=1)[:, 0]
        np.put_along_axis(scores, codes[part, None], -np.inf, axis=1)
        found[part] = (own - scores.max(axis=1)) / lengths.clip(_TINY)
    return found


def _scored(design: LogisticDesign, rows: Rows, of_classes: Array) -> Iterator[tuple[slice, Array, Array]]:
    """(b, g) scores and (b,) lengths of the design; of sparse rows all at once, since nothing becomes dense."""
    if not issparse(rows):
        for part, Z in design.chunks(rows):
            yield part, Z @ of_classes.T, np.linalg.norm(Z, axis=1)
        return
    scaled: Any = rows
    if design.scale is not None:
        scaled = scaled.multiply(design.scale).tocsr()
    squares = np.asarray(scaled.multiply(scaled).sum(axis=1), dtype=np.float64).ravel()
    yield slice(0, len(squares)), _scores(design, rows, of_classes), np.sqrt(squares + design.intercept)


def _two_classes(margins: Array, codes: Indices, w: Array | None) -> tuple[float, int, Array, Array]:
    sign = 2.0 * codes - 1.0
    ahead = sign * margins
    small = np.exp(-np.abs(ahead))  # never overflows
    wrong = np.where(ahead > 0.0, small, 1.0) / (1.0 + small)  # chance of the other class, all digits near 0
    losses = np.log1p(small) - np.minimum(ahead, 0.0)
    likelier = 1.0 / (1.0 + small)
    chances = np.stack([likelier, small * likelier]).T  # of both classes, whichever is which: only their product counts
    if w is None:
        return float(losses.sum()), int((ahead <= 0.0).sum()), -sign * wrong, chances
    return float(w @ losses), int(((ahead <= 0.0) & (w > 0.0)).sum()), -sign * wrong * w, chances


def _many_classes(scores: Array, codes: Indices, w: Array | None) -> tuple[float, int, Array, Array]:
    at = np.arange(len(codes))
    # classes by rows: numbers beside each other are of one class, so that few classes cost no more than their numbers
    ahead = np.ascontiguousarray(scores.T)  # the scores are nobody else's
    ahead -= ahead.max(axis=0)
    own = ahead[codes, at]
    np.exp(ahead, out=ahead)
    total = ahead.sum(axis=0)
    losses = np.log(total) - own
    ahead /= total
    unsure = ahead[codes, at] <= 0.5
    residual = ahead.copy()
    residual[codes, at] -= 1.0
    if w is None:
        return float(losses.sum()), int(unsure.sum()), residual.T, ahead.T
    return float(w @ losses), int((unsure & (w > 0.0)).sum()), (residual * w).T, ahead.T


def _terms_of_products(
    design: LogisticDesign, rows: Rows, codes: Indices, weights: Array | None, theta: Array
) -> Terms:
    """Loss and gradient of rows that need no copy: sparse ones, and dense ones as they are."""
    k = len(theta)
    A = contrasts(k + 1)
    of_classes = theta if k == 1 else A @ theta

    def of_part(part: slice) -> Terms:
        some, own = rows[part] if part.stop - part.start < rows.shape[0] else rows, codes[part]
        w = None if weights is None else weights[part]
        margins = _scores(design, some, of_classes)
        if k == 1:
            loss, doubtful, flat, _ = _two_classes(margins[:, 0], own, w)
            residual = flat[:, None]
        else:
            loss, doubtful, residual, _ = _many_classes(margins, own, w)
        return Terms(loss, doubtful, _gradient_of(design, some, residual))

    n = rows.shape[0]
    # of many classes as many rows at a time as keep their scores near, on all cores
    step = n if issparse(rows) or n * (k + 1) <= 16 * _CHUNK else max(_CHUNK // (k + 1), 64)
    found = reduce(Terms.__add__, in_threads(of_part, [slice(i, min(i + step, n)) for i in range(0, n, step)]))
    return found if k == 1 else Terms(found.loss, found.doubtful, A.T @ found.gradient)


def _gradient_of(design: LogisticDesign, rows: Rows, residual: Array) -> Array:
    """Residual^T Z, (g, m)."""
    d = rows.shape[1]
    back = np.empty((residual.shape[1], d + design.intercept))
    # a sparse matrix comes first in a product: the other way round it would be made anew as columns
    back[:, :d] = residual.T @ rows if isinstance(rows, np.ndarray) else np.asarray(rows.T @ residual).T
    if design.scale is not None:
        back[:, :d] *= design.scale
    if design.intercept:
        back[:, d] = residual.sum(axis=0)
    return back


def _scores(design: LogisticDesign, rows: Rows, of_classes: Array) -> Array:
    d = rows.shape[1]
    slopes = of_classes[:, :d] if design.scale is None else of_classes[:, :d] * design.scale
    scores = (slopes @ rows.T).T if isinstance(rows, np.ndarray) else np.asarray(rows @ slopes.T)
    if design.intercept:
        scores += of_classes[:, d]
    return scores
