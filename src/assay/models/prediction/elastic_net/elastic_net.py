"""Elastic net and lasso: least squares with a penalty on the size of coefficients, which leaves most at zero.

objective  sum w (y - intercept - coef x)^2 / (2 sum w) + alpha (r |coef|_1 + (1 - r) / 2 |coef|^2)      r = l1_ratio
summary    A = scatter of x (d, d), B = of x and y (d, p)            per fold where alpha is chosen; one pass
           the rows, turned into n coordinates                       for d > n
solver     coordinate descent on A and B, active columns, from the solution of the penalty before (optimize.elastic_net)
held out   train = all - fold; the fold's summary alone gives its error for every alpha
law        slope_j = alpha r sign(coef_j) where coef_j is not zero, |slope_j| <= alpha r where it is; gap of the dual 0
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.held_out_folds import folds_of, refuse_empty_folds
from assay.errors import NotConverged, ParameterError
from assay.models.base import on_engine
from assay.models.coefficients import CoefficientTable
from assay.models.linear_regressor import Target, _LinearRegressor
from assay.models.model_summary import ModelSummary
from assay.models.prediction.elastic_net.path import NetProblem, NetTable, Penalties, net_table, net_table_of
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.regression.least_squares import intercept_at
from assay.summary.regression.regression import FoldErrors

_WARM = 12  # penalties on the way to a single one, from which rows of wide tables are solved


@dataclass(frozen=True, slots=True, eq=False)
class ElasticNetPath:
    """Solutions along a path of penalties.

    Attributes:
        alphas: (k,) descending.
        coef: (k, d), or (k, p, d) for p targets.
        intercept: (k,), or (k, p).
        n_selected: (k,) columns with a coefficient other than zero.
        duality_gap: (k,) by how much the objective is above its least, at most; the largest of the targets.
        held_out_error: (k,) mean squared error on rows that had no part in the fit; None where no folds were made.
        held_out_std_error: (k,) of that.
    """

    alphas: Array
    coef: Array
    intercept: Array
    n_selected: NDArray[np.intp]
    duality_gap: Array
    held_out_error: Array | None = None
    held_out_std_error: Array | None = None


class ElasticNet(_LinearRegressor):
    """Predict a number by few columns: which of them does it take?

    `ElasticNet(alpha, l1_ratio=1)` is the lasso. Names, penalties and answers are those of scikit-learn's `ElasticNet`,
    `Lasso`, `ElasticNetCV`, `LassoCV` and `enet_path`.

    Args:
        alpha: the penalty, above 0; or "held-out": the one of `alphas` whose predictions are best on rows that had no
            part in them.
        l1_ratio: share of the penalty that is on sizes, which sets coefficients to zero; the rest is on squares, which
            draws coefficients of columns that say the same together. From 0 (ridge) to 1 (lasso); or several, of which
            alpha="held-out" chooses too.
        alphas: (k,) penalties to choose from. Default: 100, from where all coefficients are zero to a thousandth of it.
        cv: how many random folds to choose by, or the (n,) fold of each row: groups, or stretches of time; or a
            splitter of scikit-learn's kind, or pairs of training and test rows, that test every row once. None is 5.
        fit_intercept: whether the plane may be shifted, without penalty; else it goes through zero.
        positive: whether no coefficient may be below zero.
        tol: duality gap at the end, in units of the mean square of the target, or of its mean product with what is
            fitted where a high penalty makes that less.
        max_iter: sweeps over the coefficients for each penalty; ending there warns (NotConverged).
        random_state: seed of the folds.

    Attributes:
        coef_: (d,), or (p, d) for p targets; most are exactly zero.
        intercept_: number, or (p,).
        alpha_: the penalty used.
        l1_ratio_: the share used.
        alphas_, held_out_errors_, held_out_std_errors_: (k,) each: penalties tried with that share, descending, mean
            squared errors on held-out rows (averaged over targets) and their standard errors, where alpha was chosen.
        selected_: columns with a coefficient other than zero, of any target.
        duality_gap_: by at most so much the objective is above its least; of several targets the largest.
        kkt_residual_: by at most so much the conditions of a minimum fail, in units of the slope.
        n_iter_: sweeps taken.
        converged_: whether the gap is at most tol.
        total_, explained_, error_: sums of squares of the targets about their mean, of what is fitted, and of what is
            left. Numbers, or (p,).
        r_squared_: 1 - error / total.
        residual_sd_: standard deviation of the errors, each coefficient that is not zero counted as one degree of
            freedom (Zou, Hastie & Tibshirani, Annals of Statistics 35, 2007).
        n_samples_, weight_: rows, and the sum of their weights.
        encoding_: how the columns of a source became numbers, where it was fitted on one.
        route_: the way taken: "moments", or "rows" for more columns than rows.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 3 * X[:, 4] - 2 * X[:, 7] + rng.standard_normal(100)
    >>> lasso = ElasticNet(0.5, l1_ratio=1).fit(X, y)
    >>> lasso.selected_, lasso.coef_[lasso.selected_].round(2)
    (array([4, 7]), array([ 2.62, -1.58]))
    >>> bool(lasso.duality_gap_ < 1e-9)
    True

    References: Tibshirani, J. Royal Statistical Society B 58, 1996; Zou and Hastie, the same 67, 2005; Friedman, Hastie
    & Tibshirani, J. Statistical Software 33, 2010.
    """

    def __init__(
        self,
        alpha: float | Literal["held-out"] = 1.0,
        *,
        l1_ratio: float | ArrayLike = 0.5,
        alphas: ArrayLike | None = None,
        cv: Any = 5,
        fit_intercept: bool = True,
        positive: bool = False,
        tol: float = 1e-10,
        max_iter: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.alphas = alphas
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, engine: Any = None) -> Self:
        """Fit (n, d) rows, which are read once.

        Args:
            X: array, data frame, sparse matrix or `Source`, which is read block by block.
            y: (n,) or (n, p) targets, each solved for itself; where X is a source also the name of its target.
            sample_weight: (n,) not negative; weight 2 counts as the row twice.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        self._check_options()
        table = self._table(X, y, sample_weight)
        folds = None
        if self.alpha == "held-out":
            folds = folds_of(self.cv, table.n, table.given, self._seed(), "a number for alpha")
            refuse_empty_folds(folds, table.weights)
        return self._solve(net_table(table, intercept=self.fit_intercept, folds=folds), table.single)

    def fit_moments(self, moments: Moments | GroupedMoments, target: Target) -> Self:
        """Fit from a summary of columns and target together, however gathered: a file, a cluster, three hospitals.

        Args:
            moments: of the columns and the target. alpha="held-out" takes the groups of `GroupedMoments` as folds.
            target: name or number of the column to be predicted, or several of them.
        """
        self._check_options()
        grouped, d, single = self._summary(moments, target)
        if self.alpha == "held-out" and len(grouped) < 2:
            raise ParameterError(
                "alpha='held-out' needs folds: give GroupedMoments of at least two, as in GroupedMoments.folds, or a "
                "number for alpha"
            )
        return self._solve(net_table_of(grouped, d, intercept=self.fit_intercept), single)

    def path(self, alphas: ArrayLike | None = None) -> ElasticNetPath:
        """Solutions for many penalties, each begun at the one before, from the summary made in `fit`.

        Args:
            alphas: (k,) penalties, taken from the largest down. Default: those tried where alpha was chosen, with their
                held-out errors, and else the default grid.
        """
        check_is_fitted(self)
        problem = NetProblem(self._products, self._inner, self._squares, self._centre, self.route_ == "rows")
        tried = getattr(self, "alphas_", None)
        if alphas is not None:
            asked = _checked_alphas(alphas)
        else:
            asked = self._grid(problem, self.l1_ratio_) if tried is None else tried
        found = problem.path(self._penalties(asked, self.l1_ratio_))
        coef = np.stack([each.coef for each in found], axis=1)
        d, single, known = coef.shape[2], self.coef_.ndim == 1, tried is not None and alphas is None
        intercept = self._centre[d:] - coef @ self._centre[:d]
        return ElasticNetPath(
            asked,
            coef[:, 0] if single else coef,
            intercept[:, 0] if single else intercept,
            np.count_nonzero(coef.any(axis=1), axis=1),
            np.max([each.gap for each in found], axis=0),
            self.held_out_errors_ if known else None,
            self.held_out_std_errors_ if known else None,
        )

    def table(self, confidence: float = 0.95, *, target: int = 0) -> CoefficientTable:
        """The coefficients, without standard errors: which columns are in was decided by the rows themselves.

        Args:
            confidence: for the form of other regressions; there are no intervals.
            target: which one, where there are several.
        """
        check_is_fitted(self)
        why = (
            f"penalised (alpha {self.alpha_:.4g}): the same rows chose the columns and drew their coefficients towards "
            "zero, so there is no standard error, p or interval; LeastSquares on rows that had no part in it has them"
        )
        return self._tabled(target, confidence, penalised=True, notes=(why,))

    def summary(self, *, target: int = 0) -> ModelSummary:
        """The fit in a few lines, and its table of coefficients: print it, or let a notebook show it.

        Args:
            target: which one, where there are several.
        """
        table, one = self.table(target=target), self._written(target)
        lines = (
            f"ElasticNet: {self.weight_:g} rows, alpha {self.alpha_:.4g}, l1_ratio {self.l1_ratio_:g}, "
            f"{len(self.selected_)} of {self.n_features_in_} columns",
            f"R squared {one('r_squared_')}; residual sd {one('residual_sd_')}",
        )
        known = self._measured(target, ("alpha_", "l1_ratio_", "r_squared_", "residual_sd_"))
        return ModelSummary(lines, {"rows": self.weight_, **known, "columns": float(len(self.selected_))}, table)

    def _solve(self, rows: NetTable, single: bool) -> Self:
        problem = rows.problem
        self.route_, self.n_samples_, self.weight_ = rows.route, rows.count, rows.weight
        self._products, self._inner = problem.products, problem.inner
        self._squares, self._centre = problem.squares, problem.centre
        alphas, judged, all_solved = self._chosen(rows)
        found = problem.path(self._penalties(alphas, self.l1_ratio_))
        coef = np.stack([each.coef[-1] for each in found])
        self.selected_ = np.flatnonzero(coef.any(axis=0))
        self.duality_gap_ = float(max(each.gap[-1] for each in found))
        self.kkt_residual_ = float(max(each.violation[-1] for each in found))
        self.n_iter_ = int(max(each.sweeps[-1] for each in found))
        self.converged_ = all(bool(each.converged[-1]) for each in found)
        used = np.count_nonzero(coef, axis=1)
        self._keep_line(coef, intercept_at(coef, problem.centre), single)
        self._keep_squares(rows.squares(coef), rows.weight - int(self.fit_intercept) - used, single)
        if judged is not None:
            self.held_out_errors_, self.held_out_std_errors_ = judged.error, judged.std_error
        if not self.converged_:
            warnings.warn(
                f"ElasticNet stopped after {self.n_iter_} sweeps with a duality gap of {self.duality_gap_:.2g}, "
                f"allowed was tol={self.tol:g} of what is fitted: raise max_iter or tol",
                NotConverged,
                stacklevel=4,
            )
        elif not all_solved:
            warnings.warn(
                f"ElasticNet chose alpha by fits of which some stopped after max_iter={self.max_iter} sweeps with a "
                f"duality gap above tol={self.tol:g}: raise max_iter or tol",
                NotConverged,
                stacklevel=4,
            )
        return self

    def _chosen(self, rows: NetTable) -> tuple[Array, FoldErrors | None, bool]:
        """Penalties up to the one used, how those tried do on held-out rows, and whether all of those were solved."""
        for name in ("alphas_", "held_out_errors_", "held_out_std_errors_"):
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        ratios = np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64)).tolist()
        if self.alpha != "held-out":
            self.alpha_, self.l1_ratio_ = float(self.alpha), ratios[0]
            top = rows.problem.steepest(self.positive) / max(self.l1_ratio_, 1e-3)
            if rows.problem.wide and top > self.alpha_:
                return np.geomspace(top, self.alpha_, _WARM), None, True
            return np.array([self.alpha_]), None, True
        given = None if self.alphas is None else _checked_alphas(self.alphas)
        tried = [(ratio, self._grid(rows.problem, ratio) if given is None else given) for ratio in ratios]
        judged = [rows.judged(self._penalties(alphas, ratio)) for ratio, alphas in tried]
        chosen = int(np.argmin([found.error.min() for found, _ in judged]))
        self.l1_ratio_, self.alphas_ = tried[chosen]
        best = int(np.argmin(judged[chosen][0].error))  # of equal errors the largest penalty
        self.alpha_ = float(self.alphas_[best])
        return self.alphas_[: best + 1], judged[chosen][0], all(solved for _, solved in judged)

    def _grid(self, problem: NetProblem, ratio: float) -> Array:
        if ratio == 0.0:
            raise ParameterError("with l1_ratio=0 no penalty sets all coefficients to zero, to begin at: give alphas")
        top = problem.steepest(self.positive) / ratio
        return np.geomspace(top, 1e-3 * top, 100) if top > 0.0 else np.array([1.0])

    def _penalties(self, alphas: Array, ratio: float) -> Penalties:
        return Penalties(alphas, ratio, bool(self.positive), float(self.tol), int(self.max_iter))

    def _check_options(self) -> None:
        if self.alpha != "held-out":
            if not _is_number(self.alpha) or not 0.0 < float(self.alpha) < np.inf:
                raise ParameterError(
                    f"alpha is a number above 0, or 'held-out'; got {self.alpha!r}. LeastSquares has no penalty"
                )
        elif self.alphas is not None:
            _checked_alphas(self.alphas)
        several = not _is_number(self.l1_ratio) and isinstance(self.l1_ratio, list | tuple | np.ndarray)
        ratios: Any = self.l1_ratio if several else [self.l1_ratio]
        if len(ratios) == 0 or not all(_is_number(ratio) and 0.0 <= ratio <= 1.0 for ratio in ratios):
            raise ParameterError(f"l1_ratio is a share from 0 to 1; got {self.l1_ratio!r}")
        if len(ratios) > 1 and self.alpha != "held-out":
            raise ParameterError(f"one of several l1_ratio is chosen with alpha='held-out'; got alpha={self.alpha!r}")
        if not _is_number(self.tol) or not 0.0 < self.tol < np.inf:
            raise ParameterError(f"tol is a positive number; got {self.tol!r}")
        if isinstance(self.max_iter, bool) or not isinstance(self.max_iter, int | np.integer) or self.max_iter < 1:
            raise ParameterError(f"max_iter is a whole number from 1 on; got {self.max_iter!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks lower the penalty of a model with one, as 1 leaves no column of theirs, but not where
        # there are also penalties to choose from
        tags.regressor_tags.poor_score = self.alpha != "held-out"
        return tags


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _checked_alphas(alphas: Any) -> Array:
    """Penalties, descending."""
    try:
        values = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.array([])
    if values.ndim != 1 or not values.size or not ((values > 0.0) & (values < np.inf)).all():
        raise ParameterError(f"alphas are numbers above 0, (k,); got {alphas!r}")
    return np.sort(values)[::-1].copy()
