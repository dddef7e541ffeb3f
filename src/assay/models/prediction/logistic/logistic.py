"""Logistic regression: the chance of each class from linear scores.

model     log p_j(x) - log p_l(x) = (w_j - w_l) . x + b_j - b_l           X (n, d), W (g, d)
maximise  sum_i v_i log p_class(i)(x_i) - penalty / 2 |W|^2                v weights of rows
two       classes: one vector w, p_1 = 1 / (1 + exp(-w . x - b)), |W| = |w|
more      the symmetric form; coefficients and intercepts sum to zero over classes
summary   loss (1), gradient (k, d + 1), curvature (k (d + 1), k (d + 1)), k = g - 1: one pass for each step
solver    Newton's method (IRLS), L-BFGS, or gradient ascent                (ridged_loss.py)
errors    of each class against a base, from the inverse curvature at the unpenalised maximum   (inference.py)
law       gradient zero; without a penalty a maximum exists only where no direction separates the classes
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.special import log_expit, log_softmax
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from assay.arrays import Array, Indices
from assay.data.blocks import all_rows, float_blocks
from assay.data.codes import short
from assay.data.partitions import beside
from assay.data.source import Source
from assay.engine.current import is_elsewhere, mapped_blocks, scattered
from assay.errors import NotConverged, ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.models.base import on_engine
from assay.models.coefficients import CoefficientTable, checked_confidence
from assay.models.model_summary import ModelSummary
from assay.models.prediction.logistic.held_out import class_folds, judge, usual
from assay.models.prediction.logistic.inference import (
    class_covariance,
    coefficients,
    duality_gap,
    likelihood_tests,
    null_log_likelihood,
    separating_parts,
    standard_errors,
    start_at,
    summary_of,
    table_of,
)
from assay.models.prediction.logistic.rows import Blocks, LogisticRows, blocks_of, row_weights
from assay.models.prediction.logistic.solve import SOLVERS, LogisticSolution, solve
from assay.models.supervised import _Classifier
from assay.models.transformer import in_precision_of_rows
from assay.shown import a_few

# what is not finite is found on fit, which says where
_CHECKS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": False,
}
_HELD = 1 << 27  # numbers of a source that are read once and held: 1 GB


class Logistic(_Classifier):
    """How likely is each class, and which columns speak for it?

    Args:
        penalty: factor lambda of the ridge in  sum of losses + lambda / 2 (sum of squared coefficients), so that it
            weighs less the more rows there are; scikit-learn's C is 1 / penalty. 0 for the plain maximum of the
            likelihood. "held-out": the one of `penalties` whose chances are best, by the log loss, on rows that had no
            part in them. Intercepts are not penalised.
        solver: "newton" (iteratively reweighted least squares); "lbfgs"; "gradient", plain ascent along the gradient
            with a line search, to see how slow it is; "auto" takes Newton's method up to 1,000 parameters, 400 where
            there are more than 8 classes, and beyond L-BFGS, or for penalised sparse rows Newton's method from products
            with the curvature, which is never made ("newton-cg" in `route_`).
        fit_intercept: whether scores have a constant part.
        tol: largest entry of the gradient at the end, for each unit of weight and with columns in units of their
            spread.
        max_iter: most steps; None for 100 (newton, newton-cg), 10,000 (lbfgs) or 20,000 (gradient). Ending there warns
            (NotConverged).
        class_weight: None, "balanced" (n / (g n_j) for class j), or weights by class; they multiply those of rows.
        warm_start: begin the next fit at the coefficients of the last one, where it had the same columns and classes.
        penalties: (k,) to choose from. Default: 19, from a millionth to a thousand times the most curvature that a
            column can have on average, its sum of squares over four.
        cv: how many random folds to choose by, each class spread evenly over them; or the (n,) fold of each row, a
            splitter of scikit-learn's kind, or pairs of training and test rows, that test every row once. None is 5.
        random_state: seed of the folds.

    Attributes:
        classes_: (g,) sorted.
        coef_: (1, d) for two classes, speaking for the second; (g, d), summing to zero over classes, for more. Where
            columns depend on each other and penalty is 0, the shortest of all that are as good.
        intercept_: (1,) or (g,).
        coef_std_errors_: of `coef_`, of its shape: from the inverse curvature of the objective. NaN where classes are
            separated; None beyond 2,000 parameters, but for solver "newton". `table()` has those of each class against
            another, with z, p and intervals.
        intercept_std_error_: of `intercept_`.
        log_likelihood_: of the rows, weights included, without the penalty.
        null_log_likelihood_: of the shares of the classes alone (equal ones without an intercept).
        pseudo_r_squared_: 1 - `log_likelihood_` / `null_log_likelihood_` (McFadden).
        likelihood_ratio_, likelihood_ratio_p_: twice the difference of the two, and the chance of one as large if no
            column spoke for any class. NaN with a penalty and where classes are separated.
        aic_, bic_: minus twice the log likelihood plus 2, or log n, for each parameter. NaN with a penalty and where
            classes are separated: they are of the maximum likelihood.
        penalty_: the penalty used.
        penalties_, held_out_losses_, held_out_std_errors_: (k,) each: penalties tried, descending, mean log losses on
            held-out rows, weights included, and their standard errors, where the penalty was chosen.
        n_samples_, weight_: rows, and the sum of their weights.
        objective_: minus `log_likelihood_`, plus the penalty.
        objective_path_: (`n_iter_` + 1,) the objective on the way; it never rises but by rounding.
        gradient_norm_: largest entry of the gradient, as for tol.
        duality_gap_: by at most so much the objective is above the least, to second order in what intercepts lack;
            None without a penalty, or beyond 2,000 parameters.
        separated_: True where a direction separates classes (warned of if penalty is 0, since then no maximum
            exists), False where none does, None where that was not looked into.
        separating_columns_: columns with a part in that direction; None where `separated_` is not True.
        rank_: independent columns; None with a penalty, which does not ask.
        n_iter_: steps taken.
        converged_: whether tol was met at a maximum that exists.
        route_: which solver, from where, and in which coordinates.
        target_: name of the column predicted, where fitted on a source.
        encoding_: how the columns of a source became numbers, where it was fitted on one.

    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> model = Logistic(penalty=0).fit(X, ["no", "no", "yes", "no", "yes", "yes"])
    >>> model.predict([[0.5], [4.5]]).tolist(), model.predict_proba([[2.5]]).round(3).tolist()
    (['no', 'yes'], [[0.5, 0.5]])

    References:
        McCullagh and Nelder, Generalized linear models, 1989; Albert and Anderson, On the existence of maximum
        likelihood estimates in logistic regression models, Biometrika 71, 1984.
    """

    def __init__(
        self,
        penalty: float | Literal["held-out"] = 1.0,
        *,
        solver: Literal["auto", "newton", "lbfgs", "gradient"] = "auto",
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_iter: int | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        penalties: ArrayLike | None = None,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.penalty = penalty
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.penalties = penalties
        self.cv = cv
        self.random_state = random_state

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, engine: Any = None) -> Self:
        """Find the most likely coefficients.

        Args:
            X: (n, d) array, data frame, sparse matrix or `Source`. A source of more than 1 GB of numbers is read once
                for each pass instead of being held.
            y: (n,) classes; for a source the name of the column that holds them, or None for the one in the role
                "target".
            sample_weight: (n,) weights of rows, not negative: a row of weight 2 counts as two rows.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        self._check_options()
        last = (self.classes_, self.coef_, self.intercept_) if self.warm_start and hasattr(self, "coef_") else None
        data, codes = self._rows_and_classes(X, y)
        weights, unit = row_weights(sample_weight, self.class_weight, codes, self.classes_)
        names = tuple(map(str, self.feature_names_in_)) if hasattr(self, "feature_names_in_") else None
        with one_blas_thread():
            penalty = self._chosen_penalty(data, codes, weights, unit, names)
            rows = LogisticRows.of(
                self._blocks(data, codes, weights),
                codes,
                weights,
                len(self.classes_),
                intercept=bool(self.fit_intercept),
                penalty=penalty,
                names=names,
            )
            found = solve(
                rows,
                penalty,
                solver=self.solver,
                tol=self.tol,
                max_iter=self.max_iter,
                in_memory=isinstance(data, np.ndarray),
                sparse=issparse(data),
                start=self._last(last, rows),
            )
            self._keep(rows, found, penalty, unit)
        return self

    @in_precision_of_rows
    def decision_function(self, X: Any) -> Array:
        """Scores of (m, d) rows: (m,) log odds of the second of two classes, or (m, g) for more."""
        return self._decisions(X)

    def _decisions(self, X: Any) -> Array:
        check_is_fitted(self)
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the chances of each class: (m, g)."""
        scores = self._decisions(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return np.asarray(log_softmax(scores, axis=1))

    def predict_proba(self, X: Any) -> Array:
        """Chances of each class: (m, g); in float64 always, since float32 would make 1 of 1 - 1e-8."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely class of each row: (m,)."""
        scores = self._decisions(X)
        chosen = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def table(self, confidence: float = 0.95, *, base: Any = None) -> CoefficientTable:
        """Every coefficient with standard error, z, p and confidence interval, of each class against one of them.

        The statistics are of the plain maximum of the likelihood, penalty=0. With a penalty there are estimates and
        standard errors only, and a note: coefficients are drawn towards zero, which no p or interval knows of.

        Args:
            confidence: of the intervals, between 0 and 1.
            base: the class that every other is compared with; None: the first. A coefficient is what one unit of its
                column adds to the log odds of its class against that one.
        """
        check_is_fitted(self)
        return table_of(self, checked_confidence(confidence), base)

    def summary(self, confidence: float = 0.95, *, base: Any = None) -> ModelSummary:
        """The fit in a few lines, and its table of coefficients: print it, or let a notebook show it.

        Args:
            confidence: of the intervals.
            base: as for `table`.
        """
        check_is_fitted(self)
        return summary_of(self, checked_confidence(confidence), base)

    def _keep(self, rows: LogisticRows, found: LogisticSolution, penalty: float, unit: float) -> None:
        optimum = found.optimum
        self.coef_, self.intercept_ = coefficients(rows, found)
        self.penalty_, self.n_samples_, self.weight_ = penalty * unit, rows.n, rows.total * unit
        without_maximum = penalty == 0.0 and found.separated is True
        covariance = class_covariance(rows, found, penalty)
        self.coef_std_errors_, self.intercept_std_error_, self._class_covariance = None, None, None
        if covariance is not None:
            self._class_covariance = covariance * (np.nan if without_maximum else 1.0 / unit)
            self.coef_std_errors_, self.intercept_std_error_ = standard_errors(rows, self._class_covariance)
        self.log_likelihood_, self.null_log_likelihood_ = -optimum.loss * unit, null_log_likelihood(rows) * unit
        self.objective_, self.objective_path_ = optimum.objective * unit, optimum.path * unit
        self.gradient_norm_ = float(np.abs(optimum.gradient).max(initial=0.0)) / rows.total
        gap = duality_gap(found)
        self.duality_gap_ = None if gap is None else gap * unit
        self.separated_, self.rank_ = found.separated, found.reduced.rank
        columns, apart = separating_parts(rows, found)
        self.separating_columns_ = columns if found.separated else None
        for name, value in likelihood_tests(self).items():
            setattr(self, name, value)
        self.n_iter_, self.route_ = optimum.iterations, found.route
        self.converged_ = optimum.converged and not without_maximum
        if without_maximum:
            self._warn_of_separation(columns, apart)
        elif not optimum.converged:
            warnings.warn(
                f"Logistic stopped after {self.n_iter_} steps of {self.route_.split(',')[0]} with a gradient of "
                f"{self.gradient_norm_:.2g}, allowed was tol={self.tol:g}: raise max_iter or tol",
                NotConverged,
                stacklevel=4,
            )

    def _last(self, last: tuple[NDArray[Any], Array, Array] | None, rows: LogisticRows) -> Array | None:
        """Where the last fit ended, in the coordinates of the rows; None where it was of something else."""
        if last is None or not np.array_equal(last[0], self.classes_) or last[1].shape[1] != self.n_features_in_:
            return None
        start = start_at(rows, *last[1:])
        return start if np.isfinite(start).all() else None

    def _warn_of_separation(self, columns: NDArray[np.intp], apart: NDArray[np.intp]) -> None:
        names = [self._label(int(j)) for j in columns[:5]] + (["..."] if len(columns) > 5 else [])
        classes = a_few(map(repr, self.classes_[apart].tolist()))
        warnings.warn(
            f"the classes are separated: a direction in {', '.join(names)} has no row on the wrong side and sets rows "
            f"of class {classes} apart, so the likelihood rises along it for ever and has no maximum. The coefficients "
            "are those where the search ended, without standard errors; set penalty above 0, or leave columns out",
            NotConverged,
            stacklevel=5,
        )

    def _label(self, column: int) -> str:
        known = getattr(self, "feature_names_in_", None)
        return f"column {column}" if known is None else f"{known[column]!r}"

    def _rows_and_classes(self, X: Any, y: Any) -> tuple[Any, Indices]:
        """Rows, in an array, sparse or to be read in blocks, and the class of each."""
        X, y = self._taken_apart(X, y)
        if not isinstance(X, Source):
            rows = self._checked(X, reset=True, **_CHECKS)
            return rows, self._class_numbers(y, rows.shape[0])
        numbers = self._as_numbers(X, reset=True)
        d = len(numbers.numeric_columns)
        codes, blocks = self._class_numbers(y, len(y)), float_blocks(numbers)
        if d * len(y) > _HELD or is_elsewhere(blocks):
            return blocks, codes
        rows = all_rows(numbers)
        check_consistent_length(rows, codes)
        return rows, codes

    def _blocks(self, data: Any, codes: Indices, weights: Array | None) -> Blocks:
        """Blocks with classes and weights beside; workers keep theirs between passes."""
        if isinstance(data, np.ndarray) or issparse(data):
            return blocks_of(data, codes, weights)
        kept: Blocks = scattered(beside(data, short(codes, len(self.classes_)), weights))
        return kept

    def _chosen_penalty(
        self, data: Any, codes: Indices, weights: Array | None, unit: float, names: tuple[str, ...] | None
    ) -> float:
        """The penalty in proportion to the weights, chosen where it is to be."""
        for name in ("penalties_", "held_out_losses_", "held_out_std_errors_"):
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        if self.penalty != "held-out":
            return float(self.penalty) / unit
        held = isinstance(data, np.ndarray) or issparse(data)
        intercept = bool(self.fit_intercept)

        def part_of(inside: NDArray[np.bool_]) -> tuple[Blocks, Indices, Array | None]:
            if held:
                own, w = codes[inside], None if weights is None else weights[inside]
                return blocks_of(data[inside], own, w), own, w
            w = inside.astype(np.float64) if weights is None else inside * weights
            return beside(data, short(codes, len(self.classes_)), w), codes, w

        if self.penalties is None:
            blocks = part_of(np.ones(len(codes), dtype=bool))[0]
            penalties = usual(blocks, intercept=intercept, names=names)
        else:
            penalties = _checked_penalties(self.penalties) / unit
        judged = judge(
            part_of,
            class_folds(self.cv, codes, self._seed()),
            self.classes_,
            penalties,
            intercept=intercept,
            names=names,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            in_memory=isinstance(data, np.ndarray),
        )
        self.penalties_ = judged.penalties * unit
        self.held_out_losses_, self.held_out_std_errors_ = judged.loss, judged.std_error
        return judged.best

    def _scores(self, X: Any) -> Array:
        """(m, k) linear scores of rows; a source is read in blocks."""
        if not isinstance(X, Source):
            rows = self._checked(X, reset=False, **_CHECKS | {"ensure_all_finite": True})
            return np.asarray(rows @ self.coef_.T + self.intercept_)
        numbers = self._as_numbers(X, reset=False)
        coef, intercept = self.coef_, self.intercept_
        return np.concatenate(mapped_blocks(float_blocks(numbers), lambda part: part[1] @ coef.T + intercept))

    def _check_options(self) -> None:
        if self.penalty == "held-out":
            if self.penalties is not None:
                _checked_penalties(self.penalties)
        elif not (_is_number(self.penalty) and 0.0 <= self.penalty < np.inf):
            raise ParameterError(f"penalty is 0, a positive number or 'held-out'; got {self.penalty!r}")
        if self.solver not in SOLVERS:
            raise ParameterError(f"solver is one of {', '.join(map(repr, SOLVERS))}; got {self.solver!r}")
        if not (_is_number(self.tol) and 0.0 < self.tol < np.inf):
            raise ParameterError(f"tol is a positive number; got {self.tol!r}")
        whole = isinstance(self.max_iter, int | np.integer) and not isinstance(self.max_iter, bool)
        if self.max_iter is not None and not (whole and self.max_iter >= 1):
            raise ParameterError(f"max_iter is None or a whole number from 1 on; got {self.max_iter!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _checked_penalties(penalties: Any) -> Array:
    """Penalties, descending."""
    try:
        values = np.atleast_1d(np.asarray(penalties, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.array([])
    if values.ndim != 1 or not values.size or not ((values > 0.0) & (values < np.inf)).all():
        raise ParameterError(f"penalties are numbers above 0, (k,); got {penalties!r}")
    return np.sort(values)[::-1].copy()
