"""Parquet, Arrow IPC and Feather files, read block by block."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assay.data.arrow_validation import refuse_unsound
from assay.data.field import Declared
from assay.data.formats.feather_metadata import check_feather
from assay.data.memory.arrays import block_rows
from assay.data.memory.tables import TableSource, viewless, without_views
from assay.data.names import columns_to_read, refuse_many
from assay.data.place import Place
from assay.data.source import Source
from assay.errors import UnreadableError

# A file has about so many partitions, unless these would be smaller or larger than this.
_PARTS, _SMALLEST, _LARGEST = 64, 1 << 23, 1 << 28
_DAMAGE = (pa.ArrowException, OSError, EOFError, UnicodeDecodeError)
UNREADABLE_ROWS = "rows that cannot be read, left out"


@dataclass(frozen=True, slots=True)
class _Run:
    """Row groups or batches that are read together: blocks never reach across the end of a run.

    Attributes:
        first, stop: numbers of the row groups.
        row: number of the first row in the file.
        rows: how many; None where only reading them tells.
        size: in bytes.
    """

    first: int
    stop: int
    row: int
    rows: int | None
    size: int


_WHOLE = _Run(0, 1, 0, None, 0)


class ArrowFileSource(Source):
    """A file whose columns Arrow knows beforehand; sensitive ones are never read.

    A kind of it has `_found_schema`, `_reader`, `_runs` and `_read`.
    """

    _drops_sensitive = True
    _what = "an Arrow file"
    _unit = "batch"

    def __init__(self, place: Place, declared: Declared | None = None) -> None:
        super().__init__(place.name, declared)
        self.place = place
        with self._explained():
            self._found = self._found_schema()
            names = self._found.names
        refuse_many(len(names), str(place))
        columns = columns_to_read(names, self.declared)
        self._positions, self._names = columns.positions, columns.names
        self.notes = columns.notes

    def _found_schema(self) -> pa.Schema:
        """All columns of the file; sets `rows` where the file tells them."""
        raise NotImplementedError

    def _reader(self) -> AbstractContextManager[Any]:
        """The open file."""
        raise NotImplementedError

    def _read(self, reader: Any, run: _Run) -> Iterator[pa.RecordBatch]:
        """The columns at `_positions` of some rows, in that order."""
        raise NotImplementedError

    _runs: Sequence[_Run]

    def identity(self) -> Any:
        """The file, and what is read of it."""
        return self.place, self.name, self.declared, self._positions, self._names, self.first_row, self._runs

    def _arrow_schema(self) -> pa.Schema:
        kept = [self._found.field(i) for i in self._positions]
        called = [field.with_name(name) for field, name in zip(kept, self._names, strict=True)]
        return without_views(pa.schema(called))

    def _numbered_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        if not self._positions:
            return
        row = self.first_row
        with self._explained(), self._reader() as reader:
            for run in self._runs:
                yield from self._rows_of(reader, run, row, row)
                row += run.rows or 0

    def _rows_of(self, reader: Any, run: _Run, row: int, done: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows of a run that begins at a row, without those before `done`.

        Where damage is met, what is left of the run is read in its smallest pieces, and those that cannot be read are
        left out or refused: the same for everybody who reads the run.
        """
        schema, start, number = self.arrow_schema, row, 0
        batches = self._read(reader, run)
        while True:
            batch = None
            try:
                batch = next(batches, None)
                if batch is None:
                    return
                refuse_unsound(batch)
            except _DAMAGE as error:
                if batch is not None and run.rows is None:  # of a stream: what comes next can be read
                    self._leave_out(_Run(number, number + 1, row, None, 0), row, row + batch.num_rows, error)
                    row, number = row + batch.num_rows, number + 1
                    continue
                row, pieces = max(row, done), self._pieces(run)
                if len(pieces) < 2:
                    self._leave_out(run, row, None if run.rows is None else start + run.rows, error)
                for piece in pieces if len(pieces) > 1 else ():
                    if start + (piece.rows or 0) > row:
                        yield from self._rows_of(reader, piece, start, row)
                    start += piece.rows or 0
                return
            number += 1
            known = max(0, done - row)
            if batch.num_rows > known:
                yield row + known, viewless(batch.slice(known).rename_columns(self._names), schema)
            row += batch.num_rows

    def _pieces(self, run: _Run) -> Sequence[_Run]:
        """The smallest pieces in which a run can be read."""
        return (run,)

    def _leave_out(self, run: _Run, row: int, end: int | None, error: Exception) -> None:
        """Count what is left of a piece as rows that cannot be read; refuse it where that is not wanted."""
        place = f"{self._unit} {run.first + 1:,}, rows {row + 1:,} to {end:,}" if end is not None else ""
        if not self.declared.skip_unreadable or end is None:
            where = f"in {place}" if place else f"from row {row + 1:,} on"
            raise UnreadableError(
                f"cannot read {self.place}: it is damaged {where} ({_reason(error)}); write or copy it again, or "
                "leave out what cannot be read by skip_unreadable (--skip-unreadable)"
            ) from error
        self.problems.add_stretch(UNREADABLE_ROWS, place, end - row)

    def _wanted(self) -> pa.ipc.IpcReadOptions:
        # a choice of columns costs a copy
        whole = len(self._positions) == len(self._found)
        return pa.ipc.IpcReadOptions(included_fields=None if whole else self._positions)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGE as error:
            raise UnreadableError(
                f"cannot read {self.place}: it is not {self._what} that can be read, or it is damaged "
                f"({_reason(error)}); write or copy it again"
            ) from error


