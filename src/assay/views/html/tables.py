"""A table of numbers as a picture, its rows and columns in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.views.columns.array_plot import array_plot, standardised


def table_picture(table: Array, down: NDArray[Any], across: NDArray[Any], names: Sequence[str]) -> Any:
    """Draw a table in standard deviations of each column; what is missing is black.

    Args:
        table: (n, d) values, NaN where missing.
        down: numbers of the rows drawn, in order.
        across: numbers of the columns drawn, in order.
        names: (d,) of the columns.

    >>> table_picture(np.eye(2), np.array([1, 0]), np.array([0, 1]), ["a", "b"]).tags[3]
    [2, 1]
    """
    known = np.isfinite(table)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, table, 0.0).sum(axis=0) / count
    spread = np.sqrt(np.where(known, (table - mean) ** 2, 0.0).sum(axis=0) / count)
    shades = standardised(table[np.ix_(down, across)], mean[across], spread[across])
    kinds = ["number"] * len(across)
    return array_plot(shades, [names[j] for j in across], kinds, down + 1, told="standard deviations", parted=False)
