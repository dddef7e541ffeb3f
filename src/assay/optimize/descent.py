"""Gradient descent with momentum (Polyak's heavy ball), and a record of how it went.

    y_t = y_{t-1} - rate grad f(y_{t-1}) + momentum (y_{t-1} - y_{t-2})

With no rate given, each step looks for one along the way down (backtracking), and the objective never rises but by
its own rounding.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import DataError, NotConverged, ParameterError

Objective: TypeAlias = Callable[[Array], float]
Gradient: TypeAlias = Callable[[Array], Array]
Callback: TypeAlias = Callable[[int, Array, float], bool | None]

_ARMIJO = 1e-4  # share of the decrease promised by the slope that a step must bring
_HALVINGS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """What happened, iteration by iteration; entry 0 is the start.

    Attributes:
        value: (T + 1,), the objective.
        gradient_norm: (T + 1,), the length of the gradient.
        step: (T + 1,), the length of the step that led here; 0 at the start.
    """

    value: Array
    gradient_norm: Array
    step: Array


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """Where descent ended.

    Attributes:
        x: the point, of the shape of the start.
        value: the objective there.
        gradient: the gradient there.
        converged: whether the length of the gradient is within the tolerance.
        iterations: how many steps were taken.
        record: the way.
    """

    x: Array
    value: float
    gradient: Array
    converged: bool
    iterations: int
    record: Record


def gradient_descent(
    objective: Objective,
    gradient: Gradient,
    start: ArrayLike,
    *,
    rate: float | None = None,
    momentum: float = 0.0,
    tol: float = 1e-8,
    max_iter: int = 10_000,
    callback: Callback | None = None,
) -> Descent:
    """Walk downhill from a start until the slope is gone.

    Args:
        objective: f, from an array of the shape of the start to a number.
        gradient: its gradient, of the same shape.
        start: an array of any shape.
        rate: the step per unit of gradient; None searches for one at every step so that f falls.
        momentum: share of the last step added to the next, 0 <= momentum < 1.
        tol: stop when the length of the gradient is at most this.
        max_iter: stop, with a NotConverged warning, after so many steps.
        callback: called as callback(iteration, x, value) after every step; True stops, without a warning.

    Returns:
        Descent.

    Raises:
        DataError: when the objective or its gradient is not finite, naming the iteration.

    Reference: Polyak, Some methods of speeding up the convergence of iteration methods, 1964.

    >>> gradient_descent(lambda x: float(x @ x), lambda x: 2 * x, [3.0, 4.0], rate=0.1).x.round(6) + 0.0
    array([0., 0.])
    """
    _check(rate, momentum, tol, max_iter)
    x = np.array(start, dtype=np.float64)
    value, slope = _evaluate(objective, gradient, x, 0, rate)
    values, norms, steps = [value], [_length(slope)], [0.0]
    last, trial = np.zeros_like(x), _first_rate(value, norms[0])
    reason = f"the {max_iter} iterations were used up; raise max_iter, or set rate and momentum"
    for t in range(1, max_iter + 1):
        if norms[-1] <= tol:
            break
        if rate is not None:
            step = -rate * slope + momentum * last
        else:
            found = _backtrack(objective, gradient, x, value, slope, momentum * last, trial)
            if found is None:
                reason = "no step along the gradient lowers the objective: check the gradient, or raise tol"
                break
            step, trial = found
        x, last = x + step, step
        value, slope = _evaluate(objective, gradient, x, t, rate)
        values.append(value)
        norms.append(_length(slope))
        steps.append(_length(step))
        if callback is not None and callback(t, x, value):
            reason = ""
            break
    converged = norms[-1] <= tol
    if not converged and reason:
        warnings.warn(
            f"gradient descent stopped after {len(values) - 1} iterations with a gradient of length "
            f"{norms[-1]:.2g}, allowed was {tol:.2g}: {reason}.",
            NotConverged,
            stacklevel=2,
        )
    record = Record(np.array(values), np.array(norms), np.array(steps))
    return Descent(x, value, slope, converged, len(values) - 1, record)


def _backtrack(
    objective: Objective, gradient: Gradient, x: Array, value: float, slope: Array, push: Array, trial: float
) -> tuple[Array, float] | None:
    """Find a step that lowers the objective, and the rate to try first next time."""
    length = _length(slope)
    rounding = 4 * float(np.finfo(np.float64).eps) * abs(value)
    rate = 2.0 * trial  # twice what worked last, so that a cautious rate can grow again
    for _ in range(_HALVINGS):
        # The push is tried at every rate first; where it leads uphill the plain gradient restarts the motion.
        for step in (push - rate * slope, -rate * slope) if push.any() else (-rate * slope,):
            with np.errstate(over="ignore", invalid="ignore"):
                reached = float(objective(x + step))
            if reached <= value - _ARMIJO * (rate * length) * length and reached < value:
                return step, rate
            # Near the bottom the objective is flat to rounding, and only the gradient still tells down from up.
            if abs(reached - value) <= rounding and _length(gradient(x + step)) < length:
                return step, rate
        rate *= 0.5
    return None


def _first_rate(value: float, length: float) -> float:
    # The rate at which the slope would bring f to zero: right in its units, whatever those of x and f are.
    if length == 0.0:
        return 1.0
    rate = abs(value) / length / length
    return rate if 0.0 < rate < 1e300 else 1.0 / length


def _length(v: Array) -> float:
    largest = float(np.abs(v).max(initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(v / largest))  # squares of 1e200 would overflow


def _evaluate(objective: Objective, gradient: Gradient, x: Array, t: int, rate: float | None) -> tuple[float, Array]:
    with np.errstate(over="ignore", invalid="ignore"):
        value, slope = float(objective(x)), np.asarray(gradient(x), dtype=np.float64)
    if slope.shape != x.shape:
        raise DataError(f"the gradient must have the shape of x, {x.shape}, has {slope.shape}.")
    for what, finite in (("objective", np.isfinite(value)), ("gradient", bool(np.isfinite(slope).all()))):
        if not finite:
            remedy = "Start elsewhere." if t == 0 or rate is None else f"Lower the rate ({rate:g}) or leave it out."
            raise DataError(f"the {what} must be finite, is not at iteration {t}. {remedy}")
    return value, slope


def _check(rate: float | None, momentum: float, tol: float, max_iter: int) -> None:
    if rate is not None and not (rate > 0 and np.isfinite(rate)):
        raise ParameterError(f"rate must be positive, is {rate!r}. None searches for one.")
    if not 0 <= momentum < 1:
        raise ParameterError(f"momentum must be at least 0 and below 1, is {momentum!r}.")
    if not tol >= 0:
        raise ParameterError(f"tol must not be negative, is {tol!r}.")
    if isinstance(max_iter, bool) or not isinstance(max_iter, (int, np.integer)) or max_iter < 1:
        raise ParameterError(f"max_iter must be a whole number of at least 1, is {max_iter!r}.")