class ParquetSource(ArrowFileSource):
    """A Parquet file: opening reads its footer, a pass one block after the other."""

    _what = "a Parquet file"
    _unit = "row group"

    def __init__(self, place: Place, declared: Declared | None = None) -> None:
        super().__init__(place, declared)
        self._runs = _runs(self._groups, block_rows(len(self._positions)))
        self._picked: list[int] | None = None

    @contextmanager
    def _reader(self) -> Iterator[pq.ParquetFile]:
        # with pre_buffer the whole file would be held; checksums are looked at where the file has some
        how = {"pre_buffer": False, "page_checksum_verification": True}
        with arrow_input(self.place) as handle, pq.ParquetFile(handle, **how) as file:
            yield file

    def _found_schema(self) -> pa.Schema:
        with self._reader() as file:
            about = file.metadata
            self.rows = about.num_rows
            groups = [about.row_group(i) for i in range(about.num_row_groups)]
            self._groups = [(group.num_rows, group.total_byte_size) for group in groups]
            return file.schema_arrow

    def _pieces(self, run: _Run) -> Sequence[_Run]:
        return [_Run(i, i + 1, 0, *self._groups[i]) for i in range(run.first, run.stop)]

    def _read(self, reader: Any, run: _Run) -> Iterator[pa.RecordBatch]:
        found = self._found.names  # made anew at each look: within the list, 150,000 columns take minutes
        names = [found[i] for i in self._positions]
        columns, groups = list(dict.fromkeys(names)), list(range(run.first, run.stop))
        for batch in reader.iter_batches(block_rows(len(names)), row_groups=groups, columns=columns):
            self._picked = self._picked or _picked(found, self._positions, batch.schema.names)
            yield batch.select(self._picked)

    def partitions(self) -> Sequence[Source]:
        """Row groups, several where they are small."""
        return _run_partitions(self, self._runs)


