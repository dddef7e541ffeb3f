"""Compiled loops over columns: where rows lie, and how wide. Imported only when they run."""

from __future__ import annotations

from typing import Any

from assay.compiled import njit
from assay.optimize.kmeans._lloyd_kernels import SUMS, Rows


@njit(cache=True, nogil=True)
def ranges(X: Any, lo: int, hi: int, low: Any, high: Any) -> None:
    """Smallest and largest value of each column in rows lo to hi; low and high (d,) are brought up to date."""
    for i in range(lo, hi):
        x = X[i]
        for j in range(x.size):
            low[j] = min(low[j], x[j])
            high[j] = max(high[j], x[j])


@njit(cache=True, nogil=True, fastmath=SUMS)
def spread(rows: Rows, lo: int, hi: int, sums: Any, squares: Any) -> None:
    """Weighted sums of z and z^2 of rows lo to hi, by column, added to sums (d,) and squares (d,)."""
    for i in range(lo, hi):
        x = rows.X[i]
        weight = rows.weights[i] if rows.weights.size else 1.0
        for j in range(x.size):
            z = rows.scale * x[j] - rows.origin[j]
            sums[j] += weight * z
            squares[j] += weight * z * z
