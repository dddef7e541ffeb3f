"""Is this point a solution? The Karush-Kuhn-Tucker conditions, as numbers that are zero at one.

    min f(x)  subject to  g(x) <= 0,  h(x) = 0

    stationarity   grad f + J_g^T a + J_h^T b = 0
    primal         g <= 0, h = 0
    dual           a >= 0
    slackness      a_i g_i = 0

For a convex problem they prove the solution; otherwise they are necessary. Multipliers that are not given are chosen
to make stationarity as small as it can be: any choice certifies, so the best one is fair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import lsq_linear

from assay.arrays import Array
from assay.errors import DataError
from assay.optimize.validate import finite


@dataclass(frozen=True, slots=True, eq=False)
class KKT:
    """How far a point is from satisfying the conditions. All are absolute, in the units of the problem.

    Attributes:
        stationarity: largest modulus in the gradient of the Lagrangian.
        primal: largest violation of a constraint.
        dual: largest violation of the sign of a multiplier.
        slackness: largest modulus of a multiplier times its slack.
        worst: the largest of the four.
        inequality: multipliers of g <= 0 (or A_ub x <= b_ub).
        equality: multipliers of h = 0 (or A_eq x = b_eq).
        lower: multipliers of the lower bounds, >= 0; empty for general problems.
        upper: multipliers of the upper bounds, >= 0; empty for general problems.
    """

    stationarity: float
    primal: float
    dual: float
    slackness: float
    worst: float
    inequality: Array
    equality: Array
    lower: Array
    upper: Array


def kkt_residuals(
    gradient: ArrayLike,
    *,
    inequalities: tuple[ArrayLike, ArrayLike] | None = None,
    equalities: tuple[ArrayLike, ArrayLike] | None = None,
    inequality_multipliers: ArrayLike | None = None,
    equality_multipliers: ArrayLike | None = None,
    active: float = 1e-8,
) -> KKT:
    """Check a solution of min f(x) subject to g(x) <= 0 and h(x) = 0, from values and derivatives at the point.

    Args:
        gradient: (n,), of f.
        inequalities: values (p,) and Jacobian (p, n) of g.
        equalities: values (q,) and Jacobian (q, n) of h.
        inequality_multipliers: (p,), or None to estimate them.
        equality_multipliers: (q,), or None to estimate them.
        active: when estimating, only g_i >= -active may have a multiplier.

    Returns:
        KKT.

    Reference: Nocedal, Wright, Numerical Optimization, chapter 12.

    The minimum of x^2 with x >= 1, that is 1 - x <= 0, lies at x = 1 and has multiplier 2:

    >>> float(kkt_residuals([2.0], inequalities=([0.0], [[-1.0]])).inequality[0].round(9))
    2.0
    """
    slope = finite(gradient, "gradient", 1)
    g, J = _constraints(inequalities, "inequalities", slope.size)
    h, H = _constraints(equalities, "equalities", slope.size)
    a = None if inequality_multipliers is None else finite(inequality_multipliers, "inequality_multipliers", 1)
    b = None if equality_multipliers is None else finite(equality_multipliers, "equality_multipliers", 1)
    for values, multipliers, name in ((g, a, "inequality"), (h, b, "equality")):
        if multipliers is not None and multipliers.size != values.size:
            raise DataError(f"{name}_multipliers must have {values.size} entries, has {multipliers.size}.")
    if a is None or b is None:
        a, b = _estimate(slope, g >= -active, J, H, a, b)
    empty = np.empty(0)
    return _kkt(slope + J.T @ a + H.T @ b, g, h, a, b, empty, empty, a * g)


def _estimate(
    slope: Array, on: NDArray[np.bool_], J: Array, H: Array, a: Array | None, b: Array | None
) -> tuple[Array, Array]:
    """Find the multipliers not given: least squares on stationarity, non-negative for active inequalities."""
    rest = slope.copy()
    columns: list[Array] = []
    if a is None:
        columns.append(J[on].T)
    else:
        rest += J.T @ a
    if b is None:
        columns.append(H.T)
    else:
        rest += H.T @ b
    signed = int(on.sum()) if a is None else 0
    fitted = bounded_least_squares(np.column_stack(columns), -rest, signed)
    if a is None:
        a = np.zeros(on.size)
        a[on] = fitted[:signed]
    return a, fitted[signed:] if b is None else b


def bounded_least_squares(M: Array, target: Array, signed: int) -> Array:
    """Minimise |M z - target| with the first `signed` entries of z non-negative.

    >>> bounded_least_squares(np.eye(2), np.array([-1.0, -2.0]), 1).round(9) + 0.0
    array([ 0., -2.])
    """
    if M.shape[1] == 0 or M.shape[0] == 0:
        return np.zeros(M.shape[1])
    free = np.linalg.lstsq(M, target, rcond=None)[0]
    if np.all(free[:signed] >= 0):
        return np.asarray(free)
    low = np.where(np.arange(M.shape[1]) < signed, 0.0, -np.inf)
    solution = lsq_linear(M, target, bounds=(low, np.inf), method="bvls", tol=1e-14)
    return np.asarray(np.maximum(solution.x, low))


def _kkt(lagrangian: Array, g: Array, h: Array, a: Array, b: Array, lower: Array, upper: Array, products: Array) -> KKT:
    stationarity = _largest(lagrangian)
    primal = max(_largest(np.maximum(g, 0.0)), _largest(h))
    dual = max(_largest(np.minimum(m, 0.0)) for m in (a, lower, upper))
    slackness = _largest(products)
    worst = max(stationarity, primal, dual, slackness)
    return KKT(stationarity, primal, dual, slackness, worst, a, b, lower, upper)


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))


def _constraints(given: tuple[ArrayLike, ArrayLike] | None, name: str, n: int) -> tuple[Array, Array]:
    if given is None:
        return np.empty(0), np.empty((0, n))
    values, jacobian = finite(given[0], f"values of {name}", 1), finite(given[1], f"Jacobian of {name}", 2)
    if jacobian.shape != (values.size, n):
        raise DataError(
            f"the Jacobian of {name} must have shape {(values.size, n)} (constraints, variables), has {jacobian.shape}."
        )
    return values, jacobian
