"""A source taken apart into the column to be predicted and the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assay.data.columns.encoded import EncodedSource
from assay.data.derived import DerivedSource
from assay.data.field import Field
from assay.data.partitions import numbered_blocks
from assay.data.row_cache import KeptSource
from assay.data.row_numbering import Consecutive
from assay.data.source import Source, is_numeric
from assay.engine.current import gathered_blocks
from assay.errors import DataError, ParameterError
from assay.shown import a_few


class OtherColumns(DerivedSource):
    """The rows of a source without one column."""

    def __init__(self, source: Source, without: str) -> None:
        super().__init__(source)
        self.without = without

    @cached_property
    def schema(self) -> tuple[Field, ...]:
        """The columns with their kinds."""
        return tuple(field for field in self.source.schema if field.name != self.without)

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema([field for field in self.source.arrow_schema if field.name != self.without])

    def _numbered_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        names = self.arrow_schema.names
        for row, block in self.source.numbered_blocks():
            yield row, block.select(names)
        self.problems.extend(self.source.problems)


class KnownTarget(DerivedSource):
    """The rows of a source whose target is known; how many are not is told in its notes after a pass."""

    def __init__(self, source: Source, target: str) -> None:
        super().__init__(source, source.declared)
        check_target(source, target)
        self.rows = None
        self.target = target
        self._unknown: list[NDArray[np.intp]] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided while opening, and how many rows were left out."""
        rows = self.source.rows_read
        unknown = rows - self.rows_read
        if unknown <= 0:
            return self.source.notes
        return (*self.source.notes, f"{unknown:,} of {rows:,} rows lack {self.target} and were left out.")

    @notes.setter
    def notes(self, notes: tuple[str, ...]) -> None:
        """Only the source has notes of its own."""

    @cached_property
    def schema(self) -> tuple[Field, ...]:
        """The columns with their kinds."""
        return self.source.schema

    def left_out(self) -> NDArray[np.intp]:
        """Which rows of the source the latest pass of this process left out, from 0."""
        return np.concatenate([np.empty(0, dtype=np.intp), *self._unknown])

    def _arrow_schema(self) -> pa.Schema:
        return self.source.arrow_schema

    _drops_sensitive = True

    def _numbered_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        self._unknown, before = [], 0
        for row, block in self.source.numbered_blocks():
            column = block.column(self.target)
            known = column.is_valid()
            if pa.types.is_floating(column.type):
                known = pc.and_(known, pc.fill_null(pc.is_finite(column), False))
            whole = pc.all(known).as_py()
            if not whole:
                self._unknown.append(before + np.flatnonzero(~known.to_numpy(zero_copy_only=False)))
            before += block.num_rows
            yield row, block if whole else block.filter(known)
        self.problems.extend(self.source.problems)


def target_name(source: Source, named: str | None) -> str:
    """The column to be predicted: the one named, or the one whose role is "target".

    Args:
        source: the data.
        named: its name, or None.
    """
    if named is not None:
        return named
    declared = [field.name for field in source.schema if field.role == "target"]
    if len(declared) != 1:
        raise ParameterError(
            f"{source.name} has {len(declared)} columns in the role 'target': name the column to be predicted, "
            "as in fit(source, 'price')"
        )
    return declared[0]


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of a numbered block; a class, so that it can be pickled."""

    name: str

    def __call__(self, part: tuple[int, pa.RecordBatch]) -> tuple[int, pa.Array]:
        return part[0], part[1].column(self.name)


def taken_apart(source: Source, target: str) -> tuple[Source, NDArray[Any]]:
    """The other columns of a source, and the values of its target: the one column that is held.

    Args:
        source: the data.
        target: name of the column to be predicted.

    Returns:
        The source without that column, or an encoded one that left it out as it is; (n,) its values, numbers as
        float64 and anything else as it is.

    >>> from assay.data.source import ArrowSource
    >>> others, y = taken_apart(ArrowSource(pa.table({"x": [1.0, 2.0], "kind": ["a", "b"]})), "kind")
    >>> [field.name for field in others.schema], y
    (['x'], array(['a', 'b'], dtype=object))
    """
    if isinstance(source, EncodedSource) and target in _left_out(source):
        values, gaps = _values(source.source, target)
        return Consecutive(source) if gaps else source, values
    check_target(source, target)
    kept = source if isinstance(source, KeptSource) else KeptSource(source)
    values, gaps = _values(kept, target)
    others: Source = OtherColumns(kept, target)
    return Consecutive(others) if gaps else others, values


def _left_out(source: EncodedSource) -> list[str]:
    """Columns of the data that did not become numbers."""
    used = {column.name for column in source.encoding.columns if column.used}
    return [name for name in source.source.arrow_schema.names if name not in used]


def _values(source: Source, target: str) -> tuple[NDArray[Any], bool]:
    """(n,) the values of a column, read by the workers in use; and whether some rows could not be read."""
    blocks = gathered_blocks(numbered_blocks(source).map(_Column(target)))
    column = pa.chunked_array([values for _, values in blocks], source.arrow_schema.field(target).type)
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise DataError(
            f"the target {target!r} is missing in {column.null_count} of {len(column)} rows, first in "
            f"{source.place_of(row)}: leave these rows out, or name another target"
        )
    values: NDArray[Any] = column.to_numpy()
    gaps = bool(blocks) and blocks[-1][0] + len(blocks[-1][1]) > len(column)
    return values.astype(np.float64) if is_numeric(column.type) else values, gaps


def check_target(source: Source, target: str) -> None:
    """Refuse a target that is not among the columns."""
    names = source.arrow_schema.names
    if target not in names:
        raise ParameterError(f"no column {target!r} to be predicted; there are {a_few(names)}")
