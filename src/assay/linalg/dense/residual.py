"""Residuals with about 32 digits, rounded once: what iterative refinement lives on.

A residual b - A x cancels nearly all its digits; formed in float64 it is mostly rounding. Products and sums here keep
what rounding loses (error-free transformations), so no wider type is needed and every machine gives the same digits.

Reference: Ogita, Rump, Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 2005.
"""

from __future__ import annotations

import numpy as np

from assay.arrays import Array
from assay.linalg.double_double import two_product, two_sum

# Up to so many entries residuals are formed this way (20 to 50 ns each); beyond, the caller uses plain float64.
CAREFUL = 1_000_000
_CHUNK = 1 << 15  # entries worked on at a time: temporaries stay in cache


def residual(A: Array, x: Array, *terms: Array) -> Array:
    """Form b - A x as if in twice the working precision; b may be given as several terms to be added.

    Args:
        A: (m, n), of moderate scale (entries and products far from 1e290).
        x: (n,) or (n, p).
        terms: each (m,) or (m, p).

    Returns:
        (m,) or (m, p).

    >>> float(residual(np.array([[1e16, 1.0]]), np.array([1.0, 1.0]), np.array([1e16]))[0])
    -1.0
    """
    if x.ndim == 2:
        return np.column_stack([residual(A, x[:, j], *(t[:, j] for t in terms)) for j in range(x.shape[1])])
    m, n = A.shape
    rows = max(1, _CHUNK // n)
    out = np.empty(m)
    for start in range(0, m, rows):
        part = slice(start, start + rows)
        columns = np.ascontiguousarray(A[part].T)
        high, low = two_product(columns, np.broadcast_to(-x[:, None], columns.shape))
        given = [term[None, part] for term in terms]
        out[part] = _sum_columns(np.vstack([high, *given]), np.vstack([low, *(np.zeros_like(g) for g in given)]))
    return out


def _sum_columns(high: Array, low: Array) -> Array:
    """Add pairs down each column by halving (in place); errors of the high parts go to the low ones."""
    count = high.shape[0]
    while count > 1:
        half = (count + 1) // 2
        upper, lower = slice(0, count - half), slice(half, count)
        high[upper], error = two_sum(high[upper], high[lower])
        low[upper] += low[lower] + error
        count = half
    return np.asarray(high[0] + low[0])
