"""What least squares and ridge share: rows or summaries in, a line with its sums of squares out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import all_rows
from assay.data.source import Source
from assay.errors import Caution, DataError
from assay.models.coefficients import CoefficientTable
from assay.models.supervised import _Regressor
from assay.models.transformer import in_precision_of_rows
from assay.summary.moments.accumulate import checked_weights
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.regression.regression import RegressionTable, Squares, target_last

Target: TypeAlias = int | str | list[int] | list[str]

CERTAIN = 1e8  # from a summary, losing more than eight of sixteen digits is said aloud


class _LinearRegressor(MultiOutputMixin, _Regressor):
    """Base of models that predict intercept + coef x."""

    fit_intercept: bool
    coef_: Array
    intercept_: Any
    coef_std_errors_: Array
    intercept_std_error_: Any

    @in_precision_of_rows
    def predict(self, X: Any) -> Array:
        """(n,) or (n, p) predictions for (n, d) rows."""
        check_is_fitted(self)
        rows = self._checked(X, reset=False, accept_sparse="csr")
        return np.asarray(rows @ self.coef_.T + self.intercept_)

    def _table(self, X: Any, y: Any, sample_weight: Any) -> RegressionTable:
        """Rows with their targets; a source stays one, unless it is wider than long."""
        X, y = self._taken_apart(X, y)
        if isinstance(X, Source):
            source = self._as_numbers(X, reset=True)
            d, n = len(source.numeric_columns), len(y)
            data: Any = source if d <= n else all_rows(source)
        else:
            data = self._checked(X, reset=True, accept_sparse="csr", ensure_all_finite=False)
            n, d = data.shape
        targets = self._numbers_to_predict(y, n, many=True)
        given = np.full(n, sample_weight) if isinstance(sample_weight, int | float | np.number) else sample_weight
        weights = None if given is None else checked_weights(given, n)
        if weights is not None and not weights.any():
            raise DataError("every weight is zero: there is nothing to fit")
        names = getattr(self, "feature_names_in_", None)
        return RegressionTable(
            data,
            targets.reshape(n, -1),
            weights,
            d,
            None if names is None else tuple(names),
            single=targets.ndim == 1,
        )

    def _summary(self, moments: Moments | GroupedMoments, target: Target) -> tuple[GroupedMoments, int, bool]:
        """Summaries with the targets moved to the end, how many columns come first, whether there is one target."""
        grouped = moments if isinstance(moments, GroupedMoments) else GroupedMoments((0,), (moments,))
        first, left = target_last(grouped.parts[0], target)
        if grouped.total.weight == 0.0:
            raise DataError("the summary has no rows: there is nothing to fit")
        for name in ("encoding_", "target_"):
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        self._record_columns(first.columns and first.columns[: len(left)], len(left))
        single = isinstance(target, (int, str, np.integer))
        return grouped.map(lambda m: target_last(m, target)[0]), len(left), single

    def _column_names(self) -> list[str]:
        return list(getattr(self, "feature_names_in_", [f"column {j}" for j in range(self.n_features_in_)]))

    def _tabled(self, target: int, confidence: float, **about: Any) -> CoefficientTable:
        """The coefficients of a target, the intercept first."""
        names = self._column_names()
        values = np.atleast_2d(self.coef_)[target]
        known = getattr(self, "coef_std_errors_", None)
        errors = np.full_like(values, np.nan) if known is None else np.atleast_2d(known)[target]
        if self.fit_intercept:
            names = ["intercept", *names]
            values = np.append(np.atleast_1d(self.intercept_)[target], values)
            own = np.nan if known is None else np.atleast_1d(self.intercept_std_error_)[target]
            errors = np.append(own, errors)
        return CoefficientTable.of(names, values, errors, confidence=confidence, **about)

    def _measured(self, target: int, names: Sequence[str]) -> dict[str, float]:
        """Attributes of a target as numbers, by their names without the underscore at the end."""
        found = {}
        for name in names:
            values = np.atleast_1d(getattr(self, name))
            found[name.removesuffix("_")] = float(values[target if len(values) > 1 else 0])
        return found

    def _written(self, target: int) -> Callable[..., str]:
        """How attributes of a target are written in a summary: by name and number of digits."""

        def written(name: str, digits: int = 4) -> str:
            values = np.atleast_1d(getattr(self, name))
            return f"{float(values[target if len(values) > 1 else 0]):.{digits}g}"

        return written

    def _warn_of_lost_digits(self, condition: float) -> tuple[str, ...]:
        """Say, where there are no rows to go back to, that products have lost more than half of the digits."""
        if condition**2 <= CERTAIN:
            return ()
        left = max(16 - int(np.log10(condition**2)), 0) if np.isfinite(condition) else 0
        note = (
            f"the columns nearly depend on each other (condition number {condition:.1e}): from a summary about {left} "
            "digits of the coefficients are certain. Fit from the rows, or leave columns out"
        )
        warnings.warn(note, Caution, stacklevel=3)
        return (note,)

    def _keep_line(self, coef: Array, intercept: Array, single: bool) -> None:
        """Keep (p, d) coefficients and (p,) intercepts, as arrays of one dimension less for a single target."""
        self.coef_ = coef[0] if single else coef
        self.intercept_ = float(intercept[0]) if single else intercept

    def _keep_squares(self, squares: Squares, freedom: float | Array, single: bool) -> None:
        share = np.divide(squares.error, squares.total, out=np.ones_like(squares.total), where=squares.total > 0.0)
        left = np.where(np.asarray(freedom) > 0.0, freedom, np.nan)
        sd = np.sqrt(squares.error / left)
        values = {
            "total_": squares.total,
            "explained_": squares.explained,
            "error_": squares.error,
            "r_squared_": 1.0 - share,
            "residual_sd_": sd,
        }
        for name, value in values.items():
            setattr(self, name, float(value[0]) if single else value)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
