"""From a rounded hinge to the hinge itself: the stages of a linear machine, and what certifies their result.

After each stage its prices become the shift of the next, so that the solution does not depend on the rounding in the
end; a narrower zone only makes this faster. A part of the rows is solved first where there are many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.arrays import Array
from assay.optimize.margin.newton import Newton, Point, Rounding, Rows

_DIRECT = 8192  # rows: up to here no part of them is solved first
_PART = 10  # of more rows, one in so many is solved first
_PART_TOL = 1e-3
_WIDE = 4.0  # first width of the zone, in units of the loss of the best constant
_NARROWER = 0.2
_STIFFEST = 1e-9  # least mu, as a share of the mean square of a row
_FAR = 1e6  # times the mu aimed at: half of the way, in orders of magnitude, is made at once
_SPOILT = 0.1  # share of the gap that rounding may explain
_STALLED = 12  # stages without a better gap
_SHARE = 0.02  # of the rows in the first zone, where a solution of a part is known


@dataclass(frozen=True, slots=True, eq=False)
class Certified:
    """A point and a feasible dual one.

    Attributes:
        point: the point.
        beta: (n,) dual variables, within their bounds, of the total's sum if there is an intercept.
        objective: of the point.
        gap: objective less that of beta.
    """

    point: Point
    beta: Array
    objective: float
    gap: float

    def within(self, tol: float) -> bool:
        """Whether the gap is at most this share of the objective."""
        return self.gap <= tol * self.objective


def solve(rows: Rows, tol: float, most: int, start: Point | None = None) -> Certified:
    """Minimise 1/2 |w|^2 + sum of losses until the gap is within tol, or no stage helps, or `most` steps are taken."""
    if start is None and len(rows.X) > _DIRECT:
        start = _of_a_part(rows, most)
    point = best_constant(rows) if start is None else start
    newton, best, idle = Newton(rows), certified(rows, point), 0
    if best.within(tol):
        return best
    aim, shift = _first(rows, point, warm=start is not None)
    least = max(_STIFFEST * _mean_square(rows) - _own_width(rows), 0.0)
    mu = max(aim, least)
    shift = shift * (aim / mu if mu > 0.0 else 1.0)
    while idle < _STALLED and best.point.steps < most and not best.within(tol):
        point = newton.solve(point, _rounding(rows, mu, shift), most)
        found, known = certified(rows, point), best.gap
        idle = 0 if found.gap < known else idle + 1
        best = found if found.gap < known else replace(best, point=replace(best.point, steps=point.steps))
        if _unlike(point) ** 2 > _SPOILT * found.gap:
            mu = least = mu / _NARROWER**2  # prices are roundings of f over mu: a wider zone, from the best ones
            point = best.point
        else:
            if found.gap > _NARROWER * known:  # least is for a solution that the penalty decides, not the losses
                least = min(least, float(np.sqrt(mu * aim)) if mu > _FAR * aim else _NARROWER**2 * mu)
            mu = max(_NARROWER * mu, least)
        shift = point.beta
    return best


def _unlike(point: Point) -> float:
    """How far w is from the sum of prices times rows, which it is at a solution of a stage."""
    return float(np.linalg.norm(point.w - point.pulled[:-1]))


def best_constant(rows: Rows) -> Point:
    """No coefficients, and the b of least loss (not squared)."""
    n, d = rows.X.shape
    b = 0.0
    if rows.intercept:
        ends = np.concatenate([rows.lower, rows.upper])
        finite = np.isfinite(ends)
        weights = np.concatenate([rows.C, rows.C])[finite]
        order = np.argsort(ends[finite], kind="stable")
        # the slope is minus the weight of all lower ends, and rises by each weight passed
        slope = np.cumsum(weights[order]) - rows.C[np.isfinite(rows.lower)].sum() + rows.total
        b = float(ends[finite][order][min(int(np.searchsorted(slope, 0.0)), len(order) - 1)])
    return Point(np.zeros(d), b, np.full(n, b), np.zeros(n), np.zeros(d + 1), 0)


def certified(rows: Rows, point: Point) -> Certified:
    """The objective of a point, and the gap to that of its prices, brought to their sum."""
    losses = rows.losses(point.f)
    objective = (
        0.5 * float(point.w @ point.w) + rows.total * point.b + float(rows.C @ (losses**2 if rows.squared else losses))
    )
    beta = _balanced(rows, point.beta) if rows.intercept else point.beta
    moved = np.flatnonzero(beta != point.beta)
    pulled = point.pulled[:-1] if not len(moved) else rows.pull(beta)[:-1]
    priced = np.flatnonzero(beta)
    ends = np.where(beta[priced] > 0, rows.lower[priced], rows.upper[priced])
    dual = float(beta[priced] @ ends) - 0.5 * float(pulled @ pulled)
    if rows.squared:
        dual -= float(np.sum(beta**2 / (4.0 * rows.C)))
    return Certified(point, beta, objective, float(np.maximum(objective - dual, 0.0)))


def _balanced(rows: Rows, beta: Array) -> Array:
    """The prices with what their sum is too much taken off, from those between their bounds first."""
    excess = float(beta.sum()) - rows.total
    if excess == 0.0:
        return beta
    size, side = np.abs(beta), np.sign(excess)
    back = np.where(beta * side > 0, size, 0.0)  # of those that can go towards zero
    on = np.zeros(len(beta))
    if not rows.squared:
        beyond = np.isfinite(rows.upper if side > 0 else rows.lower)
        on = np.where((beta * side <= 0) & beyond, rows.C - size, 0.0)
    free = (size > 0) & (size < rows.cap)
    room = np.where(free, back + on, 0.0)
    if room.sum() < abs(excess):
        room = back + on
    return np.asarray(beta - excess * (room / room.sum()))


def _first(rows: Rows, point: Point, warm: bool) -> tuple[float, Array]:
    """The first mu, and prices in the middle of the zone, where errors on both of its sides cancel."""
    if rows.squared:
        return 0.0, np.zeros(len(rows.X))
    losses = rows.losses(point.f)
    scale = float(losses[losses > 0].mean()) if np.any(losses > 0) else 0.0
    away = np.minimum(np.abs(point.f - rows.lower), np.abs(point.f - rows.upper))
    if warm:
        share = min(1.0, max(_SHARE, 2.0 * rows.X.shape[1] / len(away)))
        scale = max(float(np.quantile(away, share)) / 2.0, 1e-6 * scale)
    mu = _WIDE * (scale or float(away.mean())) / float(rows.C.mean())
    side = np.where(np.abs(rows.lower - point.f) < np.abs(rows.upper - point.f), 0.5, -0.5)
    return mu, side * rows.C


def _rounding(rows: Rows, mu: float, shift: Array) -> Rounding:
    """A squared loss is round by itself, over the width 1 / (2 C)."""
    if not rows.squared:
        return Rounding(mu, shift)
    width = _uniform(0.5 / rows.C) + mu
    return Rounding(width, shift * (mu / width))


def _own_width(rows: Rows) -> float:
    return 0.5 / float(rows.C.max()) if rows.squared else 0.0


def _of_a_part(rows: Rows, most: int) -> Point:
    n = len(rows.X)
    part = np.sort(np.random.default_rng(0).choice(n, n // _PART, replace=False))
    few = replace(
        rows, X=rows.X[part], lower=rows.lower[part], upper=rows.upper[part], C=rows.C[part] * (n / len(part))
    )
    found = solve(few, _PART_TOL, most).point
    f = rows.values(found.w, found.b)
    return Point(found.w, found.b, f, np.zeros(n), np.zeros_like(found.pulled), 0)


def _mean_square(rows: Rows) -> float:
    few = rows.X[:: max(1, len(rows.X) // 1000)] - rows.middle
    return float(np.mean(np.sum(few**2, axis=1)))


def _uniform(values: Array) -> Array | float:
    return float(values[0]) if np.all(values == values[0]) else values
