"""An engine that runs everything here as a cluster would, and counts what is read and what travels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import cloudpickle
import numpy as np
import pyarrow as pa

from assay.data.formats.arrow_files import ParquetSource
from assay.engine.engine import Engine, Forwarded, InOrder, Items, Parted, Progress, Read, worked


@dataclass(frozen=True, slots=True)
class Size:
    """What an object weighs on the wire.

    Attributes:
        arrays: bytes of the values of its arrays.
        rest: bytes of everything else: names, shapes, code.
        objects: how many objects it consists of.
    """

    arrays: int = 0
    rest: int = 0
    objects: int = 0

    @classmethod
    def of(cls, thing: Any) -> Size:
        """Pickle a thing as engines do, and tell arrays from what is around them."""
        file = BytesIO()
        pickler = _Weighing(file)
        pickler.dump(thing)
        return cls(pickler.arrays, file.tell() - pickler.arrays, len(pickler.seen))

    @property
    def whole(self) -> int:
        """Bytes in all."""
        return self.arrays + self.rest


class _Weighing(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles, and weighs the arrays it meets."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.arrays = 0
        self.seen: dict[int, Any] = {}

    def persistent_id(self, thing: Any) -> None:
        """Asked of every object; none is treated in another way for it."""
        if id(thing) not in self.seen:
            self.seen[id(thing)] = thing  # kept alive, so that no other gets its address
            if isinstance(thing, np.ndarray):
                self.arrays += thing.nbytes
            elif isinstance(thing, pa.Buffer):
                self.arrays += thing.size


@dataclass(frozen=True, slots=True)
class Task:
    """What one part cost.

    Attributes:
        read: bytes of the blocks that came from the source; 0 where workers kept them.
        sent: the description of the part, as it goes to a worker.
        back: its result.
        merges: how often the worker merged.
    """

    read: int
    sent: Size
    back: Size
    merges: int


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over the parts.

    Attributes:
        kind: "map"; "keep", which reads for later passes; "gather"; or "regroup", whose results go to other workers.
        closure: map and merge, which go to each worker once.
        tasks: one for each part.
        merges: how often the driver merged.
    """

    kind: str
    closure: Size
    tasks: tuple[Task, ...]
    merges: int

    @property
    def read(self) -> int:
        """Bytes from the source."""
        return sum(task.read for task in self.tasks)

    @property
    def back(self) -> int:
        """Bytes to the driver."""
        return 0 if self.kind == "regroup" else sum(task.back.whole for task in self.tasks)

    @property
    def arrays(self) -> int:
        """Bytes of the arrays among them; of a "regroup" those that workers hand to each other."""
        return sum(task.back.arrays for task in self.tasks)


class CountingEngine(Engine):
    """Works as a cluster does, in this process, and counts; nothing is shared between parts but what is pickled.

    Attributes:
        passes: what was counted, in order.
    """

    def __init__(self) -> None:
        self.passes: list[Pass] = []

    def map_reduce(
        self,
        blocks: Parted[Any],
        map: Callable[[Any], Any],
        merge: Callable[[Any, Any], Any],
        progress: Progress | None = None,
    ) -> Any:
        """Map and merge parts one after the other, each as if in a process of its own."""
        blocks.begin()
        here = _Counted(merge)
        order = InOrder(here, blocks.hear, progress)
        closure = cloudpickle.dumps((map, merge))
        tasks = []
        for number, part in enumerate(blocks.parts()):
            mapped, merged = cloudpickle.loads(closure)
            counted = _Counted(merged)
            with _reading() as counter:
                result = worked(_carried(part), mapped, counted)
            tasks.append(Task(counter.bytes, _part_size(part), Size.of(result), counted.calls))
            order.take(number, cloudpickle.loads(cloudpickle.dumps(result)))
        whole = order.whole()
        self.passes.append(Pass("map", Size.of((map, merge)), tuple(tasks), here.calls))
        return whole

    def scatter(self, blocks: Parted[Any]) -> Parted[Any]:
        """Read every part once; later passes read nothing."""
        if isinstance(blocks, _Kept):
            return blocks
        parts, tasks = [], []
        for part in blocks.parts():
            with _reading() as counter:
                parts.append(Read.of(_carried(part)))
            tasks.append(Task(counter.bytes, _part_size(part), Size(), 0))
        self.passes.append(Pass("keep", Size(), tuple(tasks), 0))
        return _Kept(blocks, parts)

    def gather(self, blocks: Parted[Any]) -> list[Any]:
        """Read every part and bring its blocks here."""
        blocks.begin()
        found, tasks = [], []
        for part in blocks.parts():
            with _reading() as counter:
                read = Read.of(_carried(part))
            found += read.blocks
            tasks.append(Task(counter.bytes, _part_size(part), Size.of(read), 0))
            blocks.hear(read.what)
        self.passes.append(Pass("gather", Size(), tuple(tasks), 0))
        return found

    def regroup(
        self,
        blocks: Parted[Any],
        split: Callable[[Any], Sequence[Any]],
        join: Callable[[list[Any]], Any],
        count: int,
    ) -> Parted[Any]:
        """Pieces go from worker to worker, as they do on Dask and Spark."""
        pieces: list[list[Any]] = [[] for _ in range(count)]
        tasks = []
        for part in blocks.parts():
            with _reading() as counter:
                cut = [split(block) for block in _carried(part)]
            for some in cut:
                for place, piece in zip(pieces, some, strict=True):
                    place.append(piece)
            tasks.append(Task(counter.bytes, _part_size(part), Size.of(cut), 0))
        self.passes.append(Pass("regroup", Size.of((split, join)), tuple(tasks), 0))
        return _Kept(Items([]), [Read([join(some)], None) for some in pieces])


class _Kept(Forwarded):
    """Blocks that workers keep."""

    portable = True

    def __init__(self, blocks: Parted[Any], kept: Sequence[Read[Any]]) -> None:
        super().__init__(blocks)
        self._parts = kept

    def __iter__(self) -> Iterator[Any]:
        return (block for part in self._parts for block in part)

    def parts(self) -> Sequence[Read[Any]]:
        return self._parts


class _Counted:
    """A merge that counts its calls."""

    def __init__(self, merge: Callable[[Any, Any], Any]) -> None:
        self._merge = merge
        self.calls = 0

    def __call__(self, a: Any, b: Any) -> Any:
        self.calls += 1
        return self._merge(a, b)


class _Reader:
    """Bytes of the columns that were decoded from Parquet files."""

    def __init__(self) -> None:
        self.bytes = 0


@contextmanager
def _reading() -> Iterator[_Reader]:
    """Count what is decoded meanwhile, below whatever is made of it."""
    counter, found = _Reader(), ParquetSource._read

    def counted(source: ParquetSource, reader: Any, run: Any) -> Iterator[Any]:
        for batch in found(source, reader, run):
            counter.bytes += batch.nbytes
            yield batch

    ParquetSource._read = counted  # type: ignore[method-assign]
    try:
        yield counter
    finally:
        ParquetSource._read = found  # type: ignore[method-assign]


def _carried(part: Any) -> Any:
    """A part as a worker gets it; what workers kept is there already."""
    return part if isinstance(part, Read) else cloudpickle.loads(cloudpickle.dumps(part))


def _part_size(part: Any) -> Size:
    return Size() if isinstance(part, Read) else Size.of(part)
