"""Count, mean and variance of each column alone, in one pass: what `Moments` holds, without the (d, d) products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.blocks import float_blocks
from assay.engine.current import map_reduce
from assay.errors import DataError
from assay.summary.moments.accumulate import TINY, chunk_rows, refuse_unusable
from assay.summary.moments.column_moments import column_moments


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSums:
    """Mean and squared deviations of each column; `a + b` summarises both data sets (Chan, Golub & LeVeque 1979).

    Attributes:
        count: rows summarised.
        mean: (d,).
        squares: (d,) sum of squared deviations from the mean; exactly zero for a constant column.

    >>> (ColumnSums.of([[1.0, 7.0]]) + ColumnSums.of([[3.0, 7.0]])).variance
    array([2., 0.])
    """

    count: int
    mean: Array
    squares: Array

    @classmethod
    def of(cls, data: Any, names: tuple[str, ...] | None = None) -> ColumnSums:
        """Summarise rows in one pass; the result does not depend on the number of threads.

        Args:
            data: (n, d) array, sparse matrix, data frame, `Source`, or an iterable of (b, d) blocks.
            names: of the columns, for messages; taken from the data where they have some.
        """
        if hasattr(data, "toarray"):
            found = column_moments(data, names)
            n = int(data.shape[0])
            return cls(n, found.mean, found.variance * max(n - 1, 1))
        blocks = float_blocks(data)
        known = blocks.columns if names is None else names
        return map_reduce(blocks, lambda part: cls._of_block(part[1], part[0], known), cls.__add__)

    @classmethod
    def _of_block(cls, rows: NDArray[Any], first_row: int, names: tuple[str, ...] | None) -> ColumnSums:
        b, d = rows.shape
        step = chunk_rows(d)
        total, squares = np.zeros(d), np.zeros(d)
        with np.errstate(all="ignore"):  # what overflows or is not finite is found and named below
            # near the data, so that little is lost when the square of the mean is taken off; a constant stays constant
            near = np.clip(rows[:step].mean(axis=0, dtype=np.float64), rows[:step].min(axis=0), rows[:step].max(axis=0))
            for i in range(0, b, step):
                centred = rows[i : i + step] - near
                total += np.ones(len(centred)) @ centred
                squares += np.einsum("ij,ij->j", centred, centred)
            squares -= total**2 / b
            if not (np.isfinite(squares) & (squares > TINY**2)).all():
                refuse_unusable(rows, first_row, names)
        return cls(b, near + total / b, np.maximum(squares, 0.0))

    @property
    def variance(self) -> Array:
        """(d,) variance of each column."""
        if self.count < 2:
            raise DataError(f"a variance needs more than one row; there is {self.count}")
        return self.squares / (self.count - 1.0)

    def __add__(self, other: ColumnSums) -> ColumnSums:
        count = self.count + other.count
        gap = other.mean - self.mean
        mean = self.mean + gap * (other.count / count)
        return ColumnSums(count, mean, self.squares + other.squares + gap**2 * (self.count * other.count / count))
