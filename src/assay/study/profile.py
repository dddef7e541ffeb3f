"""One pass over a source: the statistics of every column and a fair sample of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from assay.data.columns.column_stats import ColumnStats, TableStats, empty_stats, stats_of
from assay.data.partitions import numbered_blocks
from assay.data.sampling import RowSample
from assay.data.source import Source
from assay.engine.current import is_elsewhere, map_reduce
from assay.study.duplicates import RowsSeen

SAMPLED_ROWS = 2000
_SAMPLED_CELLS = 1 << 22  # of a sample at most, but for so few rows as a picture of the data needs
_FEWEST_SAMPLED = 100
Progress = Callable[[int, float | None], object]


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """What one pass tells.

    Attributes:
        stats: of all rows, as an encoding needs them.
        columns: the same, column by column.
        sample: some rows drawn fairly, in their order.
        seen: hashes of the rows, by which those that are the same are counted.
    """

    stats: TableStats
    columns: tuple[ColumnStats, ...]
    sample: RowSample
    seen: RowsSeen

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.stats.rows

    def among(self, blocks: Iterable[tuple[int, Any]]) -> Profile:
        """The same; rows of the sample are numbered among those that were read, where rows between were left out.

        Args:
            blocks: all rows that were read, with the number of the first of each block.
        """
        read = np.concatenate([np.arange(row, row + len(block)) for row, block in blocks] or [np.empty(0, np.intp)])
        if len(read) == 0 or read[-1] == len(read) - 1:
            return self
        return replace(self, sample=replace(self.sample, rows=np.searchsorted(read, self.sample.rows)))


def profiled(source: Source, *, size: int = SAMPLED_ROWS, seed: int = 0, progress: Progress | None = None) -> Profile:
    """Read a source once.

    Args:
        source: the data.
        size: rows of the sample, at most; fewer where columns are so many that these would not fit.
        seed: of the sample.
        progress: told how many rows were read and, where it is known, which share of all.
    """
    fields, known = source.schema, _known_rows(source)
    size = min(size, max(_SAMPLED_CELLS // max(len(fields), 1), _FEWEST_SAMPLED))

    def described(part: tuple[int, pa.RecordBatch]) -> tuple[TableStats, RowSample, RowsSeen]:
        start, batch = part
        sample = RowSample.of(batch, first_row=start, size=size, seed=seed, total=known)
        return stats_of(batch, fields, start), sample, RowsSeen.of(batch, fields, known)

    found: Any = map_reduce(  # made only where there are no rows: in wide tables what is empty takes seconds, too
        numbered_blocks(source),
        described,
        lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]),
        progress=None if progress is None else lambda done: progress(source.rows_read, source.fraction_read),
        empty=None,
    )
    if found is None:
        nothing = pa.RecordBatch.from_pylist([], schema=source.arrow_schema)
        found = (
            empty_stats(source.arrow_schema, fields),
            RowSample.of(nothing, first_row=0, size=1),
            RowsSeen.of(nothing, fields),
        )
    stats, sample, seen = found
    return Profile(stats, stats.columns(), sample.sorted(), seen)


def _known_rows(source: Source) -> int | None:
    """How many rows there are, where that is known: workers leave out what cannot be among the rows kept in the end."""
    if source.rows is not None or not is_elsewhere(numbered_blocks(source)):
        return source.rows
    # of many files not all are open, but their parts, which are needed anyway, were counted
    rows = [part.rows for part in source.partitions()]
    return None if None in rows else sum(filter(None, rows))
