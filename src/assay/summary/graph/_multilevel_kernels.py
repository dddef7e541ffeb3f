"""Compiled loops of the multilevel eigen-solver. Imported only when it runs: numba takes a second to load."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit


@njit(cache=True, nogil=True)
def aggregate(indptr: Any, indices: Any, data: Any, cap: int) -> Any:
    """(n,) the aggregate of each node, and how many there are.

    First, nodes whose neighbours are mostly free gather the `cap - 1` strongest of them; then the nodes left over join
    the aggregate they are linked with most strongly, small ones first; what is still free gathers what is free around.
    """
    n = len(indptr) - 1
    found = np.full(n, -1, np.int32)
    size = np.zeros(n, np.int32)
    count = 0
    for i in range(n):
        if found[i] != -1:
            continue
        free = linked = 0
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] != i:
                linked += 1
                if found[indices[e]] == -1:
                    free += 1
        if free < min(cap - 1, linked):
            continue
        found[i] = count
        for _ in range(min(cap - 1, free)):
            strongest = -1.0
            to = i
            for e in range(indptr[i], indptr[i + 1]):
                if found[indices[e]] == -1 and abs(data[e]) > strongest:
                    strongest = abs(data[e])
                    to = indices[e]
            found[to] = count
        size[count] = 1 + min(cap - 1, free)
        count += 1
    joined = found.copy()
    for i in range(n):
        if found[i] != -1:
            continue
        strongest = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            into = found[indices[e]]
            if into != -1 and abs(data[e]) > strongest * size[into]:
                strongest = abs(data[e]) / size[into]
                joined[i] = into
        if joined[i] != -1:
            size[joined[i]] += 1
    for i in range(n):
        if joined[i] == -1:
            joined[i] = count
            for e in range(indptr[i], indptr[i + 1]):
                if joined[indices[e]] == -1:
                    joined[indices[e]] = count
            count += 1
    return joined, count


@njit(cache=True, nogil=True)
def relax(indptr: Any, indices: Any, data: Any, diagonal: Any, b: Any, x: Any, backward: bool) -> None:
    """One Gauss-Seidel sweep on A x = b, for every column of b (n, m), in place."""
    n, m = b.shape
    row = np.empty(m)
    for step in range(n):
        i = n - 1 - step if backward else step
        if m == 1:
            one = b[i, 0]
            for e in range(indptr[i], indptr[i + 1]):
                one -= data[e] * x[indices[e], 0]
            x[i, 0] += one / diagonal[i]
            continue
        for c in range(m):
            row[c] = b[i, c]
        for e in range(indptr[i], indptr[i + 1]):
            for c in range(m):
                row[c] -= data[e] * x[indices[e], c]
        for c in range(m):
            x[i, c] += row[c] / diagonal[i]
