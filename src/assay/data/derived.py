"""A source made from another, block by block."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

from assay.data.field import Declared
from assay.data.file_fingerprint import Unchanged
from assay.data.source import Source


def _derived(source: Source, name: str) -> bool:
    return isinstance(getattr(type(source), name, None), cached_property)


class DerivedSource(Source):
    """Rows that come from another source, some left out or changed; its partitions are those of the other, derived.

    Attributes:
        source: the other.
    """

    def __init__(self, source: Source, declared: Declared | None = None) -> None:
        super().__init__(source.name, declared)
        self.source = source
        self.rows = source.rows
        self.notes = source.notes

    @property
    def fraction_read(self) -> float | None:
        """How far the latest pass has come, from 0 to 1."""
        return self.source.fraction_read

    def line_of(self, row: int) -> int | None:
        """The line of the file in which a row begins."""
        return self.source.line_of(row)

    @property
    def portable(self) -> bool:
        """Whether the partitions can be read in another process."""
        return self.source.portable

    @property
    def needs(self) -> Any:
        """What an engine must hand the task that reads this partition."""
        return self.source.needs

    def partitions(self) -> Sequence[Source]:
        """Those of the other source, each derived in the same way."""
        parts = self.source.partitions()
        if len(parts) == 1 and parts[0] is self.source:
            return (self,)
        return [self._partition(part.first_row, part.rows, source=part) for part in parts]

    def partition_of(self, row: int) -> Hashable:
        """What partition a row of the latest pass belongs to."""
        return self.source.partition_of(row)

    def files(self) -> Unchanged | None:
        """Those of the other source."""
        return self.source.files()

    def identity(self) -> Any:
        """That of the other source, and how the rows come from it."""
        passing = {"source", "problems", "rows_read", "rows", "notes", "_heard", "_unknown"}
        own = {name: value for name, value in vars(self).items() if name not in passing and not _derived(self, name)}
        return self.source, sorted(own.items())

    def begin_pass(self) -> None:
        """Forget what was told of the pass before."""
        super().begin_pass()
        self._heard = False

    def told(self) -> Any:
        """What there is to tell after a pass: of these rows, and of the other source."""
        return super().told(), self.source.told()

    def hear(self, told: Any) -> None:
        """Take in what was told of a pass over the next partition; the other source hears its own."""
        own, other = told
        if not self._heard:
            self.source.begin_pass()
            self._heard = True
        self.source.hear(other)
        super().hear(own)
