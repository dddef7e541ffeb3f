"""The range of a share that was counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from assay.evidence.outcomes import checked_level

Array = NDArray[np.float64]


def share_interval(hits: ArrayLike, counts: ArrayLike, confidence: float = 0.95) -> tuple[Array, Array]:
    """Wilson's range of a share, of which `hits` of `counts` were seen; NaN where there are none.

    Args:
        hits: how many came true.
        counts: of how many.
        confidence: how often the range is to hold the share.

    >>> [round(float(end), 4) for end in share_interval(8, 10)]
    [0.4902, 0.9433]
    """
    x, n = np.asarray(hits, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    z = float(ndtri((1 + checked_level(confidence)) / 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        p = x / n
        middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        low, high = np.where(x == 0, 0.0, middle - half), np.where(x == n, 1.0, middle + half)
    empty = n == 0
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)
