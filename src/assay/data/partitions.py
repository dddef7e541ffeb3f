"""Blocks of a source that can be read apart from each other: what an engine hands out to its workers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.data.file_fingerprint import Unchanged
from assay.data.source import Source
from assay.engine.engine import Read

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True, eq=False)
class Blocks(Generic[T]):
    """What is read from a source, block by block, in an order that is the same for every reader.

    A source may consist of partitions, each a smaller source that can be read anywhere; `read` knows nothing of that.
    Everything here can be pickled where `read` and the source can.

    Attributes:
        source: the rows.
        read: from a source, the whole or a partition, to its blocks, each with the number of its first row.
        step: what becomes of such a pair; None where it stays what it is.
        columns: names of the columns, or None.

    >>> from assay.data.source import ArrowSource
    >>> blocks = numbered_floats(ArrowSource(pa.table({"x": [1.0, 2.0]})))
    >>> [total for total in blocks.map(lambda part: float(part[1].sum()))]
    [3.0]
    """

    source: Source
    read: Callable[[Source], Iterator[tuple[int, Any]]]
    step: Callable[[Any], T] | None = None
    columns: tuple[str, ...] | None = None

    def map(self, step: Callable[[T], U]) -> Blocks[U]:
        """The same blocks, each changed."""
        return Blocks(self.source, self.read, step if self.step is None else _Then(self.step, step), self.columns)

    def parts(self) -> list[Blocks[T]]:
        """The blocks of each partition, in order; one where the source has no partitions."""
        parts = self.source.partitions()
        stops = [*(part.first_row for part in parts[1:]), None]
        return [
            replace(self, source=part, step=_within(self.step, part.first_row, stop))
            for part, stop in zip(parts, stops, strict=True)
        ]

    def of_parts(self) -> Iterator[tuple[Hashable, T]]:
        """Each block with what tells its partition from others, in one pass over the whole source."""
        step: Any = self.step
        for block in self.read(self.source):
            changed: Any = block if step is None else step(block)
            yield self.source.partition_of(block[0]), changed

    def __iter__(self) -> Iterator[T]:
        step: Any = self.step
        return self.read(self.source) if step is None else map(step, self.read(self.source))  # type: ignore[return-value]

    @property
    def portable(self) -> bool:
        """Whether the parts may be read elsewhere."""
        return self.source.portable

    @property
    def needs(self) -> Any:
        """What an engine must hand the task that reads these blocks; None where they are read by themselves."""
        return self.source.needs

    def kept_files(self) -> Unchanged | None:
        """The files that are read, where results of a pass may be kept: not where a column of them is sensitive."""
        source: Any = self.source
        while source is not None:
            if source.declared.sensitive:
                return None
            source = getattr(source, "source", None)
        return self.source.files()

    def begin(self) -> None:
        """A pass begins."""
        self.source.begin_pass()

    def told(self) -> Any:
        """What there is to tell once the blocks have been read."""
        return self.source.told()

    def hear(self, told: Any) -> None:
        """What was told of the next part."""
        self.source.hear(told)


@dataclass(frozen=True, slots=True)
class _Then:
    """One change after the other; a class, so that it can be pickled."""

    first: Callable[[Any], Any]
    second: Callable[[Any], Any]

    def __call__(self, block: Any) -> Any:
        return self.second(self.first(block))

    def within(self, first: int, stop: int | None) -> _Then:
        """Both for the rows of a partition."""
        return _Then(_within(self.first, first, stop), _within(self.second, first, stop))


@dataclass(frozen=True, slots=True, eq=False)
class Here(Generic[T]):
    """Blocks in this process, each changed on its way.

    Attributes:
        blocks: can be iterated again and again.
        step: what becomes of a block, made anew in every pass; None where it stays what it is.
        columns: names of the columns, or None.

    >>> list(Here([1, 2]).map(lambda block: 10 * block))
    [10, 20]
    """

    blocks: Iterable[Any]
    step: Callable[[Any], T] | None = None
    columns: tuple[str, ...] | None = None

    def map(self, step: Callable[[T], U]) -> Here[U]:
        """The same blocks, each changed."""
        return Here(self.blocks, step if self.step is None else _Then(self.step, step), self.columns)

    def __iter__(self) -> Iterator[T]:
        return iter(self.blocks) if self.step is None else map(self.step, self.blocks)

    @property
    def portable(self) -> bool:
        """Whether the blocks go to workers."""
        return bool(getattr(self.blocks, "portable", False))

    def parts(self) -> list[Read[T]]:
        """One for each block."""
        return [Read([part], None) for part in self]

    def of_parts(self) -> Iterator[tuple[int, T]]:
        """All blocks, as one part."""
        return ((0, part) for part in self)

    def begin(self) -> None:
        """Nothing is told of what lies here."""

    def hear(self, told: Any) -> None:
        """Nothing is told of what lies here."""


@dataclass(frozen=True, slots=True, eq=False)
class _Beside:
    """The values that belong to the rows of a block, put beside them; a partition takes along those of its rows only.

    Attributes:
        values: (n, ...) each, or None.
        first: row to which the first of them belongs.
    """

    values: tuple[NDArray[Any] | None, ...]
    first: int = 0

    def __call__(self, part: tuple[int, Any]) -> tuple[Any, ...]:
        start, rows = part
        own = slice(start - self.first, start - self.first + rows.shape[0])
        return (start, rows, *(None if each is None else each[own] for each in self.values))

    def within(self, first: int, stop: int | None) -> _Beside:
        """Those of the rows from first to stop."""
        own = slice(first - self.first, None if stop is None else stop - self.first)
        return _Beside(tuple(None if each is None else each[own] for each in self.values), first)


def beside(blocks: Iterable[tuple[int, Any]], *values: NDArray[Any] | None) -> Blocks[Any] | Here[Any]:
    """Numbered blocks with what is known of each row beside them: its target, weight, class or fold.

    Values lie in this process; a worker is sent those of the rows it reads, once for each pass, or once where the
    blocks are scattered.

    Args:
        blocks: as `float_blocks` gives them.
        values: (n, ...) for all rows each, or None.

    Returns:
        Blocks of (first row, rows, own values, ...).

    >>> from assay.data.source import ArrowSource
    >>> blocks = numbered_floats(ArrowSource(pa.table({"x": [1.0, 2.0]})))
    >>> [weights for _, _, weights in beside(blocks, np.array([0.5, 2.0]))]
    [array([0.5, 2. ])]
    """
    step = _Beside(values)
    return blocks.map(step) if isinstance(blocks, (Blocks, Here)) else Here(blocks, step)


def _within(step: Any, first: int, stop: int | None) -> Any:
    """A step for the rows of a partition alone, where it holds something for each row."""
    return step.within(first, stop) if hasattr(step, "within") else step


def numbered_blocks(source: Source) -> Blocks[tuple[int, pa.RecordBatch]]:
    """The rows of a source as Arrow blocks, each with the number of its first row.

    Args:
        source: the data.
    """
    return Blocks(source, methodcaller("numbered_blocks"))


def numbered_floats(source: Source) -> Blocks[tuple[int, NDArray[np.float64]]]:
    """The numeric columns of a source as (b, d) blocks, each with the number of its first row.

    Args:
        source: the data.
    """
    return Blocks(source, methodcaller("numbered_floats"), columns=source.numeric_columns)
