"""Arrays as sources: rows of one type, or of a structured one, of which blocks can be had without the whole."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.data.field import Declared
from assay.data.names import Columns, columns_to_read, refuse_many
from assay.data.source import BLOCK_ROWS, Source
from assay.errors import DataError

# Values in a block at most, about 128 MB of float64, however many columns there are.
_BLOCK_VALUES = 1 << 24
_LAST_LETTER = 0x10FFFF  # of Unicode


def block_rows(d: int) -> int:
    """Rows of a block of d columns: 65,536, or fewer where the columns are many, so that memory stays bounded.

    >>> block_rows(10), block_rows(20_000)
    (65536, 838)
    """
    return int(np.clip(_BLOCK_VALUES // max(d, 1), 16, BLOCK_ROWS))


class RowsSource(Source):
    """n rows of d columns of one type, or of the fields of a structured type.

    A kind of it has `_row_blocks`.

    Args:
        shape: (n,) or (n, d).
        dtype: of all values, or structured.
        name: how reports call the data.
        declared: what the user said about the columns.
        names: of the columns, numbered where None.
    """

    _drops_sensitive = True

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        name: str,
        declared: Declared | None = None,
        names: Sequence[object] | None = None,
    ) -> None:
        super().__init__(name, declared)
        if len(shape) not in (1, 2) or (dtype.names and len(shape) != 1):
            raise DataError(
                f"cannot read {name}: a table has two dimensions, rows and columns; got {len(shape)}; "
                "reshape the array to one row per case"
            )
        self.rows = shape[0]
        self._dtype = dtype
        self._width = 1 if len(shape) == 1 else shape[1]
        if not (self._width and dtype.itemsize):
            raise DataError(f"cannot read {name}: it has no columns, or its values have no size; give values")
        refuse_many(len(dtype.names or ()) or self._width, name)
        found: Sequence[object] = dtype.names or names or [f"column {j + 1}" for j in range(self._width)]
        self._columns: Columns = columns_to_read(found, self.declared)
        self.notes = self._columns.notes
        self._fields = [dtype.names[i] for i in self._columns.positions] if dtype.names else None

    @abstractmethod
    def _row_blocks(self) -> Iterator[NDArray[Any]]:
        """Start a pass: (b,) or (b, d) arrays, in order."""

    def _arrow_schema(self) -> pa.Schema:
        names = self._columns.names
        if self._fields is None:
            type_ = _arrow_type(self._dtype, self.name)
            return pa.schema([(name, type_) for name in names])
        types = [_arrow_type(self._dtype[field], self.name) for field in self._fields]
        return pa.schema(list(zip(names, types, strict=True)))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        schema = self.arrow_schema
        for block in self._row_blocks():
            arrays = [arrow_array(part, type_) for part, type_ in zip(self._parts(block), schema.types, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _parts(self, block: NDArray[Any]) -> list[NDArray[Any]]:
        if self._fields is not None:
            return [block[field] for field in self._fields]
        table = block.reshape(len(block), self._width)
        plain = np.asarray(np.ma.getdata(table))
        # one turn of the block is quicker than a strided walk through it for each column
        columns = (plain if plain.strides[0] == plain.itemsize else np.asfortranarray(plain)).T
        if not self._masked:
            return [columns[j] for j in self._columns.positions]
        masks = np.ma.getmaskarray(table).T
        return [np.ma.masked_array(columns[j], mask=masks[j]) for j in self._columns.positions]

    _masked = False

    def numbered_floats(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """The numeric columns in (b, d) blocks, missing values as NaN; without a copy where they are float64."""
        whole = len(self._columns.positions) == self._width
        if self._dtype.kind not in "iuf" or self._masked or not whole:
            yield from super().numbered_floats()
            return
        self.begin_pass()
        for block in self._row_blocks():
            row = self.first_row + self.rows_read
            self.rows_read += len(block)
            yield row, np.asarray(block.reshape(len(block), self._width), dtype=np.float64)


class ArraySource(RowsSource):
    """An array in memory or mapped from a file, read block by block.

    >>> ArraySource(np.eye(2)).numeric_columns
    ('column 1', 'column 2')
    """

    def __init__(
        self,
        array: NDArray[Any],
        name: str = "data",
        declared: Declared | None = None,
        names: Sequence[object] | None = None,
    ) -> None:
        super().__init__(array.shape, array.dtype, name, declared, names)
        self._array = array
        self._masked = isinstance(array, np.ma.MaskedArray)

    def _row_blocks(self) -> Iterator[NDArray[Any]]:
        step = block_rows(len(self._columns.names))
        return (self._array[start : start + step] for start in range(0, len(self._array), step))

    def partitions(self) -> Sequence[Source]:
        """The blocks."""
        step = block_rows(len(self._columns.names))
        return cut(self, "_array", len(self._array), step)


def cut(source: RowsSource, attribute: str, n: int, step: int) -> Sequence[Source]:
    """One source for each block of the rows that a source keeps in an attribute."""
    if n <= step:
        return (source,)
    rows = getattr(source, attribute)
    return [
        source._partition(source.first_row + start, min(step, n - start), **{attribute: rows[start : start + step]})
        for start in range(0, n, step)
    ]


class SideBySide(Source):
    """Sources of equally many rows, their columns beside each other."""

    _drops_sensitive = True

    def __init__(self, parts: Sequence[RowsSource], name: str, declared: Declared) -> None:
        super().__init__(name, declared)
        self._parts = parts
        self.rows = parts[0].rows
        self._step = block_rows(sum(len(part.arrow_schema) for part in parts))

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema([field for part in self._parts for field in part.arrow_schema])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        schema = self.arrow_schema
        readers = [_recut(part.blocks(), self._step) for part in self._parts]
        for batches in zip(*readers, strict=True):
            columns = [column for batch in batches for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _recut(batches: Iterator[pa.RecordBatch], step: int) -> Iterator[pa.RecordBatch]:
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        while count >= step:
            together = pa.Table.from_batches(held).combine_chunks()
            yield together.slice(0, step).to_batches()[0]
            held = together.slice(step).to_batches()
            count -= step
    if count:
        yield pa.Table.from_batches(held).combine_chunks().to_batches()[0]


def _arrow_type(dtype: np.dtype[Any], name: str) -> pa.DataType:
    if dtype.kind in "biuf":
        return pa.from_numpy_dtype(_readable(dtype))
    if dtype.kind in "UST":
        return pa.string()
    if dtype.kind in "Mm":
        return pa.array(np.empty(0, dtype=_readable(dtype))).type
    if dtype.kind == "c":
        raise DataError(f"cannot read {name}: it holds complex numbers; give real and imaginary parts as two columns")
    raise DataError(f"cannot read {name}: values of type {dtype} are not columns; give numbers, text or times")


def _readable(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The nearest type that Arrow has: native byte order, at least 4 and at most 8 bytes, a unit of time it knows."""
    if dtype.kind == "f":
        return np.dtype("f4") if dtype.itemsize <= 4 else np.dtype("f8")
    if dtype.kind in "Mm":
        unit = np.datetime_data(dtype)[0]
        known = unit if unit in ("s", "ms", "us", "ns") else "s"
        if unit in ("D", "W", "M", "Y") and dtype.kind == "M":
            known = "D"
        return np.dtype(f"{dtype.kind}8[{known}]")
    return dtype.newbyteorder("=")


