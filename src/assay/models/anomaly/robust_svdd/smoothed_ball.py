"""A ball with points outside along smoothed problems: Newton's method in the centre c (d,) and the radius r alone.

    F_mu(c, r) = B r + C sum_i mu log(1 + exp((f_i(c) - r) / mu)),     f_i = |x_i - c|^2  or  sqrt(|x_i - c|^2 + mu^2)

is smooth, convex, and the objective itself at mu = 0, with B = 1, or C n where that is less. Its slope is

    sum_i a_i grad f_i  and  B - sum_i a_i,     a_i = C / (1 + exp((r - f_i) / mu)),  strictly between 0 and C,

so where it is zero the weights a, and the pulls a_i grad f_i, meet all conditions of the dual: each minimiser brings its
proof, with a gap of mu C sum_i H(a_i / C), H the entropy of two outcomes. The minimisers are a smooth path in mu, and
its tangent, -(second derivatives)^-1 d slope / dmu, leads from one to the next: two or three steps do for each.

Near the end weights are not computed from distances, whose rounding would count 1 / mu times: to first order a step
(dc, dr) takes them to a_i + da_i/df (grad f_i.dc - dr), which balance to second order however small mu is. Rows more
than 40 mu inside have no weight; where rows are many those are left out until mu falls again.

Reference: Chen & Mangasarian, A class of smoothing functions for nonlinear and mixed complementarity problems, 1996.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from assay.arrays import Array

_EPS = float(np.finfo(np.float64).eps)
_SURE = 40.0  # exp(-40) is below rounding
_FALL = 0.1  # of mu from one problem to the next
_CENTRED = 1e-4  # gain of a step, relative to mu, after which the next mu is due
_HALVINGS = 20  # of a step, after which rounding hides its gain
_BESIDE = 20  # rows for each unknown that are kept besides those outside
_MANY = 1000  # rows beyond which those far inside are left out


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """The solution of one smoothed problem.

    Attributes:
        c: (d,) centre.
        a: (n,) weights; for distances the lengths of the pulls.
        mu: how much is smoothed away, in the measure of the objective.
        steps: taken so far.
        part: whether rows far inside were left out.
    """

    c: Array
    a: Array
    mu: float
    steps: int
    part: bool


def stages(rows: Array, C: float, squared: bool, c: Array, r: float, max_iter: int) -> Iterator[Stage]:
    """Solve one smoothed problem after the other, until mu is down to rounding.

    Args:
        rows: (d, n) points, one in each column.
        C: price of a unit outside.
        squared: whether it is paid for squared distances.
        c: (d,) centre to start from.
        r: radius to start from, in the measure of the objective.
        max_iter: most steps of Newton's method.

    Yields:
        Stage.
    """
    n = rows.shape[1]
    f = _lengths(c[:, None] - rows, squared, 0.0)
    mu = max(float(np.median(np.abs(f - r))), 1e-3 * float(f.mean()))
    least = _EPS * float(f.mean())
    budget = min(1.0, C * n)
    starts = [np.append(c, r if C * n > 1.0 + 4.0 * _EPS else -2.0 * _SURE * mu)]  # so low that all have all weight
    spare = max(n - int(1.0 / C) - _BESIDE * len(starts[0]), 0)
    steps = 0
    while mu > least and steps < max_iter:
        used, few = np.arange(n), rows
        if n > _MANY:
            used = np.flatnonzero(f >= min(starts[0][-1] - _SURE * mu, np.partition(f, spare)[spare]))
            few = np.ascontiguousarray(rows[:, used])
        problem = _Smoothed(few, C, squared, budget, mu)
        at, step, taken = _minimised(problem, starts, max_iter - steps)
        steps += taken
        a = np.zeros(n)
        a[used] = step.a
        if not squared:  # a pull is shorter than its weight where f is smoothed
            off = step.x[:-1, None] - few
            a[used] *= _lengths(off, False, 0.0) / _lengths(off, False, mu)
        yield Stage(step.x[:-1], a, mu, steps, used.size < n)
        # where no row is on the sphere the radius is free, and the tangent may lead anywhere
        starts = [step.x - (1.0 - _FALL) * mu * step.tangent, at.x]
        mu *= _FALL
        if n > _MANY:
            f = _lengths(step.x[:-1, None] - rows, squared, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """Centre and radius x (d + 1,), with offsets of the centre from the rows, f, exp(-|f - r| / mu), and F_mu."""

    x: Array
    off: Array
    f: Array
    e: Array
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """Where Newton's step leads, how much it gains, the weights there to first order, and the tangent of the path."""

    x: Array
    gain: float
    a: Array
    tangent: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Smoothed:
    """F_mu of (d, m) rows."""

    rows: Array
    C: float
    squared: bool
    budget: float
    mu: float

    def at(self, x: Array) -> _Point:
        off = x[:-1, None] - self.rows
        f = _lengths(off, self.squared, self.mu)
        above = f - x[-1]
        e = np.exp(-np.abs(above) / self.mu)
        outside = float(np.maximum(above, 0.0).sum()) + self.mu * float(np.log1p(e).sum())
        return _Point(x, off, f, e, self.budget * float(x[-1]) + self.C * outside)

    def newton(self, at: _Point) -> _Step:
        """The step from a point."""
        mu, f, r, d = self.mu, at.f, at.x[-1], len(at.x) - 1
        a = self.C * np.where(f > r, 1.0, at.e) / (1.0 + at.e)
        bend = self.C / mu * at.e / (1.0 + at.e) ** 2  # da / df
        drift = -bend * (f - r) / mu  # da / dmu
        if self.squared:
            slopes, round_, along, turn = 2.0 * at.off, 2.0 * float(a.sum()), bend, drift
        else:  # second derivatives (I - g g^T) / f; f and g depend on mu, too
            slopes, tense = at.off / f, a / f
            drift += bend * (mu / f)
            round_, along, turn = float(tense.sum()), bend - tense, drift - tense * (mu / f)
        matrix = np.empty((d + 1, d + 1))
        matrix[:d, :d] = (slopes * along) @ slopes.T
        matrix[:d, d] = matrix[d, :d] = -(slopes @ bend)
        matrix[d, d] = bend.sum()
        diagonal = np.einsum("ii->i", matrix)
        diagonal[:d] += round_
        units = 1.0 / np.sqrt(np.maximum(diagonal, _EPS * diagonal.max() + np.finfo(np.float64).tiny))
        matrix *= np.outer(units, units)
        diagonal += 64.0 * _EPS
        factor = cho_factor(matrix, check_finite=False)
        slope = np.append(slopes @ a, self.budget - a.sum())
        step = -units * cho_solve(factor, units * slope, check_finite=False)
        tangent = -units * cho_solve(factor, units * np.append(slopes @ turn, -drift.sum()), check_finite=False)
        a = np.clip(a + bend * (step[:d] @ slopes - step[d]), 0.0, self.C)
        return _Step(at.x + step, -float(slope @ step), a, tangent)


def _minimised(problem: _Smoothed, starts: list[Array], most: int) -> tuple[_Point, _Step, int]:
    """The point nearest to the minimum, the step from there, and how many were taken before."""
    at = min((problem.at(x) for x in starts), key=lambda point: point.value)
    step, taken = problem.newton(at), 0
    while step.gain > _CENTRED * problem.mu and taken < most:
        noise = 4.0 * _EPS * abs(at.value)
        for share in 0.5 ** np.arange(_HALVINGS):
            after = problem.at(at.x + share * (step.x - at.x))
            if after.value <= at.value - 1e-4 * share * step.gain + noise:
                break
        else:
            break
        further, taken = problem.newton(after), taken + 1
        if further.gain > 0.5 * step.gain and step.gain <= noise:
            break
        at, step = after, further
    return at, step, taken


def _lengths(off: Array, squared: bool, mu: float) -> Array:
    """(n,) squared lengths of the columns, or smoothed lengths."""
    f = np.einsum("dn,dn->n", off, off)
    return np.asarray(f if squared else np.sqrt(f + mu * mu))
