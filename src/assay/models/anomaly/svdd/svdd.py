"""Data description by support vectors: the smallest ball in a kernel's feature space that holds most rows.

summary  K_ij = <phi(x_i), phi(x_j)>, (n, n), rows of it computed when needed
primal   min over c, R of  R^2 + C sum_i max(0, |phi(x_i) - c|^2 - R^2)
dual     max over a of  sum_i a_i K_ii - a^T K a,  sum a = 1,  0 <= a_i <= C                solver  optimize.smo
reading  c = sum_i a_i phi(x_i), |phi(x) - c|^2 = k(x, x) - 2 sum_i a_i k(x, x_i) + a^T K a, outlier where this is > R^2
bounds   C = 1 / (nu n): at most a share nu of the rows lies outside, and at least that share has a_i > 0
weights  rows of weight w_i have 0 <= a_i <= C w_i, and n is the sum of weights

A shift of the origin, K_ij + u_i + u_j, changes none of this; it is used to keep digits.
"""

from __future__ import annotations

from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.models.anomaly.svdd.ball_newton import ball_by_newton
from assay.models.base import Estimator
from assay.optimize.qp import linear_kkt
from assay.optimize.smo.rows import KernelRows, spread
from assay.optimize.smo.smo import smo
from assay.summary.distances.distances import as_rows
from assay.summary.gram.gram import Gram
from assay.summary.gram.kernel_rows import exact_gram, gram_of_rows, kernel_rows, kernel_sums
from assay.summary.gram.kernels import Gaussian, Linear, Precomputed, as_kernel, weighted_median
from assay.summary.moments.accumulate import weights_of_rows

_Found: TypeAlias = tuple[Array, Array]  # (n,) weights a, and (n,) sums K a

_WHOLE = 1e-12  # of a sum of weights that rounding may take
_HAIR = 1e-9  # the same squared distance, computed in two ways
_DIGITS = 1e-8  # of k(x, x): squared distances below have few digits left


