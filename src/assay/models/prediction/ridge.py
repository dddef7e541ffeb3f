"""Ridge regression: least squares with a penalty on long coefficients, for every penalty at once.

objective  sum w (y - intercept - coef x)^2 + alpha |coef|^2            the intercept costs nothing
summary    A = scatter of x (d, d), B = of x and y (d, p)               per fold where alpha is chosen
solver     A = V diag(l) V^T, coef(alpha) = V diag(1/(l + alpha)) V^T B route "moments": one decomposition, all alphas
           singular values of the triangle of the rows                  route "qr", where A would lose digits
           X X^T = U diag(l) U^T (n, n), coef = X^T U diag(1/(l + alpha)) U^T y     route "dual", for d > n
           conjugate gradients on the rows about their mean             route "products", for large sparse tables
held out   train = all - fold; the fold's summary alone gives its error for every alpha
reading    total = explained + error + 2 alpha |coef|^2
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.held_out_folds import folds_of, refuse_empty_folds
from assay.errors import NotConverged, ParameterError
from assay.linalg.regression.ridge_path import RidgeSpectrum, usual_penalties
from assay.models.base import on_engine
from assay.models.coefficients import CoefficientTable
from assay.models.incremental import _TargetsInParts
from assay.models.linear_regressor import Target, _LinearRegressor
from assay.models.model_summary import ModelSummary
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.regression.least_squares import intercept_at
from assay.summary.regression.regression import RegressionTable
from assay.summary.regression.ridge import RidgeSolutions, ridge, ridge_of
from assay.summary.regression.sparse_ridge import LargeRidge, large_ridge, refuse_large, takes_products


@dataclass(frozen=True, slots=True, eq=False)
class RidgePath:
    """Ridge solutions along a path of penalties.

    Attributes:
        alphas: (k,).
        coef: (k, d), or (k, p, d) for p targets.
        intercept: (k,), or (k, p).
        degrees: (k,) effective degrees of freedom, from d or the number of rows down to 0; without the intercept.
        held_out_error: (k,) mean squared error on rows that had no part in the fit; None where no folds were made.
        held_out_std_error: (k,) of that.
    """

    alphas: Array
    coef: Array
    intercept: Array
    degrees: Array
    held_out_error: Array | None = None
    held_out_std_error: Array | None = None


class Ridge(_TargetsInParts, _LinearRegressor):
    """Predict a number by a plane whose coefficients are kept short.

    Args:
        alpha: penalty of the squared length of the coefficients, at least 0; (p,) for p targets; or "held-out":
            the one of `alphas` whose predictions are best on rows that had no part in them.
        alphas: (k,) penalties to choose from. Default: 50, from a millionth to a thousand times the mean variance of a
            column times the number of rows.
        cv: how many random folds to choose by, or the (n,) fold of each row: groups, or stretches of time; or a
            splitter of scikit-learn's kind, or pairs of training and test rows, that test every row once. None is 5.
        fit_intercept: whether the plane may be shifted, without penalty; else it goes through zero.
        random_state: seed of the folds.

    Attributes:
        coef_: (d,), or (p, d) for p targets.
        intercept_: number, or (p,).
        alpha_: the penalty used; (p,) where there is one for each target.
        alphas_, held_out_errors_, held_out_std_errors_: (k,) each: penalties tried, mean squared errors on unseen rows
            (averaged over targets) and their standard errors, where alpha was chosen.
        effective_degrees_: sum of l / (l + alpha): how many coefficients it is worth; (p,) as `alpha_`.
        coef_std_errors_: (d,) or (p, d), how far coefficients would vary with the rows. That they are drawn towards
            zero is not counted, so that `table()` has no p and no intervals for a penalty above 0.
        intercept_std_error_: number, or (p,).
        total_, explained_, error_: sums of squares of the targets about their mean, of what is fitted, and of what is
            left: total = explained + error + 2 alpha times the squared length of the coefficients. Numbers, or (p,).
        r_squared_: 1 - error / total.
        residual_sd_: standard deviation of the errors.
        eigenvalues_: (r,) of the scatter of the columns, l above.
        condition_: ((l_1 + alpha) / (l_r + alpha))^1/2 at the least alpha used; the digits lost are about those of it
            by "qr", of its square by "moments" and "dual".
        n_samples_, weight_: rows, and the sum of their weights.
        encoding_: how the columns of a source became numbers, where it was fitted on one.
        summary_: moments of all rows so far, after `partial_fit`.
        route_: the way taken: "moments", "qr" or "dual"; "products" for a large sparse table and one alpha, which is
            never made dense: there `eigenvalues_` is empty, and degrees, condition, deviation and errors are NaN.
        gradient_: by "products", length of the gradient at the solution relative to that at zero, columns at like size:
            its certificate. None by other ways.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 30))
    >>> y = X @ rng.standard_normal(30) + 8 * rng.standard_normal(60)
    >>> chosen = Ridge("held-out").fit(X, y)
    >>> round(chosen.alpha_), round(chosen.effective_degrees_)
    (29, 17)
    >>> chosen.path([1.0, 100.0]).degrees.round(1)
    array([29. ,  9.7])

    Reference: Hoerl & Kennard, Technometrics 12, 1970; degrees of freedom: Hastie, Tibshirani & Friedman, The Elements
    of Statistical Learning, section 3.4.
    """

    alpha_: Any
    gradient_: float | None

    def __init__(
        self,
        alpha: float | ArrayLike | Literal["held-out"] = 1.0,
        *,
        alphas: ArrayLike | None = None,
        cv: Any = 5,
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.alphas = alphas
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, engine: Any = None) -> Self:
        """Fit (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`. A source is read block by block: once, and once more where
                the condition number asks for "qr".
            y: (n,) or (n, p) targets; where X is a source also the name of its target.
            sample_weight: (n,) not negative; weight 2 counts as the row twice.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        self._check_alphas()
        table = self._table(X, y, sample_weight)
        self._check_targets(table.p)
        if takes_products(table, self.alpha):
            penalty = float(np.asarray(self.alpha))
            return self._keep_products(large_ridge(table, penalty, intercept=self.fit_intercept), penalty, table)
        refuse_large(table, "Give a number above 0 for alpha, which takes products alone, or fewer columns by LSI.")
        folds = None
        if self._chosen:
            folds = folds_of(self.cv, table.n, table.given, self._seed(), "a number for alpha")
            refuse_empty_folds(folds, table.weights)
        return self._keep(ridge(table, self._penalties, intercept=self.fit_intercept, folds=folds), table.single)

    def fit_moments(self, moments: Moments | GroupedMoments, target: Target) -> Self:
        """Fit from a summary of columns and target together, however gathered: a file, a cluster, three hospitals.

        Args:
            moments: of the columns and the target. alpha="held-out" takes the groups of `GroupedMoments` as folds.
            target: name or number of the column to be predicted, or several of them.
        """
        self._check_alphas()
        grouped, d, single = self._summary(moments, target)
        self._check_targets(grouped.parts[0].d - d)
        held = self._chosen
        if held and len(grouped) < 2:
            raise ParameterError(
                "alpha='held-out' needs folds: give GroupedMoments of at least two, as in GroupedMoments.folds, or a "
                "number for alpha"
            )
        found = ridge_of(grouped, d, self._penalties, intercept=self.fit_intercept, judge=held)
        self._warn_of_lost_digits(found.condition)
        return self._keep(found, single)

    def path(self, alphas: ArrayLike | None = None) -> RidgePath:
        """Solutions for many penalties, from the decomposition made in `fit`.

        Args:
            alphas: (k,) penalties. Default: those tried where alpha was chosen, with their held-out errors, and else
                the default grid.
        """
        check_is_fitted(self)
        if self.route_ == "products":
            raise ParameterError(
                "a large sparse table was solved by products for one alpha, without the spectrum that other penalties "
                "are read from; fit one model for each"
            )
        tried = getattr(self, "alphas_", None)
        if alphas is None:
            asked = usual_penalties(float(self.eigenvalues_.sum()), self.n_features_in_) if tried is None else tried
        else:
            asked = _checked_alphas(alphas)
        coef = self._spectrum().coef(asked)
        d = coef.shape[2]
        intercept = self._centre[d:] - coef @ self._centre[:d]
        known = tried is not None and alphas is None
        return RidgePath(
            asked,
            coef[:, 0] if self.coef_.ndim == 1 else coef,
            intercept[:, 0] if self.coef_.ndim == 1 else intercept,
            self._spectrum().degrees(asked),
            self.held_out_errors_ if known else None,
            self.held_out_std_errors_ if known else None,
        )

    def table(self, confidence: float = 0.95, *, target: int = 0) -> CoefficientTable:
        """Every coefficient with its standard error; t, p and intervals only at a penalty of 0.

        A penalty draws coefficients towards zero, how much the rows do not say: an interval about them would miss the
        truth more often than it claims.

        Args:
            confidence: of the intervals.
            target: which one, where there are several.
        """
        check_is_fitted(self)
        alpha = float(np.ravel(self.alpha_)[target if np.ndim(self.alpha_) else 0])
        why = (
            f"penalised (alpha {alpha:.4g}): coefficients are drawn towards zero, by an amount that no standard error "
            "holds, so there is no p and no interval; LeastSquares has them"
        )
        freedom = float(np.ravel(self._freedom)[target if np.ndim(self._freedom) else 0])
        notes = (why,) if alpha > 0.0 else ()
        return self._tabled(target, confidence, freedom=freedom, penalised=alpha > 0.0, notes=notes)

    def summary(self, confidence: float = 0.95, *, target: int = 0) -> ModelSummary:
        """The fit in a few lines, and its table of coefficients: print it, or let a notebook show it.

        Args:
            confidence: of the intervals.
            target: which one, where there are several.
        """
        table, one = self.table(confidence, target=target), self._written(target)
        lines = (
            f"Ridge: {self.weight_:g} rows, alpha {one('alpha_')}, worth {one('effective_degrees_')} coefficients of "
            f"{self.n_features_in_}",
            f"R squared {one('r_squared_')}; residual sd {one('residual_sd_')}; condition number {self.condition_:.3g}",
        )
        names = ("alpha_", "effective_degrees_", "r_squared_", "residual_sd_", "condition_")
        return ModelSummary(lines, {"rows": self.weight_, **self._measured(target, names)}, table)

    def _needs_rows(self) -> str | None:
        return "alpha='held-out'" if self._chosen else None

    def _keep(self, found: RidgeSolutions, single: bool) -> Self:
        spectrum, whole = found.spectrum, found.whole
        self.gradient_ = None
        self._choose(found)
        each = np.atleast_1d(self.alpha_)
        coef = spectrum.coef(each)[0] if len(each) == 1 else (spectrum.axes @ spectrum.along_each(each)).T
        self.n_samples_, self.weight_ = found.count, whole.weight
        self.route_, self.condition_ = found.route, found.condition
        self.eigenvalues_ = spectrum.values
        self._axes, self._inner, self._flat, self._centre = spectrum.axes, spectrum.inner, spectrum.flat, whole.centre
        degrees = spectrum.degrees(each)
        self.effective_degrees_ = float(degrees[0]) if np.ndim(self.alpha_) == 0 else degrees
        # trace of (I - H)^2, H the matrix that makes fitted values of targets
        used = np.array([spectrum.parameters(float(alpha)) for alpha in each])
        self._freedom = np.broadcast_to(whole.weight - int(self.fit_intercept) - used, len(coef)).copy()
        self._keep_line(coef, intercept_at(coef, whole.centre), single)
        self._keep_squares(found.squares(coef), self._freedom, single)
        self._keep_errors(spectrum, each, single)
        return self

    def _keep_products(self, found: LargeRidge, penalty: float, table: RegressionTable) -> Self:
        """One solution without a spectrum: what needs one is not known."""
        for name in ("alphas_", "held_out_errors_", "held_out_std_errors_", "_axes", "_inner", "_flat"):
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        solution = found.solution
        self.alpha_ = penalty
        self.n_samples_, self.weight_, self.route_ = table.n, found.weight, "products"
        self.eigenvalues_, self.condition_, self.effective_degrees_ = np.empty(0), np.nan, np.nan
        self._centre = found.centre
        self._keep_line(solution.coef, intercept_at(solution.coef, found.centre), table.single)
        self._keep_squares(found.squares, np.nan, table.single)
        self.coef_std_errors_ = np.full_like(self.coef_, np.nan)
        self.intercept_std_error_ = np.nan if table.single else np.full(table.p, np.nan)
        self._freedom = np.full(table.p, np.nan)
        self.gradient_ = gradient = float(solution.residual.max())
        if not solution.converged:
            warnings.warn(
                f"after {solution.iterations} products the gradient is still {gradient:.1e} of that at zero: "
                "raise alpha, or bring the columns to similar sizes",
                NotConverged,
                stacklevel=3,
            )
        return self

    def _keep_errors(self, spectrum: RidgeSpectrum, each: Array, single: bool) -> None:
        sd, mean = np.atleast_1d(self.residual_sd_), self._centre[: len(spectrum.axes)]
        roots = [spectrum.root(float(alpha)) for alpha in each]
        errors = sd[:, None] * np.stack([np.linalg.norm(root, axis=1) for root in roots])
        at_zero = np.array([1.0 / self.weight_ + np.sum((mean @ root) ** 2) for root in roots])
        own = sd * np.sqrt(at_zero) if self.fit_intercept else np.zeros(len(sd))
        self.coef_std_errors_ = errors[0] if single else errors
        self.intercept_std_error_ = float(own[0]) if single else own

    def _choose(self, found: RidgeSolutions) -> None:
        for name in ("alphas_", "held_out_errors_", "held_out_std_errors_"):
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        alphas, judged = found.alphas, found.held_out
        if judged is None:
            self.alpha_ = float(alphas[0]) if len(alphas) == 1 else alphas
            return
        self.alphas_, self.held_out_errors_, self.held_out_std_errors_ = alphas, judged.error, judged.std_error
        # of equal errors the largest penalty: the shortest coefficients
        self.alpha_ = float(alphas[judged.error == judged.error.min()].max())

    def _spectrum(self) -> RidgeSpectrum:
        return RidgeSpectrum(self._axes, self.eigenvalues_, self._inner, np.ones_like(self.eigenvalues_), self._flat)

    def _penalties(self, values: Array, d: int) -> Array:
        if not self._chosen:
            return _checked_alphas(np.ravel(np.asarray(self.alpha, dtype=np.float64)))
        return usual_penalties(float(values.sum()), d) if self.alphas is None else _checked_alphas(self.alphas)

    @property
    def _chosen(self) -> bool:
        return isinstance(self.alpha, str) and self.alpha == "held-out"

    def _check_alphas(self) -> None:
        if self._chosen:
            if self.alphas is not None:
                _checked_alphas(self.alphas)
            return
        given = self.alpha
        number = isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)
        if not number and not isinstance(given, str) and np.ndim(given) == 1:
            _checked_alphas(given, "alpha")
        elif not number or not 0.0 <= float(given) < np.inf:  # type: ignore[arg-type]
            raise ParameterError(f"alpha is a number of at least 0, one for each target, or 'held-out'; got {given!r}")

    def _check_targets(self, p: int) -> None:
        """One penalty, or one for each target."""
        if not self._chosen and np.size(self.alpha) not in (1, p):
            raise ParameterError(
                f"alpha holds {np.size(self.alpha)} penalties and there are {p} targets: give one penalty, or one for "
                "each target"
            )


def _checked_alphas(alphas: Any, name: str = "alphas") -> Array:
    try:
        values = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.array([])
    if values.ndim != 1 or not values.size or not ((values >= 0.0) & (values < np.inf)).all():
        raise ParameterError(f"{name} are numbers of at least 0, (k,); got {alphas!r}")
    return values
