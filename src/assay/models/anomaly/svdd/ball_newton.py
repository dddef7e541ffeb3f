"""The ball that holds most points, by Newton steps on its centre.

    min over c, s of  P = s + sum_i C_i max(0, |x_i - c|^2 - s)                    s the squared radius

With w = 2 c and t = s - |c|^2 what lies outside is linear in both, and 2 P is the program of a linear machine whose
intercept t has a factor, `optimize.hinge`:

    2 P = 1/2 |w|^2 + 2 t + sum_i 2 C_i max(0, |x_i|^2 - w.x_i - t)

Its multipliers, halved, are the weights a of the dual

    max over a of  sum_i a_i |x_i|^2 - |sum_i a_i x_i|^2,  sum a = 1,  0 <= a_i <= C_i
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from assay.arrays import Array
from assay.errors import NotConverged
from assay.optimize.hinge import HingeRows, solve_hinges

_FIRST = 1e-8  # gap as a share of the objective, to begin with
_TIGHTER = 1e-2
_LEAST = 1e-15
_FINE = 1e-13  # of a sum of weights that rounding may take


@dataclass(frozen=True, slots=True, eq=False)
class BallNewton:
    """A ball and its proof.

    Attributes:
        center: (d,) sum of weights times points.
        weights: (n,) a: of sum 1, from 0 to C_i.
        gap: P at the best radius less the dual objective, in squared units of the points.
        iterations: Newton steps.
        converged: whether the gap is within the tolerance.
    """

    center: Array
    weights: Array
    gap: float
    iterations: int
    converged: bool


def ball_by_newton(X: Array, C: Array, *, tol: float, max_iter: int = 1000) -> BallNewton:
    """Find the centre by Newton steps.

    Args:
        X: (n, d) points about their middle, which keeps digits.
        C: (n,) factor of each point's squared distance outside, of sum 1 at least.
        tol: largest duality gap, in squared units of the points.
        max_iter: most steps; beyond them a NotConverged warning is given.

    >>> ball = ball_by_newton(np.array([[-2.0], [0.0], [2.0]]), np.ones(3), tol=1e-9)
    >>> ball.center.round(6) + 0.0, ball.weights.round(6)
    (array([0.]), array([0.5, 0. , 0.5]))
    """
    n, d = X.shape
    unit = float(np.sqrt(np.mean(np.einsum("ij,ij->i", X, X)))) or 1.0
    Z = X / unit
    if d > n:
        Z = np.ascontiguousarray(qr(Z.T, mode="r", check_finite=False)[0][:n].T)  # distances alone matter
    squares = np.einsum("ij,ij->i", Z, Z)
    rows = HingeRows(Z, np.zeros(Z.shape[1]), squares, np.full(n, np.inf), 2.0 * C, False, True, total=2.0)
    start, share, steps = None, _FIRST, 0
    best, gap = np.asarray(C / C.sum()), np.inf
    while gap > tol and share >= _LEAST and steps < max_iter:
        with np.errstate(all="ignore"):  # a step that rounding spoils shows in the gap
            found = solve_hinges(rows, share, max_iter - steps, start)
        steps += found.point.steps - (0 if start is None else start.steps)
        a = _weights(found.beta, C)
        now = _gap(Z, squares, a, C) * unit**2
        if now < gap:
            best, gap = a, now
        start, share = found.point, share * _TIGHTER
    if gap > tol:
        why = "raise max_iter" if steps >= max_iter else "rounding hides the rest; raise tol, or rescale the columns"
        warnings.warn(
            f"the ball has a duality gap of {gap:.2g} after {steps} Newton steps, allowed was {tol:.2g}: {why}.",
            NotConverged,
            stacklevel=2,
        )
    return BallNewton(best @ X, best, gap, steps, gap <= tol)


def _weights(beta: Array, C: Array) -> Array:
    """(n,) half the multipliers, what rounding leaves of a bound on it, of sum 1."""
    a = np.clip(0.5 * beta, 0.0, C)
    a = np.where(a <= _FINE, 0.0, np.where(a >= (1.0 - _FINE) * C, C, a))
    free = (a > 0.0) & (a < C)
    if free.any():
        a[free] *= 1.0 + (1.0 - float(a.sum())) / float(a[free].sum())
    return np.clip(a, 0.0, C)


def _gap(Z: Array, squares: Array, a: Array, C: Array) -> float:
    """The least objective about the centre of the weights, less theirs."""
    center = a @ Z
    far = np.sort(squares - 2.0 * (Z @ center) + center @ center)[::-1]
    order = np.argsort(-(squares - 2.0 * (Z @ center)), kind="stable")
    s = float(far[min(int(np.searchsorted(np.cumsum(C[order]), 1.0)), len(far) - 1)])
    primal = s + float(C[order] @ np.maximum(far - s, 0.0))
    return max(primal - float(a @ squares - center @ center), 0.0)
