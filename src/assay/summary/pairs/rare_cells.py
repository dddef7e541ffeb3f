"""Pairs of columns whose levels are too rare for the law of large counts, by exact chances of single cells.

Given how often each level occurs, the number of rows with level a of one column and b of the other is hypergeometric
if the columns are independent. Two levels each: Fisher's exact test. More: every cell, two-sided by twice
the smaller tail, and Bonferroni over the cells. A number that mostly has one value counts as two levels, that value
and the others. All are counted in the rows where both columns have a value.

Reference: Agresti, Categorical Data Analysis, section 3.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices, column_strips
from assay.summary.pairs.category_basis import codes_of
from assay.summary.pairs.rank_shapes import EXPECTED, resting_on

_EQUAL = 1.0 + 1e-7  # probabilities that are the same but for rounding, as in SciPy and R
_AT_ONCE = 1 << 22  # probabilities held at a time
_NUMBERS = 1 << 20  # of columns looked at at a time


@dataclass(frozen=True, slots=True, eq=False)
class RareLevels:
    """The levels of columns that have few of them.

    Attributes:
        rows: how many.
        B: (n, L) indicators: one for a column of two levels, that of the rarer; all for a column of more.
        starts: (d + 1,) those of column j are B[:, starts[j]:starts[j + 1]]; none for numbers whose values are spread
            out.
        rarest: (d,) rows with the rarest level; infinite where there are none.
        seen: (n, d) where there is a value, as 0 and 1; None where nothing is missing.
    """

    rows: int
    B: NDArray[np.float32]
    starts: Indices
    rarest: Array
    seen: NDArray[np.float32] | None = None

    def rare(self, rows: slice, columns: slice, expected: float = EXPECTED) -> NDArray[np.bool_]:
        """(a, b) pairs of columns whose rarest levels together can be expected in fewer rows than five.

        Args:
            rows: the columns of the table on one side.
            columns: those on the other.
            expected: another number than five.
        """
        a, b = self.rarest[rows], self.rarest[columns]
        few = np.multiply.outer(a, b) < expected * self.rows
        return np.asarray(few & np.logical_and.outer(np.isfinite(a), np.isfinite(b)))

    def among(self, rows: Indices) -> RareLevels:
        """The same levels in some rows."""
        seen = None if self.seen is None else self.seen[rows]
        return RareLevels(len(rows), self.B[rows], self.starts, self.rarest, seen)

    def chance(self, first: Indices, second: Indices) -> Array:
        """(k,) exact chance of the pairs of columns; 1 where a column has no levels.

        Args:
            first, second: (k,) numbers of the columns.
        """
        sizes = np.diff(self.starts)
        p = np.ones(len(first))
        told = np.flatnonzero((sizes[first] > 0) & (sizes[second] > 0))
        if not len(told):
            return p
        (A, at_a), (B, at_b) = self._of(first[told]), self._of(second[told])
        together = np.rint(A.T @ B).astype(np.int64)
        two = (sizes[first[told]] == 1) & (sizes[second[told]] == 1)
        pair = told[two]
        a, b = at_a[first[pair]], at_b[second[pair]]
        p[pair] = fisher(together[a, b], *self._margins((A, B), (a, b), (first[pair], second[pair])))
        more = told[~two]
        if len(more):
            cells = sizes[first[more]] * sizes[second[more]]
            wide = np.repeat(sizes[second[more]], cells)
            number = np.arange(int(cells.sum())) - np.repeat(np.cumsum(cells) - cells, cells)
            a = np.repeat(at_a[first[more]], cells) + number // wide
            b = np.repeat(at_b[second[more]], cells) + number % wide
            columns = np.repeat(first[more], cells), np.repeat(second[more], cells)
            each = _cells(together[a, b], *self._margins((A, B), (a, b), columns))
            p[more] = np.minimum(cells * np.minimum.reduceat(each, np.cumsum(cells) - cells), 1.0)
        return p

    def _of(self, columns: Indices) -> tuple[NDArray[np.float32], Indices]:
        """Indicators of some columns, and where among them each column begins."""
        asked = np.unique(columns)
        places = np.concatenate([np.arange(self.starts[c], self.starts[c + 1]) for c in asked])
        begin = np.zeros(len(self.starts) - 1, dtype=np.intp)
        sizes = self.starts[asked + 1] - self.starts[asked]
        begin[asked] = np.cumsum(sizes) - sizes
        return self.B[:, places], begin

    def _margins(
        self,
        indicators: tuple[NDArray[np.float32], NDArray[np.float32]],
        levels: tuple[Indices, Indices],
        columns: tuple[Indices, Indices],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """(k,) how often each of two levels occurs in the rows where both columns have a value, and these rows."""
        (A, B), (a, b), (first, second) = indicators, levels, columns
        if self.seen is None:
            own = [np.rint(M.sum(axis=0, dtype=np.float64)).astype(np.int64)[at] for M, at in ((A, a), (B, b))]
            return own[0], own[1], np.full(len(a), self.rows)
        products = (A.T @ self.seen)[a, second], (B.T @ self.seen)[b, first], (self.seen.T @ self.seen)[first, second]
        counts = [np.rint(part).astype(np.int64) for part in products]
        return counts[0], counts[1], counts[2]


def levels_of(X: Array, groups: Indices, expected: float = EXPECTED) -> RareLevels:
    """The levels of the columns of a table; none are kept of a column whose levels are frequent with those of any
    other.

    Args:
        X: (n, D) numbers, NaN where missing.
        groups: (D,) the column of the table that each number belongs to, ascending from 0 without gaps.
        expected: rows from which on levels that occur together are frequent.
    """
    d = int(groups[-1]) + 1
    bounds = np.searchsorted(groups, np.arange(d + 1))
    parts, rarest = [np.empty((len(X), 0), dtype=np.float32)] * d, np.full(d, np.inf)
    for j in _with_levels(X, bounds):
        block = X[:, bounds[j] : bounds[j + 1]]
        indicators = _two(block[:, 0]) if block.shape[1] == 1 else _all(block)
        counts = indicators.sum(axis=0, dtype=np.float64)
        if indicators.shape[1]:
            rarest[j] = float(counts.min())
        parts[j] = indicators
    few = rarest * rarest.min(initial=np.inf) < expected * len(X)
    parts = [part if here else part[:, :0] for part, here in zip(parts, few, strict=True)]
    starts = np.concatenate([[0], np.cumsum([part.shape[1] for part in parts])])
    return RareLevels(len(X), np.concatenate(parts, axis=1), starts, rarest, values_there(X, groups))


def _with_levels(X: Array, bounds: Indices) -> Indices:
    """Columns that may have levels: not those of one number that has no frequent value and no gaps."""
    single = np.flatnonzero(np.diff(bounds) == 1)
    may = np.ones(len(bounds) - 1, dtype=bool)
    for strip in column_strips((len(X), len(single)), _NUMBERS):
        some = single[strip]
        values = np.ascontiguousarray(X[:, bounds[some]].T)
        may[some] = np.isfinite(resting_on(values)) | np.isnan(values).any(axis=1)
    return np.flatnonzero(may)


def values_there(X: Array, groups: Indices) -> NDArray[np.float32] | None:
    """(n, d) where the columns of a table have a value, as 0 and 1; None where nothing is missing.

    Args:
        X: (n, D) numbers, NaN where missing.
        groups: (D,) the column of the table that each number belongs to, ascending from 0 without gaps.
    """
    if not np.isnan(X.sum()):
        return None
    starts = np.searchsorted(groups, np.arange(int(groups[-1]) + 1))
    return (~np.logical_or.reduceat(np.isnan(X), starts, axis=1)).astype(np.float32)


def fisher(
    together: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64], n: NDArray[np.int64]
) -> Array:
    """Fisher's exact test of many tables of two by two, two-sided: all that are no more likely than the one seen.

    Args:
        together: (k,) rows with both.
        first, second: (k,) rows with each.
        n: (k,) rows.

    >>> fisher(np.array([3]), np.array([4]), np.array([4]), np.array([8])).round(4)
    array([0.4857])
    """
    from scipy.stats import hypergeom  # a third of a second to load, which most tables can do without

    cases, where = _different(together, first, second, n)
    p = np.ones(cases.shape[1])
    span = np.minimum(cases[1], cases[2]) - np.maximum(cases[1] + cases[2] - cases[3], 0) + 1
    start = 0
    while start < len(p):  # as many tables at a time as their possible counts allow
        stop = start + max(1, int(np.searchsorted(np.cumsum(span[start:]), _AT_ONCE)))
        some = slice(start, stop)
        o, a, b, m = cases[:, some]
        low = np.maximum(a + b - m, 0)
        x = low[:, None] + np.arange(int(span[some].max()))
        mass = hypergeom.pmf(x, m[:, None], a[:, None], b[:, None])
        seen = hypergeom.pmf(o, m, a, b)
        p[some] = np.minimum(np.where(mass <= seen[:, None] * _EQUAL, mass, 0.0).sum(axis=1), 1.0)
        start = stop
    return p[where]


def _different(*counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], Indices]:
    """(4, c) the cases there are, and (k,) which each is: of many tables hardly any differ from all others."""
    base = int(max(part.max(initial=0) for part in counts)) + 1
    if base**4 >= 1 << 63:  # four counts in one whole number would leave its range
        cases, where = np.unique(np.stack(counts), axis=1, return_inverse=True)
        return cases, where.ravel()
    powers = base ** np.arange(4)[:, None]
    keys, where = np.unique((np.stack(counts) * powers).sum(axis=0), return_inverse=True)
    return keys // powers % base, where


def _cells(
    together: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64], n: NDArray[np.int64]
) -> Array:
    """(k,) the chance of each cell, two-sided."""
    from scipy.stats import hypergeom

    (o, a, b, m), where = _different(together, first, second, n)
    upper, lower = hypergeom.sf(o - 1, m, a, b), hypergeom.cdf(o, m, a, b)
    return np.asarray(np.minimum(2.0 * np.minimum(upper, lower), 1.0)[where])


def _two(values: Array) -> NDArray[np.float32]:
    """Whether a number has not its most frequent value, or has if that is rarer; nothing where none is frequent."""
    seen = values[~np.isnan(values)]
    found, counts = np.unique(seen, return_counts=True)
    if len(found) < 2 or not np.isfinite(resting_on(seen[None])[0]):
        return np.empty((len(values), 0), dtype=np.float32)
    most = found[np.argmax(counts)]
    rarer = (values != most) & ~np.isnan(values) if 2 * counts.max() >= len(seen) else values == most
    return np.asarray(rarer[:, None], dtype=np.float32)


def _all(block: Array) -> NDArray[np.float32]:
    codes = codes_of(block)
    present = np.unique(codes[codes >= 0])
    if len(present) < 2:
        return np.empty((len(block), 0), dtype=np.float32)
    if len(present) == 2:
        rarer = min(present, key=lambda level: int((codes == level).sum()))
        return np.asarray((codes == rarer)[:, None], dtype=np.float32)
    return np.asarray(codes[:, None] == present, dtype=np.float32)
