"""Neighbours that two nodes share, for given pairs and for all pairs that share one."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.arrays import Array
from assay.compiled import njit

_SHORT = 16  # a list so many times shorter than the other is looked up in it, not walked along with it


@njit(cache=True, nogil=True)
def shared(
    starts: Any, after: Any, into_starts: Any, before: Any, us: Any, vs: Any, weights: Array, out: Array
) -> None:
    """For each pair (u, v) the sums over nodes z with u -> z -> v of 1 and of each column of weights.

    Args:
        starts: (n + 1,) where the links leaving each node begin.
        after: (m,) nodes they lead to, ascending for each node.
        into_starts: (n + 1,) where the links arriving at each node begin.
        before: (m,) nodes they come from, ascending for each node.
        us: (k,) nodes.
        vs: (k,) nodes.
        weights: (n, w) of the node between.
        out: (k, 1 + w) filled.
    """
    for pair in range(len(us)):
        u, v = us[pair], vs[pair]
        a = after[starts[u] : starts[u + 1]]
        b = before[into_starts[v] : into_starts[v + 1]]
        if len(a) > len(b):
            a, b = b, a
        out[pair, :] = 0.0
        at = 0
        if len(a) * _SHORT < len(b):
            for z in a:
                at += np.searchsorted(b[at:], z)
                if at == len(b):
                    break
                if b[at] == z and z != u and z != v:
                    out[pair, 0] += 1.0
                    for j in range(weights.shape[1]):
                        out[pair, 1 + j] += weights[z, j]
            continue
        for z in a:
            while at < len(b) and b[at] < z:
                at += 1
            if at == len(b):
                break
            if b[at] == z and z != u and z != v:
                out[pair, 0] += 1.0
                for j in range(weights.shape[1]):
                    out[pair, 1 + j] += weights[z, j]


@njit(cache=True, nogil=True)
def shared_by_links(starts: Any, after: Any, weights: Array, common: Array, weighed: Array) -> None:
    """For each link u - v the number of nodes linked with both, and the sum of their weights.

    Neighbours of the end with more links are marked, and those of the other end looked up.

    Args:
        starts: (n + 1,) where the links of each node begin.
        after: (m,) nodes they lead to; each link is here from both of its ends.
        weights: (n,) of the node between.
        common: (m,) filled where the node has more links than the other end, or as many and a larger number.
        weighed: (m,) likewise.
    """
    n = len(starts) - 1
    mark = np.zeros(n, np.bool_)
    for u in range(n):
        own = after[starts[u] : starts[u + 1]]
        for z in own:
            mark[z] = True
        for k in range(starts[u], starts[u + 1]):
            v = after[k]
            more = starts[u + 1] - starts[u] - (starts[v + 1] - starts[v])
            if more < 0 or (more == 0 and v > u):
                continue
            found, sum_ = 0, 0.0
            for z in after[starts[v] : starts[v + 1]]:
                if mark[z]:
                    found += 1
                    sum_ += weights[z]
            common[k], weighed[k] = found, sum_
        for z in own:
            mark[z] = False


@njit(cache=True, nogil=True)
def _reached(
    u: int, starts: Any, after: Any, weights: Array, between: Any, both: bool, total: Array, seen: Any, list_: Any
) -> int:
    """Fill the sums of weights over the ways u -> z -> v, and list each v that is not linked with u; how many."""
    for k in range(starts[u], starts[u + 1]):
        seen[after[k]] = -1
    seen[u] = -1
    found = 0
    for k in range(starts[u], starts[u + 1]):
        z = after[k]
        if z == u or not between[z]:
            continue
        for v in after[starts[z] : starts[z + 1]]:
            if seen[v] == -1 or (both and v < u):
                continue
            if seen[v] == 0:
                seen[v] = 1
                total[v] = 0.0
                list_[found] = v
                found += 1
            total[v] += weights[z]
    return found


@njit(cache=True, nogil=True)
def _forget(u: int, starts: Any, after: Any, seen: Any, list_: Any, found: int) -> None:
    for k in range(starts[u], starts[u + 1]):
        seen[after[k]] = 0
    seen[u] = 0
    for k in range(found):
        seen[list_[k]] = 0


@njit(cache=True, nogil=True)
def count_two_steps(starts: Any, after: Any, both: bool, counts: Any) -> None:
    """How many pairs (u, v) that are not linked have a node z with u -> z -> v, for each u; for both ways u < v."""
    n = len(starts) - 1
    total, seen, list_ = np.zeros(n), np.zeros(n, np.int8), np.empty(n, np.int64)
    weights, between = np.ones(n), np.ones(n, np.bool_)
    for u in range(n):
        counts[u] = _reached(u, starts, after, weights, between, both, total, seen, list_)
        _forget(u, starts, after, seen, list_, counts[u])


@njit(cache=True, nogil=True)
def fill_two_steps(starts: Any, after: Any, both: bool, weights: Array, places: Any, vs: Any, scores: Array) -> None:
    """These pairs, by u, and the sums of the weights of the nodes between them.

    Args:
        starts: (n + 1,) where the links leaving each node begin.
        after: (m,) nodes they lead to.
        both: whether links lead both ways; then each pair comes once.
        weights: (n,) of the node between.
        places: (n + 1,) where the pairs of each u begin.
        vs: filled.
        scores: filled.
    """
    n = len(starts) - 1
    total, seen, list_ = np.zeros(n), np.zeros(n, np.int8), np.empty(n, np.int64)
    between = np.ones(n, np.bool_)
    for u in range(n):
        found = _reached(u, starts, after, weights, between, both, total, seen, list_)
        for k in range(found):
            vs[places[u] + k] = list_[k]
            scores[places[u] + k] = total[list_[k]]
        _forget(u, starts, after, seen, list_, found)


@njit(cache=True, nogil=True)
def _worse(scores: Array, pairs: Any, a: int, b: int) -> Any:
    """Whether entry a is to leave a list of the best before entry b: a smaller score, or the later of equal pairs."""
    if scores[a] != scores[b]:
        return scores[a] < scores[b]
    return pairs[a] > pairs[b]


@njit(cache=True, nogil=True)
def _sift(scores: Array, pairs: Any, size: int) -> None:
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and _worse(scores, pairs, child + 1, child):
            child += 1
        if not _worse(scores, pairs, child, at):
            return
        scores[at], scores[child] = scores[child], scores[at]
        pairs[at], pairs[child] = pairs[child], pairs[at]
        at = child


@njit(cache=True, nogil=True)
def best_two_steps(
    starts: Any, after: Any, both: bool, weights: Array, between: Any, left: Array, right: Array, most: int
) -> tuple[Any, Any]:
    """The best of these pairs: by the sums of weights, or by left[u] . right[v] where those have columns.

    Args:
        starts: (n + 1,) where the links leaving each node begin.
        after: (m,) nodes they lead to.
        both: whether links lead both ways.
        weights: (n,) of the node between.
        between: (n,) nodes over which pairs are looked for.
        left: (n, r) or (n, 0).
        right: (n, r).
        most: how many.

    Returns:
        u n + v and scores, in no order.
    """
    n = len(starts) - 1
    total, seen, list_ = np.zeros(n), np.zeros(n, np.int8), np.empty(n, np.int64)
    scores, pairs = np.empty(most + 1), np.empty(most + 1, np.int64)
    size = 0
    for u in range(n):
        found = _reached(u, starts, after, weights, between, both, total, seen, list_)
        for k in range(found):
            v = list_[k]
            score = total[v]
            if left.shape[1]:
                score = 0.0
                for j in range(left.shape[1]):
                    score += left[u, j] * right[v, j]
            if size < most:
                scores[size], pairs[size] = score, u * n + v
                at = size
                size += 1
                while at and _worse(scores, pairs, at, (at - 1) // 2):
                    up = (at - 1) // 2
                    scores[at], scores[up] = scores[up], scores[at]
                    pairs[at], pairs[up] = pairs[up], pairs[at]
                    at = up
                continue
            scores[most], pairs[most] = score, u * n + v
            if _worse(scores, pairs, 0, most):
                scores[0], pairs[0] = scores[most], pairs[most]
                _sift(scores, pairs, most)
        _forget(u, starts, after, seen, list_, found)
    return pairs[:size], scores[:size]
