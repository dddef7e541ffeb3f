"""What predictors share: a target beside the rows, or a column of a source, and classes by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from assay.arrays import Array
from assay.data.arrow_validation import sound
from assay.data.codes import numbered
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.models.base import Estimator
from assay.models.machine_summary import summary_of
from assay.models.model_summary import ModelSummary
from assay.summary.moments.accumulate import checked_weights

_OF_CLASSES = ("class_count_", "weights_")  # where models keep how many rows a class has
_NAMED = 6


class _Predictor(Estimator):
    """Base of every model that learns a target."""

    def _taken_apart(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Rows and target; y names a column where X is a source, None the one in the role "target"."""
        if isinstance(X, Source) and (y is None or isinstance(y, str)):
            from assay.data.columns.target import taken_apart, target_name

            self.target_ = target_name(X, y)
            return taken_apart(X, self.target_)
        if hasattr(self, "target_"):  # of an earlier fit
            del self.target_
        if y is None:
            # scikit-learn's own words, which its checks look for
            raise ParameterError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        return X, sound(y, "the target")


class _Classifier(ClassifierMixin, _Predictor):
    """Base of every model that tells classes apart; `classes_` are sorted, rows carry their number."""

    classes_: NDArray[Any]

    def summary(self) -> ModelSummary:
        """The fit in a few lines, and its coefficients where it has some: print it, or let a notebook show it."""
        check_is_fitted(self)
        lines, measures = self._fit_told()
        weights = next((getattr(self, name) for name in _OF_CLASSES if hasattr(self, name)), None)
        if weights is not None:
            each = zip(self.classes_.tolist()[:_NAMED], np.asarray(weights).tolist(), strict=False)
            more = ", ..." if len(self.classes_) > _NAMED else ""
            lines.insert(0, f"rows of the classes: {', '.join(f'{name} {count:,g}' for name, count in each)}{more}")
            measures["rows"] = float(np.sum(weights))
        return summary_of(self, lines, measures, pairs=self._pairs_told())

    def _fit_told(self) -> tuple[list[str], dict[str, float]]:
        """What is known of the fit, in words and in numbers."""
        rows = getattr(self, "weight_", None)
        return ([], {}) if rows is None else ([f"{rows:,g} rows"], {"rows": float(rows)})

    def _pairs_told(self) -> list[tuple[Any, Any]] | None:
        """The classes that each row of coefficients is between, where it is between two of several."""
        return None

    def _labelled(self, X: Any, y: Any, *, fewest: int = 2, **checks: Any) -> tuple[Any, NDArray[np.intp]]:
        """Checked (n, d) rows and the number of each row's class, counted from 0; sets `classes_`."""
        X, y = self._taken_apart(X, y)
        X = self._checked(X, reset=True, **checks)
        return X, self._class_numbers(y, X.shape[0], fewest)

    def _class_numbers(self, y: Any, n: int, fewest: int = 2) -> NDArray[np.intp]:
        labels = column_or_1d(y, warn=True)
        if len(labels) != n:
            check_consistent_length(np.empty((n, 0)), labels)
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            row = int(np.flatnonzero(~np.isfinite(labels))[0])
            raise DataError(
                f"the class of row {row} is {labels[row]}: every row needs one. Input y contains NaN or inf"
            )
        check_classification_targets(labels)
        self.classes_, codes = numbered(labels)
        if len(self.classes_) < fewest:
            raise DataError(
                f"{type(self).__name__} tells at least {fewest} classes apart; there is only one class, "
                f"{self.classes_.tolist()[0]!r}, in all {n} rows"
            )
        return codes

    def _row_weights(self, sample_weight: Any, codes: NDArray[np.intp]) -> Array | None:
        """(n,) weights of the rows, where some are given; every class has rows that count."""
        if sample_weight is None:
            return None
        weights = checked_weights(sample_weight, len(codes))
        sizes = np.bincount(codes, weights, len(self.classes_))
        if not (sizes > 0.0).all():
            empty = self.classes_.tolist()[int(np.argmin(sizes > 0.0))]
            raise DataError(f"all rows of class {empty!r} have weight zero, so nothing tells it apart: leave them out")
        return weights


class _Regressor(RegressorMixin, _Predictor):
    """Base of every model that predicts numbers."""

    def _targeted(self, X: Any, y: Any, *, many: bool = False, **checks: Any) -> tuple[Any, Array]:
        """Checked (n, d) rows and their target, (n,), or (n, p) if many columns are taken."""
        X, y = self._taken_apart(X, y)
        X = self._checked(X, reset=True, **checks)
        return X, self._numbers_to_predict(y, X.shape[0], many)

    def _numbers_to_predict(self, y: Any, n: int, many: bool = False) -> Array:
        values = np.asarray(y) if many else column_or_1d(y, warn=True)
        if values.ndim not in (1, 2):
            raise DataError(f"a target has one column or several; got {values.ndim} dimensions")
        try:
            target = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"the target must be numbers: {error}") from error
        if len(target) != n:
            check_consistent_length(np.empty((n, 0)), target)
        bad = np.argwhere(~np.isfinite(target))
        if len(bad):
            row = int(bad[0, 0])
            raise DataError(
                f"the target of row {row} is {target[tuple(bad[0])]}: every row needs a finite one; leave such rows "
                "out. Input y contains NaN or infinity"
            )
        return target
