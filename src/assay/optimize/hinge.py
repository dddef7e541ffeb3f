"""Sums of hinges of a linear function, minimised by Newton steps: the program of linear machines on tall data.

    min over w, b of  1/2 |w|^2 + total b + sum_i C_i max(0, lower_i - f_i, f_i - upper_i),   f = (X - m) w + b

Smoothing   each hinge is rounded over a width of mu C_i, psi_i in its place:

    -psi_i'(f) = clip((lower_i - v) / mu_i, 0, cap_i) - clip((v - upper_i) / mu_i, 0, cap_i),   v = f - mu_i shift_i

The rows on their rounded part, the zone, alone have curvature: the Hessian is that of a least squares problem in them.
The sum is piecewise quadratic, so that Newton steps with a line search end at the solution once the zone is right.

Stages      the multipliers beta = -psi' of a stage are the shift of the next one: an augmented Lagrangian, whose
solution does not depend on the smoothing in the end. A narrower zone only makes this faster. A part of the rows is
solved first where there are many. The duality gap of the multipliers certifies the result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from assay.arrays import Array

_BLOCK = 4096  # rows of a product that stay in the cache
_ENOUGH = 0.1  # share of the first slope that a line search may leave
_ROUNDS = 100
_LONGER = 8.0  # times the share at most, before the next look
_ROUNDING = 1e-15
_FEW = 10  # a product with one in so many rows, taken out of their table, costs as much as with all
_EPS = float(np.finfo(np.float64).eps)
# of the stages
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
class HingeRows:
    """The rows and what is asked of them.

    Attributes:
        X: (n, d).
        middle: (d,) m, taken off each row without a copy.
        lower: (n,) f should not be below; may be -inf.
        upper: (n,) f should not be above; may be inf.
        C: (n,) factor of each row's loss.
        squared: whether the loss is squared: then multipliers have no bound.
        intercept: whether there is a b.
        total: factor of b, and sum of the multipliers: 0 for machines.
    """

    X: Array
    middle: Array
    lower: Array
    upper: Array
    C: Array
    squared: bool
    intercept: bool
    total: float = 0.0

    @property
    def cap(self) -> Array | float:
        """The largest multiplier, the slope of the loss."""
        return np.inf if self.squared else self.C

    def values(self, w: Array, b: float) -> Array:
        """(n,) f."""
        return np.asarray(self.X @ w + (b - float(self.middle @ w)))

    def pull(self, beta: Array) -> Array:
        """(d + 1,) the sums of beta times row, and of beta."""
        return self._summed(beta, slice(None))

    def pull_of_change(self, beta: Array, before: Array, pulled: Array) -> Array:
        """The same, from those of the multipliers before: few of them change in most steps."""
        change = beta - before
        changed = np.flatnonzero(change)
        if _FEW * len(changed) > len(beta):
            return self.pull(beta)
        return pulled + self._summed(change[changed], changed)

    def _summed(self, beta: Array, which: Any) -> Array:
        total = float(beta.sum())
        return np.append(beta @ self.X[which] - self.middle * total, total if self.intercept else 0.0)

    def losses(self, f: Array) -> Array:
        """(n,) how far each f lies outside."""
        return np.maximum(np.maximum(self.lower - f, f - self.upper), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Rounding:
    """How the hinges are smoothed.

    Attributes:
        mu: (n,) or a number: width of the zone for a unit of C.
        shift: (n,) or a number: the multiplier in the middle of the zone, or known from before.
    """

    mu: Array | float
    shift: Array | float


@dataclass(frozen=True, slots=True, eq=False)
class HingePoint:
    """A solution, or a start.

    Attributes:
        w: (d,) coefficients.
        b: intercept, for rows less the middle.
        f: (n,) values.
        beta: (n,) multipliers, minus the slope of psi.
        pulled: (d + 1,) their sums with the rows.
        steps: taken in all.
    """

    w: Array
    b: float
    f: Array
    beta: Array
    pulled: Array
    steps: int


class Newton:
    """Newton steps for one set of rows; what they share is kept from one smoothing to the next."""

    def __init__(self, rows: HingeRows) -> None:
        self.rows = rows
        d = rows.X.shape[1]
        self._products = np.zeros((d + 1, d + 1))
        self._weights = np.zeros(len(rows.X))

    def solve(self, start: HingePoint, rounding: Rounding, most: int) -> HingePoint:
        """Steps until the gradient is zero but for rounding, the zone stays as it is, or `most` are taken."""
        rows, w, b, f = self.rows, start.w, start.b, start.f
        beta, zone = self._multipliers(f, rounding)
        pulled, steps = rows.pull_of_change(beta, start.beta, start.pulled), start.steps
        while steps < most:
            slope = np.append(w, rows.total) - pulled
            if np.linalg.norm(slope) <= _ROUNDING * (np.linalg.norm(w) + np.abs(beta).sum()):
                break
            step = self._direction(slope, zone, rounding)
            if not np.isfinite(step).all():
                break
            move = rows.values(step[:-1], float(step[-1]))
            share = self._search(w, f, move, step, rounding)
            w, b, f = w + share * step[:-1], b + share * float(step[-1]), f + share * move
            old, before, (beta, zone) = beta, zone, self._multipliers(f, rounding)
            pulled = rows.pull_of_change(beta, old, pulled)
            steps += 1
            if share * np.abs(move).max() <= 2.0 * _EPS * np.abs(f).max():
                break
            same = np.array_equal(zone, before) and np.array_equal(np.sign(beta), np.sign(old))
            if same and zone.any():
                break  # at the least of this quadratic piece, but for rounding
        return HingePoint(w, b, f, beta, pulled, steps)

    def _multipliers(self, f: Array, rounding: Rounding) -> tuple[Array, NDArray[np.bool_]]:
        """(n,) minus the slope of psi, and (n,) which rows lie in the zone."""
        mu, cap = rounding.mu, self.rows.cap
        v = f - mu * np.asarray(rounding.shift)
        with np.errstate(invalid="ignore"):
            below, above = (self.rows.lower - v) / mu, (v - self.rows.upper) / mu
        beta = np.clip(below, 0.0, cap) - np.clip(above, 0.0, cap)
        size = np.abs(beta)
        return beta, (size > 0.0) & (size < cap)

    def _direction(self, slope: Array, zone: NDArray[np.bool_], rounding: Rounding) -> Array:
        H = self._hessian(zone, rounding)
        units = 1.0 / np.sqrt(np.diag(H))
        scaled = H * np.outer(units, units)
        for damping in (4.0 * _EPS, 1e-12, 1e-8, 1e-4):
            scaled[np.diag_indices_from(scaled)] = 1.0 + damping
            try:
                factor = cho_factor(scaled, check_finite=False)
            except LinAlgError:
                continue
            return np.asarray(-units * cho_solve(factor, units * slope, check_finite=False))
        return -slope

    def _hessian(self, zone: NDArray[np.bool_], rounding: Rounding) -> Array:
        """I for w, plus the products of the rows in the zone over mu; the last row and column are those of b."""
        d = self.rows.X.shape[1]
        S = self._zone_products(np.where(zone, 1.0 / np.asarray(rounding.mu), 0.0))
        m, s, k = self.rows.middle, S[:d, d], float(S[d, d])
        H = np.empty((d + 1, d + 1))
        H[:d, :d] = S[:d, :d] - np.outer(m, s) - np.outer(s, m) + k * np.outer(m, m)
        H[np.diag_indices(d)] = np.maximum(np.diag(H)[:d], 0.0) + 1.0
        H[:d, d] = H[d, :d] = s - k * m
        # without curvature in b its step is that of one row in the zone: the line search does the rest
        H[d, d] = k if k > 0.0 else float(np.max(1.0 / np.asarray(rounding.mu)))
        if not self.rows.intercept:
            H[:d, d] = H[d, :d] = 0.0
            H[d, d] = 1.0
        return H

    def _zone_products(self, weights: Array) -> Array:
        """(d + 1, d + 1) sums of weight times (x, 1) (x, 1)^T."""
        changed = np.flatnonzero(weights != self._weights)
        if 2 * len(changed) > np.count_nonzero(weights):
            self._products[:] = 0.0
            changed, change = np.flatnonzero(weights), weights
        else:
            change = weights - self._weights
        d = self.rows.X.shape[1]
        for lo in range(0, len(changed), _BLOCK):
            part = changed[lo : lo + _BLOCK]
            block, by = self.rows.X[part], change[part]
            weighted = block * by[:, None]
            self._products[:d, :d] += block.T @ weighted
            self._products[:d, d] += weighted.sum(axis=0)
            self._products[d, d] += by.sum()
        self._products[d, :d] = self._products[:d, d]
        self._weights = weights
        return self._products

    def _search(self, w: Array, f: Array, move: Array, step: Array, rounding: Rounding) -> float:
        """The share of the step at which the sum stops falling, nearly: Newton's method on its slope, within bounds."""
        along = float(w @ step[:-1]) + self.rows.total * float(step[-1])
        square = float(step[:-1] @ step[:-1])

        def slope(share: float) -> tuple[float, float]:
            beta, zone = self._multipliers(f + share * move, rounding)
            curvature = float(np.sum(move**2 / rounding.mu, where=zone))
            return along + share * square - float(beta @ move), square + curvature

        first = slope(0.0)[0]
        if not first < 0.0:
            return 0.0
        low, high, share = 0.0, np.inf, 1.0
        for _ in range(_ROUNDS):
            value, curvature = slope(share)
            if abs(value) <= -_ENOUGH * first:
                return share
            if value < 0.0:
                low = share
            else:
                high = share
            share -= value / curvature if curvature > 0.0 else value * np.inf
            if not low < share < min(high, _LONGER * low or np.inf):
                share = _between(low, high)
        return low


