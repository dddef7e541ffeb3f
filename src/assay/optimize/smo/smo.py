"""Sequential minimal optimisation: every quadratic program of vector machines, a box and one line.

    min  1/2 a^T Q a + p^T a    subject to  y^T a = total,  lower <= a <= upper,  Q_ij = y_i y_j K[r_i, r_j]

    SVC        y the classes, p = -1, upper C (by class, if weighted), total 0
    SVR        two variables on each kernel row, y = (1, -1), p = epsilon -+ target, upper C, total 0
    one-class  y = 1, p = 0, upper 1 / (nu n), total 1
    SVDD       y = 1, p = -K_ii / 2, upper 1 / (nu n), total 1
    nu-SVC     y the classes, p = 0, upper 1 / n, two lines: each class has the total nu / 2
    nu-SVR     two variables on each kernel row, p = -+ target, upper C, two lines: each sign has the total C nu n / 2

With G the gradient times y, a is a solution when no y_i a_i that may fall has a larger G than one that may rise: the
violation is how far this fails, in units of G. Where variables lie on several lines, this is so on each of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array, Whole
from assay.errors import DataError, NotConverged, ParameterError
from assay.optimize.smo.rows import KernelRows
from assay.optimize.smo.solver import FEW, BlockSolver, Finish, Limits, Reached, SmoProblem
from assay.optimize.team import Team
from assay.optimize.validate import finite

Precision: TypeAlias = Literal["float32", "float64"]

_PAIRS = 8  # steps for each variable, before Newton steps are tried
_MORE = 8  # factor between that and the next try
_SMALL = 2048  # rows: up to here float64 values cost nothing that matters
_ROUNDING = 1e-12  # share of a sum that rounding of its terms may take


@dataclass(frozen=True, slots=True, eq=False)
class SMO:
    """A solution and its certificate.

    Attributes:
        alpha: (N,) the variables.
        gradient: (N,) Q a + p.
        rho: the multiplier of the line: mean of y times gradient over variables between their bounds; the middle of
            `rho_range` where there is none (its finite end, if it has but one).
        rho_range: the least and the largest rho that satisfy the conditions; their order is reversed, by
            `violation`, where variables lie between their bounds. Both are those of the first of several lines.
        rhos: (k,) the multiplier of each line.
        objective: 1/2 a^T Q a + p^T a.
        violation: what is left of the conditions, at most `tol` when converged; 0 if nothing is.
        duality_gap: objective less the dual one at rho: how far the objective is from the least, at most. Infinite
            where a variable without a bound violates.
        iterations: steps of one pair each.
        converged: whether the violation is within the tolerance.
        kernel_rows_computed: how many, those computed again included.
        precision: of the kernel values worked with. All the above is judged by float64 values.
        reason: why it did not converge, and what to do; empty if it did.
    """

    alpha: Array
    gradient: Array
    rho: float
    rho_range: tuple[float, float]
    rhos: Array
    objective: float
    violation: float
    duality_gap: float
    iterations: int
    converged: bool
    kernel_rows_computed: int
    precision: Precision
    reason: str = ""


def smo(
    kernel: KernelRows,
    linear: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    total: ArrayLike = 0.0,
    signs: ArrayLike | None = None,
    rows: ArrayLike | None = None,
    lines: ArrayLike | None = None,
    start: ArrayLike | None = None,
    start_gradient: ArrayLike | None = None,
    tol: float = 1e-3,
    cache_mb: float = 256.0,
    max_iter: int = 10_000_000,
    shrinking: bool = True,
    precision: Precision | Literal["auto"] = "auto",
    threads: int | None = None,
    stop: Callable[[], bool] | None = None,
    warn: bool = True,
) -> SMO:
    """Minimise 1/2 a^T Q a + p^T a over a box and a line, with Q_ij = y_i y_j K[r_i, r_j].

    Args:
        kernel: K, positive semidefinite, by rows; a matrix at hand is `MatrixRows(K)`. Hold BLAS to one thread around
            the call: rows are computed in threads of their own.
        linear: (N,) p.
        lower: (N,) or a number; may be -inf.
        upper: (N,) or a number; may be inf.
        total: what y^T a must be; (k,) of each line where there are k.
        signs: (N,) y, of 1 and -1; ones when not given.
        rows: (N,) the kernel row of each variable; variable i has row i when not given.
        lines: (N,) the line of each variable, counted from 0, where there are several: y^T a is given for each.
        start: (N,) where to begin, brought within the bounds and to the total: the solution for another C, say.
        start_gradient: (N,) Q a + p at `start`, where it is known to float64: saves computing it. Not used where the
            start has to be changed.
        tol: violation allowed, in units of the gradient. Up to 512 kernel rows a solution that meets it is finished by
            Newton steps, and rounding is what is left.
        cache_mb: memory for kernel rows, in MiB; two rows are kept whatever it says.
        max_iter: steps allowed; beyond them a NotConverged warning is given.
        shrinking: whether rows whose variables rest at a bound are left out until the end.
        precision: of the kernel values worked with; sums are float64, and so is the judgement at the end. "auto":
            float64 up to 2048 rows; else float32, and then float64 from where that ended if it was not enough.
        threads: how many to compute with; the cores of this process when not given.
        stop: asked between blocks of steps; the search ends where it stands once this is true.
        warn: whether not to converge is a warning; `reason` tells it in any case.

    Returns:
        SMO.

    References:
        Fan, Chen and Lin, Working set selection using second order information, 2005; Platt, Fast training of support
        vector machines using sequential minimal optimization, 1998.

    >>> from assay.optimize.smo.rows import MatrixRows
    >>> found = smo(MatrixRows(np.eye(2)), [0.0, 0.0], 0.0, 1.0, total=1.0)
    >>> found.alpha, found.objective
    (array([0.5, 0.5]), 0.25)
    """
    _check(tol, cache_mb, max_iter, precision)
    y, problem = _signed(kernel, linear, lower, upper, signs, rows, lines)
    given = None if start is None else finite(start, "start", 1, len(y)) * y
    beta = _begin(problem, given, total)
    limits = Limits(tol, int(max_iter), cache_mb, shrinking, stop or _never)
    wanted: tuple[Precision, ...] = (precision,) if precision != "auto" else _precisions(kernel)
    f = np.empty(0)
    if start_gradient is not None and given is not None and np.array_equal(beta, given):
        f = np.zeros(len(kernel.diagonal))
        f[problem.rows] = finite(start_gradient, "start_gradient", 1, len(y)) * y - problem.linear
    reached, computed = Reached(beta, f, False, 0, 0), 0
    few = len(kernel.diagonal) <= FEW and wanted[-1] == "float64"
    with Team() if threads is None else Team(threads) as team:
        for used in wanted:
            solver = BlockSolver(problem, kernel, np.dtype(used), limits, team)
            reached = _finished(solver, problem, kernel, limits, reached) if few else solver.run(reached)
            computed += reached.computed
            if reached.converged or reached.steps >= limits.max_iter or limits.stop():
                break
    found = _certified(problem, y, reached, computed, used, "" if reached.converged else _reason(reached, limits, used))
    if warn and not found.converged:
        warnings.warn(
            f"SMO stopped after {found.iterations} steps with a violation of {found.violation:.2g}, allowed was "
            f"{tol:.2g}: {found.reason}.",
            NotConverged,
            stacklevel=2,
        )
    return found


def _finished(
    solver: BlockSolver, problem: SmoProblem, kernel: KernelRows, limits: Limits, reached: Reached
) -> Reached:
    """Steps of pairs, then Newton steps; pairs again, more of them, where these do not end at a solution."""
    finish, pairs = Finish(problem, kernel), _PAIRS * len(problem.rows)
    while True:
        allowed = min(limits.max_iter, reached.steps + pairs)
        reached = solver.run(reached, allowed)
        short = reached.steps < allowed  # it came to its end
        if limits.stop() or reached.steps >= limits.max_iter:
            return reached
        reached = finish(reached, limits.tol, limits.max_iter - reached.steps)
        if reached.converged or short or reached.steps >= limits.max_iter:
            return reached
        pairs *= _MORE


def _never() -> bool:
    return False


def _precisions(kernel: KernelRows) -> tuple[Precision, ...]:
    # values near the ends of float32's range, or rows few enough
    largest = float(np.abs(kernel.diagonal).max(initial=0.0))
    if len(kernel.diagonal) <= _SMALL or not 1e-25 < largest < 1e25:
        return ("float64",)
    return ("float32", "float64")


def _signed(
    kernel: KernelRows,
    linear: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    signs: ArrayLike | None,
    rows: ArrayLike | None,
    lines: ArrayLike | None,
) -> tuple[Array, SmoProblem]:
    """The signs, and the problem in b = y a: the line becomes a sum, and Q becomes K itself."""
    p = finite(linear, "linear", 1)
    N, n = len(p), len(kernel.diagonal)
    r: Whole = np.arange(N) if rows is None else np.asarray(rows, dtype=np.int64)
    if r.shape != (N,) or (N and not 0 <= r.min() <= r.max() < n):
        raise DataError(f"rows must name one of {n} kernel rows for each of {N} variables.")
    y = np.ones(N) if signs is None else finite(signs, "signs", 1, N)
    if not np.isin(y, (-1.0, 1.0)).all():
        raise DataError(f"signs must be 1 or -1, entry {int(np.argmax(np.abs(y) != 1.0))} (counted from 0) is not.")
    low, high = _bounds(lower, "lower", N), _bounds(upper, "upper", N)
    if np.any(low > high):
        i = int(np.argmax(low > high))
        raise DataError(f"lower must not exceed upper, does for variable {i}: {low[i]:.6g} > {high[i]:.6g}.")
    of: Whole | None = None if lines is None else np.asarray(lines, dtype=np.int64)
    if of is not None and (of.shape != (N,) or (N and of.min() < 0)):
        raise DataError(f"lines must name a line, counted from 0, for each of {N} variables.")
    return y, SmoProblem(y * p, np.where(y > 0, low, -high), np.where(y > 0, high, -low), r, of)


def _begin(problem: SmoProblem, given: Array | None, total: ArrayLike) -> Array:
    """(N,) a start within its bounds, of the total of each line."""
    beta, members = np.zeros(len(problem.rows)), problem.members()
    totals = np.atleast_1d(np.asarray(total, dtype=np.float64))
    if totals.shape != (len(members),):
        raise DataError(f"total must be one number for each of {len(members)} lines, has shape {totals.shape}.")
    for line, sum_of_line in zip(members, totals, strict=True):
        begin = None if given is None else given[line]
        beta[line] = feasible(begin, problem.lower[line], problem.upper[line], float(sum_of_line))
    return beta


def feasible(start: Array | None, lower: Array, upper: Array, total: float) -> Array:
    """The point given, or zero, brought within its bounds and to its sum, few of its entries changed.

    What is missing from the sum goes to the first variables with room: those between their bounds before those at one,
    those at zero last. An even share for all would make each of them a support point.

    >>> feasible(None, np.zeros(3), np.ones(3), 1.5)
    array([1. , 0.5, 0. ])
    """
    bounds = np.abs(np.concatenate([lower, upper]))
    rounding = _ROUNDING * (float(bounds[np.isfinite(bounds)].sum()) + abs(total))
    if total > upper.sum() + rounding or total < lower.sum() - rounding:
        raise DataError(
            f"no point has the sum {total:.6g}: within their bounds the variables sum to {lower.sum():.6g} at least "
            f"and {upper.sum():.6g} at most. Widen the bounds."
        )
    given = np.zeros(lower.size) if start is None else start
    beta = np.clip(given, lower, upper)
    missing = total - float(beta.sum())
    if abs(missing) <= rounding:  # to spread it would take variables off their bounds
        return beta
    room = np.minimum(upper - beta if missing > 0 else beta - lower, abs(missing))
    order = np.lexsort((np.arange(beta.size), (beta == lower) | (beta == upper), beta == 0.0))
    before = np.cumsum(room[order]) - room[order]
    beta[order] += np.sign(missing) * np.clip(abs(missing) - before, 0.0, room[order])
    return np.clip(beta, lower, upper)


def _bounds(given: ArrayLike, name: str, N: int) -> Array:
    array = np.asarray(given, dtype=np.float64)
    if array.shape not in ((), (N,)):
        raise DataError(f"{name} must be a number or have {N} entries, has shape {array.shape}.")
    if np.isnan(array).any():
        raise DataError(f"{name} must not be NaN; use infinity for no bound.")
    return np.broadcast_to(array, (N,))


def judged(
    alpha: ArrayLike,
    gradient: ArrayLike,
    linear: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    signs: ArrayLike,
    tol: float,
) -> SMO:
    """The certificate of variables found in another way, for one variable on each kernel row.

    Args:
        alpha: (N,), within its bounds.
        gradient: (N,) Q a + p.
        linear: (N,) p.
        lower: (N,) or a number.
        upper: (N,) or a number.
        signs: (N,) y.
        tol: violation allowed.

    >>> found = judged([0.5, 0.5], [-0.5, -0.5], [-1.0, -1.0], 0.0, 1.0, signs=[1, -1], tol=1e-3)
    >>> found.objective, found.violation
    (-0.75, 1.0)
    """
    p = finite(linear, "linear", 1)
    N = len(p)
    y = finite(signs, "signs", 1, N)
    low, high = _bounds(lower, "lower", N), _bounds(upper, "upper", N)
    problem = SmoProblem(y * p, np.where(y > 0, low, -high), np.where(y > 0, high, -low), np.arange(N))
    f = y * finite(gradient, "gradient", 1, N) - problem.linear
    found = _certified(problem, y, Reached(y * finite(alpha, "alpha", 1, N), f, False, 0, 0), 0, "float64", "")
    return replace(found, converged=found.violation <= tol)


def _certified(
    problem: SmoProblem, y: Array, reached: Reached, computed: int, precision: Precision, reason: str
) -> SMO:
    beta, low, high = reached.beta, problem.lower, problem.upper
    Kb = reached.f[problem.rows]
    G = Kb + problem.linear
    up, down = beta < high, beta > low
    rho, ranges, rhos = np.zeros(len(G)), [], []
    for line in problem.members():
        falling, rising = G[line & down], G[line & up]
        ends = float(falling.max(initial=-np.inf)), float(rising.min(initial=np.inf))
        free = line & up & down
        ranges.append(ends)
        rhos.append(float(G[free].mean()) if free.any() else _middle(*ends))
        rho[line] = rhos[-1]
    return SMO(
        alpha=y * beta,
        gradient=y * G,
        rho=rhos[0],
        rho_range=ranges[0],
        rhos=np.array(rhos),
        objective=float(0.5 * beta @ Kb + problem.linear @ beta),
        violation=max(0.0, *(ends[0] - ends[1] for ends in ranges)),
        duality_gap=_gap(G - rho, beta - low, high - beta),
        iterations=reached.steps,
        converged=reached.converged,
        kernel_rows_computed=computed,
        precision=precision,
        reason=reason,
    )


def _middle(least: float, largest: float) -> float:
    if np.isfinite(least) and np.isfinite(largest):
        return 0.5 * (least + largest)
    return least if np.isfinite(least) else largest if np.isfinite(largest) else 0.0


def _gap(slope: Array, above: Array, below: Array) -> float:
    """Sum of multipliers times slacks: G - rho > 0 pays for the way to the lower bound, < 0 to the upper one."""
    distance = np.where(slope > 0, above, below)
    return float(np.sum(np.abs(slope) * np.where(slope == 0, 0.0, distance)))


def _reason(reached: Reached, limits: Limits, precision: Precision) -> str:
    if reached.steps >= limits.max_iter:
        return f"the {limits.max_iter} steps were used up; raise max_iter or tol, or rescale the data"
    if limits.stop():
        return "it was told to stop"
    if precision == "float32":
        return "rounding of float32 kernel values hides the rest; raise tol, or set precision to float64"
    return "rounding hides the rest; raise tol, or rescale the data"


def _check(tol: float, cache_mb: float, max_iter: Any, precision: str) -> None:
    if not tol > 0:
        raise ParameterError(f"tol must be positive, is {tol!r}.")
    if not cache_mb > 0:
        raise ParameterError(f"cache_mb must be positive, is {cache_mb!r}.")
    if isinstance(max_iter, bool) or not isinstance(max_iter, (int, np.integer)) or max_iter < 1:
        raise ParameterError(f"max_iter must be a whole number of at least 1, is {max_iter!r}.")
    if precision not in ("auto", "float32", "float64"):
        raise ParameterError(f'precision must be "auto", "float32" or "float64", is {precision!r}.')
