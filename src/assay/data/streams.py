"""Rows that arrive: an iterator as a source of blocks in bounded memory. A stream can be read once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from assay.data.alignment import Aligner
from assay.data.columns.kinds import understood
from assay.data.field import Declared, Field
from assay.data.names import columns_to_read, visible_columns
from assay.data.problems import Problems
from assay.data.source import BLOCK_ROWS, Source
from assay.errors import DataError

# Single rows are gathered into blocks of this many before they are handed on.
_GATHERED = 4096


class OnePassSource(Source):
    """Rows that come once. The first block is kept until the next is asked for, so that columns can be understood.

    A kind of stream has `_arriving`, the batches; the first decides the columns.
    """

    def __init__(self, name: str, declared: Declared | None = None) -> None:
        super().__init__(name, declared)
        self._arrivals: Iterator[pa.RecordBatch] | None = None
        self._first: pa.RecordBatch | None = None
        self._early = Problems()
        self._consumed = False

    def _arriving(self) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError

    @property
    def portable(self) -> bool:
        """No: rows come once, and here."""
        return False

    def _arrow_schema(self) -> pa.Schema:
        return self._opened().schema

    @cached_property
    def schema(self) -> tuple[Field, ...]:
        """The columns with their kinds, as understood from the first block."""
        names = self.arrow_schema.names
        return understood(self.arrow_schema, [self._opened().select(names)], self.declared)

    def _opened(self) -> pa.RecordBatch:
        if self._consumed:
            raise DataError(
                f"{self.name} is a stream and has been read already; a stream can be read once: "
                "write it to a file, or summarise it in one pass"
            )
        if self._first is None:
            self.problems = self._early
            self._arrivals = self._arriving()
            self._first = next(self._arrivals, None)
            if self._first is None:
                raise DataError(f"{self.name} is a stream that ended before its first row")
        return self._first

    def _batches(self) -> Iterator[pa.RecordBatch]:
        problems = self.problems
        first = self._opened()
        self.problems = problems
        problems.extend(self._early)
        _ = self.schema  # while the first block is still there
        yield first
        self._consumed, self._first = True, None
        yield from self._arrivals or ()


class StreamSource(OnePassSource):
    """An iterator of blocks (Arrow batches or tables, data frames, (b, d) arrays) or of rows (mappings, sequences).

    Columns are those of the first block; a later block that lacks one, has another or holds values of another type is
    brought into its form, and what does not fit counts as missing and is noted.

    >>> stream = StreamSource(iter([np.zeros((2, 3)), np.ones((1, 3))]))
    >>> sum(block.num_rows for block in stream.blocks())
    3
    """

    _drops_sensitive = True

    def __init__(self, items: Iterable[Any], name: str = "stream", declared: Declared | None = None) -> None:
        super().__init__(name, declared)
        self._items = iter(items)

    def _arriving(self) -> Iterator[pa.RecordBatch]:
        aligner: Aligner | None = None
        row = 0
        for item in self._items:
            for batch in self._as_batches(item):
                visible = self._visible(batch)
                if aligner is None:
                    _ = columns_to_read(batch.schema.names, self.declared)  # refuses what is said of columns that lack
                    aligner = Aligner(visible.schema)
                yield aligner.aligned(visible, self.problems, first_row=row)
                row += batch.num_rows

    def _visible(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A block without sensitive columns, no two columns of one name."""
        kept = visible_columns(batch.schema.names, self.declared)
        fields = [batch.schema.field(i).with_name(name) for i, name in zip(kept.positions, kept.names, strict=True)]
        return pa.RecordBatch.from_arrays([batch.column(i) for i in kept.positions], schema=pa.schema(fields))

    def _as_batches(self, item: Any) -> list[pa.RecordBatch]:
        if isinstance(item, Mapping) or _is_row(item):
            return [_gathered([item, *islice(self._items, _GATHERED - 1)])]
        if isinstance(item, pa.RecordBatch):
            return [item]
        from assay.data.read import read

        return [batch for batch in read(item).to_arrow().to_batches(max_chunksize=BLOCK_ROWS) if batch.num_rows]


def _is_row(item: Any) -> bool:
    return isinstance(item, (list, tuple, np.ndarray)) and np.ndim(item) == 1


def _gathered(rows: list[Any]) -> pa.RecordBatch:
    if isinstance(rows[0], Mapping):
        names = dict.fromkeys(str(key) for row in rows for key in row)
        texts = [{str(key): value for key, value in row.items()} for row in rows]
        columns = {name: [row.get(name) for row in texts] for name in names}
    else:
        width = len(rows[0])
        ragged = next((i for i, row in enumerate(rows) if len(row) != width), None)
        if ragged is not None:
            raise DataError(f"row {ragged} of a stream has {len(rows[ragged])} values where the first has {width}")
        columns = {f"column {j + 1}": [row[j] for row in rows] for j in range(width)}
    return pa.RecordBatch.from_pydict({name: _column(name, values) for name, values in columns.items()})


def _column(name: str, values: list[Any]) -> pa.Array:
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    try:
        return pa.array(plain, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several types: as text, and the kinds decide
        return pa.array([None if value is None else str(value) for value in plain], type=pa.string())
