"""The form of JSON lines, found from the first of them; and with it, rows from later ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pa_json

from assay.data.field import Declared
from assay.data.fitting import add_misfits, values_as
from assay.data.formats.json_columns import JsonColumn, columns_of_records, columns_of_schema, parse_schema, value_at
from assay.data.formats.lines import LineChunk, Parsed
from assay.data.names import columns_to_read
from assay.data.problems import Problems
from assay.errors import DataError

# Arrow's parser runs out of stack far beyond this.
_DEEPEST = 100
# Text in which something is wrong is halved until it is this short, and then parsed line by line.
_SINGLY = 1 << 16

_NOT_JSON = "lines are not a JSON object and were left out"
_REPEATED = "lines repeat a key; the last value was taken"
_HALF = "lines hold half a character (a lone surrogate), shown as \N{REPLACEMENT CHARACTER}"
_NEW_KEY = "values have a key that the first lines do not have, and were left out"
_NOT_OBJECT = "values are not objects and count as missing"


class JsonFormat:
    """Columns of JSON lines and their types, and rows from text.

    Args:
        first: lines that show them.
        declared: what the user says about columns.
        unit: what a line is called in messages.

    Attributes:
        schema: the columns, without sensitive ones.
        notes: what was assumed, in sentences.

    >>> form = JsonFormat(LineChunk(b'{"x": 1}', 1))
    >>> form.parse(LineChunk(b'{"x": 2.5}', 2)).batch.to_pylist()
    [{'x': 2.5}]
    """

    def __init__(self, first: LineChunk, declared: Declared | None = None, *, unit: str = "line") -> None:
        self.declared = declared or Declared()
        self._unit = unit
        found = self._first_columns(first)
        picked = columns_to_read([column.name for column in found], self._with_inner(found))
        self._columns = [found[i].called(name) for i, name in zip(picked.positions, picked.names, strict=True)]
        self._parsing = parse_schema(self._columns)
        self._known = {column.path for column in found} | {column.path[:1] for column in found}
        self.schema = pa.schema([(column.name, column.type) for column in self._columns])
        self.notes = tuple(picked.notes)

    def _with_inner(self, found: list[JsonColumn]) -> Declared:
        """What is declared, where an object that is sensitive makes all that is in it sensitive."""
        inner = {column.name for column in found if self.declared.hides(column.path[0])}
        objects = Declared(sensitive=frozenset(column.path[0] for column in found if len(column.path) == 2))
        said = {name for name in self.declared.sensitive if not objects.hides(name)}
        return replace(self.declared, sensitive=frozenset(said | inner))

    def _first_columns(self, chunk: LineChunk) -> list[JsonColumn]:
        table = _parsed_fast(chunk, None)
        if table is not None:
            return columns_of_schema(table, self.declared)
        records = [record for _, record in _records(chunk, Problems(), "") if record is not None]
        if not records:
            raise DataError(
                "none of its first lines is a JSON object; save the records as JSON lines, one object a line"
            )
        return columns_of_records(records)

    def parse(self, chunk: LineChunk) -> Parsed:
        """The rows of whole lines; may be called from several threads."""
        table = _parsed_fast(chunk, self._parsing)
        if table is None:
            return self._parsed_in_parts(chunk)
        problems = Problems()
        self._count_new(table, chunk, problems)
        arrays = [_column_at(table, column) for column in self._columns]
        batch = pa.RecordBatch.from_arrays(arrays, schema=self.schema) if arrays else _empty_rows(table.num_rows)
        skipped = [] if batch.num_rows == _line_count(chunk.text) else _blank_lines(chunk)
        return Parsed(batch, problems, skipped)

    def _count_new(self, table: pa.Table, chunk: LineChunk, problems: Problems) -> None:
        for field in table.schema:
            inner = [(field.name, child.name) for child in field.type] if pa.types.is_struct(field.type) else []
            for path in [(field.name,)] if (field.name,) not in self._known else inner:
                if path in self._known or self.declared.hides(field.name, ".".join(path)):
                    continue
                values = table.column(path[0])
                values = values if len(path) == 1 else _child(values.combine_chunks(), path[1])
                rows = np.flatnonzero(np.asarray(values.is_valid()))
                if len(rows):
                    place = f"{self._unit} {_line_of_row(chunk, int(rows[0]))}"
                    problems.add(_NEW_KEY, place=place, value=".".join(path), count=len(rows))

    def _parsed_in_parts(self, chunk: LineChunk) -> Parsed:
        """In halves, so that only lines near to what is wrong are parsed one by one."""
        middle = chunk.text.find(b"\n", len(chunk.text) // 2) + 1
        if len(chunk.text) < _SINGLY or middle in (0, len(chunk.text)):
            return self._parsed_slowly(chunk)
        first = self.parse(LineChunk(chunk.text[:middle], chunk.line))
        second = self.parse(LineChunk(chunk.text[middle:], chunk.line + chunk.text.count(b"\n", 0, middle)))
        first.problems.extend(second.problems)
        rows = pa.concat_batches([first.batch, second.batch])
        return Parsed(rows, first.problems, first.skipped + second.skipped)

    def _parsed_slowly(self, chunk: LineChunk) -> Parsed:
        """Line by line, which tells what was wrong and where."""
        problems = Problems()
        lines: list[int] = []
        skipped: list[int] = []
        records: list[dict[str, Any]] = []
        for line, record in _records(chunk, problems, self._unit):
            if record is None:
                skipped.append(line)
            else:
                lines.append(line)
                records.append(record)
        arrays = [self._filled(column, records, lines, problems) for column in self._columns]
        self._count_new_keys(records, lines, problems)
        batch = pa.RecordBatch.from_arrays(arrays, schema=self.schema) if arrays else _empty_rows(len(records))
        return Parsed(batch, problems, skipped)

    def _filled(
        self, column: JsonColumn, records: list[dict[str, Any]], lines: list[int], problems: Problems
    ) -> pa.Array:
        values = [value_at(record, column.path) for record in records]
        if len(column.path) == 2:
            for line, record in zip(lines, records, strict=True):
                outer = record.get(column.path[0])
                if outer is not None and not isinstance(outer, dict):  # not shown: what it stands for may be sensitive
                    problems.add(_NOT_OBJECT, column=column.name, place=f"{self._unit} {line}")
        array, lost = values_as(values, column.type)
        add_misfits(problems, column.name, column.type, ((f"{self._unit} {lines[i]}", values[i]) for i in lost))
        return array

    def _count_new_keys(self, records: list[dict[str, Any]], lines: list[int], problems: Problems) -> None:
        nested = {path[0] for path in self._known if len(path) == 2}
        for line, record in zip(lines, records, strict=True):
            for key, value in record.items():
                inner = [(key, name) for name in value] if key in nested and isinstance(value, dict) else [(key,)]
                for path in inner:
                    if path not in self._known and not self.declared.hides(key, ".".join(path)):
                        problems.add(_NEW_KEY, place=f"{self._unit} {line}", value=".".join(path))


def _parsed_fast(chunk: LineChunk, schema: pa.Schema | None) -> pa.Table | None:
    """The chunk by Arrow's parser, or None where something in it is not as it should be."""
    # of a text that begins with null Arrow's parser dies, and further down it takes null for a row
    if _depth(chunk.text) > _DEEPEST or not _lines_are_objects(chunk.text):
        return None
    try:
        if not chunk.text.isascii():
            chunk.text.decode()
        table = pa_json.read_json(
            pa.BufferReader(chunk.text),
            read_options=pa_json.ReadOptions(use_threads=False, block_size=max(len(chunk.text) + 1, 1 << 10)),
            parse_options=pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer"),
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, UnicodeDecodeError):
        return None
    lines = _line_count(chunk.text)
    whole = table.num_rows == lines or table.num_rows == lines - len(_blank_lines(chunk))
    return table if whole else None  # several objects on a line, or one on several


