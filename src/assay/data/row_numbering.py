"""Rows numbered one after the other, whatever was left out between them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

import pyarrow as pa

from assay.data.derived import DerivedSource
from assay.data.field import Field
from assay.data.source import Source


class Consecutive(DerivedSource):
    """The rows of a source, numbered as they come: row i belongs to entry i of an array that was made of the same rows.

    Whoever reads some of the rows cannot know how many were left out before them, so they are read here.
    """

    _drops_sensitive = True

    def __init__(self, source: Source) -> None:
        super().__init__(source, source.declared)
        self._passed: list[tuple[int, int]] = []

    @cached_property
    def schema(self) -> tuple[Field, ...]:
        """The columns with their kinds."""
        return self.source.schema

    @property
    def portable(self) -> bool:
        """Not elsewhere."""
        return False

    def partitions(self) -> Sequence[Source]:
        """Only the whole."""
        return (self,)

    def partition_of(self, row: int) -> int:
        """There is one."""
        return 0

    def line_of(self, row: int) -> int | None:
        """The line of the file in which a row begins."""
        return self.source.line_of(self._number(row))

    def place_of(self, row: int) -> str:
        """How messages call a row: by its line or number in the source."""
        return self.source.place_of(self._number(row))

    def _arrow_schema(self) -> pa.Schema:
        return self.source.arrow_schema

    def _numbered_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        self._passed, count = [], 0
        for row, block in self.source.numbered_blocks():
            self._passed.append((count, row))
            yield count, block
            count += block.num_rows
        self.problems.extend(self.source.problems)

    def _number(self, row: int) -> int:
        """The number in the source of a row that was handed out."""
        at = bisect_right(self._passed, row, key=lambda passed: passed[0]) - 1
        return row if at < 0 else self._passed[at][1] + row - self._passed[at][0]