class SVDD(OutlierMixin, Estimator):
    """Which rows lie outside the region that holds the others, whatever its shape?

    With the Gaussian kernel this is the one-class support vector machine: the same support, and a decision that is the
    same but for a factor.

    Args:
        C: factor of squared distances outside the ball, at least 1 / n; None for 1 / (nu n). From 1 on nothing
            lies outside: the smallest enclosing ball. Of rows with weights n is the sum.
        nu: the largest share of rows outside, above 0 and at most 1; not used where C is given.
        kernel: `Linear()`, `Polynomial()`, `Gaussian()`, one of their names, "precomputed", or a function of two sets
            of rows. None for `Gaussian()`, whose sigma is the median distance between rows.
        solver: "dual", by sequential minimal optimisation; "primal", by Newton steps on the centre, for the linear
            kernel.
        tol: how far squared distances may violate the conditions of a solution ("primal": the largest duality gap), as
            a share of `unit_`.
        cache_mb: memory for kernel values, in MiB.
        max_iter: most steps of the solver.

    Attributes:
        support_: (m,) rows with a weight, counted from 0: those on the sphere and outside.
        dual_coef_: (m,) their weights a, of sum 1.
        support_vectors_: (m, d) these rows; None with a precomputed kernel.
        center_: (d,) with the linear kernel; None with any other, where the centre is no image of a point.
        radius_: R.
        radius_range_: the least and the largest R that are best for the centre. They differ only where 1 / C (or nu n)
            is a whole number, and by more than `tol` only where no row lies on the sphere; R^2 is in the middle.
        outliers_: rows outside, counted from 0.
        offset_: scores below are outliers: minus R^2, wider by what `tol` leaves open, so that rows on the sphere count
            as inside.
        objective_: of the primal.
        dual_objective_: of the dual, never above the least primal one.
        duality_gap_: their difference: by how much the objective can be above the least.
        kkt_residual_: largest violation of the conditions of a solution, in squared distances as shares of `unit_`.
        unit_: squared distance that tolerances refer to: the median over rows of that to the mean of a sample, in
            feature space; at least 1e-8 of the largest k(x, x), below which kernel values have few digits left.
        norm_: squared length of the centre, a^T K a.
        kernel_: the kernel with its defaults filled in.
        C_: the value of C used: 1 where a higher one was given, which no weight can reach.
        n_iter_: steps taken.
        converged_: whether the tolerance was met.
        route_: "dual float32" or "dual float64", by the kernel values worked with (all results are judged by float64
            ones), or "primal".
        encoding_: how the columns of a source became numbers, where it was fitted on one.

    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [9.0, 1.0]])
    >>> ball = SVDD(nu=0.6).fit(X)
    >>> ball.outliers_, ball.predict([[1.0, 1.0], [8.0, 1.0]])
    (array([4]), array([ 1, -1]))

    References:
        Tax and Duin, Support vector data description, Machine Learning 54, 2004; Schoelkopf et al., Estimating the
        support of a high-dimensional distribution, Neural Computation 13, 2001.
    """

    support_: NDArray[np.intp]
    outliers_: NDArray[np.intp]

    def __init__(
        self,
        C: float | None = None,
        *,
        nu: float = 0.1,
        kernel: Any = None,
        solver: Literal["dual", "primal"] = "dual",
        tol: float = 1e-6,
        cache_mb: float = 256.0,
        max_iter: int = 10_000_000,
    ) -> None:
        self.C = C
        self.nu = nu
        self.kernel = kernel
        self.solver = solver
        self.tol = tol
        self.cache_mb = cache_mb
        self.max_iter = max_iter

    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the ball of (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`; (n, n) kernel values with kernel "precomputed".
            y: not used.
            sample_weight: (n,) factors of C by row, not negative: a row of weight 2 counts as two rows, and one of
                weight 0 as none.
        """
        rows = self._numbers(X, reset=True)
        weights = weights_of_rows(sample_weight, len(rows))
        kernel = as_kernel(Gaussian() if self.kernel is None else self.kernel)
        return self._fit(gram_of_rows(rows, kernel, weights), weights)

    def fit_gram(self, gram: Gram, sample_weight: ArrayLike | None = None) -> Self:
        """Fit from a kernel matrix, held or not; its kernel is used. Weights are as for `fit`."""
        gram = exact_gram(gram, "SVDD")
        self._record_columns(None, gram.n if gram.points is None else gram.points.shape[1])
        weights = weights_of_rows(sample_weight, gram.n)
        return self._fit(gram if weights is None else gram.among(np.flatnonzero(weights)), weights)

    def distance(self, X: Any, diagonal: ArrayLike | None = None) -> Array:
        """Distances of (m, d) rows to the centre, in feature space: (m,).

        Args:
            X: rows; with a precomputed kernel (m, n) values with the training rows.
            diagonal: (m,) the values k(x, x), which a precomputed kernel needs where they are not all the same.
        """
        return np.sqrt(self._squares(X, diagonal))

    def score_samples(self, X: Any) -> Array:
        """Scores of (m, d) rows, the higher the more normal: minus the squared distance to the centre, (m,)."""
        return -self._squares(X)

    def decision_function(self, X: Any) -> Array:
        """How far inside the ball (m, d) rows lie, in squared distance, negative outside: (m,)."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """1 for each of (m, d) rows inside or on the sphere, -1 outside: (m,)."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    def _fit(self, gram: Gram, weights: Array | None) -> Self:
        """Fit from the kernel matrix of the rows with a weight above zero."""
        if self.solver not in ("dual", "primal"):
            raise ParameterError(f"solver is 'dual' or 'primal'; got {self.solver!r}")
        by = np.ones(gram.n) if weights is None else weights[weights > 0.0]
        self.C_, self.kernel_ = self._largest_weight(float(by.sum())), gram.kernel
        most = self.C_ * by
        rows = kernel_rows(gram, shift=True)
        with one_blas_thread():
            apart = spread(rows)
            self.unit_ = _unit(apart, by, rows.diagonal)
            a, sums = self._by_newton(gram, most) if self.solver == "primal" else self._by_smo(rows, apart, most)
        self._keep(gram, a)
        self._certify(rows.diagonal, a, sums, most)
        if weights is not None:
            kept = np.flatnonzero(weights)
            self.support_, self.outliers_ = kept[self.support_], kept[self.outliers_]
        return self

    def _by_smo(self, rows: KernelRows, apart: Array, most: Array) -> _Found:
        found = smo(
            rows,
            -0.5 * rows.diagonal,
            0.0,
            most,
            total=1.0,
            start=on_the_largest(apart, most),  # most of the farthest rows stay outside
            tol=0.5 * self.tol * self.unit_,  # the gradient is half a squared distance
            cache_mb=self.cache_mb,
            max_iter=self.max_iter,
        )
        self.n_iter_, self.converged_, self.route_ = found.iterations, found.converged, f"dual {found.precision}"
        return found.alpha, found.gradient + 0.5 * rows.diagonal

    def _by_newton(self, gram: Gram, most: Array) -> _Found:
        if not isinstance(gram.kernel, Linear) or gram.points is None:
            raise ParameterError(
                f"solver 'primal' is for the linear kernel and rows; this is {gram.kernel!r}. Use 'dual'"
            )
        X = gram.points - gram.points.mean(axis=0)
        ball = ball_by_newton(X, most, tol=self.tol * self.unit_, max_iter=self.max_iter)
        self.n_iter_, self.converged_, self.route_ = ball.iterations, ball.converged, "primal"
        return ball.weights, X @ (ball.weights @ X)

    def _keep(self, gram: Gram, a: Array) -> None:
        """What new rows are judged by."""
        points = gram.points
        self.support_ = np.flatnonzero(a)
        self.dual_coef_ = a[self.support_]
        self.support_vectors_ = None if points is None else points[self.support_]
        self.center_ = self._self_value = None
        if points is None:
            K = gram.values
            self.norm_ = float(self.dual_coef_ @ K[np.ix_(self.support_, self.support_)] @ self.dual_coef_)
            constant = np.ptp(np.diag(K)) <= _HAIR * np.abs(np.diag(K)).max()
            self._self_value = float(np.mean(np.diag(K))) if constant else None
        elif isinstance(gram.kernel, Linear):
            origin = points.mean(axis=0)
            self.center_ = origin + a @ (points - origin)
            self.norm_ = float(self.center_ @ self.center_)
        else:
            sums = kernel_sums(gram.kernel, points[self.support_], points[self.support_], self.dual_coef_)
            self.norm_ = float(self.dual_coef_ @ sums)

    def _certify(self, diagonal: Array, a: Array, sums: Array, most: Array) -> None:
        """Radius, outliers, and how good the solution is."""
        squares = np.maximum(diagonal - 2.0 * sums + a @ sums, 0.0)
        low, high = _radius_range(squares, most)
        square = 0.5 * (low + high)
        self.radius_, self.radius_range_ = float(np.sqrt(square)), (float(np.sqrt(low)), float(np.sqrt(high)))
        level = max(square, float(squares[a < most].max(initial=0.0))) + _HAIR * max(self.unit_, square)
        self.offset_ = -level
        self.outliers_ = np.flatnonzero(squares > level)
        self.objective_ = float(square + most @ np.maximum(squares - square, 0.0))
        self.dual_objective_ = float(a @ diagonal - a @ sums)
        self.duality_gap_ = max(0.0, self.objective_ - self.dual_objective_)
        line = np.ones((1, len(a)))
        slope = -squares / self.unit_
        kkt = linear_kkt(slope, a, A_eq=line, b_eq=np.ones(1), lower=0.0, upper=most, active=1e-12 * float(most.min()))
        self.kkt_residual_ = kkt.worst

    def _squares(self, X: Any, diagonal: ArrayLike | None = None) -> Array:
        check_is_fitted(self)
        rows = self._numbers(X, reset=False)
        if self.center_ is not None:
            off = rows - self.center_
            return np.asarray(np.einsum("ij,ij->i", off, off))
        if self.support_vectors_ is None:
            own, sums = self._own_values(len(rows), diagonal), rows[:, self.support_] @ self.dual_coef_
        else:
            own = self.kernel_.diagonal(rows)
            sums = kernel_sums(self.kernel_, rows, self.support_vectors_, self.dual_coef_)
        return np.maximum(own - 2.0 * sums + self.norm_, 0.0)

    def _own_values(self, m: int, diagonal: ArrayLike | None) -> Array:
        if diagonal is None:
            if self._self_value is None:
                raise DataError(
                    "the distance of a new row needs k(x, x), which a precomputed kernel whose training values on the "
                    "diagonal differ does not tell: call distance(X, diagonal=...)"
                )
            return np.full(m, self._self_value)
        own = np.asarray(diagonal, dtype=np.float64)
        if own.shape != (m,) or not np.isfinite(own).all():
            raise DataError(f"diagonal must be one finite number for each of {m} rows, has shape {own.shape}")
        return own

    def _largest_weight(self, n: float) -> float:
        """C, once nu, C and tol are known to be possible."""
        if not (isinstance(self.tol, int | float | np.number) and self.tol > 0.0):
            raise ParameterError(f"tol is a positive share; got {self.tol!r}")
        if self.C is None:
            if not (isinstance(self.nu, int | float | np.number) and 0.0 < self.nu <= 1.0):
                raise ParameterError(f"nu is a share of the rows, above 0 and at most 1; got {self.nu!r}")
            return min(1.0, 1.0 / (self.nu * n))
        if not (isinstance(self.C, int | float | np.number) and self.C * n >= 1.0 - 1e-12):
            raise ParameterError(
                f"C is at least 1 / n = {1.0 / n:.6g}: the weights of {n:g} rows sum to 1 and none exceeds C; got "
                f"{self.C!r}. Raise C, or give nu instead"
            )
        return min(1.0, float(self.C))

    def _numbers(self, X: Any, *, reset: bool) -> Array:
        # what is not finite is found by as_rows, which says where
        return as_rows(self._checked(X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        return tags


def on_the_largest(keys: Array, upper: Array) -> Array:
    """(n,) weights of sum 1, none above its `upper`, on as few of the largest keys as may be.

    >>> on_the_largest(np.array([3.0, 1.0, 2.0]), np.full(3, 0.75))
    array([0.75, 0.  , 0.25])
    """
    order = np.argsort(-keys, kind="stable")
    most = upper[order]
    left = 1.0 - (np.cumsum(most) - most)
    weights = np.empty(len(keys))
    weights[order] = np.where(left > most - _WHOLE, most, np.where(left > _WHOLE, left, 0.0))
    return weights


def _unit(apart: Array, by: Array, diagonal: Array) -> float:
    """A squared distance in proportion to the data, not moved by a few far rows."""
    return max(weighted_median(apart, by), _DIGITS * float(diagonal.max())) or 1.0


def _radius_range(squares: Array, most: Array) -> tuple[float, float]:
    """The least and the largest R^2 that are best for a centre: as many rows outside as their bounds allow, no more.

    The bounds C w_i of the rows farthest out, summed, pass 1 at one row, whose squared distance that is; where they
    come to 1 exactly, all up to the next one's are as good.
    """
    order = np.argsort(-squares, kind="stable")
    spent, far = np.cumsum(most[order]), squares[order]
    first, beyond = np.searchsorted(spent, [1.0 - _WHOLE, 1.0 + _WHOLE])
    low = float(far[beyond]) if beyond < len(far) else 0.0
    return low, float(far[first]) if first < beyond else low
