"""How well a whole procedure does on rows it has not seen: held-out scores, and choices redone inside every fold.

The interval of an accuracy is Wilson's, of the rows that were tested, where each was tested once and rows are not told
to depend on each other: see `unseen_share_interval`. Others are those of a mean over folds, widened for the overlap of
the training sets: see `linalg.fold_error`. None passes the ends of its score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, TimeSeriesSplit

from assay.arrays import Array, Indices
from assay.data.splits import Folds, Pair, TimeBlocks
from assay.errors import DataError
from assay.evidence.labelled import Labelled, Score, Scorer
from assay.evidence.score_range import is_accuracy, score_range
from assay.evidence.shares import unseen_share_interval
from assay.linalg.noise.fold_error import fold_error, fold_interval

Grid: TypeAlias = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
    """Scores on rows that had no part in the fit; larger is better.

    Attributes:
        scores: (m,) of each split.
        mean: of the scores.
        error: its standard error, widened for the overlap of the training sets; None for a single split.
        interval: 95% interval of the mean, within the range of the score; None for a single split.
        rows: (t,) numbers of the rows tested, split after split, or in ascending order where none was tested twice.
        predictions: (t,) or (t, p), each by a model that was trained without that row.
        split: (t,) in which split.
    """

    scores: Array
    mean: float
    error: float | None
    interval: tuple[float, float] | None
    rows: Indices
    predictions: NDArray[Any]
    split: Indices


@dataclass(frozen=True, slots=True, eq=False)
class NestedValidation(Validation):
    """Scores of a procedure that chooses its own options, the choice redone inside every outer fold.

    Attributes:
        choices: for each outer split, the options chosen on its training rows.
        choice: the options that the procedure chooses on all rows.
        apparent: the inner score of that choice: what would be reported without nesting, too good where there were many
            candidates.
        candidates: how many were compared.
    """

    choices: tuple[dict[str, Any], ...]
    choice: dict[str, Any]
    apparent: float
    candidates: int


def validate(
    model: BaseEstimator,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    scoring: Score = None,
    groups: ArrayLike | None = None,
) -> Validation:
    """How well does a model do on rows it has not seen?

    Args:
        model: any scikit-learn estimator; it is cloned, never fitted itself.
        X: (n, d) rows: an array, a data frame or a sparse matrix.
        y: (n,) target.
        cv: `Folds`, `HoldOut`, `GroupedFolds`, `TimeBlocks`, a splitter of scikit-learn's, a number of folds, or
            pairs of training and test rows. None: `Folds(10)`, fewer where there are fewer rows.
        scoring: a name or function as scikit-learn's `scoring`; None: the model's own `score`.
        groups: (n,) what must stay together, for splits that ask for it.

    >>> from assay import Fisher
    >>> X = np.random.default_rng(0).standard_normal((60, 2))
    >>> found = validate(Fisher(), X, X[:, 0] > 0, cv=Folds(5))
    >>> round(found.mean, 2), found.predictions.shape
    (0.98, (60,))
    """
    data = Labelled.of(X, y, groups)
    pairs = data.pairs(cv)
    scorer = check_scoring(model, scoring=scoring)
    scores, answers = [], []
    for train, test in pairs:
        fitted = data.fitted(model, train)
        scores.append(data.scored(fitted, scorer, test, train))
        answers.append(data.answers(fitted, test, train))
    return Validation(*_summary(scores, pairs, _Asked(model, scoring, cv, groups)), *_gathered(answers, pairs))


def nested_validation(
    model: BaseEstimator,
    param_grid: Grid,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    inner_cv: Any = None,
    scoring: Score = None,
    groups: ArrayLike | None = None,
) -> NestedValidation:
    """How well does a model do whose options are chosen by the data?

    In every outer fold all candidates are compared by the inner splits of its training rows, the best is fitted to
    these rows, and only then are the rows of the fold looked at. The score is that of the whole procedure.

    Args:
        model: any scikit-learn estimator.
        param_grid: for each option the values to try, or a list of such grids.
        X: (n, d) rows.
        y: (n,) target.
        cv: splits for the score; as in `validate`.
        inner_cv: splits for the choice, the same forms. None: `Folds(5)`.
        scoring: as in `validate`.
        groups: (n,) what must stay together, in both.

    >>> from assay import Fisher
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((60, 30)), np.arange(60) % 2
    >>> found = nested_validation(Fisher(), {"shrinkage": [0.1, 0.5, 0.9]}, X, y, cv=Folds(5))
    >>> found.interval[0] < 0.5 < found.interval[1], len(found.choices)
    (True, 5)
    """
    data = Labelled.of(X, y, groups)
    candidates: list[dict[str, Any]] = list(ParameterGrid(param_grid))
    pairs = data.pairs(cv)
    scorer = check_scoring(model, scoring=scoring)
    scores, answers, choices = [], [], []
    for train, test in pairs:
        options, _ = _chosen(model, candidates, data, data.pairs(inner_cv or Folds(5), train), scorer)
        choices.append(options)
        fitted = data.fitted(model, train, options)
        scores.append(data.scored(fitted, scorer, test, train))
        answers.append(data.answers(fitted, test, train))
    choice, apparent = _chosen(model, candidates, data, data.pairs(inner_cv or Folds(5)), scorer)
    return NestedValidation(
        *_summary(scores, pairs, _Asked(model, scoring, cv, groups)),
        *_gathered(answers, pairs),
        tuple(choices),
        choice,
        apparent,
        len(candidates),
    )


def _chosen(
    model: BaseEstimator, candidates: list[dict[str, Any]], data: Labelled, pairs: list[Pair], scorer: Scorer
) -> tuple[dict[str, Any], float]:
    """The candidate of the best mean score, the first of equals, and that score."""
    best, options = -np.inf, None
    for candidate in candidates:
        scores = [data.scored(data.fitted(model, train, candidate), scorer, test, train) for train, test in pairs]
        if np.mean(scores) > best:
            best, options = float(np.mean(scores)), candidate
    if options is None:
        raise DataError(f"none of the {len(candidates)} candidates has a score that is a number")
    return options, best


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """What an interval depends on beside the scores."""

    model: BaseEstimator
    scoring: Score
    cv: Any
    groups: ArrayLike | None

    def by_rows(self, pairs: list[Pair]) -> bool:
        """Whether the score is a share of rows that were each tested once and are not told to depend on each other."""
        alone = self.groups is None and not isinstance(self.cv, TimeBlocks | TimeSeriesSplit)
        tested = np.concatenate([test for _, test in pairs])
        return alone and is_accuracy(self.model, self.scoring) and len(np.unique(tested)) == len(tested)


def _summary(
    scores: list[float], pairs: list[Pair], asked: _Asked
) -> tuple[Array, float, float | None, tuple[float, float] | None]:
    values, m = np.array(scores), len(scores)
    mean = float(values.mean())
    if m < 2:
        return values, mean, None, None
    overlap = float(np.mean([len(test) / len(train) for train, test in pairs]))
    error = float(fold_error(values, overlap))
    if asked.by_rows(pairs):
        low, high = unseen_share_interval(mean, sum(len(test) for _, test in pairs))
    else:
        low, high = fold_interval(mean, error, m, within=score_range(asked.model, asked.scoring))
    return values, mean, error, (float(low), float(high))


def _gathered(answers: list[NDArray[Any]], pairs: list[Pair]) -> tuple[Indices, NDArray[Any], Indices]:
    rows = np.concatenate([test for _, test in pairs])
    split = np.repeat(np.arange(len(pairs)), [len(test) for _, test in pairs])
    predictions = np.concatenate(answers)
    if len(np.unique(rows)) < len(rows):
        return rows, predictions, split
    order = np.argsort(rows)
    return rows[order], predictions[order], split[order]
