"""Compiled loops of the blocked neighbour search. Imported only when it runs: numba takes a second to load.

Per query a buffer of candidates (lower bound, position) is filled from blocks of lower bounds of
|x - y|^2 - |x|^2. A full buffer is narrowed: with `width` the most a lower bound may fall short, no candidate above
tau = k-th smallest bound + width can be among the k nearest. Where the bounds are too loose to free the buffer,
its candidates are measured, and the k nearest of them stay; this always frees it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import inner, njit

APPROXIMATE, MEASURED = 0, 1  # how a query's buffer was last narrowed


@njit(cache=True, nogil=True)
def measure(x: Any, y: Any) -> Any:
    """|x - y|^2 in four partial sums: the order of distances.pair_squares, bit for bit."""
    d = x.size
    whole = d - d % 4
    s0 = s1 = s2 = s3 = 0.0
    for t in range(0, whole, 4):
        u0 = x[t] - y[t]
        u1 = x[t + 1] - y[t + 1]
        u2 = x[t + 2] - y[t + 2]
        u3 = x[t + 3] - y[t + 3]
        s0 += u0 * u0
        s1 += u1 * u1
        s2 += u2 * u2
        s3 += u3 * u3
    if whole < d:
        s0 += (x[whole] - y[whole]) ** 2
    if whole + 1 < d:
        s1 += (x[whole + 1] - y[whole + 1]) ** 2
    if whole + 2 < d:
        s2 += (x[whole + 2] - y[whole + 2]) ** 2
    return (s0 + s1) + (s2 + s3)


@inner()
def smallest_first(bounds: Any, places: Any, count: int, k: int) -> None:
    """Reorder both so that the k smallest bounds come first (Hoare's selection)."""
    low, high = 0, count - 1
    while low < high:
        a, b, c = bounds[low], bounds[(low + high) // 2], bounds[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while bounds[i] < pivot:
                i += 1
            while bounds[j] > pivot:
                j -= 1
            if i <= j:
                bounds[i], bounds[j] = bounds[j], bounds[i]
                places[i], places[j] = places[j], places[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break


@inner()
def narrow(bounds: Any, places: Any, count: int, k: int, norms: Any, q: float, slack: Any) -> Any:
    """Drop what cannot be among the k nearest; how many stay, and the bound above which nothing need be kept.

    slack = (a, b, c): a bound falls short by at most a |p|^2 + b |p| |q| + c |q|^2, plus what underflows.
    """
    smallest_first(bounds, places, count, k)
    tau = -np.inf
    for s in range(k):
        p = norms[places[s]]
        tau = max(tau, bounds[s] + slack[0] * p * p + slack[1] * p * q)
    tau += slack[2] * q * q + slack[3]
    limit = bounds.dtype.type(tau + slack[4] * abs(tau))
    kept = k
    for s in range(k, count):
        if bounds[s] <= limit:
            bounds[kept] = bounds[s]
            places[kept] = places[s]
            kept += 1
    return kept, limit


@inner()
def sink(apart: Any, places: Any, ids: Any, at: int, size: int) -> None:
    """Let the pair at one place of a heap sink until neither child is further (or as far, with a higher number)."""
    distance, place = apart[at], places[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size:
            left, right = apart[child], apart[child + 1]
            if right > left or (right == left and ids[places[child + 1]] > ids[places[child]]):
                child += 1
        if apart[child] < distance or (apart[child] == distance and ids[places[child]] < ids[place]):
            break
        apart[at], places[at] = apart[child], places[child]
        at = child
    apart[at], places[at] = distance, place


@inner()
def nearest_first(x: Any, Y: Any, ids: Any, places: Any, count: int, apart: Any) -> None:
    """Measure the candidates and sort them by distance, equal ones by the row's own number (heapsort)."""
    for s in range(count):
        # the root decides, not the square: squares one rounding apart can have the same root
        apart[s] = np.sqrt(measure(x, Y[ids[places[s]]]))
    for at in range(count // 2 - 1, -1, -1):
        sink(apart, places, ids, at, count)
    for last in range(count - 1, 0, -1):
        apart[0], apart[last] = apart[last], apart[0]
        places[0], places[last] = places[last], places[0]
        sink(apart, places, ids, 0, last)


@inner()
def flag(row: Any, limit: Any, flags: Any) -> None:
    """Which bounds are low enough; a loop of its own and without branches, so that it is vectorised."""
    for c in range(row.size):
        flags[c] = row[c] <= limit


@njit(cache=True, nogil=True)
def collect(
    block: Any, first: int, X: Any, Y: Any, ids: Any, own: Any, norms: Any, reach: Any, slack: Any, k: int, state: Any
) -> int:
    """Take the candidates from one block of lower bounds, (queries, positions first, first + 1, ...).

    Returns how many distances had to be measured, which says whether the bounds are of use.
    """
    limits, counts, modes, bounds, places = state
    capacity = bounds.shape[1]
    width = block.shape[1]
    flags = np.zeros((width + 31) // 32 * 32, np.bool_)
    words = flags.view(np.uint64)
    apart = np.empty(capacity)
    measured = 0
    for r in range(block.shape[0]):
        row = block[r]
        limit = limits[r]
        flag(row, limit, flags)
        count = counts[r]
        for w in range(0, words.size, 4):
            if words[w] | words[w + 1] | words[w + 2] | words[w + 3] == 0:
                continue
            for c in range(8 * w, 8 * w + 32):
                if not flags[c] or row[c] > limit or first + c == own[r]:
                    continue
                bounds[r, count] = row[c]
                places[r, count] = first + c
                count += 1
                if count < capacity:
                    continue
                if modes[r] == APPROXIMATE:
                    count, limit = narrow(bounds[r], places[r], count, k, norms, reach[r], slack)
                    if count > (capacity + k) // 2:
                        modes[r] = MEASURED
                if modes[r] == MEASURED:
                    nearest_first(X[r], Y, ids, places[r], count, apart)
                    measured += count
                    count = k
                    gap = apart[k - 1] ** 2 * (1 + slack[2]) - reach[r] * reach[r] * (1 - slack[2]) + slack[3]
                    limit = block.dtype.type(gap + slack[4] * abs(gap))
        limits[r] = limit
        counts[r] = count
    return measured


@njit(cache=True, nogil=True)
def settle(
    X: Any, Y: Any, ids: Any, norms: Any, reach: Any, slack: Any, k: int, state: Any, indices: Any, distances: Any
) -> None:
    """Measure what is left in the buffers and write the k nearest, in order."""
    _, counts, modes, bounds, places = state
    apart = np.empty(bounds.shape[1])
    for r in range(len(counts)):
        count = counts[r]
        if modes[r] == APPROXIMATE and count > k:
            count, _ = narrow(bounds[r], places[r], count, k, norms, reach[r], slack)
        nearest_first(X[r], Y, ids, places[r], count, apart)
        for s in range(k):
            indices[r, s] = ids[places[r, s]]
            distances[r, s] = apart[s]
