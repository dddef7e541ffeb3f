"""What rows are called in tables of numbers: their place in the data, and what identifies them there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from assay.arrays import Indices

ROW, IN_DATA = "row", "row_in_data"


@dataclass(frozen=True, slots=True, eq=False)
class RowNames:
    """Places and identifiers of the rows in use.

    Attributes:
        rows: how many are in use.
        in_data: (n,) their numbers in the data as read, from 0; None where that is not known.
        identifiers: by column that identifies rows, its (n,) values; sensitive columns are not among them.
    """

    rows: int
    in_data: Indices | None = None
    identifiers: Mapping[str, pa.Array] = field(default_factory=dict)

    def beside(self, table: pa.Table) -> pa.Table:
        """A table that names rows by `row`, with their numbers in the data and their identifiers beside it.

        Args:
            table: anything; one without a column `row`, counted from 1 among the rows in use, stays as it is.

        >>> names = RowNames(3, np.array([0, 2, 3]), {"id": pa.array(["a", "c", "d"])})
        >>> names.beside(pa.table({"row": [2, 3], "q": [.1, .2]})).to_pydict()
        {'row': [2, 3], 'row_in_data': [3, 4], 'id': ['c', 'd'], 'q': [0.1, 0.2]}
        """
        if ROW not in table.column_names:
            return table
        at = table.column(ROW).to_numpy() - 1
        unknown = pa.nulls(len(at), pa.int64())
        named: dict[str, Any] = {ROW: table.column(ROW)}
        named[IN_DATA] = unknown if self.in_data is None else pa.array(np.asarray(self.in_data[at] + 1, np.int64))
        others = [name for name in table.column_names if name != ROW]
        for name, values in self.identifiers.items():
            taken = name in others or name in named
            named[f"{name} (identifier)" if taken else name] = values.take(pa.array(at))
        return pa.table(named | {name: table.column(name) for name in others})
