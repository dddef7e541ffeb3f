"""Some of the columns of a source, as a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import pyarrow as pa

from assay.data.derived import DerivedSource
from assay.data.field import Field
from assay.data.row_cache import KeptSource
from assay.data.source import Source
from assay.errors import ParameterError
from assay.shown import a_few


class ChosenColumns(DerivedSource):
    """The rows of a source with the named columns only, in its order.

    >>> from assay.data.source import ArrowSource
    >>> table = ArrowSource(pa.table({"a": [1.0], "b": [2.0], "c": [3.0]}))
    >>> ChosenColumns(table, ["c", "a"]).arrow_schema.names
    ['a', 'c']
    """

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        super().__init__(source)
        self.names = frozenset(names)

    @cached_property
    def schema(self) -> tuple[Field, ...]:
        """The columns with their kinds."""
        return tuple(field for field in self.source.schema if field.name in self.names)

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema([field for field in self.source.arrow_schema if field.name in self.names])

    def _numbered_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        names = self.arrow_schema.names
        for row, block in self.source.numbered_blocks():
            yield row, block.select(names)
        self.problems.extend(self.source.problems)


def two_sides(source: Source, right: Sequence[str]) -> tuple[Source, Source]:
    """The other columns of a source, and the named ones: row i of one belongs to row i of the other.

    Args:
        source: the data.
        right: names of the columns of the second; at least one, and not all.
    """
    names = source.arrow_schema.names
    missing = [name for name in right if name not in names]
    if missing:
        raise ParameterError(f"no column {missing[0]!r}; there are {a_few(names)}")
    left = [name for name in names if name not in set(right)]
    if not right or not left:
        raise ParameterError(f"both sides need columns; {len(left)} are left for one and {len(right)} for the other")
    kept = source if isinstance(source, KeptSource) else KeptSource(source)
    return ChosenColumns(kept, left), ChosenColumns(kept, right)
