"""How alike rows are, W(x, y) = exp(-|x - y|^2 / (2 s(x) s(y))), with one width s for all rows or one for each.

The width follows the data: the k-th nearest other row of a row lies at twice its width, where W is exp(-2) = 0.14. For
one width the median row counts.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse

from assay.arrays import Array
from assay.summary.distances.distances import squared_distances
from assay.summary.distances.metrics import Metric, distances, nearest
from assay.summary.graph.edges import edges_of, matrix_of
from assay.summary.graph.graph import Graph

Linked = Literal["all", "union", "mutual", "within"]

_SAMPLE = 500  # rows whose similarities with all others give the dimension
_TIE = 1e-9  # relative error of a distance taken from a product


def reach_of(X: Array, k: int, metric: Metric = "euclidean") -> Array:
    """(n,) distance of each row to its k-th nearest other.

    >>> reach_of(np.array([[0.0], [1.0], [3.0]]), 2)
    array([3., 2., 3.])
    """
    return np.ascontiguousarray(nearest(X, k, metric).distances[:, -1])


def common_width(reach: Array) -> float:
    """Half the median reach; rows with k copies of themselves have none, and where all have, any width is the same.

    >>> common_width(np.array([0.0, 2.0, 4.0, 8.0]))
    2.0
    """
    apart = reach[reach > 0.0]
    return float(np.median(apart)) / 2.0 if apart.size else 1.0


def own_widths(reach: Array) -> Array:
    """Half of each reach; a row with k copies of itself gets the smallest width above zero.

    >>> own_widths(np.array([0.0, 2.0, 4.0]))
    array([1., 1., 2.])
    """
    apart = reach[reach > 0.0]
    return np.where(reach > 0.0, reach, apart.min() if apart.size else 2.0) / 2.0


def affinities(X: Array, width: float | Array) -> Array:
    """(n, n) similarities of all rows, ones on the diagonal.

    >>> affinities(np.array([[0.0], [1.0]]), 1.0).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """
    unit, relative = _unit(width, len(X))
    logs = squared_distances(X, unit=unit)
    logs /= -2.0 * np.multiply.outer(relative, relative)
    with np.errstate(under="ignore"):
        return np.asarray(np.exp(logs, out=logs))


def linked_affinities(graph: Graph, width: float | Array) -> sparse.csr_array:
    """(n, n) similarities along the edges of a graph of distances, and ones on the diagonal."""
    rows, cols, lengths = edges_of(graph.weights)
    unit, relative = _unit(width, graph.n)
    with np.errstate(under="ignore", over="ignore"):
        values = np.exp(-((lengths / unit) ** 2) / (2.0 * relative[rows] * relative[cols]))
    everyone = np.arange(graph.n)
    ends = np.append(rows, everyone), np.append(cols, everyone)
    return matrix_of((*ends, np.append(values, np.ones(graph.n))), graph.n, "max")


def log_affinities(
    X: Array,
    points: Array,
    width: float | Array,
    *,
    k: int,
    linked: Linked,
    reach: float | Array,
    metric: Metric = "euclidean",
) -> Array:
    """(m, n) logarithms of the similarities of new rows with known ones; -inf where they are not linked.

    A new row's own width and reach are measured to its (k + 1)-th nearest known row: of a known row that is the k-th
    other, so that known rows get what they had. Exact ties in the reach are all linked.

    Args:
        X: (m, d) new rows.
        points: (n, d) known rows.
        width: One for all, or (n,) of the known rows.
        k: Neighbours that gave widths and reaches.
        linked: "all"; "union" or "mutual": within the reach of either or of both; "within" a fixed distance.
        reach: (n,) of the known rows, or that distance.
        metric: How far rows are apart.
    """
    unit, relative = _unit(width, len(points))
    squares = _squares(X, points, unit, metric)
    own = np.sqrt(np.partition(squares, k, axis=1)[:, k]) if linked in ("union", "mutual") or np.ndim(width) else None
    if linked != "all":
        apart = np.sqrt(squares)
        near = apart <= np.asarray(reach) / unit * (1.0 + _TIE)
        if own is not None and linked != "within":
            mine = apart <= own[:, None] * (1.0 + _TIE)
            near = near | mine if linked == "union" else near & mine
            near |= apart == 0.0
    if np.ndim(width) and own is not None:
        widths = np.where(own > 0.0, own / 2.0, relative.min())
        squares /= np.multiply.outer(widths, relative)
    squares *= -0.5
    return squares if linked == "all" else np.where(near, squares, -np.inf)


def dimension_seen(X: Array, width: float | Array, metric: Metric = "euclidean") -> float:
    """The dimension the data have at this scale: d log S / d log s, with S the sum of the similarities of others.

    On a flat d-dimensional piece S grows as s^d. At most 500 evenly spaced rows are compared with all.

    References: Coifman, Shkolnisky, Sigworth and Singer (2008); Berry and Harlim (2016).

    >>> round(dimension_seen(np.arange(1000.0)[:, None], 20.0), 2)
    1.0
    """
    unit, relative = _unit(width, len(X))
    some = np.arange(0, len(X), -(-len(X) // _SAMPLE))
    weight = moment = 0.0
    for start in range(0, len(some), 50):
        part = some[start : start + 50]
        squares = _squares(X[part], X, unit, metric) / np.multiply.outer(relative[part], relative)
        with np.errstate(under="ignore"):
            similar = np.exp(-0.5 * squares)
        similar[np.arange(len(part)), part] = 0.0
        weight += float(similar.sum())
        moment += float((np.where(similar > 0.0, squares, 0.0) * similar).sum())
    return moment / weight if weight > 0.0 else 0.0


def _squares(X: Array, Y: Array, unit: float, metric: Metric) -> Array:
    if isinstance(metric, str) and metric == "euclidean":
        return squared_distances(X, Y, unit)
    return (distances(X, metric, Y) / unit) ** 2


def _unit(width: float | Array, n: int) -> tuple[float, Array]:
    """A width to measure distances in, and those of the rows in that unit, so that squares of 1e300 stay finite."""
    if np.ndim(width) == 0:
        return float(width), np.ones(n)
    unit = float(np.median(width))
    return unit, np.asarray(width) / unit
