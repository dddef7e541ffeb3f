"""A logarithmic axis: its ends, and ticks in few words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.views.axes.ticks import Tick, brief, number_ticks


def power_ticks(low: float, high: float, most: int = 8) -> list[Tick]:
    """Powers of ten from low to high, thinned evenly; round numbers where there are not two of these.

    Args:
        low: the least that is drawn, above zero.
        high: the most that is drawn.
        most: how many there may be.

    >>> [words for _, words in power_ticks(0.01, 1000.0)]
    ['0.01', '0.1', '1', '10', '100', '1k']
    >>> [words for _, words in power_ticks(2.0, 9.0)]
    ['2', '4', '6', '8']
    """
    powers = np.arange(np.ceil(np.log10(low) - 1e-9), np.floor(np.log10(high) + 1e-9) + 1)
    powers = powers[:: max(1, -(-len(powers) // most))]
    if len(powers) < 2:
        return number_ticks(low, high, 5)
    return [(float(10.0**p), brief(float(10.0**p))) for p in powers]


def log_padded(values: NDArray[np.float64], before: float, after: float) -> tuple[float, float]:
    """Ends of a logarithmic axis that holds all values, also where they are all alike.

    Args:
        values: above zero, one or more.
        before: share of their range, in powers, left free below.
        after: share left free above.

    >>> [round(end, 3) for end in log_padded(np.array([1.0, 100.0]), 0.5, 0.0)]
    [0.1, 100.0]
    """
    low, high = np.log10(values.min()), np.log10(values.max())
    wide = max(high - low, 0.5)
    ends = np.clip([low - before * wide, high + after * wide], -307.0, 308.0)
    return float(10.0 ** ends[0]), float(10.0 ** ends[1])
