"""What rows are called in tables of numbers: their place in the data, and what identifies them there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assay.arrays import Indices, Mask

ROW, IN_DATA = "row", "row_in_data"
READ = "row_read"  # among all rows that were read, in use or not; it is never shown


@dataclass(frozen=True, slots=True, eq=False)
class RowNames:
    """Places and identifiers of the rows in use.

    Attributes:
        rows: how many are in use.
        in_data: (n,) their numbers in the data as read, from 0; None where that is not known.
        used: (N,) which of the rows that were read are in use, where the outcome is known; None for all.
        identifiers: by column that identifies rows, its (n,) values; sensitive columns are not among them.
    """

    rows: int
    in_data: Indices | None = None
    used: Mask | None = None
    identifiers: Mapping[str, pa.Array] = field(default_factory=dict)

    def beside(self, table: pa.Table) -> pa.Table:
        """A table that names rows by `row`, with their numbers in the data and their identifiers beside it.

        Args:
            table: anything; one without a column `row`, counted from 1 among the rows in use, stays as it is.

        >>> names = RowNames(3, np.array([0, 2, 3]), None, {"id": pa.array(["a", "c", "d"])})
        >>> names.beside(pa.table({"row": [2, 3], "q": [.1, .2]})).to_pydict()
        {'row': [2, 3], 'row_in_data': [3, 4], 'id': ['c', 'd'], 'q': [0.1, 0.2]}
        """
        if READ in table.column_names:
            table = self._of_read(table)
        if ROW not in table.column_names:
            return table
        row = table.column(ROW).combine_chunks()
        at = pc.subtract(row, 1)
        named: dict[str, Any] = {ROW: row}
        named[IN_DATA] = pa.nulls(len(at), pa.int64())
        if self.in_data is not None:
            named[IN_DATA] = pa.array(np.asarray(self.in_data + 1, dtype=np.int64)).take(at)
        others = [name for name in table.column_names if name != ROW]
        for name, values in self.identifiers.items():
            taken = name in others or name in named
            named[f"{name} (identifier)" if taken else name] = values.take(at)
        return pa.table(named | {name: table.column(name) for name in others})

    def _of_read(self, table: pa.Table) -> pa.Table:
        """A table that numbers rows among all that were read, by their numbers among those in use; None for others."""
        row = table.column(READ).combine_chunks()
        if self.used is not None:
            place = np.where(self.used, np.cumsum(self.used), 0)
            numbers = place[row.to_numpy() - 1]
            row = pa.array(numbers, pa.int64(), mask=numbers == 0)
        return pa.table({ROW: row} | {name: table.column(name) for name in table.column_names if name != READ})
