"""The chance of a pair of columns, whatever the dependence, the levels, and the rows.

rank      sums of squared products of ranks and contrasts: t, F, chi^2, rare levels taken together
shape     cosines of ranks, see `rank_shapes`; combined with the first by Cauchy's rule
exact     cells of rare levels, see `rare_cells`; the smaller of both counts twice
lag       of series, ranks some rows apart: half of the weight is that of no lag, the others share the other half

Rows that depend on each other tell as much as fewer independent ones, n = 1 / Var + 1 for products of variance Var;
pairs of columns with fewer than 12 of these cannot be told from chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.linalg.noise.cauchy_combination import cauchy_combined
from assay.summary.pairs.association import Standard
from assay.summary.pairs.association_chance import chance_of_share
from assay.summary.pairs.rank_shapes import EXPECTED, Shapes, shapes
from assay.summary.pairs.rare_cells import RareLevels, levels_of

LAGS = 10
FEWEST_EFFECTIVE = 12.0
FEWEST_SHARED = 12  # rows that two columns with gaps must have in common
WIDEST = 500  # columns up to which shapes are looked at
_ROWS = 20_000  # rows up to which all are
_PRODUCTS = 5e9  # multiplications for that, beyond which fewer are
_FEWEST = 2000

RANK, SHAPE, EXACT, LAGGED = range(4)


class DependentRows(Protocol):
    """How rows depend on each other, as far as products of columns go."""

    @property
    def kind(self) -> str:
        """Of the dependence; "time" for series."""
        ...

    def signature(self, Z: Array) -> Array:
        """(m, D) S with Var(z_i' z_j) = sum_k S_ki S_kj."""
        ...

    def among(self, numbers: Indices) -> DependentRows:
        """The same for some rows, ascending numbers."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """All pairs of columns.

    Attributes:
        p: (d, d) chance of each; NaN on the diagonal and where there is nothing to test.
        by: (d, d) what has the smallest: RANK, SHAPE, EXACT or LAGGED.
        lag: (d, d) rows by which a column leads another where that goes together best, negative where it follows.
        lagged: (d, d) rank correlation at that lag; NaN where there is none.
        effective: (d, d) independent rows that would tell as much.
        shapes: features behind it, None where there are too many columns.
        rows: (m,) rows they are of.
        levels: of columns that have few.
    """

    p: Array
    by: NDArray[np.int8]
    lag: Indices
    lagged: Array
    effective: Array
    shapes: Shapes | None
    rows: Indices
    levels: RareLevels


def pair_chances(
    X: Array, groups: Indices, standard: Standard, rows: DependentRows | None = None, seed: int = 0
) -> Chances:
    """The chance of every pair of columns of a table, of at most some hundred columns.

    Args:
        X: (n, D) numbers, NaN where missing: such rows take no part in the products of their column.
        groups: (D,) the column of the table that each number belongs to, ascending from 0 without gaps.
        standard: its ranks, made ready, with 0 where missing.
        rows: how they depend on each other; None for independent ones.
        seed: of the rows in which shapes are looked at, where these are many.
    """
    n, d = len(X), len(standard.sizes)
    tiles = TileChances.of(X, groups, standard, rows)
    every = slice(0, d)
    p, by, effective = tiles(every, every)
    numbers = standard.sizes == 1
    one = np.logical_or.outer(numbers, numbers)
    some = _some_rows(n, standard.Z.shape[1], rows, seed)
    features = shapes(X if len(some) == n else X[some], groups)
    curved = _of_shapes(features, rows if rows is None or len(some) == n else rows.among(some), tiles.gaps)
    both = one & np.isfinite(curved) & np.isfinite(p) & (by == RANK)
    by[both & (curved < p)] = SHAPE
    # a p of 1 would outweigh any other
    p[both] = cauchy_combined(np.minimum([p[both], curved[both]], 0.99))
    lag, lagged = np.zeros((d, d), np.intp), np.full((d, d), np.nan)
    if rows is not None and rows.kind == "time":
        _at_lags(p, by, lag, lagged, standard, effective)
    if rows is not None:
        p[effective < FEWEST_EFFECTIVE] = 1.0
    np.fill_diagonal(p, np.nan)
    return Chances(p, by, lag, lagged, effective, features, some, tiles.levels)


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Which values are missing.

    Attributes:
        seen: (n, d) where there is one, as 0 and 1.
    """

    seen: NDArray[np.float32]

    def variance(self, rows: slice, columns: slice) -> Array:
        """(a, b) what gaps make of the variance of products of unit columns: n n_ij / (n_i n_j), at least 1.

        Values that are missing in the same rows leave fewer products than columns that lack as many elsewhere. Infinite
        where no row has both.
        """
        A, B = self.seen[:, rows], self.seen[:, columns]
        both = (A.T @ B).astype(np.float64)
        own = np.multiply.outer(A.sum(axis=0, dtype=np.float64), B.sum(axis=0, dtype=np.float64))
        more = np.maximum(len(self.seen) * both / np.maximum(own, 1.0), 1.0)
        return np.asarray(np.where(both >= FEWEST_SHARED, more, np.inf))


def gaps_of(X: Array, groups: Indices) -> Gaps | None:
    """Which values of the columns of a table are missing; None where none is.

    Args:
        X: (n, D) numbers, NaN where missing.
        groups: (D,) the column of the table that each number belongs to, ascending from 0 without gaps.
    """
    if not np.isnan(X.sum()):
        return None
    starts = np.searchsorted(groups, np.arange(int(groups[-1]) + 1))
    return Gaps((~np.logical_or.reduceat(np.isnan(X), starts, axis=1)).astype(np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class TileChances:
    """The chances of ranks and rare levels, tile by tile, for tables of any width.

    Attributes:
        standard: ranks, made ready.
        levels: of columns that have few.
        signature: (m, d) of the columns, None for independent rows.
        gaps: which values are missing, None where none is.
        expected: rows from which on levels that occur together are frequent: five independent ones.
    """

    standard: Standard
    levels: RareLevels
    signature: Array | None
    gaps: Gaps | None
    expected: float

    @staticmethod
    def of(X: Array, groups: Indices, standard: Standard, rows: DependentRows | None) -> TileChances:
        """Made ready; arguments as of `pair_chances`."""
        signature, expected = None, EXPECTED
        if rows is not None and rows.kind != "independent":
            # the mean over the numbers of a column: what products of two columns have on average
            sums = np.add.reduceat(rows.signature(standard.Z), standard.starts[:-1], axis=1)
            signature = sums / np.maximum(standard.sizes, 1)
            expected *= max(1.0, len(X) * float(np.median((signature**2).sum(axis=0))))
        return TileChances(standard, levels_of(X, groups, expected), signature, gaps_of(X, groups), expected)

    def __call__(self, rows: slice, columns: slice) -> tuple[Array, NDArray[np.int8], Array]:
        """P, what has it, and the rows that tell as much if independent, all (a, b).

        Args:
            rows: the columns of the table on one side.
            columns: those on the other.
        """
        n, sizes = len(self.standard.Z), self.standard.sizes
        effective = np.full((rows.stop - rows.start, columns.stop - columns.start), float(n))
        if self.signature is not None:
            variance = self.signature[:, rows].T @ self.signature[:, columns]
            effective = np.minimum(1.0 + 1.0 / np.maximum(variance, 1.0 / n), float(n))
        shared, used = self.standard.tested(rows, columns, self.expected)
        if self.gaps is not None:
            more = self.gaps.variance(rows, columns)
            effective = 1.0 + (effective - 1.0) / more
            shared = np.where(np.isfinite(more), shared, np.nan)
        one = np.logical_or.outer(sizes[rows] == 1, sizes[columns] == 1)
        same = self.signature is None and self.gaps is None  # one number of rows: its constants are worked out once
        p = chance_of_share(shared, used, float(n) if same else effective, one, ranks=True)
        by = np.zeros(p.shape, np.int8)
        i, j = np.nonzero(self.levels.rare(rows, columns, self.expected))
        if rows == columns:
            i, j = i[i < j], j[i < j]
        if not len(i):
            return p, by, effective
        exact, other = self.levels.chance(i + rows.start, j + columns.start), p[i, j]
        if (
            self.signature is not None
        ):  # counts of rows that depend on each other have no exact law: careful by their number
            exact = np.minimum(exact ** (effective[i, j] / n), 1.0)
        alone = np.isnan(other)
        by[i, j] = np.where(alone | (exact < other), EXACT, RANK)
        p[i, j] = np.where(alone, exact, np.minimum(2.0 * np.fmin(exact, other), 1.0))
        if rows == columns:
            p[j, i], by[j, i] = p[i, j], by[i, j]
        return p, by, effective


def _some_rows(n: int, D: int, rows: DependentRows | None, seed: int) -> Indices:
    """All rows where that is quickly done; else a fair part of them, for series every k-th."""
    budget = int(min(_ROWS, max(_PRODUCTS / (7.0 * D) ** 2, _FEWEST)))
    if n <= budget:
        return np.arange(n)
    if rows is not None and rows.kind == "time":
        return np.arange(0, n, -(-n // budget))
    return np.sort(np.random.default_rng(seed).choice(n, budget, replace=False))


def _of_shapes(features: Shapes, rows: DependentRows | None, gaps: Gaps | None) -> Array:
    if gaps is None and (rows is None or rows.kind == "independent"):
        return features.chance()
    n, D = features.F.shape
    variances = np.full((D, D), 1.0 / (n - 1.0))
    if rows is not None and rows.kind != "independent":
        S = rows.signature(features.F)
        variances = np.maximum(S.T @ S, 1.0 / n)
    if gaps is not None:
        every = slice(0, len(features.numbers))
        column = np.repeat(np.arange(len(features.numbers)), np.diff(features.starts))
        variances = variances * np.minimum(gaps.variance(every, every), float(n))[np.ix_(column, column)]
    return features.chance(variances)


def _at_lags(p: Array, by: NDArray[np.int8], lag: Indices, lagged: Array, standard: Standard, effective: Array) -> None:
    """Look at series some rows apart, in place."""
    n = len(standard.Z)
    at = standard.starts[:-1]
    numbers = np.logical_and.outer(standard.sizes == 1, standard.sizes == 1)
    best = np.full(p.shape, np.inf)
    Z = standard.Z[:, at]
    for k in range(1, min(LAGS, n // 4) + 1):
        # [i, j]: column i now with column j k rows later
        C = np.clip(Z[:-k].T @ Z[k:] * (n / (n - k)), -1.0, 1.0)
        some = chance_of_share(C**2, np.ones(C.shape), effective * ((n - k) / n), np.ones(C.shape, bool), ranks=True)
        for strength, chance, sign in ((C, some, k), (C.T, some.T, -k)):
            better = numbers & (chance < best)
            best[better], lag[better], lagged[better] = chance[better], sign, strength[better]
    later = 4.0 * LAGS * best < 2.0 * np.nan_to_num(p, nan=1.0)
    p[:] = np.minimum(np.where(later, 4.0 * LAGS * best, 2.0 * p), 1.0)
    by[later] = LAGGED
    lag[~later], lagged[~later] = 0, np.nan
