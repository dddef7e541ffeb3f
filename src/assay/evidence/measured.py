"""Columns in which distances between rows can be measured, and robust units for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, column_strips
from assay.linalg.normal.robust_scale import MAD

FEWEST_VALUES = 5  # a column of fewer names groups already
_TILE = 1 << 18  # values sorted at a time


def varied(rows: Array) -> NDArray[np.bool_]:
    """(d,) which columns take at least five values: what a column of fewer says, its own histogram shows.

    >>> varied(np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0], [1.0, 4.0], [0.0, 5.0]]))
    array([False,  True])
    """
    return distinct_values(rows) >= FEWEST_VALUES


def distinct_values(rows: Array) -> NDArray[np.intp]:
    """(d,) how many values each column takes; NaN is none.

    >>> distinct_values(np.array([[0.0, np.nan], [0.0, 2.0], [1.0, np.nan]]))
    array([2, 1])
    """
    found = np.zeros(rows.shape[1], dtype=np.intp)
    for strip in column_strips(rows.shape, _TILE):
        ordered = np.sort(rows[:, strip].T, axis=1)  # NaN comes last
        there = ~np.isnan(ordered)
        changes = (ordered[:, 1:] != ordered[:, :-1]) & there[:, 1:]
        found[strip] = changes.sum(axis=1) + there[:, :1].any(axis=1)
    return found


def measured(rows: Array, which: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Numbers of the columns that distances can be measured in: measurements that vary in these rows.

    Args:
        rows: (m, D).
        which: (D,) whether a column is a measurement.
    """
    numbers = np.flatnonzero(which)
    return numbers[varied(rows[:, numbers])]


def robust_scale(rows: Array) -> tuple[Array, Array]:
    """(d,) median and spread of columns: the median distance from the median, 1 for a standard normal column.

    Where half of the values are one and the same, the standard deviation takes its place.
    """
    middle = np.median(rows, axis=0)
    spread = np.asarray(MAD * np.median(np.abs(rows - middle), axis=0))
    alike = spread == 0.0
    spread[alike] = rows[:, alike].std(axis=0)
    return middle, spread
