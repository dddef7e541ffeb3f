"""The robust standard deviation of columns: outliers, up to half of the rows, do not move it far."""

from __future__ import annotations

import numpy as np

from assay.arrays import Array

MAD = 1.4826  # times the median absolute deviation is the standard deviation of a normal law
_MEAN = 1.2533  # times the mean absolute deviation is


def robust_spread(centred: Array) -> Array:
    """(d,) standard deviations by the median absolute value; by the mean one where more than half are zero.

    Args:
        centred: (n, d) deviations from the median.

    >>> robust_spread(np.array([[-1.0], [0.0], [1.0], [900.0]]))
    array([1.4826])
    """
    size = np.abs(centred)
    median = np.median(size, axis=0)
    return np.asarray(np.where(median > 0.0, MAD * median, _MEAN * size.mean(axis=0)))
