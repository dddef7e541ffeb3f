"""Links by their ends, and a step of the power iteration over some of the rows."""

from __future__ import annotations

from typing import Any

from assay.arrays import Array
from assay.compiled import njit

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
    gather(first, last, in_starts, origins, shares, z, y)
    return finish(first, last, x, damping, jump, v, out, units, y, sent)


@njit(cache=True, nogil=True)
def finish(
    first: int,
    last: int,
    x: Array,
    damping: float,
    jump: float,
    v: Array,
    out: Array,
    units: Array,
    y: Array,
    sent: Array,
) -> tuple[float, float, float, float]:
    """The rest of a step, once what comes along the links is in y."""
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
def gather(first: int, last: int, in_starts: Any, origins: Any, shares: Array, z: Array, y: Array) -> None:
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
