"""Exact nearest neighbours, by a tree in few dimensions, by blocks of products in many, from all pairs of few rows.

The first two only propose candidates; distances are measured from differences, and ties go to the lower row number. So
they agree to the last bit, for data far from zero and for equal rows too. Few rows need nothing compiled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.spatial import cKDTree

from assay.arrays import Array, Whole
from assay.engine.local import in_threads
from assay.errors import DataError, ParameterError
from assay.summary.distances._blocked import nearest_blocked, within_blocked
from assay.summary.distances.distances import as_rows, pair_squares, unit_scale

Route = Literal["auto", "tree", "blocked"]

FEW = 2**22  # numbers compared, rows x rows x columns, up to which all pairs are measured
PAIRS_LIMIT = 2**28  # pairs of neighbours within a radius: 6 GiB of indices and distances


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The k nearest of each row, nearest first.

    Attributes:
        indices: (n, k) row numbers; equally near ones in ascending order.
        distances: (n, k) ascending.
        route: "tree", "blocked" or "pairs", how they were found.
    """

    indices: Whole
    distances: Array
    route: str


@dataclass(frozen=True, slots=True, eq=False)
class NeighbourPairs:
    """Rows no further apart than a radius, ordered by (row, col).

    Attributes:
        rows: (m,) row number of one end.
        cols: (m,) row number of the other.
        distances: (m,) between them.
        route: "tree" or "blocked", how they were found.
    """

    rows: Whole
    cols: Whole
    distances: Array
    route: str


def nearest_neighbours(X: Any, k: int, among: Any = None, *, route: Route = "auto") -> Neighbours:
    """Which k rows are nearest to each row, in Euclidean distance?

    Args:
        X: (n, d) rows.
        k: How many neighbours.
        among: (m, d) rows to search; X itself when not given, and then no row is its own neighbour.
        route: "tree", "blocked" or "auto", whichever was faster for this shape when measured, or for few rows all
            pairs. The answer is the same.

    Returns:
        Whole into `among` and distances.

    >>> nearest_neighbours([[0.0], [1.0], [3.0]], 1).indices.ravel()
    array([1, 0, 1])
    """
    X = as_rows(X)
    Y = X if among is None else as_rows(among, "among", X.shape[1])
    available = len(Y) - 1 if among is None else len(Y)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError(f"k must be a whole number of at least 1, got {k!r}")
    if k > available:
        others = "other rows" if among is None else "rows to search"
        raise ParameterError(
            f"k={k} neighbours need at least {k} {others}, there are {available}; "
            + (f"use k <= {available}" if available else "give at least 2 rows")
        )
    few = route == "auto" and len(X) * Y.size <= FEW
    way: str = _route(route, *Y.shape)
    way = "pairs" if few and way == "blocked" else way
    scale = unit_scale(X, Y)
    Y = Y * scale
    indices, distances = _without_copies(Y, int(k), way) if among is None else _search(X * scale, Y, int(k), way)
    return Neighbours(indices, distances / scale, way)


def neighbours_within(X: Any, radius: float, among: Any = None, *, route: Route = "auto") -> NeighbourPairs:
    """Which rows are no further apart than a radius, in Euclidean distance?

    Args:
        X: (n, d) rows.
        radius: The largest distance, itself included.
        among: (m, d) rows to search; X itself when not given, and then no row is paired with itself.
        route: "tree", "blocked" or "auto", whichever was faster for this shape when measured. The answer is the same.

    Returns:
        Both directions of every pair, at most `PAIRS_LIMIT` of them.

    >>> neighbours_within([[0.0], [1.0], [3.0]], 1.0).cols
    array([1, 0])
    """
    X = as_rows(X)
    Y = X if among is None else as_rows(among, "among", X.shape[1])
    if not np.isfinite(radius) or radius < 0:
        raise ParameterError(f"the radius must be a finite number of at least 0, got {radius!r}")
    route = _route(route, *Y.shape)
    scale = unit_scale(X, Y)
    Y = Y * scale
    X = Y if among is None else X * scale
    search = _within_tree if route == "tree" else within_blocked
    found = search(X, Y, float(radius) * scale, PAIRS_LIMIT)
    if found is None:
        raise DataError(
            f"more than {PAIRS_LIMIT} pairs of rows are within {radius:g} of each other; "
            "use a smaller radius, or the k nearest neighbours"
        )
    rows, cols, distances = found
    if among is None:
        keep = rows != cols
        rows, cols, distances = rows[keep], cols[keep], distances[keep]
    return NeighbourPairs(rows, cols, distances / scale, route)


