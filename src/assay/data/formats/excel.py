"""Spreadsheets (.xlsx, .xlsm, .xlsb, .xls, .ods): values as they were saved; no formula is ever evaluated.

The format does not allow reading in blocks: the sheet that is read is held in memory.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa

from assay.data.field import Declared
from assay.data.fitting import add_misfits, column_of
from assay.data.formats.excel_cells import address
from assay.data.formats.sheet_process import WorkbookSheet, read_sheet
from assay.data.memory.tables import TableSource
from assay.data.names import columns_to_read
from assay.data.place import Place
from assay.data.problems import Problems

_ERROR = "cells hold an error and count as missing"
_UNSAVED = "formulas have no saved value and count as missing; open and save the file in a spreadsheet program"
_EMPTY = "rows are empty and were left out"


class ExcelSource(TableSource):
    """One sheet of a workbook.

    Args:
        place: the file.
        declared: what the user said about the columns.
        sheet: its name, or its number from 1; by default the first that holds a table.
        header: whether the first row names the columns; by default it does unless it holds numbers or times only.
    """

    def __init__(
        self,
        place: Place,
        declared: Declared | None = None,
        *,
        sheet: str | int | None = None,
        header: bool | None = None,
    ) -> None:
        said = declared or Declared()
        chosen = read_sheet(place, sheet)
        notes = _other_sheets(chosen, sheet)
        first = _first_row(chosen.rows)
        if first:
            notes.append(f"{first} rows above the table in sheet {chosen.name!r} were left out.")
        body = _Body(chosen, first, header)
        if body.unnamed:
            notes.append("The first row holds no names, so the columns are numbered.")
        table, found, more = body.table(said)
        super().__init__(table, place.name, Declared(said.kinds, said.units, said.roles), found)
        self.declared = said
        self.notes = (*notes, *more)
        self._lines = body.lines

    def line_of(self, row: int) -> int | None:
        """The number of the row in the sheet."""
        return int(self._lines[row])


class _Body:
    """The rows of a sheet from its header on.

    Args:
        sheet: the sheet.
        first: which of its rows is the first of the table.
        header: whether that names the columns.
    """

    def __init__(self, sheet: WorkbookSheet, first: int, header: bool | None) -> None:
        head = sheet.rows[first]
        named = any(value != "" and not _is_value(value) for value in head) if header is None else header
        self.unnamed = not named
        self._left = sheet.left
        self._cells = sheet.cells
        special = sheet.cells.rows()
        self._rows: list[list[Any]] = []
        self._empty: list[int] = []
        lines: list[int] = []
        start = first + named
        self._span = range(sheet.top + start + 1, sheet.top + len(sheet.rows) + 1)
        for line, row in zip(self._span, sheet.rows[start:], strict=True):
            if line in special or any(value != "" for value in row):
                self._rows.append(row)
                lines.append(line)
            else:
                self._empty.append(line)
        self.lines = np.array(lines, dtype=np.int64)
        self._used = [
            j for j in range(len(head)) if (named and head[j] != "") or any(row[j] != "" for row in self._rows)
        ]
        self._names = [_name(head[j]) if named else f"column {k + 1}" for k, j in enumerate(self._used)]

    def table(self, declared: Declared) -> tuple[pa.Table, Problems, tuple[str, ...]]:
        """The columns, what was wrong with their cells, and notes about their names."""
        columns = columns_to_read(self._names, declared)
        found = Problems()
        for line in self._empty:
            found.add(_EMPTY, place=f"row {line}")
        arrays = []
        for position, name in zip(columns.positions, columns.names, strict=True):
            j = self._used[position]
            number = self._left + j + 1
            values = [None if row[j] == "" else row[j] for row in self._rows]
            array, lost = column_of(values)
            add_misfits(found, name, array.type, ((address(int(self.lines[i]), number), values[i]) for i in lost))
            self._tell_special(number, name, found)
            arrays.append(array)
        return pa.table(arrays, names=columns.names), found, columns.notes

    def _tell_special(self, column: int, name: str, found: Problems) -> None:
        for line, value in self._cells.errors.get(column, ()):
            if line in self._span:
                found.add(_ERROR, column=name, place=address(line, column), value=value)
        for line in self._cells.unsaved.get(column, ()):
            if line in self._span:
                found.add(_UNSAVED, column=name, place=address(line, column))


def _other_sheets(chosen: WorkbookSheet, asked: str | int | None) -> list[str]:
    """Which other sheets there are."""
    others = [name for name in chosen.names if name != chosen.name]
    if not others:
        return []
    told = [repr(name) + (" (hidden)" if name in chosen.hidden else "") for name in others[:10]]
    more = f" and {len(others) - 10:,} more" if len(others) > 10 else ""
    remedy = "" if asked is not None else "; choose one with sheet="
    return [f"Sheet {chosen.name!r} was read; the workbook also has {', '.join(told)}{more}{remedy}."]


def _first_row(rows: list[list[Any]]) -> int:
    """Where the table begins: at the first row that is filled at least half as far as the fullest one."""
    filled = [sum(value != "" for value in row) for row in rows]
    most = max(filled)
    return next(i for i, count in enumerate(filled) if 2 * count >= most)


def _is_value(value: Any) -> bool:
    return isinstance(value, (int, float, dt.date, dt.time, dt.timedelta))


def _name(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()
