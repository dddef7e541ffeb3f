"""How the numbers of many columns spread, of some columns at a time: what is done for one by one costs calls.

Values are sorted along each column, those that are missing or infinite last; quartiles, distinct values, values that
recur and far ends follow from places in that order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.asking.coarse import FEWEST

TENTHS = 10
TOP = 5  # values that are named, at most
_TILE = 1 << 18  # values looked at together
_PARTS = np.array([[0.25], [0.5], [0.75]])


@dataclass(frozen=True, slots=True, eq=False)
class NumberSpread:
    """Of the finite values of every column.

    Attributes:
        seen: (d,) how many there are.
        distinct: (d,) how many different ones.
        zeros: (d,) how many are zero.
        top, often: (5, d) values that occur often enough to be named, the most frequent first, and in how many rows;
            NaN and 0 where there are no more.
        low, high: (d,) least and largest.
        quartiles: (3, d) as `np.quantile` has them; NaN where there is no value.
        log_quartiles: (3, d) of log(1 + x), where that is asked for; NaN elsewhere.
        drift: (10, d) mean of each tenth of the rows, NaN where a tenth has no value; (0, d) of too few rows.
    """

    seen: Indices
    distinct: Indices
    zeros: Indices
    top: Array
    often: Indices
    low: Array
    high: Array
    quartiles: Array
    log_quartiles: Array
    drift: Array

    @classmethod
    def of(
        cls, values: Array, tenth: Indices, logged: NDArray[np.bool_], columns: Indices | None = None
    ) -> NumberSpread:
        """Look at a table, a tile of columns at a time.

        Args:
            values: (m, d) NaN where missing.
            tenth: (m,) of the data, from 0, that each row lies in.
            logged: (d,) columns whose logarithms are looked at, too.
            columns: the only ones to look at; of others nothing is known.

        >>> spread = NumberSpread.of(np.array([[1.0], [4.0], [np.nan], [2.0]]), np.zeros(4, int), np.array([False]))
        >>> spread.quartiles[:, 0], int(spread.distinct[0])
        (array([1.5, 2. , 3. ]), 3)
        """
        m, d = values.shape
        asked = np.arange(d) if columns is None else columns
        step = max(1, _TILE // max(m, 1))
        tiles = (asked[start : start + step] for start in range(0, len(asked), step))
        found = _joined(_tile(values[:, tile].T, tenth, logged[tile]) for tile in tiles) if len(asked) and m else None
        return found._at(asked, d) if found is not None else _unknown(d, m)

    def _at(self, columns: Indices, d: int) -> NumberSpread:
        """The same among d columns."""
        if len(columns) == d:
            return self
        whole = _unknown(d, 2 * TENTHS if len(self.drift) else 0)
        for part in fields(self):
            getattr(whole, part.name)[..., columns] = getattr(self, part.name)
        return whole


def _unknown(d: int, m: int) -> NumberSpread:
    none, gap = np.zeros(d, dtype=np.intp), np.full(d, np.nan)
    tenths = np.full((TENTHS if m >= 2 * TENTHS else 0, d), np.nan)
    gaps = np.full((3, d), np.nan)
    return NumberSpread(
        none, none.copy(), none.copy(), np.full((TOP, d), np.nan), np.zeros((TOP, d), dtype=np.intp), gap, gap.copy(),
        gaps, gaps.copy(), tenths,
    )  # fmt: skip


def _joined(parts: Iterable[NumberSpread]) -> NumberSpread:
    every = list(parts)
    return NumberSpread(
        *(np.concatenate([getattr(p, part.name) for p in every], axis=-1) for part in fields(NumberSpread))
    )


def _tile(X: Array, tenth: Indices, logged: NDArray[np.bool_]) -> NumberSpread:
    """Of (c, m) columns as lines."""
    finite = np.isfinite(X)
    n = finite.sum(axis=1)
    ordered = np.sort(np.where(finite, X, np.nan), axis=1)  # NaN comes last
    lines, last = np.arange(len(X)), np.maximum(n - 1, 0)
    there = np.arange(ordered.shape[1]) < n[:, None]
    logs = np.full((3, len(X)), np.nan)
    if logged.any():
        with np.errstate(invalid="ignore", divide="ignore"):
            logs[:, logged] = _quartiles(np.log1p(ordered[logged]), n[logged])
    begins = np.ones(ordered.shape, dtype=bool)  # of values that are the same, the first
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=begins[:, 1:])
    top, often = _most_frequent(ordered, begins, there)
    return NumberSpread(
        seen=n,
        distinct=(begins & there).sum(axis=1),
        zeros=(ordered == 0.0).sum(axis=1),
        top=top,
        often=often,
        low=ordered[:, 0],
        high=ordered[lines, last],
        quartiles=4.0 * _quartiles(ordered / 4.0, n),
        log_quartiles=logs,
        drift=_drift(X, finite, tenth),
    )


def _most_frequent(ordered: Array, begins: NDArray[np.bool_], there: NDArray[np.bool_]) -> tuple[Array, Indices]:
    """(5, c) values that at least five rows have, the most frequent first, the smaller first of equally many."""
    c, m = ordered.shape
    top, often = np.full((TOP, c), np.nan), np.zeros((TOP, c), dtype=np.intp)
    at = np.flatnonzero(begins)
    rows = np.diff(at, append=ordered.size)
    kept = (rows >= FEWEST) & there.ravel()[at]
    at, rows = at[kept], rows[kept]
    line = at // m
    order = np.lexsort((-rows, line))
    at, rows, line = at[order], rows[order], line[order]
    rank = np.arange(len(line)) - np.searchsorted(line, line)
    first = rank < TOP
    top[rank[first], line[first]] = ordered.ravel()[at[first]]
    often[rank[first], line[first]] = rows[first]
    return top, often


def _quartiles(ordered: Array, n: Indices) -> Array:
    """(3, c) of (c, m) ascending values, the first n of each line, by the formula of `np.quantile`.

    Of quarters of the values where these may be large: interpolation between 1e308 and its opposite would overflow.
    """
    last = np.maximum(n - 1, 0)
    place = last * _PARTS
    below = np.floor(place).astype(np.intp)
    share, lines = place - below, np.arange(len(n))
    a, b = ordered[lines, below], ordered[lines, np.minimum(below + 1, last)]
    return np.asarray(np.where(share >= 0.5, b - (b - a) * (1.0 - share), a + (b - a) * share))


def _drift(X: Array, finite: NDArray[np.bool_], tenth: Indices) -> Array:
    """(10, c) the mean of each tenth of the rows, in their order."""
    if X.shape[1] < 2 * TENTHS:
        return np.empty((0, len(X)))
    size = np.where(finite, np.abs(X), 0.0).max(axis=1)
    size[size == 0.0] = 1.0  # sums of what is divided by it stay in range
    shares = np.where(finite, X / size[:, None], 0.0)
    found = np.full((TENTHS, len(X)), np.nan)
    for part in range(TENTHS):
        here = tenth == part
        if here.any():
            n = finite[:, here].sum(axis=1)
            mean = shares[:, here].sum(axis=1) / np.maximum(n, 1)
            found[part] = np.where(n > 0, mean * size, np.nan)
    return found
