"""Tables in text files: one record a line, values between delimiters."""

from __future__ import annotations

import bisect
import itertools
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO, Any

import pyarrow as pa

from assay.data.field import Declared
from assay.data.place import Place
from assay.data.problems import Problems
from assay.data.source import Source
from assay.data.text.chunks import CHUNK, LONGEST, line_count
from assay.data.text.encodings import Readable, Utf8, unpacked
from assay.data.text.format import FIRST_BLOCK, CsvFormat
from assay.engine.current import spread
from assay.errors import DataError, UnreadableError

# A file has about so many partitions, none of more chunks than this.
_PARTS, _MOST_CHUNKS = 64, 64
_THREADS = 2
_AHEAD = 3  # chunks
_ROWS, _CELL, _LARGEST = 32, 16, 1 << 26  # of a chunk of a very wide table: rows, bytes of a cell, bytes at most


class CsvSource(Source):
    r"""A delimited text file, read in blocks; only the first block is read to know the columns.

    Args:
        place: of the file, packed by gzip, bz2, zstd or xz or not.
        declared: what the user says about columns.
        delimiter, encoding, decimal, header: as `CsvFormat.sniffed` takes them; found by themselves if not given.

    Attributes:
        format: what was found.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("name;height\nAnn;1,70\nBob;1,85\n")
    ...     file.flush()
    ...     CsvSource(Place.of(file.name)).to_arrow().column("height").to_pylist()
    [1.7, 1.85]
    """

    _drops_sensitive = True

    def __init__(
        self,
        place: Place | Path,
        declared: Declared | None = None,
        *,
        delimiter: str | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        header: bool | None = None,
    ) -> None:
        self.place = place if isinstance(place, Place) else Place.of(place)
        super().__init__(self.place.name, declared)
        with self.place.open() as raw:
            try:
                text = unpacked(raw)
                first, complete = _first_block(text, forgiving=self.declared.skip_unreadable)
                self.format = CsvFormat.sniffed(
                    first,
                    complete,
                    declared=self.declared,
                    delimiter=delimiter,
                    encoding=encoding,
                    decimal=decimal,
                    header=header,
                )
            except (DataError, OSError) as error:
                raise self._refused(error) from error
            self._splits = text is raw and self.format.encoding in ("utf-8", "ascii")
            # where rows begin, in a file that can be split
            self._start = (len(BOM_UTF8) if first.startswith(BOM_UTF8) else 0) + self.format.start
        self.notes = self.format.notes
        self._size = self.place.size
        self._pieces: list[_Piece] | None = None
        self._broken: str | None = None
        self._parts: list[CsvSource] | None = None
        self._passed: list[_Passed] = []
        self._lines: tuple[_Passed | None, list[int]] = None, []
        self._bytes_read = 0

    def _arrow_schema(self) -> pa.Schema:
        return self.format.schema

    def _batches(self) -> Iterator[pa.RecordBatch]:
        problems = self.problems
        passed = self._passed = []
        self._bytes_read = 0
        offset = 0 if self._pieces is None else self._pieces[0].offset - self._start
        row = self.first_row
        with self.place.open() as raw:
            for parsed in _parsed_ahead(self._chunks(raw), self.format):
                if isinstance(parsed.rows, (DataError, OSError)):
                    line = passed[-1].first_line + passed[-1].lines - 1 if passed else None
                    raise self._refused(parsed.rows, line) from parsed.rows
                if isinstance(parsed.rows, Exception):
                    raise parsed.rows
                chunk, rows = parsed.chunk, parsed.rows.num_rows
                problems.extend(parsed.problems)
                passed.append(_Passed(row, rows, chunk.first_line, offset, parsed.lines))
                self._bytes_read = chunk.bytes_read
                row += rows
                offset += len(chunk.text)
                yield parsed.rows
        self.rows = row - self.first_row
        self._bytes_read = self._size

    def _chunks(self, raw: IO[bytes]) -> Iterator[_Chunk]:
        if self._pieces is not None:
            raw.seek(self._pieces[0].offset)
            for piece in self._pieces:
                text = raw.read(piece.length)
                if len(text) < piece.length:
                    raise UnreadableError("the file has become shorter since it was opened; start again")
                yield _Chunk(text, piece.first_line, raw.tell())
            if self._broken is not None:
                raise UnreadableError(self._broken)
            return
        for text, first_line in self.format.records(_Filled(unpacked(raw)), size=self._chunk):
            yield _Chunk(text, first_line, raw.tell())

    def partitions(self) -> Sequence[Source]:
        """Chunks, several where they are many. Where they begin, one worker finds out; how many rows they hold, all.

        A file that is packed, or in another encoding than UTF-8, can only be read from front to back.
        """
        if self._pieces is not None or not self._splits:
            return (self,)
        if self._parts is None:
            [(pieces, broken)] = spread(CsvSource._found_pieces, [self])
            step = self._chunks_a_part
            cut = [self._partition(0, None, _pieces=pieces[i : i + step]) for i in range(0, len(pieces), step)]
            if cut:
                cut[-1]._broken = broken
            counts = spread(CsvSource._counted, cut) if len(cut) > 1 else []
            starts = itertools.accumulate(counts, initial=0)
            self._parts = [
                self._partition(row, rows, _pieces=part._pieces, _broken=part._broken)
                for part, row, rows in zip(cut, starts, counts, strict=False)
            ]
        return self._parts if len(self._parts) > 1 else (self,)

    def partition_of(self, row: int) -> int:
        """What partition a row of the latest pass belongs to."""
        if not self._splits:
            return 0
        return (bisect.bisect_right(self._passed, row, key=lambda passed: passed.row) - 1) // self._chunks_a_part

    @property
    def _chunks_a_part(self) -> int:
        return min(max(self._size // (_PARTS * self._chunk), 1), _MOST_CHUNKS)

    @property
    def _chunk(self) -> int:
        """Bytes of a chunk: of a few rows at least, since work on each column of a chunk costs more than a cell."""
        return min(max(CHUNK, _ROWS * _CELL * len(self.format.columns)), _LARGEST)

    def _found_pieces(self) -> tuple[list[_Piece], str | None]:
        """Where chunks are, and why what follows them cannot be read: None where they are all."""
        pieces: list[_Piece] = []
        offset = self._start
        with self.place.open() as raw:
            try:
                for chunk in self._chunks(raw):
                    pieces.append(_Piece(offset, len(chunk.text), chunk.first_line))
                    offset += len(chunk.text)
            except (DataError, OSError) as error:
                if not self.declared.skip_unreadable:
                    raise self._refused(error) from error
                return pieces, str(error)
        return pieces, None

    def _counted(self) -> int:
        return sum(block.num_rows for block in self.blocks())

    def identity(self) -> Any:
        """The file, how it is written, and what is read of it."""
        return self.place, self.name, self.declared, self.format, self.first_row, self._pieces, self._broken

    def told(self) -> Any:
        """What there is to tell after a pass over a partition: also where its rows are in the file."""
        return super().told(), self._passed

    def hear(self, told: Any) -> None:
        """Take in what was told of a pass over the next partition."""
        own, passed = told
        super().hear(own)
        self._passed += passed

    def begin_pass(self) -> None:
        """Forget what was told of the pass before."""
        super().begin_pass()
        self._passed = []

    def _refused(self, error: Exception, line: int | None = None) -> DataError:
        """What cannot be read, by its place.

        Args:
            error: what was met.
            line: the last one that was read, or None.
        """
        unreadable = isinstance(error, (UnreadableError, OSError))
        if line is None or not unreadable:
            kind = UnreadableError if unreadable or self.declared.skip_unreadable else DataError
            return kind(f"cannot read {self.place}: {error}")
        where = f"behind line {line:,}, byte {self._bytes_read:,} of {self._size:,}"
        return UnreadableError(f"cannot read {self.place} {where}: {error}")

    @property
    def fraction_read(self) -> float | None:
        """How far the latest pass has come in the bytes of the file, from 0 to 1."""
        return min(self._bytes_read / self._size, 1.0) if self._size else None

    def line_of(self, row: int) -> int | None:
        """The line in which a row (from 0) of the latest pass begins, counted from 1; None for rows not read yet.

        Where rows and lines do not pair up, since a value holds line ends or a row was left out, that part of the file
        is read once more.
        """
        at = bisect.bisect_right(self._passed, row, key=lambda passed: passed.row) - 1
        if at < 0 or row - self._passed[at].row >= self._passed[at].rows:
            return None
        passed = self._passed[at]
        if passed.lines <= passed.rows:
            return passed.first_line + row - passed.row
        if self._lines[0] != passed:
            self._lines = passed, self._row_lines(passed)
        return self._lines[1][row - passed.row]

    def _row_lines(self, passed: _Passed) -> list[int]:
        if self.unchanged is not None:
            self.unchanged.check()
        lines: list[int] = []
        start = self.format.start + passed.offset
        with self.place.open() as raw:
            text: Readable = unpacked(raw)
            if self._splits:
                raw.seek(self._start + passed.offset)
                start = 0
            else:
                text = Utf8(text, self.format.encoding)
            for chunk, first_line in self.format.cut(text, start=start, first_line=passed.first_line):
                lines += self.format.row_lines(chunk, first_line)
                if len(lines) >= passed.rows:
                    break
        return lines


@dataclass(frozen=True, slots=True)
class _Passed:
    """A chunk that was handed out: its first row, rows, first line, place in the UTF-8 text of all rows, and lines."""

    row: int
    rows: int
    first_line: int
    offset: int
    lines: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """Where a chunk is: its first byte in the file, how many there are, and its first line."""

    offset: int
    length: int
    first_line: int


@dataclass(frozen=True, slots=True)
class _Chunk:
    text: bytes
    first_line: int
    bytes_read: int


@dataclass(frozen=True, slots=True, eq=False)
class _Parsed:
    number: int
    chunk: _Chunk
    rows: pa.RecordBatch | Exception
    lines: int
    problems: Problems


class _Filled:
    """A handle whose reads are full until the end, so that chunks are the same in every pass."""

    def __init__(self, handle: Readable) -> None:
        self._handle = handle

    def read(self, size: int, /) -> bytes:
        read = self._handle.read(size)
        while read and len(read) < size:
            try:
                more = self._handle.read(size - len(read))
            except UnreadableError:  # met again by whoever wants more
                break
            if not more:
                break
            read += more
        return read


def _first_block(handle: Readable, *, forgiving: bool) -> tuple[bytes, bool]:
    """The first bytes with at least two whole lines, and whether they are all.

    Args:
        handle: at its start.
        forgiving: whether it is enough that there are some, where what follows cannot be read.
    """
    filled = _Filled(handle)
    first = filled.read(FIRST_BLOCK)
    while len(first) % FIRST_BLOCK == 0 and first and max(first.count(b"\n"), first.count(b"\r")) < 3:
        if len(first) > LONGEST:
            raise DataError(f"its first line is longer than {LONGEST >> 20} MB; is the file a text table?")
        more = filled.read(FIRST_BLOCK)
        if not more:
            return first, True
        first += more
    try:
        return first, not filled.read(1)
    except UnreadableError:
        if forgiving and first:
            return first, False
        raise


def _parsed_ahead(chunks: Iterator[_Chunk], form: CsvFormat) -> Iterator[_Parsed]:
    """Parse chunks in threads, a few ahead of whoever asks, and hand them out in order."""
    lock = Lock()
    numbers = itertools.count()

    def parsed() -> _Parsed | None:
        problems = Problems()
        with lock:  # one thread at a time cuts, the others parse
            number = next(numbers)
            try:
                chunk = next(chunks, None)
            except Exception as error:
                return _Parsed(number, _Chunk(b"", 0, 0), error, 0, problems)
        if chunk is None:
            return None
        try:
            rows = form.parse(chunk.text, chunk.first_line, problems)
        except Exception as error:
            rows = error
        return _Parsed(number, chunk, rows, line_count(chunk.text), problems)

    early: dict[int, _Parsed] = {}  # a thread may overtake another before it takes its chunk
    wanted = 0
    pool = ThreadPoolExecutor(_THREADS)
    tasks: deque[Future[_Parsed | None]] = deque(pool.submit(parsed) for _ in range(_AHEAD))
    try:
        while tasks:
            done = tasks.popleft().result()
            if done is not None:
                early[done.number] = done
            while wanted in early:
                tasks.append(pool.submit(parsed))
                yield early.pop(wanted)
                wanted += 1
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
