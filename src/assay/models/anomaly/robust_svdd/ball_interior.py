"""Steps through the interior towards the best ball with slack: predictor and corrector after Mehrotra.

    min c.Q c / 2 + q.c + B r + C sum s      subject to  z_i(c, r + s_i) in its cone,  s >= 0  (and r >= 0)

    multipliers  y of the cones, with heads a;  b of s >= 0;  k of r >= 0
    conditions   Q c + q + force(y) = 0,  sum a + k = B,  a + b = C,  z y = b s = k r = mu -> 0

The n slacks are eliminated row by row, so a step solves one (d + 1, d + 1) system and costs O(n d^2). z is computed
from c, r and s, so the primal is feasible throughout; the conditions on the multipliers are linear, and met by the
first full step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from assay.arrays import Array
from assay.models.anomaly.robust_svdd.ball_cones import Scaling, longest

_KEPT = 0.99  # share of the way to the boundary that a step may go


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A point in the interior.

    Attributes:
        c: (d,) centre.
        r: the radius, or the squared radius less the square of c.
        s: (n,) slacks.
        y: (k, n) multipliers of the cones.
        b: (n,) multipliers of s >= 0.
        k: multiplier of r >= 0; zero where r is free.
    """

    c: Array
    r: float
    s: Array
    y: Array
    b: Array
    k: float


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    c: Array
    r: float
    s: Array
    z: Array
    y: Array
    b: Array
    k: float


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is minimised.

    Attributes:
        rows: (d, n) points.
        C: price of a unit of slack.
        budget: B, what the weights sum to.
        curvature: (d, d) Q.
        slope: (d,) q.
        slack: from c and r + s, the (k, n) slacks of the cones.
        scaling: the kind of cone.
    """

    rows: Array
    C: float
    budget: float
    curvature: Array
    slope: Array
    slack: Callable[[Array, Array], Array]
    scaling: type[Scaling]


def interior_points(problem: Problem, start: State) -> Iterator[State]:
    """Go from point to point, for ever nearer to the solution; end where rounding lets none be better.

    Args:
        problem: what is minimised.
        start: a point in the interior.

    Yields:
        State, the start first.
    """
    now = start
    while True:
        yield now
        with np.errstate(all="ignore"):  # a step that rounding spoils is seen below
            z = problem.slack(now.c, now.r + now.s)
            after = _advanced(problem, now, z)
        if after is None or not all(np.isfinite(part).all() for part in (after.c, after.s, after.y, after.b)):
            return
        now = after


def _advanced(problem: Problem, now: State, z: Array) -> State | None:
    products = float(np.einsum("kn,kn->", z, now.y)) + float(now.b @ now.s) + (now.k * now.r if now.k else 0.0)
    mu = products / (2 * now.s.size + (now.k > 0.0))
    system = _System.of(problem, now, z)
    if system is None:
        return None
    guess = system.step(0.0, None)
    aim = (1.0 - min(1.0, system.longest(guess))) ** 3 * mu
    step = system.step(aim, guess)
    share = min(1.0, _KEPT * system.longest(step))
    return State(
        now.c + share * step.c,
        now.r + share * step.r,
        now.s + share * step.s,
        now.y + share * step.y,
        now.b + share * step.b,
        now.k + share * step.k,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _System:
    """The equations of a step, factored once for predictor and corrector."""

    problem: Problem
    now: State
    z: Array
    at: Scaling
    stiff: Array
    factor: tuple[Array, bool]
    units: Array

    @classmethod
    def of(cls, problem: Problem, now: State, z: Array) -> _System | None:
        scaling = problem.scaling.of(problem.rows, z, now.y)
        ratio = now.b / now.s
        stiff = scaling.head + ratio
        d = len(now.c)
        matrix = np.empty((d + 1, d + 1))
        matrix[:d, :d] = scaling.schur(ratio) + problem.curvature
        matrix[:d, d] = matrix[d, :d] = scaling.coupling @ (ratio / stiff)
        matrix[d, d] = scaling.head @ (ratio / stiff) + (now.k / now.r if now.k else 0.0)
        units = 1.0 / np.sqrt(np.diag(matrix))
        if not (np.isfinite(matrix).all() and np.isfinite(units).all()):
            return None
        scaled = matrix * np.outer(units, units)
        scaled[np.diag_indices(d + 1)] += 4.0 * np.finfo(np.float64).eps
        try:
            factor = cho_factor(scaled, check_finite=False)
        except LinAlgError:
            return None
        return cls(problem, now, z, scaling, stiff, factor, units)

    def step(self, mu: float, earlier: _Step | None) -> _Step:
        """The step that makes all products mu, to second order where an earlier one is known."""
        asked, now, at, stiff = self.problem, self.now, self.at, self.stiff
        a = now.y[0]
        g = at.centring(mu, None, None) if earlier is None else at.centring(mu, earlier.z, earlier.y)
        slack = mu - now.b * now.s - (0.0 if earlier is None else earlier.b * earlier.s)
        floor = (mu - now.k * now.r - (0.0 if earlier is None else earlier.k * earlier.r)) / now.r if now.k else 0.0
        e = g[0] + slack / now.s - (asked.C - a - now.b)
        right = np.append(
            -(asked.curvature @ now.c + asked.slope + at.force(now.y) + at.force(g)) - at.coupling @ (e / stiff),
            (g[0] - at.head * (e / stiff)).sum() + floor - (asked.budget - a.sum() - now.k),
        )
        solved = cho_solve(self.factor, right * self.units, check_finite=False) * self.units
        dc, dr = solved[:-1], float(solved[-1])
        ds = (e - at.head * dr - dc @ at.coupling) / stiff
        dz, dy = at.move(g, dr + ds, dc)
        return _Step(dc, dr, ds, dz, dy, (slack - now.b * ds) / now.s, floor - now.k / now.r * dr if now.k else 0.0)

    def longest(self, step: _Step) -> float:
        """How much of a step stays inside."""
        now = self.now
        cones = min(self.at.longest(self.z, step.z), self.at.longest(now.y, step.y))
        slacks = min(longest(now.s, step.s), longest(now.b, step.b))
        floor = longest(np.array([now.r, now.k]), np.array([step.r, step.k])) if now.k else np.inf
        return min(cones, slacks, floor)
