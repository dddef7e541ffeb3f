"""Parquet, Arrow IPC and Feather files, read block by block."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assay.data.field import Declared
from assay.data.memory.arrays import block_rows
from assay.data.memory.tables import TableSource, viewless, without_views
from assay.data.names import columns_to_read
from assay.data.place import Place
from assay.data.source import Source
from assay.errors import DataError

# A file has about so many partitions, unless these would be smaller or larger than this.
_PARTS, _SMALLEST, _LARGEST = 64, 1 << 23, 1 << 28
_DAMAGE = (pa.ArrowException, OSError, EOFError)


class ArrowFileSource(Source):
    """A file whose columns Arrow knows beforehand; sensitive ones are never read.

    A kind of it has `_found_schema` and `_found_batches`.
    """

    _drops_sensitive = True
    _what = "an Arrow file"

    def __init__(self, place: Place, declared: Declared | None = None) -> None:
        super().__init__(place.name, declared)
        self.place = place
        with self._explained():
            self._found = self._found_schema()
        columns = columns_to_read(self._found.names, self.declared)
        self._positions, self._names = columns.positions, columns.names
        self.notes = columns.notes

    def _found_schema(self) -> pa.Schema:
        """All columns of the file; sets `rows` where the file tells them."""
        raise NotImplementedError

    def _found_batches(self) -> Iterator[pa.RecordBatch]:
        """The columns at `_positions`, in that order."""
        raise NotImplementedError

    def _arrow_schema(self) -> pa.Schema:
        kept = [self._found.field(i) for i in self._positions]
        called = [field.with_name(name) for field, name in zip(kept, self._names, strict=True)]
        return without_views(pa.schema(called))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        schema = self.arrow_schema
        batches = self._found_batches()
        while True:
            with self._explained():
                batch = next(batches, None)
            if batch is None:
                return
            yield viewless(batch.rename_columns(self._names), schema)

    def _wanted(self) -> pa.ipc.IpcReadOptions:
        # a choice of columns costs a copy
        whole = len(self._positions) == len(self._found)
        return pa.ipc.IpcReadOptions(included_fields=None if whole else self._positions)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGE as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0].strip().rstrip(".")
            raise DataError(
                f"cannot read {self.place}: it is not {self._what} that can be read, or it is damaged ({reason}); "
                "write or copy it again"
            ) from error


class ParquetSource(ArrowFileSource):
    """A Parquet file: opening reads its footer, a pass one block after the other."""

    _what = "a Parquet file"

    def __init__(self, place: Place, declared: Declared | None = None) -> None:
        super().__init__(place, declared)
        self._runs = _runs(self._groups, block_rows(len(self._positions)))

    def _found_schema(self) -> pa.Schema:
        with arrow_input(self.place) as handle, pq.ParquetFile(handle, pre_buffer=False) as file:
            about = file.metadata
            self.rows = about.num_rows
            groups = [about.row_group(i) for i in range(about.num_row_groups)]
            self._groups = [(group.num_rows, group.total_byte_size) for group in groups]
            return file.schema_arrow

    def _found_batches(self) -> Iterator[pa.RecordBatch]:
        names = [self._found.names[i] for i in self._positions]
        if not names:
            return
        picked: list[int] | None = None
        columns = list(dict.fromkeys(names))
        # with pre_buffer the whole file would be held
        with arrow_input(self.place) as handle, pq.ParquetFile(handle, pre_buffer=False) as file:
            for run in self._runs:
                groups = list(range(run.first, run.stop))
                for batch in file.iter_batches(block_rows(len(names)), row_groups=groups, columns=columns):
                    picked = picked or _picked(self._found.names, self._positions, batch.schema.names)
                    yield batch.select(picked)

    def partitions(self) -> Sequence[Source]:
        """Row groups, several where they are small."""
        return _run_partitions(self, self._runs)


class ArrowIpcSource(ArrowFileSource):
    """An Arrow IPC file, also called Feather version 2; a file on this machine is mapped, not copied."""

    def _found_schema(self) -> pa.Schema:
        with mapped_input(self.place) as handle, pa.ipc.open_file(handle) as reader:
            if hasattr(reader, "count_rows"):  # pyarrow 22
                self.rows = reader.count_rows()
            return reader.schema

    def _found_batches(self) -> Iterator[pa.RecordBatch]:
        with mapped_input(self.place) as handle, pa.ipc.open_file(handle, options=self._wanted()) as reader:
            runs = self._runs if self._runs is not None else [_Run(0, reader.num_record_batches, 0, 0, 0)]
            for run in runs if self._positions else ():
                for i in range(run.first, run.stop):
                    yield reader.get_batch(i)

    _runs: Sequence[_Run] | None = None

    def partitions(self) -> Sequence[Source]:
        """Batches, several where they are small."""
        if self._runs is not None:
            return (self,)
        runs, row = [], 0
        with self._explained(), mapped_input(self.place) as handle, pa.ipc.open_file(handle) as reader:
            for i in range(reader.num_record_batches):
                batch = reader.get_batch(i)
                runs.append(_Run(i, i + 1, row, batch.num_rows, batch.nbytes))
                row += batch.num_rows
        return _run_partitions(self, runs)


class ArrowStreamFileSource(ArrowFileSource):
    """A file that holds an Arrow IPC stream."""

    _what = "an Arrow stream"

    def _found_schema(self) -> pa.Schema:
        with mapped_input(self.place) as handle, pa.ipc.open_stream(handle) as reader:
            return reader.schema

    def _found_batches(self) -> Iterator[pa.RecordBatch]:
        with mapped_input(self.place) as handle, pa.ipc.open_stream(handle, options=self._wanted()) as reader:
            if self._positions:
                yield from reader


def open_feather(place: Place, declared: Declared) -> Source:
    """A Feather file of the first version, which can only be read whole."""
    import pyarrow.feather as pa_feather

    try:
        with arrow_input(place) as handle, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            table = pa_feather.read_table(handle)
    except _DAMAGE as error:
        raise DataError(f"cannot read {place}: it is a damaged Feather file; write it again as Parquet") from error
    source = TableSource(table, place.name, declared)
    source.notes = (*source.notes, "A Feather file of version 1 is read whole into memory.")
    return source


@dataclass(frozen=True, slots=True)
class _Run:
    """Row groups or batches that are read together: blocks never reach across the end of a run.

    Attributes:
        first, stop: numbers of the row groups.
        row: number of the first row in the file.
        rows: how many.
        size: in bytes.
    """

    first: int
    stop: int
    row: int
    rows: int
    size: int


def _runs(groups: Sequence[tuple[int, int]], fewest: int) -> list[_Run]:
    """Runs of row groups that hold at least one block, but for the last.

    Args:
        groups: rows and bytes of each row group.
        fewest: rows of a block.
    """
    runs = []
    first = row = rows = size = 0
    for i, (own, held) in enumerate(groups):
        rows, size = rows + own, size + held
        if rows >= fewest or i == len(groups) - 1:
            runs.append(_Run(first, i + 1, row, rows, size))
            first, row, rows, size = i + 1, row + rows, 0, 0
    return runs


def _run_partitions(source: Source, runs: Sequence[_Run]) -> Sequence[Source]:
    """A source that keeps its `_runs` as several, each of some megabytes."""
    total = sum(run.size for run in runs)
    wanted = min(max(total // _PARTS, _SMALLEST), _LARGEST)
    parts: list[list[_Run]] = []
    size = wanted
    for run in runs:
        if size >= wanted:
            parts.append([])
            size = 0
        parts[-1].append(run)
        size += run.size
    if len(parts) < 2:
        return (source,)
    return [source._partition(source.first_row + own[0].row, sum(run.rows for run in own), _runs=own) for own in parts]


def arrow_input(place: Place) -> Any:
    """The bytes of a place as pyarrow reads them, seekable; whoever opens closes."""
    if place.filesystem is not None:
        return place.filesystem.open_input_file(place.path)
    return pa.OSFile(place.path)


def mapped_input(place: Place) -> Any:
    """The bytes of a place, mapped into memory where it is on this machine."""
    return arrow_input(place) if place.filesystem is not None else pa.memory_map(place.path)


def _picked(found: list[str], positions: list[int], given: list[str]) -> list[int]:
    """Where the wanted columns are among those given; a choice by name brings all that have the name.

    Args:
        found: names of all columns of the file.
        positions: of those that are wanted.
        given: names of the columns that were read, equal ones in the order of the file.
    """
    where: dict[str, list[int]] = {}
    for i, name in enumerate(given):
        where.setdefault(name, []).append(i)
    earlier: dict[str, int] = {}
    copies = []
    for name in found:
        copies.append(earlier.get(name, 0))
        earlier[name] = copies[-1] + 1
    return [where[found[i]][copies[i]] for i in positions]
