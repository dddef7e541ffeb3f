"""A ball around most rows, which the others may leave at a price: data description that far rows cannot drag along.

hinge    min over c, R of  R^2 + C sum_i max(0, |x_i - c|^2 - R^2)     X (n, d), c (d,); plain SVDD, unconstrained
linear   min over c, R of  R + C sum_i max(0, |x_i - c| - R)           a row outside pulls with C, not C |x_i - c|
reading  score -|x - c|, outlier where |x - c| > R                     C = 1 / (nu n): at most a share nu lies outside
proof    duality gap from weights 0 <= a_i <= C of sum 1, (n,), and pulls of length a_i that sum to zero, (n, d)
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.errors import NotConverged, ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import power_of_two
from assay.models.anomaly.robust_svdd.robust_ball import Loss, robust_ball
from assay.models.base import Estimator
from assay.summary.distances.distances import as_rows

_SMALL = 100  # matrices of so few rows gain nothing from threads, which wait for each other on a busy machine


class RobustSVDD(OutlierMixin, Estimator):
    """Which rows lie outside the ball that holds the others?

    It works in the columns as they are: columns of large scale decide, so standardise first where units differ. For a
    boundary of another shape than a ball use SVDD with a kernel.

    Args:
        C: price of a unit outside the ball; None for 1 / (nu n).
        nu: the largest share of rows outside, above 0 and at most 1; not used where C is given. With the linear loss
            the ball stays, however far rows go, while these are less than half of nu n: so take nu at least twice the
            share of rows that may be wild.
        loss: "linear" in the distance to the sphere, so that a far row pulls no harder than a near one; "hinge", linear
            in the squared distance, is plain SVDD with the linear kernel.
        tol: largest duality gap, relative to the objective.
        max_iter: most steps of the solver.

    Attributes:
        C_: the price used.
        center_: (d,) of the ball.
        radius_: of the ball.
        support_: (m,) rows on the sphere, counted from 0.
        outliers_: rows outside, counted from 0.
        weights_: (n,) multipliers: 0 inside, C outside, between on the sphere.
        objective_: the minimum found.
        duality_gap_: by how much it can be above the true minimum, proven by the weights.
        kkt_residual_: largest violation of the conditions of a solution, relative.
        offset_: scores below are outliers; minus the radius.
        n_iter_: steps taken.
        converged_: whether the gap is within the tolerance.
        route_: "interior", by Newton's method along smoothed problems, whose weights are all between the bounds;
            "window", so with rows far inside left out, where rows are many; "enclosing", the smallest enclosing ball,
            where C is at least 1; "mean", where the mean proved best at once, as it does when the hinge loss lets all
            rows leave.
        encoding_: how the columns of a source became numbers, where it was fitted on one.

    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [90.0, 1.0]])
    >>> ball = RobustSVDD(nu=0.5).fit(X)
    >>> ball.center_.round(6), round(ball.radius_, 6), ball.outliers_
    (array([1., 1.]), 1.414214, array([4]))

    References:
        Tax & Duin, Support vector data description, Machine Learning 54, 2004; Chang, Lee & Lin, Revisiting support
        vector data description, 2013.
    """

    def __init__(
        self,
        C: float | None = None,
        *,
        nu: float = 0.1,
        loss: Loss = "linear",
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.C = C
        self.nu = nu
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the ball of (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`; a source is encoded first, by the kinds of its columns.
            y: not used.
        """
        rows = self._numbers(X, reset=True)
        self._check()
        self.C_ = 1.0 / (self.nu * len(rows)) if self.C is None else float(self.C)
        with one_blas_thread() if min(rows.shape) <= _SMALL else nullcontext():
            ball = robust_ball(rows, self.C_, loss=self.loss, tol=self.tol, max_iter=self.max_iter)
        self.center_, self.radius_ = ball.center, ball.radius
        self.support_, self.weights_ = ball.support, ball.weights
        self.objective_, self.duality_gap_, self.kkt_residual_ = ball.objective, ball.gap, ball.kkt_residual
        self.n_iter_, self.converged_, self.route_ = ball.n_iter, ball.converged, ball.route
        distances = _distances(rows, self.center_)
        # rows on the sphere are inside, though their distance is rounded anew here
        self.offset_ = -max(self.radius_, float(distances[self.support_].max(initial=0.0)))
        self.outliers_ = np.flatnonzero(distances > -self.offset_)
        if not self.converged_:
            warnings.warn(
                f"after {self.n_iter_} steps the duality gap is {self.duality_gap_:.2g} of an objective of "
                f"{self.objective_:.4g}, allowed was a share of {self.tol:.2g}: raise max_iter, or tol.",
                NotConverged,
                stacklevel=2,
            )
        return self

    def distance(self, X: Any) -> Array:
        """Distances of (m, d) rows to the centre: (m,)."""
        check_is_fitted(self)
        return _distances(self._numbers(X, reset=False), self.center_)

    def score_samples(self, X: Any) -> Array:
        """Scores of (m, d) rows, the higher the more normal: minus the distance to the centre, (m,)."""
        return -self.distance(X)

    def decision_function(self, X: Any) -> Array:
        """How far inside the ball (m, d) rows lie, negative outside: (m,)."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """1 for each of (m, d) rows inside or on the sphere, -1 outside: (m,)."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    def contributions(self, X: Any) -> Array:
        """What each column adds to the squared distance of each of (m, d) rows: (m, d)."""
        check_is_fitted(self)
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray((self._numbers(X, reset=False) - self.center_) ** 2)

    def _check(self) -> None:
        if self.C is None and not 0.0 < self.nu <= 1.0:
            raise ParameterError(f"nu is a share of the rows, above 0 and at most 1; got {self.nu!r}")
        if not self.tol >= 0.0:
            raise ParameterError(f"tol is a share of the objective, not negative; got {self.tol!r}")
        if self.max_iter < 1:
            raise ParameterError(f"max_iter is at least 1; got {self.max_iter!r}")

    def _numbers(self, X: Any, *, reset: bool) -> Array:
        # what is not finite is found by as_rows, which says where
        return as_rows(self._checked(X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _distances(rows: Array, center: Array) -> Array:
    off = rows - center
    unit = power_of_two(off)  # squares of 1e300 overflow, and those of 1e-300 vanish
    off /= unit
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", off, off)) * unit)
