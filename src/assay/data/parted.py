"""Blocks of a source that can be read apart from each other: what an engine hands out to its workers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.data.source import Source

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
        return [replace(self, source=part) for part in self.source.partitions()]

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

    def begin(self) -> None:
        """A pass begins."""
        self.source.begin_pass()

    def told(self) -> Any:
        """What there is to tell once the blocks have been read."""
        return self.source.told()

    def hear(self, told: Any) -> None:
        """What was told of the next part."""
        self.source.hear(told)


@dataclass(frozen=True, slots=True, eq=False)
class Held(Generic[T]):
    """Blocks in the memory of this process, which can be changed like those of a source.

    Attributes:
        blocks: as they are held.
        step: what becomes of each, made anew in every pass; None where it stays what it is.

    >>> list(Held([1, 2]).map(lambda block: 10 * block))
    [10, 20]
    """

    blocks: Sequence[Any]
    step: Callable[[Any], T] | None = None

    def map(self, step: Callable[[T], U]) -> Held[U]:
        """The same blocks, each changed."""
        return Held(self.blocks, step if self.step is None else _Then(self.step, step))

    def __iter__(self) -> Iterator[T]:
        return iter(self.blocks) if self.step is None else map(self.step, self.blocks)


@dataclass(frozen=True, slots=True)
class _Then:
    """One change after the other; a class, so that it can be pickled."""

    first: Callable[[Any], Any]
    second: Callable[[Any], Any]

    def __call__(self, block: Any) -> Any:
        return self.second(self.first(block))


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
