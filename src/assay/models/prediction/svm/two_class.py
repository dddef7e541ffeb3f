"""The boundary between two classes in its special forms, all judged by the variables a of the dual.

hard margin   max  sum a - 1/2 a^T Q a,  y^T a = 0,  a >= 0        bounded exactly when the classes are separable
    hulls     p = sum over y=1 of a_i phi_i / s,  q = the same for y=-1,  s = sum a / 2: points of both convex hulls
    bound     the margin, half the distance between the hulls, is at most |p - q| / 2 = sqrt(a^T Q a) / sum a

    C of a soft margin is raised, each solution the start of the next. Once no a_i reaches C it played no part: this is
    the hard margin. Otherwise sum a grows with C while a^T Q a does not, and the bound falls.

nu            min over w, b, r of  1/2 |w|^2 - nu r + sum_i p_i max(0, r - y_i (<w, phi(x_i)> + b)),   sum p = 1
    dual      min over a of  1/2 a^T Q a,   the a of either class sum to nu / 2,  0 <= a_i <= p_i

    Each class is a line of `optimize.smo`. With G = K (y a) the conditions give y_i G_i = r + y_i rho on the edges of
    the margin; divided by r this is the machine of C = p / r, a / r its weights, and so it is judged. At most a share
    nu of the weight of the rows lies within the margin, and at least that share has a_i > 0.

squared       min over w, b of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i f_i)^2,   f = <w, phi(x)> + b
    dual      min over a >= 0 of  1/2 a^T (Q + D) a - sum a,   y^T a = 0,  D = diag(1 / (2 C_i)):  no bound above

    D is a ridge on the kernel matrix; the slack of a row is a_i / (2 C_i).

primal        the linear kernel on many rows of few columns: Newton steps on w, see margin.py
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.arrays import Array, Whole
from assay.errors import NotConverged
from assay.linalg.one_thread import one_blas_thread
from assay.models.prediction.svm.margin import Loss, Margin, margin
from assay.optimize.smo.rows import KernelRows
from assay.optimize.smo.smo import SMO, judged, smo

_NONE = 1e-5  # of the spread of the rows: a narrower margin is none, and hulls nearer to each other meet
_RAISE = 8.0  # factor between values of C on the way to a hard margin
_TRIES = 8  # of solving for nu, each with a tolerance in units of the margin found before
_TALL = 5  # rows for each column, from which Newton's method over the columns is the faster way
_GAP = 1e-6  # share of the objective to begin with
_TIGHTER = 0.1  # factor, where that leaves too large a violation
_LEAST = 1e-11


@dataclass(frozen=True, slots=True, eq=False)
class HardMargin:
    """What was found at the last value of C.

    Attributes:
        found: the solution; of the hard margin if `separable`.
        separable: whether no variable is held back by C.
        largest_margin: no boundary has a wider one.
        unit: root mean square distance of the rows to their mean, in feature space.
        C: the last one tried.
        inside: rows that lie within the margin or beyond it at that C, the worst first.
    """

    found: SMO
    separable: bool
    largest_margin: float
    unit: float
    C: float
    inside: Whole

    @property
    def decided(self) -> bool:
        """Whether it is separable, or proved not to be, rather than short of steps."""
        return self.separable or self.largest_margin <= _NONE * self.unit


def hard_margin(solve: Callable[[float, SMO | None], SMO], signs: Array, unit: float) -> HardMargin:
    """Find the widest margin between rows of two signs.

    Args:
        solve: from a value of C, and what was found for a lower one, to the solution of the soft margin.
        signs: (n,) of 1 and -1, both there.
        unit: root mean square distance of the rows to their mean, in feature space.

    >>> from assay.optimize.smo.smo import smo
    >>> from assay.optimize.smo.rows import MatrixRows
    >>> x, y = np.array([-1.0, 0.0, 2.0]), np.array([-1.0, -1.0, 1.0])
    >>> hard = hard_margin(lambda C, _: smo(MatrixRows(np.outer(x, x)), -np.ones(3), 0.0, C, signs=y), y, 1.2)
    >>> hard.separable, round(hard.largest_margin, 6)
    (True, 1.0)
    """
    C, found = 1.0 / unit**2, None
    while True:
        found = solve(C, found)
        held = found.alpha >= C
        total = float(found.alpha.sum())
        length = float(np.sqrt(max(0.0, 2.0 * (found.objective + total))))
        slack = np.where(held, signs * found.rho - found.gradient, -np.inf)
        inside = np.argsort(-slack, kind="stable")[: int(held.sum())]
        hard = HardMargin(found, found.converged and not held.any(), length / total, unit, C, inside)
        if hard.decided or not found.converged:
            return hard
        C *= _RAISE


def most_nu(y: Array, shares: Array) -> float:
    """The largest nu that rows of two signs allow: each class has to bear half of it.

    >>> most_nu(np.array([1.0, 1.0, -1.0]), np.full(3, 1 / 3))
    0.6666666666666666
    """
    return float(2.0 * min(shares[y > 0].sum(), shares[y < 0].sum()) / shares.sum())


def solve_nu(
    kernel: KernelRows, y: Array, shares: Array, nu: float, unit: float, how: dict[str, Any]
) -> tuple[SMO, float] | None:
    """The machine as that of a value of C, and C for a unit of share; None where the classes leave no margin.

    Args:
        kernel: of the rows.
        y: (m,) signs.
        shares: (m,) p, by which values of C are in proportion to each other; of any sum.
        nu: share of the rows.
        unit: root mean square distance of the rows to their mean, in feature space.
        how: options of `optimize.smo.smo`.
    """
    p, tol, before = shares / shares.sum(), how["tol"], None
    allowed = tol * (0.1 * nu * unit**2 or 1.0)
    for _ in range(_TRIES):
        found = _solved(kernel, y, p, nu, before, {**how, "tol": allowed})
        r = 0.5 * float(found.rhos[0] - found.rhos[1])
        # the nearest points of the reduced hulls are w / (nu / 2) apart
        apart = float(np.sqrt(max(2.0 * found.objective, 0.0))) / (0.5 * nu)
        if apart <= _NONE * unit or r <= 0.0:
            return None
        if found.violation <= tol * r or not found.converged:
            break
        before, allowed = found, 0.5 * tol * r
    ones = np.ones(len(y))
    machine = judged(found.alpha / r, found.gradient / r - 1.0, -ones, 0.0, p / r, signs=y, tol=tol)
    machine = replace(
        machine,
        # where no weight of a class lies between its bounds many offsets are as good: the middle of each class's own
        rho=0.5 * float(found.rhos.sum()) / r,
        iterations=found.iterations,
        kernel_rows_computed=found.kernel_rows_computed,
        precision=found.precision,
        reason="" if machine.converged else found.reason or "rounding hides the rest; raise tol, or rescale the data",
    )
    return machine, float(1.0 / (r * shares.sum()))


def _solved(kernel: KernelRows, y: Array, p: Array, nu: float, before: SMO | None, how: dict[str, Any]) -> SMO:
    start: dict[str, Any] = {}
    if before is not None:
        start = {"start": before.alpha, "start_gradient": before.gradient}
    lines: dict[str, Any] = {"lines": (y < 0).astype(np.int64), "total": [0.5 * nu, -0.5 * nu]}
    with one_blas_thread():
        return smo(kernel, np.zeros(len(y)), 0.0, p, signs=y, **lines, **start, **how)


def ridge(C: Array) -> Array:
    """(m,) the diagonal of D, what squared slacks add to that of the kernel matrix."""
    return np.asarray(0.5 / C)


def with_gap(found: SMO, y: Array, C: Array) -> SMO:
    """A solution for squared slacks with its duality gap: variables without a bound have none that slopes tell.

    Args:
        found: the solution; its gradient is (Q + D) a - 1.
        y: (m,) signs.
        C: (m,) of each row.
    """
    a, D = found.alpha, ridge(C)
    of_kernel = y * (found.gradient + 1.0 - D * a)  # K (y a)
    square = max(float((y * a) @ of_kernel), 0.0)
    slack = np.maximum(1.0 - y * (of_kernel - found.rho), 0.0)
    primal = 0.5 * square + float(C @ slack**2)
    return replace(found, duality_gap=max(primal + found.objective, 0.0))


def is_tall(m: int, d: int) -> bool:
    """Whether m rows of d columns are better solved in the primal.

    >>> is_tall(1000, 10), is_tall(100, 1000)
    (True, False)
    """
    return m >= _TALL * d


def solve_primal(
    X: Array, y: Array, C: Array, tol: float, start: Margin | None, *, squared: bool = False
) -> tuple[SMO, Margin]:
    """The solution with its certificate in the dual, and what the next value of C may start from.

    Args:
        X: (m, d) rows.
        y: (m,) signs.
        C: (m,) of each row, finite.
        tol: violation of the dual's conditions allowed.
        start: a solution for other values of C.
        squared: whether slacks are squared.
    """
    loss: Loss = "squared_hinge" if squared else "hinge"
    gap, steps = _GAP, 0
    most = np.full(len(y), np.inf) if squared else C
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            start = margin(X, y, C, loss=loss, tol=gap, start=start)
        alpha, steps = np.clip(start.alpha, 0.0, most), steps + start.iterations
        gradient = y * (X @ ((y * alpha) @ X)) - 1.0 + (ridge(C) * alpha if squared else 0.0)
        found = judged(alpha, gradient, -np.ones(len(y)), 0.0, most, signs=y, tol=tol)
        found = with_gap(found, y, C) if squared else found
        gap *= _TIGHTER
        if found.converged or gap < _LEAST or not start.converged:
            return replace(found, iterations=steps), start