def _between(low: float, high: float) -> float:
    """A share between two, in the middle of their orders of magnitude if they differ by some; beyond one alone."""
    if not np.isfinite(high):
        return _LONGER * low
    return float(np.sqrt(low * high)) if high > _LONGER * low > 0.0 else 0.5 * (low + high)


@dataclass(frozen=True, slots=True, eq=False)
class Certified:
    """A point and a feasible dual one.

    Attributes:
        point: the point.
        beta: (n,) dual variables, within their bounds, of the total's sum if there is an intercept.
        objective: of the point.
        gap: objective less that of beta.
    """

    point: HingePoint
    beta: Array
    objective: float
    gap: float

    def within(self, tol: float) -> bool:
        """Whether the gap is at most this share of the objective."""
        return self.gap <= tol * self.objective


def solve_hinges(rows: HingeRows, tol: float, most: int, start: HingePoint | None = None) -> Certified:
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
            mu = least = mu / _NARROWER**2  # multipliers are roundings of f over mu: a wider zone, from the best
            point = best.point
        else:
            if found.gap > _NARROWER * known:  # least is for a solution that the penalty decides, not the losses
                least = min(least, float(np.sqrt(mu * aim)) if mu > _FAR * aim else _NARROWER**2 * mu)
            mu = max(_NARROWER * mu, least)
        shift = point.beta
    return best


