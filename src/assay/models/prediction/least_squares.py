"""Least squares: the linear prediction with the least squared error, and how sure its coefficients are.

summary   A = scatter of x (d, d), B = scatter of x and y (d, p)      from one pass, any engine
solver    A coef = B in columns of unit length                        route "moments"
          Householder triangle of the rows, refined                   route "qr", where A would lose digits
          coef = X^T U diag(1 / l) U^T y,  X X^T = U diag(l) U^T      route "dual", (n, n), for d > n
reading   total = explained + error                                   sums of squares of y, of its fit, of the rest
errors    cov coef = s^2 A^-1,  s^2 = error / (n - rank - 1)          t and p of each coefficient, for normal errors
"""

from __future__ import annotations

import warnings
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from sklearn.utils.validation import check_is_fitted

from assay.errors import Caution, DataError
from assay.linalg.linear_fit import determined
from assay.linalg.principal import dense
from assay.models.base import on_engine
from assay.models.coefficients import Coefficients, checked_confidence
from assay.models.linear_regressor import CERTAIN, Target, _LinearRegressor
from assay.summary.grouped import GroupedMoments
from assay.summary.least_squares import Solution, least_squares, least_squares_of
from assay.summary.moments import Moments
from assay.summary.regression import Equations, Squares
from assay.summary.sparse_ridge import refuse_large

Array: TypeAlias = NDArray[np.float64]


