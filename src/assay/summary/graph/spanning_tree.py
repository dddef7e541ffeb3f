"""Minimum spanning trees: the shortest set of links that holds all rows together.

Prim's rule adds the row nearest to the tree, n - 1 times. The rows stand in cells of rows that lie together; a cell
whose box is further from the row added last than any of its rows is from the tree cannot change, and is passed over.
Memory is that of the rows; no pairs are held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.summary.distances.distances import middle, unit_scale
from assay.summary.graph.cells import CELL, boxes_of, by_place, in_cells, padded

if TYPE_CHECKING:
    from assay.summary.graph._spanning_tree_kernels import Outside

_FEW = 1024  # rows left that are not worth gathering into new cells
_PAIRS = 2**26  # distances measured in one piece, between which an interrupt is heard
_VAIN = 500  # rows measured in vain for each that is added, above which single precision does not pay


@dataclass(frozen=True, slots=True, eq=False)
class SpanningTree:
    """The n - 1 links of a tree, in the order they were found.

    Attributes:
        edges: (n - 1, 2) row numbers.
        lengths: (n - 1,) of the links.
    """

    edges: Whole
    lengths: Array


def spanning_tree(X: Array) -> SpanningTree:
    """The shortest tree that links all rows, in Euclidean distance.

    Args:
        X: (n, d) finite rows.

    Reference: Prim, Bell System Technical Journal 36, 1957.

    >>> spanning_tree(np.array([[0.0], [10.0], [1.0], [4.0]])).lengths.tolist()
    [1.0, 3.0, 6.0]
    """
    from assay.summary.graph._spanning_tree_kernels import FAR, grow

    n = len(X)
    scale = unit_scale(X)
    rows = X * scale
    edges, lengths = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    ids = by_place(rows)
    last, ids = int(ids[0]), ids[1:]
    reach, via = np.full(n - 1, FAR), np.zeros(n - 1, dtype=np.int64)
    precision: Any = np.float32
    done = 0
    while done < n - 1:
        outside, slack, query = _gathered(rows, ids, reach, via, last, precision)
        left = n - 1 - done
        until = n - 1 if left <= _FEW else done + left // 8
        while done < until:
            stop = min(until, done + max(1, _PAIRS // left))
            last, vain = grow(rows, outside, slack, last, query, edges[done:stop], lengths[done:stop])
            if vain > _VAIN * (stop - done) and precision is np.float32:
                precision, until = np.float64, stop
            done = stop
        kept = outside.ids >= 0
        ids, reach, via = outside.ids[kept], outside.reach[kept], outside.via[kept]
    return SpanningTree(edges, np.sqrt(lengths) / scale)


def _gathered(
    rows: Array, ids: Whole, reach: Array, via: Whole, last: int, precision: Any
) -> tuple[Outside, Array, NDArray[Any]]:
    """The rows not in the tree, the errors of distances by their cells, and the last row of the tree as a query."""
    from assay.summary.graph._spanning_tree_kernels import FAR, Outside

    shift = middle(rows)
    moved = rows[ids] - shift
    d, eps = rows.shape[1], float(np.finfo(precision).eps)
    # each coordinate is off by eps / 2 of its size, each square by a few eps, their sum by d / 2 more
    slack = np.array([(d + 8) * eps, 2 * eps * np.sqrt(d) * max(np.abs(moved).max(), np.abs(rows[last] - shift).max())])
    limits = (np.sqrt(reach) * (1 + slack[0]) + slack[1]) ** 2
    boxes, cells = boxes_of(rows[ids]), in_cells(moved.astype(precision), 0.0)
    ids, reach, limits, via = (
        padded(part, fill).reshape(-1, CELL)
        for part, fill in ((ids, -1), (reach, FAR), (limits.astype(precision), -1.0), (via, 0))
    )
    bounds = np.stack([reach.min(axis=1), np.where(ids < 0, -1.0, reach).max(axis=1)])
    outside = Outside(cells, boxes, ids, reach, limits, via, bounds)
    return outside, slack, (rows[last] - shift).astype(precision)


def spanning_tree_of_dissimilarities(D: Array) -> SpanningTree:
    """The shortest tree that links all items, by their dissimilarities.

    Args:
        D: (n, n) symmetric, not negative.

    >>> spanning_tree_of_dissimilarities(np.array([[0.0, 5.0, 1.0], [5.0, 0.0, 2.0], [1.0, 2.0, 0.0]])).lengths
    array([1., 2.])
    """
    from assay.summary.graph._spanning_tree_kernels import grow_in_matrix

    n = len(D)
    edges, lengths = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    ids, reach, via = np.arange(1, n), np.full(n - 1, np.inf), np.zeros(n - 1, dtype=np.int64)
    last = done = 0
    step = max(1, _PAIRS // n)
    while done < n - 1:
        stop = min(n - 1, done + step)
        left = slice(0, n - 1 - done)
        last = grow_in_matrix(D, ids[left], reach[left], via[left], last, edges[done:stop], lengths[done:stop])
        done = stop
    return SpanningTree(edges, lengths)
