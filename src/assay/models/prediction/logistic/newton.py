"""Newton's method for a convex loss with a ridge: the curvature is kept as long as it serves.

    f(theta) = loss(theta) + 1/2 sum_j r_j theta_j^2          step  -(curvature)^-1 gradient

A step with the curvature of an earlier point (chord) costs one pass for the gradient; a new curvature costs several.
It is made anew when the Newton decrement sqrt(g^T H^-1 g) falls by less than a factor, and once at the end.

Reference: Boyd, Vandenberghe, Convex Optimization, section 9.5; Kelley, Solving Nonlinear Equations with Newton's
Method, section 2.3 (chord and Shamanskii steps).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import scipy.linalg as sla

from assay.arrays import Array
from assay.models.prediction.logistic.terms import Terms

Evaluate: TypeAlias = Callable[[Array, bool], Terms]

_ARMIJO = 1e-4
_HALVINGS = 60
_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)
_SMALL_PIVOT = 1e-12  # of a curvature with unit diagonal: below, eigenvectors are asked


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """Where a solver ended, with its certificate.

    Attributes:
        theta: (k, m).
        loss: minus the log likelihood there.
        doubtful: rows whose own class has a chance of at most one half there.
        objective: with the ridge.
        gradient: (k, m), of the objective.
        curvature: (k m, k m), of the objective; None where the solver does not need it.
        iterations: steps taken.
        converged: whether every entry of the gradient is within the tolerance.
        path: (iterations + 1,) the objective on the way.
    """

    theta: Array
    loss: float
    doubtful: int
    objective: float
    gradient: Array
    curvature: Array | None
    iterations: int
    converged: bool
    path: Array


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """The objective and its derivatives at theta."""

    theta: Array
    loss: float
    doubtful: int
    value: float
    gradient: Array
    curvature: Array | None

    @property
    def steepest(self) -> float:
        """Largest entry of the gradient."""
        return float(np.abs(self.gradient).max(initial=0.0))

    def optimum(self, path: list[float], tol: float) -> Optimum:
        """The end of a path: this point."""
        return Optimum(
            self.theta,
            self.loss,
            self.doubtful,
            self.value,
            self.gradient,
            self.curvature,
            len(path) - 1,
            self.steepest <= tol,
            np.array(path),
        )


class Ridged:
    """A loss with a ridge.

    Args:
        evaluate: evaluate(theta, curvature) gives the loss, its gradient and, if asked for, its curvature.
        ridge: (m,) factors r, the same for each row of theta.
    """

    def __init__(self, evaluate: Evaluate, ridge: Array) -> None:
        self.evaluate, self.ridge = evaluate, ridge

    def __call__(self, theta: Array, curvature: bool) -> Point:
        """The objective at (k, m) parameters."""
        terms = self.evaluate(theta, curvature)
        value = terms.loss + 0.5 * float(np.sum(self.ridge * theta**2))
        H = terms.curvature
        if H is not None:
            H = H + np.diag(np.tile(self.ridge, len(theta)))
        return Point(theta, terms.loss, terms.doubtful, value, terms.gradient + self.ridge * theta, H)


class Curvature:
    """A symmetric non-negative definite matrix, factored to be solved with.

    Directions without curvature, up to rounding, are left alone: the solution has no part along them.
    """

    def __init__(self, H: Array) -> None:
        diagonal = np.diag(H)
        self._scale: Array = np.where(diagonal > 0.0, 1.0 / np.sqrt(np.maximum(diagonal, _TINY)), 0.0)
        S = H * self._scale[:, None] * self._scale
        self._lower: Array | None = None
        try:
            lower = np.asarray(sla.cholesky(S, lower=True, check_finite=False))
            if (np.diag(lower) ** 2 > _SMALL_PIVOT).all():
                self._lower = lower
                return
        except sla.LinAlgError:
            pass
        values, vectors = sla.eigh(S, check_finite=False)
        kept = values > len(values) * _EPS * np.abs(values).max(initial=0.0)
        self._vectors = np.asarray(vectors[:, kept] / np.sqrt(values[kept]))

    def solve(self, right: Array) -> Array:
        """H^-1 b for (p,) or (p, q) b."""
        scaled = self._scale * right if right.ndim == 1 else self._scale[:, None] * right
        if self._lower is not None:
            inside = np.asarray(sla.cho_solve((self._lower, True), scaled, check_finite=False))
        else:
            inside = self._vectors @ (self._vectors.T @ scaled)
        return self._scale * inside if right.ndim == 1 else self._scale[:, None] * inside

    def newton_step(self, gradient: Array) -> tuple[Array, float]:
        """The step -H^-1 g, of the shape of g, and the decrement sqrt(g^T H^-1 g)."""
        step = -self.solve(gradient.ravel())
        return step.reshape(gradient.shape), float(np.sqrt(max(0.0, -float(gradient.ravel() @ step))))


def newton(
    evaluate: Evaluate,
    start: Array,
    ridge: Array,
    *,
    first: Array | None = None,
    keep: float = 0.5,
    settled: float = 0.0,
    tol: float,
    max_iter: int,
) -> Optimum:
    """Minimise a loss with a ridge.

    Args:
        evaluate: evaluate(theta, curvature) gives the loss, its gradient and, if asked for, its curvature.
        start: (k, m).
        ridge: (m,) factors r, the same for each row of theta.
        first: a curvature of the objective to begin with, of a sample of the rows say.
        keep: a curvature is kept while a step leaves at most this share of the decrement; 0 makes it anew each time.
        settled: a decrement from which on a step changes the curvature by nothing that counts, so that the one made
            next serves to the end, also as a result.
        tol: largest entry of the gradient at the end.
        max_iter: most steps.

    Returns:
        Optimum; its curvature is that of its theta, or of a point that close (see settled).
    """
    objective = Ridged(evaluate, ridge)
    here = objective(np.array(start, dtype=np.float64), first is None)
    H = Curvature(_known(here.curvature if first is None else first))
    path, wanted = [here.value], first is None
    curved, near_the_end = here, False  # where H was made; unless it was given
    while here.steepest > tol and len(path) <= max_iter:
        step, decrement = H.newton_step(here.gradient)
        there = _lower(objective, here, step, decrement, H, wanted)
        if there is None and curved is here and here.curvature is not None:
            break  # rounding hides what lies lower
        here = objective(here.theta, True) if there is None else there
        if wanted and here.curvature is None:  # a step cut short: the curvature that made it too long is not kept
            here = objective(here.theta, True)
        if here.curvature is not None:
            H, curved, near_the_end = Curvature(here.curvature), here, decrement <= settled
        if there is None:
            continue
        path.append(here.value)
        left = H.newton_step(here.gradient)[1]
        wanted = not near_the_end and (left > keep * decrement or (curved is not here and left <= settled))
    if near_the_end and here.steepest <= tol:
        return replace(here, curvature=curved.curvature).optimum(path, tol)
    end = _last_step(objective, here, H) if len(path) <= max_iter else _curved(objective, here)
    if end.theta is not here.theta:
        path.append(end.value)
    return end.optimum(path, tol)


def _last_step(objective: Ridged, here: Point, H: Curvature) -> Point:
    """The curvature at the end has its price; a last step on the way there has none, and gains digits."""
    step, decrement = H.newton_step(here.gradient)
    there = objective(here.theta + step, True)
    if there.value <= here.value + _rounding(here) and H.newton_step(there.gradient)[1] < decrement:
        return there
    return _curved(objective, here)


def _curved(objective: Ridged, here: Point) -> Point:
    return here if here.curvature is not None else objective(here.theta, True)


def _lower(objective: Ridged, here: Point, step: Array, decrement: float, H: Curvature, wanted: bool) -> Point | None:
    """A lower point along the step, or None; with its curvature if that is wanted and the whole step is taken."""
    share = 1.0
    for _ in range(_HALVINGS):
        there = objective(here.theta + share * step, wanted and share == 1.0)
        if there.value <= here.value - _ARMIJO * share * decrement**2:
            return there
        # near the end the objective is flat to rounding, and only the gradient still tells down from up
        if abs(there.value - here.value) <= _rounding(here):
            return there if H.newton_step(there.gradient)[1] < decrement else None
        share *= 0.5
    return None


def _rounding(here: Point) -> float:
    return 16.0 * _EPS * abs(here.value)


def _known(curvature: Array | None) -> Array:
    if curvature is None:
        raise AssertionError("the curvature was asked for")
    return curvature
