"""Newton's method on sums of smoothed hinges of a linear function: the inner step of linear machines.

    min over w, b of  1/2 |w|^2 + total b + sum_i psi_i(f_i),   f = (X - m) w + b

    -psi_i'(f) = clip((lower_i - v) / mu_i, 0, cap_i) - clip((v - upper_i) / mu_i, 0, cap_i),   v = f - mu_i shift_i

psi_i is a hinge of slope cap_i on either side of a tube, rounded over a width of mu_i cap_i. The rows on their rounded
part, the zone, alone have curvature: the Hessian is that of a least squares problem in them. The sum is piecewise
quadratic, so that Newton steps with a line search end at the solution once the zone is right.
"""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows and what is asked of them.

    Attributes:
        X: (n, d).
        middle: (d,) m, taken off each row without a copy.
        lower: (n,) f should not be below; may be -inf.
        upper: (n,) f should not be above; may be inf.
        C: (n,) price of a unit of loss.
        squared: whether the loss is squared: then no price is the largest.
        intercept: whether there is a b.
        total: what b costs, and prices sum to: 0 for machines.
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
        """The largest price, the slope of the loss."""
        return np.inf if self.squared else self.C

    def values(self, w: Array, b: float) -> Array:
        """(n,) f."""
        return np.asarray(self.X @ w + (b - float(self.middle @ w)))

    def pull(self, beta: Array) -> Array:
        """(d + 1,) the sums of beta times row, and of beta."""
        return self._summed(beta, slice(None))

    def pull_of_change(self, beta: Array, before: Array, pulled: Array) -> Array:
        """The same, from those of the prices before: few of them change in most steps."""
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
        mu: (n,) or a number: width of the zone for a unit of price.
        shift: (n,) or a number: the price in the middle of the zone, or known from before.
    """

    mu: Array | float
    shift: Array | float


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A solution, or a start.

    Attributes:
        w: (d,) coefficients.
        b: intercept, for rows less the middle.
        f: (n,) values.
        beta: (n,) prices, minus the slope of psi.
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

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        d = rows.X.shape[1]
        self._products = np.zeros((d + 1, d + 1))
        self._weights = np.zeros(len(rows.X))

    def solve(self, start: Point, rounding: Rounding, most: int) -> Point:
        """Steps until the gradient is zero but for rounding, the zone stays as it is, or `most` are taken."""
        rows, w, b, f = self.rows, start.w, start.b, start.f
        beta, zone = self._prices(f, rounding)
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
            old, before, (beta, zone) = beta, zone, self._prices(f, rounding)
            pulled = rows.pull_of_change(beta, old, pulled)
            steps += 1
            if share * np.abs(move).max() <= 2.0 * _EPS * np.abs(f).max():
                break
            same = np.array_equal(zone, before) and np.array_equal(np.sign(beta), np.sign(old))
            if same and zone.any():
                break  # at the least of this quadratic piece, but for rounding
        return Point(w, b, f, beta, pulled, steps)

    def _prices(self, f: Array, rounding: Rounding) -> tuple[Array, NDArray[np.bool_]]:
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
            beta, zone = self._prices(f + share * move, rounding)
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
