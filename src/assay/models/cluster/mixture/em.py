"""Climbing a likelihood by expectation and maximisation, one pass for each step.

    evaluate  x -> l(x), M(x)        M(x) maximises the expected log-likelihood given x, so that l(M(x)) >= l(x)
    iterate   x_t+1 = M(x_t)         until l rises by at most tol

One pass over the data gives both the value at a point and the next point, so the value of the point returned is known
and not only that of the one before it. Reference: Dempster, Laird & Rubin, J. R. Statist. Soc. B 39, 1977.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from assay.arrays import Array

Point = TypeVar("Point")

# Relative to the objective: a fall within this is rounding in sums over many rows.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Ascent(Generic[Point]):
    """Where a climb ended.

    Attributes:
        point: the last point kept; its value is the last of `values`.
        values: the objective at the start and after each step kept; they never fall.
        following: where one more step would lead; at a stationary point it is the point itself.
        n_iter: steps made, one that was not kept included.
        rise: what the last step gained; negative where rounding outweighed the gain, and then it was not kept.
        converged: whether that was at most tol, or rounding.
    """

    point: Point
    values: Array
    following: Point
    n_iter: int
    rise: float
    converged: bool


def ascend(
    evaluate: Callable[[Point], tuple[float, Point]],
    start: Point,
    *,
    tol: float,
    max_iter: int,
    progress: Callable[[int, float], object] | None = None,
) -> Ascent[Point]:
    """Take EM steps until they gain little.

    Args:
        evaluate: from a point to its objective and the point that the M step leads to.
        start: where to begin.
        tol: stop when a step raises the objective by at most this.
        max_iter: steps at most.
        progress: called with the number of steps made and the objective. Raise in it to stop.

    Returns:
        Ascent.

    >>> ascend(lambda x: (-((x - 1.0) ** 2), (x + 1.0) / 2.0), 0.0, tol=1e-6, max_iter=50).point
    0.99951171875
    """
    point = start
    value, following = evaluate(start)
    values, rise = [value], np.inf
    while len(values) <= max_iter:
        now, after = evaluate(following)
        rise = now - values[-1]
        if progress is not None:
            progress(len(values), now)
        if rise < 0.0:
            told = -rise <= max(tol, _ROUNDING * abs(now))
            return Ascent(point, np.array(values), following, len(values), rise, told)
        point, following = following, after
        values.append(now)
        if rise <= tol:
            break
    return Ascent(point, np.array(values), following, len(values) - 1, rise, rise <= tol)
