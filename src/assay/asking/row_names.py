"""What rows are called in tables of numbers: their place in the data, and what identifies them there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from assay.arrays import Indices, Mask

ROW, IN_DATA = "row", "row_in_data"
READ = "row_read"  # among all rows that were read, in use or not; the tables of a study have `row` instead


@dataclass(frozen=True, slots=True, eq=False)
class RowNames:
    """Places and identifiers of the N rows that were read, n of them in use.

    Attributes:
        used: (N,) which of them are in use; None for all.
        in_data: (N,) their numbers in the data, from 0, where rows without an outcome count too; None where that is not
            known.
        identifiers: by column that identifies rows, its (N,) values; sensitive columns are not among them.
    """

    used: Mask | None = None
    in_data: Indices | None = None
    identifiers: Mapping[str, pa.Array] = field(default_factory=dict)

    def beside(self, table: pa.Table) -> pa.Table:
        """A table that names rows, with their numbers in the data and their identifiers beside.

        Args:
            table: has a column `row`, counted from 1 among the rows in use, or `row_read`, counted from 1 among all
                that were read; one with neither stays as it is.

        >>> names = RowNames(np.array([True, False, True]), np.arange(3), {"id": pa.array(["a", "b", "c"])})
        >>> names.beside(pa.table({"row": [2], "q": [.1]})).to_pydict()
        {'row': [2], 'row_in_data': [3], 'id': ['c'], 'q': [0.1]}
        """
        if ROW not in table.column_names and READ not in table.column_names:
            return table
        named: dict[str, Any] = {}
        if ROW in table.column_names:
            named[ROW] = table.column(ROW)
            at = table.column(ROW).to_numpy() - 1
            at = at if self.used is None else np.flatnonzero(self.used)[at]
        else:
            at = table.column(READ).to_numpy() - 1
            named[ROW] = self._among_used(at)
        known = self.in_data
        named[IN_DATA] = pa.nulls(len(at), pa.int64()) if known is None else pa.array((known[at] + 1).astype(np.int64))
        others = [name for name in table.column_names if name not in (ROW, READ)]
        for name, values in self.identifiers.items():
            taken = name in others or name in named
            named[f"{name} (identifier)" if taken else name] = values.take(pa.array(at))
        return pa.table(named | {name: table.column(name) for name in others})

    def _among_used(self, at: Indices) -> pa.Array:
        """Numbers among the rows in use, from 1; None for those that are not."""
        if self.used is None:
            return pa.array(at + 1)
        return pa.array(np.cumsum(self.used)[at], pa.int64(), mask=~self.used[at])
