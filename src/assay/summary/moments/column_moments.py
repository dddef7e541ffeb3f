"""Mean and variance of each column alone: what `Moments` holds, without the (d, d) products; held rows or one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.blocks import float_blocks
from assay.engine.current import map_reduce
from assay.errors import DataError
from assay.linalg.eigen.principal import dense
from assay.linalg.sparse.centred import as_entries, sparse_moments
from assay.summary.moments.accumulate import TINY, chunk_rows, refuse_unusable

_WIDTH = 1024


class MeanVariance(NamedTuple):
    """Mean and variance, (d,) each; the variance of a constant column is exactly zero."""

    mean: Array
    variance: Array


def column_moments(X: Any, names: tuple[str, ...] | None = None) -> MeanVariance:
    """Mean and variance of each column of (n, d) rows, in two passes over a strip of columns or over sparse entries.

    >>> column_moments(np.array([[1.0, 7.0], [3.0, 7.0]]))
    MeanVariance(mean=array([2., 7.]), variance=array([2., 0.]))
    """
    if hasattr(X, "toarray"):
        return _of_entries(X, names)
    n, d = X.shape
    mean, variance = np.empty(d), np.empty(d)
    with np.errstate(all="ignore"):  # what overflows or is not finite is found and named below
        for start in range(0, d, _WIDTH):
            part = slice(start, start + _WIDTH)
            block = dense(X[:, part]).astype(np.float64)
            # clipped into the range, so that a constant column is centred to exact zeros
            mean[part] = np.clip(block.mean(axis=0), block.min(axis=0), block.max(axis=0))
            block -= mean[part]
            offset = block.mean(axis=0)
            mean[part] += offset
            variance[part] = (np.einsum("ij,ij->j", block, block) - n * offset**2) / max(n - 1, 1)
            fine = np.isfinite(variance[part]) & (variance[part] > TINY**2)
            if not fine.all():
                refuse_unusable(dense(X[:, part]), 0, names and names[part], first_column=start)
    return MeanVariance(mean, np.maximum(variance, 0.0))


def _of_entries(X: Any, names: tuple[str, ...] | None) -> MeanVariance:
    rows = as_entries(X)
    n = rows.shape[0]
    wrong = np.flatnonzero(~np.isfinite(rows.data))
    if len(wrong):
        _refuse_column(rows, int(rows.indices[wrong[0]]), names)
    with np.errstate(all="ignore"):  # what overflows is found and named below
        mean, squares = sparse_moments(rows)
    variance = squares / max(n - 1, 1)
    flat = variance <= TINY**2
    doubted = ~np.isfinite(variance)
    if flat.any():  # zeros alone are no reason
        doubted[rows.indices[np.take(flat, rows.indices, mode="clip") & (rows.data != 0.0)]] = True
    for j in np.flatnonzero(doubted):
        _refuse_column(rows, int(j), names)
    return MeanVariance(mean, variance)


def _refuse_column(rows: Any, j: int, names: tuple[str, ...] | None) -> None:
    refuse_unusable(rows[:, [j]].toarray(), 0, names and names[j : j + 1], first_column=j)


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
