"""Merges of dense places in one compiled call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.compiled import inner, njit


@njit(cache=True, nogil=True)
def distances(T: Array) -> Array:
    """(n, n) distances of rows, given as (r, n) columns."""
    n = T.shape[1]
    D = np.zeros((n, n))
    for i in range(n):
        row = D[i]
        for column in T:
            at = column[i]
            for j in range(n):
                row[j] += (column[j] - at) ** 2
        for j in range(n):
            row[j] = np.sqrt(row[j])
    return D


@njit(cache=True, nogil=True)
def raised(D: Array, near: Array) -> None:
    """Raise every distance to those at which either of the two rows has its neighbours."""
    for i in range(len(D)):
        row, own = D[i], near[i]
        for j in range(len(D)):
            row[j] = max(row[j], max(own, near[j]))


@njit(cache=True, nogil=True)
def rises(edges: Indices, lengths: Array, thin: Array, least: int) -> Array:
    """(n - 1,) for each link of a tree, shortest first, how much thinner rows are there than in the part it joins.

    Args:
        edges: (n - 1, 2) links in ascending order of length.
        lengths: (n - 1,) logarithms.
        thin: (n,) logarithm of the distance to a near neighbour.
        least: rows that make a part; a link that joins fewer has -inf.
    """
    n = len(thin)
    parent, size, total, found = np.empty(n, np.intp), np.empty(n, np.intp), np.empty(n), np.empty(n - 1)
    for i in range(n):
        parent[i], size[i], total[i] = i, 1, thin[i]
    for e in range(n - 1):
        a, b = _root(parent, edges[e, 0]), _root(parent, edges[e, 1])
        found[e] = -np.inf
        if size[a] >= least and size[b] >= least:
            found[e] = lengths[e] - max(total[a] / size[a], total[b] / size[b])
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        total[a] += total[b]
    return found


@njit(cache=True, nogil=True)
def parts(edges: Indices, kept: NDArray[np.bool_], n: int) -> Indices:
    """(n,) which part of the tree each row is in, where only some links are kept; named by one of its rows."""
    parent = np.empty(n, np.intp)
    for i in range(n):
        parent[i] = i
    for e in range(len(edges)):
        if kept[e]:
            parent[_root(parent, edges[e, 0])] = _root(parent, edges[e, 1])
    for i in range(n):
        parent[i] = _root(parent, i)
    return parent


@inner()
def _root(parent: Indices, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
