"""Links by their ends, a step of the power iteration over some of the rows, and links whose ends are exchanged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

RUN = 256  # links that are added up one by one; sums of runs are added up after


@njit(cache=True, nogil=True)
def turn(starts: Any, ends: Any, in_starts: Any, origins: Any, place: Any) -> None:
    """Links by the node they lead to, origins ascending; where each link went, if `place` has room for it."""
    n = len(starts) - 1
    for link in range(len(ends)):
        in_starts[ends[link] + 1] += 1
    for node in range(n):
        in_starts[node + 1] += in_starts[node]
    following = in_starts[:-1].copy()
    for node in range(n):
        for link in range(starts[node], starts[node + 1]):
            to = ends[link]
            origins[following[to]] = node
            if len(place):
                place[link] = following[to]
            following[to] += 1


@njit(cache=True, nogil=True)
def step(
    first: int,
    last: int,
    in_starts: Any,
    origins: Any,
    shares: Array,
    x: Array,
    z: Array,
    damping: float,
    jump: float,
    v: Array,
    out: Array,
    units: Array,
    y: Array,
    sent: Array,
) -> tuple[float, float, float, float]:
    """Y = damping P^T x + jump v on some rows.

    Args:
        first: the first row.
        last: the row after the last.
        in_starts: (n + 1,) where the in-links of each row begin.
        origins: (m,) nodes they come from.
        shares: (m,) of their origin's score, or none: then z has the share of each link already.
        x: (n,) scores.
        z: (n,) what of them goes along a link.
        damping: of the walk.
        jump: how much of the total jumps.
        v: (n,) where to.
        out: (n,) share of a score that a link takes, 0 of a node without out-links.
        units: (n,) rounding of each row, in units of its score.
        y: (n,) filled.
        sent: (n,) filled with out * y.

    Returns:
        Sums over the rows of |y - x|, of y, of y in nodes without out-links, and of units * y.
    """
    _gather(first, last, in_starts, origins, shares, z, y)
    moved, rough = 0.0, 0.0
    total, total_rest = 0.0, 0.0
    lost, lost_rest = 0.0, 0.0
    for i in range(first, last):
        value = damping * y[i] + jump * v[i]
        y[i] = value
        sent[i] = value * out[i]
        moved += abs(value - x[i])
        rough += units[i] * value
        # Kahan's sums: the total has to be right to the last digits for any number of nodes
        more = value - total_rest
        sum_ = total + more
        total_rest = (sum_ - total) - more
        total = sum_
        if out[i] == 0.0:
            more = value - lost_rest
            sum_ = lost + more
            lost_rest = (sum_ - lost) - more
            lost = sum_
    return moved, total, lost, rough


@njit(cache=True, nogil=True)
def _gather(first: int, last: int, in_starts: Any, origins: Any, shares: Array, z: Array, y: Array) -> None:
    """What comes along the in-links of some rows; a loop of its own, over unsigned numbers, is three times as fast."""
    for i in range(first, last):
        begin, stop = in_starts[i], in_starts[i + 1]
        s = 0.0
        while begin < stop:
            until = min(begin + RUN, stop)
            run = 0.0
            if len(shares):
                nodes, part = origins[begin:until], shares[begin:until]
                for k in range(len(nodes)):
                    run += part[k] * z[nodes[k]]
            else:
                for node in origins[begin:until]:
                    run += z[node]
            s += run
            begin = until
        y[i] = s


@njit(cache=True, nogil=True)
def pick(starts: Any, draws: Array, counts: Any) -> None:
    """How often each link is drawn when every node draws as many of its out-links as it has, with replacement."""
    counts[:] = 0
    for node in range(len(starts) - 1):
        begin, stop = starts[node], starts[node + 1]
        for link in range(begin, stop):
            counts[begin + min(int(draws[link] * (stop - begin)), stop - begin - 1)] += 1


@njit(cache=True, nogil=True)
def share(starts: Any, weights: Array, counts: Any, place: Any, shares: Array) -> None:
    """Each link's share of its node's score, by the ends of links."""
    for node in range(len(starts) - 1):
        total = 0.0
        for link in range(starts[node], starts[node + 1]):
            total += counts[link] * weights[link]
        for link in range(starts[node], starts[node + 1]):
            shares[place[link]] = counts[link] * weights[link] / total


@njit(cache=True, nogil=True)
def _next(state: Any) -> Any:
    """Splitmix64 (Steele, Lea and Flood 2014): one step of the state, one number."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def _slot(key: Any, size: Any) -> Any:
    z = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((z ^ (z >> np.uint64(29))) & np.uint64(size - 1))


@njit(cache=True, nogil=True)
def _has(table: Any, key: Any) -> bool:
    at = _slot(key, len(table))
    while table[at] != -1:
        if table[at] == key:
            return True
        at = (at + 1) & (len(table) - 1)
    return False


@njit(cache=True, nogil=True)
def _add(table: Any, key: Any) -> None:
    at = _slot(key, len(table))
    while table[at] != -1:
        at = (at + 1) & (len(table) - 1)
    table[at] = key


@njit(cache=True, nogil=True)
def _drop(table: Any, key: Any) -> None:
    size = len(table)
    at = _slot(key, size)
    while table[at] != key:
        at = (at + 1) & (size - 1)
    # move back what was pushed past this place
    hole = at
    while True:
        at = (at + 1) & (size - 1)
        if table[at] == -1:
            break
        home = _slot(table[at], size)
        if ((at - home) & (size - 1)) >= ((at - hole) & (size - 1)):
            table[hole] = table[at]
            hole = at
    table[hole] = -1


@njit(cache=True, nogil=True)
def _key(a: Any, b: Any, n: int, directed: bool) -> Any:
    return a * n + b if directed or a < b else b * n + a


@njit(cache=True, nogil=True)
def exchange(sources: Any, targets: Any, n: int, directed: bool, tries: int, seed: int) -> int:
    """Exchange the far ends of pairs of links, in place, where this makes no loop and no link twice; how many were.

    Each try is its own inverse with the same probability, so the uniform law over graphs with these degrees stays.

    Args:
        sources: (m,) near ends, no loops.
        targets: (m,) far ends.
        n: nodes.
        directed: whether a link leads one way; otherwise either end of it may be the far one.
        tries: pairs looked at.
        seed: of the tries.
    """
    m = len(sources)
    if m < 2:
        return 0
    size = 4
    while size < 2 * m:
        size *= 2
    table = np.full(size, -1, np.int64)
    for link in range(m):
        _add(table, _key(np.int64(sources[link]), np.int64(targets[link]), n, directed))
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(seed)
    done = 0
    for _ in range(tries):
        number = _next(state)
        e = np.int64((number >> np.uint64(33)) % np.uint64(m))
        number = _next(state)
        f = np.int64((number >> np.uint64(33)) % np.uint64(m))
        turned = not directed and (number & np.uint64(1)) == np.uint64(1)
        a, b = np.int64(sources[e]), np.int64(targets[e])
        c, d = np.int64(sources[f]), np.int64(targets[f])
        if turned:
            c, d = d, c
        if a in (c, d) or b in (c, d):
            continue
        one, two = _key(a, d, n, directed), _key(c, b, n, directed)
        if _has(table, one) or _has(table, two):
            continue
        _drop(table, _key(a, b, n, directed))
        _drop(table, _key(c, d, n, directed))
        _add(table, one)
        _add(table, two)
        targets[e] = d
        if turned:
            sources[f] = b
        else:
            targets[f] = b
        done += 1
    return done
