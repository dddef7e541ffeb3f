"""Least squares of a table or a summary, by the route that keeps the digits.

"moments"  normal equations of one pass; small tables are polished by residuals of twice the precision
"qr"       where the condition number of the columns says that products would lose digits, or columns depend on each
other: refined to the last digit for small tables, by the triangle of the rows for others
"dual"     products of rows, (n, n), for d > n
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.arrays import Array
from assay.linalg.double_double import CAREFUL, residual
from assay.linalg.regression.least_squares import lstsq
from assay.linalg.regression.linear_fit import LinearFit, fit_wide, polished
from assay.summary.regression.regression import (
    CAUTIOUS,
    Equations,
    RegressionTable,
    Squares,
    blas_threads,
    joint_moments,
    rows_errors,
)
from assay.summary.regression.triangles import triangles
from assay.summary.regression.wide_table import WideTable, wide_condition

_SMALL = 100_000  # entries that are gone through a few times within milliseconds


@dataclass(frozen=True, slots=True, eq=False)
class LeastSquaresSolution:
    """Least squares with all that its errors are made of.

    Attributes:
        fit: coefficients, rank and condition.
        intercept: (p,); zeros without one.
        squares: sums of squares.
        centre: (d + p,) means of columns and targets; zeros without an intercept.
        count: rows.
        weight: sum of their weights.
        route: the way taken.
    """

    fit: LinearFit
    intercept: Array
    squares: Squares
    centre: Array
    count: int
    weight: float
    route: str


def least_squares(table: RegressionTable, *, intercept: bool) -> LeastSquaresSolution:
    """Solve from rows, which are read once, and once more where products would lose digits.

    >>> rows = RegressionTable(np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]]), None, 1)
    >>> line = least_squares(rows, intercept=True)
    >>> line.fit.coef, line.intercept, line.route
    (array([[2.]]), array([1.]), 'moments')
    """
    if table.d > table.n:
        return _wide(table, intercept)
    equations = Equations(joint_moments(table).total, table.d, intercept)
    found = least_squares_of(equations)
    if found.fit.dependent or found.fit.condition > CAUTIOUS:
        return _from_rows(table, found.centre, intercept)
    if _size(table) <= _SMALL:
        start = np.vstack([found.intercept, found.fit.coef])[int(not intercept) :]
        x = polished(*_design(table, intercept), start, found.fit.root, found.centre[: table.d])
        fit = replace(found.fit, coef=x[int(intercept) :])
        found = replace(found, fit=fit, intercept=x[0] if intercept else found.intercept)
    coef = found.fit.coef.T
    return replace(found, squares=exact_errors(equations.squares(coef), table, coef, found.centre))


def least_squares_of(equations: Equations) -> LeastSquaresSolution:
    """Solve from a summary."""
    centre, moments = equations.centre, equations.moments
    with blas_threads(equations.d):
        fit = equations.fit()
        squares = equations.squares(fit.coef.T)
    return LeastSquaresSolution(
        fit, intercept_at(fit.coef.T, centre), squares, centre, moments.count, moments.weight, "moments"
    )


def exact_errors(squares: Squares, table: RegressionTable, coef: Array, centre: Array) -> Squares:
    """Take the error from the rows where, as a difference of sums, it would have lost its digits.

    Args:
        squares: from products.
        table: the rows.
        coef: (p, d).
        centre: (d + p,).
    """
    if (squares.error * CAUTIOUS**2 >= squares.total).all():
        return squares
    return replace(squares, error=rows_errors(table, coef, centre))


def intercept_at(coef: Array, centre: Array) -> Array:
    """(p,) the intercept with which (p, d) coefficients go through the centre.

    >>> intercept_at(np.array([[2.0]]), np.array([1.0, 5.0]))
    array([3.])
    """
    d = coef.shape[1]
    # with twice the digits: means far from zero cancel here
    return residual(coef, centre[:d], centre[d:])


def _from_rows(table: RegressionTable, near: Array, intercept: bool) -> LeastSquaresSolution:
    whole = triangles(table, near, intercept=intercept)[0]
    fit, centre = whole.fit(), whole.centre
    if _size(table) > CAREFUL:
        squares = whole.squares(fit.coef.T)
        return LeastSquaresSolution(fit, intercept_at(fit.coef.T, centre), squares, centre, table.n, whole.weight, "qr")
    # the columns as they are, with the intercept as one more: taking the means off would round them
    A, Y = _design(table, intercept)
    solved = lstsq(A, Y)
    first = int(intercept)
    if solved.rank < A.shape[1] and intercept:
        # shortest coefficients: an intercept has no part in the length
        A, Y = A[:, 1:] - A[:, :1] * centre[: table.d], Y - A[:, :1] * centre[table.d :]
        solved, first = lstsq(A, Y), 0
    fit = replace(whole.fit(solved.rank - first), coef=solved.x[first:])
    at = solved.x[0] if first else intercept_at(fit.coef.T, centre)
    squares = replace(whole.squares(fit.coef.T), error=np.sum(residual(A, solved.x, Y) ** 2, axis=0))
    return LeastSquaresSolution(fit, at, squares, centre, table.n, whole.weight, "qr")


def _wide(table: RegressionTable, intercept: bool) -> LeastSquaresSolution:
    wide, route = WideTable.of(table, intercept=intercept), "dual"
    left = wide.spectrum()
    if wide_condition(left.values, 0.0, intercept=intercept) > CAUTIOUS:
        wide, route = wide.rotated(), "qr"
        left = wide.spectrum()
    rank = int(np.count_nonzero(left.values > left.flat))
    U, values, Y = left.vectors[:, :rank], left.values[:rank], wide.targets
    inner = U.T @ Y
    fit = fit_wide(wide.axes(U / np.sqrt(values)), values, inner)
    squares = Squares(np.sum(Y**2, axis=0), np.sum(inner**2, axis=0), np.sum((Y - U @ inner) ** 2, axis=0))
    at = intercept_at(fit.coef.T, wide.centre)
    return LeastSquaresSolution(fit, at, squares, wide.centre, table.n, wide.weight, route)


def _design(table: RegressionTable, intercept: bool) -> tuple[Array, Array]:
    """The columns as an array, after one of ones where there is an intercept, and the targets; times root weights."""
    root = np.ones((table.n, 1)) if table.weights is None else np.sqrt(table.weights)[:, None]
    X = table.stacked() * root
    return np.hstack([root, X]) if intercept else X, table.targets * root


def _size(table: RegressionTable) -> int:
    """Products that one careful residual takes."""
    return table.n * (table.d + 1) * table.p
