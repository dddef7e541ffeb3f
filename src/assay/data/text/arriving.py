"""Text tables that arrive: standard input, and a file that somebody is still writing."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

import pyarrow as pa

from assay.data.field import Declared
from assay.data.place import Place
from assay.data.streams import OnePassSource
from assay.data.text.encodings import Readable, unpacked
from assay.data.text.format import FIRST_BLOCK, CsvFormat
from assay.errors import DataError, ParameterError

Waiting: TypeAlias = Callable[[float], bool]

# A stream that is silent for so many seconds is taken by what it said so far.
_QUIET = 0.5


class TextStream(OnePassSource):
    """A text table from a handle that cannot go back; rows are handed on as they come.

    Args:
        name: how reports call it.
        opened: gives a handle, of which a read returns what is there and nothing only at the end; and a function that
            tells whether more comes within so many seconds.
        declared: what the user says about columns.
        how: delimiter, encoding, decimal, header, as `CsvFormat.sniffed` takes them.
    """

    _drops_sensitive = True

    def __init__(
        self, name: str, opened: Callable[[], tuple[Readable, Waiting]], declared: Declared | None = None, **how: Any
    ) -> None:
        super().__init__(name, declared)
        self._open = opened
        self._how = how

    def _arriving(self) -> Iterator[pa.RecordBatch]:
        handle, waiting = self._open()
        try:
            first, complete = first_rows(handle, waiting)
            form = CsvFormat.sniffed(first, complete, declared=self.declared, **self._how)
            self.notes = form.notes
            for text, line in form.records(handle, first=first):
                batch = form.parse(text, line, self.problems)
                if batch.num_rows:
                    yield batch
        except DataError as error:
            raise DataError(f"cannot read {self.name}: {error}") from None


def stdin_source(
    declared: Declared | None = None,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
) -> TextStream:
    """Standard input as a source, packed or not."""
    if sys.stdin is None or sys.stdin.isatty():
        raise DataError("cannot read standard input: nothing is piped into it; try `cat table.csv | assay report -`")
    how = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal, "header": header}
    return TextStream("standard input", piped, declared, **how)


def piped() -> tuple[Readable, Waiting]:
    """Standard input as a handle, unpacked, and whether more comes soon."""
    pipe = _Piped(sys.stdin.buffer)
    return unpacked(cast("IO[bytes]", pipe)), pipe.waiting


class GrowingFile(TextStream):
    """A text file that is followed as it grows.

    Args:
        place: of the file, on this machine.
        declared: what the user says about columns.
        idle: seconds without a new byte after which the file is taken to be complete; None waits for ever.
        poll: seconds between looks.
        delimiter, encoding, decimal, header: as `CsvFormat.sniffed` takes them.
    """

    def __init__(
        self,
        place: Place,
        declared: Declared | None = None,
        *,
        idle: float | None = None,
        poll: float = 0.2,
        delimiter: str | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        header: bool | None = None,
    ) -> None:
        if place.filesystem is not None:
            raise ParameterError(f"only a file on this machine can be followed; {place} is elsewhere")
        if poll <= 0 or (idle is not None and idle < 0):
            raise ParameterError(f"poll is above 0 and idle is not below 0; got {poll} and {idle}")
        how = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal, "header": header}

        def opened() -> tuple[Readable, Waiting]:
            followed = Followed(Path(place.path), idle, poll)
            return followed, followed.waiting

        super().__init__(place.name, opened, declared, **how)


class _Piped:
    """What is in a pipe, in pieces as large as asked for unless the writer pauses."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def read(self, size: int, /) -> bytes:
        parts, length = [], 0
        while length < size:
            part = self._raw.read1(size - length)
            if not part:
                break
            parts.append(part)
            length += len(part)
            if not self.waiting(0.05):
                break
        return b"".join(parts)

    def waiting(self, seconds: float) -> bool:
        """Whether more comes soon; a handle that cannot tell is taken to be a whole file."""
        try:
            return bool(select.select([self._raw], [], [], seconds)[0])
        except (OSError, ValueError, TypeError):
            return True

    def seekable(self) -> bool:
        return False


class Followed:
    """A file's bytes, and then those that are added, until nothing was added for a while."""

    def __init__(self, path: Path, idle: float | None, poll: float) -> None:
        self._handle = path.open("rb")
        self._path = path
        self._idle = idle
        self._poll = poll

    def read(self, size: int, /) -> bytes:
        """What is there, or comes; nothing once nothing came for a while."""
        last = time.monotonic()
        while not self._handle.closed:
            found = self._handle.read(size)
            if found:
                return found
            if self._path.exists() and self._path.stat().st_size < self._handle.tell():
                self._handle.close()
                raise DataError("the file became shorter while it was followed; was it replaced?")
            if self._idle is not None and time.monotonic() - last >= self._idle:
                self._handle.close()
                return b""
            time.sleep(self._poll)
        return b""

    def seek(self, offset: int) -> None:
        """Go on from a byte."""
        self._handle.seek(offset)

    def close(self) -> None:
        """Read no more."""
        self._handle.close()

    def waiting(self, seconds: float) -> bool:
        """Whether more comes soon."""
        end = time.monotonic() + seconds
        while self._path.stat().st_size <= self._handle.tell():
            if time.monotonic() >= end:
                return False
            time.sleep(min(self._poll, seconds))
        return True


def first_rows(handle: Readable, waiting: Waiting) -> tuple[bytes, bool]:
    """Enough to know the columns: the first block, or what came before the first pause with two whole lines."""
    first = b""
    while len(first) < FIRST_BLOCK:
        if first.count(b"\n") > 2 and not waiting(_QUIET):
            return first, False
        more = handle.read(FIRST_BLOCK - len(first))
        if not more:
            return first, True
        first += more
    return first, False
