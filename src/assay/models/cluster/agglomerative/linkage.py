"""Agglomeration: from every item alone to all in one group, always merging the two groups that are least apart.

How far groups A and B are apart, their linkage:
single    min |x - y|                         from the minimum spanning tree, n - 1 links
complete  max |x - y|                         nearest groups by their centres while these are many,
average   mean |x - y|                        then a matrix of groups, (m, m) with m about 4000 to 12,000
Ward      sqrt(2 |A||B| / (|A|+|B|)) |c_A - c_B|, the growth of the squares within; nearest groups by their centres
centroid  |c_A - c_B|                         a matrix of all items; heights may fall
median    the same, the centre of a merged group half-way between those of its parts, whatever their sizes

In a matrix groups are merged along nearest-neighbour chains. A chain leads from a group to its nearest, from that to
its nearest, and so on: it ends with two that are nearest to each other, which are merged. The matrix is closed up each
time half of its groups are gone.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import squareform

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.linalg.validate import power_of_two
from assay.models.cluster.agglomerative.mutual_nearest import MutualNearest
from assay.optimize.team import Team
from assay.summary.distances.distances import unit_scale
from assay.summary.distances.metrics import Metric, as_euclidean, as_metric, distances, is_flat
from assay.summary.graph.cells import in_cells, padded
from assay.summary.graph.merge_table import merge_sequence, merge_table
from assay.summary.graph.spanning_tree import spanning_tree, spanning_tree_of_dissimilarities

Linkage = Literal["ward", "single", "complete", "average", "centroid", "median"]

BY_CENTRES = ("ward", "centroid", "median")  # groups have centres, which only points have

HELD_GROUPS = 4096  # whose pairs are held, in 128 MiB
HELD_MOST = 11_585  # up to 1 GiB where centres tell little, as for average linkage in many dimensions
_PAIRS = 2**25  # numbers touched in one piece, between which an interrupt is heard
_SIDE = 512  # of a square that is mirrored at once


def agglomerate(X: Array, linkage: Linkage = "ward", metric: Metric = "euclidean") -> Array:
    """Merge rows and groups of rows until all are one, by Euclidean distance in memory of n (d + 10) numbers.

    Complete and average linkage hold the distances of at most `HELD_MOST` groups beside, whatever n. Centroid and
    median linkage hold those of all pairs, and so do other metrics, unless they become Euclidean on normalised rows and
    the linkage asks for nothing but the order of distances.

    Args:
        X: (n, d) rows.
        linkage: how far two groups are apart.
        metric: how far two rows are apart; Euclidean where groups have centres.

    Returns:
        (n - 1, 4) merge table as SciPy's `linkage` gives.

    Reference: Murtagh & Contreras, WIREs Data Mining and Knowledge Discovery 2, 2012.

    >>> agglomerate(np.array([[0.0], [1.0], [4.0]]), "average")
    array([[0. , 1. , 1. , 2. ],
           [2. , 3. , 3.5, 3. ]])
    """
    from assay.summary.graph._merge_kernels import ward_heights

    kind = _kind(linkage)
    if metric != "euclidean":
        refuse_centres(linkage, metric)
        if not is_flat(metric) or linkage == "average":
            return agglomerate_dissimilarities(distances(X, metric), linkage)
        table = agglomerate(as_euclidean(X, metric), linkage)
        table[:, 2] = as_metric(table[:, 2], metric)
        return table
    if len(X) == 1:
        return np.empty((0, 4))
    if linkage in ("centroid", "median"):
        return agglomerate_dissimilarities(distances(X, metric), linkage)
    if kind is None:
        tree = spanning_tree(X)
        return merge_table(tree.edges, tree.lengths)
    scale = unit_scale(X)
    search = MutualNearest(X * scale, kind)
    if linkage == "ward":
        search.merge_until(1)
        return _table(search.order[search.pairs], ward_heights(search.rows, search.pairs) / scale)
    search.merge_until(HELD_MOST, HELD_GROUPS)
    items, starts = search.members()
    D = group_distances(search.rows[items], starts, kind)
    pairs, heights = merge_in_matrix(D, np.diff(starts), items[starts[:-1]], kind)
    pairs = np.concatenate([search.pairs, pairs])
    return _table(search.order[pairs], np.concatenate([search.heights, heights]) / scale)


def agglomerate_dissimilarities(D: Array, linkage: Linkage = "ward") -> Array:
    """Merge items and groups of items by their dissimilarities, until all are one.

    Args:
        D: (n, n) checked dissimilarities. Ward's, centroid and median linkage take them for distances of points.
        linkage: how far two groups are apart.

    Returns:
        (n - 1, 4) merge table as SciPy's `linkage` gives.

    Reference: Lance & Williams, Computer Journal 9, 1967.

    >>> agglomerate_dissimilarities(np.array([[0.0, 2.0, 6.0], [2.0, 0.0, 4.0], [6.0, 4.0, 0.0]]), "complete")
    array([[0., 1., 2., 2.],
           [2., 3., 6., 3.]])
    """
    kind = _kind(linkage)
    n = len(D)
    if n == 1:
        return np.empty((0, 4))
    if kind is None:
        tree = spanning_tree_of_dissimilarities(D)
        return merge_table(tree.edges, tree.lengths)
    unit = power_of_two(D)
    held = D / unit
    if linkage in BY_CENTRES:
        held *= held
    if linkage in ("centroid", "median"):
        pairs, heights = merge_by_centres(held, kind)
        return merge_sequence(pairs, heights * unit)
    pairs, heights = merge_in_matrix(held, np.ones(n, dtype=np.int64), np.arange(n), kind)
    return _table(pairs, heights * unit)


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
    from assay.models.cluster.agglomerative._linkage_kernels import fill

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
    from assay.models.cluster.agglomerative._linkage_kernels import follow_chain

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
    from assay.models.cluster.agglomerative._linkage_kernels import merge_nearest

    m = len(D)
    pairs, heights = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    sizes, near, apart = np.ones(m, dtype=np.int64), np.full(m, -1), np.full(m, np.inf)
    step = max(1, _PAIRS // m)
    for start in range(0, m - 1, step):
        part = slice(start, start + step)
        merge_nearest(kind, D, sizes, near, apart, pairs[part], heights[part])
    return pairs, heights


def refuse_centres(linkage: str, metric: Metric) -> None:
    """Refuse a linkage by centres where rows are not compared as points.

    >>> refuse_centres("average", "manhattan")
    """
    if linkage in BY_CENTRES and metric not in ("euclidean", "precomputed"):
        raise ParameterError(
            f"{linkage} linkage compares the centres of groups, which are points of a Euclidean space; with metric "
            f"{metric!r} use 'average', 'complete' or 'single'."
        )


def from_condensed(d: ArrayLike) -> Array:
    """(n, n) dissimilarities from the n (n - 1) / 2 of the pairs (0, 1), (0, 2), ..., (n - 2, n - 1).

    >>> from_condensed([1.0, 2.0, 3.0])
    array([[0., 1., 2.],
           [1., 0., 3.],
           [2., 3., 0.]])
    """
    pairs = np.asarray(d, dtype=np.float64)
    n = (1 + math.isqrt(1 + 8 * len(pairs))) // 2
    if n * (n - 1) // 2 != len(pairs):
        raise DataError(
            f"condensed dissimilarities of n items are n (n - 1) / 2 numbers; {len(pairs)} is no such number. "
            f"Those of {n} items would be {n * (n - 1) // 2}."
        )
    return np.asarray(squareform(pairs, checks=False))


def _kind(linkage: str) -> int | None:
    """The kernels' number of a linkage; None for single, which needs none."""
    if linkage not in get_args(Linkage):
        raise ParameterError(f"linkage is one of {', '.join(map(repr, get_args(Linkage)))}; got {linkage!r}")
    from assay.models.cluster.agglomerative import _linkage_kernels as kernels

    numbers = {
        "ward": kernels.WARD,
        "complete": kernels.COMPLETE,
        "average": kernels.AVERAGE,
        "centroid": kernels.CENTROID,
        "median": kernels.MEDIAN,
    }
    return numbers.get(linkage)


def _table(pairs: Whole, heights: Array) -> Array:
    from assay.summary.graph._merge_kernels import raise_to_parts

    raise_to_parts(pairs, heights)
    return merge_table(pairs, heights)