class LeastSquares(_LinearRegressor):
    """Predict a number by the line, plane or hyperplane of least squared error.

    Where columns depend on each other, or outnumber the rows, the shortest coefficients of all that fit equally well
    are given; `rank_`, `undetermined_` and `notes_` say so.

    Args:
        fit_intercept: whether the plane may be shifted; else it goes through zero, and sums of squares are about zero.

    Attributes:
        coef_: (d,), or (p, d) for p targets.
        intercept_: number, or (p,).
        coef_std_errors_: (d,) or (p, d); infinite for coefficients that the rows do not determine, NaN where no row is
            left to judge by.
        intercept_std_error_: number, or (p,).
        total_, explained_, error_: sums of squares of the targets about their mean, of what is fitted, and of what is
            left: total = explained + error. Numbers, or (p,).
        r_squared_: explained share; the squared canonical correlation of columns and target.
        residual_sd_: standard deviation of the errors, from `freedom_` degrees of freedom.
        freedom_: rows (or their weight) less rank less one for the intercept.
        rank_: how many columns are independent.
        condition_: condition number of the columns at unit length about their means, within the rank; the digits lost
            are about those of it by "qr", of its square by "moments". By "dual" of the rows about their mean.
        undetermined_: columns whose coefficients could be others at the same fit.
        notes_: what should be known about the solution, in sentences.
        n_samples_, weight_: rows, and the sum of their weights.
        encoding_: how the columns of a source became numbers, where it was fitted on one.
        route_: the way taken: "moments", "qr" or "dual".

    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> line = LeastSquares().fit(X, [1.0, 3.0, 5.0, 8.0])
    >>> print(line.coefficients())
    intercept  0.8 +- 0.324 (-0.5942 to 2.194), t 2.469, p 0.13
    column 0   2.3 +- 0.1732 (1.555 to 3.045), t 13.28, p 0.0056
    residual sd 0.3873 from 2 degrees of freedom, R squared 0.9888

    Reference: Golub, Van Loan, Matrix Computations, section 5.3.
    """

    def __init__(self, *, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, engine: Any = None) -> Self:
        """Fit (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`. A source is read block by block: once, and once more where
                it is small or the condition number asks for "qr".
            y: (n,) or (n, p) targets; where X is a source also the name of its target.
            sample_weight: (n,) not negative; weight 2 counts as the row twice.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        table = self._table(X, y, sample_weight)
        refuse_large(table, "Use Ridge(alpha) with a number, which takes products alone, or fewer columns by LSI.")
        self.notes_: tuple[str, ...] = ()
        return self._keep(least_squares(table, intercept=self.fit_intercept), table.single)

    def fit_moments(self, moments: Moments | GroupedMoments, target: Target) -> Self:
        """Fit from a summary of columns and target together, however gathered: a file, a cluster, three hospitals.

        There are no rows to go back to: where the condition number costs more than half of the digits, a warning says
        so.

        Args:
            moments: of the columns and the target.
            target: name or number of the column to be predicted, or several of them.
        """
        grouped, d, single = self._summary(moments, target)
        found = least_squares_of(Equations(grouped.total, d, self.fit_intercept))
        self.notes_ = self._warn_of_lost_digits(found.fit.condition) or _nearly_exact(found.squares)
        return self._keep(found, single)

    def coefficients(self, confidence: float = 0.95, *, target: int = 0) -> Coefficients:
        """Coefficients with standard errors, intervals, t and p.

        They hold for independent normal errors of equal variance. p is the chance of so large a t if the coefficient
        were zero, each taken alone: among many columns some look important by chance.

        Args:
            confidence: of the intervals.
            target: which one, where there are several.
        """
        check_is_fitted(self)
        names = self._column_names()
        values, errors = np.atleast_2d(self.coef_)[target], np.atleast_2d(self.coef_std_errors_)[target]
        if self.fit_intercept:
            names = ["intercept", *names]
            values = np.append(np.atleast_1d(self.intercept_)[target], values)
            errors = np.append(np.atleast_1d(self.intercept_std_error_)[target], errors)
        return Coefficients.of(
            names,
            values,
            errors,
            freedom=self.freedom_,
            confidence=confidence,
            residual_sd=float(np.atleast_1d(self.residual_sd_)[target]),
            r_squared=float(np.atleast_1d(self.r_squared_)[target]),
            notes=self.notes_,
        )

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictions, and their errors if asked for.

        Args:
            X: (n, d) rows.
            return_std: also give the standard deviation of prediction less truth for a new row: the error of the
                coefficients and that of the row itself. It is infinite where the rows fitted do not determine the
                prediction: columns that depended on each other there, and do not in this row.

        Returns:
            (n,) or (n, p) predictions; with return_std a pair of these.
        """
        if not return_std:
            return super().predict(X)
        check_is_fitted(self)
        null = self._free_null()
        rows = dense(self._checked(X, reset=False, accept_sparse="csr"))
        about = rows - self._mean
        off = about @ self._root
        own = 1.0 + np.einsum("ij,ij->i", off, off) + (1.0 / self.weight_ if self.fit_intercept else 0.0)
        own[~determined(about, null)] = np.inf
        return rows @ self.coef_.T + self.intercept_, np.multiply.outer(np.sqrt(own), self.residual_sd_)

    def predict_interval(self, X: Any, confidence: float = 0.95) -> tuple[Array, Array]:
        """Where a new row's target lies with the given confidence, for normal errors: lower and upper ends."""
        middle, sd = self.predict(X, return_std=True)
        half = stdtrit(self.freedom_, 0.5 + checked_confidence(confidence) / 2.0) * sd
        return middle - half, middle + half

    def _keep(self, found: Solution, single: bool) -> Self:
        fit, squares, mean = found.fit, found.squares, found.centre[: self.n_features_in_]
        self.n_samples_, self.weight_, self.route_ = found.count, found.weight, found.route
        self.rank_, self.condition_ = fit.rank, fit.condition
        self.undetermined_ = np.flatnonzero(fit.undetermined)
        self.freedom_ = found.weight - fit.rank - int(self.fit_intercept)
        self._keep_line(np.ascontiguousarray(fit.coef.T), found.intercept, single)
        self._keep_squares(squares, self.freedom_, single)
        self._mean, self._root, self._null = mean, fit.root, fit.null
        sd = np.atleast_1d(self.residual_sd_)
        errors = np.multiply.outer(sd, np.linalg.norm(fit.root, axis=1))
        errors[:, fit.undetermined] = np.inf
        at_zero = float(np.sqrt(1.0 / found.weight + np.sum((mean @ fit.root) ** 2))) if self.fit_intercept else 0.0
        known = not self.fit_intercept or (fit.null is not None and determined(mean[None], fit.null)[0])
        own = sd * at_zero if known else np.full_like(sd, np.inf)
        self.coef_std_errors_ = errors[0] if single else errors
        self.intercept_std_error_ = float(own[0]) if single else own
        self.notes_ = (*self._about_rank(), *self.notes_)
        return self

    def _about_rank(self) -> tuple[str, ...]:
        if not len(self.undetermined_):
            return ()
        known = self._column_names()
        names = [known[j] for j in self.undetermined_]
        listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        why = (
            f"{self.n_samples_} rows cannot determine {self.n_features_in_} coefficients"
            if self.n_features_in_ > self.n_samples_
            else "some columns are constant or follow from others"
        )
        return (
            f"{why} (rank {self.rank_}): the shortest of all solutions is given; not determined are the coefficients "
            f"of {listed}",
        )

    def _free_null(self) -> Array:
        """The directions in which coefficients are not determined, where rows are left to judge errors by."""
        if self._null is None or not self.freedom_ > 0.0:
            raise DataError(
                f"predictions have no standard deviation here: {self.weight_:g} rows leave no freedom beside "
                f"{self.n_features_in_} columns; more rows are needed, or fewer columns"
            )
        return self._null


def _nearly_exact(squares: Squares) -> tuple[str, ...]:
    exact = np.flatnonzero(squares.error * CERTAIN < squares.total)
    if not len(exact):
        return ()
    left, total = squares.error[exact[0]], squares.total[exact[0]]
    note = (
        f"the fit is nearly exact (sum of squares left {left:.1e} of {total:.1e}): from a summary few digits of the "
        "error are certain. Fit from the rows"
    )
    warnings.warn(note, Caution, stacklevel=3)
    return (note,)
