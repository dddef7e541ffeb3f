"""Compiled loops of the embedding measures. Imported only when they run: numba takes a second to load.

All of them work on one block of distances in cache and release the interpreter, so that threads share the blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit

CHUNK = 512  # points measured at a time: four sums of each stay in the first cache


@njit(cache=True, nogil=True)
def measured(X: Any, columns: Any, out: Any) -> None:
    """out[i, j] = |X[i] - columns[:, j]| from the differences: the sums of distances.pair_squares, bit for bit."""
    d, n = columns.shape
    sums = np.empty((4, CHUNK))
    for i in range(len(X)):
        for first in range(0, n, CHUNK):
            size = min(CHUNK, n - first)
            sums[:, :size] = 0.0
            for t in range(d):
                x, column, total = X[i, t], columns[t, first : first + size], sums[t % 4]
                for j in range(size):
                    u = x - column[j]
                    total[j] += u * u
            for j in range(size):
                out[i, first + j] = np.sqrt((sums[0, j] + sums[1, j]) + (sums[2, j] + sums[3, j]))


@njit(cache=True, nogil=True)
def roots(products: Any, a: Any, b: Any) -> None:
    """In place, from -2 x.y to sqrt(|x|^2 + |y|^2 - 2 x.y); a and b are the squared norms."""
    for i in range(products.shape[0]):
        row = products[i]
        for j in range(row.size):
            row[j] = np.sqrt(max(row[j] + (a[i] + b[j]), 0.0))


@njit(cache=True, nogil=True)
def count_nearer(block: Any, wanted: Any, low: Any, high: Any, certain: Any, possible: Any) -> None:
    """Add to `certain` how many of a row's distances are below `low`, to `possible` how many are not above `high`.

    Args:
        block: (b, c) distances from each row to some points.
        wanted: (b, w) neighbours whose rank is asked for; -1 where none is.
        low: (b, w) below this a distance is surely smaller than the neighbour's.
        high: (b, w) above this it is surely larger.
        certain: (b, w) counts, added to.
        possible: (b, w) counts, added to.
    """
    for i in range(block.shape[0]):
        row = block[i]
        for s in range(wanted.shape[1]):
            if wanted[i, s] < 0:
                continue
            least, most = low[i, s], high[i, s]
            below = 0
            within = 0
            for j in range(row.size):
                below += row[j] < least
                within += row[j] <= most
            certain[i, s] += below
            possible[i, s] += within


@njit(cache=True, nogil=True)
def ranks_in_row(row: Any, own: int, wanted: Any, ranks: Any) -> None:
    """The rank of each wanted neighbour in one row of distances, by (distance, number), `own` left out."""
    for s in range(wanted.size):
        j = wanted[s]
        if j < 0:
            continue
        distance = row[j]
        rank = 1
        for i in range(j):
            rank += row[i] <= distance
        for i in range(j + 1, row.size):
            rank += row[i] < distance
        if own != j and (row[own] < distance or (row[own] == distance and own < j)):
            rank -= 1
        ranks[s] = rank


@njit(cache=True, nogil=True, fastmath=True)
def line_sums(delta: Any, d: Any, delta0: float, d0: float, slope: float, sums: Any) -> None:
    """Add to sums: u, e, u^2, e^2 and u e over all entries, u = d - d0, e = delta - delta0 - slope u."""
    for i in range(d.shape[0]):
        s0 = s1 = s2 = s3 = s4 = 0.0
        for j in range(d.shape[1]):
            u = d[i, j] - d0
            e = (delta[i, j] - delta0) - slope * u
            s0 += u
            s1 += e
            s2 += u * u
            s3 += e * e
            s4 += u * e
        sums[0] += s0
        sums[1] += s1
        sums[2] += s2
        sums[3] += s3
        sums[4] += s4
