"""Which ridge makes canonical pairs that hold on rows they were not found on.

For each fold the pairs come from the other rows; on its own rows they reach

    c = sum_folds a^T T_xy b / sqrt(sum_folds a^T T_xx a  sum_folds b^T T_yy b)

with T the products of deviations from the training mean in training coordinates. Sums, not means of correlations, so
that folds of few rows count for what they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.canonical.canonical import Coupling, canonical_pairs, coupled_grams, first_pair
from assay.linalg.eigen.spectral import Spectrum
from assay.linalg.one_thread import one_blas_thread

Ridge = tuple[float, float]
USUAL = (0.0, 1e-3, 1e-2, 1e-1, 1.0, 10.0)  # candidates, as multiples of the mean variance of a side's directions
_TIED = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalFold:
    """Rows to find pairs on and rows to judge them by, both in the principal coordinates of the first.

    Attributes:
        training: the coupling of the other rows.
        x: (r, r) products of deviations on the fold, left side.
        y: (s, s) of the right side.
        cross: (r, s) between them.
    """

    training: Coupling
    x: Array
    y: Array
    cross: Array


@dataclass(frozen=True, slots=True, eq=False)
class RidgeChoice:
    """The best of all pairs of ridges.

    Attributes:
        ridge: of the left and of the right side.
        table: (m, m) held-out correlation of the first pair, by left and right ridge.
    """

    ridge: Ridge
    table: Array


def choose_ridge(folds: Sequence[CanonicalFold], left: Sequence[float], right: Sequence[float]) -> RidgeChoice:
    """The ridges whose first pair correlates most on the folds; of equal ones the largest.

    Args:
        folds: at least two, each with a positive rank on both sides.
        left: candidates, ascending.
        right: candidates, ascending.
    """
    table = first_held_out(folds, product(left, right)).reshape(len(left), len(right))
    # larger ridges are the simpler answer: they win what rounding cannot tell apart
    i, j = max(np.argwhere(table >= table.max() - _TIED).tolist(), key=lambda at: (sum(at), at))
    return RidgeChoice((left[i], right[j]), table)


def choose_common_ridge(
    folds: Sequence[CanonicalFold], left: Sequence[float], right: Sequence[float]
) -> tuple[Ridge, float]:
    """The best of candidates that go up on both sides together, the largest of equal ones, and what it reaches.

    Args:
        folds: as in `choose_ridge`.
        left: candidates, ascending.
        right: as many, ascending.
    """
    ridges = list(zip(left, right, strict=True))
    reached = first_held_out(folds, ridges)
    best = int(np.flatnonzero(reached >= reached.max() - _TIED)[-1])
    return ridges[best], float(reached[best])


def first_held_out(folds: Sequence[CanonicalFold], ridges: Iterable[Ridge]) -> Array:
    """(k,) correlation of the first pair on rows it was not found on, for each of k pairs of ridges."""
    asked = list(ridges)
    weights = []
    with one_blas_thread():
        for fold in folds:
            a, b = zip(*(first_pair(fold.training, ridge) for ridge in asked), strict=True)
            weights.append((np.stack(a, axis=1), np.stack(b, axis=1)))
        return _pooled(folds, weights)


def usual_ridges(side: Spectrum) -> list[float]:
    """The candidates of one side, in units of its variances; three digits are enough, and read better.

    >>> usual_ridges(Spectrum(np.array([2.0, 1.0]), np.eye(2)))
    [0.0, 0.0015, 0.015, 0.15, 1.5, 15.0]
    """
    unit = float(side.values.mean())
    return [float(f"{multiple * unit:.3g}") for multiple in USUAL]


def held_out_correlations(folds: Sequence[CanonicalFold], ridge: Ridge, k: int) -> Array:
    """(k,) what each pair reaches on rows it was not found on; 0 where a fold does not have so many."""
    weights = []
    for fold in folds:
        most = min(k, *fold.cross.shape)
        pairs = canonical_pairs(fold.training, ridge, most)
        pad = ((0, 0), (0, k - most))
        weights.append((np.pad(pairs.x, pad), np.pad(pairs.y, pad)))
    return _pooled(folds, weights)


def gram_folds(Kx: Array, Ky: Array, numbers: NDArray[np.intp], widths: tuple[int, int]) -> list[CanonicalFold]:
    """Folds from one pair of Gram matrices.

    Args:
        Kx: (n, n) inner products of the left side about any centre.
        Ky: (n, n) of the right side.
        numbers: (n,) the fold of each row.
        widths: columns that differ on each side.
    """
    folds = []
    for number in range(int(numbers.max()) + 1):
        new = numbers == number
        (Tx, Nx), (Ty, Ny) = (_recentred(K, ~new, new) for K in (Kx, Ky))
        training = coupled_grams(Tx, Ty, max(len(Tx) - 1.0, 1.0), widths)
        zx, zy = Nx @ training.x.vectors, Ny @ training.y.vectors
        folds.append(CanonicalFold(training, zx.T @ zx, zy.T @ zy, zx.T @ zy))
    return folds


def _pooled(folds: Sequence[CanonicalFold], weights: Sequence[tuple[Array, Array]]) -> Array:
    across, left, right = np.sum(
        [
            [_forms(a, fold.cross, b), _forms(a, fold.x, a), _forms(b, fold.y, b)]
            for fold, (a, b) in zip(folds, weights, strict=True)
        ],
        axis=0,
    )
    spread = np.sqrt(np.maximum(left, 0.0)) * np.sqrt(np.maximum(right, 0.0))
    return np.asarray(np.divide(across, spread, out=np.zeros(len(spread)), where=spread > 0.0))


def _forms(a: Array, T: Array, b: Array) -> Array:
    """a_j^T T b_j for each column j."""
    return np.asarray(np.einsum("ik,ik->k", a, T @ b))


def _recentred(K: Array, old: NDArray[np.bool_], new: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Products among the old rows, and of new with old ones, about the mean of the old."""
    train, test = K[np.ix_(old, old)], K[np.ix_(new, old)]
    means = train.mean(axis=0)
    # the two means are added first: taken off one after the other, it would not be symmetric to the last bit
    centred = train - np.add.outer(means, means) + means.mean()
    return centred, test - test.mean(axis=1, keepdims=True) - means + means.mean()
