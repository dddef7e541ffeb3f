"""Rows of a kernel matrix: what the SMO solver asks of one, and a cache of rows as far as the memory given allows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array, Whole
from assay.errors import DataError
from assay.optimize.team import Team
from assay.optimize.validate import finite

_CHUNK = 2**20  # values computed by one task: the same cuts for any number of threads, so that bits are the same
_STRIP = 8192  # columns summed by one task
_SAMPLE = 256  # rows whose mean stands for that of all

Values: TypeAlias = NDArray[Any]  # float32 or float64
Fill: TypeAlias = Callable[[Whole, Values], None]


class KernelRows(Protocol):
    """A symmetric (n, n) matrix K that is computed by rows.

    Attributes:
        diagonal: (n,) the values K_ii.
        threads: whether `fill` may be called from several threads at once.
    """

    diagonal: Array
    threads: bool

    def among(self, columns: Whole | None, dtype: np.dtype[Any]) -> Fill:
        """From (rows, out) to nothing: writes K[rows][:, columns] to `out`, of this dtype. None means all columns.

        Rows and columns rise.
        """
        ...

    def error(self, dtype: np.dtype[Any]) -> float:
        """Typical size (root mean square) of the error of a value of this dtype."""
        ...


class RidgedRows:
    """A kernel matrix with something added to its diagonal.

    Args:
        kernel: the matrix, by rows.
        ridge: (n,) what is added.

    >>> rows = RidgedRows(MatrixRows([[1.0, 0.5], [0.5, 2.0]]), np.array([1.0, 3.0]))
    >>> rows.diagonal
    array([2., 5.])
    """

    def __init__(self, kernel: KernelRows, ridge: Array) -> None:
        self._kernel, self._ridge = kernel, ridge
        self.diagonal: Array = kernel.diagonal + ridge
        self.threads = kernel.threads

    def among(self, columns: Whole | None, dtype: np.dtype[Any]) -> Fill:
        """Rows of the matrix, their own entries raised."""
        inner, place = self._kernel.among(columns, dtype), np.arange(len(self.diagonal)) if columns is None else columns

        def fill(rows: Whole, out: Values) -> None:
            inner(rows, out)
            at = np.minimum(np.searchsorted(place, rows), len(place) - 1)
            own = np.flatnonzero(place[at] == rows)
            out[own, at[own]] += self._ridge[rows[own]]

        return fill

    def error(self, dtype: np.dtype[Any]) -> float:
        """That of the matrix: what is added is rounded with it."""
        return self._kernel.error(dtype)


class MatrixRows:
    """A kernel matrix at hand.

    Args:
        K: (n, n), symmetric.

    >>> rows = MatrixRows([[1.0, 0.5], [0.5, 2.0]])
    >>> rows.diagonal
    array([1., 2.])
    """

    threads = True

    def __init__(self, K: ArrayLike) -> None:
        self.values = finite(K, "K", 2)
        if self.values.shape[0] != self.values.shape[1]:
            raise DataError(f"K must be square, has shape {self.values.shape}.")
        self.diagonal = np.diag(self.values).copy()

    def among(self, columns: Whole | None, dtype: np.dtype[Any]) -> Fill:
        """Rows of K, all of their columns or some."""

        def fill(rows: Whole, out: Values) -> None:
            out[:] = self.values[rows] if columns is None else self.values[np.ix_(rows, columns)]

        return fill

    def error(self, dtype: np.dtype[Any]) -> float:
        """That of rounding a value as large as those on the diagonal."""
        return float(np.finfo(dtype).eps) / 4 * float(np.sqrt(np.mean(self.diagonal**2)))


def spread(kernel: KernelRows) -> Array:
    """(n,) squared distances, in feature space, to the mean of an evenly spaced sample of at most 256 rows.

    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> spread(MatrixRows(np.outer(x, x)))
    array([ 9.,  4.,  1., 36.])
    """
    n = len(kernel.diagonal)
    sample = np.unique(np.linspace(0, n - 1, _SAMPLE).astype(np.int64))
    fill, row, toward = kernel.among(None, np.dtype(np.float64)), np.empty((1, n)), np.zeros(n)
    for one in sample:
        fill(np.array([one]), row)
        toward += row[0] / len(sample)
    return np.asarray(np.maximum(kernel.diagonal - 2.0 * toward + toward[sample].mean(), 0.0))


class RowCache:
    """A table of kernel rows over some of the columns; those unused for longest make room.

    Args:
        kernel: where rows come from.
        dtype: float32 or float64.
        size: numbers the table may hold; at least two rows are held whatever it says.
        team: threads to compute with.

    Attributes:
        columns: the columns held, rising; None for all.
        capacity: rows the table has room for.
        computed: rows computed so far.
    """

    def __init__(self, kernel: KernelRows, dtype: np.dtype[Any], size: int, team: Team) -> None:
        n = len(kernel.diagonal)
        self.computed = 0
        self._kernel, self._dtype, self._team, self._n = kernel, dtype, team, n
        self._flat = np.empty(min(max(size, 2 * n), n * n), dtype=dtype)
        self.restart()

    def restart(self) -> None:
        """Forget every row, and hold all columns again."""
        self._widen(None, self._n)
        self._slot = np.full(self._n, -1)
        self._owner, self._used = np.full(self.capacity, -1), np.zeros(self.capacity, dtype=np.int64)
        self._clock = 0

    def narrow(self, keep: Whole) -> None:
        """Hold only the columns at the positions `keep`, rising, of those held now; rows stay, and more have room."""
        from assay.optimize.smo._smo_kernels import keep_columns

        live = np.flatnonzero(self._owner >= 0)
        keep_columns(self._flat, self.width, live, keep)
        owner, used = self._owner[live], self._used[live]
        self._widen(keep if self.columns is None else self.columns[keep], len(keep))
        self._slot[owner] = np.arange(len(live))
        empty = self.capacity - len(live)
        self._owner = np.pad(owner, (0, empty), constant_values=-1)
        self._used = np.pad(used, (0, empty))

    def slots(self, rows: Whole) -> Whole:
        """Where these rows, at most `capacity` different ones, stand in the table; missing ones are computed."""
        self._clock += 1
        found = self._slot[rows]
        self._used[found[found >= 0]] = self._clock
        missing = rows[found < 0]
        if len(missing):
            self._compute(missing)
        return self._slot[rows]

    def block(self, slots: Whole, places: Whole) -> Values:
        """(a, b) the values of rows at `slots` in the columns at `places`."""
        from assay.optimize.smo._smo_kernels import gather_block

        block = np.empty((len(slots), len(places)), dtype=self._dtype)
        work = partial(gather_block, self._table, slots, places, block)
        self._team.run(self._team.over_rows(len(slots), work))
        return block

    def add(self, slots: Whole, weights: Array, total: Array) -> None:
        """Total, of one entry for each column held, += sum of weights times rows."""
        from assay.optimize.smo._smo_kernels import add_rows

        work = partial(add_rows, self._table, slots, weights, total)
        self._team.run([partial(work, s, min(s + _STRIP, self.width)) for s in range(0, self.width, _STRIP)])

    def _widen(self, columns: Whole | None, width: int) -> None:
        self.columns, self.width = columns, width
        self.capacity = max(1, min(self._flat.size // max(1, width), self._n))
        self._table = self._flat[: self.capacity * width].reshape(self.capacity, width)
        self._fill = self._kernel.among(columns, self._dtype)

    def _compute(self, missing: Whole) -> None:
        k = len(missing)
        free = np.sort(np.argpartition(self._used, k - 1)[:k]) if k < self.capacity else np.arange(self.capacity)
        gone = self._owner[free]
        self._slot[gone[gone >= 0]] = -1
        step = max(1, min(64, _CHUNK // max(1, self.width)))

        def fill(first: int) -> None:
            rows, to = missing[first : first + step], free[first : first + step]
            if to[-1] - to[0] == len(to) - 1:
                self._fill(rows, self._table[to[0] : to[-1] + 1])
            else:
                part = np.empty((len(rows), self.width), dtype=self._dtype)
                self._fill(rows, part)
                self._table[to] = part

        _run(self._team, self._kernel, [partial(fill, first) for first in range(0, k, step)])
        self._owner[free], self._slot[missing], self._used[free] = missing, free, self._clock
        self.computed += k


def weighted_rows(kernel: KernelRows, rows: Whole, weights: Array, team: Team) -> Array:
    """(n,) sum of weights times K[rows], with float64 values, none of them kept."""
    from assay.optimize.smo._smo_kernels import add_rows

    n = len(kernel.diagonal)
    step = max(1, min(64, _CHUNK // n))
    fill = kernel.among(None, np.dtype(np.float64))
    parts = [np.empty((step, n)) for _ in range(team.threads)]
    total = np.zeros(n)
    for first in range(0, len(rows), team.threads * step):
        starts = range(first, min(first + team.threads * step, len(rows)), step)
        held = [part[: len(rows) - s] for s, part in zip(starts, parts, strict=False)]
        _run(team, kernel, [partial(fill, rows[s : s + step], part) for s, part in zip(starts, held, strict=True)])
        for s, part in zip(starts, held, strict=True):
            work = partial(add_rows, part, np.arange(len(part)), weights[s : s + step], total)
            team.run([partial(work, c, min(c + _STRIP, n)) for c in range(0, n, _STRIP)])
    return total


def _run(team: Team, kernel: KernelRows, tasks: list[Any]) -> None:
    if kernel.threads:
        team.run(tasks)
    else:
        for task in tasks:
            task()
