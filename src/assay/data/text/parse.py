"""Parse chunks of a text table into Arrow columns of known types; what contradicts them is counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from assay.data.columns.words import MISSING_CELLS
from assay.data.problems import EXAMPLES, Problems
from assay.data.text.chunks import line_count, quote_edges, record_lines, tidied
from assay.data.text.encodings import repaired
from assay.data.text.layout import TextLayout
from assay.data.text.values import FALSE, TRUE, TextColumn, ValueForm, converted, has_blank_edges, unbounded
from assay.data.text.wide import WIDE, by_column, unquoted, wide_cells
from assay.errors import DataError

_RETRIES = 3
# What is said of rows with another number of values than there are columns.
RAGGED = ("rows have too few values and are left out", "rows have too many values and are left out")


class Chunk:
    """A chunk of text on its way to rows: the text may be repaired, and some records are no rows.

    Attributes:
        text: whole records.
        first_line: on which it begins.
        dropped: records that are no rows, counted from 0 without empty lines.
    """

    def __init__(self, text: bytes, first_line: int, laid: TextLayout) -> None:
        self.text = text
        self.first_line = first_line
        self.dropped: list[int] = []
        self._laid = laid

    @cached_property
    def record_lines(self) -> NDArray[np.int64]:
        """The line of each record."""
        edges = quote_edges(self.text, b"\t" if self._laid.delimiter == " " else self._laid.delimiters)
        return record_lines(self.text, edges, self.first_line)

    @property
    def row_lines(self) -> NDArray[np.int64]:
        """The line of each row."""
        return np.delete(self.record_lines, self.dropped)


class Parser:
    """Parses chunks of one text table, in any order and from any thread.

    Args:
        columns: all columns of the text, in order.
        laid: how the text is cut.
        unread: names of columns that are not converted.
        surplus: name of the column behind the last delimiter of each line, if there is one; it should stay empty.
    """

    def __init__(
        self,
        columns: Sequence[TextColumn],
        laid: TextLayout,
        *,
        unread: frozenset[str] = frozenset(),
        surplus: str | None = None,
    ) -> None:
        self._laid = laid
        self._names = [column.name for column in columns]
        self._columns = [column for column in columns if column.name not in unread]
        self._at = np.array([i for i, column in enumerate(columns) if column.name not in unread], np.int64)
        self._surplus = surplus
        # a comma too many moves what is sensitive into another column
        self._quotes_values = not unread
        self._delimiter = "\t" if laid.delimiter == " " else laid.delimiter
        self._numbers = [column for column in self._columns if column.type == pa.float64()]
        forms = Counter(column.form for column in self._numbers)
        self._decimal = "," if forms[ValueForm(",")] > forms[ValueForm(".")] else "."
        # columns that Arrow cannot convert by itself; those where values contradicted the type join them
        self._by_hand = {column.name for column in self._numbers if column.form != ValueForm(self._decimal)}
        self.schema = pa.schema([_field(column) for column in self._columns if column.name != surplus])

    def parse(self, text: bytes, first_line: int, problems: Problems) -> tuple[pa.RecordBatch, Chunk]:
        """The rows of a chunk.

        Args:
            text: whole records in UTF-8.
            first_line: the line on which it begins, for messages.
            problems: takes what was wrong.
        """
        if self._laid.tidy:
            edges = quote_edges(text, self._laid.delimiters, padded=self._laid.padded)
            text = tidied(text, edges, self._laid.delimiter.encode())
        chunk = Chunk(text, first_line, self._laid)
        plain = unquoted(text, self._delimiter.encode()) if len(self._names) >= WIDE else None
        if plain is not None:
            chunk.text = plain
            arrays = self._wide(chunk, problems)
        else:
            arrays = self._narrow(chunk, problems)
        if self._surplus is not None:
            self._count_surplus(arrays.pop(), chunk, problems)
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema), chunk

    def _narrow(self, chunk: Chunk, problems: Problems) -> list[pa.Array]:
        if not chunk.text.strip(b"\r\n"):
            return [pa.nulls(0, column.type) for column in self._columns]
        table, by_hand = self._table(chunk, problems)
        blanks = b" " in chunk.text or b"\t" in chunk.text  # asked of each column only where there are any
        arrays: list[pa.Array] = []
        for column, found in zip(self._columns, table.columns, strict=True):
            values = found.chunk(0) if found.num_chunks == 1 else found.combine_chunks()
            if column.name in by_hand or (blanks and pa.types.is_string(column.type) and has_blank_edges(values)):
                text = values
                values, wrong = converted(text, column.type, column.form)
                for what, mask in wrong.items():
                    _report(problems, what, column.name, np.flatnonzero(mask), chunk.row_lines, self._quoted(text))
                if wrong:
                    self._by_hand.add(column.name)
            arrays.append(values)
        return arrays

    def _table(self, chunk: Chunk, problems: Problems) -> tuple[pa.Table, set[str]]:
        """The columns as Arrow reads them, and those among them that are still text."""
        by_hand = set(self._by_hand)
        checked = False
        ragged: _Ragged | None = None
        retries = 0
        while True:
            try:
                table = self._read(chunk.text, by_hand, ragged)
            except pa.ArrowInvalid as error:
                failed = re.search(r"In CSV column #(\d+)", str(error))
                if not checked:
                    checked = True
                    _repair(chunk, problems)
                elif failed and (name := self._names[int(failed[1])]) not in by_hand:
                    by_hand.add(name)
                    retries += 1
                elif ragged is None:
                    ragged = _Ragged()
                else:
                    # without the cause, which quotes the row
                    raise DataError("the text cannot be cut into rows; check its quotes and delimiters") from None
            else:
                names = [column.name for column in self._numbers if column.name not in by_hand]
                endless = [name for name in names if unbounded(table.column(name))]
                if not endless:
                    break
                by_hand.update(endless)
            if retries >= _RETRIES:
                by_hand.update(column.name for column in self._columns if not pa.types.is_string(column.type))
        if ragged is not None:
            chunk.dropped = [record for record, _ in ragged.found]
            _report_ragged(problems, [(r, w) for r, w in ragged.found if w], len(self._names), chunk)
        return table, by_hand

    def _read(self, text: bytes, by_hand: set[str], ragged: _Ragged | None) -> pa.Table:
        if ragged is not None:
            ragged.found.clear()
        types = {c.name: pa.string() if c.name in by_hand else c.type for c in self._columns}
        return pa_csv.read_csv(
            pa.BufferReader(text),
            # one block, so that where it ends needs no second look at quotes
            pa_csv.ReadOptions(column_names=self._names, block_size=len(text) + 1, use_threads=False),
            pa_csv.ParseOptions(delimiter=self._delimiter, invalid_row_handler=ragged),
            pa_csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=MISSING_CELLS,
                true_values=TRUE,
                false_values=FALSE,
                strings_can_be_null=True,
                decimal_point=self._decimal,
            ),
        )

    def _wide(self, chunk: Chunk, problems: Problems) -> list[pa.Array]:
        _repair(chunk, problems)
        cells = wide_cells(chunk.text, self._delimiter.encode(), len(self._names))
        chunk.dropped = cells.ragged[:, 0].tolist()
        if chunk.dropped:
            _report_ragged(problems, [(r, w) for r, w in cells.ragged.tolist() if w], len(self._names), chunk)
        groups: dict[tuple[pa.DataType, ValueForm], list[int]] = {}
        for i, column in enumerate(self._columns):
            groups.setdefault((column.type, column.form), []).append(i)
        arrays: list[pa.Array] = [None] * len(self._columns)
        for (type_, form), members in groups.items():
            text = by_column(cells, self._at[members])
            values, wrong = converted(text, type_, form)
            for what, mask in wrong.items():
                for member in np.flatnonzero(mask.reshape(len(members), cells.rows).any(axis=1)).tolist():
                    part = slice(member * cells.rows, (member + 1) * cells.rows)
                    name = self._columns[members[member]].name
                    shown = self._quoted(text[part])
                    _report(problems, what, name, np.flatnonzero(mask[part]), chunk.row_lines, shown)
            for member, i in enumerate(members):
                arrays[i] = values[member * cells.rows : (member + 1) * cells.rows]
        return arrays

    def _quoted(self, cells: pa.Array) -> pa.Array | None:
        """Cells that a message may quote."""
        return cells if self._quotes_values else None

    def _count_surplus(self, values: pa.Array, chunk: Chunk, problems: Problems) -> None:
        rows = np.flatnonzero(pc.is_valid(values).to_numpy(zero_copy_only=False))
        if len(rows):
            _report(problems, "values behind the last column were left out", None, rows, chunk.row_lines, None)


class _Ragged:
    """Takes the records that have another number of cells than there are columns."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int]] = []  # record, cells; no cells for a line of blanks

    def __call__(self, row: pa_csv.InvalidRow) -> str:
        self.found.append((row.number - 1, row.actual_columns if row.text.strip() else 0))
        return "skip"


