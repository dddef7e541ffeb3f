"""Tables in memory as sources: Arrow, data frames, plain Python columns and records."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import issparse

from assay.data.arrow_validation import sound, sound_batches
from assay.data.field import Declared
from assay.data.fitting import add_misfits, column_of
from assay.data.memory.arrays import ArraySource, block_rows
from assay.data.memory.sparse import SparseSource
from assay.data.names import columns_to_read
from assay.data.problems import Problems
from assay.data.source import Source, table_partitions
from assay.errors import DataError


class TableSource(Source):
    """An Arrow table in memory.

    Args:
        table: the rows.
        name: how reports call the data.
        declared: what the user said about the columns.
        found: what was wrong when the table was made; told again in each pass.
    """

    _drops_sensitive = True

    def __init__(
        self, table: pa.Table, name: str = "data", declared: Declared | None = None, found: Problems | None = None
    ) -> None:
        super().__init__(name, declared)
        columns = columns_to_read(table.column_names, self.declared)
        self._table = sound(table.select(columns.positions).rename_columns(columns.names), name)
        self._found = found or Problems()
        self.rows = table.num_rows
        self.notes = columns.notes

    def _arrow_schema(self) -> pa.Schema:
        return without_views(self._table.schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        self.problems.extend(self._found)
        schema = self.arrow_schema
        for batch in self._table.to_batches(max_chunksize=block_rows(len(schema))):
            yield viewless(batch, schema)

    def partitions(self) -> Sequence[Source]:
        """The blocks. What was wrong when the table was made is told with the first."""
        parts = table_partitions(self, self._table, block_rows(len(self.arrow_schema)))
        for part in parts[1:]:
            part.__dict__["_found"] = Problems()
        return parts


class ArrowStreamSource(Source):
    """What hands over Arrow data by the C stream interface, such as a DuckDB relation; asked anew for each pass."""

    _drops_sensitive = True

    def __init__(self, stream: Any, name: str = "data", declared: Declared | None = None) -> None:
        super().__init__(name, declared)
        self._stream = stream
        found = pa.RecordBatchReader.from_stream(stream)
        self._found = found.schema
        found.close()
        self._columns = columns_to_read(self._found.names, self.declared)
        self.notes = self._columns.notes

    def _arrow_schema(self) -> pa.Schema:
        kept = [self._found.field(i) for i in self._columns.positions]
        called = [field.with_name(name) for field, name in zip(kept, self._columns.names, strict=True)]
        return without_views(pa.schema(called))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        schema = self.arrow_schema
        with pa.RecordBatchReader.from_stream(self._stream) as reader:
            picked = (batch.select(self._columns.positions).rename_columns(self._columns.names) for batch in reader)
            for batch in sound_batches(picked, self.name):
                yield viewless(batch, schema)


def open_table(data: Any, name: str, declared: Declared) -> Source | None:
    """A source from a table in memory, or None where the data are no table.

    Args:
        data: Arrow data, NumPy or SciPy arrays, anything that narwhals knows, a mapping of columns, a sequence of rows
            or of records.
        name: how reports call the data.
        declared: what the user said about the columns.
    """
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
        return TableSource(table, name, declared)
    # the module imports pandas; where it was not imported there is no dataset
    datasets = sys.modules.get("pyarrow.dataset")
    if datasets is not None and isinstance(data, datasets.Dataset):
        from assay.data.memory.datasets import DatasetSource

        return DatasetSource(data, name, declared)
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        return TableSource(pa.table([data], names=["column 1"]), name, declared)
    if isinstance(data, np.ndarray):
        return _from_array(data, name, declared)
    if issparse(data):
        return SparseSource(data, name, declared)
    if isinstance(data, Mapping):
        return _from_columns(list(data), list(data.values()), name, declared)
    if isinstance(data, (list, tuple)):
        return _from_rows(data, name, declared)
    from assay.data.memory.cluster_frames import open_cluster_frame
    from assay.data.memory.frames import open_frame

    return open_cluster_frame(data, name, declared) or open_frame(data, name, declared)


def from_values(
    names: Sequence[object], columns: Sequence[Sequence[Any]], name: str, declared: Declared
) -> TableSource:
    """A source from columns of Python values; those that contradict their column are missing, and counted.

    Args:
        names: of the columns.
        columns: their values.
        name: how reports call the data.
        declared: what the user said about the columns; values of sensitive ones are not looked at.
    """
    kept = columns_to_read(names, declared)
    found = Problems()
    arrays = []
    for position, called in zip(kept.positions, kept.names, strict=True):
        values = columns[position]
        array, lost = column_of(values)
        add_misfits(found, called, array.type, ((f"row {i + 1}", values[i]) for i in lost))
        arrays.append(array)
    visible = Declared(declared.kinds, declared.units, declared.roles)
    source = TableSource(pa.table(arrays, names=kept.names), name, visible, found)
    source.declared = declared
    source.notes = kept.notes
    return source


def without_views(schema: pa.Schema) -> pa.Schema:
    """A schema with plain text in place of Arrow's string views, for which few functions exist."""
    return pa.schema([field.with_type(_viewless_type(field.type)) for field in schema], metadata=schema.metadata)


