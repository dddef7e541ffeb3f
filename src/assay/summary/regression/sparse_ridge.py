"""Ridge regression of a large sparse table, and what is refused of one because it would have to be made dense.

It is solved from products alone, by conjugate gradients on least squares, with a certificate.

minimise   |Y - A W|^2 + alpha |W|^2          A (n, d) about its mean, never dense
gradient   S = A^T (Y - A W) - alpha W        zero at the solution: |S| / |A^T Y| is the certificate, each column in
           units of (|a|^2 + alpha)^1/2       so that none is lost beside a large one
n < d      (A A^T + alpha) C = Y, W = A^T C   the same in shorter vectors, in units of the lengths of rows
n >= d     in the units of the columns        so that rows and columns of different size cost no steps

By columns the residual Y - A W is carried along, not that of the normal equations, whose digits are those of a square.

Reference: Paige & Saunders, ACM TOMS 8, 1982; Bjorck, Numerical Methods for Least Squares Problems, 1996, section 7.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from assay.arrays import Array
from assay.errors import DataError
from assay.linalg.sparse.centred import CentredRows, sparse_moments
from assay.summary.distances.distances import DENSE_LIMIT
from assay.summary.moments.column_moments import column_moments
from assay.summary.regression.regression import RegressionTable, Squares

TOL = 1e-10
_MARGIN = 3.0  # by which the gradient may fall faster than what is left by rows
MOST = 2_000  # products with the rows and back


@dataclass(frozen=True, slots=True, eq=False)
class SparseRidge:
    """Coefficients, and how well they solve the problem.

    Attributes:
        coef: (p, d).
        fitted: (n, p), A W.
        residual: (p,) length of the gradient at them, measured anew, relative to that at zero.
        iterations: products with the rows and back.
        converged: whether every residual is within the tolerance.
    """

    coef: Array
    fitted: Array
    residual: Array
    iterations: int
    converged: bool


def sparse_ridge(
    rows: CentredRows, Y: Array, alpha: float, *, squares: Array | None = None, tol: float = TOL, most: int = MOST
) -> SparseRidge:
    """Solve for all targets at once, by the shorter of rows and columns.

    Args:
        rows: (n, d) A.
        Y: (n, p) targets about their means.
        alpha: penalty, above 0.
        squares: (d,) squared lengths of the columns, where they are known.
        tol: length of the gradient allowed, relative to that at zero.
        most: products allowed.

    >>> import scipy.sparse as sp
    >>> rows = CentredRows.of(sp.csr_array([[0.0], [2.0]]), np.array([1.0]))
    >>> sparse_ridge(rows, np.array([[-1.0], [1.0]]), 2.0).coef
    array([[0.5]])
    """
    size = np.sqrt((rows.column_squares() if squares is None else squares) + alpha)[:, None]
    scale = np.linalg.norm(rows.adjoint(Y) / size, axis=0)
    solve = _by_rows if rows.shape[0] < rows.shape[1] else _by_columns
    W, steps = solve(rows, Y, alpha, size, scale, tol, most)
    fitted = rows.apply(W)
    gradient = (rows.adjoint(Y - fitted) - alpha * W) / size
    residual = np.divide(np.linalg.norm(gradient, axis=0), scale, out=np.zeros_like(scale), where=scale > 0.0)
    # what is carried along drifts by rounding: ten times the tolerance still is the solution
    return SparseRidge(np.ascontiguousarray(W.T), fitted, residual, steps, bool((residual <= 10.0 * tol).all()))


def _by_columns(
    rows: CentredRows, Y: Array, alpha: float, size: Array, scale: Array, tol: float, most: int
) -> tuple[Array, int]:
    enough = tol * scale
    left, W = Y.copy(), np.zeros((rows.shape[1], Y.shape[1]))
    S = rows.adjoint(left)
    P = S / size**2
    gamma, steps = _inner(S, P), 0
    while steps < most and (gamma > enough**2).any():
        Q = rows.apply(P)
        step = _over(gamma, _inner(Q, Q) + alpha * _inner(P, P))
        W += step * P
        left -= step * Q
        S = rows.adjoint(left) - alpha * W
        Z = S / size**2
        before, gamma = gamma, _inner(S, Z)
        P = Z + _over(gamma, before) * P
        steps += 1
    return W, steps


def _by_rows(
    rows: CentredRows, Y: Array, alpha: float, size: Array, scale: Array, tol: float, most: int
) -> tuple[Array, int]:
    """Of (A A^T + alpha) C = Y with W = A^T C, whose vectors are shorter; the gradient is A^T of what is left there.

    In units of the lengths of the rows, so that rows of different length cost no steps.
    """
    length = (rows.row_squares() + alpha)[:, None]
    left, C, Z = Y.copy(), np.zeros_like(Y), Y / length
    P, gamma, steps = Z.copy(), _inner(Y, Z), 0
    near = gamma * (_MARGIN * tol) ** 2
    while steps < most:
        # measured where it may be small enough, by how it stood to what is left in the beginning
        if (gamma <= near).all() and (np.linalg.norm(rows.adjoint(left) / size, axis=0) <= tol * scale).all():
            break
        along = rows.apply(rows.adjoint(P)) + alpha * P
        step = _over(gamma, _inner(P, along))
        C += step * P
        left -= step * along
        Z = left / length
        before, gamma = gamma, _inner(left, Z)
        P = Z + _over(gamma, before) * P
        steps += 1
    return rows.adjoint(C), steps


def _inner(A: Array, B: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", A, B))


def _over(above: Array, below: Array) -> Array:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0.0)


_SPECTRUM = 1_000  # rows or columns up to which a whole spectrum takes less than a second


@dataclass(frozen=True, slots=True, eq=False)
class LargeRidge:
    """Ridge regression by products.

    Attributes:
        solution: coefficients with their certificate.
        centre: (d + p,) means of columns and targets; zeros without an intercept.
        squares: sums of squares.
        weight: sum of the weights.
    """

    solution: SparseRidge
    centre: Array
    squares: Squares
    weight: float


def takes_products(table: RegressionTable, alpha: Any) -> bool:
    """Whether a table is sparse and so large that its spectrum costs more than one solution by products."""
    X, n, d = table.data, table.n, table.d
    if not hasattr(X, "toarray") or isinstance(alpha, str) or np.ndim(alpha) or not alpha > 0.0:
        return False
    return 4 * int(X.nnz) <= n * d and (min(n, d) > _SPECTRUM or (d > n and n * d > DENSE_LIMIT))


def refuse_large(table: RegressionTable, remedy: str) -> None:
    """Refuse a sparse table whose spectrum needs more memory than 1 GiB."""
    n, d = table.n, table.d
    if issparse(table.data) and max(n if d > n else d, 1) * d > DENSE_LIMIT:
        raise DataError(
            f"X is sparse, {n} x {d}, and its spectrum would take {min(n, d) * d / 2**27:.1f} GiB (the limit is 1 "
            "GiB). " + remedy
        )


def large_ridge(table: RegressionTable, alpha: float, *, intercept: bool) -> LargeRidge:
    """Solve from a sparse table in memory for its entries.

    Args:
        table: the rows.
        alpha: penalty, above 0.
        intercept: whether there is one.
    """
    near = column_moments(table.data, table.names)  # refuses what has no finite square, with its place
    weights = np.ones(table.n) if table.weights is None else table.weights
    weight = float(weights.sum())
    centre = np.zeros(table.d + table.p)
    spread = np.full(table.d, np.inf)  # nothing is far where nothing is taken off
    if intercept:
        mean = near.mean if table.weights is None else sparse_moments(table.data, weights)[0]
        centre, spread = np.concatenate([mean, weights @ table.targets / weight]), np.sqrt(near.variance)
    root = np.sqrt(weights)
    given = None if table.weights is None else root
    rows = CentredRows.of(table.data, centre[: table.d], spread, root=given, own=intercept)
    Y = root[:, None] * (table.targets - centre[table.d :])
    known = near.variance * (table.n - 1) if intercept and table.weights is None else None
    found = sparse_ridge(rows, Y, alpha, squares=known)
    fitted = found.fitted
    squares = Squares(np.sum(Y**2, axis=0), np.sum(fitted**2, axis=0), np.sum((Y - fitted) ** 2, axis=0))
    return LargeRidge(found, centre, squares, weight)
