"""Classifiers that can refuse: a row about as far from its second-best class as from its best is no clear case.

ambiguity  a(x) = least distance to a class / second least, from 0 (clear) to 1 (a tie), (n,)
refused    a(x) > refuse
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.models.class_scores import _ClassScorer


@dataclass(frozen=True, slots=True, eq=False)
class RefusalCurve:
    """How right the answers are that are left, the more rows are refused.

    Attributes:
        threshold: (m,) values of `refuse`, descending from 1.
        refused: (m,) share of the rows refused at each, ascending from 0.
        accuracy: (m,) share of the right answers among the rows not refused.
        rows: how many rows were judged.

    >>> curve = RefusalCurve(np.array([1.0, 0.7]), np.array([0.0, 0.5]), np.array([0.75, 1.0]), 4)
    >>> curve.threshold_for(0.9)
    0.7
    """

    threshold: Array
    refused: Array
    accuracy: Array
    rows: int

    def threshold_for(self, accuracy: float) -> float:
        """The value of `refuse` that refuses fewest rows and leaves answers of at least some accuracy."""
        enough = np.flatnonzero(self.accuracy >= accuracy)
        if not len(enough):
            raise ParameterError(
                f"no threshold leaves an accuracy of {accuracy:g}; the best on these rows is {self.accuracy.max():.4g}"
            )
        return float(self.threshold[enough[0]])


class _Refusing(_ClassScorer):
    """Base of classifiers by distances, which may leave unclear rows unanswered."""

    refuse: float | None
    refused_label: Any

    @abstractmethod
    def _distances_to(self, rows: Any, first_row: int) -> Array:
        """(b, k) distances of (b, d) rows to the classes."""

    def distances(self, X: Any) -> Array:
        """(n, k) distance of each row to each class."""
        return self._scored(X, self._distances_to)

    def decision_function(self, X: Any) -> Array:
        """(n, k) the nearer the class, the larger; for two classes (n,), positive where the second is nearer."""
        far = self.distances(X)
        return far[:, 0] - far[:, 1] if far.shape[1] == 2 else -far

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) the nearest class; for refused rows `refused_label`, where one is given."""
        far = self.distances(X)
        found: NDArray[Any] = self.classes_[np.argmin(far, axis=1)]
        self._check_refusal()
        if self.refused_label is None:
            return found
        answers = found.astype(_common_type(found, np.asarray(self.refused_label)))
        answers[_ambiguity(far) > self._threshold()] = self.refused_label
        return answers

    def ambiguity(self, X: Any) -> Array:
        """(n,) distance to the nearest class over that to the second nearest: 0 is clear, 1 a tie."""
        return _ambiguity(self.distances(X))

    def refused(self, X: Any) -> NDArray[np.bool_]:
        """(n,) whether a row is too ambiguous for an answer: `ambiguity` above `refuse`."""
        return self.ambiguity(X) > self._threshold()

    def refusal_curve(self, X: Any, y: ArrayLike) -> RefusalCurve:
        """Refuse more and more rows: how right are the other answers?

        Args:
            X: (n, d) rows that were not fitted.
            y: (n,) their classes.
        """
        far = self.distances(X)
        truth = column_or_1d(y)
        check_consistent_length(far, truth)
        right = self.classes_[np.argmin(far, axis=1)] == truth
        ambiguity = _ambiguity(far)
        order = np.argsort(ambiguity, kind="stable")
        values, answered = ambiguity[order], np.arange(1, len(order) + 1)
        # rows of equal ambiguity are answered together or not at all
        last = np.flatnonzero(np.append(values[1:] != values[:-1], True))[::-1]
        accuracy = np.cumsum(right[order])[last] / answered[last]
        threshold = values[last]
        threshold[0] = 1.0  # nothing is above
        return RefusalCurve(threshold, 1.0 - answered[last] / len(order), accuracy, len(order))

    def _threshold(self) -> float:
        if self.refuse is None:
            raise ParameterError("refuse is None, so no row is refused; set it, say refuse=0.9, or see ambiguity(X)")
        if not (isinstance(self.refuse, (int, float, np.integer, np.floating)) and 0.0 <= self.refuse <= 1.0):
            raise ParameterError(f"refuse is a ratio of distances from 0 to 1, or None; got {self.refuse!r}")
        return float(self.refuse)

    def _check_refusal(self) -> None:
        """Refuse options that contradict each other; they may be set after the fit, once a curve was seen."""
        if self.refuse is not None:
            self._threshold()
        elif self.refused_label is not None:
            raise ParameterError(
                f"refused_label={self.refused_label!r} needs refuse, the ratio above which rows get it"
            )
        if self.refused_label is not None and self.refused_label in self.classes_.tolist():
            raise ParameterError(f"refused_label {self.refused_label!r} is one of the classes; take another")


def _common_type(classes: NDArray[Any], label: NDArray[Any]) -> Any:
    """A type that holds classes and the label as they are: text is not made of numbers, nor numbers of booleans."""
    both = {classes.dtype.kind, label.dtype.kind}
    return np.result_type(classes, label) if both <= set("iuf") or both == {"U"} else object


def _ambiguity(far: Array) -> Array:
    nearest = np.partition(far, 1, axis=1)[:, :2]
    best, second = nearest[:, 0], nearest[:, 1]
    return np.divide(best, second, out=np.ones_like(best), where=second > 0.0)


def refuse_far(far: Array, rows: NDArray[Any], first_row: int, names: tuple[str, ...] | None) -> None:
    """Raise for the first row whose distances are not numbers, because it holds none or is too far out."""
    lost = np.flatnonzero(~np.isfinite(far).all(axis=1))
    if len(lost):
        i = int(lost[0])
        bad = np.flatnonzero(~np.isfinite(rows[i]))
        if len(bad):
            value = "missing (NaN)" if np.isnan(rows[i, bad[0]]) else "infinite (inf)"
            raise DataError(
                f"row {first_row + i}, column {bad[0] if names is None else repr(names[bad[0]])} is {value}: distances "
                "need finite numbers; leave such rows out, or fill them by assay.FillMissing"
            )
        raise DataError(
            f"row {first_row + i} is so far out that the squares of its distances leave the range of floating point "
            "numbers; rescale the columns"
        )
