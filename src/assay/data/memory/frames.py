"""Data frames as sources, turned into Arrow block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import narwhals as nw
import pyarrow as pa

from assay.data.arrow_validation import sound
from assay.data.field import Declared
from assay.data.fitting import add_misfits, column_of
from assay.data.memory.arrays import block_rows
from assay.data.memory.tables import ArrowStreamSource, TableSource
from assay.data.names import columns_to_read
from assay.data.problems import Problems
from assay.data.source import Source
from assay.errors import DataError


class PandasSource(Source):
    """A pandas frame.

    A named index becomes a column; one without a name is left out, with a note where it held more than row numbers.
    Categories keep their order, missing values of all sorts become Arrow's.
    """

    _drops_sensitive = True

    def __init__(self, frame: Any, name: str = "data", declared: Declared | None = None) -> None:
        super().__init__(name, declared)
        self.rows = len(frame)
        levels = [frame.index.get_level_values(i) for i in range(frame.index.nlevels)]
        named = [level for level in levels if level.name is not None]
        columns = columns_to_read([*(level.name for level in named), *frame.columns], self.declared)
        self._names = columns.names
        self._found = Problems()
        self._slices = [
            self._sliced(
                called,
                named[i].to_series() if i < len(named) else frame.iloc[:, i - len(named)],
            )
            for i, called in zip(columns.positions, columns.names, strict=True)
        ]
        self.notes = (*columns.notes, *_index_notes(frame, named))

    def _sliced(self, called: str, series: Any) -> Callable[[int, int], pa.Array]:
        """What gives rows of one column as Arrow has them."""
        kind = type(series.dtype).__name__
        if kind == "SparseDtype":
            return lambda start, stop: _arrow(series.iloc[start:stop].sparse.to_dense())
        if kind == "PeriodDtype":
            return lambda start, stop: _arrow(series.iloc[start:stop].dt.to_timestamp())
        if kind == "IntervalDtype":
            return lambda start, stop: _names(series.iloc[start:stop])
        if kind == "CategoricalDtype" and type(series.cat.categories.dtype).__name__ == "IntervalDtype":
            series = series.cat.rename_categories(str)
        elif series.dtype.kind == "c":
            raise DataError(
                f"cannot read column {called!r}: it holds complex numbers; give real and imaginary parts as two columns"
            )
        elif series.dtype == object:  # blocks of it may look like different types
            values = series.tolist()
            whole, lost = column_of(values)
            add_misfits(self._found, called, whole.type, ((f"row {i + 1}", values[i]) for i in lost))
            return lambda start, stop: whole.slice(start, stop - start)
        return lambda start, stop: _arrow(series.iloc[start:stop])

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema([(name, part(0, 0).type) for name, part in zip(self._names, self._slices, strict=True)])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        self.problems.extend(self._found)
        schema = self.arrow_schema
        step = block_rows(len(schema))
        for start in range(0, self.rows or 0, step):
            stop = min(start + step, self.rows or 0)
            yield pa.RecordBatch.from_arrays([part(start, stop) for part in self._slices], schema=schema)


class PolarsSource(Source):
    """A Polars frame, or a lazy one that is computed anew, batch by batch, in each pass."""

    _drops_sensitive = True

    def __init__(self, frame: Any, name: str = "data", declared: Declared | None = None) -> None:
        super().__init__(name, declared)
        self._lazy = not hasattr(frame, "height")
        self.rows = None if self._lazy else frame.height
        found = list(frame.collect_schema().names())
        columns = columns_to_read(found, self.declared)
        self._names = columns.names
        self.notes = columns.notes
        self._frame = frame.select([found[i] for i in columns.positions])
        empty = self._frame.head(0)
        self._schema = _table_of(empty.collect() if self._lazy else empty).rename_columns(self._names).schema

    def _arrow_schema(self) -> pa.Schema:
        return self._schema

    def _batches(self) -> Iterator[pa.RecordBatch]:
        step = block_rows(len(self._names))
        if self._lazy:
            frames = self._frame.collect_batches(chunk_size=step, maintain_order=True)
        else:
            frames = (self._frame.slice(start, step) for start in range(0, self._frame.height, step))
        for frame in frames:
            table = _table_of(frame).rename_columns(self._names)
            yield from table.cast(self._schema).combine_chunks().to_batches()


def open_frame(data: Any, name: str, declared: Declared) -> Source | None:
    """A source from a data frame or a series of any library that narwhals knows, or None."""
    known = nw.dependencies
    if known.is_narwhals_series(data) or known.is_narwhals_dataframe(data) or known.is_narwhals_lazyframe(data):
        data = data.to_native()
    if known.is_into_series(data):
        return open_frame(data.to_frame(), name, declared)
    if known.is_pandas_dataframe(data):
        return PandasSource(data, name, declared)
    if known.is_polars_dataframe(data) or (
        known.is_polars_lazyframe(data) and hasattr(data, "collect_batches")  # Polars 1.34
    ):
        return PolarsSource(data, name, declared)
    if hasattr(data, "__arrow_c_stream__"):
        return ArrowStreamSource(data, name, declared)
    if known.is_into_dataframe(data):
        return TableSource(nw.from_native(data, eager_only=True).to_arrow(), name, declared)
    frame: Any = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        source = TableSource(frame.collect("pyarrow").to_native(), name, declared)
        source.notes = (*source.notes, "The frame was computed whole and is held in memory.")
        return source
    return None


def _arrow(series: Any) -> pa.Array:
    array = sound(pa.array(series, from_pandas=True))
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _names(series: Any) -> pa.Array:
    """Values by their names; pandas before 3 names missing ones too, and no type where there are no rows."""
    return pa.array(series.astype(str).where(series.notna(), None), pa.string(), from_pandas=True)


def _table_of(frame: Any) -> pa.Table:
    objects = [name for name, dtype in frame.schema.items() if str(dtype) == "Object"]
    if objects:
        raise DataError(f"cannot read column {objects[0]!r}: it holds Python objects; give numbers, text or times")
    table: pa.Table = frame.to_arrow()
    for i, dtype in enumerate(frame.dtypes):
        column = table.column(i)
        if type(dtype).__name__ == "Enum" and not column.type.ordered:  # Polars 1 forgets it
            type_ = pa.dictionary(column.type.index_type, column.type.value_type, ordered=True)
            chunks = [pa.DictionaryArray.from_arrays(c.indices, c.dictionary, ordered=True) for c in column.chunks]
            table = table.set_column(i, table.field(i).with_type(type_), pa.chunked_array(chunks, type_))
    return table


def _index_notes(frame: Any, named: list[Any]) -> tuple[str, ...]:
    if named:
        told = ", ".join(repr(str(level.name)) for level in named)
        return (f"The index of the frame was read as column {told}.",)
    if type(frame.index).__name__ == "RangeIndex":
        return ()
    return ("The index of the frame has no name and was left out; name it to read it as a column.",)
