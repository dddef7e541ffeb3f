"""A fair sample of rows, drawn while they pass: every row has the same chance, and parts merge.

Each row gets a random key that depends on the seed and its number alone; the sample is the rows with the smallest keys.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_SURE = 4


@dataclass(frozen=True, slots=True, eq=False)
class RowSample:
    """Rows drawn fairly.

    Attributes:
        size: how many are drawn at most.
        keys: (m,) of the rows drawn.
        rows: (m,) their numbers, from 0.
        table: their values, in the same order, whatever that is: see `sorted`.

    >>> sample = RowSample.of(pa.record_batch({"x": list(range(10))}), first_row=0, size=3)
    >>> sample.table.num_rows, len(sample.sorted().rows)
    (3, 3)
    """

    size: int
    keys: NDArray[np.float64]
    rows: NDArray[np.int64]
    table: pa.Table

    @classmethod
    def of(
        cls, batch: pa.RecordBatch, *, first_row: int, size: int, seed: int = 0, total: int | None = None
    ) -> RowSample:
        """The sample of one block.

        Args:
            batch: the block.
            first_row: number of its first row, from 0.
            size: how many rows to draw at most.
            seed: of the keys.
            total: how many rows there are in all, where that is known: rows that cannot be among those drawn in the
                end are then left out at once.
        """
        keys = row_keys(first_row, batch.num_rows, seed)
        whole = cls(size, keys, first_row + np.arange(batch.num_rows), pa.Table.from_batches([batch]))
        picked = np.argsort(keys, kind="stable")[:size]
        if total is not None and total > _SURE * size:
            # of _SURE x size rows below this key fewer than size come by chance once in 10^300 draws
            picked = picked[keys[picked] < _SURE * size / total]
        return whole._of_these(picked)

    def __add__(self, other: RowSample) -> RowSample:
        keys = np.concatenate([self.keys, other.keys])
        rows = np.concatenate([self.rows, other.rows])
        picked = np.lexsort((rows, keys))[: self.size]
        if len(keys) > self.size and (picked < len(self.keys)).all():
            return self._of_these(picked)
        return RowSample(self.size, keys, rows, pa.concat_tables([self.table, other.table]))._of_these(picked)

    def sorted(self) -> RowSample:
        """The same rows in their order in the data."""
        return self._in_order(np.argsort(self.rows))

    def _of_these(self, picked: NDArray[np.intp]) -> RowSample:
        """Some of the rows; all of them where they are: moving 60,000 columns takes longer than reading them."""
        return self if len(picked) == len(self.rows) else self._in_order(picked)

    def _in_order(self, order: NDArray[np.intp]) -> RowSample:
        table = self.table
        if len(order) < table.num_rows or (np.diff(order) < 0).any():
            table = table.take(pa.array(order))
        return RowSample(self.size, self.keys[order], self.rows[order], table.combine_chunks())


def row_keys(first_row: int, count: int, seed: int) -> NDArray[np.float64]:
    """Keys in [0, 1) of consecutive rows, the same however the rows are cut into blocks."""
    # a counter-based generator can start at any row; four numbers come from one step of the counter
    lead = first_row % 4
    generator = np.random.Philox(key=seed)
    generator.advance(first_row // 4)
    return np.random.Generator(generator).random(lead + count)[lead:]
