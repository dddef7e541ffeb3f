"""A source of rows: its columns are known at once, its rows are read block by block when asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Kind: TypeAlias = Literal["number", "text", "boolean", "time", "empty", "other"]


@dataclass(frozen=True, slots=True)
class Field:
    """One column: its name, its kind, and what is known of it beyond the values."""

    name: str
    kind: Kind
    unit: str | None = None
    role: str | None = None


class Source(ABC):
    """Rows that can be read again and again, in blocks.

    Attributes:
        name: how reports call the data.
        schema: the columns.
        notes: what was decided while opening, in sentences.
    """

    name: str
    schema: tuple[Field, ...]
    notes: tuple[str, ...] = ()

    @abstractmethod
    def blocks(self) -> Iterator[pa.RecordBatch]:
        """The rows, as Arrow record batches."""

    def to_arrow(self) -> pa.Table:
        """The whole table, before any encoding."""
        return pa.Table.from_batches(list(self.blocks()))

    @property
    def numeric_columns(self) -> tuple[str, ...]:
        """The columns of kind number, in order."""
        return tuple(field.name for field in self.schema if field.kind == "number")

    def float_blocks(self) -> Iterator[NDArray[np.float64]]:
        """The numeric columns as (b, d) blocks, missing values as NaN.

        Blocks are column-major, as Arrow hands them over.
        """
        names = self.numeric_columns
        for batch in self.blocks():
            yield float_matrix(batch, names)


class ArrowSource(Source):
    """A table in memory."""

    def __init__(self, table: pa.Table, name: str = "data") -> None:
        self.name = name
        self._table = table
        self.schema = schema_of(table.schema)

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """The rows, as Arrow record batches."""
        return iter(self._table.to_batches(max_chunksize=1 << 16))

    def to_arrow(self) -> pa.Table:
        """The table itself."""
        return self._table


def schema_of(schema: pa.Schema) -> tuple[Field, ...]:
    """Fields of an Arrow schema."""
    return tuple(Field(field.name, _kind(field.type)) for field in schema)


def _kind(type_: Any) -> Kind:
    is_ = pa.types
    if is_.is_integer(type_) or is_.is_floating(type_) or is_.is_decimal(type_):
        return "number"
    if is_.is_null(type_):
        return "empty"
    if is_.is_boolean(type_):
        return "boolean"
    if is_.is_temporal(type_):
        return "time"
    if is_.is_string(type_) or is_.is_large_string(type_) or is_.is_dictionary(type_):
        return "text"
    return "other"


def float_matrix(batch: pa.RecordBatch | pa.Table, names: tuple[str, ...]) -> NDArray[np.float64]:
    """The named columns as one column-major (b, d) array, missing values as NaN."""
    columns = np.empty((len(names), batch.num_rows))
    for row, name in zip(columns, names, strict=True):
        column = batch.column(name).cast(pa.float64())
        row[:] = column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
    return columns.T
