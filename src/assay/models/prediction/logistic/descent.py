"""A loss with a ridge by first derivatives only: limited-memory BFGS, and plain gradient ascent of the likelihood."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import minimize

from assay.arrays import Array
from assay.errors import NotConverged
from assay.models.prediction.logistic.newton import Evaluate, Optimum, Point, Ridged
from assay.optimize.descent import gradient_descent

_PAIRS = 20  # last steps that the inverse curvature is guessed from


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