def _route(route: Route, n: int, d: int) -> Literal["tree", "blocked"]:
    if route in ("tree", "blocked"):
        return route
    if route != "auto":
        raise ParameterError(f'route must be "auto", "tree" or "blocked", got {route!r}')
    # Seconds of processor time for 15 neighbours, tree / blocked, uniform rows (Gaussian ones are worse for the tree):
    #            d = 2       5          8          10         12         15         20         50
    # n =  2000  .02/.03   .02/.03    .04/.03    .06/.03    .07/.03    .10/.03    .11/.03    .22/.04
    # n = 10000  .07/.24   .13/.21    .40/.25    .96/.23   1.57/.21   2.55/.22   2.67/.26   4.77/.33
    # n = 30000  .19/1.2   .41/1.3   1.39/1.3    4.2/1.4    7.9/1.5   23.7/1.6   24.3/1.4     - /2.1
    # Per query the tree costs about 6, 14, 46, 140 us at d = 2, 5, 8, 10 (as n^0.3 at d = 10, as n from d = 15 on),
    # blocks 1.5 ns per candidate. The lines cross near n = 40,000 for d = 8 and 160,000 for d = 10.
    return "tree" if d <= 6 or (d <= 8 and n >= 40_000) or (d <= 10 and n >= 160_000) else "blocked"


def _without_copies(Y: Array, k: int, route: str) -> tuple[Whole, Array]:
    """Neighbours of the rows among themselves; of many equal rows only the first k + 1 need be searched.

    Later copies are never among the k nearest of any row, since equally near ones go by row number. All copies of a row
    share one search for k + 1, from which each drops itself, or the last when it is not among them.
    """
    group, rank = _copies(Y)
    if rank.max(initial=0) <= k:
        return _search(Y, Y, k, route, np.arange(len(Y)))
    kept = np.flatnonzero(rank <= k)
    first = np.flatnonzero(rank == 0)
    found, distances = _search(Y[first], Y[kept], k + 1, route)
    indices = kept[found][group]
    distances = distances[group]
    dropped = indices == np.arange(len(Y))[:, None]
    dropped[~dropped.any(axis=1), -1] = True
    return indices[~dropped].reshape(-1, k), distances[~dropped].reshape(-1, k)


def _copies(Y: Array) -> tuple[Whole, Whole]:
    """For each row the number of its group of equal rows, counted by first appearance, and its rank in it."""
    n = len(Y)
    keys = np.zeros(n, np.uint64)
    with np.errstate(over="ignore"):
        for column in (Y + 0.0).view(np.uint64).T:  # + 0.0 makes -0.0 and 0.0 one
            keys ^= column
            keys *= np.uint64(0x9E3779B97F4A7C15)
            keys ^= keys >> np.uint64(29)
    order = np.argsort(keys, kind="stable")
    new = np.ones(n, np.bool_)
    new[1:] = keys[order[1:]] != keys[order[:-1]]
    start = np.flatnonzero(new)
    size = np.diff(np.append(start, n))
    head = np.repeat(order[start], size)
    if not np.array_equal(Y[order], Y[head]):  # two different rows with one key: 1 in 10^9 for 100,000 rows
        return np.arange(n), np.zeros(n, np.int64)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n) - np.repeat(start, size)
    representative = np.empty(n, np.int64)
    representative[order] = head
    return np.cumsum(rank == 0)[representative] - 1, rank


def _search(X: Array, Y: Array, k: int, route: str, own: Whole | None = None) -> tuple[Whole, Array]:
    own = np.full(len(X), -1) if own is None else own
    search = {"tree": _nearest_tree, "blocked": nearest_blocked, "pairs": _nearest_of_pairs}[route]
    return search(X, Y, k, own)


