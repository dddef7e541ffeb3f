"""The chance of a pair of columns, whatever the dependence, the levels, and the rows.

rank      sums of squared products of ranks and contrasts: t, F, chi^2, rare levels taken together
shape     cosines of ranks, see `rank_shapes`; combined with the first by Cauchy's rule
exact     cells of rare levels, see `rare_cells`; the smaller of both counts twice
lag       of series, ranks some rows apart: half of the weight is that of no lag, the others share the other half

gaps      a pair is judged by the rows where both columns have a value, see `shared_rows`

Rows that depend on each other tell as much as fewer independent ones, n = 1 / Var + 1 for products of variance Var;
pairs of columns with fewer than 12 of these cannot be told from chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices, Mask
from assay.linalg.noise.cauchy_combination import cauchy_combined
from assay.summary.pairs.apart import Apart, Judged
from assay.summary.pairs.association import ColumnsWithGaps, Standard, shared_correlations
from assay.summary.pairs.association_chance import chance_of_share
from assay.summary.pairs.rank_shapes import EXPECTED, Shapes, shapes
from assay.summary.pairs.rare_cells import RareLevels, levels_of
from assay.summary.pairs.shared_rows import Gaps

LAGS = 10
FEWEST_EFFECTIVE = 12.0
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
        apart: (d, d) pairs judged by the rows alone where both have a value; None where nothing is missing.
    """

    p: Array
    by: NDArray[np.int8]
    lag: Indices
    lagged: Array
    effective: Array
    shapes: Shapes | None
    rows: Indices
    levels: RareLevels
    apart: Mask | None = None


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
    found, apart = _at_once(X, groups, standard, rows, seed)
    every = slice(0, len(standard.sizes))
    if found.apart is not None and apart is not None:
        known = found.p, found.by, found.effective
        apart.judge(found.apart, known, partial(_by_shapes, seed), (every, every))
    if rows is not None and rows.kind == "time":
        _at_lags(found, standard)
    if rows is not None:
        found.p[found.effective < FEWEST_EFFECTIVE] = 1.0
    np.fill_diagonal(found.p, np.nan)
    return found


def _by_shapes(seed: int, X: Array, groups: Indices, standard: Standard, rows: DependentRows | None) -> Judged:
    found, _ = _at_once(X, groups, standard, rows, seed)
    return found.p, found.by, found.effective


def _at_once(
    X: Array, groups: Indices, standard: Standard, rows: DependentRows | None, seed: int
) -> tuple[Chances, Apart | None]:
    """All pairs by one product of all columns, 0 where a value is missing."""
    n, d = len(X), len(standard.sizes)
    tiles = TileChances.of(X, groups, standard, rows)
    every = slice(0, d)
    p, by, effective = tiles.together(every, every)
    numbers = standard.sizes == 1
    one = np.logical_or.outer(numbers, numbers)
    some = _some_rows(n, standard.Z.shape[1], rows, seed)
    features = shapes(X if len(some) == n else X[some], groups)
    gaps = None if tiles.gaps is None else Gaps(tiles.gaps.seen[some])
    curved = _of_shapes(features, rows if rows is None or len(some) == n else rows.among(some), gaps)
    both = one & np.isfinite(curved) & np.isfinite(p) & (by == RANK)
    by[both & (curved < p)] = SHAPE
    # a p of 1 would outweigh any other
    p[both] = cauchy_combined(np.minimum([p[both], curved[both]], 0.99))
    apart = None if gaps is None else gaps.apart(features.F, features.starts)
    lag, lagged = np.zeros((d, d), np.intp), np.full((d, d), np.nan)
    return Chances(p, by, lag, lagged, effective, features, some, tiles.levels, apart), tiles.apart