class ArrowIpcSource(ArrowFileSource):
    """An Arrow IPC file, also called Feather version 2."""

    def _found_schema(self) -> pa.Schema:
        with arrow_input(self.place) as handle, pa.ipc.open_file(handle) as reader:
            with suppress(*_DAMAGE):  # where rows cannot be counted, a pass over them says which
                if hasattr(reader, "count_rows"):  # pyarrow 22
                    self.rows = reader.count_rows()
            return reader.schema

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        with arrow_input(self.place) as handle, pa.ipc.open_file(handle, options=self._wanted()) as reader:
            yield reader

    def _read(self, reader: Any, run: _Run) -> Iterator[pa.RecordBatch]:
        for i in range(run.first, run.stop):
            yield reader.get_batch(i)

    @cached_property
    def _runs(self) -> Sequence[_Run]:  # type: ignore[override]
        """One for each batch; a batch of which nothing can be read is taken for empty."""
        with self._explained():
            counts = _batch_rows(self.place, sorted(self._positions, key=lambda i: _width(self._found.field(i).type)))
        size, row, runs = self.place.size, 0, []
        for i, rows in enumerate(counts):
            runs.append(_Run(i, i + 1, row, rows, size * rows // max(sum(counts), 1)))
            row += rows
        return runs

    def partitions(self) -> Sequence[Source]:
        """Batches, several where they are small."""
        return _run_partitions(self, self._runs)


class ArrowStreamFileSource(ArrowFileSource):
    """A file that holds an Arrow IPC stream."""

    _what = "an Arrow stream"

    def _found_schema(self) -> pa.Schema:
        with arrow_input(self.place) as handle, pa.ipc.open_stream(handle) as reader:
            return reader.schema

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        with arrow_input(self.place) as handle, pa.ipc.open_stream(handle, options=self._wanted()) as reader:
            yield reader

    _runs = (_WHOLE,)

    def _read(self, reader: Any, run: _Run) -> Iterator[pa.RecordBatch]:
        return iter(reader)


def open_feather(place: Place, declared: Declared) -> Source:
    """A Feather file of the first version, which can only be read whole."""
    import pyarrow.feather as pa_feather

    check_feather(place)
    try:
        with arrow_input(place) as handle, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            table = pa_feather.read_table(handle)
            source = TableSource(table, place.name, declared)
    except _DAMAGE as error:
        raise UnreadableError(
            f"cannot read {place}: it is a damaged Feather file; write it again as Parquet"
        ) from error
    source.notes = (*source.notes, "A Feather file of version 1 is read whole into memory.")
    return source


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].strip().rstrip(".")


def _batch_rows(place: Place, columns: Sequence[int]) -> list[int]:
    """Rows of each batch of an Arrow file, by its first column; where that is damaged, by the first that is not.

    Args:
        place: the file.
        columns: which may be read, those first that are quickest to read.
    """
    counts: dict[int, int] = {}
    for column in columns:
        with arrow_input(place) as handle:
            only = pa.ipc.IpcReadOptions(included_fields=[column])
            reader = pa.ipc.open_file(handle, options=only)
            for i in range(reader.num_record_batches):
                if i not in counts:
                    with suppress(*_DAMAGE):
                        counts[i] = reader.get_batch(i).num_rows
            if len(counts) == reader.num_record_batches:
                break
    return [counts.get(i, 0) for i in range(reader.num_record_batches)] if columns else []


def _width(type_: pa.DataType) -> int:
    """Bits of a value; of text and what is nested, more than of any number."""
    try:
        return int(type_.bit_width)
    except ValueError:
        return 0 if pa.types.is_null(type_) else 1 << 10


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
    return [
        source._partition(source.first_row + own[0].row, sum(run.rows or 0 for run in own), _runs=own) for own in parts
    ]


def arrow_input(place: Place) -> Any:
    """The bytes of a place as pyarrow reads them, seekable; whoever opens closes.

    A file is not mapped into memory: where it is cut short or its disk fails during a pass, a read ends with an error,
    and a mapping with the process.
    """
    if place.filesystem is not None:
        return place.filesystem.open_input_file(place.path)
    return pa.OSFile(place.path)


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
