"""A table wider than long, through its rows alone: X X^T (n, n) or a rotation of X to n coordinates, never (d, d).

    X (n, d) about its mean, rows times the root of their weight        G = X X^T = U diag(l) U^T, (n, n)
    fitted values  U diag(l / (l + alpha)) U^T y                        coef = X^T U diag(1 / (l + alpha)) U^T y

Products square the condition number. Where that costs digits, the rows are turned into n coordinates instead: X^T = Q R
makes R^T (n, n) a rotation of them, with the same G and nothing squared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.eigen.principal import centred_gram, dense
from assay.linalg.eigen.spectral import eigen_symmetric
from assay.linalg.regression.linear_fit import EPS
from assay.linalg.sparse.centred import CentredRows
from assay.summary.moments.column_moments import column_moments
from assay.summary.regression.regression import RegressionTable, Squares
from assay.summary.regression.triangles import triangle


@dataclass(frozen=True, slots=True, eq=False)
class LeftSpectrum:
    """Eigenvalues of X X^T, and coordinates along its eigenvectors.

    Attributes:
        values: (m,) descending, not negative.
        vectors: (m, m) of the rows fitted, orthonormal.
        others: (t, m) what other rows have in common with each eigenvector, X_other X^T U.
        flat: eigenvalues up to this are zero but for rounding.
    """

    values: Array
    vectors: Array
    others: Array
    flat: float


@dataclass(frozen=True, slots=True, eq=False)
class WideRows:
    """Rows by their products or by their coordinates; about their mean where there is an intercept.

    Attributes:
        table: (n, n) G, or the coordinates.
        rotated: whether it holds coordinates.
        weights: (n,).
        intercept: whether means are taken off.
        d: columns of the table that was.
    """

    table: Array
    rotated: bool
    weights: Array
    intercept: bool
    d: int

    @classmethod
    def of(cls, X: Any, mean: Array, weights: Array, *, intercept: bool, rotated: bool) -> WideRows:
        """From (n, d) rows, dense or sparse, and a (d,) point near their middle (zero without an intercept)."""
        if not rotated:
            return cls(centred_gram(X, mean, np.ones_like(mean)), False, weights, intercept, len(mean))
        R = np.zeros((X.shape[0], X.shape[0]))
        for _, block in _centred(X, mean):
            R = triangle(R, block.T)
        return cls(np.ascontiguousarray(R.T), True, weights, intercept, len(mean))

    def spectrum(self, fitted: NDArray[np.intp], others: NDArray[np.intp] | None = None) -> LeftSpectrum:
        """Decompose some of the rows, about their own mean; others are measured about that mean too."""
        w = self.weights[fitted]
        root, share = np.sqrt(w), w / w.sum() if self.intercept else np.zeros_like(w)
        rest = fitted[:0] if others is None else others
        tall = max(len(fitted), self.d)
        if self.rotated:
            middle = share @ self.table[fitted]
            rows = (self.table[fitted] - middle) * root[:, None]
            left, s, right = sla.svd(rows, full_matrices=False, check_finite=False)
            along = (self.table[rest] - middle) @ right.T * s
            return LeftSpectrum(s**2, left, along, (EPS * tall * float(s[0])) ** 2)
        own = self.table[np.ix_(fitted, fitted)]
        pull = own @ share
        level = float(share @ pull)
        found = eigen_symmetric((own - pull - pull[:, None] + level) * root * root[:, None])
        cross = self.table[np.ix_(rest, fitted)]
        shared = cross - (cross @ share)[:, None] - pull + level
        values = np.maximum(found.values, 0.0)
        return LeftSpectrum(values, found.vectors, (shared * root) @ found.vectors, EPS * tall * float(values[0]))


def across(X: Any, mean: Array, M: Array) -> Array:
    """(X - mean)^T M, (d, r), in blocks of columns so that no centred copy of the rows is held.

    >>> across(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([2.0, 5.0]), np.array([[1.0], [2.0]]))
    array([[1.],
           [0.]])
    """
    if hasattr(X, "toarray"):
        return CentredRows.of(X, mean).adjoint(M)
    return np.vstack([block.T @ M for _, block in _centred(X, mean)])


def along(X: Any, mean: Array, M: Array) -> Array:
    """(X - mean) M, (n, r), in blocks of columns.

    >>> along(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([2.0, 5.0]), np.array([[1.0], [2.0]]))
    array([[-1.],
           [ 1.]])
    """
    if hasattr(X, "toarray"):
        return CentredRows.of(X, mean).apply(M)
    out = np.zeros((X.shape[0], M.shape[1]))
    for part, block in _centred(X, mean):
        out += block @ M[part]
    return out


def _centred(X: Any, mean: Array) -> Iterator[tuple[slice, Array]]:
    n, d = X.shape
    step = max(512, 2 * n)
    for start in range(0, d, step):
        part = slice(start, start + step)
        yield part, np.subtract(dense(X[:, part]), mean[part])


@dataclass(frozen=True, slots=True, eq=False)
class WideTable:
    """Rows of a wide table with their targets.

    Attributes:
        table: the rows.
        near: (d,) a point near their means; zeros without an intercept.
        centre: (d + p,) the means of columns and targets; zeros without an intercept.
        rows: the rows among themselves.
    """

    table: RegressionTable
    near: Array
    centre: Array
    rows: WideRows

    @classmethod
    def of(cls, table: RegressionTable, *, intercept: bool) -> WideTable:
        """From products of rows."""
        near = column_moments(table.data, table.names).mean  # refuses what has no finite square, with its place
        weights = np.ones(table.n) if table.weights is None else table.weights
        centre = np.zeros(table.d + table.p)
        if intercept:
            share = weights / weights.sum()
            mean = near if table.weights is None else near + across(table.data, near, share[:, None])[:, 0]
            centre = np.concatenate([mean, share @ table.targets])
        else:
            near = np.zeros(table.d)
        rows = WideRows.of(table.data, near, weights, intercept=intercept, rotated=False)
        return cls(table, near, centre, rows)

    def rotated(self) -> WideTable:
        """The same from coordinates, which lose no digits to squares."""
        known = self.rows
        rows = WideRows.of(self.table.data, self.near, known.weights, intercept=known.intercept, rotated=True)
        return replace(self, rows=rows)

    def spectrum(self) -> LeftSpectrum:
        """Of all rows."""
        return self.rows.spectrum(np.arange(self.table.n))

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(self.rows.weights.sum())

    @property
    def targets(self) -> Array:
        """(n, p) about their means, times the roots of the weights."""
        return self._root * (self.table.targets - self.centre[self.table.d :])

    def axes(self, vectors: Array) -> Array:
        """X^T U, (d, r), of (n, r) vectors U, X about its means and times the roots of the weights."""
        return across(self.table.data, self.centre[: self.table.d], self._root * vectors)

    def squares(self, coef: Array) -> Squares:
        """Of coefficients (p, d) at these rows."""
        Y, fitted = self.targets, self._root * along(self.table.data, self.centre[: self.table.d], coef.T)
        return Squares(np.sum(Y**2, axis=0), np.sum(fitted**2, axis=0), np.sum((Y - fitted) ** 2, axis=0))

    @property
    def _root(self) -> Array:
        return np.sqrt(self.rows.weights)[:, None]


def wide_condition(values: Array, alpha: float, *, intercept: bool) -> float:
    """((l_1 + alpha) / (l_r + alpha))^1/2; about the mean one of the n eigenvalues is zero and says nothing.

    >>> wide_condition(np.array([9.0, 1.0, 0.0]), 0.0, intercept=True)
    3.0
    """
    top = float(values[0]) + alpha
    last = float(values[max(len(values) - 1 - int(intercept), 0)]) + alpha
    if top == 0.0:
        return 1.0
    return float(np.sqrt(top / last)) if last > 0.0 else float("inf")
