"""A source of rows: its columns are known at once, its rows are read block by block when asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.data.columns.kinds import understood
from assay.data.field import Declared, Field
from assay.data.file_fingerprint import Unchanged
from assay.data.problems import Problems
from assay.errors import AssayError, UnreadableError
from assay.shown import visible

UNREADABLE_STRETCHES = "stretches of a file that cannot be read, left out"
# Rows of a block at most; blocks are cut by the source, so that results do not depend on who reads it.
BLOCK_ROWS = 1 << 16


class Source(ABC):
    """Rows that can be read again and again, in blocks.

    A kind of source has `_arrow_schema` and `_batches` (or `_numbered_batches`); what is common to all is here: columns
    are understood from the first block, sensitive ones never leave, and what was wrong is kept for each pass.

    Attributes:
        name: how reports call the data.
        rows: how many rows there are, or None where that is known only at the end.
        notes: what was decided while opening, in sentences.
        declared: what the user said about the columns.
        problems: what was wrong in the latest pass over the rows.
        rows_read: rows handed out by the latest pass.
        first_row: number of the first row, from 0; more than 0 in a partition of a larger source.
        unchanged: the files that are read, which must stay as they were when the source was opened; None for no files.
    """

    first_row = 0
    unchanged: Unchanged | None = None

    def __init__(self, name: str, declared: Declared | None = None) -> None:
        self.name = name
        self.rows: int | None = None
        self.notes: tuple[str, ...] = ()
        self.declared = declared or Declared()
        self.problems = Problems()
        self.rows_read = 0

    def __repr__(self) -> str:
        """Its name, its rows where they are counted, and its columns; the first block is read for these."""
        from assay.data.source_shown import as_text

        try:
            return as_text(self)
        except (AssayError, OSError) as error:  # what cannot be read can still be spoken of
            return f"<Source {visible(self.name)}, which cannot be read: {error}>"

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        from assay.data.source_shown import as_html

        return as_html(self)

    @abstractmethod
    def _arrow_schema(self) -> pa.Schema:
        """The physical columns, sensitive ones included or not. Asked for once."""

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Start a new pass over the rows. Problems go to `self.problems`, which is new for each pass."""
        raise NotImplementedError

    def _numbered_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The same, with the number of the first row of each; for sources that leave rows of others out."""
        row = self.first_row
        for batch in self._batches():
            yield row, batch
            row += batch.num_rows

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """The columns as Arrow has them, without the sensitive ones."""
        whole = self._arrow_schema()
        self.declared.check([*whole.names, *self.declared.sensitive] if self._drops_sensitive else whole.names)
        kept = [field for field in whole if not self.declared.hides(field.name)]
        return pa.schema(kept, metadata=whole.metadata)

    # True for a source that leaves sensitive columns out by itself and has checked that they exist
    _drops_sensitive = False

    @cached_property
    def schema(self) -> tuple[Field, ...]:
        """The columns with their kinds, as understood from the whole first block."""
        schema = self.arrow_schema
        first = next(self.blocks(), None)
        return understood(schema, schema.empty_table().to_batches()[:1] if first is None else [first], self.declared)

    def partitions(self) -> Sequence[Source]:
        """Sources that together are this one, in order, each of which can be pickled and read on its own.

        Their blocks are those of the whole. A source that can only be read from front to back is its own and only one.
        """
        return (self,)

    def partition_of(self, row: int) -> Hashable:
        """What partition a row belongs to that was handed out in the latest pass: equal for equal ones.

        Args:
            row: its number, from 0.
        """
        return bisect_right(self._partition_starts, row)

    @cached_property
    def _partition_starts(self) -> list[int]:
        return [part.first_row for part in self.partitions()]

    @property
    def portable(self) -> bool:
        """Whether the partitions can be read in another process; what lies in the memory of this one cannot."""
        return True

    def files_seen(self) -> Unchanged | None:
        """The files that are read, as they were at the first look; None where rows are not in files."""
        return self.unchanged

    def identity(self) -> Any:
        """What tells these rows from all others, in every process and as long as they stay the same; None for nothing.

        Rows in memory and rows that come once have none.
        """
        return None

    @property
    def needs(self) -> Any:
        """What an engine must hand the task that reads this partition; None where it reads by itself."""
        return None

    def begin_pass(self) -> None:
        """Forget what was told of the pass before."""
        self.problems = Problems()
        self.rows_read = 0

    def told(self) -> Any:
        """What there is to tell after a pass over a partition; it can be pickled."""
        return self.problems, self.rows_read

    def hear(self, told: Any) -> None:
        """Take in what was told of a pass over the next partition.

        Args:
            told: by `told` of the partition.
        """
        problems, rows = told
        self.problems.extend(problems)
        self.rows_read += rows

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """The rows, as Arrow record batches of at most 65,536 rows; sensitive columns are not among them."""
        return (block for _, block in self.numbered_blocks())

    def numbered_blocks(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The same blocks, each with the number of its first row: that in the data, also where rows were left out."""
        names = self.arrow_schema.names
        self.begin_pass()
        with nullcontext() if self.unchanged is None else self.unchanged.kept():
            for row, batch in self._readable(self._numbered_batches()):
                kept = batch if batch.schema.names == names else batch.select(names)
                for start in range(0, kept.num_rows, BLOCK_ROWS):
                    # a slice of very many columns takes as long as reading them
                    block = kept if kept.num_rows <= BLOCK_ROWS else kept.slice(start, BLOCK_ROWS)
                    self.rows_read += block.num_rows
                    yield row + start, block

    def _readable(self, batches: Iterator[tuple[int, pa.RecordBatch]]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """All that can be read; where that is wanted, the rest is counted instead of refused."""
        try:
            yield from batches
        except UnreadableError as error:
            if not self.declared.skip_unreadable:
                raise
            self.problems.add(UNREADABLE_STRETCHES, place=str(error))

    @property
    def fraction_read(self) -> float | None:
        """How far the latest pass has come, from 0 to 1, or None where the end is not known."""
        return self.rows_read / self.rows if self.rows else None

    def line_of(self, row: int) -> int | None:
        """The line of the file in which a row (from 0) begins, counted from 1; None where there are no lines."""
        return None

    def place_of(self, row: int) -> str:
        """How messages call a row (from 0): by its line where there are lines, else by its number from 1."""
        line = self.line_of(row)
        return f"row {row + 1}" if line is None else f"line {line}"

    def to_arrow(self) -> pa.Table:
        """The whole table, before any encoding."""
        return pa.Table.from_batches(list(self.blocks()), schema=self.arrow_schema)

    @cached_property
    def numeric_columns(self) -> tuple[str, ...]:
        """The columns that hold numbers, in order, whatever they mean."""
        return tuple(field.name for field in self.arrow_schema if is_numeric(field.type))

    def float_blocks(self) -> Iterator[NDArray[np.float64]]:
        """The numeric columns as they are, in (b, d) blocks, missing values as NaN.

        Blocks are column-major, as Arrow hands them over. `assay.encode` gives all kinds of columns as numbers.
        """
        return (block for _, block in self.numbered_floats())

    def numbered_floats(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """The same blocks, each with the number of its first row."""
        names = self.numeric_columns
        for row, batch in self.numbered_blocks():
            yield row, float_matrix(batch, names)

    def _partition(self, first_row: int, rows: int | None, **changed: Any) -> Self:
        """A copy that reads some of the rows."""
        part = object.__new__(type(self))
        part.__dict__.update(self.__dict__, **changed)
        part.first_row, part.rows = first_row, rows
        part.begin_pass()
        part.__dict__["arrow_schema"] = self.arrow_schema
        return part


class ArrowSource(Source):
    """A table in memory."""

    def __init__(self, table: pa.Table, name: str = "data", declared: Declared | None = None) -> None:
        super().__init__(name, declared)
        self._table = table
        self.rows = table.num_rows

    def _arrow_schema(self) -> pa.Schema:
        return self._table.schema

    def _batches(self) -> Iterator[pa.RecordBatch]:
        return iter(self._table.to_batches(max_chunksize=BLOCK_ROWS))

    def partitions(self) -> Sequence[Source]:
        """The blocks."""
        return table_partitions(self, self._table, BLOCK_ROWS)


def table_partitions(source: Source, table: pa.Table, step: int) -> Sequence[Source]:
    """A source over a table in memory as one source for each of its blocks; itself where there is a single one.

    Args:
        source: keeps its table as `_table`.
        table: the rows.
        step: rows of a block at most.
    """
    batches = table.to_batches(max_chunksize=step)
    if len(batches) < 2:
        return (source,)
    starts = np.cumsum([0] + [batch.num_rows for batch in batches]).tolist()
    return [
        source._partition(source.first_row + start, batch.num_rows, _table=pa.Table.from_batches([batch]))
        for start, batch in zip(starts, batches, strict=False)
    ]


def is_numeric(type_: pa.DataType) -> bool:
    """Whether values of an Arrow type are numbers."""
    is_ = pa.types
    return bool(is_.is_integer(type_) or is_.is_floating(type_) or is_.is_decimal(type_))


def float_matrix(batch: pa.RecordBatch | pa.Table, names: tuple[str, ...]) -> NDArray[np.float64]:
    """The named columns as one column-major (b, d) array, missing values as NaN."""
    columns = np.empty((len(names), batch.num_rows))
    for row, name in zip(columns, names, strict=True):
        column = batch.column(name).cast(pa.float64(), safe=False)  # whole numbers beyond 2^53 lose digits, not rows
        row[:] = column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
    return columns.T
