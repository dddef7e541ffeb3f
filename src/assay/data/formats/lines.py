"""Text files of one record a line, cut into chunks of whole lines that are parsed ahead of their use."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import IO, TypeVar

import pyarrow as pa

from assay.data.field import Declared
from assay.data.place import Place
from assay.data.problems import Problems
from assay.data.source import Source
from assay.data.text.encodings import Rejoined, Utf8, encoding_of, unpacked
from assay.engine.local import ahead
from assay.errors import DataError, UnreadableError

CHUNK = 1 << 22
LONGEST_LINE = 1 << 28
# Lines without a row that are remembered, to tell the line of a row.
_REMEMBERED = 1_000_000

T = TypeVar("T")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class LineChunk:
    """Whole lines.

    Attributes:
        text: the lines, in UTF-8.
        line: number of the first one, from 1.
    """

    text: bytes
    line: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a chunk gave.

    Attributes:
        batch: its rows.
        problems: what was wrong.
        skipped: numbers of the lines that gave no row.
    """

    batch: pa.RecordBatch
    problems: Problems = field(default_factory=Problems)
    skipped: list[int] = field(default_factory=list)


class LinesSource(Source):
    """A text file with one record a line, also compressed. A kind of it has `_parse`."""

    _drops_sensitive = True

    def __init__(self, place: Place, declared: Declared | None = None) -> None:
        super().__init__(place.name, declared)
        self.place = place
        self._size = place.size
        self._handle: IO[bytes] | None = None
        self._fraction = 0.0
        self._skipped: list[int] = []
        self._encoding_notes: tuple[str, ...] = ()

    def _parse(self, chunk: LineChunk) -> Parsed:
        """Parse a chunk; called from several threads."""
        raise NotImplementedError

    def _chunks(self) -> Generator[LineChunk, None, None]:
        """Start a pass over the text."""
        line = 0
        try:
            with self.place.open() as handle:
                reader = unpacked(handle)
                first = reader.read(CHUNK)
                encoding, note = encoding_of(first, complete=len(first) < CHUNK)
                self._encoding_notes = (note,) if note else ()
                for chunk in whole_lines(Utf8(Rejoined(first, reader), encoding).read):
                    self._fraction = handle.tell() / max(self._size, 1)
                    yield chunk
                    line = chunk.line - 1 + chunk.text.count(b"\n")
        except UnreadableError as error:
            where = f" behind line {line:,}" if line else ""
            raise UnreadableError(f"cannot read {self.place}{where}: {error}") from error
        except DataError as error:
            raise DataError(f"cannot read {self.place}: {error}") from error

    def _batches(self) -> Iterator[pa.RecordBatch]:
        self._skipped = []
        for parsed in ahead(self._parse, self._chunks()):
            self.problems.extend(parsed.problems)
            if len(self._skipped) <= _REMEMBERED:
                self._skipped += parsed.skipped
            if parsed.batch.num_rows:
                yield parsed.batch
        self.rows = self.rows_read

    @property
    def fraction_read(self) -> float | None:
        """How much of the file has been read, from 0 to 1."""
        return self._fraction

    def line_of(self, row: int) -> int | None:
        """The line of a row that has been read; None in a file of which very many lines gave no row."""
        if len(self._skipped) > _REMEMBERED:
            return None
        # the i-th line skipped, s_i, has s_i - 1 - i rows before it
        passed = bisect_right(range(len(self._skipped)), row, key=lambda i: self._skipped[i] - 1 - i)
        return row + 1 + passed


def whole_lines(read: Callable[[int], bytes]) -> Iterator[LineChunk]:
    r"""Cut what is read after line ends.

    Args:
        read: gives so many bytes of text, none at its end.

    >>> import io
    >>> [chunk.text for chunk in whole_lines(io.BytesIO(b"a\nb\nc").read)]
    [b'a\nb\n', b'c']
    """
    line = 1
    held: list[bytes] = []
    size = 0
    while text := read(CHUNK):
        end = text.rfind(b"\n") + 1
        size += len(text)
        if not end:
            if size > LONGEST_LINE:
                raise DataError(
                    f"line {line:,} is longer than {LONGEST_LINE >> 20} MB; put every record on a line of its own"
                )
            held.append(text)
            continue
        whole = b"".join((*held, text[:end]))
        yield LineChunk(whole, line)
        line += whole.count(b"\n")
        held = [text[end:]] if end < len(text) else []
        size = len(text) - end
    if held:
        yield LineChunk(b"".join(held), line)
