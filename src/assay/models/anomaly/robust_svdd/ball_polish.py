"""The last digits of a ball with slack: Newton's method on its conditions, once it is known which rows do what.

With O the rows outside (weight C) and F those on the sphere (weights a), the ball solves

    C sum_O grad f_i(c) + sum_F a_i grad f_i(c) = 0,   C |O| + sum_F a_i = 1,   f_i(c) = R for i in F,

with f the distance or its square: d + 1 + |F| equations, met to rounding within a few steps. Sets that are wrong show
in the duality gap, and the point is not taken then.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq
from scipy.optimize import lsq_linear

from assay.arrays import Array
from assay.models.anomaly.robust_svdd.ball_bounds import Candidate, Points

_STEPS = 12
_MOST = 400  # rows on the sphere beyond which a step is dearer than those through the interior


def on_sphere(f: Array, r: float, a: Array, C: float) -> NDArray[np.bool_]:
    """Which rows lie on the sphere: those whose weight is farther from its bounds than they are from the sphere.

    Args:
        f: (n,) distances, or squared.
        r: of the sphere, in the same measure.
        a: (n,) weights.
        C: the largest weight.

    >>> on_sphere(np.array([1.0, 2.0, 3.0]), 2.0, np.array([0.0, 0.3, 0.5]), 0.5)
    array([False,  True, False])
    """
    size = max(r, float(np.abs(f - r).max()) * np.finfo(np.float64).eps)
    weight = np.where(f < r, a, C - a) / C
    return np.asarray(np.abs(f - r) <= np.maximum(weight, 0.0) * size)


def finished(points: Points, near: Candidate) -> Candidate:
    """Choose between a candidate near the solution, what Newton's method makes of it, and the point nearest to it.

    The last is a matter of the linear loss: its ball may be a point that many rows share, where nothing has a slope.

    Args:
        points: the problem.
        near: a candidate.

    Returns:
        The candidate of smallest gap.
    """
    best = near
    if (found := _newton(points, near)) is not None:
        best = best.better(points.judge(*found))
    nearest = int(np.argmin(near.f))
    if not points.squared and near.f[nearest] <= 1e-2 * near.value:
        c = points.rows[:, nearest]
        away = (points.rows != c[:, None]).any(axis=0)
        rest = max(1.0 - points.C * int(away.sum()), 0.0) / max(int((~away).sum()), 1)
        best = best.better(points.judge(c, np.where(away, points.C, rest)))
    return best


def _newton(points: Points, near: Candidate) -> tuple[Array, Array] | None:
    """Centre (d,) and weights (n,), not yet known to be better; None where no step can be made."""
    rows, C, squared, c, r = points.rows, points.C, points.squared, near.c, near.r
    free = on_sphere(near.f, r, near.a, C)
    count, d = int(free.sum()), len(c)
    a = np.where(free, near.a, np.where(near.f > r, C, 0.0))
    held = (a > 0.0) | free
    close, weights, on = rows[:, held], a[held], free[held]
    if count > _MOST or (not squared and not near.f[held].all()):
        return None
    matrix = np.zeros((d + 1 + count, d + 1 + count))
    matrix[d, d + 1 :] = matrix[d + 1 :, d] = -1.0
    last = np.inf
    for _ in range(_STEPS):
        slopes, bend, f = _derivatives(close, c, weights, squared)
        matrix[:d, :d], matrix[:d, d + 1 :], matrix[d + 1 :, :d] = bend, slopes[:, on], slopes[:, on].T
        right = -np.concatenate([slopes @ weights, [1.0 - weights.sum()], f[on] - r])
        if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
            return None
        step = lstsq(matrix, right, cond=1e-13, lapack_driver="gelsy", check_finite=False)[0]
        c, r = c + step[:d], r + float(step[d])
        weights[on] += step[d + 1 :]
        moved = float(np.abs(step[:d]).max())
        if moved <= 4.0 * np.finfo(np.float64).eps * float(np.abs(close).max()) or moved > last:
            break
        last = moved
    if not (weights >= 0.0).all() or not (weights <= C).all():
        weights[on] = _within(close, c, weights, on, C, squared)
    out = np.zeros_like(a)
    out[held] = weights
    return c, out


def _within(rows: Array, c: Array, a: Array, on: NDArray[np.bool_], C: float, squared: bool) -> Array:
    """Weights on the sphere between 0 and C that balance the others best: of several ways to balance, one is asked for.

    That is where points of the sphere depend on each other, on a lattice say, and Newton's step takes any of the ways.
    """
    slopes, _, _ = _derivatives(rows, c, a, squared)
    size = float(np.abs(slopes).max(initial=1.0))
    lifted = np.vstack([slopes / size, np.ones(a.size)])
    target = -(lifted[:, ~on] @ a[~on])
    target[-1] += 1.0
    found = lsq_linear(lifted[:, on], target, bounds=(0.0, C), method="bvls", tol=1e-15)
    return np.asarray(np.clip(found.x, 0.0, C))


def _derivatives(rows: Array, c: Array, a: Array, squared: bool) -> tuple[Array, Array, Array]:
    """Slopes (d, n), the weighted sum of second derivatives (d, d), and values (n,)."""
    off = c[:, None] - rows
    squares = np.einsum("dn,dn->n", off, off)
    if squared:
        return 2.0 * off, 2.0 * float(a.sum()) * np.eye(len(c)), squares
    f = np.sqrt(squares)
    slopes, share = off / f, a / f
    return slopes, share.sum() * np.eye(len(c)) - (slopes * share) @ slopes.T, f
