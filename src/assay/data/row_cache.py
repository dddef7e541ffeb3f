"""Rows kept after the first pass, so that a second pass costs nothing, or is possible at all."""

from __future__ import annotations

import io
import tempfile
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import IO, Any

import pyarrow as pa

from assay.data.derived import DerivedSource
from assay.data.field import Field
from assay.data.source import Source
from assay.data.streams import OnePassSource
from assay.errors import DataError
from assay.system_errors import with_remedy

# Up to this many bytes of Arrow data are kept in memory.
KEPT_BYTES = 1 << 28
_MANY_COLUMNS = 1000  # of these whole buffers are counted: what each holds of them takes 20 times as long to tell


class KeptSource(DerivedSource):
    """A source whose rows are kept while they are read for the first time.

    Up to a limit they stay in memory. Beyond it, a source that can be read again is read again; a stream goes to a
    temporary file on disk without a name, which is gone with this object, however the process ends.

    Args:
        source: the rows.
        limit: bytes of Arrow data kept in memory.
    """

    def __init__(self, source: Source, limit: int = KEPT_BYTES) -> None:
        super().__init__(source, source.declared)
        self._limit = limit
        self._memory: list[tuple[int, pa.RecordBatch]] | None = None
        self._disk: _Spill | None = None

    @cached_property
    def schema(self) -> tuple[Field, ...]:
        """The columns with their kinds."""
        return self.source.schema

    @property
    def in_memory(self) -> bool:
        """Whether a whole pass has been kept in memory."""
        return self._memory is not None

    @property
    def portable(self) -> bool:
        """Whether the rows can be read elsewhere: not those that were kept here."""
        return not self.in_memory and self._disk is None and self.source.portable

    def partitions(self) -> Sequence[Source]:
        """Those of the source."""
        return self.source.partitions()

    def identity(self) -> Any:
        """That of the source, where rows are read from it."""
        return (self.source,) if self.portable else None

    def told(self) -> Any:
        """What there is to tell after a pass."""
        return self.source.told()

    def hear(self, told: Any) -> None:
        """Take in what was told of a pass over the next partition of the source, which hears it too."""
        if not self._heard:
            self.source.begin_pass()
            self._heard = True
        self.source.hear(told)
        self.problems, self.rows_read = self.source.problems, self.source.rows_read

    @property
    def fraction_read(self) -> float | None:
        """How far the latest pass has come, from 0 to 1."""
        if self.in_memory or self._disk is not None:
            return super().fraction_read
        return self.source.fraction_read

    def _arrow_schema(self) -> pa.Schema:
        return self.source.arrow_schema

    _drops_sensitive = True

    def _numbered_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        if self._memory is not None:
            self.problems = self.source.problems
            yield from self._memory
        elif self._disk is not None:
            self.problems = self.source.problems
            yield from super()._numbered_batches()
        else:
            yield from self._first_pass()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        assert self._disk is not None  # as _numbered_batches asks
        return self._disk.read_back()

    def _first_pass(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        memory: list[tuple[int, pa.RecordBatch]] | None = []
        size = 0
        spill: _Spill | None = None
        for row, batch in self.source.numbered_blocks():
            self.problems = self.source.problems
            size += _bytes(batch)
            if memory is not None and size > self._limit:
                if isinstance(self.source, OnePassSource):
                    spill = _Spill(self.arrow_schema)
                    for _, kept in memory:
                        spill.write(kept)
                memory = None
            if memory is not None:
                memory.append((row, batch))
            elif spill is not None:
                spill.write(batch)
            yield row, batch
        self.rows = self.source.rows_read
        self._memory = memory
        if spill is not None:
            self._disk = spill.closed()


def _bytes(batch: pa.RecordBatch) -> int:
    if batch.num_columns > _MANY_COLUMNS:
        return int(batch.get_total_buffer_size())
    try:
        return int(batch.nbytes)
    except pa.ArrowTypeError:  # up to version 21, of views of lists; all of what they look at
        return int(batch.get_total_buffer_size())


class _Spill:
    """Batches on their way to a temporary file, and back."""

    def __init__(self, schema: pa.Schema) -> None:
        with self._disk_errors():
            self._file: IO[bytes] = tempfile.TemporaryFile(prefix="assay-")  # noqa: SIM115  # outlives this call
            weakref.finalize(self, self._file.close)
            self._writer = pa.ipc.new_file(self._file, schema)
        self._reading = threading.Lock()

    def write(self, batch: pa.RecordBatch) -> None:
        with self._disk_errors():
            self._writer.write_batch(batch)

    def closed(self) -> _Spill:
        with self._disk_errors():
            self._writer.close()
            self._file.flush()
        return self

    def read_back(self) -> Iterator[pa.RecordBatch]:
        with pa.ipc.open_file(_Reader(self._file, self._reading)) as reader:
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DataError(
                f"cannot keep the rows of a stream for a second pass in {tempfile.gettempdir()}: {with_remedy(error)}, "
                "by the environment variable TMPDIR"
            ) from error


class _Reader(io.RawIOBase):
    """A place of its own in a file that several read."""

    def __init__(self, file: IO[bytes], lock: threading.Lock) -> None:
        super().__init__()
        self._file, self._lock, self._at = file, lock, 0
        with lock:
            self._size = file.seek(0, io.SEEK_END)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        with self._lock:
            self._file.seek(self._at)
            found = self._file.read(self._size - self._at if size is None or size < 0 else size)
        self._at += len(found)
        return found
