"""Data frames of Dask and Spark as sources: their partitions are read where they lie, as Arrow batches.

Nothing of either library is imported here: who gives such a frame has it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

from assay.data.alignment import Aligner
from assay.data.field import Declared
from assay.data.memory.arrays import block_rows
from assay.data.memory.tables import without_views
from assay.data.source import BLOCK_ROWS, Source
from assay.engine.current import map_reduce
from assay.engine.engine import handed

_NOTE = "The frame is read where it lies, partition by partition."


class ClusterFrame(Source):
    """A data frame on a cluster.

    A partition, in a task of the cluster, is handed its rows by the engine; here it asks for them.

    Args:
        frame: the frame.
        name: how reports call the data.
        declared: what the user said about the columns.
    """

    def __init__(self, frame: Any, name: str = "data", declared: Declared | None = None) -> None:
        super().__init__(name, declared)
        self._frame = frame
        self._number: int | None = None
        schema = without_views(self._first().schema)
        self._form = Aligner(schema, hidden=self.declared.hidden(schema.names))
        self._parts: list[ClusterFrame] | None = None
        self.notes = (_NOTE,)

    @abstractmethod
    def _first(self) -> pa.Table:
        """Some of the first rows."""

    @abstractmethod
    def _count(self) -> int:
        """How many partitions there are."""

    @abstractmethod
    def _asked(self) -> Iterable[pa.RecordBatch]:
        """All rows, brought to this process, partition by partition."""

    @property
    def needs(self) -> Any:
        """What an engine must hand a task of this partition: the frame and the number of its partition."""
        return self._frame, self._number

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_frame", "_parts")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._frame = self._parts = None

    def _arrow_schema(self) -> pa.Schema:
        return self._form.schema

    def _batches(self) -> Iterator[pa.RecordBatch]:
        given = handed()
        arriving = self._asked() if given is None else arrow_batches(given)
        step = block_rows(len(self._form.schema))
        row = self.first_row
        for batch in arriving:
            for start in range(0, batch.num_rows, step):
                part = batch.slice(start, step)
                yield self._form.aligned(part, self.problems, first_row=row)
                row += part.num_rows

    def partitions(self) -> Sequence[Source]:
        """Those of the frame; their rows are counted once."""
        if self._number is not None:
            return (self,)
        if self._parts is None:
            cut = [self._partition(0, None, _number=i, _parts=None) for i in range(self._count())]
            counts = map_reduce(_Counted(cut), lambda rows: [rows], list.__add__, empty=[])
            starts = accumulate(counts, initial=0)
            self._parts = [part._partition(row, rows) for part, row, rows in zip(cut, starts, counts, strict=False)]
            self.rows = sum(counts)
        return self._parts


class _Counted:
    """The number of rows of each partition, as an engine finds it."""

    portable = True

    def __init__(self, parts: Sequence[ClusterFrame]) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[int]:
        return (count for _, count in self.of_parts())

    def parts(self) -> Sequence[_Count]:
        return [_Count(part) for part in self._parts]

    def of_parts(self) -> Iterator[tuple[int, int]]:
        for number, part in enumerate(self._parts):
            yield from ((number, count) for count in _Count(part))

    def begin(self) -> None: ...

    def hear(self, told: Any) -> None: ...


class _Count:
    def __init__(self, part: ClusterFrame) -> None:
        self._part = part

    @property
    def needs(self) -> Any:
        return self._part.needs

    def __iter__(self) -> Iterator[int]:
        given = handed()
        batches = self._part._asked() if given is None else arrow_batches(given)
        yield sum(batch.num_rows for batch in batches)

    def told(self) -> Any:
        return None


class DaskFrame(ClusterFrame):
    """A Dask data frame."""

    def _first(self) -> pa.Table:
        for i in range(self._frame.npartitions):
            part = self._frame.get_partition(i).head(BLOCK_ROWS, npartitions=1, compute=True)
            if len(part):
                return pa.Table.from_batches(list(arrow_batches(part)))
        return pa.Table.from_batches(list(arrow_batches(self._frame._meta)))

    def _count(self) -> int:
        return int(self._frame.npartitions)

    def _asked(self) -> Iterable[pa.RecordBatch]:
        numbers = range(self._count()) if self._number is None else [self._number]
        for i in numbers:
            yield from arrow_batches(self._frame.get_partition(i).compute())


class SparkFrame(ClusterFrame):
    """A Spark data frame. Its partitions must hold the same rows in the same order each time: persist what may not."""

    def _first(self) -> pa.Table:
        return self._frame.limit(BLOCK_ROWS).toArrow()

    def _count(self) -> int:
        return int(self._frame.rdd.getNumPartitions())

    def _asked(self) -> Iterable[pa.RecordBatch]:
        frame = self._frame
        if self._number is not None:
            number = self._number
            frame = frame.filter(f"spark_partition_id() = {number}")
        yield from frame.toArrow().to_batches()


def arrow_batches(given: Any) -> Iterator[pa.RecordBatch]:
    """What an engine handed over, as Arrow batches: batches already, or a frame of pandas.

    Args:
        given: the rows of a partition.
    """
    if isinstance(given, pa.Table):
        yield from given.to_batches()
    elif hasattr(given, "iloc"):
        from assay.data.memory.frames import PandasSource

        source = PandasSource(given)
        found = list(source.blocks())
        yield from found or source.arrow_schema.empty_table().to_batches()
    else:
        yield from given


def open_cluster_frame(data: Any, name: str, declared: Declared) -> Source | None:
    """A source from a data frame of Dask or Spark; None for anything else.

    Args:
        data: the frame.
        name: how reports call the data.
        declared: what the user said about the columns.
    """
    room, kind = type(data).__module__, type(data).__name__
    if room.startswith("dask.dataframe") and kind == "DataFrame":
        return DaskFrame(data, name, declared)
    if room.startswith("pyspark.sql") and kind == "DataFrame":
        return SparkFrame(data, name, declared)
    return None
