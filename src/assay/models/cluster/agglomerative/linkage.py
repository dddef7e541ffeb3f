"""Agglomeration: from every item alone to all in one group, always merging the two groups that are least apart.

How far groups A and B are apart, their linkage:
single    min |x - y|                         from the minimum spanning tree, n - 1 links
complete  max |x - y|                         nearest groups by their centres while these are many,
average   mean |x - y|                        then a matrix of groups, (m, m) with m about 4000 to 12,000
Ward      sqrt(2 |A||B| / (|A|+|B|)) |c_A - c_B|, the growth of the squares within; nearest groups by their centres
centroid  |c_A - c_B|                         a matrix of all items; heights may fall
median    the same, the centre of a merged group half-way between those of its parts, whatever their sizes
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import squareform

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.linalg.validate import power_of_two
from assay.models.cluster.agglomerative.group_matrix import group_distances, merge_by_centres, merge_in_matrix
from assay.models.cluster.agglomerative.group_search import GroupSearch
from assay.summary.distances.distances import unit_scale
from assay.summary.distances.metrics import Metric, as_euclidean, as_metric, distances, is_flat
from assay.summary.graph.merge_table import merge_sequence, merge_table
from assay.summary.graph.spanning_tree import spanning_tree, spanning_tree_of_dissimilarities

Linkage = Literal["ward", "single", "complete", "average", "centroid", "median"]

BY_CENTRES = ("ward", "centroid", "median")  # groups have centres, which only points have

HELD_GROUPS = 4096  # whose pairs are held, in 128 MiB
HELD_MOST = 11_585  # up to 1 GiB where centres tell little, as for average linkage in many dimensions


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
    search = GroupSearch(X * scale, kind)
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