@dataclass(frozen=True, slots=True, eq=False)
class TileChances:
    """The chances of ranks and rare levels, tile by tile, for tables of any width.

    Attributes:
        standard: ranks, made ready.
        levels: of columns that have few.
        signature: (m, d) of the columns, None for independent rows.
        gaps: which values are missing, None where none is.
        expected: rows from which on levels that occur together are frequent: five independent ones.
        apart: pairs by the rows alone where both have a value; None where none is missing.
    """

    standard: Standard
    levels: RareLevels
    signature: Array | None
    gaps: Gaps | None
    expected: float
    apart: Apart | None

    @staticmethod
    def of(X: Array, groups: Indices, standard: Standard, rows: DependentRows | None) -> TileChances:
        """Made ready; arguments as of `pair_chances`."""
        signature, expected = None, EXPECTED
        if rows is not None and rows.kind != "independent":
            # the mean over the numbers of a column: what products of two columns have on average
            sums = np.add.reduceat(rows.signature(standard.Z), standard.starts[:-1], axis=1)
            signature = sums / np.maximum(standard.sizes, 1)
            expected *= max(1.0, len(X) * float(np.median((signature**2).sum(axis=0))))
        levels = levels_of(X, groups, expected)
        if levels.seen is None:
            return TileChances(standard, levels, signature, None, expected, None)
        gaps = Gaps(levels.seen)
        return TileChances(standard, levels, signature, gaps, expected, Apart(X, groups, gaps, rows))

    def __call__(self, rows: slice, columns: slice) -> tuple[Array, NDArray[np.int8], Array]:
        """P, what has it, and the rows that tell as much if independent, all (a, b).

        Args:
            rows: the columns of the table on one side.
            columns: those on the other.
        """
        found = self.together(rows, columns)
        if self.gaps is not None and self.apart is not None:  # numbers are by their rows already
            sizes, whole = self.standard.sizes, self.gaps.seen.min(axis=0) > 0.0
            levels = np.logical_or.outer(sizes[rows] > 1, sizes[columns] > 1)
            gaps = ~np.logical_and.outer(whole[rows], whole[columns])
            self.apart.judge(levels & gaps, found, _by_tiles, (rows, columns))
        return found

    def together(self, rows: slice, columns: slice) -> tuple[Array, NDArray[np.int8], Array]:
        """The same, by products of all rows where there are levels, 0 where one is missing."""
        n, sizes = len(self.standard.Z), self.standard.sizes
        effective = np.full((rows.stop - rows.start, columns.stop - columns.start), float(n))
        if self.signature is not None:
            variance = self.signature[:, rows].T @ self.signature[:, columns]
            effective = np.minimum(1.0 + 1.0 / np.maximum(variance, 1.0 / n), float(n))
        one = np.logical_or.outer(sizes[rows] == 1, sizes[columns] == 1)
        shared, used = self.standard.tested(rows, columns, self.expected)
        same = self.signature is None and self.gaps is None  # one number of rows: its constants are worked out once
        if self.gaps is not None:
            both = self.gaps.shared(rows, columns)
            effective = 1.0 + (effective - 1.0) * both / n
            shared = np.where(both > 0.0, shared, np.nan)
        p = chance_of_share(shared, used, float(n) if same else effective, one, ranks=True)
        by = np.zeros(p.shape, np.int8)
        i, j = np.nonzero(self.levels.rare(rows, columns, self.expected))
        if rows == columns:
            i, j = i[i < j], j[i < j]
        if not len(i):
            return p, by, effective
        exact, other = self.levels.chance(i + rows.start, j + columns.start), p[i, j]
        if self.signature is not None:  # counts of such rows have no exact law: careful by their number
            exact = np.minimum(exact ** (effective[i, j] / n), 1.0)
        alone = np.isnan(other)
        by[i, j] = np.where(alone | (exact < other), EXACT, RANK)
        p[i, j] = np.where(alone, exact, np.minimum(2.0 * np.fmin(exact, other), 1.0))
        if rows == columns:
            p[j, i], by[j, i] = p[i, j], by[i, j]
        return p, by, effective


def _by_tiles(X: Array, groups: Indices, standard: Standard, rows: DependentRows | None) -> Judged:
    every = slice(0, len(standard.sizes))
    return TileChances.of(X, groups, standard, rows).together(every, every)


def _some_rows(n: int, D: int, rows: DependentRows | None, seed: int) -> Indices:
    """All rows where that is quickly done; else a fair part of them, for series every k-th."""
    budget = int(min(_ROWS, max(_PRODUCTS / (7.0 * D) ** 2, _FEWEST)))
    if n <= budget:
        return np.arange(n)
    if rows is not None and rows.kind == "time":
        return np.arange(0, n, -(-n // budget))
    return np.sort(np.random.default_rng(seed).choice(n, budget, replace=False))


def _of_shapes(features: Shapes, rows: DependentRows | None, gaps: Gaps | None) -> Array:
    n, variances = len(features.F), None
    if rows is not None and rows.kind != "independent":
        S = rows.signature(features.F)
        variances = np.maximum(S.T @ S, 1.0 / n)
    if gaps is None:
        return features.chance(variances)
    column = np.repeat(np.arange(len(features.numbers)), np.diff(features.starts))
    there = ColumnsWithGaps(features.F, gaps.seen.astype(bool), column)
    C, both = shared_correlations(there, there)
    alone = 1.0 / np.maximum(both - 1.0, 1.0)
    return features.chance(alone if variances is None else variances * alone * (n - 1.0), np.nan_to_num(C))


def _at_lags(found: Chances, standard: Standard) -> None:
    """Look at series some rows apart, in place."""
    p, n = found.p, len(standard.Z)
    at = standard.starts[:-1]
    numbers = np.logical_and.outer(standard.sizes == 1, standard.sizes == 1)
    best = np.full(p.shape, np.inf)
    Z, seen = standard.Z[:, at], found.levels.seen
    for k in range(1, min(LAGS, n // 4) + 1):
        # [i, j]: column i now with column j k rows later
        if seen is None:
            C = np.clip(Z[:-k].T @ Z[k:] * (n / (n - k)), -1.0, 1.0)
        else:
            there, each = seen.astype(bool), np.arange(len(at))
            C = shared_correlations(ColumnsWithGaps(Z[:-k], there[:-k], each), ColumnsWithGaps(Z[k:], there[k:], each))[
                0
            ]
        telling = found.effective * ((n - k) / n)
        some = chance_of_share(C**2, np.ones(C.shape), telling, np.ones(C.shape, bool), ranks=True)
        for strength, chance, sign in ((C, some, k), (C.T, some.T, -k)):
            better = numbers & (chance < best)
            best[better], found.lag[better], found.lagged[better] = chance[better], sign, strength[better]
    later = 4.0 * LAGS * best < 2.0 * np.nan_to_num(p, nan=1.0)
    p[:] = np.minimum(np.where(later, 4.0 * LAGS * best, 2.0 * p), 1.0)
    found.by[later] = LAGGED
    found.lag[~later], found.lagged[~later] = 0, np.nan
