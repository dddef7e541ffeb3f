"""The ball that leaves some points outside, at a price by their squared distance, or by their distance.

    hinge    min over c, R of  R^2 + C sum_i max(0, |x_i - c|^2 - R^2)     dual  max sum a_i |x_i - c_a|^2
    linear   min over c, R of  R   + C sum_i max(0, |x_i - c| - R)         dual  max sum p_i.x_i,  sum p = 0

with weights 0 <= a_i <= C of sum 1, c_a = sum a_i x_i, and pulls p_i of length at most a_i. Both are convex. The first
is support vector data description; in the second a point outside pulls with force C, however far it is.

The way: steps through the interior (`ball_interior`) until it is clear which rows lie outside and which on the sphere,
then Newton's method on their equations (`ball_polish`); of many rows those near the sphere are solved for alone
(`ball_window`). Every candidate is judged by its duality gap, from weights made feasible (`ball_bounds`), so the gap is
a proof whatever the way was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.models.anomaly.robust_svdd.ball_bounds import Candidate, Points
from assay.models.anomaly.robust_svdd.ball_interior import interior_points
from assay.models.anomaly.robust_svdd.ball_polish import finished, on_sphere
from assay.models.anomaly.robust_svdd.ball_programs import program
from assay.models.anomaly.robust_svdd.ball_window import by_window
from assay.optimize.enclosing_ball import Units, enclosing_ball
from assay.optimize.validate import finite

Loss: TypeAlias = Literal["linear", "hinge"]
Route: TypeAlias = Literal["interior", "window", "enclosing", "mean"]

_NEAR = 1e-4  # relative gap from which on Newton's method is tried
_EXACT = 1e-13  # relative gap that only rounding is left of
_MANY = 1000  # rows beyond which those near the sphere are solved for alone
_MORE = 8  # steps beyond the tolerance in which the sets may become clear enough for Newton's method


@dataclass(frozen=True, slots=True, eq=False)
class RobustBall:
    """A ball with points outside, and how far it can be from the best.

    Attributes:
        center: (d,).
        radius: of the ball; at most 1 / C points lie outside.
        support: (m,) indices of points on the sphere, ascending.
        outside: indices of points outside, ascending.
        weights: (n,) between 0 and C, 0 inside, C outside; of sum 1, or less where the radius is 0. At the linear loss
            they are the lengths of the pulls.
        objective: the value at this centre and radius.
        gap: objective less a lower bound for every ball.
        kkt_residual: largest violation of stationarity (the pulls sum to zero) and of slackness (weights between the
            bounds on the sphere alone), relative to the sizes of pulls and objective.
        n_iter: steps through the interior.
        converged: whether the gap is within the tolerance.
        route: "interior"; "window" where points are many; "enclosing" where none may be outside; "mean" where the mean
            proved best at once.
    """

    center: Array
    radius: float
    support: NDArray[np.intp]
    outside: NDArray[np.intp]
    weights: Array
    objective: float
    gap: float
    kkt_residual: float
    n_iter: int
    converged: bool
    route: Route


def robust_ball(
    points: ArrayLike, C: float, *, loss: Loss = "linear", tol: float = 1e-8, max_iter: int = 100
) -> RobustBall:
    """Find the ball that balances its radius with the distances of what lies outside.

    Args:
        points: (n, d), finite.
        C: price of a unit of distance (or squared distance) outside. With C = 1 / (nu n) at most a share nu of the
            points lies outside. C >= 1 gives the smallest enclosing ball, C <= 1 / n radius zero about the mean
            (hinge) or the geometric median (linear).
        loss: "linear" in the distance, or "hinge", linear in the squared distance.
        tol: largest duality gap, relative to the objective.
        max_iter: most steps through the interior.

    Returns:
        RobustBall.

    References:
        Tax & Duin, Machine Learning 54, 2004; Mehrotra, SIAM Journal on Optimization 2, 1992.

    >>> ball = robust_ball([[-1.0], [0.0], [1.0], [2.0], [90.0]], 0.4)
    >>> ball.center.round(6), round(ball.radius, 6), ball.outside
    (array([1.]), 1.0, array([0, 4]))
    """
    X = finite(points, "points", 2)
    if loss not in get_args(Loss):
        raise ParameterError(f"loss is one of {', '.join(get_args(Loss))}; got {loss!r}")
    if not (np.isfinite(C) and C > 0.0):
        raise ParameterError(f"C is a price above zero; got {C!r}")
    if not X.size:
        raise DataError(f"a ball needs points: give at least one row and one column; got shape {X.shape}.")
    units = Units.of(X, origin="median")
    rows, basis = _coordinates(units.points)
    task = Points(rows, float(C), squared=loss == "hinge")
    best, steps, route = _search(task, tol, max_iter)
    return _described(best, task, units, basis, tol, steps, route)


def _search(points: Points, tol: float, max_iter: int) -> tuple[Candidate, int, Route]:
    rows, C = points.rows, points.C
    n = rows.shape[1]
    best = points.judge(rows.mean(axis=1), np.full(n, 1.0 / n))
    if best.gap == 0.0 or (points.squared and C * n <= 1.0):
        return best, 0, "mean"
    if C >= 1.0:
        ball = enclosing_ball(rows.T)
        a = np.zeros(n)
        a[ball.support] = ball.weights
        return points.judge(ball.center, a), ball.n_iter, "enclosing"
    if n > _MANY and n > points.leaving:
        best, steps = by_window(points, best, _EXACT)
        if best.gap <= tol * best.value:
            return best, steps, "window"
    return _through_the_interior(points, best, tol, max_iter)


def _through_the_interior(points: Points, best: Candidate, tol: float, max_iter: int) -> tuple[Candidate, int, Route]:
    start = points.rows.mean(axis=1) if points.squared else np.median(points.rows, axis=1)
    steps, more = 0, _MORE
    for steps, state in enumerate(interior_points(*program(points, start))):
        best = best.better(points.judge(state.c, state.y[0], None if points.squared else -state.y[1:]))
        if best.gap <= _NEAR * best.value:
            best = finished(points, best)
        more -= best.gap <= tol * best.value
        if best.gap <= _EXACT * best.value or more == 0 or steps == max_iter:
            break
    return best, steps, "interior"


def _coordinates(Y: Array) -> tuple[Array, Array | None]:
    """(d, n) coordinates of the points, and the basis they refer to where there are more columns than points."""
    if Y.shape[1] <= Y.shape[0]:
        return np.ascontiguousarray(Y.T), None
    basis, rows = qr(Y.T, mode="economic", check_finite=False)
    return np.asarray(rows, dtype=np.float64), np.asarray(basis, dtype=np.float64)


def _described(
    best: Candidate, points: Points, units: Units, basis: Array | None, tol: float, steps: int, route: Route
) -> RobustBall:
    C, squared = points.C, points.squared
    support = on_sphere(best.f, best.r, best.a, C)
    # rounding leaves no point of the sphere outside, unless that costs more than rounding
    r = max(best.r, float(best.f[support].max(initial=0.0)))
    r = r if points.objective(best.f, r) - best.bound <= max(2.0 * best.gap, _EXACT * best.value) else best.r
    value = points.objective(best.f, r)
    gap = max(value - best.bound, 0.0)
    slackness = np.maximum(best.a * np.maximum(r - best.f, 0.0), (C - best.a) * np.maximum(best.f - r, 0.0)).max()
    unit = units.length(1.0)
    square = unit if squared else 1.0  # in two factors: the square of a unit may overflow
    return RobustBall(
        units.place(best.c if basis is None else basis @ best.c),
        units.length(float(np.sqrt(r)) if squared else r),
        np.flatnonzero(support),
        np.flatnonzero(best.f > r),
        best.a,
        value * unit * square,
        gap * unit * square,
        max(best.pull, float(slackness) / value if value > 0.0 else 0.0),
        steps,
        gap <= tol * value,
        route,
    )