def _field(column: TextColumn) -> pa.Field:
    unit = "%" if column.form.percent else column.form.currency
    return pa.field(column.name, column.type, metadata={"unit": unit} if unit else None)


def _repair(chunk: Chunk, problems: Problems) -> None:
    chunk.text, bad = repaired(chunk.text)
    if bad:
        what = "bytes do not fit the encoding and were read as Windows-1252"
        for at in bad[:EXAMPLES]:
            problems.add(what, place=f"line {chunk.first_line + line_count(chunk.text[:at])}")
        if len(bad) > EXAMPLES:
            problems.add(what, count=len(bad) - EXAMPLES)


def _report(
    problems: Problems,
    what: str,
    column: str | None,
    rows: NDArray[np.int64],
    lines: NDArray[np.int64],
    cells: pa.Array | None,
) -> None:
    for row in rows[:EXAMPLES].tolist():
        value = None if cells is None else cells[row].as_py()
        problems.add(what, column=column, place=f"line {lines[row]}", value=value)
    if len(rows) > EXAMPLES:
        problems.add(what, column=column, count=len(rows) - EXAMPLES)


def _report_ragged(problems: Problems, ragged: Sequence[tuple[int, int]], width: int, chunk: Chunk) -> None:
    few = np.array([record for record, cells in ragged if cells < width], np.int64)
    many = np.array([record for record, cells in ragged if cells > width], np.int64)
    # what stands in these rows is not shown: it may belong to a sensitive column
    for rows, what in zip((few, many), RAGGED, strict=True):
        if len(rows):
            _report(problems, what, None, rows, chunk.record_lines, None)
