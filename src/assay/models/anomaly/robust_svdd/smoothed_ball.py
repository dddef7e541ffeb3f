"""A ball with points outside along smoothed problems: Newton's method in the centre c (d,) and the radius r alone.

    F_mu(c, r) = r + C/2 sum_i (t_i + q_i),   t_i = f_i(c) - r,   q_i = sqrt(t_i^2 + 4 mu^2),   x_i (d,), i = 1 .. n

with f_i = |x_i - c|^2, or sqrt(|x_i - c|^2 + mu^2) for distances, is smooth, convex, and the objective where mu = 0.
Its slope is

    sum_i a_i grad f_i  in c,  1 - sum_i a_i  in r,   with weights  a_i = C/2 (1 + t_i / q_i)  between 0 and C,

so where it is zero the weights, and the pulls a_i grad f_i, meet all conditions of the dual: each minimiser brings its
proof, with a gap of 2 mu sum_i sqrt(a_i (C - a_i)). With s = (q + t) / 2 for the slack of a row and z = (q - t) / 2 for
what it lies below r + s, s z = mu^2: this is a path through the interior, with the slacks solved for. A step costs
O(n d^2): with b_i = da_i/df = 2 C mu^2 / q_i^3 and g_i = (grad f_i, -1) the second derivatives, (d + 1, d + 1), are
sum_i a_i grad^2 f_i + b_i g_i g_i^T.

The tangent of the path, from  (second derivatives) dx/dmu = -d slope/dmu,  leads from one mu to a twentieth of it; two
or three steps do the rest, shortened where they do not descend. The last step for a mu is taken to first order in the
weights, too, to a_i + b_i g_i.dx : these balance to second order, where weights computed from distances would have the
rounding of t_i 1 / mu times. So the gap falls with mu down to rounding.

Many rows: a sample of them does for the first mu, and rows more than 100 mu inside, with weights below 1e-4 C, are left
out for good. That this was right is seen in the gap, which all rows enter.

Where C n <= 1 all rows have all the weight there is, and only the centre is sought.

References: Chen & Harker, A non-interior-point continuation method for linear complementarity problems, 1993; Qi, Sun &
Zhou, A new look at smoothing Newton methods, Mathematical Programming 87, 2000.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from assay.arrays import Array

_EPS = float(np.finfo(np.float64).eps)
_FALL = 0.05  # of mu from one problem to the next
_CENTRED = 1e-4  # gain of a step, relative to mu, after which the next mu is due
_HALVINGS = 20  # of a step, after which rounding hides its gain
_MANY = 1000  # rows beyond which those far inside are left out
_INSIDE = 100.0  # times mu, how far that is
_SAMPLED = 0.01  # down to which share of its first mu a sample of many rows will do
_BESIDE = 20  # rows for each unknown that are kept besides those outside, however far inside they are


@dataclass(frozen=True, slots=True, eq=False)
class SmoothingStage:
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


def stages(
    rows: Array, C: float, squared: bool, c: Array, max_iter: int, *, part: bool = True
) -> Iterator[SmoothingStage]:
    """Solve one smoothed problem after the other, until mu is down to rounding.

    Args:
        rows: (d, n) points, one in each column.
        C: price of a unit outside.
        squared: whether it is paid for squared distances.
        c: (d,) centre to start from.
        max_iter: most steps of Newton's method.
        part: whether a part of the rows may do, where they are many.

    Yields:
        Stage.
    """
    d, n = rows.shape
    steps, rough = 0, 1.0
    if part and n > _MANY:
        sample = rows[:, :: -(-n // _MANY)]
        for stage in stages(np.ascontiguousarray(sample), C * n / sample.shape[1], squared, c, max_iter - 1):
            c, steps, rough = stage.c, stage.steps, rough * _FALL
            if rough <= _SAMPLED:
                break
    f = _lengths(c[:, None] - rows, squared, 0.0)
    all_out = C * n <= 1.0 + 1e-12
    price = 1.0 / n if all_out else C  # the same centre, in the units of the others
    outside = min(int(1.0 / price), n - 1)
    r = float(np.partition(f, n - 1 - outside)[n - 1 - outside])
    mu, least = rough * max(float(np.abs(f - r).mean()), 1e-3 * float(f.mean())), 8.0 * _EPS * float(f.mean())
    used, few, starts = np.arange(n), rows, [np.append(c, r)]
    while mu > least and steps < max_iter:
        at, step, taken = _minimised(_Smoothed(few, price, squared, all_out, mu), starts, max_iter - steps)
        steps += taken
        a = np.zeros(n)
        a[used] = step.a * (C / price)
        if not squared:  # a pull is shorter than its weight by as much as f is smoothed
            off = step.x[:-1, None] - few
            a[used] *= _lengths(off, False, 0.0) / _lengths(off, False, mu)
        yield SmoothingStage(step.x[:-1], a, mu, steps, used.size < n)
        # the start is the better of two: where no row is on the sphere r is free, and the tangent may lead anywhere
        starts = [step.x - (1.0 - _FALL) * mu * step.tangent(), at.x]
        mu *= _FALL
        inside = at.f < at.x[-1] - _INSIDE * mu
        if part and n > _MANY and np.count_nonzero(inside) > 0.25 * used.size:
            first = max(used.size - outside - _BESIDE * (d + 1), 0)
            near = np.flatnonzero(~inside | (at.f >= np.partition(at.f, first)[first]))
            used, few = used[near], np.take(few, near, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """Centre and radius x (d + 1,), the centre less the rows (d, m), f, t and q (m,), and F_mu."""

    x: Array
    off: Array
    f: Array
    t: Array
    q: Array
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """Where Newton's step leads, what it gains (twice), the weights there to first order, the tangent of the path."""

    x: Array
    gain: float
    a: Array
    tangent: Callable[[], Array]


