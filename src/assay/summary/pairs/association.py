"""How strongly columns of any kind go together, from one matrix product.

    number      one standardised column z, |z| = 1, or its ranks standardised
    category    its indicators, centred and made orthonormal: r columns for r + 1 levels in use

With Z of both, the block Z_i^T Z_j of two columns holds their canonical correlations, and

    s_ij = |Z_i^T Z_j|^2       two numbers: rho^2       number and category: eta^2, explained by the category
                               two categories: chi^2 / n

so the strength sqrt(s / min(r_i, r_j)) is the modulus of Pearson's (or, of ranks, Spearman's) correlation, the
correlation ratio, or Cramer's V. What chance does to it is in `association_chance`.

Reference: Kendall and Stuart, The Advanced Theory of Statistics 2, chapter 33.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from assay.arrays import Array
from assay.engine.local import in_threads
from assay.linalg.ranks import average_ranks
from assay.summary.pairs.association_chance import Likely
from assay.summary.pairs.category_basis import codes_of, contrasts
from assay.summary.pairs.rank_shapes import EXPECTED, ranks_resting_on

_STRIP = 16  # columns worked on at a time
_NUMBERS = 1 << 21  # of columns or pairs worked on at a time: 16 MB
_INDEPENDENT = 1e-10  # of the largest eigenvalue: indicators below add nothing


@dataclass(frozen=True, slots=True, eq=False)
class Standard:
    """Columns made ready for products.

    Attributes:
        Z: (n, D) orthonormal within each column of the table, missing values 0.
        seen: (n, D) where there is a value, or None where nothing is missing.
        starts: (d + 1,) the numbers of column j are Z[:, starts[j]:starts[j + 1]].
        sizes: (d,) how many there are; 0 for a column that is constant, whose one number is 0 everywhere.
        signed: (d,) whether a column is a number, whose strength with another has a sign.
        ranks: whether numbers were replaced by their ranks.
        counts: (D,) rows that each number rests on: of a level or contrast of levels the rarer side, infinite for
            values that are spread out; None where they were not asked for.
    """

    Z: Array
    seen: NDArray[np.bool_] | None
    starts: NDArray[np.intp]
    sizes: NDArray[np.intp]
    signed: NDArray[np.bool_]
    ranks: bool
    counts: Array | None = None

    @property
    def plain(self) -> bool:
        """Whether every column is a number and none is missing."""
        return self.seen is None and bool(self.signed.all())

    def strengths(self, rows: slice, columns: slice) -> tuple[Array, Array | float]:
        """The strengths of a tile, signed for two numbers, and the rows behind each.

        A strength is NaN where there is nothing to compare: a column is constant, or is so in the rows where both have
        a value, or there are no such rows. Of columns with themselves the tile is symmetric to the last bit.

        Args:
            rows: the columns of the table on one side.
            columns: those on the other.
        """
        if self.seen is None:
            count: Array | float = float(len(self.Z))
            T = self.Z[:, self._span(rows)].T @ self.Z[:, self._span(columns)]
            found = T if self.plain else self._gathered(T, rows, columns)
        else:
            found, count = self._by_shared_rows(rows, columns)
        both = np.logical_and.outer(self.signed[rows], self.signed[columns])
        found = np.clip(np.where(both, found, np.abs(found)), -1.0, 1.0)
        found[self.sizes[rows] == 0] = np.nan
        found[:, self.sizes[columns] == 0] = np.nan
        if rows == columns:  # sums of (i, j) and (j, i) are taken in different orders: one of them counts
            found = np.where(np.tri(len(found), k=-1, dtype=bool), found.T, found)
        return found, count

    def tested(self, rows: slice, columns: slice, expected: float = EXPECTED) -> tuple[Array, Array]:
        """What a tile is tested by: squared correlations of numbers that go together often enough.

        Each is by the rows where both have a value.

        Args:
            rows: the columns of the table on one side.
            columns: those on the other.
            expected: rows that count as often enough.

        Returns:
            (a, b) their sums; (a, b) how many they are: rare levels are taken together until both sides can be
            expected in five rows, and 0 where that leaves nothing.
        """
        assert self.counts is not None
        a, b = self._span(rows), self._span(columns)
        with np.errstate(invalid="ignore"):  # none of a constant column, beside infinitely many of a number, is none
            often = np.multiply.outer(self.counts[a], self.counts[b]) >= expected * len(self.Z)
        if self.seen is None:
            T = self.Z[:, a].T @ self.Z[:, b]
        else:
            T = np.nan_to_num(shared_correlations(self._all_numbers(rows), self._all_numbers(columns))[0])
        T = np.where(often, T, 0.0)
        at = self.starts[rows] - self.starts[rows.start], self.starts[columns] - self.starts[columns.start]
        shared, used = (np.add.reduceat(np.add.reduceat(M, at[0], axis=0), at[1], axis=1) for M in (T**2, often * 1.0))
        used[self.sizes[rows] == 0] = 0.0
        used[:, self.sizes[columns] == 0] = 0.0
        return shared, used

    def of_pairs(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> tuple[Array, NDArray[np.int64]]:
        """The strengths of (k,) pairs, one by one, and the rows behind each."""
        if self.plain:
            found = np.empty(len(first))
            step = max(_NUMBERS // max(len(self.Z), 1), 1)
            for part in (slice(k, k + step) for k in range(0, len(first), step)):
                found[part] = np.einsum("ij,ij->j", self.Z[:, first[part]], self.Z[:, second[part]])
            return np.clip(found, -1.0, 1.0), np.full(len(first), len(self.Z))
        tiles = [self.strengths(slice(i, i + 1), slice(j, j + 1)) for i, j in zip(first, second, strict=True)]
        counts = [int(n if isinstance(n, float) else n[0, 0]) for _, n in tiles]
        return np.array([tile[0, 0] for tile, _ in tiles]), np.array(counts, dtype=np.int64)

    def likely(self) -> Likely:
        """The chance of a strength where every column is one number and none is missing."""
        return Likely.of(len(self.Z), ranks=self.ranks)

    def _span(self, columns: slice) -> slice:
        return slice(int(self.starts[columns.start]), int(self.starts[columns.stop]))

    def _gathered(self, T: Array, rows: slice, columns: slice) -> Array:
        """From correlations of the numbers to strengths of the columns."""
        at = self.starts[rows] - self.starts[rows.start], self.starts[columns] - self.starts[columns.start]
        squares = np.add.reduceat(np.add.reduceat(T**2, at[0], axis=0), at[1], axis=1)
        r = np.minimum.outer(self.sizes[rows], self.sizes[columns])
        strength = np.sqrt(squares / np.maximum(r, 1))
        alone = np.flatnonzero(self.sizes[rows] == 1), np.flatnonzero(self.sizes[columns] == 1)
        strength[np.ix_(*alone)] = T[np.ix_(at[0][alone[0]], at[1][alone[1]])]
        return strength

    def _by_shared_rows(self, rows: slice, columns: slice) -> tuple[Array, Array]:
        """Each pair by the rows where both have a value: numbers by products, levels made orthonormal anew there."""
        first, second = (self._first_numbers(part) for part in (rows, columns))
        found, counts = shared_correlations(first, second)
        several = np.logical_or.outer(self.sizes[rows] > 1, self.sizes[columns] > 1)
        if several.any():
            T = self.Z[:, self._span(rows)].T @ self.Z[:, self._span(columns)]
            gaps = np.logical_or.outer(~first.seen.all(axis=0), ~second.seen.all(axis=0))
            found = np.where(several, self._gathered(T, rows, columns), found)
            for i, j in zip(*np.nonzero(several & gaps), strict=True):
                found[i, j] = self._pair(rows.start + int(i), columns.start + int(j))
        return found, counts

    def _first_numbers(self, columns: slice) -> ColumnsWithGaps:
        """Of some columns: the one that a number has."""
        assert self.seen is not None
        at = self.starts[columns]
        return ColumnsWithGaps(self.Z[:, at], self.seen[:, at], np.arange(len(at)))

    def _all_numbers(self, columns: slice) -> ColumnsWithGaps:
        assert self.seen is not None
        at = self.starts[columns]
        sizes = np.diff(self.starts[columns.start : columns.stop + 1])
        return ColumnsWithGaps(self.Z[:, self._span(columns)], self.seen[:, at], np.repeat(np.arange(len(at)), sizes))

    def _pair(self, i: int, j: int) -> float:
        assert self.seen is not None
        a, b = self._span(slice(i, i + 1)), self._span(slice(j, j + 1))
        both = self.seen[:, a.start] & self.seen[:, b.start]
        A, B = _orthonormal(self.Z[both, a]), _orthonormal(self.Z[both, b])
        if not (A.shape[1] and B.shape[1]):
            return np.nan
        return float(np.sqrt(((A.T @ B) ** 2).sum() / min(A.shape[1], B.shape[1])))


@dataclass(frozen=True, slots=True, eq=False)
class ColumnsWithGaps:
    """Columns of length 1 with gaps.

    Attributes:
        Z: (n, D) numbers, 0 where missing.
        seen: (n, d) where a column has a value.
        column: (D,) that each number belongs to.
    """

    Z: Array
    seen: NDArray[np.bool_]
    column: NDArray[np.intp]


def shared_correlations(first: ColumnsWithGaps, second: ColumnsWithGaps) -> tuple[Array, Array]:
    """(A, B) correlations of numbers, each by the rows where both have a value, and (A, B) how many these are.

    NaN where one of the two is constant there.

    Args:
        first, second: the columns on both sides.
    """
    A, B = first.Z, second.Z
    seen_a, seen_b = first.seen.astype(np.float64), second.seen.astype(np.float64)
    at = np.ix_(first.column, second.column)
    n = (seen_a.T @ seen_b)[at]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_a, mean_b = (A.T @ seen_b)[:, second.column] / n, (seen_a.T @ B)[first.column] / n
        spread_a = ((A**2).T @ seen_b)[:, second.column] - n * mean_a**2
        spread_b = (seen_a.T @ B**2)[first.column] - n * mean_b**2
        R = (A.T @ B - n * mean_a * mean_b) / np.sqrt(spread_a) / np.sqrt(spread_b)
    # what is left of a column of length 1 in the rows of a pair: nothing but rounding where it is constant there
    R[(spread_a <= _INDEPENDENT) | (spread_b <= _INDEPENDENT)] = np.nan
    return R, n


def standardised(X: Array, groups: NDArray[np.intp], *, ranks: bool, counted: bool = False) -> Standard:
    """Make the columns of a table ready.

    Args:
        X: (n, D) numbers, NaN where missing.
        groups: (D,) the column of the table that each number belongs to, ascending from 0 without gaps; several for a
            category, one for each level.
        ranks: whether columns of one number are replaced by their ranks, ties by the mean of theirs.
        counted: whether to count the rows that each number rests on, which `Standard.tested` needs.

    >>> standard = standardised(np.array([[1.0], [2.0], [4.0]]), np.array([0]), ranks=False)
    >>> standard.Z.ravel().round(3)
    array([-0.617, -0.154,  0.772])
    """
    missing, d = np.isnan(X), int(groups[-1]) + 1
    bounds = np.searchsorted(groups, np.arange(d + 1))
    width = np.diff(bounds)
    # one row for each number, along which sums and ranks are fast; a category has fewer than its indicators
    Z, found, resting = np.empty((len(groups), len(X))), np.ones(d, dtype=np.intp), np.full(d, np.inf)
    step = min(max(_NUMBERS // max(len(X), 1), 1), _STRIP)

    def strip(start: int) -> None:
        columns = np.arange(start, min(start + step, d))
        single = columns[width[columns] == 1]
        if len(single):
            values, gaps = (np.ascontiguousarray(part[:, bounds[single]].T) for part in (X, missing))
            units = _unit(_ranks(values, gaps) if ranks else values, gaps)
            Z[bounds[single]] = units
            if counted:
                resting[single] = _resting(values, units)
        for j in columns[width[columns] > 1]:
            basis = _spread_out(X[:, bounds[j] : bounds[j + 1]])
            found[j] = len(basis)
            Z[bounds[j] : bounds[j] + len(basis)] = basis

    in_threads(strip, range(0, d, step))
    starts = np.concatenate([[0], np.cumsum(found)])
    if starts[-1] < len(Z):
        for j in range(d):
            Z[starts[j] : starts[j + 1]] = Z[bounds[j] : bounds[j] + found[j]]
        Z = Z[: starts[-1]]
    filled = np.concatenate([[0], np.cumsum(Z.any(axis=1))])
    sizes = np.where(filled[starts[1:]] > filled[starts[:-1]], found, 0)
    counts = None
    if counted:
        counts = np.repeat(resting, found)
        for j in np.flatnonzero(width > 1).tolist():
            counts[starts[j] : starts[j + 1]] = _of_levels(X[:, bounds[j] : bounds[j + 1]], int(found[j]))
    seen = None
    if missing.any():
        whole = np.logical_or.reduceat(missing, bounds[:-1], axis=1)
        seen = ~np.repeat(whole, found, axis=1)
    return Standard(Z.T, seen, starts, sizes, width == 1, ranks, counts)


def _of_levels(block: Array, width: int) -> Array:
    """Rows that the numbers of a category rest on."""
    counts = contrasts(codes_of(block)).counts
    return counts if len(counts) == width else np.zeros(width)


def _resting(values: Array, units: Array) -> Array:
    """Rows that columns of one number rest on, from a row for each and the same ranked and scaled."""
    n = values.shape[1]
    step = np.sqrt(12.0 / (n * (n * n - 1.0))) if n > 1 else 0.0  # of ranks without ties, scaled to length 1
    tied = ~np.isclose(np.abs(units).max(axis=1, initial=0.0), step * (n - 1) / 2.0, rtol=1e-9)
    found = np.full(len(values), np.inf)
    if tied.any():
        found[tied] = ranks_resting_on(values[tied])
    return found


def _ranks(values: Array, gaps: NDArray[np.bool_]) -> Array:
    """Ranks along each row, ties by the mean of theirs."""
    if not gaps.any():
        return np.asarray(average_ranks(values, axis=1), dtype=np.float64)
    ranked = np.empty_like(values)
    for row, gap, out in zip(values, gaps, ranked, strict=True):
        if gap.any():
            out[~gap] = average_ranks(row[~gap])
            out[gap] = np.nan
        else:
            out[:] = average_ranks(row)
    return ranked


def _unit(values: Array, gaps: NDArray[np.bool_]) -> Array:
    """Centred rows of length 1, missing values 0; a constant row becomes 0."""
    whole = not gaps.any()
    values = values if whole else np.where(gaps, 0.0, values)
    largest = np.abs(values).max(axis=1, initial=0.0)
    # a power of two, so that neither squares nor differences of the largest values overflow
    scaled = np.ldexp(values, (-np.frexp(largest)[1] - 1)[:, None])
    count = np.maximum((~gaps).sum(axis=1), 1)
    for _ in range(2):  # the second time takes away what rounding left of the mean
        mean = (scaled.sum(axis=1) / count)[:, None]
        scaled -= mean if whole else np.where(gaps, 0.0, mean)
    low = (values if whole else np.where(gaps, np.inf, values)).min(axis=1, initial=np.inf)
    high = (values if whole else np.where(gaps, -np.inf, values)).max(axis=1, initial=-np.inf)
    spread = np.abs(scaled).max(axis=1, initial=0.0)
    scaled = np.ldexp(scaled, (-np.frexp(spread)[1])[:, None])
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    scaled *= np.where(low < high, 1.0 / np.maximum(length, 1e-300), 0.0)[:, None]
    return np.asarray(scaled)


def _spread_out(block: Array) -> Array:
    """The orthonormal basis of a category's indicators as rows, 0 where there is no value; at least one."""
    codes = codes_of(block)
    if (codes >= 0).any():
        table = contrasts(codes).table
        return np.ascontiguousarray(table[codes].T) if table.shape[1] else np.zeros((1, len(block)))
    full = ~np.isnan(block).any(axis=1)
    basis = _orthonormal(block[full])
    whole = np.zeros((max(1, basis.shape[1]), len(block)))
    whole[: basis.shape[1], full] = basis.T
    return whole


def _orthonormal(rows: Array) -> Array:
    """An orthonormal basis of the centred columns: (n, r)."""
    if len(rows) < 2:
        return rows[:, :0]
    centred = rows - rows.mean(axis=0)
    values, vectors = sla.eigh(centred.T @ centred)
    used = values > _INDEPENDENT * max(float(values[-1]), 1e-300)
    return np.asarray(centred @ (vectors[:, used] / np.sqrt(values[used])))
