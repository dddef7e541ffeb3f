"""The range of a share that was counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from assay.arrays import Array
from assay.evidence.outcomes import checked_level

_ALONE = 0.8  # of the rows judged by models that share training rows


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


def unseen_share_interval(share: float, rows: float) -> tuple[float, float]:
    """Wilson's 95% range of a share that models reach on rows they were not fitted to, in folds.

    Fits to training rows that overlap are right and wrong together, so that the rows tell as much as four fifths of
    them would: with all of them counted, Fisher's rule on 60 and 90 rows with 4 columns had ranges that held the truth
    in 92 and 91% of 150 tables.

    Args:
        share: of the rows that came true.
        rows: how many there are.

    >>> [round(end, 4) for end in unseen_share_interval(1.0, 100.0)]
    [0.9542, 1.0]
    """
    low, high = share_interval(share * _ALONE * rows, _ALONE * rows)
    return min(float(low), share), max(float(high), share)