@dataclass(frozen=True, slots=True, eq=False)
class _Smoothed:
    """F_mu of (d, m) rows."""

    rows: Array
    C: float
    squared: bool
    all_out: bool
    mu: float

    def at(self, x: Array) -> _Point:
        off = x[:-1, None] - self.rows
        f = _lengths(off, self.squared, self.mu)
        if self.all_out:
            return _Point(x, off, f, f, f, self.C * float(f.sum()))
        t = f - x[-1]
        q = np.sqrt(t * t + 4.0 * self.mu**2)
        return _Point(x, off, f, t, q, float(x[-1]) + 0.5 * self.C * float((t + q).sum()))

    def newton(self, at: _Point) -> _Step:
        """The step from a point."""
        mu, f, d = self.mu, at.f, len(at.x) - 1
        a = 0.5 * self.C * (1.0 + at.t / at.q)
        b = np.zeros_like(f) if self.all_out else 2.0 * self.C * mu**2 / (at.q * at.q * at.q)
        if self.squared:
            slopes, pressed, around, along = 2.0 * at.off, np.zeros(0), 2.0 * float(a.sum()), b
        else:  # grad^2 f = (I - grad f grad f^T) / f
            slopes, pressed = at.off / f, a / f
            around, along = float(pressed.sum()), b - pressed
        matrix = np.empty((d + 1, d + 1))
        matrix[:d, :d] = (slopes * along) @ slopes.T
        matrix[:d, d] = matrix[d, :d] = -(slopes @ b)
        matrix[d, d] = 1.0 if self.all_out else b.sum()
        diagonal = np.einsum("ii->i", matrix)
        diagonal[:d] += around * (1.0 + 64.0 * _EPS)  # the difference may be rounding alone, on a line say
        units = 1.0 / np.sqrt(np.maximum(diagonal, _EPS * diagonal.max()))
        matrix *= np.outer(units, units)
        diagonal += 64.0 * _EPS
        factor = cho_factor(matrix, check_finite=False)

        def solved(side: Array) -> Array:
            return np.asarray(units * cho_solve(factor, units * side, check_finite=False))

        def tangent() -> Array:
            drift = -b * at.t / mu  # da/dmu
            turn = drift
            if not self.squared:  # df/dmu = mu / f, and grad f is shortened as f grows
                drift = drift + b * (mu / f)
                turn = drift - pressed * (mu / f)
            return -solved(np.append(slopes @ turn, -drift.sum()))

        slope = np.append(slopes @ a, 0.0 if self.all_out else 1.0 - a.sum())
        step = -solved(slope)
        after = np.clip(a + b * (step[:d] @ slopes - step[d]), 0.0, self.C)
        return _Step(at.x + step, -float(slope @ step), after, tangent)


def _minimised(problem: _Smoothed, starts: list[Array], most: int) -> tuple[_Point, _Step, int]:
    """A point near the minimum, the step from there, and how many were taken before."""
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
        if further.gain >= step.gain and noise > _CENTRED * problem.mu:  # values do not tell what is better any more
            break
        at, step = after, further
    return at, step, taken


def _lengths(off: Array, squared: bool, mu: float) -> Array:
    """(n,) squares of the lengths of columns, or lengths, smoothed."""
    f = np.einsum("dn,dn->n", off, off)
    return np.asarray(f if squared else np.sqrt(f + mu * mu))
