"""Support vector regression: a function with a tube around it inside which errors cost nothing.

summary  K_ij = <phi(x_i), phi(x_j)>, (n, n), rows of it computed when needed
primal   min over w, c of  1/2 |w|^2 + C sum_i max(0, |y_i - f(x_i)| - epsilon),   f(x) = <w, phi(x)> + c
dual     min over b of  1/2 b^T K b + epsilon sum |b_i| - y^T b,  sum b = 0,  |b_i| <= C
nu       a share of rows outside the tube in place of epsilon: C (nu n epsilon + sum of errors beyond), sum |b| = C nu n
solver   optimize.smo; optimize.margin.tube for the linear kernel on many rows
reading  f(x) = sum_i b_i k(x, x_i) + c; b_i = 0 inside the tube, |b_i| = C outside, between on its edge
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import float_blocks
from assay.data.source import Source
from assay.engine.current import is_local
from assay.errors import DataError, NotConverged, ParameterError
from assay.models.base import on_engine
from assay.models.prediction.svm.margin_table import MarginTable
from assay.models.prediction.svm.regression_machine import Machine, Problem, solve
from assay.models.prediction.svm.svr_path import SVRPath
from assay.models.supervised import _Regressor
from assay.summary.distances.distances import as_rows
from assay.summary.gram.gram import Gram
from assay.summary.gram.kernel_rows import kernel_sums
from assay.summary.gram.kernels import Gaussian, Kernel, Linear, Precomputed, as_kernel, resolved, weighted_median
from assay.summary.moments.accumulate import weights_of_rows

_LARGEST = 1e140  # of a target: sums of squares stay within floats
_GAP = 0.1  # duality gap allowed in passes, as a share of the objective, for a unit of tol
_HOLD = 2048  # rows: up to here all values of a kernel that is a function are computed once


class SVR(_Regressor):
    """Which number belongs to a row, if errors up to epsilon do not count and larger ones count by their size?

    Args:
        C: price of a unit of error beyond epsilon, positive.
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

    kernel_: Kernel
    support_: Any  # these are None where no weights of rows are kept
    support_vectors_: Any
    dual_coef_: Any
    kkt_residual_: Any
    coef_: Any

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
        if gram.approximate or gram.centring is not None:
            what = "by landmarks" if gram.approximate else "centred"
            raise ParameterError(
                f"SVR takes a kernel matrix that is exact and not centred; this one is {what}. Centring changes "
                "nothing here, and Gram.of(X, kernel, hold=False) needs no memory for its values"
            )
        self._record_columns(None, gram.n if gram.points is None else gram.points.shape[1])
        target, weights = self._numbers_to_predict(y, gram.n), weights_of_rows(sample_weight, gram.n)
        return self._fit(gram if weights is None else gram.among(np.flatnonzero(weights)), target, weights)

    def path(self, X: Any, y: Any, Cs: Any, *, held_out: tuple[Any, Any] | None = None) -> SVRPath:
        """Solve for several prices, each solution the start of the next; the model itself is left as it is.

        Args:
            X: (n, d) rows, as for `fit`.
            y: (n,) target.
            Cs: prices, positive and finite; they are taken in rising order.
            held_out: rows and target kept aside, whose error tells which price to take.
        """
        prices = np.unique(np.asarray(Cs, dtype=np.float64))
        if not len(prices) or not (np.isfinite(prices).all() and prices[0] > 0):
            raise ParameterError(f"Cs are positive finite prices; got {Cs!r}")
        one = clone(self)
        problem = one._problem(*one._summary(X, y, None))
        machine, found, errors = None, [], []
        for C in prices:
            machine = solve(problem, float(C), machine)
            one._keep(problem, machine)
            found.append((one.objective_, len(one.support_), one.n_iter_, one.kkt_residual_))
            if held_out is not None:
                errors.append(np.mean(np.abs(one.predict(held_out[0]) - np.asarray(held_out[1]))))
        objectives, support, steps, residuals = (np.array(column) for column in zip(*found, strict=True))
        left = np.array(errors) if held_out is not None else None
        return SVRPath(prices, objectives, support, steps, residuals, left)

    def predict(self, X: Any) -> Array:
        """The number for each of (m, d) rows, or for (m, n) kernel values with a precomputed kernel: (m,)."""
        check_is_fitted(self)
        rows = self._checked(X, reset=False, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
        return np.asarray(self._sums(as_rows(rows)) + self.intercept_[0])

    def _summary(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> tuple[Gram, Array, Array | None]:
        # what is not finite is found by as_rows, which says where
        checked, target = self._targeted(X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
        rows, kernel = as_rows(checked), as_kernel(Gaussian() if self.kernel is None else self.kernel)
        weights = weights_of_rows(sample_weight, len(rows))
        return _gram(rows, kernel, weights), target, weights

    def _in_passes(self, X: Any) -> bool:
        """Whether rows are read in passes and not held."""
        if self.solver not in ("auto", "primal"):
            raise ParameterError(f"solver is 'auto' or 'primal'; got {self.solver!r}")
        linear = self.kernel is not None and isinstance(as_kernel(self.kernel), Linear)
        if self.solver == "primal" and not linear:
            raise ParameterError("solver 'primal' is for the linear kernel: SVR(kernel='linear', solver='primal')")
        if self.solver == "primal" and self.nu is not None:
            raise ParameterError("solver 'primal' is for an epsilon that is given: leave nu out, or use solver='auto'")
        return (
            linear
            and self.nu is None
            and (self.solver == "primal" or (isinstance(X, Source) and X.portable and not is_local()))
        )

    def _fit_in_passes(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        X, y = self._taken_apart(X, y)
        if isinstance(X, Source):
            data: Any = self._as_numbers(X, reset=True)
            self._record_columns(data.numeric_columns, len(data.numeric_columns))
        else:
            data = self._checked(X, reset=True, accept_sparse="csr", dtype=np.float64)
        target = self._numbers_to_predict(y, len(y) if isinstance(data, Source) else data.shape[0])
        weights = weights_of_rows(sample_weight, len(target))
        self._check_options()
        middle = self._measure_target(target, weights)
        table = MarginTable.of(float_blocks(data), target - middle, weights)
        C, epsilon = float(self.C), float(self.epsilon)

        def ends(own: NDArray[Any]) -> tuple[Any, Array, Array, Array]:
            return slice(None), own - epsilon, own + epsilon, np.full(len(own), C)

        allowed, usual = _GAP * self.tol, C if weights is None else C * float(weights.mean())
        line = table.solve(ends, price=usual, tol=allowed, max_iter=self.max_iter)
        self.kernel_ = Linear()
        self.support_ = self.support_vectors_ = self.dual_coef_ = self.kkt_residual_ = None
        self.coef_ = line.coef[None, :]
        self.intercept_ = np.array([middle + line.offset - float(table.middle @ line.coef)])
        self.primal_objective_, self.duality_gap_ = line.objective, line.duality_gap
        self.objective_ = line.duality_gap - line.objective
        self.n_iter_, self.converged_, self.route_ = line.iterations, line.converged, "primal in passes"
        self.epsilon_ = epsilon
        if not line.converged:
            warnings.warn(
                f"SVR: the duality gap is {line.duality_gap / line.objective:.2g} of the objective after "
                f"{line.iterations} steps, allowed is {allowed:.2g}: lower C, rescale the columns, or raise tol",
                NotConverged,
                stacklevel=4,
            )
        return self

    def _check_options(self) -> None:
        if isinstance(self.C, bool) or not (isinstance(self.C, int | float | np.number) and 0.0 < self.C < np.inf):
            raise ParameterError(f"C is a positive finite price; got {self.C!r}")
        if not (isinstance(self.tol, int | float | np.number) and self.tol > 0.0):
            raise ParameterError(f"tol is a positive share; got {self.tol!r}")
        if not (isinstance(self.epsilon, int | float | np.number) and 0.0 <= self.epsilon < np.inf):
            raise ParameterError(f"epsilon is a finite number of at least 0; got {self.epsilon!r}")
        if self.nu is None:
            return
        if isinstance(self.nu, bool) or not (isinstance(self.nu, int | float | np.number) and 0.0 < self.nu <= 1.0):
            raise ParameterError(f"nu is a share of the rows, above 0 and at most 1; got {self.nu!r}")
        if self.epsilon != 0.1:
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
        self._keep(problem, solve(problem, float(self.C)))
        if weights is not None:
            self.support_ = np.flatnonzero(weights)[self.support_]
        return self

    def _problem(self, gram: Gram, target: Array, weights: Array | None) -> Problem:
        self._check_options()
        if weights is not None:
            kept = weights > 0.0
            target, weights = target[kept], weights[kept]
        middle = self._measure_target(target, weights)
        limits = (self.tol * self.unit_, self.cache_mb, self.max_iter)
        return Problem(gram, target - middle, middle, float(self.epsilon), *limits, weights, self.nu)

    def _keep(self, problem: Problem, found: Machine) -> None:
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        return tags


def _gram(rows: Array, kernel: Kernel, weights: Array | None) -> Gram:
    """The kernel matrix of the rows that count."""
    if isinstance(kernel, Precomputed):
        gram = Gram.precomputed(rows)
        return gram if weights is None else gram.among(np.flatnonzero(weights))
    if weights is not None:
        rows = rows[weights > 0.0]
        kernel = resolved(kernel, rows, weights[weights > 0.0])
    if isinstance(kernel, Linear):
        kernel.diagonal(rows)  # refuses what overflows
        return Gram(kernel, len(rows), rows, None, rows)  # the rows themselves, not a copy of them
    return Gram.of(rows, kernel, hold=len(rows) <= _HOLD and not isinstance(kernel, Gaussian))
