"""Filling in missing values, four ways; M (n, d) is 1 where X (n, d) is missing.

constant     x -> x (1 - M) + c M                                   c a number, or the mean of what is observed
conditional  x_j -> mu_j + S_jo (S_oo + (r_j - r) V_oo)^-1 (x_o - mu_o)     mu (d,), S (d, d) by EM with ridge r,
                                                                    summary.normal_em; V (d, d) the observed variances,
                                                                    r and the r_j (d,) by held_out_ridge; for r_j < r
                                                                    mu and S + r_j V by EM with ridge r_j
indicator    x -> (x (1 - M) + c M, M)                              for columns with gaps
pair         x -> (x, 1 - x) (1 - M)                                for columns in [0, 1]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import block_slices
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.spectral import eigen_symmetric
from assay.linalg.normal.multivariate_normal import MultivariateNormal
from assay.linalg.normal.shrinkage import rao_blackwell
from assay.models.base import Estimator, on_engine
from assay.models.missing.filling.held_out_ridge import LEAST, Ridges, held_out_ridges
from assay.models.transformer import Transformer
from assay.summary.incomplete.missing_patterns import Observed, refuse_infinite
from assay.summary.incomplete.normal_em import normal_em
from assay.summary.moments.moments import Moments

Strategy: TypeAlias = Literal["conditional", "constant", "indicator", "pair"]


class FillMissing(OneToOneFeatureMixin, Transformer, Estimator):
    """Fill in missing values (NaN), or say where they were: what would the row be, had all been observed?

    Args:
        strategy: "conditional": the most likely value given the others, under a normal law estimated by EM.
            "constant": one value for each column. "indicator": a constant, and beside each column that had gaps in
            fit a column "x missing" that is 1 where it was missing. "pair": each column x, within 0 and 1, becomes
            "x" and "not x" = 1 - x, both 0 where it was missing.
        value: what "constant" and "indicator" fill in: a number, or "mean" for the mean of the observed values.
        max_iter: EM steps at most.
        tol: log-likelihood for each row that EM may leave to be gained.
        ridge: added to variances, as a share of them, so that the fill does not follow chance where rows are few or
            columns depend; "auto" takes what fills held-out values of the table, and of each column, best, np.inf the
            mean of each column.

    Attributes:
        fill_: (d,) the constant of each column; the mean under "conditional", zero under "pair".
        n_missing_: (d,) missing values of each column in fit.
        n_wholly_missing_: rows without any value in fit. They have no influence, and "conditional" fills them with
            the mean.
        wholly_missing_: numbers (from 0) of the first 100 of these.
        ridge_: the ridge of the law, under "conditional"; infinite where other columns did not help.
        column_ridge_: (d,) the ridge that stands in its place where the column is filled in, under "conditional".
        lesser_ridge_: (m,) those below `ridge_` that have a law of their own, see `lesser_mean_`, under "conditional".
        lesser_mean_, lesser_covariance_: (m, d) and (m, d, d) of these laws, their ridge included.
        variance_: (d,) of the observed values, which ridges are shares of, under "conditional".
        mean_, covariance_: (d,) and (d, d) of the normal law, `ridge_` included, under "conditional".
        log_likelihood_: (k,) of the observed values in the course of EM, under "conditional".
        n_iter_, converged_: steps of EM, and whether they were enough, under "conditional".

    >>> X = np.array([[1.0, 2.0], [2.0, 4.1], [3.0, 5.9], [4.0, np.nan]])
    >>> FillMissing().fit_transform(X)[3].round(2)
    array([4. , 7.9])

    References:
        Little & Rubin, Statistical Analysis with Missing Data, 2019.
    """

    def __init__(
        self,
        strategy: Strategy = "conditional",
        *,
        value: float | str = 0.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        ridge: float | Literal["auto"] = "auto",
    ) -> None:
        self.strategy = strategy
        self.value = value
        self.max_iter = max_iter
        self.tol = tol
        self.ridge = ridge

    @on_engine
    def fit(self, X: Any, y: None = None, *, engine: Any = None) -> Self:
        """Learn from (n, d) rows what to fill in.

        Args:
            X: array, data frame or `Source`, with NaN where values are missing.
            y: not used.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        self._check_options()
        if isinstance(X, Source):
            X = self._as_numbers(X, reset=True)
        else:
            X = self._checked(X, reset=True, dtype=np.float64, ensure_all_finite=False)
        names = tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        if self.strategy == "conditional":
            return self._fit_normal(X, names)
        seen = Observed.of(X, columns=names)
        self._describe(seen.missing, seen.wholly_missing, seen.wholly_missing_rows)
        if self.strategy == "pair":
            _refuse_beyond_one(seen.low, seen.high, seen.label)
        if self.strategy != "pair" and self.value == "mean":
            seen.refuse_empty()
        self.fill_ = self._constants(seen.mean)
        self._refuse_taken_names()
        return self

    def fit_moments(self, moments: Moments) -> Self:
        """Fit from a summary of complete or completed rows; for "conditional" and "constant"."""
        self._check_options()
        if self.strategy not in ("conditional", "constant"):
            raise ParameterError(f"strategy {self.strategy!r} needs the rows: a summary does not tell what was missing")
        self._record_columns(moments.columns, moments.d)
        self._describe(np.zeros(moments.d, dtype=np.int64), 0, ())
        if self.strategy == "constant":
            self.fill_ = self._constants(moments.mean)
            return self
        S = moments.scatter / moments.weight
        ridge = _normal_ridge(S, moments.weight) if self.ridge == "auto" else float(self.ridge)
        self._keep_law(moments.mean, S, np.diag(S).copy(), Ridges.alike(ridge, moments.d))
        self.log_likelihood_, self.n_iter_, self.converged_ = np.empty(0), 0, True
        return self

    def transform(self, X: Any) -> Array:
        """Fill the gaps of (n, d) rows; "indicator" and "pair" add columns, see `get_feature_names_out`."""
        check_is_fitted(self)
        rows = self._checked(X, reset=False, dtype=np.float64, ensure_all_finite=False)
        refuse_infinite(rows, names=getattr(self, "feature_names_in_", None))
        if self.strategy == "conditional":
            return self._expected(rows)
        missing = np.isnan(rows)
        filled = np.where(missing, self.fill_, rows)
        if self.strategy == "constant":
            return filled
        if self.strategy == "pair":
            _refuse_beyond_one(np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0), self._label)
            return _beside(filled, np.where(missing, 0.0, 1.0 - rows), np.ones(rows.shape[1], dtype=bool))
        had_gaps = self.n_missing_ > 0
        new = np.argwhere(missing & ~had_gaps)
        if new.size:
            raise DataError(
                f"row {new[0, 0]}, {self._label(int(new[0, 1]))} is missing, but the column had no gaps in fit and so "
                "has no indicator: fit on rows where it is missing too, or use another strategy"
            )
        return _beside(filled, missing.astype(np.float64), had_gaps)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Names of the columns that `transform` gives: "x" and, beside it, "x missing" or "not x"."""
        check_is_fitted(self)
        names = super().get_feature_names_out(input_features)
        if self.strategy not in ("indicator", "pair"):
            return np.asarray(names, dtype=object)
        both = self.strategy == "pair"
        return np.asarray(
            [
                told
                for name, gaps in zip(names, self.n_missing_, strict=True)
                for told in ((name, f"not {name}") if both else (name, f"{name} missing") if gaps else (name,))
            ],
            dtype=object,
        )

    @property
    def normal_(self) -> MultivariateNormal:
        """The normal law of `mean_` and `covariance_`."""
        check_is_fitted(self, "covariance_")
        return MultivariateNormal(self.mean_, self.covariance_)

    def _fit_normal(self, X: Any, names: tuple[str, ...] | None) -> Self:
        auto = held_out_ridges(X, names) if self.ridge == "auto" else None
        ridge = float(self.ridge) if auto is None else auto.table
        found = normal_em(X, max_iter=self.max_iter, tol=self.tol, ridge=ridge, columns=names)
        self._describe(found.missing, found.wholly_missing, found.wholly_missing_rows)
        S = found.moments.scatter / found.moments.weight
        self._keep_law(found.mean, S, found.spread**2, auto or Ridges.alike(ridge, len(found.mean)))
        self.log_likelihood_ = found.log_likelihood
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        return self

    def _keep_law(self, mean: Array, S: Array, variance: Array, ridges: Ridges) -> None:
        self.fill_ = self.mean_ = mean
        self.ridge_, self.column_ridge_, self.variance_ = ridges.table, ridges.columns, variance
        self.lesser_ridge_, self.lesser_mean_ = ridges.lesser, ridges.means
        self.lesser_covariance_ = ridges.covariances
        self.covariance_ = np.diag(variance) if np.isinf(self.ridge_) else S + np.diag(self.ridge_ * variance)

    def _describe(self, missing: NDArray[np.int64], wholly: int, first: tuple[int, ...]) -> None:
        self.n_missing_ = missing
        self.n_iter_ = 1  # of EM there are more
        self.n_wholly_missing_ = wholly
        self.wholly_missing_ = np.asarray(first, dtype=np.int64)

    def _constants(self, mean: Array) -> Array:
        if self.strategy == "pair":
            return np.zeros(len(mean))
        return mean if self.value == "mean" else np.full(len(mean), float(self.value))

    def _expected(self, rows: Array) -> Array:
        filled = np.empty_like(rows)
        laws = list(self._laws())
        for part in block_slices(*rows.shape):
            missing = np.isnan(rows[part])
            filled[part] = np.where(missing, self.mean_, rows[part])
            for columns, law in laws:
                # rows without any value keep the mean
                lacking = np.flatnonzero(missing[:, columns].any(axis=1) & ~missing.all(axis=1))
                if len(lacking):
                    expected = law.conditional_mean(rows[part][lacking])
                    filled[part][np.ix_(lacking, columns)] = expected[:, columns]
        return filled

    def _laws(self) -> Iterator[tuple[NDArray[np.intp], MultivariateNormal]]:
        """Columns that have the same ridge, and the law to fill them by; those of an infinite one keep the mean."""
        for ridge in np.unique(self.column_ridge_[np.isfinite(self.column_ridge_)]):
            columns, own = np.flatnonzero(self.column_ridge_ == ridge), np.flatnonzero(self.lesser_ridge_ == ridge)
            if len(own):
                yield columns, MultivariateNormal(self.lesser_mean_[own[0]], self.lesser_covariance_[own[0]])
            else:
                more = np.diag((ridge - self.ridge_) * self.variance_)
                yield columns, MultivariateNormal(self.mean_, self.covariance_ + more)

    def _check_options(self) -> None:
        if self.strategy not in get_args(Strategy):
            raise ParameterError(f"strategy is one of {', '.join(get_args(Strategy))}; got {self.strategy!r}")
        number = isinstance(self.value, (int, float, np.integer, np.floating)) and np.isfinite(self.value)
        if not number and self.value != "mean":
            raise ParameterError(f"value is a finite number or 'mean'; got {self.value!r}")
        if self.ridge != "auto" and not (isinstance(self.ridge, (int, float, np.number)) and self.ridge >= 0.0):
            raise ParameterError(f"ridge is a number >= 0 or 'auto'; got {self.ridge!r}")

    def _label(self, column: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"column {column}" if names is None else f"column {names[column]!r}"

    def _refuse_taken_names(self) -> None:
        names = self.get_feature_names_out()
        unique, counts = np.unique(names.astype(str), return_counts=True)
        if (counts > 1).any() and self.strategy != "constant":
            raise DataError(f"the new column {str(unique[counts > 1][0])!r} exists already: rename one of the two")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _normal_ridge(S: Array, n: float) -> float:
    """A summary has no rows to hold out: the ridge of the correlations that is best for normal rows on average."""
    moving = np.flatnonzero(np.diag(S) > 0.0)
    if len(moving) < 2 or n <= 3.0:
        return LEAST
    scale = np.sqrt(np.diag(S)[moving])
    values = np.maximum(eigen_symmetric(S[np.ix_(moving, moving)] / scale / scale[:, None]).values, 0.0)
    share = rao_blackwell(values, len(values), n - 1.0)
    return max(share / (1.0 - share), LEAST) if share < 1.0 else np.inf


def _refuse_beyond_one(low: Array, high: Array, label: Any) -> None:
    beyond = np.flatnonzero((low < 0.0) | (high > 1.0))
    if beyond.size:
        j = int(beyond[0])
        raise DataError(
            f"strategy 'pair' needs columns within 0 and 1; {label(j)} runs from {low[j]:g} to {high[j]:g}: scale it "
            "to that range first, or use 'indicator'"
        )


def _beside(values: Array, second: Array, chosen: NDArray[np.bool_]) -> Array:
    """(n, d + k) each column of values, followed by that of second where chosen."""
    both = np.stack([values, second], axis=2).reshape(len(values), -1)
    kept = np.column_stack([np.ones_like(chosen), chosen]).ravel()
    return both[:, kept]
