"""Compiled loops that move nodes between groups. Imported only when they run: numba takes a second to load."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit


@njit(cache=True, nogil=True)
def tally(indptr: Any, indices: Any, data: Any, labels: Any, k: int) -> Any:
    """(k,) weight of the edges that leave each group, and (k,) of those that stay, each both ways."""
    cut = np.zeros(k)
    inside = np.zeros(k)
    for i in range(len(labels)):
        own = labels[i]
        for e in range(indptr[i], indptr[i + 1]):
            if labels[indices[e]] == own:
                inside[own] += data[e]
            else:
                cut[own] += data[e]
    return cut, inside


@njit(cache=True, nogil=True)
def cuts_along(indptr: Any, indices: Any, data: Any, order: Any, place: Any) -> Any:
    """(n,) weight of the edges between the first t + 1 nodes of an order and the rest."""
    n = len(order)
    cut = np.empty(n)
    crossing = 0.0
    for t in range(n):
        i = order[t]
        for e in range(indptr[i], indptr[i + 1]):
            other = place[indices[e]]
            if other > t:
                crossing += data[e]
            elif other < t:
                crossing -= data[e]
        cut[t] = crossing
    return cut


@njit(cache=True, nogil=True)
def border_band(indptr: Any, indices: Any, labels: Any, a: int, b: int, most: int) -> Any:
    """Nodes within a few steps of the border between groups a and b, nearest first: whole steps, at most `most` edges
    and half of either group. Empty if the border alone is more.
    """
    n = len(labels)
    band = np.empty(n, np.int64)
    seen = np.zeros(n, np.bool_)
    half = np.zeros(2, np.int64)
    taken = np.zeros(2, np.int64)
    size = 0
    edges = 0
    for i in range(n):
        if labels[i] != a and labels[i] != b:
            continue
        side = 0 if labels[i] == a else 1
        half[side] += 1
        across = b if side == 0 else a
        for e in range(indptr[i], indptr[i + 1]):
            if labels[indices[e]] == across:
                band[size] = i
                seen[i] = True
                size += 1
                taken[side] += 1
                edges += indptr[i + 1] - indptr[i]
                break
    half //= 2
    begin = whole = 0
    while edges <= most and taken[0] <= half[0] and taken[1] <= half[1] and size > whole:
        begin, whole = whole, size
        for s in range(begin, whole):
            i = band[s]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if not seen[j] and (labels[j] == a or labels[j] == b):
                    band[size] = j
                    seen[j] = True
                    size += 1
                    taken[0 if labels[j] == a else 1] += 1
                    edges += indptr[j + 1] - indptr[j]
    return band[:whole]


@njit(cache=True, nogil=True)
def move_nodes(
    indptr: Any, indices: Any, data: Any, degree: Any, labels: Any, volume: Any, inside: Any, least: float
) -> int:
    """Once over all nodes: move each to the linked group where the normalised cut falls most; how many moved.

    The normalised cut is k - sum over groups of inside / volume, inside the weight that stays (each edge both ways). A
    node that is all of its group stays. `labels`, `volume` and `inside` are changed in place.
    """
    k = len(volume)
    sizes = np.zeros(k, np.int64)
    for own in labels:
        sizes[own] += 1
    linked = np.zeros(k)
    moved = 0
    for i in range(len(labels)):
        own = labels[i]
        border = False
        for e in range(indptr[i], indptr[i + 1]):
            if labels[indices[e]] != own:
                border = True
                break
        if not border or sizes[own] == 1 or volume[own] <= degree[i]:
            continue
        linked[:] = 0.0
        loop = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] == i:
                loop = data[e]
            else:
                linked[labels[indices[e]]] += data[e]
        left = (inside[own] - 2.0 * linked[own] - loop) / (volume[own] - degree[i]) - inside[own] / volume[own]
        best = least
        to = own
        for g in range(k):
            if g != own and linked[g] > 0.0:
                gain = (inside[g] + 2.0 * linked[g] + loop) / (volume[g] + degree[i]) - inside[g] / volume[g] + left
                if gain > best:
                    best = gain
                    to = g
        if to != own:
            inside[own] -= 2.0 * linked[own] + loop
            volume[own] -= degree[i]
            inside[to] += 2.0 * linked[to] + loop
            volume[to] += degree[i]
            labels[i] = to
            sizes[own] -= 1
            sizes[to] += 1
            moved += 1
    return moved
