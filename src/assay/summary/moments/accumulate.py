"""The moments of one block, cut into chunks that stay in the cache."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.engine.current import map_reduce
from assay.errors import DataError, ParameterError
from assay.linalg import double_double as dd

# Squares of what lies beyond these leave the range of float64.
HUGE = 1e140
TINY = 1e-140


def chunk_rows(d: int) -> int:
    """Rows per chunk: about 2 MB of float64, which a core's second-level cache holds or nearly so."""
    return int(np.clip(262_144 // max(d, 1), 256, 4096))


class Accumulator:
    """Sums of x - s and (x - s)(x - s)^T about a provisional centre s near the data.

    With s the mean of a share f of the rows, subtracting n e e^T at the end (e = mean - s) loses at most a factor 1/f
    of precision, and the rows are read from memory only once.
    """

    def __init__(self, d: int, *, names: tuple[str, ...] | None = None) -> None:
        self.count = 0
        self._weight = 0.0
        self._names = names
        self._shift: Array | None = None
        self._sum = np.zeros(d)
        self._scatter = np.zeros((d, d))
        self._product = np.empty((d, d))

    def add(self, rows: NDArray[Any], weight: Array | None = None, *, first_row: int = 0) -> None:
        """Take in (b, d) rows; they are not changed."""
        step = chunk_rows(rows.shape[1])
        # a buffer in the layout of the data: transposing costs more than the product
        order: Literal["F", "C"] = "F" if rows.flags.f_contiguous and not rows.flags.c_contiguous else "C"
        buffer = np.empty((min(step, len(rows)), rows.shape[1]), order=order)
        with np.errstate(all="ignore"):  # what overflows or is not finite is found and named below
            for i in range(0, len(rows), step):
                chunk = rows[i : i + step]
                centred = np.subtract(chunk, self._near(chunk), out=buffer[: len(chunk)])
                self._take(centred, None if weight is None else weight[i : i + step])
        if self.suspicious.any():
            refuse_unusable(rows, first_row, self._names)

    def add_copied(self, rows: Array, weight: Array | None = None) -> None:
        """Take in (b, d) float64 rows that may be overwritten."""
        with np.errstate(all="ignore"):
            rows -= self._near(rows)
            self._take(rows, weight)

    def _near(self, rows: NDArray[Any]) -> Array:
        """The provisional centre: the mean of the first rows seen."""
        if self._shift is None:
            # clipped into the range, so that a constant column is centred to exact zeros
            mean = rows.mean(axis=0, dtype=np.float64)
            self._shift = np.clip(mean, rows.min(axis=0), rows.max(axis=0)).astype(np.float64, copy=False)
        return self._shift

    def _take(self, centred: Array, weight: Array | None) -> None:
        self.count += len(centred)
        if weight is None:
            self._weight += len(centred)
            self._sum += np.ones(len(centred)) @ centred
        else:
            self._weight += float(weight.sum())
            self._sum += weight @ centred
            centred *= np.sqrt(weight)[:, None]
        self._scatter += np.matmul(centred.T, centred, out=self._product)

    @property
    def suspicious(self) -> NDArray[np.bool_]:
        """(d,) which columns may hold values whose squares are not finite, normal numbers."""
        squares = np.diag(self._scatter)
        fine = np.isfinite(self._sum) & (squares > TINY**2) & (squares < np.inf)
        return ~fine | ~np.isfinite(self._scatter).all(axis=0)

    def finish(self) -> tuple[float, dd.Pair, Array]:
        """Weight, mean as a pair, and scatter about the mean."""
        d = len(self._sum)
        if self._shift is None or self._weight == 0.0:
            return 0.0, dd.pair(np.zeros(d)), np.zeros((d, d))
        offset = self._sum / self._weight
        scatter = self._scatter - np.multiply.outer(self._sum, offset)
        scatter = (scatter + scatter.T) / 2.0
        # rounding may leave a variance a hair below zero
        np.fill_diagonal(scatter, np.maximum(np.diag(scatter), 0.0))
        return self._weight, dd.two_sum(self._shift, offset), scatter


def refuse_unusable_rows(blocks: Iterable[Any], names: tuple[str, ...] | None) -> None:
    """Raise for the first value of all blocks that cannot be used; they are read once more to find it.

    Args:
        blocks: first row and rows of each, and what may lie beside them.
        names: of the columns, for messages.
    """

    def look(part: Any) -> None:
        refuse_unusable(part[1], part[0], names)

    map_reduce(blocks, look, lambda a, b: None, empty=None)


def refuse_unusable(
    rows: NDArray[Any], first_row: int, names: tuple[str, ...] | None, *, first_column: int = 0
) -> None:
    """Raise for the first value whose square is not a finite, normal number, and say where it is."""

    def label(j: int) -> str:
        return f"column {first_column + j}" if names is None else f"column {names[j]!r}"

    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        i, j = map(int, bad[0])
        value = "missing (NaN)" if np.isnan(rows[i, j]) else "infinite"
        raise DataError(
            f"row {first_row + i}, {label(j)} is {value}: moments need finite numbers; "
            "leave such rows out, or fill them by assay.FillMissing"
        )
    low, high = rows.min(axis=0), rows.max(axis=0)
    spread = high.astype(np.float64) - low
    size = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
    for column in np.flatnonzero((spread > HUGE) | (size > HUGE**2) | ((spread > 0) & (spread < TINY))):
        j = int(column)
        raise DataError(
            f"{label(j)} runs from {low[j]:g} to {high[j]:g}: the squares of its deviations "
            "leave the range of floating point numbers; rescale the column"
        )


def checked_weights(weights: ArrayLike, n: int) -> Array:
    """Weights of n rows as floats, finite and not negative."""
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (n,):
        raise ParameterError(f"there must be one weight for each of the {n} rows; got shape {w.shape}")
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0.0)))
    if bad.size:
        raise ParameterError(f"weights are finite and not negative; the weight of row {bad[0]} is {w[bad[0]]}")
    return w


def weights_of_rows(weights: ArrayLike | None, n: int) -> Array | None:
    """The same, some of them above zero; None where none are given.

    >>> weights_of_rows([1, 0], 2)
    array([1., 0.])
    """
    if weights is None:
        return None
    w = checked_weights(weights, n)
    if not w.any():
        raise ParameterError("the weights of all rows are zero: at least one must be above")
    return w
