"""Any dependence between columns, whatever its shape: cosines of their ranks, and one matrix product.

    f_j(u) = sqrt(2) cos(pi j u),  u = (rank - 1/2) / n,  j = 1 ... 6         number; where ties make them dependent,
    what
                                                                            each adds to those before it
    contrasts of its levels                                                category, see `category_basis`

All are centred and of length 1, and orthonormal within a column. Independent columns have products
C_jk = f_j' g_k of mean 0 and variance 1 / (n - 1) exactly, whatever their laws, so that

    T = sum_jk w_j w_k C_jk^2,  w_j = j^(-1/2) for a cosine, 1 for a contrast

is nearly a sum of chi-squares with weights w_j w_k / (n - 1): its tail is taken from the shifted, scaled chi-square
with the same three moments. Where rows depend on each other the variances are those of the design. It errs on the
careful side where rows are few, since products are bounded. The products are moments of the features: given the
ranks, they merge.

Products of features that rest on few rows (a rare level, a number that nearly always is the same) have no such law:
they count only where both together can be expected in five rows.

Reference: Kallenberg and Ledwina, Data-driven rank tests for independence, JASA 94 (1999).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.special as sc
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.engine.local import in_threads
from assay.linalg.ranks import average_ranks
from assay.summary.pairs.category_basis import codes_of, contrasts

COSINES = 6
EXPECTED = 5.0  # rows, from which on counts follow the law of large ones
_TIED = 0.1  # share of one value, up to which ranks count as spread out
_ADDS = 1e-3  # of its square, what a cosine must add to those before it
_STRIP = 16  # columns worked on at a time


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """Features of columns, ready for products.

    Attributes:
        F: (n, D) centred, of length 1, orthonormal within each column of the table but for the first number of a
            column of numbers, which is its rank.
        starts: (d + 1,) the features of column j are F[:, starts[j]:starts[j + 1]].
        weights: (D,) w; 0 for ranks.
        counts: (D,) rows that a feature rests on; infinite for ranks without large ties and their cosines.
        numbers: (d,) whether a column is a number.
    """

    F: Array
    starts: Indices
    weights: Array
    counts: Array
    numbers: NDArray[np.bool_]

    def chance(self, variances: Array | None = None, products: Array | None = None) -> Array:
        """(d, d) probability that columns without any connection are connected as much; NaN where nothing can be said.

        Args:
            variances: (D, D) of the products; 1 / (n - 1) for independent rows.
            products: (D, D) others than F' F, where values are missing.
        """
        n = len(self.F)
        C = self.F.T @ self.F if products is None else products
        weights = np.multiply.outer(self.weights, self.weights)
        with np.errstate(invalid="ignore"):  # a level without rows beside a number, 0 times infinity: nothing to expect
            weights[~(np.multiply.outer(self.counts, self.counts) >= EXPECTED * n)] = 0.0
        scale = weights / (n - 1.0) if variances is None else weights * variances
        at = self.starts[:-1]
        heaviness = self._heaviness()
        heavy = 1.0 + np.multiply.outer(heaviness, heaviness) / (2.0 * n)
        T, mean, square, cube = (
            np.add.reduceat(np.add.reduceat(M, at, axis=0), at, axis=1)
            for M in (weights * C**2, scale, scale**2 * heavy, scale**3 * heavy**3)
        )
        return weighted_tail(T, mean, square, cube, self._bounded(mean))

    def _heaviness(self) -> Array:
        """(D,) excess kurtosis where it is positive: a product has that of both, divided by n. Cosines have none."""
        found = np.zeros(len(self.counts))
        some = np.flatnonzero(np.isfinite(self.counts))
        found[some] = np.maximum(len(self.F) * (self.F[:, some] ** 4).sum(axis=0) - 3.0, 0.0)
        return found

    def _bounded(self, mean: Array) -> Array:
        """(d, d) what the variance of T is of that of independent squares: products of unit vectors share a bound.

        Those of two orthonormal sets are nearly entries of a random rotation of N = n - 1 dimensions, whose squares
        have the variance 3 / (N (N + 2)) - 1 / N^2 and known covariances in a row, in a column, and elsewhere.
        """
        at = self.starts[:-1]
        one, two = np.add.reduceat(self.weights, at), np.add.reduceat(self.weights**2, at)
        other = one**2 - two
        same = np.multiply.outer(two, two)
        line = np.multiply.outer(two, other) + np.multiply.outer(other, two)
        rest = np.multiply.outer(other, other)
        with np.errstate(invalid="ignore", divide="ignore"):
            N = np.clip(np.multiply.outer(one, one) / mean, 3.0, 1e12)
            own = 3.0 / (N * (N + 2.0)) - 1.0 / N**2
            beside = 1.0 / (N * (N + 2.0)) - 1.0 / N**2
            apart = (N + 1.0) / (N * (N - 1.0) * (N + 2.0)) - 1.0 / N**2
            return np.asarray((same * own + line * beside + rest * apart) / (2.0 * same / N**2))


def weighted_tail(T: Array, mean: Array, square: Array, cube: Array, bounded: Array | float = 1.0) -> Array:
    """Chance that a weighted sum of squared normal numbers is as large, from three moments; NaN without weights.

    Args:
        T: the sum.
        mean, square, cube: sums of the weights, of their squares and of their cubes.
        bounded: what the variance is of that of independent numbers.

    >>> weighted_tail(np.array(3.84), np.array(1.0), np.array(1.0), np.array(1.0)).round(3)
    np.float64(0.05)
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        free = square**3 / cube**2
        x = (T - mean) * np.sqrt(free / (square * bounded)) + free
        return np.asarray(sc.chdtrc(free, np.maximum(x, 0.0)))


