"""Merging groups by a square matrix of how far they are apart, along nearest-neighbour chains.

A chain leads from a group to its nearest, from that to its nearest, and so on: it ends with two that are nearest to
each other, which are merged. The matrix is closed up each time half of its groups are gone.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from assay.arrays import Array, Whole
from assay.optimize.team import Team
from assay.summary.graph.cells import in_cells, padded

_PAIRS = 2**25  # numbers touched in one piece, between which an interrupt is heard
_SIDE = 512  # of a square that is mirrored at once


def group_distances(rows: Array, starts: Whole, kind: int) -> Array:
    """How far groups of rows are apart: by the mean distance of their rows, or the largest.

    Args:
        rows: (n, d) group after group.
        starts: (m + 1,) where each group begins.
        kind: COMPLETE or AVERAGE of `_linkage_kernels`.

    Returns:
        (m, m) symmetric, zero on the diagonal.

    >>> from assay.models.cluster.agglomerative._linkage_kernels import AVERAGE
    >>> group_distances(np.array([[0.0], [2.0], [7.0]]), np.array([0, 2, 3]), AVERAGE)
    array([[0., 6.],
           [6., 0.]])
    """
    from assay.models.cluster.agglomerative._group_matrix_kernels import fill

    m = len(starts) - 1
    out = np.zeros((m, m))
    owner = padded(np.repeat(np.arange(m), np.diff(starts)), m)
    cells = in_cells(rows, 0.0)
    # groups of about equal work: rows of a group times the rows after it
    work = np.cumsum(np.diff(starts) * (len(rows) - starts[:-1]))
    pieces = max(1, int(work[-1] // _PAIRS))
    cuts = np.unique(np.searchsorted(work, np.linspace(0, work[-1], pieces + 1)[1:-1]))
    edges = [0, *cuts.tolist(), m]
    with Team() as team:
        team.run([partial(fill, kind, rows, cells, starts, owner, lo, hi, out) for lo, hi in pairwise(edges)])
    for lo in range(0, m, _SIDE):
        hi = min(m, lo + _SIDE)
        out[lo:hi, :lo] = out[:lo, lo:hi].T
        out[lo:hi, lo:hi] += out[lo:hi, lo:hi].T
    return out


def merge_in_matrix(D: Array, sizes: Whole, first: Whole, kind: int) -> tuple[Whole, Array]:
    """Merge groups until one is left.

    Args:
        D: (m, m) symmetric, how far groups are apart, squared for Ward's linkage; overwritten.
        sizes: (m,) their items.
        first: (m,) the first item of each.
        kind: WARD, COMPLETE or AVERAGE of `_linkage_kernels`.

    Returns:
        (m - 1, 2) first items of the merged groups, that of the whole on the left, and (m - 1,) heights.

    >>> from assay.models.cluster.agglomerative._linkage_kernels import COMPLETE
    >>> D = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> merge_in_matrix(D, np.ones(3, dtype=np.int64), np.arange(3), COMPLETE)[1]
    array([1., 5.])
    """
    from assay.models.cluster.agglomerative._group_matrix_kernels import follow_chain

    m = len(D)
    pairs, heights = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    sizes, chain, length, done = sizes.copy(), np.zeros(m, dtype=np.int64), 0, 0
    while done < m - 1:
        half = done + (m - done) // 2
        stop = min(half, done + max(1, _PAIRS // len(D)))
        length = follow_chain(kind, D, sizes, first, chain, length, pairs[done:stop], heights[done:stop])
        done = stop
        if 2 * (m - done) <= len(D) and done < m - 1:
            keep = np.flatnonzero(sizes)
            place = np.zeros(len(sizes), dtype=np.int64)
            place[keep] = np.arange(len(keep))
            chain = place[chain]
            D, sizes, first = D[np.ix_(keep, keep)], sizes[keep], first[keep]
    return pairs, heights


def merge_by_centres(D: Array, kind: int) -> tuple[Whole, Array]:
    """Merge items until one group is left, always the two whose centres are nearest; heights may fall.

    Args:
        D: (m, m) symmetric squares of distances; overwritten.
        kind: CENTROID or MEDIAN of `_linkage_kernels`.

    Returns:
        (m - 1, 2) first items of the merged groups in the order of the merges, and (m - 1,) heights.

    >>> from assay.models.cluster.agglomerative._linkage_kernels import CENTROID
    >>> merge_by_centres(np.array([[0.0, 4.0, 9.0], [4.0, 0.0, 9.0], [9.0, 9.0, 0.0]]), CENTROID)[1].round(4)
    array([2.    , 2.8284])
    """
    from assay.models.cluster.agglomerative._group_matrix_kernels import merge_nearest

    m = len(D)
    pairs, heights = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    sizes, near, apart = np.ones(m, dtype=np.int64), np.full(m, -1), np.full(m, np.inf)
    step = max(1, _PAIRS // m)
    for start in range(0, m - 1, step):
        part = slice(start, start + step)
        merge_nearest(kind, D, sizes, near, apart, pairs[part], heights[part])
    return pairs, heights
