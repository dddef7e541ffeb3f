"""Learning from parts: the summary of each is added to the one kept, and the model is fitted from the sum.

partial_fit(part)    summary <- summary + summary of the part,    then fit_moments(summary)

Moments merge exactly: parts in any order and size give what one fit on all rows gives, to rounding, wherever `fit`
itself rests on moments. Where a setting needs all rows at once (robust estimates, held-out penalties) there is no
`partial_fit`; Ledoit and Wolf's fourth powers are replaced as `fit_moments` says. The summary is saved with the model,
so that a loaded one can go on.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from assay.errors import Caution, DataError
from assay.linalg.eigen.principal import dense
from assay.models.base import Estimator
from assay.models.class_scores import _ClassScorer
from assay.models.supervised import _Regressor
from assay.summary.moments.accumulate import checked_weights
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments

_OF_COLUMNS = ("n_features_in_", "feature_names_in_", "encoding_", "target_")
_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "ensure_all_finite": False}  # the moments say where one is not


def _from_sums(model: _InParts) -> bool:
    """Whether the model as it is set can learn from sums; else an AttributeError says why."""
    if why := model._needs_rows():
        raise AttributeError(
            f"{type(model).__name__} has no partial_fit with {why}, which needs all rows at once: use fit"
        )
    return True


class _InParts(Estimator):
    """Base of models that learn from parts.

    Attributes:
        summary_: the `Moments`, or those of each class, of all parts; there after `partial_fit` alone.
    """

    summary_: Any
    _waits: bool

    def _needs_rows(self) -> str | None:
        """The setting that needs all rows at once, if there is one."""
        return None

    def _add_part(self, summarise: Callable[[bool], Any], fit: Callable[[Any], object]) -> Self:
        """Add a part; one that is refused leaves the model as it was.

        Args:
            summarise: the summary of the part, from whether it is the first, which fixes the columns.
            fit: from the summary of all parts.
        """
        before = dict(vars(self))
        first = "summary_" not in before
        if first and "n_features_in_" in before:
            _warn(
                f"{type(self).__name__} was fitted by fit, which keeps no summary that rows could be added to: "
                "partial_fit begins anew; give it all parts, the first one too"
            )
        try:
            part = summarise(first)
            whole = part if first else before["summary_"] + part
            columns = {name: vars(self)[name] for name in _OF_COLUMNS if name in vars(self)}
            try:
                fit(whole)
            except DataError as error:
                # the rows are fine, but not enough yet: they are kept, and the model is the one before them
                waits = first or "_waits" in before
                known = {name: before[name] for name in self.get_params(deep=False)} if first else before
                self.__dict__ = known | ({"_waits": True} if waits else {})
                _warn(f"the rows so far are kept, but cannot be fitted yet: {error}")
        except Exception:
            self.__dict__ = before
            raise
        self.__dict__ |= columns | {"summary_": whole}
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_") and not hasattr(self, "_waits")


class _RowsInParts(_InParts):
    """Base of those that need no target."""

    @abstractmethod
    def fit_moments(self, moments: Moments) -> Self:
        """Fit from a summary."""

    @available_if(_from_sums)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: None = None) -> Self:
        """Learn further rows; the result is that of one fit on all, to rounding.

        Args:
            X: as for `fit`; the first call fixes the columns.
            y: not used.
        """

        def summarise(first: bool) -> Moments:
            rows = self._checked(X, reset=first, **_CHECKS)
            names = getattr(self, "feature_names_in_", None)
            return Moments.of(rows, columns=None if names is None else tuple(names))

        return self._add_part(summarise, self.fit_moments)


class _TargetsInParts(_InParts, _Regressor):
    """Base of those that predict numbers."""

    @abstractmethod
    def fit_moments(self, moments: Any, target: Any) -> Self:
        """Fit from a summary of columns and targets."""

    @available_if(_from_sums)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn further rows; the result is that of one fit on all, to rounding.

        Args:
            X, y, sample_weight: as for `fit`; the first call fixes the columns.
        """
        target: Any = None

        def summarise(first: bool) -> Moments:
            nonlocal target
            data, numbers = self._taken_apart(X, y)
            rows = dense(self._checked(data, reset=first, **_CHECKS))
            n, d = rows.shape
            targets = self._numbers_to_predict(numbers, n, many=True)
            names = getattr(self, "feature_names_in_", None)
            target = d if targets.ndim == 1 else list(range(d, d + targets.shape[1]))
            both = np.column_stack([rows, targets])
            return Moments.of(
                both,
                weights=None if sample_weight is None else checked_weights(sample_weight, n),
                columns=None if names is None else (*names, *["target"] * (both.shape[1] - d)),
            )

        return self._add_part(summarise, lambda moments: self.fit_moments(moments, target))


class _ClassesInParts(_InParts, _ClassScorer):
    """Base of those that tell classes apart."""

    @abstractmethod
    def fit_moments(self, moments: GroupedMoments) -> Self:
        """Fit from a summary of each class."""

    @available_if(_from_sums)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any = None, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn further rows; the result is that of one fit on all, to rounding.

        Args:
            X, y: as for `fit`; the first call fixes the columns.
            classes: those that will come, if more than have come so far. While one of them has no rows, rows are kept
                and nothing is fitted.
            sample_weight: (n,) weights of the rows, not negative; weight 2 counts as the row twice.
        """

        def summarise(first: bool) -> GroupedMoments:
            data, codes = self._gathered(X, y, fewest=1, reset=first, **_CHECKS)
            part = GroupedMoments.of(data, self.classes_[codes], weights=sample_weight)
            if classes is None:
                return part
            none = Moments.empty(part.parts[0].d, part.parts[0].columns)
            coming = np.unique(np.asarray(classes)).tolist()
            return GroupedMoments(tuple(coming), (none,) * len(coming)) + part

        return self._add_part(summarise, self.fit_moments)


def _warn(note: str) -> None:
    warnings.warn(note, Caution, stacklevel=4)