def shapes(X: Array, groups: Indices) -> Shapes:
    """Features of the columns of a table, 0 where a value is missing.

    Args:
        X: (n, D) numbers, NaN where missing.
        groups: (D,) the column of the table that each number belongs to, ascending from 0 without gaps.
    """
    d = int(groups[-1]) + 1
    bounds = np.searchsorted(groups, np.arange(d + 1))
    made: list[tuple[Array, Array, Array]] = [(np.empty(0),) * 3] * d

    def strip(start: int) -> None:
        for j in range(start, min(start + _STRIP, d)):
            block = X[:, bounds[j] : bounds[j + 1]]
            made[j] = _of_values(block[:, 0]) if block.shape[1] == 1 else _of_category(block)

    in_threads(strip, range(0, d, _STRIP))
    sizes = [len(weights) for _, weights, _ in made]
    return Shapes(
        np.concatenate([rows for rows, _, _ in made]).T,
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([weights for _, weights, _ in made]),
        np.concatenate([counts for _, _, counts in made]),
        np.diff(bounds) == 1,
    )


def resting_on(values: Array) -> Array:
    """(d,) rows that the cosines of ranks of numbers rest on: those that do not have the most frequent value, or do if
    these are fewer.

    Infinite where no value is frequent.

    Args:
        values: (d, n) a row for each number.
    """
    most, n = _most(values), values.shape[1]
    return np.where(most <= max(_TIED * n, 1.0), np.inf, np.minimum(most, n - most))


def ranks_resting_on(values: Array) -> Array:
    """(d,) rows that the ranks of numbers rest on: those that do not have the value of most rows.

    Infinite where less than half of the rows share a value: whatever the ties, ranks are then spread over the others.

    Args:
        values: (d, n) a row for each number.
    """
    most, n = _most(values), values.shape[1]
    return np.where(2 * most < n, np.inf, n - most)


def _most(values: Array) -> Indices:
    """(d,) how often each row has its most frequent value."""
    ordered = np.sort(values, axis=1)
    begins = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=begins[:, 1:])
    lengths = np.diff(np.flatnonzero(begins), append=ordered.size)
    first = np.cumsum(begins.sum(axis=1)) - begins.sum(axis=1)
    return np.asarray(np.maximum.reduceat(lengths, first))


def _of_values(values: Array) -> tuple[Array, Array, Array]:
    """Features of the values there are."""
    gaps = np.isnan(values)
    if not gaps.any():
        return _of_number(values)
    if gaps.all():
        return np.zeros((1, len(values))), np.zeros(1), np.zeros(1)
    features, weights, counts = _of_number(values[~gaps])
    whole = np.zeros((len(features), len(values)))
    whole[:, ~gaps] = features
    return whole, weights, counts


def _of_number(values: Array) -> tuple[Array, Array, Array]:
    """Features as rows: the rank, then its cosines."""
    n = len(values)
    ranks = np.asarray(average_ranks(values), dtype=np.float64)
    count = float(resting_on(values[None])[0])
    F = np.empty((1 + COSINES, n))
    F[0] = ranks - (n + 1) / 2.0
    cosine = np.cos(np.pi / n * (ranks - 0.5))
    before, now = np.ones(n), cosine
    for j in range(1, COSINES + 1):  # Chebyshev: cos((j + 1) x) = 2 cos(x) cos(j x) - cos((j - 1) x)
        F[j] = now
        before, now = now, 2.0 * cosine * now - before
    F -= F.mean(axis=1, keepdims=True)
    length = float(np.sqrt(F[0] @ F[0]))
    F[0] /= length or 1.0
    kept = _one_by_one(F[1:])
    weights = np.arange(1, COSINES + 1)[kept] ** -0.5
    counts = np.full(len(weights), count)
    if np.isfinite(count):
        counts = np.minimum(count, 1.0 / (F[1:][kept] ** 2).max(axis=1, initial=1.0 / n))
    rows = np.concatenate([[True], kept])
    return F[rows], np.concatenate([[0.0], weights]), np.concatenate([[count], counts])


def _one_by_one(F: Array) -> NDArray[np.bool_]:
    """Make rows orthonormal in their order, in place; which add anything. Without ties they are orthogonal already."""
    kept = np.zeros(len(F), dtype=bool)
    for j in range(len(F)):
        whole = float(F[j] @ F[j])
        for _ in range(2):  # the second time takes away what rounding left
            basis = F[:j][kept[:j]]
            F[j] -= (basis @ F[j]) @ basis
        left = float(F[j] @ F[j])
        kept[j] = left > _ADDS * max(whole, _ADDS * len(F[j]))
        F[j] /= np.sqrt(left) if kept[j] else 1.0
    return kept


def _of_category(block: Array) -> tuple[Array, Array, Array]:
    codes = codes_of(block)
    found = contrasts(codes)
    if not len(found.counts):
        return np.zeros((1, len(block))), np.zeros(1), np.zeros(1)
    return np.ascontiguousarray(found.table[codes].T), np.ones(len(found.counts)), found.counts
