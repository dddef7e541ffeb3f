"""From a solution's own coordinates to coefficients, their standard errors, and what bounds its quality."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.models.prediction.logistic.newton import Curvature
from assay.models.prediction.logistic.rows import Rows
from assay.models.prediction.logistic.solve import Solution
from assay.models.prediction.logistic.terms import contrasts


def coefficients(rows: Rows, found: Solution) -> tuple[Array, Array]:
    """Coefficients and intercepts as users know them: (1, d) and (1,) for two classes, else (g, d) and (g,).

    Args:
        rows: before coordinates were reduced.
        found: their solution.
    """
    A = shown(rows.classes)
    phi = _lifted(found, found.optimum.theta)
    d = len(rows.basis) - rows.design.intercept
    w = A @ (phi[:, :d] * _factor(rows, d))
    if not rows.design.intercept:
        return w, np.zeros(len(A))
    b = A @ phi[:, d]
    return w, b if rows.design.centre is None else b - w @ rows.design.centre


def start_at(rows: Rows, coef: Array, intercept: Array) -> Array:
    """(k, d + 1) the parameters of which `coefficients` would make these, in the coordinates of the rows.

    Args:
        rows: before coordinates are reduced.
        coef, intercept: as users know them.
    """
    back = np.linalg.pinv(shown(rows.classes))
    phi = back @ coef / _factor(rows, coef.shape[1])
    if not rows.design.intercept:
        return np.asarray(phi)
    centre = 0.0 if rows.design.centre is None else coef @ rows.design.centre
    return np.column_stack([phi, back @ (intercept + centre)])


def class_covariance(rows: Rows, found: Solution, penalty: float) -> Array | None:
    """(d + 1, k, k) covariance of each column's coefficients and of the intercepts, in the contrasts of the classes.

    From the inverse curvature; (d, k, k) without an intercept, None without a curvature.

    Args:
        rows, found: as for `coefficients`.
        penalty: that of the solution.
    """
    if found.optimum.curvature is None:
        return None
    k, r = found.optimum.theta.shape
    T = _map(rows, found)
    inverse = Curvature(found.optimum.curvature).solve(np.eye(k * r)).reshape(k, r, k, r)
    covariance = np.empty((len(T), k, k))
    for a in range(k):
        for b in range(a, k):
            covariance[:, a, b] = covariance[:, b, a] = np.einsum("jr,jr->j", T @ inverse[a, :, b], T)
    V = found.reduced.outside
    if V is not None and penalty > 0.0:
        # directions that no row has a part in are held by the penalty alone
        left = np.maximum(1.0 - np.einsum("ij,ij->i", V, V), 0.0)
        if rows.design.intercept:
            centre = np.zeros(len(V)) if rows.design.centre is None else rows.design.centre
            left = np.append(left, max(0.0, float(centre @ centre - np.sum((centre @ V) ** 2))))
        covariance += left[:, None, None] / penalty * np.eye(k)
    return covariance


def standard_errors(rows: Rows, covariance: Array) -> tuple[Array, Array]:
    """Of coefficients and intercepts, in their shapes.

    Args:
        rows: before coordinates were reduced.
        covariance: of `class_covariance`.
    """
    A = shown(rows.classes)
    errors = np.sqrt(np.maximum(np.einsum("ca,jab,cb->cj", A, covariance, A), 0.0))
    d = len(rows.basis) - rows.design.intercept
    return errors[:, :d], errors[:, d] if rows.design.intercept else np.zeros(len(A))


def null_log_likelihood(rows: Rows) -> float:
    """Of the classes' shares alone; equal shares without an intercept."""
    sizes = np.bincount(rows.codes, rows.weights, rows.classes)
    shares = sizes / sizes.sum() if rows.design.intercept else np.full(rows.classes, 1.0 / rows.classes)
    return float(sizes @ np.log(shares))


def duality_gap(found: Solution) -> float | None:
    """How far the objective can be above the least.

    With residuals as dual variables the gap of the ridge problem is sum_j g_j^2 / (2 r_j), for intercepts at their
    best; what these lack is added to second order. None without a ridge on every column or without a curvature.
    """
    optimum, rows = found.optimum, found.reduced.rows
    k, r = optimum.theta.shape
    d = r - rows.design.intercept
    ridge = rows.ridge[:d]
    if optimum.curvature is None or not (ridge > 0.0).all():
        return None
    gap = 0.5 * float(np.sum(optimum.gradient[:, :d] ** 2 / ridge))
    if rows.design.intercept:
        at = np.arange(k) * r + d
        gap += 0.5 * Curvature(optimum.curvature[np.ix_(at, at)]).newton_step(optimum.gradient[:, d])[1] ** 2
    return gap


def separating_parts(rows: Rows, found: Solution) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Columns with a part in the separating direction, largest first, and the classes it sets rows apart of."""
    if found.direction is None:
        return np.arange(0), np.arange(0)
    scores = contrasts(rows.classes) @ _lifted(found, found.direction)
    d = len(rows.basis) - rows.design.intercept
    sizes = np.abs(scores[:, :d]).max(axis=0)
    order = np.argsort(-sizes, kind="stable")
    widest = found.reduced.rows.widest(found.direction)
    return order[sizes[order] > 1e-3 * sizes.max(initial=0.0)], np.flatnonzero(widest > 1e-4 * widest.max())


def shown(classes: int) -> Array:
    """Contrasts of the classes whose coefficients are shown: the second of two, or all."""
    A = contrasts(classes)
    return A[1:] if classes == 2 else A


def _lifted(found: Solution, phi: Array) -> Array:
    return phi if found.reduced.lift is None else phi @ found.reduced.lift.T


def _factor(rows: Rows, d: int) -> Array:
    return rows.basis[:d] if rows.design.scale is None else rows.basis[:d] * rows.design.scale


def _map(rows: Rows, found: Solution) -> Array:
    """(d + 1, r), or (d, r) without an intercept: from parameters to a class's coefficients and intercept."""
    lift = np.eye(len(rows.basis)) if found.reduced.lift is None else found.reduced.lift
    d = len(rows.basis) - rows.design.intercept
    T = _factor(rows, d)[:, None] * lift[:d]
    if not rows.design.intercept:
        return np.asarray(T)
    b = lift[d] if rows.design.centre is None else lift[d] - rows.design.centre @ T
    return np.vstack([T, b])
