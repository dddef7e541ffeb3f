"""Minimum spanning trees by Prim's rule: always add the row that is nearest to the tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assay.compiled import njit
from assay.summary.graph._cell_kernels import CELL, square_to_box, squares_to

FAR = 1e30  # no row is so far: coordinates are in a unit of about their range


class Outside(NamedTuple):
    """The rows not yet in the tree, by cell and place.

    Attributes:
        cells: (t, d, CELL) coordinates, in single or double precision and moved by some shift.
        boxes: (2, t, d) around them, not moved.
        ids: (t, CELL) row numbers, -1 for a place without a row.
        reach: (t, CELL) squared distance to the tree.
        limits: (t, CELL) which the square by the cells does not exceed when a row may be nearer; -1 without a row.
        via: (t, CELL) the row of the tree that is nearest.
        bounds: (2, t) least and largest reach in each cell; FAR and -1 when it is empty.
    """

    cells: Any
    boxes: Any
    ids: Any
    reach: Any
    limits: Any
    via: Any
    bounds: Any


@njit(cache=True, nogil=True, fastmath=True)
def grow(rows: Any, outside: Outside, slack: Any, last: int, query: Any, edges: Any, lengths: Any) -> tuple[int, int]:
    """Add len(edges) rows to the tree. The cells only rule rows out; what decides is measured from `rows`.

    Args:
        rows: (n, d) coordinates.
        outside: changed.
        slack: (2,) relative and absolute error of a distance by the cells.
        last: the row added last.
        query: (d,) its coordinates as in the cells; changed.
        edges: (m, 2) out: row of the tree, row added.
        lengths: (m,) out, squared.

    Returns:
        The row added last, and how many rows were measured in vain.
    """
    # fields by name once: each further mention of one in a loop costs an atomic count of its users
    cells, boxes, limits, bounds, ids = outside.cells, outside.boxes, outside.limits, outside.bounds, outside.ids
    square = np.empty(CELL, cells.dtype)
    vain = 0
    for step in range(len(edges)):
        newest = rows[last]
        for t in range(len(cells)):
            if square_to_box(boxes, t, newest) >= bounds[1, t]:
                continue
            squares_to(cells, t, query, square)
            hits = 0
            for j in range(CELL):
                hits += square[j] <= limits[t, j]
            if hits > 0:
                vain += hits - come_closer(rows, outside, slack, last, t, square)
        best = 0
        for t in range(1, len(cells)):
            if bounds[0, t] < bounds[0, best]:
                best = t
        j = 0
        while ids[best, j] < 0 or outside.reach[best, j] > bounds[0, best]:
            j += 1
        last = ids[best, j]
        edges[step, 0], edges[step, 1], lengths[step] = outside.via[best, j], last, bounds[0, best]
        query[:] = cells[best, :, j]
        ids[best, j], limits[best, j] = -1, -1.0
        note_bounds(outside, best)
    return last, vain


@njit(cache=True, nogil=True)
def come_closer(rows: Any, outside: Outside, slack: Any, last: int, t: int, square: Any) -> int:
    """Measure the rows of a cell that may be nearer to the last row than to the rest of the tree; count those."""
    d = rows.shape[1]
    closer = 0
    for j in range(CELL):
        if square[j] > outside.limits[t, j]:
            continue
        i = outside.ids[t, j]
        exact = 0.0
        for k in range(d):
            exact += (rows[i, k] - rows[last, k]) * (rows[i, k] - rows[last, k])
        if exact < outside.reach[t, j]:
            outside.reach[t, j], outside.via[t, j] = exact, last
            reach = np.sqrt(exact) * (1.0 + slack[0]) + slack[1]
            outside.limits[t, j] = reach * reach
            closer += 1
    if closer > 0:
        note_bounds(outside, t)
    return closer


@njit(cache=True, nogil=True)
def note_bounds(outside: Outside, t: int) -> None:
    """Write down the least and the largest reach among the rows of a cell."""
    low, high = FAR, -1.0
    for j in range(CELL):
        if outside.ids[t, j] >= 0:
            low, high = min(low, outside.reach[t, j]), max(high, outside.reach[t, j])
    outside.bounds[0, t], outside.bounds[1, t] = low, high


@njit(cache=True, nogil=True)
def grow_in_matrix(D: Any, ids: Any, reach: Any, via: Any, last: int, edges: Any, lengths: Any) -> int:
    """Add len(edges) items to the tree, by the (n, n) dissimilarities; `ids` are those left, in any order.

    Returns:
        The item added last.
    """
    left = len(ids)
    for step in range(len(edges)):
        best = 0
        row = D[last]
        for j in range(left - step):
            if row[ids[j]] < reach[j]:
                reach[j], via[j] = row[ids[j]], last
            if reach[j] < reach[best]:
                best = j
        edges[step, 0], edges[step, 1], lengths[step] = via[best], ids[best], reach[best]
        last = ids[best]
        end = left - step - 1
        ids[best], reach[best], via[best] = ids[end], reach[end], via[end]
    return last
