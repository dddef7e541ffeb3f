"""The programs of the two losses, for all rows or for those near the sphere alone, and a point inside to start from.

Rows beyond the window that is solved for keep the weight C. Their part of the objective is, at the hinge loss,

    C sum_i |x_i - c|^2 - m C R^2   for m of them,

which is quadratic; at the linear loss C sum_i |x_i - c| is replaced by its quadratic approximation about a centre.
"""

from __future__ import annotations

import numpy as np

from assay.arrays import Array
from assay.models.anomaly.robust_svdd.ball_bounds import Points
from assay.models.anomaly.robust_svdd.ball_cones import HalfLines, SecondOrderCones
from assay.models.anomaly.robust_svdd.ball_interior import Problem, State


def program(points: Points, c: Array, beyond: Array | None = None) -> tuple[Problem, State]:
    """Put the search for a ball as a program.

    Args:
        points: the rows that are solved for.
        c: (d,) centre to start from.
        beyond: (d, m) rows that are surely outside.

    Returns:
        The program, and a point inside.
    """
    away = np.empty((len(c), 0)) if beyond is None else beyond
    budget = 1.0 - points.C * away.shape[1]
    return _hinge(points, c, away, budget) if points.squared else _linear(points, c, away, budget)


def _hinge(points: Points, c: Array, away: Array, budget: float) -> tuple[Problem, State]:
    rows, C = points.rows, points.C
    squares = np.einsum("dn,dn->n", rows, rows)

    def slack(c: Array, top: Array) -> Array:
        return np.asarray((top - squares + 2.0 * (c @ rows))[None])

    a = _low_weights(points, budget)
    least = squares - 2.0 * (c @ rows)
    r = Points(rows, C / budget, True).radius(least)
    problem = Problem(rows, C, budget, 2.0 * np.eye(len(c)), -2.0 * C * away.sum(axis=1), slack, HalfLines)
    return problem, State(c, r, _slacks(least, r, least + c @ c), a[None].copy(), C - a, 0.0)


def _linear(points: Points, c: Array, away: Array, budget: float) -> tuple[Problem, State]:
    rows, C = points.rows, points.C

    def slack(c: Array, top: Array) -> Array:
        return np.vstack([top[None], rows - c[:, None]])

    off = c[:, None] - away
    far = np.sqrt(np.einsum("dn,dn->n", off, off))
    units, share = off / far, C / far
    bend = share.sum() * np.eye(len(c)) - (units * share) @ units.T
    a = _low_weights(points, budget)
    reach = points.lengths(c)
    r = max(Points(rows, C / budget, False).radius(reach), 1e-3 * float(reach.max()))
    problem = Problem(rows, C, budget, bend, C * units.sum(axis=1) - bend @ c, slack, SecondOrderCones)
    y = np.vstack([a[None], np.zeros_like(rows)])
    return problem, State(c, r, _slacks(reach, r, reach), y, C - a, budget - float(a.sum()))


def _low_weights(points: Points, budget: float) -> Array:
    """Half of what all rows could have alike."""
    n = points.rows.shape[1]
    return np.full(n, 0.5 * min(budget / n, points.C))


def _slacks(least: Array, r: float, reach: Array) -> Array:
    return np.asarray(np.maximum(least - r, 0.0) + 0.5 * float(reach.mean()))
