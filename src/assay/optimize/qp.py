"""The Karush-Kuhn-Tucker check for linear constraints and bounds: quadratic programs, and duals of vector machines.

    min f(x)  subject to  A_ub x <= b_ub,  A_eq x = b_eq,  lower <= x <= upper

Bounds need no search for multipliers: with r the gradient of the Lagrangian without them, r_i may be positive at a
lower bound, negative at an upper one, and must vanish between. That leaves the multipliers of the few rows of A_ub
and A_eq to be estimated, however many variables there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import DataError
from assay.optimize.kkt import KKT, bounded_least_squares
from assay.optimize.validate import finite

_ROUNDS = 50


def qp_kkt(
    Q: ArrayLike,
    c: ArrayLike,
    x: ArrayLike,
    A_ub: ArrayLike | None = None,
    b_ub: ArrayLike | None = None,
    A_eq: ArrayLike | None = None,
    b_eq: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    *,
    active: float = 1e-8,
) -> KKT:
    """Check a solution of min x^T Q x / 2 + c^T x under linear constraints and bounds.

    Args:
        Q: (n, n), symmetric.
        c: (n,).
        x: (n,), the point to be checked.
        A_ub: (p, n), with b_ub (p,): A_ub x <= b_ub.
        b_ub: (p,).
        A_eq: (q, n), with b_eq (q,): A_eq x = b_eq.
        b_eq: (q,).
        lower: (n,) or a number; None or -inf for none.
        upper: (n,) or a number; None or inf for none.
        active: a constraint counts as met with equality within this distance.

    Returns:
        KKT with multipliers for all constraints.

    >>> float(qp_kkt([[2.0]], [-6.0], [1.0], upper=1.0).upper[0])
    4.0
    """
    matrix, point = finite(Q, "Q", 2), finite(x, "x", 1)
    if matrix.shape != (point.size, point.size):
        raise DataError(f"Q must have shape {(point.size, point.size)} like x, has {matrix.shape}.")
    slope = matrix @ point + finite(c, "c", 1, point.size)
    return linear_kkt(slope, point, A_ub, b_ub, A_eq, b_eq, lower, upper, active=active)


def linear_kkt(
    gradient: ArrayLike,
    x: ArrayLike,
    A_ub: ArrayLike | None = None,
    b_ub: ArrayLike | None = None,
    A_eq: ArrayLike | None = None,
    b_eq: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    *,
    active: float = 1e-8,
) -> KKT:
    """Check a minimum of any smooth f under linear constraints and bounds, from the gradient at the point.

    Args:
        gradient: (n,), of f at x.
        x: (n,), the point to be checked.
        A_ub: (p, n), with b_ub (p,): A_ub x <= b_ub.
        b_ub: (p,).
        A_eq: (q, n), with b_eq (q,): A_eq x = b_eq.
        b_eq: (q,).
        lower: (n,) or a number; None or -inf for none.
        upper: (n,) or a number; None or inf for none.
        active: a constraint counts as met with equality within this distance.

    Returns:
        KKT with multipliers for all constraints.

    >>> linear_kkt([1.0, 1.0], [0.5, 0.5], A_eq=[[1.0, 1.0]], b_eq=[1.0], lower=0.0).worst < 1e-12
    True
    """
    point = finite(x, "x", 1)
    n = point.size
    slope = finite(gradient, "gradient", 1, n)
    A, excess = _rows(A_ub, b_ub, "ub", point)
    E, gap = _rows(A_eq, b_eq, "eq", point)
    low, high = _bound(lower, -np.inf, "lower", n), _bound(upper, np.inf, "upper", n)
    if np.any(low > high):
        i = int(np.argmax(low > high))
        raise DataError(f"lower must not exceed upper, does for variable {i}: {low[i]:.6g} > {high[i]:.6g}.")
    at_low, at_high = point - low <= active, high - point <= active
    on = excess >= -active
    a, b = np.zeros(excess.size), np.zeros(gap.size)
    fitted = _fit(slope, np.vstack([A[on], E]), int(on.sum()), at_low, at_high)
    a[on], b = fitted[: int(on.sum())], fitted[int(on.sum()) :]
    r = slope + A.T @ a + E.T @ b
    at_lower = np.where(at_low, np.maximum(r, 0.0), 0.0)
    at_upper = np.where(at_high, np.maximum(-r, 0.0), 0.0)
    products = np.concatenate([a * excess, _slack(at_lower, point - low), _slack(at_upper, high - point)])
    stationarity = float(np.abs(r - at_lower + at_upper).max(initial=0.0))
    outside = np.concatenate([excess, low - point, point - high])
    primal = max(float(np.maximum(outside, 0.0).max(initial=0.0)), float(np.abs(gap).max(initial=0.0)))
    dual = float(np.maximum(-a, 0.0).max(initial=0.0))
    slackness = float(np.abs(products).max(initial=0.0))
    worst = max(stationarity, primal, dual, slackness)
    return KKT(stationarity, primal, dual, slackness, worst, a, b, at_lower, at_upper)


def _fit(slope: Array, rows: Array, signed: int, at_low: NDArray[np.bool_], at_high: NDArray[np.bool_]) -> Array:
    """Choose the multipliers of the rows so that the part of the gradient no bound can balance is smallest.

    The sum of squares of that part is piecewise quadratic in the multipliers: solve on the variables that count,
    see which count then, and repeat. The best round is kept, so a cycle does no harm.
    """
    best, least = np.zeros(rows.shape[0]), np.inf
    if rows.shape[0] == 0:
        return best
    counts = ~(at_low | at_high)
    if not counts.any():
        counts = np.ones(slope.size, dtype=np.bool_)
    for _ in range(_ROUNDS):
        z = bounded_least_squares(rows[:, counts].T, -slope[counts], signed)
        r = slope + rows.T @ z
        unbalanced = np.where(at_low, np.minimum(r, 0.0), r)
        unbalanced = np.where(at_high, np.maximum(unbalanced, 0.0), unbalanced)
        size = float(np.linalg.norm(unbalanced))
        if size < least:
            best, least = z, size
        matter = (unbalanced != 0) | ~(at_low | at_high)
        if not matter.any() or np.array_equal(matter, counts):
            break
        counts = matter
    return best


def _rows(A: ArrayLike | None, b: ArrayLike | None, name: str, point: Array) -> tuple[Array, Array]:
    if (A is None) != (b is None):
        raise DataError(f"A_{name} and b_{name} must be given together.")
    if A is None or b is None:
        return np.empty((0, point.size)), np.empty(0)
    matrix = finite(A, f"A_{name}", 2)
    if matrix.shape[1] != point.size:
        raise DataError(f"A_{name} must have {point.size} columns like x, has {matrix.shape[1]}.")
    return matrix, matrix @ point - finite(b, f"b_{name}", 1, matrix.shape[0])


def _bound(given: ArrayLike | None, default: float, name: str, n: int) -> Array:
    if given is None:
        return np.full(n, default)
    array = np.asarray(given, dtype=np.float64)
    if array.shape not in ((), (n,)):
        raise DataError(f"{name} must be a number or have {n} entries, has shape {array.shape}.")
    if np.isnan(array).any():
        raise DataError(f"{name} must not be NaN; use infinity for no bound.")
    return np.broadcast_to(array, (n,))


def _slack(multipliers: Array, distances: Array) -> Array:
    return multipliers * np.where(multipliers > 0, distances, 0.0)  # 0 times infinity is no slack
