"""Scaling by majorisation, sped up: quasi-Newton steps kept only where the stress falls, Guttman transforms otherwise.

The Guttman transform G(X) = X - V^+ P(X) never raises the stress, and is slow near the end. Its steps are taken here as
gradients in the metric of V; a few of them give a model of the curvature (L-BFGS), whose step is tried first. So the
stress falls in every iteration, and the last one is a Guttman transform, whose length is the certificate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.models.embedding.mds.stress import Evaluation, StressObjective
from assay.optimize.validate import finite

Callback: TypeAlias = Callable[[int, float], bool | None]

_MEMORY = 10  # steps the model of the curvature is made of
_ARMIJO = 1e-4  # share of the decrease promised by the slope that a step must bring
_SHORTER = 2  # shorter steps tried before a Guttman transform is taken instead


@dataclass(frozen=True, slots=True, eq=False)
class Majorised:
    """Where majorisation ended.

    Attributes:
        coordinates: (n, k), centred.
        value: the objective there.
        history: (T + 1,) the objective from the start on; it never rises.
        iterations: T.
        move: length of the last Guttman transform's step, relative to the coordinates.
        converged: whether that is within the tolerance, or no step lowers the objective beyond rounding.
    """

    coordinates: Array
    value: float
    history: Array
    iterations: int
    move: float
    converged: bool


def majorise(
    objective: StressObjective,
    start: ArrayLike,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    callback: Callback | None = None,
) -> Majorised:
    """Move points until a Guttman transform would hardly move them.

    Args:
        objective: raw stress or the stress of ranks.
        start: (n, k) coordinates.
        tol: stop when a Guttman transform moves the points by less than this share of their size.
        max_iter: most iterations.
        callback: called as callback(iteration, value) after each; True stops.

    Returns:
        Majorised.

    References:
        de Leeuw, Applications of convex analysis to multidimensional scaling, 1977; de Leeuw & Mair, Journal of
        Statistical Software 31(3), 2009; Nocedal, Mathematics of Computation 35, 1980.

    >>> from assay.models.embedding.mds.stress import StressPairs, RawStress
    >>> from assay.optimize.team import Team
    >>> triangle = RawStress(StressPairs(3, None, Team(1)), np.array([3.0, 4.0, 5.0]))
    >>> found = majorise(triangle, [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> found.converged, bool(found.value < 1e-6)
    (True, True)
    """
    X = np.ascontiguousarray(finite(start, "start", 2).T)
    X = X - X.mean(axis=1, keepdims=True)
    now = objective.evaluate(X)
    history, model = [now.value], _Curvature(objective)
    move, converged = np.inf, False
    while not converged and len(history) <= max_iter:
        step = objective.guttman_step(now.pull)
        move = _relative(step, X)
        if move <= tol:
            converged = True
            new_X, new = X - step, objective.evaluate(X - step)
        else:
            new_X, new = _descend(objective, X, now, step, model)
        if new.value > now.value:  # rounding is all that is left
            converged = True
            break
        model.learn(new_X - X, new.factor * new.pull - now.factor * now.pull)
        X, now = new_X, new
        history.append(now.value)
        if callback is not None and callback(len(history) - 1, now.value):
            break
    coordinates = np.ascontiguousarray(X.T)
    return Majorised(coordinates, now.value, np.array(history), len(history) - 1, float(move), converged)


def _descend(
    objective: StressObjective, X: Array, now: Evaluation, step: Array, model: _Curvature
) -> tuple[Array, Evaluation]:
    """A configuration of lower stress: along the quasi-Newton direction, or the Guttman transform where that fails."""
    gradient = now.factor * now.pull
    direction = model.direction(gradient)
    slope = 0.0 if direction is None else float(np.vdot(gradient, direction))
    if direction is not None and slope > 0.0:
        length = 1.0
        for _ in range(1 + _SHORTER):
            new_X = X - length * direction
            new = objective.evaluate(new_X)
            if new.value <= now.value - _ARMIJO * length * slope:
                return new_X, new
            # the parabola through the value and slope here and the value there has its minimum at:
            best = 0.5 * length**2 * slope / (new.value - now.value + length * slope)
            length = min(max(best, 0.1 * length), 0.5 * length)
    model.forget()
    new_X = X - step
    return new_X, objective.evaluate(new_X)


class _Curvature:
    """Limited-memory BFGS: the inverse curvature from the last steps and how the gradient changed along them."""

    def __init__(self, objective: StressObjective) -> None:
        self._objective = objective
        self._pairs: deque[tuple[Array, Array, float]] = deque(maxlen=_MEMORY)

    def learn(self, step: Array, change: Array) -> None:
        along = float(np.vdot(step, change))
        if along > 1e-10 * np.linalg.norm(step) * np.linalg.norm(change):  # only where the objective curves upwards
            self._pairs.append((step, change, along))

    def forget(self) -> None:
        self._pairs.clear()

    def direction(self, gradient: Array) -> Array | None:
        """Inverse curvature times the gradient, by the two-loop recursion; None as long as nothing is known."""
        if not self._pairs:
            return None
        q, shares = gradient.copy(), []
        for step, change, along in reversed(self._pairs):
            shares.append(float(np.vdot(step, q)) / along)
            q -= shares[-1] * change
        _, change, along = self._pairs[-1]
        # V^+ is the inverse curvature but for a factor, which the last step tells
        r = self._objective.guttman_step(q) * (along / np.vdot(change, self._objective.guttman_step(change)))
        for (step, change, along), share in zip(self._pairs, reversed(shares), strict=True):
            r += (share - float(np.vdot(change, r)) / along) * step
        return np.asarray(r)


def _relative(step: Array, X: Array) -> float:
    size = float(np.linalg.norm(X))
    return float(np.linalg.norm(step)) / size if size > 0.0 else 0.0
