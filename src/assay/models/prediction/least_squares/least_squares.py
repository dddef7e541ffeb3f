"""Least squares: the linear prediction with the least squared error, and how sure its coefficients are.

summary   A = scatter of x (d, d), B = scatter of x and y (d, p)      from one pass, any engine
solver    A coef = B in columns of unit length                        route "moments"
          Householder triangle of the rows, refined                   route "qr", where A would lose digits
          coef = X^T U diag(1 / l) U^T y,  X X^T = U diag(l) U^T      route "dual", (n, n), for d > n
reading   total = explained + error                                   sums of squares of y, of its fit, of the rest
errors    cov coef = s^2 A^-1,  s^2 = error / (n - rank - 1)          t and p of each coefficient, for normal errors
          A^-1 (sum v_i e_i^2 x_i x_i^T) A^-1                         HC0-HC3: variances of their own (summary.sandwich)
together  F = (explained / rank) / s^2,  log L = -n/2 (log(2 pi error / n) + 1), AIC, BIC
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from scipy.special import fdtrc, stdtrit
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.errors import Caution, DataError, ParameterError
from assay.linalg.eigen.principal import dense
from assay.linalg.regression.linear_fit import determined
from assay.models.base import on_engine
from assay.models.coefficients import CoefficientTable, checked_confidence
from assay.models.incremental import _TargetsInParts
from assay.models.linear_regressor import CERTAIN, Target, _LinearRegressor
from assay.models.model_summary import ModelSummary
from assay.models.prediction.least_squares.sandwich import POWERS, Sandwich, sandwich
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.regression.least_squares import LeastSquaresSolution, least_squares, least_squares_of
from assay.summary.regression.regression import Equations, RegressionTable, Squares
from assay.summary.regression.sparse_ridge import refuse_large

# what a summary gives as numbers
_MEASURES = (
    "r_squared_", "adjusted_r_squared_", "f_statistic_", "f_p_", "log_likelihood_", "aic_", "bic_", "residual_sd_",
    "durbin_watson_", "condition_",
)  # fmt: skip


class LeastSquares(_TargetsInParts, _LinearRegressor):
    """Predict a number by the line, plane or hyperplane of least squared error.

    Where columns depend on each other, or outnumber the rows, the shortest coefficients of all that fit equally well
    are given; `rank_`, `undetermined_` and `notes_` say so.

    Args:
        fit_intercept: whether the plane may be shifted; else it goes through zero, and sums of squares are about zero.
        covariance: what standard errors hold for. "classical": errors of equal variance. "HC0" to "HC3": errors whose
            variances differ from row to row in any way (White's sandwich); "HC3" is the safe one of few rows, "HC1"
            what Stata calls robust. They take one more pass over the rows.
        weights: what `sample_weight` means; coefficients are the same. "frequency": the row that often, so that the
            weights add up to the number of rows (Stata's fweight). "precision": one row, whose error has a variance of
            sigma^2 / weight (statsmodels' WLS, R's lm(weights=), Stata's aweight); only their ratios matter for
            standard errors.

    Attributes:
        coef_: (d,), or (p, d) for p targets.
        intercept_: number, or (p,).
        coef_std_errors_: (d,) or (p, d); infinite for coefficients that the rows do not determine, NaN where no row is
            left to judge by. `table()` has them with t, p and intervals.
        intercept_std_error_: number, or (p,).
        total_, explained_, error_: sums of squares of the targets about their mean, of what is fitted, and of what is
            left: total = explained + error. Numbers, or (p,).
        r_squared_: explained share; the squared canonical correlation of columns and target.
        adjusted_r_squared_: 1 - (1 - `r_squared_`) (n - 1) / `freedom_` (n instead of n - 1 without an intercept).
        f_statistic_, f_p_: of all coefficients but the intercept together, on `rank_` and `freedom_` degrees, and the
            chance of one as large if all were zero; Wald's, with the covariance asked for. Numbers, or (p,).
        log_likelihood_: for normal errors, at their most likely variance; NaN from a summary with weights "precision",
            which does not know each weight. Number, or (p,).
        aic_, bic_: minus twice that plus 2, or log n, for each coefficient and the intercept (statsmodels' and Stata's;
            R counts the variance of the errors as one more).
        residual_sd_: standard deviation of the errors, from `freedom_` degrees of freedom; with weights "precision" of
            a row of weight 1.
        freedom_: rows less rank less one for the intercept; for weights "frequency" their sum is the number of rows.
        rank_: how many columns are independent.
        condition_: condition number of the columns at unit length about their means, within the rank; the digits lost
            are about those of it by "qr", of its square by "moments". By "dual" of the rows about their mean.
        durbin_watson_: sum of squared differences of what is left of rows that follow each other, over the sum of its
            squares: about 2 where neighbours have nothing to do with each other, below where they are alike. NaN for
            rows that are not held here, sparse ones, and with weights "frequency". Number, or (p,).
        undetermined_: columns whose coefficients could be others at the same fit.
        notes_: what should be known about the solution, in sentences.
        n_samples_, weight_: rows, and the sum of their weights.
        encoding_: how the columns of a source became numbers, where it was fitted on one.
        summary_: moments of all rows so far, after `partial_fit`.
        route_: the way taken: "moments", "qr" or "dual".

    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> line = LeastSquares().fit(X, [1.0, 3.0, 5.0, 8.0])
    >>> print(line.summary())
    LeastSquares: 4 rows, 2 degrees of freedom, classical errors
    R squared 0.9888, adjusted 0.9832; F 176.3 on 1 and 2, p 0.00562
    log likelihood -0.49522, AIC 4.99044, BIC 3.76303; residual sd 0.3873
    Durbin-Watson 2.233; condition number 1 of the columns about their means, at unit length
                 estimate         se        t         p   95% interval
    intercept         0.8      0.324    2.469     0.132   -0.59422 to 2.1942
    column 0          2.3     0.1732   13.279   0.00562   1.5548 to 3.0452

    References: Golub, Van Loan, Matrix Computations, section 5.3; MacKinnon and White, J. Econometrics 29, 1985.
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        covariance: Literal["classical", "HC0", "HC1", "HC2", "HC3"] = "classical",
        weights: Literal["frequency", "precision"] = "frequency",
    ) -> None:
        self.fit_intercept = fit_intercept
        self.covariance = covariance
        self.weights = weights

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, engine: Any = None) -> Self:
        """Fit (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`. A source is read block by block: once, and once more where
                it is small or the condition number asks for "qr".
            y: (n,) or (n, p) targets; where X is a source also the name of its target.
            sample_weight: (n,) not negative; `weights` says what they mean.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        self._check_options()
        table = self._table(X, y, sample_weight)
        refuse_large(table, "Use Ridge(alpha) with a number, which takes products alone, or fewer columns by LSI.")
        self.notes_: tuple[str, ...] = ()
        found = least_squares(table, intercept=self.fit_intercept)
        precision, w = self.weights == "precision", table.weights
        rows = found.weight if not precision or w is None else float(np.count_nonzero(w))
        # density of a row of precision w: that of its error times root w
        more = 0.0 if not precision or w is None else 0.5 * float(np.log(w[w > 0.0]).sum())
        self._serial = _durbin_watson(table, found, precision=precision)
        return self._keep(found, table.single, rows, more, self._own_variances(table, found, rows))

    def fit_moments(self, moments: Moments | GroupedMoments, target: Target) -> Self:
        """Fit from a summary of columns and target together, however gathered: a file, a cluster, three hospitals.

        There are no rows to go back to: where the condition number costs more than half of the digits, a warning says
        so, and errors with variances of their own (covariance "HC0" to "HC3") are refused.

        Args:
            moments: of the columns and the target.
            target: name or number of the column to be predicted, or several of them.
        """
        self._check_options()
        if self.covariance != "classical":
            raise ParameterError(
                f"covariance={self.covariance!r} needs what is left of each row, which a summary does not hold: fit "
                "from the rows, or leave covariance at 'classical'"
            )
        grouped, d, single = self._summary(moments, target)
        found = least_squares_of(Equations(grouped.total, d, self.fit_intercept))
        self.notes_ = self._warn_of_lost_digits(found.fit.condition) or _nearly_exact(found.squares)
        precision = self.weights == "precision"
        rows, more = (float(found.count), np.nan) if precision else (found.weight, 0.0)
        self._serial = np.full(len(found.squares.error), np.nan)
        return self._keep(found, single, rows, more, None)

    def table(self, confidence: float = 0.95, *, target: int = 0) -> CoefficientTable:
        """Every coefficient with standard error, t, p and confidence interval.

        They hold for independent normal errors of equal variance, or in large samples for independent errors of any
        variance with covariance "HC0" to "HC3" (t of `freedom_` degrees there too). p is the chance of so large a t if
        the coefficient were zero, each taken alone: among many columns some look important by chance.

        Args:
            confidence: of the intervals.
            target: which one, where there are several.
        """
        check_is_fitted(self)
        return self._tabled(target, confidence, freedom=self.freedom_, errors=self.covariance, notes=self.notes_)

    def summary(self, confidence: float = 0.95, *, target: int = 0) -> ModelSummary:
        """The fit in a few lines, and its table of coefficients: print it, or let a notebook show it.

        Args:
            confidence: of the intervals.
            target: which one, where there are several.
        """
        table, one = self.table(confidence, target=target), self._written(target)
        rows = self.freedom_ + self.rank_ + int(self.fit_intercept)
        measures = self._measured(target, _MEASURES)
        lines = [
            f"LeastSquares: {rows:g} rows, {self.freedom_:g} degrees of freedom, {self.covariance} errors",
            f"R squared {one('r_squared_')}, adjusted {one('adjusted_r_squared_')}; F {one('f_statistic_')} on "
            f"{self.rank_} and {self.freedom_:g}, p {one('f_p_', 3)}",
            f"log likelihood {one('log_likelihood_', 6)}, AIC {one('aic_', 6)}, BIC {one('bic_', 6)}; residual sd "
            f"{one('residual_sd_')}",
        ]
        order = "" if np.isnan(measures["durbin_watson"]) else f"Durbin-Watson {one('durbin_watson_')}; "
        lines.append(f"{order}condition number {self.condition_:.3g} of the columns about their means, at unit length")
        return ModelSummary(tuple(lines), {"rows": rows, "freedom": self.freedom_, **measures}, table)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictions, and their errors if asked for.

        Args:
            X: (n, d) rows.
            return_std: also give the standard deviation of prediction less truth for a new row: the error of the
                coefficients and that of the row itself. It is infinite where the rows fitted do not determine the
                prediction: columns that depended on each other there, and do not in this row. For errors of equal
                variance only.

        Returns:
            (n,) or (n, p) predictions; with return_std a pair of these.
        """
        if not return_std:
            return super().predict(X)
        check_is_fitted(self)
        if self.covariance != "classical":
            raise ParameterError(
                f"with covariance={self.covariance!r} every row has an error of its own size, and that of a new row is "
                "not known: predict without return_std, or with covariance='classical'"
            )
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

    def _needs_rows(self) -> str | None:
        return None if self.covariance == "classical" else f"covariance={self.covariance!r}"

    def _keep(
        self, found: LeastSquaresSolution, single: bool, rows: float, more: float, robust: Sandwich | None
    ) -> Self:
        """Keep what was found.

        Args:
            found: the solution.
            single: whether there is one target, not an array of them.
            rows: how many, as weights count.
            more: log likelihood that weights add.
            robust: what errors are made of where they have variances of their own.
        """
        fit, mean = found.fit, found.centre[: self.n_features_in_]
        self.n_samples_, self.weight_, self.route_ = found.count, found.weight, found.route
        self.rank_, self.condition_ = fit.rank, fit.condition
        self.undetermined_ = np.flatnonzero(fit.undetermined)
        self.freedom_ = rows - fit.rank - int(self.fit_intercept)
        self._keep_line(np.ascontiguousarray(fit.coef.T), found.intercept, single)
        self._keep_squares(found.squares, self.freedom_, single)
        self._mean, self._root, self._null = mean, fit.root, fit.null
        self._keep_errors(found, single, robust)
        self._keep_likelihood(found, single, rows, more, robust)
        self.notes_ = (*self._about_rank(), *self.notes_)
        return self

    def _keep_errors(self, found: LeastSquaresSolution, single: bool, robust: Sandwich | None) -> None:
        fit, mean = found.fit, self._mean
        # from the coordinates of the columns about their mean to the value at zero
        at_zero = np.append(found.weight**-0.5, -(mean @ fit.root))
        sd = np.atleast_1d(self.residual_sd_)
        if robust is None:
            errors = np.multiply.outer(sd, np.linalg.norm(fit.root, axis=1))
            own = sd * float(np.linalg.norm(at_zero))
        else:
            inside = robust.middle[:, int(self.fit_intercept) :, int(self.fit_intercept) :]
            variances = [np.einsum("ij,ij->i", fit.root @ M, fit.root) for M in inside]
            errors = np.sqrt(np.maximum(np.stack(variances), 0.0))
            own = np.sqrt([at_zero @ M @ at_zero for M in robust.middle]) if self.fit_intercept else np.zeros(len(sd))
        errors[:, fit.undetermined] = np.inf
        if not self.fit_intercept:
            own = np.zeros(len(sd))
        elif fit.null is None or not determined(mean[None], fit.null)[0]:
            own = np.full(len(sd), np.inf)
        self.coef_std_errors_ = errors[0] if single else errors
        self.intercept_std_error_ = float(own[0]) if single else own

    def _keep_likelihood(
        self, found: LeastSquaresSolution, single: bool, rows: float, more: float, robust: Sandwich | None
    ) -> None:
        """What is said of all coefficients together."""
        error, rank, freedom = found.squares.error, self.rank_, self.freedom_
        unknown = np.full(len(error), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood = -0.5 * rows * (np.log(2.0 * np.pi * error / rows) + 1.0) + more
            F = unknown if rank == 0 or freedom <= 0.0 else found.squares.explained / rank / (error / freedom)
        if robust is not None and np.isfinite(F).any():
            F = np.array([_wald(self._root, c, M) for c, M in zip(found.fit.coef.T, robust.middle, strict=True)]) / rank
        parameters = rank + int(self.fit_intercept)
        share = np.atleast_1d(self.r_squared_)
        values = {
            "adjusted_r_squared_": 1.0 - (1.0 - share) * (rows - int(self.fit_intercept)) / freedom
            if freedom > 0.0
            else unknown,
            "f_statistic_": F,
            "f_p_": np.asarray(fdtrc(rank, freedom, F)) if rank and freedom > 0.0 else unknown,
            "durbin_watson_": self._serial,
            "log_likelihood_": likelihood,
            "aic_": 2.0 * (parameters - likelihood),
            "bic_": parameters * np.log(rows) - 2.0 * likelihood,
        }
        for name, value in values.items():
            setattr(self, name, float(value[0]) if single else value)

    def _own_variances(self, table: RegressionTable, found: LeastSquaresSolution, rows: float) -> Sandwich | None:
        """What standard errors are made of where errors have variances of their own; None where they are equal."""
        freedom = rows - found.fit.rank - int(self.fit_intercept)
        if self.covariance == "classical" or freedom <= 0.0:
            return None
        precision = self.weights == "precision"
        made = sandwich(table, found, self.covariance, intercept=self.fit_intercept, precision=precision)
        if POWERS[self.covariance] and made.undefined:
            self.notes_ = (
                f"some row determines its own prediction (leverage 1), so that nothing is known about its error: "
                f"{self.covariance} standard errors are not defined; HC1 are, and count such a row as without error",
            )
            return Sandwich(np.full_like(made.middle, np.nan), made.leverage)
        return Sandwich(made.middle * (rows / freedom), made.leverage) if self.covariance == "HC1" else made

    def _check_options(self) -> None:
        kinds = ("classical", *POWERS)
        if self.covariance not in kinds:
            raise ParameterError(f"covariance is one of {', '.join(map(repr, kinds))}; got {self.covariance!r}")
        if self.weights not in ("frequency", "precision"):
            raise ParameterError(f"weights is 'frequency' or 'precision'; got {self.weights!r}")

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


def _durbin_watson(table: RegressionTable, found: LeastSquaresSolution, *, precision: bool) -> Array:
    """(p,) of each target; NaN where rows are not at hand in their order, each counting once.

    Args:
        table: the rows.
        found: their solution.
        precision: whether weights are precisions of rows, which scale what is left of each.
    """
    unknown = np.full(table.p, np.nan)
    once = table.weights is None or precision
    if not isinstance(table.data, np.ndarray) or not once or table.n < 2:
        return unknown
    left = table.targets - found.intercept - table.data @ found.fit.coef
    if table.weights is not None:
        left = left * np.sqrt(table.weights)[:, None]
    squares, steps = np.einsum("ij,ij->j", left, left), np.diff(left, axis=0)
    return np.asarray(np.divide(np.einsum("ij,ij->j", steps, steps), squares, out=unknown, where=squares > 0.0))


def _wald(root: Array, coef: Array, middle: Array) -> float:
    """Of (d,) coefficients: c^T M^-1 c in the coordinates in which M, without the intercept, is their covariance."""
    M = middle[middle.shape[0] - root.shape[1] :, middle.shape[0] - root.shape[1] :]
    c = np.linalg.lstsq(root, coef, rcond=None)[0]
    if not np.isfinite(M).all():
        return np.nan
    return float(c @ np.linalg.lstsq(M, c, rcond=None)[0])
