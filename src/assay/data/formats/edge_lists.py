"""Lists of edges in text files, one edge a line: names stay names, whatever they look like.

Unlike other tables these are read as text throughout: 007 and 7 are two nodes, NA may be Namibia, and a name after a
million numbers is no mistake. Cells are separated by a comma, semicolon, tab or bar, or by any run of blanks. Lines
that begin with % or with # and a blank are comments.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from assay.data.file_fingerprint import Unchanged
from assay.data.names import unique_names
from assay.data.place import Place
from assay.data.source import Source
from assay.data.text.encodings import Rejoined, Utf8, encoding_of, repaired, unpacked
from assay.errors import DataError

_CHUNK = 1 << 22
_LONGEST_LINE = 1 << 26
_SAMPLE = 200
_DELIMITERS = ",;\t|"
_COMMENT = re.compile(rb"^(?:%|#(?:[\s#]|$))[^\n]*", re.MULTILINE)
_BLANKS = bytes.maketrans(b" \x0b\x0c", b"\t\t\t")
# What the columns of a list of edges are called, folded to small letters and digits.
FIRST = ("source", "from", "src", "tail", "sender", "citing", "follower", "fromnodeid", "fromnode", "start")
SECOND = ("target", "to", "dst", "head", "receiver", "cited", "followee", "tonodeid", "tonode", "end")
WEIGHT = ("weight", "weights", "w", "value", "count", "strength", "distance", "length")
TYPE = ("type", "edgetype", "direction", "directed")


class EdgeListSource(Source):
    """A text file of edges as a table of text.

    Args:
        path: the file, gzipped or not.
        header: whether the first line names the columns; when not given, it does if it holds the usual names (source,
            target, from, to, weight and such) or text above numbers.

    Attributes:
        header: whether it does.
        comments: the comments before the first edge.
    """

    _rows = "edges"
    _needs = "an edge needs two names"

    def __init__(self, path: str | Path, header: bool | None = None) -> None:
        self._place = Place.of(path)
        self.unchanged = Unchanged((self._place,))
        super().__init__(self._place.name)
        self._delimiter: str | None = None
        start = repaired(next(self._chunks(1 << 18), b""))[0]
        self.comments = tuple(found[0].decode() for found in _COMMENT.finditer(_head(start)))
        lines = [line for line in _without_comments(start).decode().split("\n") if line.strip()][:_SAMPLE]
        if not lines:
            raise DataError(f"cannot read {self._place}: it holds no {self._rows}")
        self._delimiter, rows = _cut(lines)
        self._width = Counter(map(len, rows[1:] or rows)).most_common(1)[0][0]
        if self._width < 2:
            raise DataError(f"cannot read {self._place}: {self._needs}, but its lines hold one")
        first = rows[0] if len(rows[0]) != self._width - 1 else ["", *rows[0]]  # R leaves out the name of the row names
        self.header = _is_header(first, rows[1:]) if header is None else header
        given = [cell.strip().lstrip("#").strip() for cell in first]
        self._names = unique_names(given)[0] if self.header else [f"column {i + 1}" for i in range(self._width)]
        if len(self._names) != self._width:
            raise self._ragged()

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema([(name, pa.string()) for name in self._names])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        quote = False if self._delimiter is None else '"'
        try:
            with pa_csv.open_csv(
                pa.PythonFile(_Handle(self._lines()), mode="r"),
                read_options=pa_csv.ReadOptions(column_names=self._names, block_size=_CHUNK),
                parse_options=pa_csv.ParseOptions(delimiter=self._delimiter or "\t", quote_char=quote),
                convert_options=pa_csv.ConvertOptions(column_types=self._arrow_schema()),
            ) as reader:
                yield from reader
        except pa.ArrowInvalid as error:
            if "columns, got" in str(error):
                raise self._ragged() from error
            raise DataError(
                f"cannot read {self._place} as a list of {self._rows}: {str(error).splitlines()[0]}"
            ) from error

    def line_of(self, row: int) -> int | None:
        """The line of an edge, both as `Source` counts them."""
        for line, text in self._numbered_lines():
            if text.strip():
                row -= 1
            if row < 0:
                return line
        return None

    def _chunks(self, size: int = _CHUNK) -> Iterator[bytes]:
        """Whole lines of UTF-8, each ended by a line feed."""
        with self._place.open() as handle:
            raw = unpacked(handle)
            start = raw.read(size)
            encoding = encoding_of(start, complete=len(start) < size)[0]
            text = Utf8(Rejoined(start, raw), encoding)
            rest = b""
            while part := self._read(text, size, encoding):
                rest += part
                # a return at the end may be half of a line's end
                cut = max(rest.rfind(b"\n"), rest.rfind(b"\r", 0, len(rest) - 1)) + 1
                if cut:
                    yield _ended(rest[:cut])
                    rest = rest[cut:]
                elif len(rest) > _LONGEST_LINE:
                    raise DataError(f"cannot read {self._place}: a line has more than {_LONGEST_LINE:,} bytes")
            if rest:
                yield _ended(rest)

    def _read(self, text: Utf8, size: int, encoding: str) -> bytes:
        try:
            return text.read(size)
        except UnicodeDecodeError as error:
            raise DataError(f"cannot read {self._place}: it begins as {encoding} but does not go on so") from error

    def _lines(self) -> Iterator[bytes]:
        """The edges as pyarrow can parse them, line by line as in the file: comments and header are empty lines."""
        header = self.header
        for chunk in self._chunks():
            text, bad = repaired(_without_comments(chunk))
            if bad:
                self.problems.add("bytes are not UTF-8 and were read as Windows-1252", count=len(bad))
            if self._delimiter is None:
                text = _single_tabs(text)
            if header and text.strip():
                blank = len(text) - len(text.lstrip(b"\n"))
                text = text[:blank] + text[text.index(b"\n", blank) :]
                header = False
            yield text

    def _numbered_lines(self) -> Iterator[tuple[int, str]]:
        line = 0
        for text in self._lines():
            for part in text.decode().split("\n")[:-1]:
                line += 1
                yield line, part

    def _ragged(self) -> DataError:
        for line, text in self._numbered_lines():
            cells = next(csv.reader([text], delimiter=self._delimiter or "\t"), [])
            if text.strip() and len(cells) != self._width:
                return DataError(
                    f"cannot read {self._place}: line {line} has {len(cells)} values where {self._width} are expected; "
                    "repair the line, quote names that contain the delimiter, begin comments with '# '"
                )
        return DataError(
            f"cannot read {self._place}: the line of names has another number of values than the {self._rows}, "
            f"{self._width}"
        )


class _Handle:
    """Chunks as a file that pyarrow can read."""

    closed = False

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def read(self, size: int = -1, /) -> bytes:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._rest = memoryview(chunk)
        taken, self._rest = self._rest[:size], self._rest[size:]
        return bytes(taken)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        """Nothing is held open."""


def folded(name: str) -> str:
    """A column's name by its letters and digits.

    >>> folded("From Node-ID")
    'fromnodeid'
    """
    return re.sub(r"[\W_]", "", name.lower())


def _ended(text: bytes) -> bytes:
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text if text.endswith(b"\n") else text + b"\n"


def _head(text: bytes) -> bytes:
    """The lines before the first that is not a comment."""
    begin = re.search(rb"^(?!%|#[\s#]|#$|\s*$)", text, re.MULTILINE)
    return text[: begin.start()] if begin else text


def _without_comments(text: bytes) -> bytes:
    return _COMMENT.sub(b"", text) if b"%" in text or b"#" in text else text


def _single_tabs(text: bytes) -> bytes:
    if b'"' in text:
        return _quoted_to_tabs(text)
    text = text.translate(_BLANKS)
    while b"\t\t" in text:
        text = text.replace(b"\t\t", b"\t")
    return text.replace(b"\n\t", b"\n").replace(b"\t\n", b"\n").lstrip(b"\t")


def _quoted_to_tabs(text: bytes) -> bytes:
    made = io.StringIO()
    for line in text.decode().split("\n")[:-1]:
        cells = [cell for cell in _blank_cells(line) if cell]
        made.write("\t".join(cell.replace("\t", " ") for cell in cells) + "\n")
    return made.getvalue().encode()


def _blank_cells(line: str) -> list[str]:
    return next(csv.reader([line.strip().replace("\t", " ")], delimiter=" ", skipinitialspace=True), [])


def _cut(lines: list[str]) -> tuple[str | None, list[list[str]]]:
    """The delimiter that cuts nearly all lines alike, None for blanks, and the cells."""
    for delimiter in sorted(_DELIMITERS, key=lambda mark: -sum(mark in line for line in lines)):
        rows = list(csv.reader(lines, delimiter=delimiter))
        width, agreeing = Counter(map(len, rows)).most_common(1)[0]
        if width > 1 and agreeing >= 0.9 * len(rows):
            return delimiter, rows
    return None, [[cell for cell in _blank_cells(line) if cell] for line in lines]


def _is_header(first: list[str], rest: list[list[str]]) -> bool:
    if any(is_number(cell) for cell in first):
        return False
    usual = {*FIRST, *SECOND, *WEIGHT, *TYPE}
    if sum(folded(cell) in usual for cell in first) >= 2:
        return True
    below = zip(*(row for row in rest if len(row) == len(first)), strict=True)
    return any(all(is_number(cell) for cell in column) for column in below)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number.

    >>> is_number(" 1e3"), is_number("")
    (True, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return True