def _lines_are_objects(text: bytes) -> bool:
    """Whether every line that is not blank begins like an object."""
    if text.startswith(b"{") and text.count(b"\n{") + 1 == _line_count(text):
        return True
    return all(line.lstrip()[:1] in (b"{", b"") for line in text.split(b"\n"))


def _records(chunk: LineChunk, problems: Problems, unit: str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Line number and object of each line; None for a line that gives none."""
    for line, text in enumerate(chunk.text.removesuffix(b"\n").split(b"\n"), chunk.line):
        if not text.strip():
            yield line, None
            continue
        repeated = False
        half = b"\\ud" in text.lower() and _depth(text) <= _DEEPEST and _half_in(text)

        def last_wins(pairs: list[tuple[str, Any]], half: bool = half) -> dict[str, Any]:
            nonlocal repeated
            found = {_mended(key): _mended(value) for key, value in pairs} if half else dict(pairs)
            repeated = repeated or len(found) < len(pairs)
            return found

        try:
            if _depth(text) > _DEEPEST:
                raise ValueError("too deeply nested")
            record = json.loads(text.decode(), object_pairs_hook=last_wins, parse_float=_finite)
        except (ValueError, RecursionError):
            record = None
        if half:
            problems.add(_HALF, place=f"{unit} {line}")
        if repeated:
            problems.add(_REPEATED, place=f"{unit} {line}")
        if not isinstance(record, dict):
            problems.add(_NOT_JSON, place=f"{unit} {line}")
            record = None
        yield line, record


def _half_in(text: bytes) -> bool:
    """Whether texts of a line hold surrogates without their other half, which no column can hold."""
    try:
        return _LONE.search(json.dumps(json.loads(text), ensure_ascii=False)) is not None
    except (ValueError, RecursionError):
        return False


def _mended(value: Any) -> Any:
    if isinstance(value, list):
        return [_mended(each) for each in value]
    return _LONE.sub("\N{REPLACEMENT CHARACTER}", value) if isinstance(value, str) else value


_LONE = re.compile("[\ud800-\udfff]")


def _finite(text: str) -> float | str:
    """A number, or its text where it is beyond float64, so that it is told as it was written."""
    number = float(text)
    return number if np.isfinite(number) else text


def _depth(text: bytes) -> int:
    """How deeply brackets are nested, at most."""
    if text.count(b"[") + text.count(b"{") - text.count(b"\n") < _DEEPEST:
        return 0
    codes = np.frombuffer(text, dtype=np.uint8)
    steps = ((codes == ord("[")) | (codes == ord("{"))).astype(np.int8)
    steps -= (codes == ord("]")) | (codes == ord("}"))
    depth = np.cumsum(steps[steps != 0], dtype=np.int64)
    return int(depth.max(initial=0) - min(depth.min(initial=0), 0))


def _line_count(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n"))


def _blank_lines(chunk: LineChunk) -> list[int]:
    lines = chunk.text.removesuffix(b"\n").split(b"\n")
    return [line for line, text in enumerate(lines, chunk.line) if not text.strip()]


def _line_of_row(chunk: LineChunk, row: int) -> int:
    blank = set(_blank_lines(chunk))
    end = chunk.line + _line_count(chunk.text)
    return [line for line in range(chunk.line, end) if line not in blank][row]


def _column_at(table: pa.Table, column: JsonColumn) -> pa.Array:
    values = table.column(column.path[0]).combine_chunks()
    return values if len(column.path) == 1 else _child(values, column.path[1])


def _child(values: pa.StructArray, name: str) -> pa.Array:
    return values.flatten()[values.type.get_field_index(name)]


def _empty_rows(count: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_struct_array(pa.array([{}] * count, type=pa.struct([])))
