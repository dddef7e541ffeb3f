"""How far rows are apart, by a metric of the user's choice: the one place where its name gets a meaning.

euclidean     |x - y|
manhattan     sum |x_j - y_j|                 chebyshev   max |x_j - y_j|
cosine        1 - cos(x, y)                   rows of length one: |x - y|^2 / 2
correlation   1 - r(x, y)                     rows about their mean, of length one: |x - y|^2 / 2
hamming       share of the columns that differ
gower         mean over columns of |x_j - y_j| / range_j, or of [x_j != y_j] for categories; a column in which either
              row has a gap is left out of the mean
callable      f(x, y), symmetric and not negative

The first and the two that become it on other rows are searched by trees and products (`neighbours`); the second two by
trees in few columns, and all others by tiles of distances. Either way the answer is exact, and equally near rows go by
their number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from assay.arrays import Array, Whole
from assay.engine.local import in_threads
from assay.errors import DataError, ParameterError
from assay.summary.distances.distances import DENSE_LIMIT, as_rows, pair_squares, squared_distances, unit_scale
from assay.summary.distances.neighbours import (
    PAIRS_LIMIT,
    NeighbourPairs,
    Neighbours,
    nearest_neighbours,
    neighbours_within,
)

_TILE = 2**20  # distances held at a time, in each thread
_STRIPE = 2**17  # of these for Gower's, which passes over them once for each column
_SCIPY: dict[str, Any] = {"manhattan": "cityblock", "chebyshev": "chebyshev", "hamming": "hamming"}
_POWERS = {"manhattan": 1.0, "chebyshev": np.inf}  # which trees know too
_FEW, _SPARE = 6, 8  # columns up to which trees are quicker than tiles; candidates beside the k that are asked for
_FLAT = ("euclidean", "cosine", "correlation")
NAMES = (*_FLAT, *_SCIPY, "gower", "precomputed")


@dataclass(frozen=True, slots=True)
class Gower:
    """Gower's metric with all it needs to know; "gower" stands for it until rows are seen.

    Attributes:
        ranges: of the columns, of the rows that were fitted; new rows may lie beyond, and then differ by more than 1.
        categorical: positions of the columns that hold codes of categories.
    """

    ranges: tuple[float, ...]
    categorical: tuple[int, ...] = ()

    @staticmethod
    def of(X: Array, categorical: tuple[int, ...] = ()) -> Gower:
        """With the ranges of (n, d) rows; a column without values has none.

        >>> Gower.of(np.array([[0.0, 7.0], [4.0, np.nan]])).ranges
        (4.0, 0.0)
        """
        known = ~np.isnan(X)
        high = np.where(known, X, -np.inf).max(axis=0)
        low = np.where(known, X, np.inf).min(axis=0)
        with np.errstate(over="ignore"):
            ranges = np.where(known.any(axis=0), high - low, 0.0)
        if not np.isfinite(ranges).all():
            raise DataError(f"the range of column {int(np.argmax(ranges))} (counted from 0) is beyond the numbers.")
        return Gower(tuple(ranges.tolist()), tuple(categorical))


Metric: TypeAlias = (
    Literal["euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming", "gower", "precomputed"]
    | Gower
    | Callable[[Array, Array], float]
)


def checked_metric(metric: Any, *, precomputed: bool = True, name: str = "metric") -> Metric:
    """A metric that is known, or the reason why not.

    >>> checked_metric("cosine")
    'cosine'
    """
    known = NAMES if precomputed else NAMES[:-1]
    if isinstance(metric, Gower) or callable(metric) or (isinstance(metric, str) and metric in known):
        return metric  # type: ignore[no-any-return]
    listed = ", ".join(f'"{one}"' for one in known)
    raise ParameterError(f"{name} must be {listed} or a function of two rows, is {metric!r}.")


def gaps_allowed(metric: Any) -> bool:
    """Whether rows may have missing values: by Gower's metric alone.

    >>> gaps_allowed("gower"), gaps_allowed("euclidean")
    (True, False)
    """
    return isinstance(metric, Gower) or (isinstance(metric, str) and metric == "gower")


def comparable(X: Any, metric: Metric, name: str = "X", columns: int | None = None) -> Array:
    """Rows of finite numbers, with NaN for gaps where the metric can do without them.

    >>> comparable([[1.0, np.nan]], "gower")
    array([[ 1., nan]])
    """
    if not gaps_allowed(metric):
        return as_rows(X, name, columns)
    if hasattr(X, "toarray"):
        return as_rows(X, name, columns)
    rows: Array = np.array(X, dtype=np.float64)
    gaps = np.isnan(rows)
    as_rows(np.where(gaps, 0.0, rows), name, columns)
    empty = gaps.all(axis=1)
    if empty.any():
        raise DataError(
            f"row {int(empty.argmax())} (counted from 0) of {name} has no value at all: nothing can be compared. "
            "Leave such rows out."
        )
    return rows


def is_precomputed(metric: Metric) -> bool:
    """Whether a matrix of distances is given in place of rows.

    >>> is_precomputed("precomputed")
    True
    """
    return isinstance(metric, str) and metric == "precomputed"


def is_flat(metric: Metric) -> bool:
    """Whether the metric is Euclidean, or rises with Euclidean distance once rows are normalised.

    >>> is_flat("correlation"), is_flat("manhattan")
    (True, False)
    """
    return isinstance(metric, str) and metric in _FLAT


def as_euclidean(given: Any, metric: Metric) -> Array:
    """Rows whose Euclidean distances order as the metric does: themselves, or normalised.

    >>> as_euclidean([[3.0, 4.0]], "cosine")
    array([[0.6, 0.8]])
    >>> as_euclidean([[1.0, 3.0]], "correlation").round(4)
    array([[-0.7071,  0.7071]])
    """
    if not is_flat(checked_metric(metric)):
        raise ParameterError(f"{metric!r} is no metric of rows in a Euclidean space.")
    X = as_rows(given)
    if metric == "euclidean":
        return X
    largest = np.abs(X).max(axis=1, keepdims=True)
    if metric == "correlation":
        constant = X.min(axis=1) == X.max(axis=1)
        if constant.any():
            row = int(constant.argmax())
            raise DataError(f"the correlation of a constant row is not defined: row {row}. Leave such rows out.")
        X = X / largest
        X = X - X.mean(axis=1, keepdims=True)
        largest = np.abs(X).max(axis=1, keepdims=True)
    elif (largest == 0).any():
        row = int(np.argmin(largest))
        raise DataError(f"the cosine of a row of zeros is not defined: row {row}. Leave such rows out.")
    X = X / largest  # squares of 1e300 would overflow
    return np.asarray(X / np.sqrt(np.einsum("ij,ij->i", X, X))[:, None])


def as_metric(lengths: Array, metric: Metric) -> Array:
    """Distances by the metric from those between the rows of `as_euclidean`: on unit rows 1 - cos = |x - y|^2 / 2.

    >>> as_metric(np.array([2.0]), "cosine")
    array([2.])
    """
    return lengths if metric == "euclidean" else np.asarray(lengths**2 / 2)


def nearest(X: Any, k: int, metric: Metric, among: Any = None) -> Neighbours:
    """Which k rows are nearest to each row?

    Args:
        X: (n, d) rows.
        k: how many.
        metric: not "precomputed".
        among: (m, d) rows to search; X itself when not given, and then no row is its own neighbour.

    Returns:
        Whole into `among` and distances.

    >>> nearest([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]], 1, "manhattan").distances.ravel()
    array([2., 2., 3.])
    """
    checked_metric(metric, precomputed=False)
    if is_flat(metric):
        found = nearest_neighbours(as_euclidean(X, metric), k, None if among is None else as_euclidean(among, metric))
        return replace(found, distances=as_metric(found.distances, metric))
    X, Y = _two(X, among, metric)
    available = len(Y) - (among is None)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= available:
        raise ParameterError(f"k must be a whole number from 1 to the {available} rows to choose from, is {k!r}.")
    if isinstance(metric, str) and metric in _POWERS and X.shape[1] <= _FEW and len(Y) > 2 * _SPARE:
        return _by_tree(X, Y, int(k), metric, np.arange(len(X)) if among is None else np.full(len(X), -1))
    indices, lengths = np.empty((len(X), int(k)), np.int64), np.empty((len(X), int(k)))

    def search(part: slice, D: Array) -> None:
        if among is None:
            np.fill_diagonal(D[:, part.start :], np.inf)
        indices[part], lengths[part] = _least(D, int(k))

    _by_tiles(X, Y, metric, search)
    return Neighbours(indices, lengths, "tiles")


def within(X: Any, radius: float, metric: Metric, among: Any = None) -> NeighbourPairs:
    """Which rows are no further apart than a radius?

    Args:
        X: (n, d) rows.
        radius: the largest distance, itself included.
        metric: not "precomputed".
        among: (m, d) rows to search; X itself when not given, and then no row is paired with itself.

    Returns:
        Both directions of every pair.

    >>> within([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]], 2.0, "manhattan").cols
    array([1, 0])
    """
    checked_metric(metric, precomputed=False)
    if is_flat(metric):
        return _within_flat(X, radius, metric, among)
    if not np.isfinite(radius) or radius < 0:
        raise ParameterError(f"the radius must be a finite number of at least 0, got {radius!r}")
    X, Y = _two(X, among, metric)
    found: dict[int, tuple[Whole, Whole, Array]] = {}

    def search(part: slice, D: Array) -> None:
        near = radius >= D
        if among is None:
            np.fill_diagonal(near[:, part.start :], False)
        rows, cols = np.nonzero(near)
        found[part.start] = rows + part.start, cols, D[rows, cols]
        if sum(len(one[0]) for one in list(found.values())) > PAIRS_LIMIT:
            raise DataError(
                f"more than {PAIRS_LIMIT} pairs of rows are within {radius:g} of each other; "
                "use a smaller radius, or the k nearest neighbours"
            )

    _by_tiles(X, Y, metric, search)
    rows, cols, lengths = (np.concatenate(parts) for parts in zip(*(found[at] for at in sorted(found)), strict=True))
    return NeighbourPairs(rows, cols, lengths, "tiles")


def distances(X: Any, metric: Metric, Y: Any = None) -> Array:
    """(n, m) distances of all pairs of rows, refused above 1 GiB.

    Args:
        X: (n, d) rows.
        metric: not "precomputed".
        Y: (m, d) other rows; X itself when not given, and then the result is symmetric with a diagonal of zeros.

    >>> distances([[0.0, 0.0], [1.0, 1.0]], "chebyshev")
    array([[0., 1.],
           [1., 0.]])
    """
    checked_metric(metric, precomputed=False)
    X, second = _two(X, Y, metric)
    if len(X) * len(second) > DENSE_LIMIT:
        raise DataError(
            f"the distances of {len(X)} x {len(second)} rows would take {len(X) * len(second) / 2**27:.1f} GiB "
            "(the limit is 1 GiB). Use a sample of the rows."
        )
    if is_flat(metric):
        rows = as_euclidean(X, metric)
        squares = squared_distances(rows, None if Y is None else as_euclidean(second, metric))
        return np.sqrt(squares, out=squares) if metric == "euclidean" else squares / 2
    if callable(metric) and Y is None:
        return _mirrored(X, metric)
    D = np.empty((len(X), len(second)))

    def keep(part: slice, tile: Array) -> None:
        D[part] = tile

    _by_tiles(X, second, metric, keep)
    if Y is None:
        np.fill_diagonal(D, 0.0)
    return D


def pair_distances(X: Array, metric: Metric, rows: Whole, cols: Whole) -> Array:
    """(m,) distances of some pairs of checked rows.

    >>> pair_distances(np.array([[0.0], [1.0], [5.0]]), "manhattan", np.array([0, 0]), np.array([1, 2]))
    array([1., 5.])
    """
    checked_metric(metric, precomputed=False)
    if is_flat(metric):
        flat = as_euclidean(X, metric)
        scale = unit_scale(flat)
        return as_metric(np.sqrt(pair_squares(flat * scale, flat * scale, rows, cols)) / scale, metric)
    if gaps_allowed(metric):
        found = _gower(X[rows], X[cols], metric if isinstance(metric, Gower) else Gower.of(X))
        _refuse_uncompared(found, lambda place: (int(rows[place[0]]), int(cols[place[0]])))
        return found
    if callable(metric):
        return _refuse_odd(np.array([float(metric(X[i], X[j])) for i, j in zip(rows, cols, strict=True)]))
    if metric == "hamming":
        return np.asarray((X[rows] != X[cols]).mean(axis=1))
    scale = unit_scale(X)
    terms = np.abs(X[rows] * scale - X[cols] * scale)
    return np.asarray(terms.sum(axis=1) if metric == "manhattan" else terms.max(axis=1)) / scale


def _two(X: Any, among: Any, metric: Metric) -> tuple[Array, Array]:
    X = comparable(X, metric)
    return X, X if among is None else comparable(among, metric, "the rows to compare with", X.shape[1])


def _within_flat(X: Any, radius: float, metric: Metric, among: Any) -> NeighbourPairs:
    rows, others = as_euclidean(X, metric), None if among is None else as_euclidean(among, metric)
    if metric == "euclidean" or not radius >= 0:
        return neighbours_within(rows, radius, others)
    found = neighbours_within(rows, np.sqrt(2 * radius) * (1 + 1e-15), others)
    lengths = as_metric(found.distances, metric)
    kept = lengths <= radius
    return NeighbourPairs(found.rows[kept], found.cols[kept], lengths[kept], found.route)


def _by_tree(X: Array, Y: Array, k: int, metric: Metric, own: Whole) -> Neighbours:
    """Candidates from a tree, measured anew; a row whose last candidate may be as near as its k-th asks all of Y."""
    scale = unit_scale(X, Y)
    X, Y = X * scale, Y * scale
    wanted = min(len(Y), k + 1 + _SPARE)
    places: Whole = np.asarray(cKDTree(Y).query(X, wanted, p=_POWERS[str(metric)], workers=-1)[1], dtype=np.int64)
    lengths = np.empty(places.shape)
    for start in range(0, len(X), max(1, _TILE // (wanted * X.shape[1]))):
        part = slice(start, start + max(1, _TILE // (wanted * X.shape[1])))
        terms = np.abs(X[part, None] - Y[places[part]])
        lengths[part] = terms.sum(axis=2) if metric == "manhattan" else terms.max(axis=2)
    reach = lengths[:, -1].copy()
    lengths[places == own[:, None]] = np.inf
    order = np.lexsort((places, lengths), axis=1)[:, :k]
    indices, lengths = np.take_along_axis(places, order, axis=1), np.take_along_axis(lengths, order, axis=1)
    unsure = np.flatnonzero(lengths[:, -1] >= reach * (1 - 1e-12)) if wanted < len(Y) else np.empty(0, np.int64)
    measure = _measure(X[unsure], Y, metric) if len(unsure) else None
    for start in range(0, len(unsure), max(1, _TILE // len(Y))):
        rows = unsure[start : start + max(1, _TILE // len(Y))]
        assert measure is not None
        D = measure(slice(start, start + len(rows)))
        inside = own[rows] >= 0
        D[np.flatnonzero(inside), own[rows[inside]]] = np.inf
        indices[rows], lengths[rows] = _least(D, k)
    return Neighbours(indices, lengths / scale, "tree")


def _by_tiles(X: Array, Y: Array, metric: Metric, use: Callable[[slice, Array], None]) -> None:
    """Hand (rows, distances to all of Y) to `use`, tile after tile, from several threads."""
    measure = _measure(X, Y, metric)
    step = max(1, (_STRIPE if gaps_allowed(metric) else _TILE) // len(Y))

    def one(start: int) -> None:
        part = slice(start, min(start + step, len(X)))
        use(part, measure(part))

    starts = range(0, len(X), step)
    if callable(metric):  # Python's own code gains nothing from threads, and may not bear them
        for start in starts:
            one(start)
    else:
        in_threads(one, starts)


def _measure(X: Array, Y: Array, metric: Metric) -> Callable[[slice], Array]:
    """From some rows of X to their distances from all of Y."""
    if gaps_allowed(metric):
        gower = metric if isinstance(metric, Gower) else Gower.of(Y)

        def by_columns(part: slice) -> Array:
            D = _gower(X[part][:, None], Y[None], gower)
            _refuse_uncompared(D, lambda place: (part.start + place[0], place[1]))
            return D

        return by_columns
    if callable(metric):
        return lambda part: _called(X[part], Y, metric)
    scale = 1.0 if metric == "hamming" else unit_scale(X, Y)  # differences of 1e308 and -1e308 stay numbers
    first, second = X * scale, Y * scale

    def measure(part: slice) -> Array:
        D: Array = cdist(first[part], second, _SCIPY[str(metric)])
        with np.errstate(over="ignore"):
            D /= scale
        return D

    return measure


def _gower(X: Array, Y: Array, metric: Gower) -> Array:
    """Of rows that are broadcast against each other, columns last; NaN where no column can be compared."""
    if len(metric.ranges) != X.shape[-1]:
        raise DataError(f"Gower's metric was fitted on {len(metric.ranges)} columns; these rows have {X.shape[-1]}.")
    shape = np.broadcast_shapes(X.shape[:-1], Y.shape[:-1])
    total, counted = np.zeros(shape), np.full(shape, float(X.shape[-1]))
    for j, width in enumerate(metric.ranges):
        x, y = X[..., j], Y[..., j]
        if j in metric.categorical:
            apart = (x != y).astype(np.float64)
        else:
            with np.errstate(over="ignore"):
                apart = np.abs(x - y) / (width or np.inf)  # a constant column tells nothing, and counts
        gaps = np.isnan(x) | np.isnan(y)
        if gaps.any():
            apart[gaps] = 0.0
            counted -= gaps
        total += apart
    return np.where(counted > 0.0, total / np.maximum(counted, 1.0), np.nan)


def _refuse_uncompared(D: Array, ends: Callable[[tuple[int, ...]], tuple[int, int]]) -> None:
    if np.isnan(D).any():
        i, j = ends(tuple(int(p) for p in np.argwhere(np.isnan(D))[0]))
        raise DataError(
            f"rows {i} and {j} (counted from 0) have no column in which both have a value, so that nothing says how "
            "far they are apart. Fill the gaps first, or leave such rows or columns out."
        )


def _called(X: Array, Y: Array, metric: Callable[[Array, Array], float]) -> Array:
    return _refuse_odd(np.array([[float(metric(x, y)) for y in Y] for x in X]))


def _mirrored(X: Array, metric: Callable[[Array, Array], float]) -> Array:
    D = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for j in range(i):
            D[i, j] = D[j, i] = metric(X[i], X[j])
    return _refuse_odd(D)


def _refuse_odd(D: Array) -> Array:
    bad = ~(D >= 0.0) | np.isinf(D)
    if bad.any():
        raise DataError(f"a metric must give finite distances of at least 0; this one gave {float(D[bad][0]):g}.")
    return D


def _least(D: Array, k: int) -> tuple[Whole, Array]:
    """The k least of each row by (value, place)."""
    last = np.partition(D, k - 1, axis=1)[:, k - 1]
    rows, cols = np.nonzero(last[:, None] >= D)  # more than k where some are equal
    values = D[rows, cols]
    order = np.lexsort((cols, values, rows))
    rank = np.arange(len(rows)) - np.searchsorted(rows, np.arange(len(D)))[rows]
    kept = order[rank < k]
    return cols[kept].reshape(-1, k), values[kept].reshape(-1, k)
