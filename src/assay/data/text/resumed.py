"""Rows from where reading ended the last time: text tables and JSON lines, from a file, a growing one, or a pipe.

A position is what the next reader needs: how much of the text has become rows, and by which first bytes the form was
found, so that it is found again just so although the file has grown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from assay.data.field import Declared
from assay.data.formats.json_format import JsonFormat
from assay.data.formats.lines import LineChunk, whole_lines
from assay.data.formats.recognise import format_of
from assay.data.place import Place
from assay.data.problems import Problems
from assay.data.read import read
from assay.data.source import Source
from assay.data.text.arriving import Followed, Waiting, first_rows, piped
from assay.data.text.chunks import line_count
from assay.data.text.encodings import Readable, Rejoined, Utf8, encoding_of, is_packed, unpacked
from assay.data.text.format import CsvFormat
from assay.errors import DataError, FileFormatError

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Position:
    """Where reading ended.

    Attributes:
        rows: handed out.
        offset: bytes of the text, as UTF-8, that have become rows or stand before them.
        line: the next one, from 1.
        shown: first bytes by which the form was found; 0 where there is no text to return to.
        complete: whether these were all there was.
        digest: of these bytes.
    """

    rows: int = 0
    offset: int = 0
    line: int = 1
    shown: int = 0
    complete: bool = False
    digest: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Ready for a file."""
        return asdict(self)

    @classmethod
    def of(cls, known: dict[str, Any]) -> Position:
        """From what a file holds; the start where it holds nothing."""
        try:
            found = cls(**known)
        except TypeError as error:
            raise FileFormatError(f"the file holds no position in a stream ({error})") from error
        if min(found.rows, found.offset, found.shown, found.line - 1) < 0:
            raise FileFormatError("the file holds no position in a stream: a count is below 0")
        return found


class Feed:
    """Rows with the position behind each block.

    Attributes:
        name: how messages call it.
        position: behind the block handed out last.
        held: bytes of a last line without its end, which was left for the next time.
    """

    def __init__(self, name: str, position: Position) -> None:
        self.name = name
        self.position = position
        self.held = 0

    def blocks(self) -> Iterator[tuple[pa.RecordBatch, Problems]]:
        """Blocks of rows, each with what was wrong on the way to it."""
        raise NotImplementedError


class SourceFeed(Feed):
    """A source that is read from its start, the rows known already left out."""

    def __init__(self, source: Source, position: Position) -> None:
        super().__init__(source.name, position)
        self._source = source

    def blocks(self) -> Iterator[tuple[pa.RecordBatch, Problems]]:
        """Blocks of new rows."""
        skip = self.position.rows
        known: dict[tuple[str, str | None], int] = {}
        for batch in self._source.blocks():
            new = Problems()
            for problem in self._source.problems:  # counted from the start of the pass
                before = known.get((problem.what, problem.column), 0)
                if problem.count > before:
                    place, value = problem.examples[-1] if problem.examples else ("", None)
                    new.add(problem.what, column=problem.column, place=place, value=value, count=problem.count - before)
                known[problem.what, problem.column] = problem.count
            left_out = min(skip, batch.num_rows)
            skip -= left_out
            if left_out == batch.num_rows:
                continue
            self.position = Position(self.position.rows + batch.num_rows - left_out)
            yield batch.slice(left_out), new


