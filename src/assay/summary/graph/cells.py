"""Rows gathered into cells of 128 that lie together, for passes that measure one row against many.

See `_cell_kernels` for what is done with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from assay.arrays import Array, Whole

CELL = 128
_LEAF = 64


def by_place(rows: Array) -> Whole:
    """An order of the rows in which those that lie together stand together: that of a k-d tree's leaves.

    >>> by_place(np.array([[0.0], [5.0], [1.0]])).tolist()
    [0, 1, 2]
    """
    return np.asarray(cKDTree(rows, leafsize=_LEAF).indices, dtype=np.int64)


def padded(values: Any, fill: float) -> Any:
    """(m, ...) values followed by as many `fill` as complete the last cell.

    >>> padded(np.ones((3, 2)), 0.0).shape
    (128, 2)
    """
    whole = -(-len(values) // CELL) * CELL
    out = np.full((whole, *values.shape[1:]), fill, dtype=values.dtype)
    out[: len(values)] = values
    return out


def in_cells(rows: Array, fill: float) -> Array:
    """(m, d) rows as (t, d, CELL) cells; places beyond the last row hold `fill`.

    >>> in_cells(np.arange(6.0).reshape(3, 2), 9.0)[0, 1, :4]
    array([1., 3., 5., 9.])
    """
    return np.ascontiguousarray(padded(rows, fill).reshape(-1, CELL, rows.shape[1]).transpose(0, 2, 1))


def out_of_cells(cells: Array) -> Array:
    """The (t * CELL, d) rows of cells; undoes `in_cells`, fill included.

    >>> out_of_cells(in_cells(np.ones((3, 2)), 0.0))[2:4]
    array([[1., 1.],
           [0., 0.]])
    """
    return cells.transpose(0, 2, 1).reshape(-1, cells.shape[1])


def boxes_of(rows: Array) -> Array:
    """(2, t, d) the lowest and the highest of each column in each cell.

    >>> boxes_of(np.array([[1.0, 5.0], [2.0, 4.0]])).tolist()
    [[[1.0, 4.0]], [[2.0, 5.0]]]
    """
    starts = np.arange(0, len(rows), CELL)
    return np.stack([np.minimum.reduceat(rows, starts), np.maximum.reduceat(rows, starts)])
