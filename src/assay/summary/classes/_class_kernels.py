"""Moments and normal log densities of rows by class. Imported only when it runs.

Sums may be taken in any order ("reassoc") and products fused ("contract"), but NaN is kept: it marks a missing cell.
"""

from __future__ import annotations

from typing import Any

from assay.compiled import njit

_ANY_ORDER = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=_ANY_ORDER)
def chunk_moments(X: Any, codes: Any, weights: Any, near: Any, observed: Any, mean: Any, squares: Any) -> None:
    """Moments of the classes of a chunk that stays in the cache, in two passes over it, missing cells left out.

    X (n, d), codes (n,), weights (n,), near (d,) finite -> observed, mean, squares (k, d), all of zeros at first.
    """
    n, d = X.shape
    k = len(observed)
    for i in range(n):
        x, w, seen, total = X[i], weights[i], observed[codes[i]], mean[codes[i]]
        for j in range(d):
            there = x[j] == x[j]
            seen[j] += w if there else 0.0
            total[j] += w * (x[j] - near[j]) if there else 0.0
    for c in range(k):
        for j in range(d):
            mean[c, j] = near[j] + mean[c, j] / observed[c, j] if observed[c, j] > 0.0 else 0.0
    for i in range(n):
        x, w, centre, total = X[i], weights[i], mean[codes[i]], squares[codes[i]]
        for j in range(d):
            t = x[j] - centre[j]
            total[j] += w * t * t if t == t else 0.0


@njit(cache=True, nogil=True, fastmath=_ANY_ORDER)
def log_densities(X: Any, mean: Any, scale: Any, size: Any, base: Any, out: Any) -> None:
    """Log density of rows in normal laws with independent columns: sum over columns of size - ((x - mean) scale)^2 / 2.

    X (n, d), mean, scale, size (k, d), base (k,) the sums of size -> added to out (n, k). Missing cells are left out.
    """
    n, d = X.shape
    for i in range(n):
        x = X[i]
        for c in range(len(mean)):
            m, s, total = mean[c], scale[c], 0.0
            for j in range(d):
                t = (x[j] - m[j]) * s[j]
                total += t * t
            if total == total:
                out[i, c] += base[c] - 0.5 * total
            else:
                out[i, c] += _with_gaps(x, m, s, size[c])


@njit(cache=True, nogil=True)
def _with_gaps(x: Any, mean: Any, scale: Any, size: Any) -> float:
    total = 0.0
    for j in range(len(x)):
        if x[j] == x[j]:
            t = (x[j] - mean[j]) * scale[j]
            total += size[j] - 0.5 * t * t
    return total
