"""How much variance an axis carries on rows that had no part in finding it.

Means, scales and axes come from the training rows alone; the held-out rows are measured about the training mean:
    H = D^-1 [S_test + w (m_test - m_train)(m_test - m_train)^T] D^-1 / w,   share_j = w_j^T H w_j / trace H
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.eigen.principal import axes_of_covariance, axes_of_rows
from assay.linalg.noise.fold_error import fold_error, fold_interval
from assay.summary.moments.column_moments import column_moments
from assay.summary.moments.grouped import GroupedMoments

# Of its spread in all rows: less in the training rows is rounding. Columns made from several others, such as the levels
# of a category, know their means to some 1e-11 of it.
_CONSTANT = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutComponents:
    """Shares of variance on unseen rows.

    Attributes:
        share: (k,) mean over folds.
        error: (k,) its standard error, widened for the overlap of the training sets: see `linalg.fold_error`.
        interval: (k, 2) 95% interval.
        by_fold: (m, k) share in each fold.
    """

    share: Array
    error: Array
    interval: Array
    by_fold: Array


def together(by_fold: Array, which: list[int]) -> tuple[float, tuple[float, float]]:
    """Share of variance of several axes together, and its 95% interval.

    Args:
        by_fold: (m, k) share of each axis in each fold.
        which: numbers of the axes, from 0.
    """
    found = _summarised(by_fold[:, which].sum(axis=1, keepdims=True))
    return float(found.share[0]), (float(found.interval[0, 0]), float(found.interval[0, 1]))


def held_out_from_folds(folds: GroupedMoments, k: int) -> HeldOutComponents:
    """Shares of variance of the leading k axes of the correlation, from fold summaries: no row is read again.

    Args:
        folds: moments per fold.
        k: how many axes.
    """
    least = _CONSTANT * np.sqrt(folds.total.variance)

    def shares() -> Iterator[Array]:
        for train, test in folds.training():
            spread = np.sqrt(train.variance)
            # what does not vary in training says nothing
            inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > least)
            W = axes_of_covariance(inverse[:, None] * train.covariance * inverse, k, "moments", 0).vectors[:, :k]
            gap = test.mean - train.mean
            H = inverse[:, None] * (test.scatter / test.weight + np.multiply.outer(gap, gap)) * inverse
            yield _ratio(np.einsum("dj,de,ej->j", W, H, W, optimize=True), float(np.trace(H)))

    return _summarised(np.stack(list(shares())))


def held_out_from_rows(X: Array, k: int, fold: NDArray[np.intp]) -> HeldOutComponents:
    """The same for more columns than rows, through (n, n) Gram matrices.

    Args:
        X: (n, d) rows.
        k: how many axes.
        fold: (n,) number of each row's fold, from 0.
    """
    count = int(fold.max()) + 1
    mean, variance = column_moments(X)
    # in units of the spread in all rows, beside which what varies by rounding only can be told
    X = (X - mean) / np.where(variance > 0.0, np.sqrt(variance), np.inf)

    def shares() -> Iterator[Array]:
        for i in range(count):
            train, test = X[fold != i], X[fold == i]
            mean, variance = column_moments(train)
            scale = np.where(variance > _CONSTANT**2, np.sqrt(variance), np.inf)
            W = axes_of_rows(train, mean, scale, k, "gram", 0).vectors[:, :k]
            Z = (test - mean) / scale
            yield _ratio(np.sum((Z @ W) ** 2, axis=0), float(np.sum(Z**2)))

    return _summarised(np.stack(list(shares())))


def _ratio(part: Array, whole: float) -> Array:
    return part / whole if whole > 0.0 else np.zeros_like(part)


def _summarised(by_fold: Array) -> HeldOutComponents:
    mean, error = by_fold.mean(axis=0), fold_error(by_fold)
    return HeldOutComponents(mean, error, fold_interval(mean, error, len(by_fold), within=(0.0, 1.0)), by_fold)
