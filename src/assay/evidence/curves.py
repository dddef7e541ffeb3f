"""Training and held-out error over a parameter, and over the number of rows: too simple, too complex, too few rows?

    error    1 - accuracy for classes, mean squared error for numbers, or a score of the user's, turned round
    choice   the simplest value whose held-out error is within one standard error of the least

scikit-learn's curves of the same kind are not used: they turn a fit that fails into NaN and a warning, take the first
rows of a fold as its smaller training sets unless told otherwise, and have no choice and no standard error.

Reference: Breiman, Friedman, Olshen & Stone, Classification and Regression Trees, 1984, section 3.4.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import check_scoring

from assay.arrays import Array
from assay.errors import ParameterError
from assay.evidence.labelled import Labelled, Score
from assay.linalg.validate import RandomState, seed_of


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """Errors of v models in m splits.

    Attributes:
        training, held_out: (v, m) on the rows fitted and on the others.
    """

    training: Array
    held_out: Array

    @property
    def training_mean(self) -> Array:
        """(v,) mean over the splits of the error on the rows fitted."""
        return np.asarray(self.training.mean(axis=1))

    @property
    def held_out_mean(self) -> Array:
        """(v,) mean over the splits of the error on the other rows."""
        return np.asarray(self.held_out.mean(axis=1))

    @property
    def held_out_error(self) -> Array:
        """(v,) standard error of `held_out_mean`; zero for a single split, which does not tell."""
        m = self.held_out.shape[1]
        return np.asarray(self.held_out.std(axis=1, ddof=1) / np.sqrt(m)) if m > 1 else np.zeros(len(self.held_out))


@dataclass(frozen=True, slots=True, eq=False)
class ComplexityCurve(_Errors):
    """Errors over a parameter.

    Attributes:
        param_name: its name.
        param_range: values that were tried, from simple to complex or the other way.
        simplest: which end is simple, "first" or "last".
    """

    param_name: str
    param_range: tuple[Any, ...]
    simplest: Literal["first", "last"]

    @property
    def best(self) -> int:
        """Number of the value of least held-out error; the simplest of equals."""
        order = self._from_simple()
        return int(order[np.argmin(self.held_out_mean[order])])

    @property
    def chosen(self) -> int:
        """Number of the simplest value within one standard error of the best."""
        limit = self.held_out_mean[self.best] + self.held_out_error[self.best]
        order = self._from_simple()
        return int(order[np.argmax(self.held_out_mean[order] <= limit)])

    @property
    def choice(self) -> Any:
        """The value chosen by the rule of one standard error."""
        return self.param_range[self.chosen]

    def _from_simple(self) -> NDArray[np.intp]:
        order = np.arange(len(self.param_range))
        return order if self.simplest == "first" else order[::-1]


@dataclass(frozen=True, slots=True, eq=False)
class LearningCurve(_Errors):
    """Errors over the number of training rows.

    Attributes:
        sizes: (v,) training rows of the smallest training set among the splits.
        shares: (v,) of the training rows used.
    """

    sizes: NDArray[np.intp]
    shares: Array


def complexity_curve(
    model: BaseEstimator,
    param_name: str,
    param_range: Sequence[Any],
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    scoring: Score = None,
    groups: ArrayLike | None = None,
    simplest: Literal["first", "last"] = "first",
) -> ComplexityCurve:
    """Where does a model stop learning the law and begin to learn the rows?

    Args:
        model: any scikit-learn estimator.
        param_name: name of the option to vary.
        param_range: its values, in order of complexity.
        X: (n, d) rows.
        y: (n,) target.
        cv: as in `validate`; all values see the same splits.
        scoring: as in `validate`; None: accuracy or mean squared error.
        groups: (n,) what must stay together.
        simplest: which end of the values is the simple one: "last" for a penalty that grows.

    >>> from sklearn.tree import DecisionTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (80, 1))
    >>> y = np.sign(X[:, 0]) + rng.standard_normal(80) / 2
    >>> complexity_curve(DecisionTreeRegressor(random_state=0), "max_depth", [1, 2, 4, 8], X, y).choice
    1
    """
    if simplest not in ("first", "last"):
        raise ParameterError(f"simplest is 'first' or 'last', the end of the values that is simple; got {simplest!r}")
    if param_name not in model.get_params():
        known = ", ".join(model.get_params())
        raise ParameterError(f"{type(model).__name__} has no option {param_name!r}; it has {known}")
    if not len(param_range):
        raise ParameterError(f"there are no values of {param_name} to try")
    data = Labelled.of(X, y, groups)
    pairs = data.pairs(cv)
    errors = np.empty((2, len(param_range), len(pairs)))
    error = _error_of(model, scoring)
    for i, value in enumerate(param_range):
        for j, (train, test) in enumerate(pairs):
            fitted = data.fitted(model, train, {param_name: value})
            errors[:, i, j] = [error(data, fitted, rows, train) for rows in (train, test)]
    return ComplexityCurve(errors[0], errors[1], param_name, tuple(param_range), simplest)


def learning_curve(
    model: BaseEstimator,
    X: Any,
    y: Any,
    *,
    shares: ArrayLike = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
    cv: Any = None,
    scoring: Score = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = 0,
) -> LearningCurve:
    """Would more rows help?

    Args:
        model: any scikit-learn estimator.
        X: (n, d) rows.
        y: (n,) target.
        shares: of the training rows to fit, ascending, in (0, 1]; smaller sets are parts of larger ones.
        cv: as in `validate`.
        scoring: as in `validate`; None: accuracy or mean squared error.
        groups: (n,) what must stay together.
        random_state: of the order in which rows are added: a whole number from 0 on, None for 0, or a generator of
            NumPy's.

    >>> from assay import Fisher
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> X = rng.standard_normal((400, 20)) + 0.4 * y[:, None]
    >>> curve = learning_curve(Fisher(), X, y, shares=[0.1, 1])
    >>> curve.sizes, curve.held_out_mean.round(2)
    (array([ 36, 360]), array([0.36, 0.22]))
    """
    parts = np.atleast_1d(np.asarray(shares, dtype=np.float64))
    if parts.ndim != 1 or not len(parts) or not ((parts > 0.0) & (parts <= 1.0)).all() or (np.diff(parts) <= 0.0).any():
        raise ParameterError(f"shares are ascending numbers in (0, 1]; got {shares!r}")
    data = Labelled.of(X, y, groups)
    pairs = data.pairs(cv)
    errors, seed = np.empty((2, len(parts), len(pairs))), seed_of(random_state)
    error = _error_of(model, scoring)
    for j, (train, test) in enumerate(pairs):
        order = np.random.default_rng((seed, j)).permutation(train)
        for i, share in enumerate(parts):
            some = np.sort(order[: _size(share, len(train))])
            fitted = data.fitted(model, some)
            errors[:, i, j] = [error(data, fitted, rows, some) for rows in (some, test)]
    least = min(len(train) for train, _ in pairs)
    return LearningCurve(errors[0], errors[1], np.array([_size(share, least) for share in parts]), parts)


def _size(share: float, n: int) -> int:
    return max(round(share * n), 1)


def _error_of(model: BaseEstimator, scoring: Score) -> Any:
    """From data, a fitted model, rows to judge and rows fitted to an error."""
    default = "accuracy" if is_classifier(model) else "neg_mean_squared_error"
    scorer = check_scoring(model, scoring=default if scoring is None else scoring)
    top = 1.0 if scoring is None and is_classifier(model) else 0.0
    return lambda data, fitted, rows, train: top - data.scored(fitted, scorer, rows, train)
