"""Least squares in columns of unit length, from normal equations, a triangle or the rows of a wide table.

    A = X^T X (d, d),  B = X^T Y (d, p)         D = diag(A)^1/2,  D^-1 A D^-1 = V diag(l) V^T,  V (d, r)
    coef = D^-1 V diag(1/l) V^T D^-1 B          the shortest of all solutions: less its part in the null space
    (X^T X)^+ = F F^T on what is determined     F = D^-1 V diag(l)^-1/2, (d, r)

The condition number of the columns is (l_1 / l_r)^1/2; solving with A loses as many digits as its square has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.double_double import residual
from assay.linalg.eigen.spectral import eigen_symmetric

EPS = float(np.finfo(np.float64).eps)
_TAKES_PART = 1e-7  # a row of an orthonormal null space this long is more than rounding


@dataclass(frozen=True, slots=True, eq=False)
class LinearFit:
    """Coefficients, and what their errors are made of.

    Attributes:
        coef: (d, p) the shortest of all solutions.
        root: (d, r) F with F F^T the covariance of the coefficients per unit variance of the target.
        rank: r, how many columns are independent.
        condition: of the columns at unit length, within the rank; 1 for none.
        dependent: how many columns that vary follow from the others.
        undetermined: (d,) whose coefficients could be others at the same fit: columns that depend on each other, or
            do not vary.
        null: (d, d - r) orthonormal directions in which the coefficients could be moved at the same fit; None for a
            wide table, where they are many.
    """

    coef: Array
    root: Array
    rank: int
    condition: float
    dependent: int
    undetermined: NDArray[np.bool_]
    null: Array | None


def determined(points: Array, null: Array) -> NDArray[np.bool_]:
    """(m,) whether all solutions predict the same at (m, d) points, measured from the middle of the rows.

    Args:
        points: (m, d).
        null: (d, k) of a `LinearFit`.

    >>> determined(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([[1.0], [-1.0]]) / np.sqrt(2))
    array([ True, False])
    """
    moved, size = np.abs(points @ null), np.abs(points) @ np.abs(null)
    return np.asarray((moved <= _TAKES_PART * size).all(axis=1))


def fit_normal(A: Array, B: Array) -> LinearFit:
    """Solve A coef = B.

    Args:
        A: (d, d) products of columns.
        B: (d, p) products of columns and targets.

    >>> fit_normal(np.array([[2.0, 2.0], [2.0, 2.0]]), np.array([[4.0], [4.0]])).coef
    array([[1.],
           [1.]])
    """
    length = np.sqrt(np.diag(A))
    own = length > 0.0
    if not own.any():
        return _nothing(A.shape[0], B.shape[1])
    unit = length[own]
    spectrum = eigen_symmetric(A[np.ix_(own, own)] / unit / unit[:, None])
    values = np.maximum(spectrum.values, 0.0)
    inner = spectrum.vectors.T @ (B[own] / unit[:, None])
    # entries of a correlation carry rounding of about eps, its eigenvalues at most d times that
    rank = int(np.count_nonzero(values > 10.0 * EPS * len(values)))
    return _assembled(own, unit, spectrum.vectors, values, inner, rank)


def fit_triangle(T: Array, U: Array, n: int, rank: int | None = None) -> LinearFit:
    """Solve T coef = U in least squares.

    Args:
        T: (k, d) triangle of the columns.
        U: (k, p) what the same reflections made of the targets.
        n: rows that the triangle stands for, for the tolerance of the rank.
        rank: the rank where it is known.
    """
    length = np.linalg.norm(T, axis=0)
    own = length > 0.0
    if not own.any():
        return _nothing(T.shape[1], U.shape[1])
    left, s, right = sla.svd(T[:, own] / length[own], full_matrices=False, check_finite=False)
    if rank is None:
        rank = int(np.count_nonzero(s > EPS * max(n, len(s)) * s[0]))
    return _assembled(own, length[own], right.T, s**2, s[:, None] * (left.T @ U), rank)


def fit_wide(directions: Array, values: Array, inner: Array) -> LinearFit:
    """Put together the shortest solution of a wide table from its spectrum.

    Args:
        directions: (d, r) orthonormal directions in the columns, of positive eigenvalues.
        values: (r,) eigenvalues of X X^T, descending.
        inner: (r, p) coordinates of the targets along the left directions.
    """
    rank = len(values)
    scaled = directions / np.sqrt(values)
    # a coefficient is determined where its unit vector lies in the span of the rows
    inside = np.einsum("ij,ij->i", directions, directions)
    return LinearFit(
        coef=scaled @ inner,
        root=scaled,
        rank=rank,
        condition=float(np.sqrt(values[0] / values[-1])) if rank else 1.0,
        dependent=len(directions) - rank,
        undetermined=inside < 1.0 - _TAKES_PART,
        null=None,
    )


def polished(A: Array, Y: Array, x: Array, root: Array, mean: Array) -> Array:
    """Correct a solution from products by residuals of the rows, formed with twice the precision.

    A step leaves of an error a share of about eps times the squared condition number.

    Args:
        A: (n, i + d) the columns, after one of ones (or roots of weights) where there is an intercept: i is 1 then.
        Y: (n, p).
        x: (i + d, p) the solution.
        root: (d, r) of the `LinearFit`.
        mean: (d,) of the columns.

    Returns:
        (i + d, p).
    """
    first = A.shape[1] - len(mean)
    for _ in range(2):
        g = -residual(A.T, residual(A, x, Y))
        about = g[1:] - mean[:, None] * g[:1] if first else g
        step = root @ (root.T @ about)
        if first:
            step = np.vstack([g[:1] / float(A[:, 0] @ A[:, 0]) - mean @ step, step])
        x = x + step
    return x


def _assembled(own: NDArray[np.bool_], unit: Array, V: Array, values: Array, inner: Array, rank: int) -> LinearFit:
    d, kept = len(own), values[:rank]
    coef, root, undetermined = np.zeros((d, inner.shape[1])), np.zeros((d, rank)), ~own
    coef[own] = V[:, :rank] @ (inner[:rank] / kept[:, None]) / unit[:, None]
    root[own] = V[:, :rank] / np.sqrt(kept) / unit[:, None]
    loose = V[:, rank:]
    undetermined[own] = np.linalg.norm(loose, axis=1) > _TAKES_PART
    null = np.eye(d)[:, np.concatenate([np.flatnonzero(own)[rank:], np.flatnonzero(~own)])]
    if loose.shape[1]:
        # in the units of the data, where length is measured; scaled first, so that far units do not overflow
        null[own, : loose.shape[1]] = np.linalg.qr(loose * (unit.min() / unit)[:, None])[0]
        coef -= null @ (null.T @ coef)
    condition = float(np.sqrt(kept[0] / kept[-1])) if rank else 1.0
    return LinearFit(coef, root, rank, condition, len(unit) - rank, undetermined, null)


def _nothing(d: int, p: int) -> LinearFit:
    return LinearFit(np.zeros((d, p)), np.zeros((d, 0)), 0, 1.0, 0, np.ones(d, dtype=bool), np.eye(d))
