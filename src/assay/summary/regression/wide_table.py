"""A table wider than long, through its rows alone: X X^T (n, n) or a rotation of X to n coordinates, never (d, d)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.arrays import Array
from assay.linalg.regression.wide_rows import LeftSpectrum, WideRows, across, along
from assay.summary.moments.column_moments import column_moments
from assay.summary.regression.regression import Squares, Table


@dataclass(frozen=True, slots=True, eq=False)
class WideTable:
    """Rows of a wide table with their targets.

    Attributes:
        table: the rows.
        near: (d,) a point near their means; zeros without an intercept.
        centre: (d + p,) the means of columns and targets; zeros without an intercept.
        rows: the rows among themselves.
    """

    table: Table
    near: Array
    centre: Array
    rows: WideRows

    @classmethod
    def of(cls, table: Table, *, intercept: bool) -> WideTable:
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
