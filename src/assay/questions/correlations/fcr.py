"""Intervals of pairs that were chosen because they stand: wider, so that of those printed 95% cover.

Of m pairs R stand. Intervals of level 1 - .05 R / m for these miss, on average, 5% of those shown, however they were
chosen by their own strength: the false coverage rate.

Reference: Benjamini and Yekutieli, False discovery rate-adjusted multiple confidence intervals, JASA 100 (2005).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from assay.arrays import Array
from assay.summary.pairs.pairs import Pairs

_MOST = 1.0 - 1e-12


def chosen_intervals(pairs: Pairs, standing: int, tested: int) -> tuple[Array, Array]:
    """(k,) lower and upper ends for the pairs that stand, NaN for others and where there is no interval.

    Args:
        pairs: those that stand first.
        standing: how many stand.
        tested: how many were tested.
    """
    k = min(standing, len(pairs))
    low, high = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan)
    if not k:
        return low, high
    wider = -ndtri(0.025 * min(standing / max(tested, 1), 1.0)) / -ndtri(0.025)
    ends = [np.arctanh(np.clip(end[:k], -_MOST, _MOST)) for end in (pairs.low, pairs.high)]
    middle, reach = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    plain = pairs.monotone[:k] & (pairs.lag[:k] == 0)  # of curves and lags the ends are not those of what is shown
    low[:k], high[:k] = (np.where(plain, np.tanh(middle + side * wider * reach), np.nan) for side in (-1, 1))
    return low, high
