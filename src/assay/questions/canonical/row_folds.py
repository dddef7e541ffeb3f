"""Folds of two sides from their rows, each side summarised by itself: where one is shuffled, the other is kept.

all rows about their mean, folds f with sums s_f, products S_f            train = all - fold
training mean   m = -s_f / (n - n_f)                                      scatter  S - S_f - (n - n_f) m m^T
fold about it   S_f - s_f m^T - m s_f^T + n_f m m^T                       the same between the sides
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.canonical.canonical import Coupling, principal_side
from assay.linalg.canonical.held_out import CanonicalFold
from assay.linalg.eigen.spectral import Spectrum

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class SideFold:
    """One side of a fold and of the rows outside it.

    Attributes:
        rows: (t, d) rows of the fold, about the mean of all rows.
        total: (d,) their sum.
        mean: (d,) of the rows outside.
        training: principal coordinates of the rows outside.
        smallest: the smallest of their variances, as in `Coupling`.
        own: (r, r) products on the fold, about that mean, in those coordinates.
        others: number of rows outside.
    """

    rows: Array
    total: Array
    mean: Array
    training: Spectrum
    smallest: float
    own: Array
    others: int


def side_folds(X: Array, numbers: Sequence[NDArray[np.intp]]) -> list[SideFold]:
    """What the folds of one side are made of.

    Args:
        X: (n, d) rows.
        numbers: of the rows of each fold; every row is in one.
    """
    n = len(X)
    centred = X - X.mean(axis=0)
    parts = [centred[rows] for rows in numbers]
    products = [part.T @ part for part in parts]
    S = np.sum(products, axis=0)
    found = []
    for part, own in zip(parts, products, strict=True):
        total, others = part.sum(axis=0), n - len(part)
        mean = -total / others
        scatter = S - own - others * np.multiply.outer(mean, mean)
        # a column that is constant outside the fold leaves what rounding leaves of the difference
        still = np.diag(scatter) <= 8.0 * n * _EPS * np.diag(S)
        scatter[still], scatter[:, still] = 0.0, 0.0
        spectrum, smallest = principal_side(scatter / max(others - 1.0, 1.0), others)
        about = _about(own, (total, total), (mean, mean), len(part))
        axes = spectrum.vectors
        found.append(SideFold(part, total, mean, spectrum, smallest, axes.T @ about @ axes, others))
    return found


def coupled_folds(left: Sequence[SideFold], right: Sequence[SideFold]) -> list[CanonicalFold]:
    """Folds of two sides whose rows belong together in the order they are in."""
    products = [x.rows.T @ y.rows for x, y in zip(left, right, strict=True)]
    S = np.sum(products, axis=0)
    folds = []
    for x, y, own in zip(left, right, products, strict=True):
        scatter = S - own - x.others * np.multiply.outer(x.mean, y.mean)
        about = _about(own, (x.total, y.total), (x.mean, y.mean), len(x.rows))
        Vx, Vy = x.training.vectors, y.training.vectors
        cross = Vx.T @ (scatter / max(x.others - 1.0, 1.0)) @ Vy
        coupling = Coupling(x.training, y.training, cross, (x.smallest, y.smallest))
        folds.append(CanonicalFold(coupling, x.own, y.own, Vx.T @ about @ Vy))
    return folds


def _about(products: Array, sums: tuple[Array, Array], means: tuple[Array, Array], rows: int) -> Array:
    """Sums of products about other means."""
    shifted = products - np.multiply.outer(sums[0], means[1]) - np.multiply.outer(means[0], sums[1])
    return np.asarray(shifted + rows * np.multiply.outer(*means))
