"""What the numbers of a category stand for, where columns are made of all its levels."""

from __future__ import annotations

import numpy as np

from assay.asking.table import Table
from assay.questions.correlations.columns import NumberColumns

LENGTH = "length of "  # before the name of a text, of which its length is meant


def level_names(table: Table, given: NumberColumns) -> tuple[tuple[str, ...], ...]:
    """(d,) names of the levels of each column, in the order of its indicators; two for a column of two levels.

    Numbers have none. A level that the first look does not show has an empty name.

    Args:
        table: the data.
        given: its columns as numbers.
    """
    widths = np.bincount(given.groups, minlength=len(given.names))
    return tuple(_names(table, given, j, int(width)) for j, width in enumerate(widths))


def _names(table: Table, given: NumberColumns, j: int, width: int) -> tuple[str, ...]:
    name = given.names[j]
    told = tuple(table.levels.get(name, ()))
    if width == 1:
        return told if len(told) == 2 else ()
    if name not in table.beside and len(told) == width:
        return told
    return _seen(table, given, j, width)


def _seen(table: Table, given: NumberColumns, j: int, width: int) -> tuple[str, ...]:
    """From the rows that the first look shows as they came; "others" where an indicator stands for several levels."""
    look, name = table.look, given.names[j]
    known = look.levels.get(name, ())
    if not known or table.rows is None:
        return ()
    numbers = np.arange(len(given.X)) if table.in_use is None else table.in_use
    _, here, there = np.intersect1d(numbers, look.rows - 1, return_indices=True)
    codes = look.values[there, look.columns.index(name)]
    block = given.X[np.ix_(here, np.flatnonzero(given.groups == j))]
    found = []
    for k in range(width):
        levels = np.unique(codes[(block[:, k] == 1.0) & np.isfinite(codes)])
        found.append("" if not len(levels) else known[int(levels[0])] if len(levels) == 1 else "others")
    return tuple(found)
