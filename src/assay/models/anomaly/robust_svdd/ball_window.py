"""Many rows: descend first, then solve for the few rows near the sphere alone, the others held where they are.

For thousands of rows the objective is nearly smooth in the centre c, with the best radius for each c, and quasi-Newton
steps go far at O(n d) each. Which rows are on the sphere is then a question about those whose distance is near the k-th
largest. What comes of it is judged on all rows, so a window that was too narrow shows in the gap.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
from scipy.optimize import minimize

from assay.arrays import Array
from assay.models.anomaly.robust_svdd.ball_bounds import Candidate, Points
from assay.models.anomaly.robust_svdd.ball_interior import interior_points
from assay.models.anomaly.robust_svdd.ball_polish import finished
from assay.models.anomaly.robust_svdd.ball_programs import program

_ROUNDS = 4
_STEPS = 40
_DONE = 1e-12  # sum of the products of slacks and weights, relative to the objective


def by_window(points: Points, start: Candidate, exact: float) -> tuple[Candidate, int]:
    """Find the ball of many rows.

    Args:
        points: the problem.
        start: a candidate.
        exact: relative gap at which to stop.

    Returns:
        The best candidate, and how many steps through the interior it took.
    """
    d, n = points.rows.shape
    half = 50 + 10 * (d + 1) + n // 200
    c, best, steps = _descended(points, start.c), start, 0
    for _ in range(_ROUNDS):
        order = np.argsort(-points.lengths(c), kind="stable")
        first = max(points.leaving - 1 - half, 0)
        beyond, window = order[:first], order[first : points.leaving + half]
        few = Points(np.ascontiguousarray(points.rows[:, window]), points.C, points.squared)
        weights, c, taken = _solved(few, c, points.rows[:, beyond])
        a = np.zeros(n)
        a[beyond], a[window] = points.C, weights
        best, steps = best.better(finished(points, points.judge(c, a))), steps + taken
        if best.gap <= exact * best.value:
            break
        c = best.c
    return best, steps


def _solved(few: Points, c: Array, beyond: Array) -> tuple[Array, Array, int]:
    """Weights and centre of the window, and the steps taken."""
    problem, now = program(few, c, beyond)
    taken = -1
    for state in islice(interior_points(problem, now), _STEPS):
        now, taken = state, taken + 1
        z = problem.slack(now.c, now.r + now.s)
        products = float(np.einsum("kn,kn->", z, now.y)) + float(now.b @ now.s)
        if products <= _DONE * few.objective(few.lengths(now.c), 0.0):
            break
    return now.y[0], now.c, taken


def _descended(points: Points, c: Array) -> Array:
    def value_and_slope(c: Array) -> tuple[float, Array]:
        f = points.lengths(c)
        r = points.radius(f)
        share = np.where(f > r, points.C, 0.0)
        at = np.flatnonzero(f == r)
        share[at] = (1.0 - share.sum()) / max(at.size, 1)
        if not points.squared:
            share = np.divide(share, f, out=np.zeros_like(f), where=f > 0.0)
        slope = c * share.sum() - points.rows @ share
        return points.objective(f, r), (2.0 if points.squared else 1.0) * slope

    found = minimize(value_and_slope, c, jac=True, method="L-BFGS-B", options={"ftol": 1e-13, "gtol": 1e-10})
    return np.asarray(found.x)
