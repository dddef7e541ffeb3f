"""Rows with their target: split, fitted and scored again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import indexable

from assay.arrays import Indices
from assay.data.arrow_validation import sound
from assay.data.source import Source
from assay.data.splits import Folds, Pair, as_pairs
from assay.errors import DataError, ParameterError

Scorer: TypeAlias = Callable[[Any, Any, Any], float]
Score: TypeAlias = str | Scorer | None


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Rows, target and groups, of which parts are taken by number.

    Attributes:
        X: (n, d) rows, or (n, n) kernel values for a model that takes these.
        y: (n,) target.
        groups: (n,) or None.
        n: how many rows.
    """

    X: Any
    y: Any
    groups: NDArray[Any] | None
    n: int

    @classmethod
    def of(cls, X: Any, y: Any, groups: ArrayLike | None) -> Labelled:
        """Check that they belong together."""
        if isinstance(X, Source):
            raise ParameterError(
                "validation takes rows by number, and a source is read from its beginning: give an array or a data "
                "frame, as source.to_arrow().to_pandas() is"
            )
        if y is None:
            raise ParameterError("validation compares predictions with a target; y is None")
        X, y = indexable(sound(X), sound(y))
        n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        told = None if groups is None else np.asarray(groups)
        if told is not None and told.shape != (n,):
            raise ParameterError(f"there must be one group for each of the {n} rows; got shape {told.shape}")
        return cls(X, y, told, n)

    def pairs(self, cv: Any, within: Indices | None = None) -> list[Pair]:
        """Training and test rows of each split, of all rows or of some.

        Args:
            cv: a splitter, a number of folds, pairs, or None for ten folds (as many as rows, if these are fewer).
            within: numbers of the rows to split.
        """
        rows = np.arange(self.n) if within is None else within
        if cv is None:
            cv = min(10, len(rows))
        if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
            cv = Folds(int(cv))
        if hasattr(cv, "split") and not isinstance(cv, str):
            groups = None if self.groups is None else self.groups[rows]
            found = cv.split(_safe_indexing(self.X, rows), _safe_indexing(self.y, rows), groups)
        elif within is None and np.iterable(cv) and not isinstance(cv, str):
            found = cv
        else:
            raise ParameterError(
                f"cv is Folds(k), HoldOut(), GroupedFolds(k), TimeBlocks(k), a splitter of scikit-learn's, or a "
                f"number of folds; got {cv!r}"
            )
        pairs = [(rows[train], rows[test]) for train, test in as_pairs(found, len(rows))]
        for i, (train, test) in enumerate(pairs):
            if not len(train) or not len(test):
                raise DataError(f"split {i} has {len(train)} training rows and {len(test)} test rows; both need some")
            both = np.intersect1d(train, test)
            if len(both):
                raise DataError(f"split {i} has row {both[0]} in training and test: what is tested must be unseen")
        if not pairs:
            raise DataError("there is no split: nothing would be tested")
        return pairs

    def fitted(self, model: BaseEstimator, train: Indices, options: Mapping[str, Any] | None = None) -> Any:
        """A copy of the model, with these options, fitted to some rows."""
        fresh = clone(model).set_params(**(options or {}))
        X, y = _safe_split(fresh, self.X, self.y, train)
        return fresh.fit(X, y)

    def scored(self, fitted: Any, scorer: Scorer, test: Indices, train: Indices) -> float:
        """The score of a model on some rows; `train` are those it was fitted to, for kernel values between both."""
        X, y = _safe_split(fitted, self.X, self.y, test, train)
        return float(scorer(fitted, X, y))

    def answers(self, fitted: Any, test: Indices, train: Indices) -> NDArray[Any]:
        """Its predictions of these rows."""
        X, _ = _safe_split(fitted, self.X, self.y, test, train)
        return np.asarray(fitted.predict(X))
