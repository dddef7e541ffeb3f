"""Compiled shortest paths, one source after another. Imported only when they run: numba takes a second to load.

All of them release the interpreter, so that threads share the sources. Adding rounded lengths is monotone, so every
method that ends with d(v) = min over edges of d(u) + length gives the same bits, whatever order it worked in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit

PATIENCE = 4  # visits per node, on average, before buckets give way to the heap


@njit(cache=True, nogil=True)
def lengths_from(starts: Any, ends: Any, lengths: Any, sources: Any, width: float, buckets: int, out: Any) -> None:
    """Lengths of the shortest paths from each source: out[s, v], infinite where there is none.

    Args:
        starts: (n + 1,) where each node's edges begin.
        ends: (m,) the node each edge leads to.
        lengths: (m,) not negative.
        sources: (s,) nodes.
        width: Of a bucket.
        buckets: More than the longest edge spans by two; 0 to use the heap.
        out: (s, n), written.
    """
    n = len(starts) - 1
    for s in range(len(sources)):
        out[s, :] = np.inf
        out[s, sources[s]] = 0.0
    first = 0
    if buckets > 0:
        while first < len(sources) and by_buckets(starts, ends, lengths, sources[first], width, buckets, out[first]):
            first += 1
    keys = np.empty(n)
    nodes = np.empty(n, np.int32)
    place = np.empty(n, np.int32)
    for s in range(first, len(sources)):
        by_heap(starts, ends, lengths, sources[s], keys, nodes, place, out[s])


@njit(cache=True, nogil=True)
def by_buckets(starts: Any, ends: Any, lengths: Any, source: int, width: float, buckets: int, distance: Any) -> bool:
    """Dial's buckets, reused in a circle; nodes may be visited again when edges are shorter than a bucket is wide.

    Returns False when that happened too often (lengths of very different sizes); `distance` then holds upper bounds.
    """
    n = len(starts) - 1
    head = np.full(buckets, -1, np.int32)
    after = np.empty(n, np.int32)
    before = np.empty(n, np.int32)
    bucket = np.full(n, -1, np.int32)  # which one a node waits in
    scale = 1.0 / width
    head[0] = source
    after[source] = before[source] = -1
    bucket[source] = 0
    waiting, visits, at = 1, 0, 0
    while waiting > 0:
        while head[at] < 0:
            at = at + 1 if at + 1 < buckets else 0
        node = head[at]
        follower = after[node]
        head[at] = follower
        if follower >= 0:
            before[follower] = -1
        bucket[node] = -1
        waiting -= 1
        visits += 1
        if visits > PATIENCE * n:
            return False
        base = distance[node]
        for e in range(starts[node], starts[node + 1]):
            end = ends[e]
            through = base + lengths[e]
            if through >= distance[end]:
                continue
            distance[end] = through
            new = int(through * scale) % buckets
            old = bucket[end]
            if old == new:
                continue
            if old >= 0:
                leader, follower = before[end], after[end]
                if leader >= 0:
                    after[leader] = follower
                else:
                    head[old] = follower
                if follower >= 0:
                    before[follower] = leader
            else:
                waiting += 1
            follower = head[new]
            after[end], before[end] = follower, -1
            if follower >= 0:
                before[follower] = end
            head[new] = end
            bucket[end] = new
    return True


@njit(cache=True, nogil=True)
def by_heap(
    starts: Any, ends: Any, lengths: Any, source: int, keys: Any, nodes: Any, place: Any, distance: Any
) -> None:
    """Dijkstra's algorithm with a heap of four children; keys, nodes and place are its memory, (n,) each."""
    distance[:] = np.inf
    distance[source] = 0.0
    place[:] = -1
    keys[0], nodes[0], size = 0.0, source, 1
    while size > 0:
        node, base = nodes[0], keys[0]
        size -= 1
        key, moved, at = keys[size], nodes[size], 0
        while 4 * at + 1 < size:
            least = 4 * at + 1
            for child in range(least + 1, min(least + 4, size)):
                if keys[child] < keys[least]:
                    least = child
            if keys[least] >= key:
                break
            keys[at], nodes[at] = keys[least], nodes[least]
            place[nodes[at]] = at
            at = least
        keys[at], nodes[at] = key, moved
        place[moved] = at
        for e in range(starts[node], starts[node + 1]):
            end = ends[e]
            through = base + lengths[e]
            if through >= distance[end]:
                continue
            distance[end] = through
            at = place[end]
            if at < 0:
                at = size
                size += 1
            while at > 0 and keys[(at - 1) >> 2] > through:
                keys[at], nodes[at] = keys[(at - 1) >> 2], nodes[(at - 1) >> 2]
                place[nodes[at]] = at
                at = (at - 1) >> 2
            keys[at], nodes[at] = through, end
            place[end] = at


@njit(cache=True, nogil=True)
def hops(starts: Any, ends: Any, sources: Any, out: Any) -> None:
    """Fewest edges from each source: out[s, v], infinite where there is no path. Arguments as above."""
    n = len(starts) - 1
    queue = np.empty(n, np.int32)
    for s in range(len(sources)):
        distance = out[s]
        distance[:] = np.inf
        distance[sources[s]] = 0.0
        queue[0] = sources[s]
        done, met = 0, 1
        while done < met:
            node = queue[done]
            done += 1
            step = distance[node] + 1.0
            for e in range(starts[node], starts[node + 1]):
                end = ends[e]
                if distance[end] == np.inf:
                    distance[end] = step
                    queue[met] = end
                    met += 1