class TextFeed(Feed):
    """A text table or JSON lines.

    Args:
        name: how messages call it.
        opened: gives a handle at the start of the text, and a function that tells whether more comes soon.
        declared: what the user says about columns.
        position: where to go on.
        seek: moves the handle to a byte; None where it cannot go there at once.
        close: ends the use of the handle.
        skip: rows to leave out, of a text that begins anew.
        hold_last: leave a last line without its end for the next time.
    """

    def __init__(
        self,
        name: str,
        opened: Callable[[], tuple[Readable, Waiting]],
        declared: Declared,
        position: Position,
        *,
        seek: Callable[[int], object] | None = None,
        close: Callable[[], object] | None = None,
        skip: int = 0,
        hold_last: bool = False,
        **how: Any,
    ) -> None:
        super().__init__(name, position)
        self._opened, self._declared, self._seek = opened, declared, seek
        self._skip, self._hold_last, self._how = skip, hold_last, how
        self._close = close

    def blocks(self) -> Iterator[tuple[pa.RecordBatch, Problems]]:
        """Blocks of rows as they come."""
        try:
            yield from self._blocks()
        except DataError as error:
            raise DataError(f"cannot read {self.name}: {error}") from None
        except _Ended as end:
            self.held = end.place - self.position.offset
        finally:
            if self._close is not None:
                self._close()

    def _blocks(self) -> Iterator[tuple[pa.RecordBatch, Problems]]:
        handle, waiting = self._opened()
        first, complete = self._first(handle, waiting)
        for text, parse in self._chunks(handle, first, complete):
            problems = Problems()
            batch = parse(problems)
            here = self.position
            offset, line = here.offset + len(text), here.line + line_count(text)
            left_out = min(self._skip, batch.num_rows)
            self._skip -= left_out
            rows = here.rows + batch.num_rows - left_out
            self.position = Position(rows, offset, line, len(first), complete, here.digest)
            yield batch.slice(left_out), problems

    def _first(self, handle: Readable, waiting: Waiting) -> tuple[bytes, bool]:
        """The bytes by which the form is found: new ones, or the same as before."""
        here = self.position
        if not here.shown:
            first, complete = first_rows(handle, waiting)
            if not first.strip():
                raise DataError("it ended before its first row")
            self.position = Position(here.rows, 0, 1, len(first), complete, _digest(first))
            return first, complete
        first = b""
        while len(first) < here.shown and (more := handle.read(here.shown - len(first))):
            first += more
        if _digest(first) != here.digest:
            raise DataError("it does not begin as it did when the state was saved; give another state, or none")
        return first, here.complete

    def _chunks(
        self, handle: Readable, first: bytes, complete: bool
    ) -> Iterator[tuple[bytes, Callable[[Problems], pa.RecordBatch]]]:
        """Whole records, each with what makes rows of them."""
        here = self.position
        if first.removeprefix(_MARK).lstrip()[:1] == b"[":
            raise DataError("it is a JSON array, which has no end while it grows; write one object a line")
        if first.removeprefix(_MARK).lstrip()[:1] == b"{":
            yield from self._json_chunks(handle, first, complete)
            return
        form = CsvFormat.sniffed(first, complete, declared=self._declared, **self._how)
        self._declared.check([*form.schema.names, *self._declared.sensitive])
        if not here.offset:
            self.position = Position(here.rows, form.start, form.first_line, here.shown, here.complete, here.digest)
        text, start = self._from(handle, first, form.encoding)
        for chunk, line in form.cut(text, start=start, first_line=self.position.line):
            yield chunk, lambda problems, chunk=chunk, line=line: form.parse(chunk, line, problems)  # type: ignore[misc]

    def _json_chunks(
        self, handle: Readable, first: bytes, complete: bool
    ) -> Iterator[tuple[bytes, Callable[[Problems], pa.RecordBatch]]]:
        encoding, _ = encoding_of(first, complete=complete)
        plain = Utf8(Rejoined(first, _Nothing()), encoding).read(len(first))
        whole = plain if complete else plain[: plain.rfind(b"\n") + 1]
        form = JsonFormat(LineChunk(whole, 1), self._declared)
        text, start = self._from(handle, first, encoding)
        while start and (read := text.read(min(start, 1 << 22))):
            start -= len(read)
        begun = self.position.line

        def parsed(problems: Problems, chunk: LineChunk) -> pa.RecordBatch:
            found = form.parse(chunk)
            problems.extend(found.problems)
            return found.batch

        for chunk in whole_lines(text.read):
            placed = LineChunk(chunk.text, chunk.line + begun - 1)
            yield chunk.text, lambda problems, placed=placed: parsed(problems, placed)  # type: ignore[misc]

    def _from(self, handle: Readable, first: bytes, encoding: str) -> tuple[Readable, int]:
        """The text from where to go on, and how many bytes are still to be left out."""
        offset = self.position.offset
        if self._seek is not None and offset > len(first) and encoding in ("utf-8", "ascii"):
            self._seek(offset + len(_MARK) * first.startswith(_MARK))
            return _Unfinished(handle, offset) if self._hold_last else handle, 0
        whole = Utf8(Rejoined(first, handle), encoding)
        return _Unfinished(whole, 0) if self._hold_last else whole, offset


