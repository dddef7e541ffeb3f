"""Columns of a table in memory, told apart: numbers, and categories with the levels they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.sound import sound
from assay.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class TypedColumn:
    """One column.

    Attributes:
        values: (n,) float64 where they are numbers; otherwise float64, bool or texts (object).
        missing: (n,) where there is no value.
        number: whether it is a number; otherwise a category.
    """

    values: NDArray[Any]
    missing: NDArray[np.bool_]
    number: bool


def typed_columns(table: Any, *, categories: bool = False) -> list[TypedColumn]:
    """The columns of an array or a data frame: a category where values are texts or yes and no, or its type says so.

    Args:
        table: (n, m) or (n,).
        categories: take numbers as levels too.

    >>> columns = typed_columns([["a", 1.5], ["b", None]])
    >>> [column.number for column in columns], columns[1].missing.tolist()
    ([False, True], [False, True])
    """
    import narwhals as nw

    frame: Any = nw.from_native(sound(table), eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        # one column at a time: an array of a whole frame has one type for all of them
        said = (nw.Categorical, nw.Enum)
        return [
            typed(np.asarray(frame[:, j].to_numpy()), j, category=categories or frame[:, j].dtype in said)
            for j in range(frame.shape[1])
        ]
    whole = np.asarray(table)
    if whole.dtype.kind in "US":
        whole = np.array(table, dtype=object)  # NumPy makes texts of numbers beside texts
    columns = whole.reshape(-1, 1) if whole.ndim == 1 else whole
    if columns.ndim != 2:
        raise DataError(f"a table has two dimensions, rows and columns; got {columns.ndim}")
    return [typed(values, j, category=categories) for j, values in enumerate(columns.T)]


def typed(values: NDArray[Any], j: int, *, category: bool) -> TypedColumn:
    """One column of a table.

    Args:
        values: (n,) of any type.
        j: its number, for messages.
        category: whether numbers in it are levels.
    """
    if values.dtype.kind in "iuf":
        plain = values.astype(np.float64)
        return TypedColumn(plain, np.isnan(plain), not category)
    if values.dtype.kind == "b":
        return TypedColumn(values, np.zeros(len(values), dtype=bool), False)
    cells = values.astype(object)
    missing = np.array([cell is None or cell != cell or _is_na(cell) for cell in cells], dtype=bool)
    known = cells[~missing].tolist()
    if known and all(isinstance(cell, (bool, np.bool_)) for cell in known):
        return TypedColumn(np.where(missing, False, cells).astype(bool), missing, False)
    if all(isinstance(cell, Real) for cell in known):
        plain = np.full(len(cells), np.nan)
        plain[~missing] = np.array(known, dtype=np.float64)
        return TypedColumn(plain, missing, not category)
    if not all(isinstance(cell, str) for cell in known):
        odd = next(cell for cell in known if not isinstance(cell, str))
        raise DataError(
            f"column {j} holds texts and {type(odd).__name__} values together, such as {known[0]!r} and {odd!r}; "
            "levels are all texts or all numbers: every entry of a column must be a string or every one a number"
        )
    cells[missing] = ""
    return TypedColumn(np.array([str(cell) for cell in cells], dtype=object), missing, False)


def told_levels(levels: Sequence[Any] | NDArray[Any]) -> list[str]:
    """Levels as they are shown.

    >>> told_levels([1.0, 2.5, "x", True])
    ['1', '2.5', 'x', 'True']
    """
    return [f"{level:.10g}" if isinstance(level, float | np.floating) else str(level) for level in levels]


def _is_na(cell: Any) -> bool:
    return type(cell).__name__ in ("NAType", "NaTType")
