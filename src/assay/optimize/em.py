"""Climbing a likelihood by expectation and maximisation (EM), one pass for each step, with jumps where it is slow.

    evaluate  x -> l(x), M(x)        M(x) maximises the expected log-likelihood given x, so that l(M(x)) >= l(x)
    plain     x_t+1 = M(x_t)         the objective never falls
    jump      x + 2 a r + a^2 v,  r = x_1 - x, v = x_2 - 2 x_1 + x, a = |r| / |v|     after every third plain point

One pass over the data gives both the value at a point and the next point, so the value of the point returned is known
and not only that of the one before it. A jump that would lower the objective is taken back, and the next ones are
shorter; the end is always a plain step.

References: Dempster, Laird & Rubin, J. R. Statist. Soc. B 39, 1977; Varadhan & Roland, Scandinavian Journal of
Statistics 35, 2008 (SQUAREM, third scheme).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from assay.arrays import Array
from assay.errors import SingularError

Point = TypeVar("Point")

# Jumps shorter than this gain less than the pass that tests them: rates of convergence below 1/3.
_WORTH = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class EMStep(Generic[Point]):
    """One evaluation.

    Attributes:
        at: the point.
        log_likelihood: there.
        objective: the same less a penalty; this is what never falls.
        next: the point to which the M step leads; at a stationary point it is the point itself.
    """

    at: Point
    log_likelihood: float
    objective: float
    next: Point


Evaluated = TypeVar("Evaluated", bound=EMStep[Any])


@dataclass(frozen=True, slots=True, eq=False)
class Climb(Generic[Evaluated]):
    """Where a climb ended.

    Attributes:
        last: the evaluation of the last point kept.
        before: the evaluation that led there; the same where a start or a jump did.
        log_likelihoods: at the start and after each step and jump kept.
        objectives: the same less the penalty; they never fall.
        n_iter: steps and jumps made, those taken back included.
        rise: what the last step gained; negative where rounding outweighed the gain, and then it was not kept.
        left: what is still to be gained, by the rule of the climb; after a step that was not kept what it lost.
        converged: whether that is at most tol, or rounding.
    """

    last: Evaluated
    before: Evaluated
    log_likelihoods: Array
    objectives: Array
    n_iter: int
    rise: float
    left: float
    converged: bool


def last_rise(rises: Array) -> float:
    """What is still to be gained, taken to be what the last step gained."""
    return float(rises[-1])


def geometric_rest(rises: Array) -> float:
    """What is still to be gained: rises shrink by a constant factor, so their rest is a geometric sum.

    Infinite where they do not shrink.

    >>> geometric_rest(np.array([4.0, 3.0]))
    9.0
    """
    if rises[-1] == 0.0:
        return 0.0
    if len(rises) < 2 or rises[-1] >= rises[-2]:
        return float("inf")
    rate = float(rises[-1] / rises[-2])
    return float(rises[-1]) * max(1.0, rate / (1.0 - rate))


def climb(
    evaluate: Callable[[Any], Evaluated],
    start: Any,
    *,
    max_iter: int,
    tol: float,
    left: Callable[[Array], float] = last_rise,
    jumps: bool = False,
    rounding: float = 1e-9,
    progress: Callable[[int], object] | None = None,
) -> Climb[Evaluated]:
    """Take EM steps until little is left to gain.

    Args:
        evaluate: from a point to its objective and the point of the M step.
        start: where to begin.
        max_iter: steps and jumps at most, after the evaluation of the start.
        tol: stop when what is still to be gained is at most this.
        left: from the last one or two rises of plain steps to what is still to be gained.
        jumps: shorten slow climbs by jumps. Points are then tuples of arrays, and `evaluate` raises SingularError
            where there is no such point.
        rounding: relative to the objective, a fall within this is rounding.
        progress: called with the number of steps made. Raise in it to stop.

    >>> climb(lambda x: EMStep(x, 0.0, -((x - 1.0) ** 2), (x + 1.0) / 2.0), 0.0, tol=1e-6, max_iter=50).last.at
    0.99951171875
    """
    run = [evaluate(start)]  # plain steps since the last jump, three at most
    kept = [(run[0].log_likelihood, run[0].objective)]
    n_iter, longest = 0, 4.0

    def ended(rise: float, rest: float, converged: bool) -> Climb[Evaluated]:
        log_likelihoods, objectives = np.array(kept).T
        return Climb(
            run[-1], run[-2 if len(run) > 1 else -1], log_likelihoods, objectives, n_iter, rise, rest, converged
        )

    while True:
        now = evaluate(run[-1].next)
        n_iter += 1
        if progress is not None:
            progress(n_iter)
        rise = now.objective - run[-1].objective
        if rise < 0.0:
            # no EM step lowers the objective but for rounding: the top is reached as nearly as can be told
            return ended(rise, -rise, -rise <= max(tol, rounding * abs(now.objective)))
        run = [*run[-2:], now]
        kept.append((now.log_likelihood, now.objective))
        rest = left(np.diff([step.objective for step in run]))
        if rest <= tol or n_iter >= max_iter:
            return ended(rise, rest, rest <= tol)
        if not jumps or len(run) < 3 or n_iter + 2 > max_iter:  # after a jump there must be a plain step left
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
            kept.append((tried.log_likelihood, tried.objective))
            longest *= 4.0 if length == longest else 1.0
        else:
            longest = max(length / 4.0, _WORTH)


def _trend(a: Any, b: Any, c: Any) -> float:
    """How far the steps point beyond themselves: 1 / (1 - rate) for steps that shrink by a constant rate."""
    steps = [np.concatenate([(y - x).ravel() for x, y in zip(*pair, strict=True)]) for pair in ((a, b), (b, c))]
    bend = float(np.linalg.norm(steps[1] - steps[0]))
    return float(np.linalg.norm(steps[0])) / bend if bend > 0.0 else 0.0


def _jumped(evaluate: Callable[[Any], Evaluated], points: tuple[Any, Any, Any], length: float) -> Evaluated | None:
    """The evaluation so far along the trend, or nearer where there is no such point; None if too near."""
    while length >= _WORTH:
        beyond = (x + 2.0 * length * (y - x) + length**2 * ((z - y) - (y - x)) for x, y, z in zip(*points, strict=True))
        try:
            return evaluate(tuple(beyond))
        except SingularError:
            length = 0.5 * (length + 1.0)
    return None
