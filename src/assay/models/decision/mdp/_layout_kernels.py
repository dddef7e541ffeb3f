"""Matrices of transitions woven into one list of pairs. Imported only when they run: numba takes a second to load."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit


@njit(cache=True, nogil=True)
def weave(
    lo: int, hi: int, a: int, k: int, indptr: Any, indices: Any, data: Any, begin: Any, after: Any, p: Any, sums: Any
) -> int:
    """Put the rows lo .. hi - 1 of the matrix of action a where its pairs begin, with their sums; how many are 0.

    -1 where one is negative or not finite.
    """
    zeros = 0
    for s in range(lo, hi):
        pair = s * k + a
        at = np.uint64(begin[pair])
        total = 0.0
        for t in range(np.uint64(indptr[s]), np.uint64(indptr[s + 1])):
            value = data[t]
            if not (value >= 0.0 and value < np.inf):
                return -1
            if value == 0.0:
                zeros += 1
            total += value
            after[at] = indices[t]
            p[at] = value
            at += np.uint64(1)
        sums[pair] = total
    return zeros