def _unlike(point: HingePoint) -> float:
    """How far w is from the sum of multipliers times rows, which it is at a solution of a stage."""
    return float(np.linalg.norm(point.w - point.pulled[:-1]))


def best_constant(rows: HingeRows) -> HingePoint:
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
    return HingePoint(np.zeros(d), b, np.full(n, b), np.zeros(n), np.zeros(d + 1), 0)


def certified(rows: HingeRows, point: HingePoint) -> Certified:
    """The objective of a point, and the gap to that of its multipliers, brought to their sum."""
    losses = rows.losses(point.f)
    objective = (
        0.5 * float(point.w @ point.w) + rows.total * point.b + float(rows.C @ (losses**2 if rows.squared else losses))
    )
    beta = _balanced(rows, point.beta) if rows.intercept else point.beta
    moved = np.flatnonzero(beta != point.beta)
    pulled = point.pulled[:-1] if not len(moved) else rows.pull(beta)[:-1]
    used = np.flatnonzero(beta)
    ends = np.where(beta[used] > 0, rows.lower[used], rows.upper[used])
    dual = float(beta[used] @ ends) - 0.5 * float(pulled @ pulled)
    if rows.squared:
        dual -= float(np.sum(beta**2 / (4.0 * rows.C)))
    return Certified(point, beta, objective, float(np.maximum(objective - dual, 0.0)))


def _balanced(rows: HingeRows, beta: Array) -> Array:
    """The multipliers with what their sum is too much taken off, from those between their bounds first."""
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


def _first(rows: HingeRows, point: HingePoint, warm: bool) -> tuple[float, Array]:
    """The first mu, and multipliers in the middle of the zone, where errors on both of its sides cancel."""
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


def _rounding(rows: HingeRows, mu: float, shift: Array) -> Rounding:
    """A squared loss is round by itself, over the width 1 / (2 C)."""
    if not rows.squared:
        return Rounding(mu, shift)
    width = _uniform(0.5 / rows.C) + mu
    return Rounding(width, shift * (mu / width))


def _own_width(rows: HingeRows) -> float:
    return 0.5 / float(rows.C.max()) if rows.squared else 0.0


def _of_a_part(rows: HingeRows, most: int) -> HingePoint:
    n = len(rows.X)
    part = np.sort(np.random.default_rng(0).choice(n, n // _PART, replace=False))
    few = replace(
        rows, X=rows.X[part], lower=rows.lower[part], upper=rows.upper[part], C=rows.C[part] * (n / len(part))
    )
    found = solve_hinges(few, _PART_TOL, most).point
    f = rows.values(found.w, found.b)
    return HingePoint(found.w, found.b, f, np.zeros(n), np.zeros_like(found.pulled), 0)


def _mean_square(rows: HingeRows) -> float:
    few = rows.X[:: max(1, len(rows.X) // 1000)] - rows.middle
    return float(np.mean(np.sum(few**2, axis=1)))


def _uniform(values: Array) -> Array | float:
    return float(values[0]) if np.all(values == values[0]) else values
