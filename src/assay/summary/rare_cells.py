"""Pairs of columns whose levels are too rare for the law of large counts, by exact chances of single cells.

Given how often each level occurs, the number of rows with level a of one column and b of the other is hypergeometric if the columns
know nothing of each other. Two levels each: Fisher's exact test. More: every cell, two-sided by twice the smaller tail, and
Bonferroni over the cells. A number that mostly has one value counts as two levels, that value and the others.

Reference: Agresti, Categorical Data Analysis, section 3.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from assay.summary.category_basis import codes_of
from assay.summary.rank_shapes import EXPECTED, resting_on

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

_EQUAL = 1.0 + 1e-7  # probabilities that are the same but for rounding, as in SciPy and R
_AT_ONCE = 1 << 22  # probabilities held at a time


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The levels of columns that have few.

    Attributes:
        rows: how many.
        B: (n, L) indicators: one for a column of two levels, that of the rarer; all for a column of more.
        starts: (d + 1,) those of column j are B[:, starts[j]:starts[j + 1]]; none for numbers whose values are spread out.
        rarest: (d,) rows with the rarest level; infinite where there are none.
    """

    rows: int
    B: NDArray[np.float32]
    starts: Indices
    rarest: Array

    @property
    def rare(self) -> NDArray[np.bool_]:
        """(d, d) pairs of columns whose rarest levels together can be expected in fewer than five rows."""
        known = np.isfinite(self.rarest)
        with np.errstate(invalid="ignore"):
            few = np.multiply.outer(self.rarest, self.rarest) < EXPECTED * self.rows
        return np.asarray(few & np.logical_and.outer(known, known))

    def among(self, rows: Indices) -> Levels:
        """The same levels in some rows."""
        return Levels(len(rows), self.B[rows], self.starts, self.rarest)

    def chance(self, first: Indices, second: Indices) -> Array:
        """(k,) exact chance of the pairs of columns; 1 where a column has no levels.

        Args:
            first, second: (k,) numbers of the columns.
        """
        together = np.rint(self.B.T @ self.B).astype(np.int64)
        counts = np.rint(self.B.sum(axis=0, dtype=np.float64)).astype(np.int64)
        sizes = np.diff(self.starts)
        p = np.ones(len(first))
        two = (sizes[first] == 1) & (sizes[second] == 1)
        a, b = self.starts[first[two]], self.starts[second[two]]
        p[two] = fisher(together[a, b], counts[a], counts[b], self.rows)
        for k in np.flatnonzero(~two & (sizes[first] > 0) & (sizes[second] > 0)):
            i, j = (slice(self.starts[c[k]], self.starts[c[k] + 1]) for c in (first, second))
            cells = _cells(together[i, j], counts[i][:, None], counts[j][None, :], self.rows)
            p[k] = min(1.0, cells.size * float(cells.min()))
        return p


def levels_of(X: Array, groups: Indices) -> Levels:
    """The levels of the columns of a table without gaps.

    Args:
        X: (n, D) numbers.
        groups: (D,) the column of the table that each number belongs to, ascending from 0 without gaps.
    """
    d = int(groups[-1]) + 1
    bounds = np.searchsorted(groups, np.arange(d + 1))
    parts, rarest = [], np.full(d, np.inf)
    for j in range(d):
        block = X[:, bounds[j] : bounds[j + 1]]
        indicators = _two(block[:, 0]) if block.shape[1] == 1 else _all(block)
        counts = indicators.sum(axis=0, dtype=np.float64)
        if indicators.shape[1]:
            rarest[j] = float(counts.min())
        parts.append(indicators)
    starts = np.concatenate([[0], np.cumsum([part.shape[1] for part in parts])])
    return Levels(len(X), np.concatenate(parts, axis=1), starts, rarest)


def fisher(together: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64], n: int) -> Array:
    """Fisher's exact test of many tables of two by two, two-sided: all that are no more likely than the one seen.

    Args:
        together: (k,) rows with both.
        first, second: (k,) rows with each.
        n: rows.

    >>> fisher(np.array([3]), np.array([4]), np.array([4]), 8).round(4)
    array([0.4857])
    """
    cases, where = np.unique(np.stack([together, first, second]), axis=1, return_inverse=True)
    p = np.ones(cases.shape[1])
    span = np.minimum(cases[1], cases[2]) - np.maximum(cases[1] + cases[2] - n, 0) + 1
    start = 0
    while start < len(p):  # as many tables at a time as their possible counts allow
        stop = start + max(1, int(np.searchsorted(np.cumsum(span[start:]), _AT_ONCE)))
        some = slice(start, stop)
        o, a, b = cases[:, some]
        low = np.maximum(a + b - n, 0)
        x = low[:, None] + np.arange(int(span[some].max()))
        mass = hypergeom.pmf(x, n, a[:, None], b[:, None])
        seen = hypergeom.pmf(o, n, a, b)
        p[some] = np.minimum(np.where(mass <= seen[:, None] * _EQUAL, mass, 0.0).sum(axis=1), 1.0)
        start = stop
    return p[where.ravel()]


def _cells(together: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64], n: int) -> Array:
    """The chance of each cell, two-sided."""
    a, b = np.broadcast_to(first, together.shape), np.broadcast_to(second, together.shape)
    upper, lower = hypergeom.sf(together - 1, n, a, b), hypergeom.cdf(together, n, a, b)
    return np.asarray(np.minimum(2.0 * np.minimum(upper, lower), 1.0))


def _two(values: Array) -> NDArray[np.float32]:
    """Whether a number has not its most frequent value, or has if that is rarer; nothing where values are spread out."""
    if not np.isfinite(resting_on(values)):
        return np.empty((len(values), 0), dtype=np.float32)
    found, counts = np.unique(values, return_counts=True)
    other = values != found[np.argmax(counts)]
    return (other if 2 * other.sum() <= len(values) else ~other)[:, None].astype(np.float32)


def _all(block: Array) -> NDArray[np.float32]:
    codes = codes_of(block)
    present = np.unique(codes[codes >= 0])
    if len(present) < 2:
        return np.empty((len(block), 0), dtype=np.float32)
    if len(present) == 2:
        rarer = min(present, key=lambda level: int((codes == level).sum()))
        return (codes == rarer)[:, None].astype(np.float32)
    return (codes[:, None] == present).astype(np.float32)
