"""A loss with a ridge by Newton steps from products with the curvature, which is never made: for many parameters.

H s = -g is solved by conjugate gradients, the more exactly the nearer the end: to |H s + g| <= eta |g| with
eta = min(1/4, sqrt(|g| / |g at the start|)), which keeps convergence faster than linear.

Reference: Dembo, Eisenstat & Steihaug, SIAM J. Numer. Anal. 19, 1982; Lin, Weng & Keerthi, JMLR 9, 2008.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from assay.arrays import Array
from assay.models.prediction.logistic.newton import Evaluate, Optimum, Point, Ridged

Product: TypeAlias = Callable[[Array], Array]

_ARMIJO = 1e-4
_HALVINGS = 60
_MOST_PRODUCTS = 1_000
_EPS = float(np.finfo(np.float64).eps)


def newton_cg(
    evaluate: Evaluate,
    bend: Callable[[Array], Product],
    start: Array,
    ridge: Array,
    *,
    tol: float,
    max_iter: int,
) -> Optimum:
    """Minimise a loss with a ridge.

    Args:
        evaluate, start, ridge, tol, max_iter: as for `newton`; the curvature is never asked for.
        bend: bend(theta) gives the function from a direction, (k, m), to the curvature of the loss there times it.
    """
    objective = Ridged(evaluate, ridge)
    here = objective(np.array(start, dtype=np.float64), False)
    path, first = [here.value], float(np.linalg.norm(here.gradient))
    while here.steepest > tol and len(path) <= max_iter:
        length = float(np.linalg.norm(here.gradient))
        # half of what the end allows is enough for the last step
        enough = max(min(0.25, np.sqrt(length / first)), 0.5 * tol / length)
        step = _direction(bend(here.theta), ridge, here.gradient, enough * length)
        there = _lower(objective, here, step)
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


def _lower(objective: Ridged, here: Point, step: Array) -> Point | None:
    """A lower point along the step, or None."""
    slope, share = float(np.vdot(here.gradient, step)), 1.0
    for _ in range(_HALVINGS):
        there = objective(here.theta + share * step, False)
        if there.value <= here.value + _ARMIJO * share * slope:
            return there
        # near the end the objective is flat to rounding, and only the gradient still tells down from up
        if abs(there.value - here.value) <= 16.0 * _EPS * abs(here.value):
            return there if np.linalg.norm(there.gradient) < np.linalg.norm(here.gradient) else None
        share *= 0.5
    return None
