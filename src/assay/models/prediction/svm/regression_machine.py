"""The program of support vector regression, solved: by pairs of weights, or by Newton steps on the coefficients.

    min over b of  1/2 b^T K b + epsilon sum |b_i| - t^T b,   sum b = 0,  -C <= b_i <= C

A row has two variables in `optimize.smo`, the positive and the negative part of its weight. Where a share nu of rows is
given in place of epsilon, each part sums to C nu n / 2, a line of its own, and epsilon is half the difference of the
lines' multipliers: at most a share nu of the rows lies outside the tube, and at least that share has a weight.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.arrays import Array
from assay.errors import NotConverged
from assay.linalg.one_thread import one_blas_thread
from assay.models.prediction.svm.margin import Margin, tube
from assay.optimize.smo.smo import smo
from assay.summary.gram.gram import Gram
from assay.summary.gram.kernel_rows import kernel_rows
from assay.summary.gram.kernels import Linear

_TALL = 2  # rows for each column, from where on Newton steps are taken
_COLUMNS = 1000  # and up to so many columns
_GAPS = (1e-6, 1e-8, 1e-10, 1e-12)  # duality gaps tried, until the conditions hold within tol


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is solved.

    Attributes:
        gram: kernel values of n rows.
        target: (n,) t, less its middle.
        middle: median of the target.
        epsilon: half the width of the tube.
        tol: largest violation of the conditions, in units of the target.
        cache_mb: for kernel values.
        max_iter: steps allowed.
        weights: (n,) positive, by which prices are multiplied; None for 1.
        nu: share of the rows outside the tube, in place of epsilon; None where that is given.
    """

    gram: Gram
    target: Array
    middle: float
    epsilon: float
    tol: float
    cache_mb: float
    max_iter: int
    weights: Array | None = None
    nu: float | None = None

    def prices(self, C: float) -> Array:
        """(n,) price of a unit of error of each row."""
        return np.full(self.gram.n, C) if self.weights is None else C * self.weights

    @property
    def tall(self) -> bool:
        """Whether coefficients of columns are fewer by far than weights of rows."""
        points = self.gram.points
        if not isinstance(self.gram.kernel, Linear) or points is None or self.nu is not None:
            return False
        n, d = points.shape
        return bool(n >= _TALL * d and d <= _COLUMNS)


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """A solution and its certificate.

    Attributes:
        weights: (n,) b.
        C: (n,) the prices.
        fitted: (n,) predictions of the training rows, less the middle.
        line: coefficients and intercept, where they were found by Newton steps; None from weights.
        objective: 1/2 b^T K b + epsilon sum |b| - t^T b.
        duality_gap: how far that is from the least, at most.
        violation: largest violation of the conditions of a solution, in units of the target.
        iterations: steps.
        converged: whether the violation is within tol.
        route: how it was found.
        reason: why it did not converge, "" where it did.
        epsilon: half the width of the tube.
    """

    weights: Array
    C: Array
    fitted: Array
    line: Margin | None
    objective: float
    duality_gap: float
    violation: float
    iterations: int
    converged: bool
    route: str
    reason: str
    epsilon: float


def solve(problem: Problem, C: float, before: Machine | None = None) -> Machine:
    """Solve for the price C, from the solution for another if there is one."""
    prices = problem.prices(C)
    found = _by_newton(problem, prices, before) if problem.tall else _by_smo(problem, prices, before)
    if not found.converged:
        warnings.warn(
            f"SVR: predictions of the training rows violate the conditions of a solution by up to "
            f"{found.violation:.2g}, allowed is {problem.tol:.2g}: {found.reason}",
            NotConverged,
            stacklevel=5,
        )
    return found


def _by_smo(problem: Problem, C: Array, before: Machine | None) -> Machine:
    n, t, epsilon, start = problem.gram.n, problem.target, problem.epsilon, None
    signs = np.repeat([1.0, -1.0], n)
    lines: dict[str, Any] = {}
    if problem.nu is not None:
        half = 0.5 * problem.nu * float(C.sum())
        epsilon, lines = 0.0, {"lines": np.repeat([0, 1], n), "total": [half, -half]}
    if before is not None:  # what is outside the tube stays there
        b = np.where(np.abs(before.weights) < before.C, before.weights, C * np.sign(before.weights))
        start = np.concatenate([np.maximum(b, 0.0), np.maximum(-b, 0.0)])
    with one_blas_thread():
        found = smo(
            kernel_rows(problem.gram, shift=True),  # weights sum to zero
            np.concatenate([epsilon - t, epsilon + t]),
            0.0,
            np.tile(C, 2),
            signs=signs,
            rows=np.tile(np.arange(n), 2),
            start=start,
            tol=problem.tol,
            cache_mb=problem.cache_mb,
            max_iter=problem.max_iter,
            warn=False,
            **lines,
        )
    weights = found.alpha[:n] - found.alpha[n:]
    fitted = found.gradient[:n] + t - epsilon - float(found.rhos.mean())
    if problem.nu is not None:
        epsilon = max(0.5 * float(found.rhos[1] - found.rhos[0]), 0.0)
    return Machine(
        weights,
        C,
        fitted,
        None,
        found.objective + (0.0 if problem.nu is None else epsilon * float(np.abs(weights).sum())),
        found.duality_gap,
        violation(weights, C, t - fitted, epsilon),
        found.iterations,
        found.converged,
        f"dual {found.precision}",
        found.reason,
        epsilon,
    )


def _by_newton(problem: Problem, C: Array, before: Machine | None) -> Machine:
    X, t, epsilon = problem.gram.points, problem.target, problem.epsilon
    assert X is not None  # tall is for rows
    start, steps, left = None if before is None else before.line, 0, np.inf
    for gap in _GAPS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            found = tube(X, t, C, epsilon=epsilon, tol=gap, max_iter=problem.max_iter - steps, start=start)
        steps += found.iterations
        fitted = X @ found.coef + found.intercept
        left = violation(found.alpha, C, t - fitted, epsilon)
        start = found
        if left <= problem.tol or not found.converged or steps >= problem.max_iter:
            break
    dual = found.objective - found.duality_gap
    converged = left <= problem.tol
    why = "raise max_iter" if steps >= problem.max_iter else "rounding hides the rest; lower C or rescale the columns"
    return Machine(
        found.alpha,
        C,
        fitted,
        found,
        -dual,
        found.duality_gap,
        left,
        steps,
        converged,
        "primal",
        "" if converged else why,
        epsilon,
    )


def violation(weights: Array, C: Array | float, residual: Array, epsilon: float) -> float:
    """How far residuals are on the wrong side: inside the tube with a weight, outside it with less than C.

    >>> round(violation(np.array([0.0, 1.0]), 1.0, np.array([0.3, 0.3]), 0.1), 6)
    0.2
    """
    above, below = residual - epsilon, -residual - epsilon
    wrong = (
        np.where(weights < C, above, 0.0),
        np.where(weights > 0.0, -above, 0.0),
        np.where(weights > -C, below, 0.0),
        np.where(weights < 0.0, -below, 0.0),
    )
    return max(0.0, *(float(part.max(initial=0.0)) for part in wrong))
