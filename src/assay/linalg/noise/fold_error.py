"""How sure a mean over folds is: its standard error and interval, corrected for training rows that folds share.

    error     s sqrt(1 / m + n_test / n_train)     of m values with standard deviation s
    interval  mean +- t error                      t of Student's law with m - 1 degrees of freedom

The second term stands for the overlap of the training sets, without which intervals are far too narrow.
Reference: Nadeau & Bengio, Inference for the generalization error, Machine Learning 52, 2003.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from assay.arrays import Array


def fold_error(values: Array, overlap: float | None = None) -> Array:
    """(...) standard error of the mean over folds.

    Args:
        values: (m, ...) of m folds, at least two.
        overlap: rows tested for each row trained on. None: 1 / (m - 1), that of m folds of equal size.

    >>> fold_error(np.array([[0.0], [2.0], [4.0]])).round(4)
    array([1.8257])
    """
    m = len(values)
    shared = 1.0 / (m - 1) if overlap is None else overlap
    return np.asarray(values.std(axis=0, ddof=1) * np.sqrt(1.0 / m + shared))


def fold_interval(
    centre: ArrayLike, error: ArrayLike, m: int, *, within: tuple[float, float] = (-np.inf, np.inf)
) -> Array:
    """(..., 2) 95% interval of a mean over folds.

    Args:
        centre: (...) the mean, or what stands for it: the value of all folds pooled.
        error: (...) its standard error, from `fold_error`.
        m: folds.
        within: least and largest value that the measure can have; the interval ends there.

    >>> fold_interval(0.9, 0.05, 10, within=(0.0, 1.0)).round(3)
    array([0.787, 1.   ])
    """
    middle, half = np.asarray(centre, dtype=np.float64), stdtrit(m - 1, 0.975) * np.asarray(error)
    return np.stack([np.maximum(middle - half, within[0]), np.minimum(middle + half, within[1])], axis=-1)


def fold_mean(values: ArrayLike, *, within: tuple[float, float]) -> tuple[float, tuple[float, float]]:
    """The mean of one measure over folds and its 95% interval.

    Args:
        values: (m,) one of each fold.
        within: least and largest value that the measure can have.

    >>> round(fold_mean([0.2, 0.4, 0.6], within=(0.0, 1.0))[0], 6)
    0.4
    """
    each = np.asarray(values, dtype=np.float64)
    mean = float(each.mean())
    low, high = fold_interval(mean, fold_error(each), len(each), within=within)
    return mean, (float(low), float(high))