class _Ended(Exception):  # noqa: N818  not an error
    """The text ended, at a place, and may go on later."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place


class _Unfinished:
    """A text whose end is not the end of its last record, which may be half written."""

    def __init__(self, handle: Readable, place: int) -> None:
        self._handle = handle
        self._place = place

    def read(self, size: int, /) -> bytes:
        read = self._handle.read(size)
        if not read:
            raise _Ended(self._place)
        self._place += len(read)
        return read


class _Nothing:
    def read(self, size: int, /) -> bytes:
        return b""


def feed_of(
    data: str,
    declared: Declared,
    position: Position,
    *,
    follow: bool = False,
    idle: float | None = None,
    replayed: bool = False,
    hold_last: bool = False,
    **how: Any,
) -> Feed:
    """Open what is to be watched.

    Args:
        data: a file or "-" for standard input, or whatever else `assay.read` takes.
        declared: what the user says about columns.
        position: where reading ended, or the start.
        follow: wait for more at the end of a file.
        idle: seconds without more after which a followed file is taken to be complete; None waits for ever.
        replayed: standard input begins with the rows that were read before, which are left out.
        hold_last: leave a last line without its end for the next time.
        how: options of the format.
    """
    if data == "-":
        here = Position(rows=position.rows)
        skip = position.rows if replayed else 0
        return TextFeed("standard input", piped, declared, here, skip=skip, **how)
    place = Place.of(data) if Path(data).is_file() else None
    if place is None or format_of(place) not in ("csv", "json"):
        said: dict[str, Any] = {"kinds": declared.kinds, "units": declared.units, "sensitive": declared.sensitive}
        if follow:
            raise DataError(f"cannot follow {data}: only a text table or JSON lines can be followed as they grow")
        return SourceFeed(read(data, **said, **how), position)
    return _file_feed(place, declared, position, None if not follow else (idle,), hold_last, how)


def _file_feed(
    place: Place,
    declared: Declared,
    position: Position,
    followed: tuple[float | None] | None,
    hold_last: bool,
    how: dict[str, Any],
) -> TextFeed:
    path = Path(place.path)
    with path.open("rb") as handle:
        packed = is_packed(handle.read(6))
    if packed:
        if followed is not None:
            raise DataError(f"cannot follow {place.name}: it is packed; unpack it as it is written")
        packed_file = place.open()
        reader = unpacked(packed_file)
        return TextFeed(
            place.name, lambda: (reader, lambda _: True), declared, position, close=packed_file.close, **how
        )
    if position.offset > path.stat().st_size:
        raise DataError(f"cannot read {place.name}: it is shorter than what was read of it before; was it replaced?")
    growing = Followed(path, 0.0 if followed is None else followed[0], 0.1)
    return TextFeed(
        place.name,
        lambda: (growing, growing.waiting if followed is not None else lambda _: True),
        declared,
        position,
        seek=growing.seek,
        close=growing.close,
        hold_last=hold_last,
        **how,
    )


def _digest(first: bytes) -> str:
    return hashlib.sha256(first).hexdigest()
