"""A convex loss with a ridge, minimised: Newton's method with the curvature or products with it, L-BFGS, the gradient.

    f(theta) = loss(theta) + 1/2 sum_j r_j theta_j^2          step  -(curvature)^-1 gradient

newton      A step with the curvature of an earlier point (chord) costs one pass for the gradient; a new curvature costs
several. It is made anew when the Newton decrement sqrt(g^T H^-1 g) falls by less than a factor, and once at the end.

newton_cg   The curvature is never made, for many parameters: H s = -g is solved by conjugate gradients from products,
the more exactly the nearer the end: to |H s + g| <= eta |g| with eta = min(1/4, sqrt(|g| / |g at the start|)), which
keeps convergence faster than linear.

lbfgs, gradient_ascent   By first derivatives only.

Reference: Boyd, Vandenberghe, Convex Optimization, section 9.5; Kelley, Solving Nonlinear Equations with Newton's
Method, section 2.3 (chord and Shamanskii steps); Dembo, Eisenstat & Steihaug, SIAM J. Numer. Anal. 19, 1982; Lin, Weng
& Keerthi, JMLR 9, 2008.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import scipy.linalg as sla
from scipy.optimize import minimize

from assay.arrays import Array
from assay.errors import NotConverged
from assay.models.prediction.logistic.terms import Terms
from assay.optimize.descent import gradient_descent

Evaluate: TypeAlias = Callable[[Array, bool], Terms]
Product: TypeAlias = Callable[[Array], Array]

_ARMIJO = 1e-4
_HALVINGS = 60
_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)
_SMALL_PIVOT = 1e-12  # of a curvature with unit diagonal: below, eigenvectors are asked
_MOST_PRODUCTS = 1_000  # of a direction
_PAIRS = 20  # last steps that the inverse curvature is guessed from


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
    """The objective and its derivatives at theta; attributes as of `Optimum`."""

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

    def decrement(self, gradient: Array) -> float:
        """The decrement sqrt(g^T H^-1 g)."""
        return self.newton_step(gradient)[1]

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
        there = _lower(objective, here, step, decrement**2, H.decrement, wanted)
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
    """The curvature at the end costs a pass; a last step on the way there costs none, and gains digits."""
    step, decrement = H.newton_step(here.gradient)
    there = objective(here.theta + step, True)
    if there.value <= here.value + _rounding(here) and H.newton_step(there.gradient)[1] < decrement:
        return there
    return _curved(objective, here)


def _curved(objective: Ridged, here: Point) -> Point:
    return here if here.curvature is not None else objective(here.theta, True)


def _lower(
    objective: Ridged, here: Point, step: Array, fall: float, size: Callable[[Array], float], wanted: bool = False
) -> Point | None:
    """A lower point along the step, or None; with its curvature if that is wanted and the whole step is taken.

    Args:
        objective: what is minimised.
        here: where to begin.
        step: (k, m).
        fall: of the objective along the step, to first order.
        size: of a gradient.
        wanted: whether the curvature is.
    """
    share = 1.0
    for _ in range(_HALVINGS):
        there = objective(here.theta + share * step, wanted and share == 1.0)
        if there.value <= here.value - _ARMIJO * share * fall:
            return there
        # near the end the objective is flat to rounding, and only the gradient still tells down from up
        if abs(there.value - here.value) <= _rounding(here):
            return there if size(there.gradient) < size(here.gradient) else None
        share *= 0.5
    return None


def _length(gradient: Array) -> float:
    return float(np.linalg.norm(gradient))


def _rounding(here: Point) -> float:
    return 16.0 * _EPS * abs(here.value)


def _known(curvature: Array | None) -> Array:
    if curvature is None:
        raise AssertionError("the curvature was asked for")
    return curvature


def newton_cg(
    evaluate: Evaluate,
    bend: Callable[[Array], Product],
    start: Array,
    ridge: Array,
    *,
    tol: float,
    max_iter: int,
) -> Optimum:
    """Minimise a loss with a ridge by products with its curvature.

    Args:
        evaluate, start, ridge, tol, max_iter: as for `newton`; the curvature is never asked for.
        bend: bend(theta) gives the function from a direction, (k, m), to the curvature of the loss there times it.
    """
    objective = Ridged(evaluate, ridge)
    here = objective(np.array(start, dtype=np.float64), False)
    path, first = [here.value], _length(here.gradient)
    while here.steepest > tol and len(path) <= max_iter:
        length = _length(here.gradient)
        # half of what the end allows is enough for the last step
        enough = max(min(0.25, np.sqrt(length / first)), 0.5 * tol / length)
        step = _direction(bend(here.theta), ridge, here.gradient, enough * length)
        slope = float(np.vdot(here.gradient, step))
        there = _lower(objective, here, step, -slope, _length)
        if there is None:
            break  # rounding hides what lies lower
        here = there
        path.append(here.value)
    return here.optimum(path, tol)


def _direction(bend: Product, ridge: Array, gradient: Array, enough: float) -> Array:
    """A step s with |H s + g| <= enough."""
    step, left = np.zeros_like(gradient), -gradient
    along, gamma = left.copy(), float(np.vdot(left, left))
    for _ in range(_MOST_PRODUCTS):
        image = bend(along) + ridge * along
        curved = float(np.vdot(along, image))
        if not curved > 0.0:  # no curvature but rounding: an intercept that moves no chance
            return step if step.any() else -gradient
        share = gamma / curved
        step += share * along
        left -= share * image
        before, gamma = gamma, float(np.vdot(left, left))
        if gamma <= enough**2:
            break
        along *= gamma / before
        along += left
    return step


class _Remembered:
    """The objective as a function of a flat vector; the latest point is kept."""

    def __init__(self, evaluate: Evaluate, ridge: Array, shape: tuple[int, ...]) -> None:
        self._objective, self._shape = Ridged(evaluate, ridge), shape
        self._last: Point | None = None

    def at(self, x: Array) -> Point:
        theta = np.asarray(x, dtype=np.float64).reshape(self._shape)
        if self._last is None or not np.array_equal(theta, self._last.theta):
            self._last = self._objective(theta.copy(), False)
        return self._last


def lbfgs(evaluate: Evaluate, start: Array, ridge: Array, *, tol: float, max_iter: int) -> Optimum:
    """Minimise by limited-memory BFGS (SciPy's L-BFGS-B without bounds).

    Args:
        evaluate, start, ridge, tol, max_iter: as for `newton`; the curvature is never asked for.
    """
    objective = _Remembered(evaluate, ridge, start.shape)
    # in units of the value at the start, so that SciPy's own thresholds mean the same for any number of rows
    unit = abs(objective.at(start.ravel()).value) or 1.0
    path = [objective.at(start.ravel()).value]

    def value_and_slope(x: Array) -> tuple[float, Array]:
        point = objective.at(x)
        return point.value / unit, point.gradient.ravel() / unit

    found = minimize(
        value_and_slope,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=lambda x: path.append(objective.at(x).value),
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": 0.0, "gtol": tol / unit, "maxcor": _PAIRS},
    )
    return objective.at(found.x).optimum(path, tol)


def gradient_ascent(evaluate: Evaluate, start: Array, ridge: Array, *, tol: float, max_iter: int) -> Optimum:
    """Climb the (penalised) likelihood along its gradient; each step is as long as a line search allows.

    The likelihood never falls but by its own rounding. Without a ridge it stops where no row is in doubt any more: then
    there is no maximum, and the way up has no end.

    Args:
        evaluate, start, ridge, tol, max_iter: as for `newton`; the curvature is never asked for.
    """
    objective = _Remembered(evaluate, ridge, start.shape)
    endless = not ridge.any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # the caller says so, once for all solvers
        found = gradient_descent(
            lambda x: objective.at(x).value,
            lambda x: objective.at(x).gradient.ravel(),
            start.ravel(),
            tol=tol,  # of the length, which no entry exceeds
            max_iter=max_iter,
            callback=lambda _, x, __: endless and not objective.at(x).doubtful,
        )
    return objective.at(found.x).optimum(found.record.value.tolist(), tol)
