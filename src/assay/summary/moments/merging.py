"""How the scatter of two summaries becomes one, with the rounding carried along."""

from __future__ import annotations

import numpy as np

from assay.arrays import Array
from assay.linalg import double_double as dd

_STRIP = 1 << 18
# What a pair of float64 rounds is 2**-104 of the terms of a sum; thousands of merges leave some 2**-92 of them.
_ROUNDING = 2.0**-90


def weighted_gap(wa: dd.Pair, wb: dd.Pair, w: dd.Pair, ma: dd.Pair, mb: dd.Pair) -> dd.Pair:
    """sqrt(w_a w_b / w) (m_a - m_b): its outer product is what two means so far apart add to the scatter."""
    factor = dd.square_root(dd.divide(dd.multiply(wa, wb), w))
    return dd.multiply(factor, dd.add(ma, dd.negative(mb)))


def combined_scatter(a: dd.Pair, b: dd.Pair, gap: dd.Pair, sign: float, terms: Array | None = None) -> dd.Pair:
    """Give a + sign (b + gap gap^T), in strips of rows so that wide tables need no more than a few megabytes beside.

    Args:
        a: (d, d) one scatter.
        b: (d, d) the other.
        gap: (d,) see `weighted_gap`.
        sign: 1 to merge, -1 to take b out of a.
        terms: (d,) for taking out: how large the numbers were whose differences the variances are.
    """
    d = len(gap[0])
    high, low = np.empty((d, d)), np.empty((d, d))
    step = max(1, _STRIP // d)
    for i in range(0, d, step):
        rows = slice(i, i + step)
        between = dd.outer((gap[0][rows], gap[1][rows]), gap)
        part = b[0][rows], b[1][rows]
        if sign < 0.0:
            between, part = dd.negative(between), dd.negative(part)
        high[rows], low[rows] = dd.add_three((a[0][rows], a[1][rows]), part, between)
    if terms is not None:
        # no variance left, but for rounding of either sign: then no covariance either
        flat = np.flatnonzero(np.diag(high) <= _ROUNDING * terms)
        for word in (high, low):
            word[flat] = word[:, flat] = 0.0
    return high, low