def arrow_array(values: NDArray[Any], type_: pa.DataType) -> pa.Array:
    """Values as a column of an Arrow type, without a copy where possible; NaN and what is masked are missing."""
    mask = None
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        values = values.data
    if values.dtype.kind in "UST":
        return pa.array(_texts(values), type=type_, mask=mask)
    plain = np.ascontiguousarray(values, dtype=_readable(values.dtype))
    if plain.dtype.kind not in "iuf":
        return pa.array(plain, type=type_, mask=mask, from_pandas=True)
    missing = np.isnan(plain) if plain.dtype.kind == "f" else np.zeros(len(plain), dtype=bool)
    if mask is not None:
        missing |= mask
    # pa.array would import pandas
    valid = pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    return pa.Array.from_buffers(type_, len(plain), [valid, pa.py_buffer(plain)])


def _texts(values: NDArray[Any]) -> list[str]:
    if values.dtype.kind == "U" and values.size and values.dtype.itemsize:
        native = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
        letters = native.view(np.uint32)
        if (letters > _LAST_LETTER).any() or ((letters >= 0xD800) & (letters < 0xE000)).any():
            raise DataError("the array holds text with characters that Unicode does not have; write it again")
    if values.dtype.kind != "S":
        return [str(value) for value in values.tolist()]
    try:
        return [value.decode() for value in values.tolist()]
    except UnicodeDecodeError as error:
        raise DataError("the array holds bytes that are not UTF-8 text; decode them first") from error
