"""How the scatter of two summaries becomes one, with the rounding carried along."""

from __future__ import annotations

import numpy as np

from assay.linalg import double_double as dd

_STRIP = 1 << 18


def weighted_gap(wa: dd.Pair, wb: dd.Pair, w: dd.Pair, ma: dd.Pair, mb: dd.Pair) -> dd.Pair:
    """sqrt(w_a w_b / w) (m_a - m_b): its outer product is what two means so far apart add to the scatter."""
    factor = dd.square_root(dd.divide(dd.multiply(wa, wb), w))
    return dd.multiply(factor, dd.add(ma, dd.negative(mb)))


def combined_scatter(a: dd.Pair, b: dd.Pair, gap: dd.Pair, sign: float) -> dd.Pair:
    """Give a + sign (b + gap gap^T), in strips of rows so that wide tables need no more than a few megabytes beside."""
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
    if sign < 0.0:
        flat = np.flatnonzero(np.diag(high) <= 0.0)  # no variance left, but for rounding: then no covariance either
        for word in (high, low):
            word[flat] = word[:, flat] = 0.0
    return high, low
