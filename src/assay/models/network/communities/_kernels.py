"""Moves of nodes between communities, communities taken apart, and graphs of communities, in compiled loops.

A graph is here: starts (n + 1,), ends (e,) and weights (e,) of links without loops, each from both of its ends; own
(n,) what a node has inside itself, counted from both ends; strength (n,) its weights and own together. Strengths add up
to `total`, and a community c gains by node i, up to a factor that is the same for all,

    gain_i(c) = w(i, c) - resolution strength_i strength(c) / total.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit
from assay.summary._splitmix import next_bits

_LEAST = 1e-10  # of a node's strength: gains below are those of rounding


@njit(cache=True, nogil=True)
def _shuffled(n: int, state: Any) -> Any:
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = np.int64((next_bits(state) >> np.uint64(11)) % np.uint64(i + 1))
        order[i], order[j] = order[j], order[i]
    return order


@njit(cache=True, nogil=True)
def move(
    starts: Any, ends: Any, weights: Any, strength: Any, total: float, resolution: float, labels: Any, state: Any
) -> int:
    """Move nodes to where they gain most until none gains; neighbours of a node that moved are looked at again.

    Args:
        starts, ends, weights, strength, total: of the graph.
        resolution: of the gain.
        labels: (n,) communities, changed in place; numbers below n.
        state: (1,) of the random order.

    Returns:
        How many moves there were.
    """
    n = len(strength)
    held, size = np.zeros(n), np.zeros(n, np.int64)
    for i in range(n):
        held[labels[i]] += strength[i]
        size[labels[i]] += 1
    empty, spare = np.empty(n, np.int64), 0
    for c in range(n - 1, -1, -1):
        if size[c] == 0:
            empty[spare] = c
            spare += 1
    queue, waits = _shuffled(n, state), np.ones(n, np.bool_)
    first, waiting, moves = 0, n, 0
    to, seen = np.zeros(n), np.empty(n, np.int64)
    while waiting:
        i = queue[first]
        first = first + 1 if first + 1 < n else 0
        waiting -= 1
        waits[i] = False
        own, count = labels[i], 0
        for link in range(starts[i], starts[i + 1]):
            c = labels[ends[link]]
            if to[c] == 0.0:
                seen[count] = c
                count += 1
            to[c] += weights[link]
        held[own] -= strength[i]
        share = resolution * strength[i] / total
        stays = to[own] - share * held[own]
        best, most = own, stays
        for k in range(count):
            c = seen[k]
            gain = to[c] - share * held[c]
            if c != own and gain > most + _LEAST * strength[i]:
                best, most = c, gain
        if size[own] > 1 and most < -_LEAST * strength[i]:
            best = empty[spare - 1]  # alone is better than with any of them
        for k in range(count):
            to[seen[k]] = 0.0
        held[best] += strength[i]
        if best == own:
            continue
        if size[best] == 0:
            spare -= 1
        size[best] += 1
        size[own] -= 1
        if size[own] == 0:
            empty[spare] = own
            spare += 1
        labels[i] = best
        moves += 1
        for link in range(starts[i], starts[i + 1]):
            j = ends[link]
            if labels[j] != best and not waits[j]:
                waits[j] = True
                queue[(first + waiting) % n] = j
                waiting += 1
    return moves


@njit(cache=True, nogil=True)
def refine(
    starts: Any,
    ends: Any,
    weights: Any,
    strength: Any,
    total: float,
    resolution: float,
    labels: Any,
    heat: float,
    state: Any,
) -> Any:
    """Take communities apart into pieces that hang together: nodes, at first alone, join a piece that gains by them.

    A node that is alone and well linked with the rest of its community joins a well linked piece, by chance, the more
    likely the more is gained (Traag, Waltman and van Eck 2019).

    Args:
        starts, ends, weights, strength, total: of the graph.
        resolution: of the gain.
        labels: (n,) communities.
        heat: gains that differ by less are nearly equally likely.
        state: (1,) of what is random.

    Returns:
        (n,) the piece of each node, named by a node.
    """
    n = len(strength)
    whole = np.zeros(n)
    for i in range(n):
        whole[labels[i]] += strength[i]
    pieces, held = np.arange(n), strength.copy()
    alone = np.ones(n, np.bool_)
    out = np.zeros(n)  # weight from a piece to the rest of its community
    for i in range(n):
        for link in range(starts[i], starts[i + 1]):
            if labels[ends[link]] == labels[i]:
                out[i] += weights[link]
    to, seen, chances = np.zeros(n), np.empty(n, np.int64), np.empty(n)
    for i in _shuffled(n, state):
        whole_i, share = whole[labels[i]], resolution * strength[i] / total
        if not alone[i] or out[i] < share * (whole_i - strength[i]):
            continue
        count = 0
        for link in range(starts[i], starts[i + 1]):
            j = ends[link]
            if labels[j] != labels[i]:
                continue
            p = pieces[j]
            if to[p] == 0.0:
                seen[count] = p
                count += 1
            to[p] += weights[link]
        largest = 0.0
        for k in range(count):
            p = seen[k]
            gain = to[p] - share * held[p]
            fits = out[p] >= resolution * held[p] / total * (whole_i - held[p])
            chances[k] = gain if fits and gain >= 0.0 else -1.0
            largest = max(largest, chances[k])
        chosen, sum_ = i, 0.0
        for k in range(count):
            if chances[k] >= 0.0:
                chances[k] = np.exp((chances[k] - largest) / heat)
                sum_ += chances[k]
            else:
                chances[k] = 0.0
        stay = np.exp(-largest / heat)
        place = np.float64(next_bits(state) >> np.uint64(11)) / 9007199254740992.0 * (sum_ + stay)
        for k in range(count):
            place -= chances[k]
            if place < 0.0 and chances[k] > 0.0:
                chosen = seen[k]
                break
        if chosen != i:
            pieces[i] = chosen
            alone[i] = False
            alone[chosen] = False
            held[chosen] += strength[i]
            out[chosen] += out[i] - 2.0 * to[chosen]
        for k in range(count):
            to[seen[k]] = 0.0
    return pieces


@njit(cache=True, nogil=True)
def numbered(labels: Any) -> Any:
    """The same labels from 0 on, by first appearance, and how many there are."""
    names = np.full(len(labels), -1)
    found = np.empty(len(labels), np.int64)
    count = 0
    for i in range(len(labels)):
        if names[labels[i]] < 0:
            names[labels[i]] = count
            count += 1
        found[i] = names[labels[i]]
    return found, count


@njit(cache=True, nogil=True)
def gathered(starts: Any, ends: Any, weights: Any, own: Any, pieces: Any, k: int) -> Any:
    """The graph whose nodes are k pieces: starts, ends, weights, own."""
    n = len(own)
    first = np.zeros(k + 1, np.int64)
    for i in range(n):
        first[pieces[i] + 1] += 1
    for p in range(k):
        first[p + 1] += first[p]
    following, members = first[:-1].copy(), np.empty(n, np.int64)
    for i in range(n):
        members[following[pieces[i]]] = i
        following[pieces[i]] += 1
    into, inside = np.zeros(k + 1, np.int64), np.zeros(k)
    new_ends, new_weights = np.empty(len(ends), ends.dtype), np.empty(len(ends))
    to, seen, at = np.zeros(k), np.empty(k, np.int64), 0
    for p in range(k):
        count = 0
        for m in range(first[p], first[p + 1]):
            i = members[m]
            inside[p] += own[i]
            for link in range(starts[i], starts[i + 1]):
                q = pieces[ends[link]]
                if q == p:
                    inside[p] += weights[link]
                    continue
                if to[q] == 0.0:
                    seen[count] = q
                    count += 1
                to[q] += weights[link]
        for s in range(count):
            new_ends[at] = seen[s]
            new_weights[at] = to[seen[s]]
            to[seen[s]] = 0.0
            at += 1
        into[p + 1] = at
    return into, new_ends[:at].copy(), new_weights[:at].copy(), inside
