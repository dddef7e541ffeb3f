"""Tables in text files: one record a line, values between delimiters."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from assay.data.field import Declared
from assay.data.source import Source
from assay.errors import DataError

_DELIMITERS = ",;\t|"
# Columns get their kind from this much of the file.
_FIRST_BLOCK = 1 << 23
_LONGEST_LINE = 1 << 28


class CsvSource(Source):
    """A delimited text file, read in blocks; only the first block is read to know the columns."""

    def __init__(self, path: Path, declared: Declared | None = None) -> None:
        super().__init__(path.name, declared)
        self.path = path
        first_lines = _first_lines(path)
        self._delimiter = _delimiter(first_lines)
        header = _parsed(first_lines, self._delimiter)[0]
        has_header = not all(_is_number(cell) for cell in header)
        names = _unique_names(header) if has_header else [f"column {i + 1}" for i in range(len(header))]
        self._read = pa_csv.ReadOptions(
            column_names=names, skip_rows=1 if has_header else 0, block_size=_FIRST_BLOCK, use_threads=True
        )
        with self._open(None) as reader:
            found = reader.schema
        # a column of whole numbers at first may hold fractions later
        types = [pa.float64() if pa.types.is_integer(type_) else type_ for type_ in found.types]
        self._types = dict(zip(names, types, strict=True))
        renamed = [f"{old!r} to {new!r}" for old, new in zip(header, names, strict=True) if old.strip() != new]
        if not has_header:
            self.notes = ("The first line holds numbers only, so the columns have no names and are numbered.",)
        elif renamed:
            self.notes = (f"Empty or repeated column names were changed: {', '.join(renamed)}.",)

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema(list(self._types.items()))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        with self._open(self._types) as reader:
            while True:
                try:
                    yield reader.read_next_batch()
                except StopIteration:
                    return
                except pa.ArrowInvalid as error:
                    raise self._explained(error) from error

    def _open(self, types: dict[str, pa.DataType] | None) -> pa_csv.CSVStreamingReader:
        try:
            return pa_csv.open_csv(
                self.path,
                read_options=self._read,
                parse_options=pa_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
                convert_options=pa_csv.ConvertOptions(column_types=types, strings_can_be_null=True),
            )
        except pa.ArrowInvalid as error:
            raise self._explained(error) from error

    def _explained(self, error: pa.ArrowInvalid) -> DataError:
        ragged = re.search(r"Expected (\d+) columns, got \d+", str(error))
        if ragged:
            line, count = _ragged_line(self.path, self._delimiter, int(ragged[1]))
            return DataError(
                f"cannot read {self.path}: line {line} has {count} values where {ragged[1]} are expected; "
                "repair the line or quote values that contain the delimiter"
            )
        value = re.search(r"column #(\d+): .* invalid value '(.*)'", str(error), re.DOTALL)
        if value:
            name = self._read.column_names[int(value[1])]
            return DataError(
                f"cannot read {self.path}: column {name!r} begins with numbers but later holds {value[2]!r}; "
                "repair the value or empty the cell"
            )
        return DataError(f"cannot read {self.path} as a table: {str(error).splitlines()[0]}")


def _first_lines(path: Path) -> list[str]:
    with path.open("rb") as handle:
        start = handle.read(1 << 16)
        if b"\n" not in start[:-1]:  # a header of many thousand columns
            start += handle.readline(_LONGEST_LINE)
    if not start.strip(b"\xef\xbb\xbf\r\n\t "):
        raise DataError(f"cannot read {path}: the file is empty")
    if b"\0" in start:
        raise DataError(f"cannot read {path}: it is a binary file, not a text table; save the table as CSV first")
    try:
        text = start.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(start) - 4:  # a character may be cut at the end of what was read
            line = start.count(b"\n", 0, error.start) + 1
            raise DataError(
                f"cannot read {path}: line {line} is not UTF-8 text; save the table as UTF-8 CSV"
            ) from error
        text = start[: error.start].decode("utf-8-sig")
    lines = text.splitlines(keepends=True)
    blank = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if blank:
        raise DataError(f"cannot read {path}: it begins with {blank} empty lines; the first line must name the columns")
    return lines


def _delimiter(lines: list[str]) -> str:
    # the one that cuts most of the first lines into the same number of values, more than one
    def agreement(delimiter: str) -> tuple[int, int]:
        widths = Counter(len(row) for row in _parsed(lines[:50], delimiter) if row)
        width, count = max(widths.items(), key=lambda item: (item[0] > 1, item[1]))
        return (count if width > 1 else 0, width)

    try:
        return max(_DELIMITERS, key=agreement)
    except csv.Error as error:
        raise DataError(f"cannot find columns in the first lines: {error}") from error


def _parsed(lines: list[str], delimiter: str) -> list[list[str]]:
    usual = csv.field_size_limit(_LONGEST_LINE)  # with the wrong delimiter a whole line is one cell
    try:
        return list(csv.reader(lines, delimiter=delimiter))
    finally:
        csv.field_size_limit(usual)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _unique_names(header: list[str]) -> list[str]:
    names: list[str] = []
    for i, cell in enumerate(header):
        name = base = cell.strip() or f"column {i + 1}"
        copies = 1
        while name in names:
            copies += 1
            name = f"{base} ({copies})"
        names.append(name)
    return names


def _ragged_line(path: Path, delimiter: str, width: int) -> tuple[int, int]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as handle:
        reader = csv.reader(handle, delimiter=delimiter)
        first = 1
        for row in reader:
            if row and len(row) != width:
                return first, len(row)
            first = reader.line_num + 1
    return first, 0
