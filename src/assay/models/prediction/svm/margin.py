"""Linear machines in the primal: hinge and tube losses of w.x + b, for many rows of few columns.

    min over w, b of  1/2 |w|^2 + sum_i C_i loss(u_i),   u_i = max(0, lower_i - f_i, f_i - upper_i),  f = X w + b

    margin   classes s_i = 1, -1: u_i = max(0, 1 - s_i f_i)        tube   u_i = max(0, |y_i - f_i| - epsilon)
    loss     u, or u^2 (squared)
    dual     max over beta of  sum_i (lower_i beta_i^+ - upper_i beta_i^-) - 1/2 |X^T beta|^2,  sum beta = 0,
             |beta_i| <= C_i, or no bound and a term - sum_i beta_i^2 / (4 C_i) if squared;  beta_i >= 0 without an
             upper end, <= 0 without a lower one

The squared loss is solved by Newton steps. The plain one is rounded, solved by Newton steps, its multipliers beta kept,
and rounded less: an augmented Lagrangian, exact at the end though the rounding never vanishes (optimize.hinge).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import DataError, NotConverged, ParameterError
from assay.optimize.hinge import Certified, HingePoint, HingeRows, certified, solve_hinges
from assay.optimize.validate import finite

Loss: TypeAlias = Literal["hinge", "squared_hinge"]
TubeLoss: TypeAlias = Literal["epsilon_insensitive", "squared_epsilon_insensitive"]

_FAR = 1e3  # middles farther away, in standard deviations, are taken off by a copy


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """A linear machine and its certificate.

    Attributes:
        coef: (d,) w.
        intercept: b.
        alpha: (n,) dual variables: of classes s_i beta_i, in [0, C_i], or at least 0 if squared; of a tube beta_i.
            w = sum_i beta_i x_i within the gap, and sum beta = 0 where there is an intercept.
        objective: half the square of w, plus the sum of losses.
        duality_gap: objective less the dual one: how far the objective is from the least, at most.
        iterations: Newton steps, over all rows.
        converged: whether the gap is within the tolerance, as a share of the objective.
    """

    coef: Array
    intercept: float
    alpha: Array
    objective: float
    duality_gap: float
    iterations: int
    converged: bool


def margin(
    X: ArrayLike,
    signs: ArrayLike,
    C: ArrayLike = 1.0,
    *,
    loss: Loss = "hinge",
    fit_intercept: bool = True,
    tol: float = 1e-6,
    max_iter: int = 1000,
    start: Margin | None = None,
) -> Margin:
    """Separate two classes: min w.w / 2 + sum_i C_i loss(1 - s_i (w.x_i + b)).

    Args:
        X: (n, d), with many more rows than columns.
        signs: (n,) classes, 1 and -1.
        C: factor of the losses, a number or (n,) of each row.
        loss: "hinge" or "squared_hinge".
        fit_intercept: whether there is a b, which is not penalised.
        tol: duality gap allowed, as a share of the objective.
        max_iter: Newton steps allowed; beyond them a NotConverged warning is given.
        start: a solution for another C, say.

    Returns:
        Margin.

    >>> found = margin([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], C=10.0)
    >>> found.coef.round(6), round(found.intercept, 6), found.alpha.round(6)
    (array([1.]), -2.0, array([0. , 0.5, 0.5, 0. ]))

    References:
        Keerthi and DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs, 2005;
        Yan and Li, An efficient augmented Lagrangian method for support vector machine, 2020.
    """
    if loss not in ("hinge", "squared_hinge"):
        raise ParameterError(f'loss must be "hinge" or "squared_hinge", is {loss!r}.')
    s = finite(signs, "signs", 1)
    if not np.isin(s, (-1.0, 1.0)).all():
        raise DataError(f"signs must be 1 or -1, entry {int(np.argmax(np.abs(s) != 1.0))} (counted from 0) is not.")
    lower, upper = np.where(s > 0, 1.0, -np.inf), np.where(s > 0, np.inf, -1.0)
    return _solved(X, lower, upper, C, s, loss != "hinge", fit_intercept, tol, max_iter, start)


def tube(
    X: ArrayLike,
    y: ArrayLike,
    C: ArrayLike = 1.0,
    *,
    epsilon: float = 0.1,
    loss: TubeLoss = "epsilon_insensitive",
    fit_intercept: bool = True,
    tol: float = 1e-6,
    max_iter: int = 1000,
    start: Margin | None = None,
) -> Margin:
    """Fit a line with a tube around it that costs nothing: min w.w / 2 + sum_i C_i loss(error_i - epsilon).

    Args:
        X: (n, d), with many more rows than columns.
        y: (n,) target; the error of a row is the modulus of y_i - w.x_i - b.
        C: factor of the losses, a number or (n,) of each row.
        epsilon: half the width of the tube, not negative.
        loss: "epsilon_insensitive", or "squared_epsilon_insensitive".
        fit_intercept: whether there is a b, which is not penalised.
        tol: duality gap allowed, as a share of the objective.
        max_iter: Newton steps allowed; beyond them a NotConverged warning is given.
        start: a solution for another C, say.

    Returns:
        Margin.

    >>> found = tube([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], C=100.0, epsilon=0.25)
    >>> found.coef.round(6), round(found.intercept, 6)
    (array([0.75]), 0.25)
    """
    if loss not in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        raise ParameterError(f'loss must be "epsilon_insensitive" or "squared_epsilon_insensitive", is {loss!r}.')
    if not (np.isfinite(epsilon) and epsilon >= 0):
        raise ParameterError(f"epsilon must be finite and not negative, is {epsilon!r}.")
    target = finite(y, "y", 1)
    squared, ones = loss != "epsilon_insensitive", np.ones(len(target))
    return _solved(X, target - epsilon, target + epsilon, C, ones, squared, fit_intercept, tol, max_iter, start)


def _solved(
    X: ArrayLike,
    lower: Array,
    upper: Array,
    C: ArrayLike,
    signs: Array,
    squared: bool,
    intercept: bool,
    tol: float,
    max_iter: int,
    start: Margin | None,
) -> Margin:
    _check(tol, max_iter)
    with np.errstate(all="ignore"):  # a step that rounding spoils shows in the gap
        rows, origin, kept = _rows(X, lower, upper, C, squared, intercept)
        begin = None if start is None else _begin(rows, origin, start)
        found = solve_hinges(rows, tol, int(max_iter), begin)
        found = certified(rows, _anew(rows, found))
    converged = found.within(tol)
    if not converged:
        warnings.warn(
            f"the linear machine stopped after {found.point.steps} Newton steps with a duality gap of {found.gap:.2g}, "
            f"{found.gap / found.objective:.2g} of the objective, allowed was {tol:.2g}: "
            + (
                "raise max_iter."
                if found.point.steps >= max_iter
                else "rounding hides the rest; lower C or rescale the columns."
            ),
            NotConverged,
            stacklevel=3,
        )
    alpha = np.zeros(len(signs))
    alpha[kept] = found.beta
    return Margin(
        coef=found.point.w,
        intercept=found.point.b - float(origin @ found.point.w),
        alpha=alpha * signs + 0.0,  # no minus zeros
        objective=found.objective,
        duality_gap=found.gap,
        iterations=found.point.steps,
        converged=converged,
    )


def _rows(
    X: ArrayLike, lower: Array, upper: Array, C: ArrayLike, squared: bool, intercept: bool
) -> tuple[HingeRows, Array, Any]:
    """The rows that cost something, the (d,) origin that b refers to, and which rows these are."""
    table, n = finite(X, "X", 2), len(lower)
    if len(table) != n:
        raise DataError(f"X must have one row for each of {n} targets, has {len(table)}.")
    if not np.isfinite(np.einsum("ij,ij->", table, table)):
        raise DataError(f"products of X overflow: values are as large as {np.abs(table).max():g}. Rescale the columns.")
    factors = np.asarray(C, dtype=np.float64)
    if factors.shape not in ((), (n,)) or not (np.isfinite(factors).all() and np.all(factors >= 0)):
        raise ParameterError(f"C must be a number or {n} numbers, finite and not negative, is {C!r}.")
    if not np.any(factors > 0) or n == 0:
        raise DataError("no row has a C above 0.")
    factors = np.broadcast_to(factors, (n,))
    kept: Any = slice(None)
    if np.any(factors == 0):
        kept = np.flatnonzero(factors)
        table, lower, upper, factors = table[kept], lower[kept], upper[kept], factors[kept]
    middle = origin = np.zeros(table.shape[1])
    if intercept:  # b takes up any shift of the rows
        middle = origin = np.ones(len(table)) @ table / len(table)
        few = table[:: max(1, len(table) // 1000)]
        if np.any(np.abs(middle) > _FAR * few.std(axis=0)):
            table, middle = table - origin, np.zeros_like(origin)
    return HingeRows(table, middle, lower, upper, factors, squared, intercept), origin, kept


def _begin(rows: HingeRows, origin: Array, start: Margin) -> HingePoint:
    w = finite(start.coef, "start.coef", 1, rows.X.shape[1])
    b = start.intercept + float(origin @ w)
    return HingePoint(w, b, rows.values(w, b), np.zeros(len(rows.X)), np.zeros(len(w) + 1), 0)


def _anew(rows: HingeRows, found: Certified) -> HingePoint:
    """The point with its values computed again, free of the roundings of updates."""
    w, b = found.point.w, found.point.b
    return HingePoint(w, b, rows.values(w, b), found.beta, rows.pull(found.beta), found.point.steps)


def _check(tol: float, max_iter: Any) -> None:
    if not tol > 0:
        raise ParameterError(f"tol must be positive, is {tol!r}.")
    if isinstance(max_iter, bool) or not isinstance(max_iter, (int, np.integer)) or max_iter < 1:
        raise ParameterError(f"max_iter must be a whole number of at least 1, is {max_iter!r}.")
