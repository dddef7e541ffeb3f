"""The format of a text table, found from its first block; and with it, rows from its text."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from assay.data.field import Declared
from assay.data.problems import Problems
from assay.data.text.chunks import CHUNK, last_record_end, quote_edges, records
from assay.data.text.encodings import Readable, Rejoined, Utf8, encoding_of, known_encoding
from assay.data.text.header import Header, header_of
from assay.data.text.layout import TextLayout, layout
from assay.data.text.parse import RAGGED, Parser
from assay.data.text.types import Guess, likely_form
from assay.data.text.values import TextColumn, ValueForm
from assay.errors import DataError, ParameterError

# Columns get their types from this much of the text.
FIRST_BLOCK = 1 << 23
# Each column has a price in memory and time of its own, here and in all that comes after.
MOST_COLUMNS = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class CsvFormat:
    """How a text table is written and what its columns hold.

    Attributes:
        encoding: of the bytes.
        delimiter: between cells; a blank means runs of blanks.
        columns: those that are read, without sensitive ones.
        schema: the same in Arrow.
        start: bytes of UTF-8 before the first row.
        first_line: the line of the first row, from 1.
        notes: what was assumed, in sentences.
    """

    encoding: str
    delimiter: str
    columns: tuple[TextColumn, ...]
    schema: pa.Schema
    start: int
    first_line: int
    notes: tuple[str, ...]
    _layout: TextLayout
    _parser: Parser

    @classmethod
    def sniffed(
        cls,
        first: bytes,
        complete: bool,
        *,
        declared: Declared | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        header: bool | None = None,
    ) -> CsvFormat:
        r"""Find the format of a text from its first bytes.

        Args:
            first: with the first rows whole, better a few megabytes.
            complete: whether that is all of the text.
            declared: sensitive columns are not converted; those of kind text or identifier stay text, numbers and
                counts are numbers whatever else their cells hold.
            delimiter: one ASCII character, a blank for runs of blanks; found by itself if not given.
            encoding: such as "utf-16"; found by itself if not given.
            decimal: "." or ","; found by itself, column by column, if not given.
            header: whether the first line names the columns; found by itself if not given.

        >>> found = CsvFormat.sniffed(b"x;y\n1,5;a\n2,5;b\n", True)
        >>> found.parse(b"3,5;c\n", 4, Problems()).to_pylist()
        [{'x': 3.5, 'y': 'c'}]
        """
        declared = declared or Declared()
        _check_options(delimiter, decimal)
        if not first:
            raise DataError("the file is empty")
        encoding, note = (known_encoding(encoding), None) if encoding else encoding_of(first, complete=complete)
        text = _as_utf8(first, encoding)
        if not text.strip():
            raise DataError("the file is empty")
        laid = layout(text, delimiter)
        if laid.width > MOST_COLUMNS:
            raise DataError(
                f"line {laid.line} has {laid.width:,} values, and a text table may have {MOST_COLUMNS:,} columns at "
                "most; turn the table on its side, or cut it into parts"
            )
        cells, rows = _first_cells(text[laid.after if laid.header else laid.start :], laid, complete=complete)
        head, found = header_of(cells, rows, laid, complete=complete, decimal=decimal, header=header)
        found = _settled(found, cells, laid.delimiter)
        Declared(sensitive=declared.sensitive).check(head.names)
        if declared.sensitive and head.shifted:
            raise DataError(
                f"its first line has one name less than there are columns, so that it is not certain which column is "
                f"{sorted(declared.sensitive)[0]!r}, which is sensitive; name every column, or quote values with "
                f"{laid.delimiter!r} in them"
            )
        hidden = declared.hidden(head.names)
        columns = _columns(head, found, declared, cells, decimal)
        parser = Parser(columns, laid, unread=hidden - {head.surplus}, surplus=head.surplus)
        kept = tuple(c for c in columns if c.name != head.surplus)
        fields = {field.name: field for field in parser.schema}
        return cls(
            encoding=encoding,
            delimiter=laid.delimiter,
            columns=tuple(c for c in kept if c.name not in hidden),
            schema=pa.schema([fields[c.name] for c in kept if c.name not in hidden]),
            start=laid.after if head.present else laid.start,
            first_line=laid.after_line if head.present else laid.line,
            notes=(*filter(None, [note]), *laid.notes, *head.notes, *_value_notes(kept, found, hidden)),
            _layout=laid,
            _parser=parser,
        )

    def records(self, handle: Readable, *, first: bytes = b"", size: int = CHUNK) -> Iterator[tuple[bytes, int]]:
        """Cut the rows of a text into chunks for `parse`.

        Args:
            handle: the bytes of the text from their start, or from behind `first`.
            first: what was read from the handle already.
            size: bytes to ask for at a time.

        Yields:
            chunk: whole records, in UTF-8.
            first_line: the line on which it begins.
        """
        text = Utf8(Rejoined(first, handle) if first else handle, self.encoding)
        return self.cut(text, start=self.start, first_line=self.first_line, size=size)

    def cut(self, text: Readable, *, start: int, first_line: int, size: int = CHUNK) -> Iterator[tuple[bytes, int]]:
        """Cut UTF-8 text into chunks for `parse`, from any record on; see `csv_chunks.records`."""
        laid = self._layout
        return records(
            text, delimiters=laid.delimiters, padded=laid.padded, start=start, first_line=first_line, size=size
        )

    def parse(self, chunk: bytes, first_line: int, problems: Problems) -> pa.RecordBatch:
        """The rows of a chunk, without sensitive columns.

        Args:
            chunk: whole records in UTF-8, as `records` cuts them.
            first_line: the line on which it begins.
            problems: takes what was wrong, with line numbers.
        """
        return self._parser.parse(chunk, first_line, problems)[0]

    def row_lines(self, chunk: bytes, first_line: int) -> Sequence[int]:
        """The line on which each row of a chunk begins."""
        lines: list[int] = self._parser.parse(chunk, first_line, Problems())[1].row_lines.tolist()
        return lines


def _check_options(delimiter: str | None, decimal: str | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise ParameterError(f"a delimiter is one ASCII character, not a quote or line end; got {delimiter!r}")
    if decimal not in (None, ".", ","):
        raise ParameterError(f"the decimal mark is '.' or ','; got {decimal!r}")
    if decimal == delimiter == ".":
        raise ParameterError("the delimiter and the decimal mark are both '.'; give another one")


def _as_utf8(first: bytes, encoding: str) -> bytes:
    reader = Utf8(io.BytesIO(first), encoding)
    return reader.read(len(first))


def _first_cells(text: bytes, laid: TextLayout, *, complete: bool) -> tuple[pa.Array, int]:
    """All cells of the first rows, column after column, and how many rows these are."""
    edges = quote_edges(text, laid.delimiters, padded=laid.padded)
    end = len(text) if complete else last_record_end(text, edges)
    if len(edges) % 2 and end > edges[-1]:
        # refused with its line when it is cut for reading
        end = last_record_end(text[: int(edges[-1])], edges[:-1])
    columns = [TextColumn(str(i), pa.string()) for i in range(laid.width)]
    problems = Problems()
    batch = Parser(columns, laid).parse(text[:end], laid.line, problems)[0]
    ragged = sum(problem.count for problem in problems if problem.what in RAGGED)
    if ragged > batch.num_rows:
        raise DataError(
            f"{ragged:,} of the first {batch.num_rows + ragged:,} rows do not have {laid.width} values when cut at "
            f"{laid.delimiter!r}; give the delimiter, or repair the rows"
        )
    return (pa.concat_arrays(batch.columns) if batch.num_rows else pa.array([], pa.string())), batch.num_rows


def _settled(found: Sequence[Guess], cells: pa.Array, delimiter: str) -> list[Guess]:
    """Guesses that depend on the rest of the table.

    Where commas may be decimal or between thousands, other columns decide, else a semicolon as delimiter speaks for
    decimal ones. In a table with decimal commas, whole numbers may get them later.
    """
    commas = any(guess.form.decimal == "," and not guess.either for guess in found)
    decimal = commas or delimiter == ";"
    settled = [guess if decimal or not guess.either else replace(guess, form=_grouped(guess.form)) for guess in found]
    if not any(guess.form == ValueForm(",") for guess in settled):
        return settled
    rows = len(cells) // len(found)
    for i, guess in enumerate(settled):
        here = cells[i * rows : (i + 1) * rows]
        if (
            guess.type == pa.float64()
            and guess.form == ValueForm()
            and not pc.any(pc.match_substring(here, ".")).as_py()
        ):
            settled[i] = replace(guess, form=ValueForm(","))
    return settled


def _grouped(form: ValueForm) -> ValueForm:
    return replace(form, decimal=".", thousands=",")


def _columns(
    head: Header, found: Sequence[Guess], declared: Declared, cells: pa.Array, decimal: str | None
) -> list[TextColumn]:
    columns = []
    rows = len(cells) // len(found)
    for i, (name, guess) in enumerate(zip(head.names, found, strict=True)):
        kind = declared.kinds.get(name)
        if declared.hides(name) or name == head.surplus or kind in ("text", "identifier"):
            columns.append(TextColumn(name, pa.string()))
        elif kind in ("number", "count") and pa.types.is_string(guess.type):
            columns.append(TextColumn(name, pa.float64(), likely_form(cells[i * rows : (i + 1) * rows], decimal)))
        else:
            columns.append(TextColumn(name, guess.type, guess.form))
    return columns


def _value_notes(columns: Sequence[TextColumn], found: Sequence[Guess], hidden: frozenset[str]) -> Iterator[str]:
    pairs = [(column, guess) for column, guess in zip(columns, found, strict=False) if column.name not in hidden]
    numbers = [(column.name, column.form, guess) for column, guess in pairs if column.type == pa.float64()]
    told = {
        "Decimal commas were read in": [n for n, form, guess in numbers if form.decimal == "," and not guess.either],
        "Commas were taken for decimal, though they might stand between thousands, in": [
            n for n, form, guess in numbers if guess.either and form.decimal == ","
        ],
        "Marks between thousands were left out in": [n for n, form, _ in numbers if form.thousands],
        "Percent signs were left out, 45% is 45, in": [n for n, form, _ in numbers if form.percent],
        "Currency signs were left out in": [n for n, form, _ in numbers if form.currency],
        "Digits with leading zeros or a plus, or too many for a number, were kept as text in": [
            column.name for column, guess in pairs if guess.code and pa.types.is_string(column.type)
        ],
    }
    for what, names in told.items():
        if names:
            more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
            yield f"{what} {', '.join(map(repr, names[:5]))}{more}."
