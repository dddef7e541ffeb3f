"""Support vector regression: a function with a tube around it inside which errors cost nothing.

summary  K_ij = <phi(x_i), phi(x_j)>, (n, n), rows of it computed when needed
primal   min over w, c of  1/2 |w|^2 + C sum_i max(0, |y_i - f(x_i)| - epsilon),   f(x) = <w, phi(x)> + c
dual     min over b of  1/2 b^T K b + epsilon sum |b_i| - y^T b,  sum b = 0,  |b_i| <= C
nu       a share of rows outside the tube in place of epsilon: C (nu n epsilon + sum of errors beyond); both parts of b
         sum to C nu n / 2, a line each, and epsilon is half the difference of the lines' multipliers
solver   optimize.smo, two variables on each kernel row: the positive and the negative part of its weight b_i;
         margin.tube, Newton steps on the coefficients, for the linear kernel on many rows
reading  f(x) = sum_i b_i k(x, x_i) + c; b_i = 0 inside the tube, |b_i| = C outside, between on its edge
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import float_blocks
from assay.errors import DataError, NotConverged, ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.models.base import on_engine
from assay.models.machine_summary import summary_of
from assay.models.model_summary import ModelSummary
from assay.models.prediction.svm.margin import Margin, tube
from assay.models.prediction.svm.passes import GAP, MarginTable
from assay.models.prediction.svm.vector_machine import (
    CHECKS,
    MachinePath,
    _VectorMachine,
    is_positive,
    kernel_told,
    rising_values,
)
from assay.models.supervised import _Regressor
from assay.optimize.smo.smo import smo
from assay.summary.distances.distances import as_rows
from assay.summary.gram.gram import Gram
from assay.summary.gram.kernel_rows import gram_of_rows, kernel_rows, kernel_sums
from assay.summary.gram.kernels import Linear, weighted_median
from assay.summary.moments.accumulate import weights_of_rows

_LARGEST = 1e140  # of a target: sums of squares stay within floats
_TALL = 2  # rows for each column, from where on Newton steps are taken
_COLUMNS = 1000  # and up to so many columns
_GAPS = (1e-6, 1e-8, 1e-10, 1e-12)  # duality gaps tried, until the conditions hold within tol


class SVR(_VectorMachine, _Regressor):
    """Which number belongs to a row, if errors up to epsilon do not count and larger ones count by their size?

    Args:
        C: factor of the errors beyond epsilon, positive and finite.
        epsilon: errors up to this cost nothing, in units of the target.
        nu: in place of epsilon, the largest share of the rows outside the tube, and the least that bears it; above 0
            and at most 1. `epsilon_` is what it comes to.
        kernel: `Linear()`, `Polynomial()`, `Gaussian()`, one of their names, "precomputed", or a function of two sets
            of rows. None for `Gaussian()`, whose sigma is the median distance between rows.
        solver: "primal" reads rows block by block and pass after pass, so that they may be larger than memory or lie
            with workers: Newton steps on the coefficients, for the linear kernel. It keeps no weights of rows and stops
            at a duality gap of tol / 10 of the objective. "auto" holds the rows and takes the way that suits them;
            where workers read them, "primal" if that can be.
        tol: how far predictions of the training rows may violate the conditions of a solution, as a share of `unit_`.
        cache_mb: memory for kernel values, in MiB.
        max_iter: most steps of the solver.

    Attributes:
        support_: (m,) rows with a weight, counted from 0: those on the edge of the tube and outside. It and the next
            two are None after solver "primal".
        support_vectors_: (m, d) these rows; None with a precomputed kernel.
        dual_coef_: (1, m) their weights b, of sum 0.
        intercept_: (1,) c.
        coef_: (1, d) w with the linear kernel; None with any other.
        objective_: of the dual, to be minimised, as LIBSVM states it.
        primal_objective_: of the primal; the two sum to `duality_gap_`.
        duality_gap_: by how much either can be above its least.
        kkt_residual_: largest violation of the conditions of a solution, as a share of `unit_`; None after solver
            "primal".
        epsilon_: half the width of the tube: epsilon, or what nu comes to.
        unit_: what tolerances refer to: mean distance of the target from its median, 1 where that is 0.
        kernel_: the kernel with its defaults filled in.
        n_iter_: steps taken.
        converged_: whether the tolerance was met.
        route_: "dual float32" or "dual float64", by the kernel values worked with (all results are judged by float64
            ones), "primal": Newton steps on the coefficients, or "primal in passes".
        encoding_: how the columns of a source became numbers, where it was fitted on one.

    >>> X = np.linspace(0.0, 6.0, 50)[:, None]
    >>> machine = SVR(C=10.0, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> machine.predict([[1.5]]).round(2)
    array([1.])

    References:
        Drucker et al., Support vector regression machines, NIPS 9, 1997; Smola and Schoelkopf, A tutorial on support
        vector regression, Statistics and Computing 14, 2004.
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        nu: float | None = None,
        kernel: Any = None,
        solver: Literal["auto", "primal"] = "auto",
        tol: float = 1e-3,
        cache_mb: float = 256.0,
        max_iter: int = 10_000_000,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.nu = nu
        self.kernel = kernel
        self.solver = solver
        self.tol = tol
        self.cache_mb = cache_mb
        self.max_iter = max_iter

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, engine: Any = None) -> Self:
        """Find the function from (n, d) rows to a target.

        Args:
            X: array, data frame, sparse matrix or `Source`; (n, n) kernel values with kernel "precomputed".
            y: (n,) target; the name of the column that holds it where X is a source.
            sample_weight: (n,) factors of C by row, not negative: a row of weight 2 counts as two rows, and one of
                weight 0 as none.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use. Other kernels
                than the linear one bring all rows here.
        """
        if self._in_passes(X):
            return self._fit_in_passes(X, y, sample_weight)
        return self._fit(*self._summary(X, y, sample_weight))

    def fit_gram(self, gram: Gram, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit from a kernel matrix, held or not; its kernel is used. Weights are as for `fit`."""
        gram = self._known_gram(gram)
        target, weights = self._numbers_to_predict(y, gram.n), weights_of_rows(sample_weight, gram.n)
        return self._fit(gram if weights is None else gram.among(np.flatnonzero(weights)), target, weights)

    def path(self, X: Any, y: Any, Cs: Any, *, held_out: tuple[Any, Any] | None = None) -> MachinePath:
        """Solve for several values of C, each solution the start of the next; the model itself is left as it is.

        Args:
            X: (n, d) rows, as for `fit`.
            y: (n,) target.
            Cs: values of C, positive and finite; they are taken in rising order.
            held_out: rows and target kept aside, whose error tells which value to take.
        """
        values = rising_values(Cs)
        one = clone(self)
        problem = one._problem(*one._summary(X, y, None))
        solution, found, errors = None, [], []
        for C in values:
            solution = _solved(problem, float(C), solution)
            one._keep(problem, solution)
            found.append((one.objective_, len(one.support_), one.n_iter_, one.kkt_residual_))
            if held_out is not None:
                errors.append(np.mean(np.abs(one.predict(held_out[0]) - np.asarray(held_out[1]))))
        objective, support, steps, residual = (np.array(column) for column in zip(*found, strict=True))
        return MachinePath(values, objective, support, steps, residual, np.array(errors) if errors else None)

    def predict(self, X: Any) -> Array:
        """The number for each of (m, d) rows, or for (m, n) kernel values with a precomputed kernel: (m,)."""
        check_is_fitted(self)
        return np.asarray(self._sums(self._new_rows(X)) + self.intercept_[0])

    def summary(self) -> ModelSummary:
        """The fit in a few lines, and its coefficients with the linear kernel: print it, or let a notebook show it."""
        check_is_fitted(self)
        held = None if self.support_ is None else len(self.support_)
        gap = self.duality_gap_ / max(abs(self.primal_objective_), np.finfo(np.float64).tiny)
        lines = [
            f"{kernel_told(self.kernel_)}, C {self.C:g}; errors up to {self.epsilon_:.4g} cost nothing",
            "rows that bear it: not kept by this solver" if held is None else f"{held:,} rows bear it",
            f"{'converged' if self.converged_ else 'not converged'} after {self.n_iter_:,} steps, duality gap "
            f"{gap:.1e} of the objective",
        ]
        measures = {
            "C": float(self.C), "epsilon": float(self.epsilon_), "objective": float(self.objective_),
            "duality_gap": float(self.duality_gap_), "support": float("nan") if held is None else float(held),
        }  # fmt: skip
        return summary_of(self, lines, measures)

    def _summary(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> tuple[Gram, Array, Array | None]:
        checked, target = self._targeted(X, y, **CHECKS)
        rows, kernel = as_rows(checked), self._kernel()
        weights = weights_of_rows(sample_weight, len(rows))
        return gram_of_rows(rows, kernel, weights), target, weights

    def _in_passes(self, X: Any) -> bool:
        """Whether rows are read in passes and not held."""
        passes = self._reads_passes(X, able=self.nu is None)
        if self.solver == "primal" and not isinstance(self._kernel(), Linear):
            raise ParameterError("solver 'primal' is for the linear kernel: SVR(kernel='linear', solver='primal')")
        if self.solver == "primal" and not passes:
            raise ParameterError("solver 'primal' is for an epsilon that is given: leave nu out, or use solver='auto'")
        return passes

    def _fit_in_passes(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        data, y, n = self._rows_of_passes(X, y)
        target = self._numbers_to_predict(y, n)
        weights = weights_of_rows(sample_weight, n)
        self._check_options()
        middle = self._measure_target(target, weights)
        table = MarginTable.of(float_blocks(data), target - middle, weights)
        C, epsilon = float(self.C), float(self.epsilon)

        def ends(own: NDArray[Any]) -> tuple[Any, Array, Array, Array]:
            return slice(None), own - epsilon, own + epsilon, np.full(len(own), C)

        usual = C if weights is None else C * float(weights.mean())
        line = table.solve(ends, C=usual, tol=GAP * self.tol, max_iter=self.max_iter)
        self._keep_no_rows()
        self.coef_ = line.coef[None, :]
        self.intercept_ = np.array([middle + line.offset - float(table.middle @ line.coef)])
        self.primal_objective_, self.duality_gap_ = line.objective, line.duality_gap
        self.objective_ = line.duality_gap - line.objective
        self.n_iter_, self.converged_, self.epsilon_ = line.iterations, line.converged, epsilon
        self._warn_of_passes([line])
        return self

    def _check_options(self) -> None:
        if not (is_positive(self.C) and np.inf > self.C):
            raise ParameterError(f"C is a positive finite number; got {self.C!r}")
        self._check_tol()
        if not (isinstance(self.epsilon, int | float | np.number) and 0.0 <= self.epsilon < np.inf):
            raise ParameterError(f"epsilon is a finite number of at least 0; got {self.epsilon!r}")
        self._check_nu()
        if self.nu is not None and self.epsilon != 0.1:
            raise ParameterError(
                f"nu stands in place of epsilon: give one of them; got epsilon={self.epsilon!r} and nu={self.nu!r}"
            )

    def _measure_target(self, target: Array, weights: Array | None = None) -> float:
        """The median; sets `unit_`."""
        largest = float(np.abs(target).max())
        if largest > _LARGEST:
            raise DataError(f"the target is as large as {largest:g}, its squares overflow: rescale it")
        middle = float(np.median(target)) if weights is None else weighted_median(target, weights)
        self.unit_ = float(np.average(np.abs(target - middle), weights=weights)) or 1.0
        return middle

    def _fit(self, gram: Gram, target: Array, weights: Array | None) -> Self:
        self._check_options()
        problem = self._problem(gram, target, weights)
        self._keep(problem, _solved(problem, float(self.C)))
        if weights is not None:
            self.support_ = np.flatnonzero(weights)[self.support_]
        return self

    def _problem(self, gram: Gram, target: Array, weights: Array | None) -> _Tube:
        self._check_options()
        if weights is not None:
            kept = weights > 0.0
            target, weights = target[kept], weights[kept]
        middle = self._measure_target(target, weights)
        limits = (self.tol * self.unit_, self.cache_mb, self.max_iter)
        return _Tube(gram, target - middle, middle, float(self.epsilon), *limits, weights, self.nu)

    def _keep(self, problem: _Tube, found: _Solution) -> None:
        """What new rows are judged by, and how good it is."""
        gram, points = problem.gram, problem.gram.points
        self.kernel_, self.support_ = gram.kernel, np.flatnonzero(found.weights)
        weights = found.weights[self.support_]
        self.dual_coef_ = weights[None, :]
        self.support_vectors_ = None if points is None else points[self.support_]
        self.coef_ = None
        if points is not None and isinstance(gram.kernel, Linear):
            # weights sum to zero: seen from the middle of the rows, far ones lose no digits
            w = weights @ (points[self.support_] - points.mean(axis=0)) if found.line is None else found.line.coef
            self.coef_ = w[None, :]
        # the solver may have moved the origin of feature space: one row tells by how much predictions change
        row = int(self.support_[0]) if len(weights) else 0
        own = self._sums((gram.values if points is None else points)[[row]])
        self.intercept_ = problem.middle + found.fitted[[row]] - own
        self.objective_, self.duality_gap_ = found.objective, found.duality_gap
        self.primal_objective_ = found.duality_gap - found.objective
        self.kkt_residual_, self.converged_ = found.violation / self.unit_, found.converged
        self.n_iter_, self.route_, self.epsilon_ = found.iterations, found.route, found.epsilon

    def _sums(self, rows: Array) -> Array:
        """(m,) predictions of rows but for a constant."""
        if self.coef_ is not None:
            return np.asarray(rows @ self.coef_[0])
        if len(self.support_) == 0:
            return np.zeros(len(rows))
        if self.support_vectors_ is None:
            return np.asarray(rows[:, self.support_] @ self.dual_coef_[0])
        return kernel_sums(self.kernel_, rows, self.support_vectors_, self.dual_coef_[0])


@dataclass(frozen=True, slots=True, eq=False)
class _Tube:
    """What is solved: the dual of a tube.

    Attributes:
        gram: kernel values of n rows.
        target: (n,) t, less its middle.
        middle: median of the target.
        epsilon: half the width of the tube.
        tol: largest violation of the conditions, in units of the target.
        cache_mb: for kernel values.
        max_iter: steps allowed.
        weights: (n,) positive, by which C is multiplied; None for 1.
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

    def of_rows(self, C: float) -> Array:
        """(n,) C of each row."""
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
class _Solution:
    """A solution and its certificate.

    Attributes:
        weights: (n,) b.
        C: (n,) of each row.
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


def _solved(problem: _Tube, C: float, before: _Solution | None = None) -> _Solution:
    """Solve for C, from the solution for another value if there is one."""
    own = problem.of_rows(C)
    found = _by_newton(problem, own, before) if problem.tall else _by_smo(problem, own, before)
    if not found.converged:
        warnings.warn(
            f"SVR: predictions of the training rows violate the conditions of a solution by up to "
            f"{found.violation:.2g}, allowed is {problem.tol:.2g}: {found.reason}",
            NotConverged,
            stacklevel=5,
        )
    return found


def _by_smo(problem: _Tube, C: Array, before: _Solution | None) -> _Solution:
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
    return _Solution(
        weights,
        C,
        fitted,
        None,
        found.objective + (0.0 if problem.nu is None else epsilon * float(np.abs(weights).sum())),
        found.duality_gap,
        _violation(weights, C, t - fitted, epsilon),
        found.iterations,
        found.converged,
        f"dual {found.precision}",
        found.reason,
        epsilon,
    )


def _by_newton(problem: _Tube, C: Array, before: _Solution | None) -> _Solution:
    X, t, epsilon = problem.gram.points, problem.target, problem.epsilon
    assert X is not None  # tall is for rows
    start, steps, left = None if before is None else before.line, 0, np.inf
    for gap in _GAPS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            found = tube(X, t, C, epsilon=epsilon, tol=gap, max_iter=problem.max_iter - steps, start=start)
        steps += found.iterations
        fitted = X @ found.coef + found.intercept
        left = _violation(found.alpha, C, t - fitted, epsilon)
        start = found
        if left <= problem.tol or not found.converged or steps >= problem.max_iter:
            break
    dual = found.objective - found.duality_gap
    converged = left <= problem.tol
    why = "raise max_iter" if steps >= problem.max_iter else "rounding hides the rest; lower C or rescale the columns"
    return _Solution(
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


def _violation(weights: Array, C: Array | float, residual: Array, epsilon: float) -> float:
    """How far residuals are on the wrong side: inside the tube with a weight, outside it with less than C.

    >>> round(_violation(np.array([0.0, 1.0]), 1.0, np.array([0.3, 0.3]), 0.1), 6)
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
