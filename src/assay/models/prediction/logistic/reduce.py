"""Fewer coordinates for the same problem: rows fewer than columns, or columns that depend on each other.

wide       Z^T = V T, orthonormal V (d, n): with w = V u the scores are T^T u and |w| = |u|
dependent  Z = Q R of rank r < d: scores Q u, and of all w with R w = u the shortest
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as sla

from assay.arrays import Array
from assay.models.prediction.logistic.rows import Rows, blocks_of
from assay.models.prediction.logistic.terms import Design

_EPS = float(np.finfo(np.float64).eps)
_DOUBTFUL = 1e-9  # share of the largest eigenvalue of the Gram matrix below which a QR of the rows decides


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """Rows in other coordinates.

    Attributes:
        rows: these.
        lift: (m, r), from their parameters to those of the rows before; None where nothing changed.
        rank: how many columns are independent; None where that was not looked at.
        outside: (d, n) orthonormal V, where directions of w outside of it were left out; otherwise None.
    """

    rows: Rows
    lift: Array | None = None
    rank: int | None = None
    outside: Array | None = None


def in_row_space(rows: Rows, penalty: float) -> Reduced:
    """Wide rows in coordinates of the space that they span."""
    d, intercept = rows.shape[1] - rows.design.intercept, rows.design.intercept
    unit = 1.0 / rows.basis[:d]
    Z = rows.matrix()[:, :d] * unit  # the coefficients' own units, in which the penalty is round
    V, T = (np.asarray(f, dtype=np.float64) for f in sla.qr(Z.T, mode="economic", check_finite=False))
    M = np.ascontiguousarray(T.T)
    squares = np.einsum("ij,ij->j", M, M) / rows.n + 4.0 * penalty / rows.total
    # what rounding leaves of a dependent row must not grow to a column of its own
    inside = np.sqrt(np.where(squares > (rows.n * _EPS) ** 2 * squares.max(), squares, squares.max() or 1.0))
    ridge = np.concatenate([penalty / inside**2, np.zeros(int(intercept))])
    basis = np.concatenate([1.0 / inside, np.ones(int(intercept))])
    small = replace(
        rows,
        blocks=blocks_of(M, rows.codes, rows.weights),
        design=Design(None, None, intercept),
        basis=basis,
        ridge=ridge,
    )
    return Reduced(small, _with_intercept(unit[:, None] * V / inside, intercept), None, V)


def independent(rows: Rows, *, in_memory: bool) -> Reduced:
    """Rows in coordinates of independent columns; the same rows where all are.

    Args:
        rows: of a problem without a penalty.
        in_memory: whether a QR of the rows may decide; otherwise their Gram matrix does, to half as many digits.
    """
    intercept = rows.design.intercept
    d = rows.shape[1] - intercept
    G = _correlations(rows, d)
    values, vectors = sla.eigh(G, check_finite=False)
    if d == 0 or values[0] > _DOUBTFUL * values[-1]:
        return Reduced(rows, None, d)
    if in_memory:
        Q, R = _orthonormal_columns(rows, d)
        if Q is None:
            return Reduced(rows, None, 0)
        small = replace(
            rows,
            blocks=blocks_of(Q * np.sqrt(rows.n), rows.codes, rows.weights),
            design=Design(None, None, intercept),
            basis=np.ones(Q.shape[1] + intercept),
            ridge=np.zeros(Q.shape[1] + intercept),
        )
        lift = _shortest(R / np.sqrt(rows.n), rows, d)
        return Reduced(small, _with_intercept(lift, intercept), len(R))
    kept = vectors[:, values > 100 * d * _EPS * max(values[-1], _EPS)]
    inside = _with_intercept(kept, intercept)
    small = replace(rows, basis=rows.basis[:, None] * inside, ridge=np.zeros(inside.shape[1]))
    lift = _with_intercept(_shortest(kept.T, rows, d), intercept)
    return Reduced(small, lift, kept.shape[1])


def _correlations(rows: Rows, d: int) -> Array:
    """Gram matrix of the columns, (d, d), but for a factor: the curvature where all classes are equally likely."""
    H = rows.terms(np.zeros(rows.shape), True).curvature
    if H is None:
        raise AssertionError("the curvature was asked for")
    return np.asarray(H[:d, :d])


def _orthonormal_columns(rows: Rows, d: int) -> tuple[Array | None, Array]:
    Z = rows.matrix()[:, :d]
    if rows.weights is not None:
        Z[rows.weights == 0.0] = 0.0
    Q, R, order = sla.qr(Z, mode="economic", pivoting=True, check_finite=False)
    far = 0.0 if rows.design.centre is None else float(np.abs(rows.design.centre * _factor(rows, d)).max())
    diagonal = np.abs(np.diag(R))
    rank = int(np.count_nonzero(diagonal > _EPS * (max(Z.shape) + 4.0 * far) * diagonal[0]))
    if rank == 0:
        return None, np.zeros((0, d))
    back = np.empty((rank, d))
    back[:, order] = R[:rank]
    return np.asarray(Q[:, :rank]), back


def _factor(rows: Rows, d: int) -> Array:
    """(d,) of phi in the coefficients: w = factor * phi."""
    q = 1.0 if rows.design.scale is None else rows.design.scale
    return np.asarray(rows.basis[:d] * q)


def _shortest(R: Array, rows: Rows, d: int) -> Array:
    """(d, r) from u to the phi of the shortest w with R phi = u."""
    factor = _factor(rows, d)
    span, T = (np.asarray(f) for f in sla.qr((R / factor).T, mode="economic", check_finite=False))
    w = span @ sla.solve_triangular(T, np.eye(len(T)), trans="T", check_finite=False)
    return np.asarray(w / factor[:, None])


def _with_intercept(matrix: Array, intercept: bool) -> Array:
    return np.asarray(sla.block_diag(matrix, np.ones((1, 1)))) if intercept else matrix