def _nearest_of_pairs(X: Array, Y: Array, k: int, own: Whole) -> tuple[Whole, Array]:
    """As nearest_blocked, from all distances: of few rows they take no longer than a search, and nothing compiled."""
    apart = _all_distances(X, Y)
    chosen = np.flatnonzero(own >= 0)
    apart[chosen, own[chosen]] = np.inf
    indices = np.sort(np.argpartition(apart, k - 1, axis=1)[:, :k], axis=1)
    near = np.take_along_axis(apart, indices, axis=1)
    # where the k-th is as near as one left out, the lower number decides
    tied = np.flatnonzero((apart <= near.max(axis=1)[:, None]).sum(axis=1) > k)
    indices[tied] = np.argsort(apart[tied], axis=1, kind="stable")[:, :k]
    near[tied] = np.take_along_axis(apart[tied], indices[tied], axis=1)
    order = np.argsort(near, axis=1, kind="stable")
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(near, order, axis=1)


def _all_distances(X: Array, Y: Array) -> Array:
    """(n, m) with the sums of `pair_squares`, bit for bit."""
    sums = np.zeros((4, len(X), len(Y)))
    for j in range(X.shape[1]):
        gaps = np.subtract.outer(X[:, j], Y[:, j])
        gaps *= gaps
        sums[j % 4] += gaps
    return np.asarray(np.sqrt((sums[0] + sums[1]) + (sums[2] + sums[3])))


def _nearest_tree(X: Array, Y: Array, k: int, own: Whole) -> tuple[Whole, Array]:
    """As nearest_blocked. A query whose last candidate is as near as its k-th, up to rounding, asks again for more."""
    tree = cKDTree(Y)
    n, d = X.shape
    indices = np.empty((n, k), np.int64)
    distances = np.empty((n, k))
    asking = np.arange(n)
    wanted = min(len(Y), k + 2)  # itself, and one more to see whether the k-th stands alone
    rounding = 8 * (d + 8) * np.finfo(float).eps

    def ask(start: int) -> Whole:
        rows = asking[start : start + step]
        far, places = (np.reshape(a, (-1, wanted)) for a in tree.query(X[rows], wanted))
        places, measured = _by_distance(X, Y, rows, places, own)
        decided = (far[:, -1] > measured[:, k - 1] * (1 + rounding)) | (wanted == len(Y))
        indices[rows[decided]] = places[decided, :k]
        distances[rows[decided]] = measured[decided, :k]
        return np.asarray(rows[~decided])

    while len(asking):
        if wanted > 16 * (k + 8) and wanted < len(Y):  # ties everywhere
            indices[asking], distances[asking] = nearest_blocked(X[asking], Y, k, own[asking])
            break
        step = max(1, 2**17 // wanted)
        asking = np.concatenate(in_threads(ask, range(0, len(asking), step)))
        wanted = min(len(Y), 2 * wanted + 8)
    return indices, distances


def _by_distance(X: Array, Y: Array, rows: Whole, places: Whole, own: Whole) -> tuple[Whole, Array]:
    """The candidates of some rows by (measured distance, number), the row's own one last."""
    squares = pair_squares(X, Y, np.repeat(rows, places.shape[1]), places.ravel()).reshape(places.shape)
    measured = np.where(places == own[rows, None], np.inf, np.sqrt(squares))
    order = np.lexsort((places, measured), axis=1)
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(measured, order, axis=1)


def _within_tree(X: Array, Y: Array, radius: float, limit: int) -> tuple[Whole, Whole, Array] | None:
    tree = cKDTree(Y)
    reach = radius * (1 + 8 * (Y.shape[1] + 8) * np.finfo(float).eps)
    other = tree if X is Y else cKDTree(X)
    if other.count_neighbors(tree, reach) > limit:
        return None
    if X is Y:
        pairs = tree.query_pairs(reach, output_type="ndarray")
        rows, cols = np.concatenate([pairs, pairs[:, ::-1]]).T
    else:
        lists = tree.query_ball_point(X, reach, workers=-1)
        rows = np.repeat(np.arange(len(X)), [len(found) for found in lists])
        cols = np.concatenate([np.asarray(found, np.int64) for found in lists])
    distances = np.sqrt(pair_squares(X, Y, rows, cols))
    keep = distances <= radius
    order = np.lexsort((cols[keep], rows[keep]))
    return rows[keep][order], cols[keep][order], distances[keep][order]
