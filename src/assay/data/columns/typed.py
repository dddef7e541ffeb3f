"""Columns of a table in memory, told apart: numbers, and categories with the levels they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.data.arrow_validation import sound
from assay.data.codes import numbered
from assay.data.columns.cells import is_text
from assay.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class TypedColumn:
    """One column: a number, or a category by its levels and the level of each row.

    Attributes:
        values: (n,) float64 of a number, NaN where missing; None for a category.
        levels: (l,) the different values of a category, sorted: texts (object), float64 or bool; empty for a number.
        codes: (n,) number of each row's level, -1 where missing; empty for a number.
    """

    values: NDArray[np.float64] | None
    levels: NDArray[Any]
    codes: NDArray[np.intp]

    @property
    def number(self) -> bool:
        """Whether it is a number."""
        return self.values is not None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(n,) where there is no value."""
        return self.codes < 0 if self.values is None else np.isnan(self.values)

    def __len__(self) -> int:
        return len(self.codes) if self.values is None else len(self.values)


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
        return _numbers(values.astype(np.float64), category)
    if values.dtype.kind == "b":
        return _levels(values, np.zeros(len(values), dtype=bool))
    try:
        column = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        raise _mixed(values, j) from None
    missing = np.asarray(column.is_null())
    if is_text(column.type):
        coded = column.dictionary_encode()
        levels = np.array(coded.dictionary.to_pylist(), dtype=object)
        order = np.argsort(levels)
        place = np.empty(len(levels) + 1, dtype=np.intp)
        place[order], place[-1] = np.arange(len(levels)), -1
        return TypedColumn(None, levels[order], place[np.asarray(coded.indices.fill_null(-1))])
    if pa.types.is_boolean(column.type):
        return _levels(np.asarray(column.fill_null(False)), missing)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_null(column.type):
        return _numbers(np.array(column.cast(pa.float64()).to_numpy(zero_copy_only=False)), category)
    raise _mixed(values, j)


def _numbers(values: NDArray[np.float64], category: bool) -> TypedColumn:
    if category:
        return _levels(values, np.isnan(values))
    return TypedColumn(values, np.empty(0), np.empty(0, dtype=np.intp))


def _levels(values: NDArray[Any], missing: NDArray[np.bool_]) -> TypedColumn:
    levels, found = numbered(values[~missing])
    codes = np.full(len(values), -1, dtype=np.intp)
    codes[~missing] = found
    return TypedColumn(None, levels, codes)


def _mixed(values: NDArray[Any], j: int) -> DataError:
    known = [cell for cell in values.tolist() if cell is not None]
    odd = next((cell for cell in known if type(cell) is not type(known[0])), known[0])
    return DataError(
        f"column {j} holds {known[0]!r} and {odd!r}; the levels of a column are all texts or all numbers: every entry "
        "of a column must be a string or every one a number"
    )


def told_levels(levels: Sequence[Any] | NDArray[Any]) -> list[str]:
    """Levels as they are shown.

    >>> told_levels([1.0, 2.5, "x", True])
    ['1', '2.5', 'x', 'True']
    """
    return [f"{level:.10g}" if isinstance(level, float | np.floating) else str(level) for level in levels]
