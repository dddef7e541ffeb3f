"""Rows in cells: 128 that lie together, column by column, with a box around them.

The distances of one row to a whole cell are measured at once, and a cell whose box is too far is passed over.
"""

from __future__ import annotations

from typing import Any

from assay.compiled import njit

CELL = 128


@njit(cache=True, nogil=True, fastmath=True)
def squares_to(cells: Any, t: int, row: Any, out: Any) -> None:
    """Squared distances of a row to all of cell t of (count, d, CELL): the same bits for (x, y) and (y, x)."""
    d = cells.shape[1]
    whole = d - d % 4
    for j in range(CELL):
        out[j] = 0.0
    for k in range(0, whole, 4):
        p, q, r, s = row[k], row[k + 1], row[k + 2], row[k + 3]
        for j in range(CELL):
            w, x = cells[t, k, j] - p, cells[t, k + 1, j] - q
            y, z = cells[t, k + 2, j] - r, cells[t, k + 3, j] - s
            out[j] += (w * w + x * x) + (y * y + z * z)
    for k in range(whole, d):
        p = row[k]
        for j in range(CELL):
            w = cells[t, k, j] - p
            out[j] += w * w


@njit(cache=True, nogil=True, fastmath=True)
def square_to_box(boxes: Any, t: int, row: Any) -> float:
    """Squared distance of a row to box t of (2, count, d or more)."""
    gap = 0.0
    for k in range(len(row)):
        outside = max(max(boxes[0, t, k] - row[k], row[k] - boxes[1, t, k]), 0.0)
        gap += outside * outside
    return gap