def viewless(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch in the types of a schema that has no views."""
    if batch.schema.equals(schema):
        return batch
    columns = [_viewless_column(column, type_) for column, type_ in zip(batch.columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _viewless_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(type_):
        return pa.dictionary(type_.index_type, _viewless_type(type_.value_type), ordered=type_.ordered)
    if pa.types.is_string_view(type_):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(type_) else type_


def _viewless_column(column: pa.Array, type_: pa.DataType) -> pa.Array:
    if column.type == type_:
        return column
    if pa.types.is_dictionary(type_):
        return pa.DictionaryArray.from_arrays(
            column.indices, column.dictionary.cast(type_.value_type), ordered=type_.ordered
        )
    return column.cast(type_)


def _from_array(array: np.ndarray[Any, Any], name: str, declared: Declared) -> Source:
    if array.dtype.kind != "O":
        return ArraySource(array, name, declared)
    if array.ndim not in (1, 2):
        raise DataError(f"cannot read {name}: a table has two dimensions, rows and columns; got {array.ndim}")
    table = array.reshape(len(array), -1) if len(array) else array.reshape(0, array.shape[-1] if array.ndim == 2 else 1)
    columns = [table[:, j].tolist() for j in range(table.shape[1])]
    return from_values([f"column {j + 1}" for j in range(len(columns))], columns, name, declared)


def _from_columns(names: Sequence[object], columns: Sequence[Any], name: str, declared: Declared) -> Source:
    alone = next((called for called, column in zip(names, columns, strict=True) if not _is_column(column)), None)
    if alone is not None:
        raise DataError(f"cannot read {name}: a mapping is read as columns by name; {alone!r} is not a list of values")
    lengths = {str(called): len(column) for called, column in zip(names, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{called!r} {length}" for called, length in list(lengths.items())[:10])
        raise DataError(f"cannot read {name}: columns of a table are equally long; got {told}")
    return from_values(
        names, [column if isinstance(column, list) else list(sound(column, name)) for column in columns], name, declared
    )


def _is_column(values: Any) -> bool:
    return hasattr(values, "__len__") and hasattr(values, "__iter__") and not isinstance(values, (str, bytes, Mapping))


def _from_rows(rows: Sequence[Any], name: str, declared: Declared) -> Source:
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(key for row in rows for key in row))
        return from_values(names, [[row.get(key) for row in rows] for key in names], name, declared)
    if rows and all(isinstance(row, (list, tuple)) or (isinstance(row, np.ndarray) and row.ndim == 1) for row in rows):
        width = len(rows[0])
        ragged = next((i for i, row in enumerate(rows) if len(row) != width), None)
        if ragged is not None:
            raise DataError(
                f"cannot read {name}: row {ragged + 1} has {len(rows[ragged])} values where the first has {width}"
            )
        columns = [[row[j] for row in rows] for j in range(width)]
        return from_values([f"column {j + 1}" for j in range(width)], columns, name, declared)
    if rows and all(np.isscalar(row) or row is None for row in rows):
        return from_values(["column 1"], [list(rows)], name, declared)
    what = f"a {type(rows[0]).__name__} first" if rows else "none"
    raise DataError(f"cannot read {name}: a list is read as rows, each a list of values or a mapping; got {what}")
