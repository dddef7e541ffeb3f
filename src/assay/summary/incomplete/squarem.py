"""Climbing a likelihood by EM steps, with jumps along their trend.

    plain   x_k+1 = M(x_k)                                              the objective never falls
    jump    x + 2 a r + a^2 v,  r = x_1 - x, v = x_2 - 2 x_1 + x, a = |r| / |v|     after every third plain point

A jump that would lower the objective is taken back, and the next ones are shorter; the end is always a plain step.
Reference: Varadhan & Roland, Scandinavian Journal of Statistics 35, 2008 (SQUAREM, third scheme).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from assay.arrays import Array
from assay.errors import SingularError

Point: TypeAlias = tuple[Array, Array]

# Jumps shorter than this gain less than the pass that tests them: rates of convergence below 1/3.
_WORTH = 1.5
# Relative to the objective: what the condition of a covariance with a ridge of 1e-8 makes of machine precision.
_ROUNDING = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One evaluation.

    Attributes:
        at: mean (d,) and covariance (d, d).
        log_likelihood, objective: there, without and with the penalty.
        next: the point to which the M step leads.
        scatter: (d, d) expected scatter about the mean of `next`.
    """

    at: Point
    log_likelihood: float
    objective: float
    next: Point
    scatter: Array


@dataclass(frozen=True, slots=True, eq=False)
class Climb:
    """Where a climb ended.

    Attributes:
        last: the evaluation at the end.
        scatter: (d, d) the expected scatter that gave its point.
        kept: the evaluations kept on the way, the first and the last included.
        n_iter: steps and jumps made, those taken back included.
        left: what is still to be gained, extrapolated; infinite where the last rises do not tell.
        converged: whether that is little enough.
    """

    last: Step
    scatter: Array
    kept: tuple[Step, ...]
    n_iter: int
    left: float
    converged: bool


def climb(
    evaluate: Callable[[Point], Step],
    start: Point,
    *,
    max_iter: int,
    enough: float,
    at_once: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Climb:
    """Climb until what is left to gain is small.

    Args:
        evaluate: from a point to its value and the point of the M step.
        start: where to begin.
        max_iter: steps and jumps at most, after the evaluation of the start.
        enough: stop when the rise still to come is at most this.
        at_once: the M step does not depend on where it begins: one is enough.
        progress: called with the number of steps made.
    """
    run = [evaluate(start)]  # plain steps since the last jump
    kept = list(run)
    n_iter, longest = 0, 4.0
    while True:
        now = evaluate(run[-1].next)
        n_iter += 1
        if progress is not None:
            progress(n_iter)
        fall = run[-1].objective - now.objective
        if fall > 0.0:
            # no EM step lowers the objective but for rounding: the top is reached as nearly as can be told
            told = fall <= max(enough, _ROUNDING * abs(now.objective))
            scatter = run[-2].scatter if len(run) > 1 else run[-1].scatter
            return Climb(run[-1], scatter, tuple(kept), n_iter, fall, told)
        run.append(now)
        kept.append(now)
        left = 0.0 if at_once else _left(np.diff([step.objective for step in run]))
        if left <= enough or n_iter >= max_iter:
            return Climb(now, run[-2].scatter, tuple(kept), n_iter, left, left <= enough)
        if len(run) < 3 or n_iter + 2 > max_iter:  # after a jump there must be a plain step left
            continue
        points = run[1].at, run[2].at, now.next
        length = min(_trend(*points), longest)
        run = [now]
        if length < _WORTH:
            continue
        tried = _jumped(evaluate, points, length)
        n_iter += 1
        if tried is not None and tried.objective >= now.objective:
            run = [tried]
            kept.append(tried)
            longest *= 4.0 if length == longest else 1.0
        else:
            longest = max(length / 4.0, _WORTH)


def _left(rises: Array) -> float:
    """What is still to be gained: rises shrink by a constant factor, so their rest is a geometric sum."""
    if rises[-1] == 0.0:
        return 0.0
    if len(rises) < 2 or rises[-1] >= rises[-2]:
        return float("inf")
    rate = float(rises[-1] / rises[-2])
    return float(rises[-1]) * max(1.0, rate / (1.0 - rate))


def _trend(a: Point, b: Point, c: Point) -> float:
    """How far the steps point beyond themselves: 1 / (1 - rate) for steps that shrink by a constant rate."""
    steps = [np.concatenate([(y - x).ravel() for x, y in zip(*pair, strict=True)]) for pair in ((a, b), (b, c))]
    bend = float(np.linalg.norm(steps[1] - steps[0]))
    return float(np.linalg.norm(steps[0])) / bend if bend > 0.0 else 0.0


def _jumped(evaluate: Callable[[Point], Step], points: tuple[Point, Point, Point], length: float) -> Step | None:
    """The evaluation so far along the trend, or nearer where the covariance would not be one; None if too near."""
    while length >= _WORTH:
        mean, covariance = (
            x + 2.0 * length * (y - x) + length**2 * ((z - y) - (y - x)) for x, y, z in zip(*points, strict=True)
        )
        try:
            return evaluate((mean, covariance))
        except SingularError:
            length = 0.5 * (length + 1.0)
    return None
