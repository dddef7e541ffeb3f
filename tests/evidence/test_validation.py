"""Validation: unseen rows only, honest intervals, choices redone, curves, and refusals."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from assay import (
    Fisher,
    Folds,
    GroupedFolds,
    HoldOut,
    TimeBlocks,
    complexity_curve,
    learning_curve,
    nested_validation,
    validate,
)
from assay.data.source import ArrowSource
from assay.errors import DataError, ParameterError


def labelled(seed=0, n=90, d=4, apart=0.7):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, d)) + apart * y[:, None], y


class Remembering(ClassifierMixin, BaseEstimator):
    """Knows every row it was fitted to; of any other it says -1."""

    def fit(self, X, y):
        self.known_ = {float(x): label for x, label in zip(X[:, 0], y, strict=True)}
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.array([self.known_.get(float(x), -1) for x in X[:, 0]])


def test_scores_and_predictions_are_those_of_scikit_learn_on_the_same_folds():
    X, y = labelled()
    for splits in (Folds(6, random_state=3), KFold(5), TimeBlocks(4)):
        found = validate(Fisher(), X, y, cv=splits)
        np.testing.assert_allclose(found.scores, cross_val_score(Fisher(), X, y, cv=splits))
        np.testing.assert_array_equal(found.predictions, cross_val_predict(Fisher(), X, y, cv=splits))
        np.testing.assert_array_equal(found.rows, np.arange(90))
        assert found.mean == pytest.approx(found.scores.mean())


def test_no_row_is_predicted_by_a_model_that_saw_it():
    X, y = labelled()
    for splits in (Folds(5), GroupedFolds(5), TimeBlocks(5, gap=2), HoldOut()):
        found = validate(Remembering(), X, y, cv=splits, groups=np.arange(90) // 3)
        assert (found.predictions == -1).all()
    nested = nested_validation(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, X, y, cv=3, inner_cv=3)
    assert len(nested.predictions) == 90


def test_the_interval_is_that_of_nadeau_and_bengio():
    X, y = labelled()
    found = validate(LogisticRegression(), X, y, cv=Folds(9), scoring="neg_log_loss")
    # m = 9 scores, 10 test rows for 80 training rows; 2.306004 is the 97.5% quantile of t with 8 degrees of freedom
    error = found.scores.std(ddof=1) * np.sqrt(1 / 9 + 10 / 80)
    assert found.error == pytest.approx(error)
    np.testing.assert_allclose(found.interval, found.mean + 2.306004 * error * np.array([-1, 1]), rtol=1e-6)


def test_an_interval_ends_where_its_score_does():
    X, y = labelled(apart=3.0)
    found = validate(Fisher(), X, y, cv=Folds(9))
    assert found.mean > 0.98 and found.mean <= found.interval[1] <= 1.0
    loss = validate(LogisticRegression(C=1e3), X, y, cv=Folds(9), scoring="neg_log_loss")
    assert loss.interval[1] <= 0.0
    apart = validate(Ridge(), X, X[:, 0] + 1e-3 * X[:, 1], cv=Folds(9))
    assert apart.interval[1] <= 1.0


def test_an_accuracy_has_wilsons_interval_of_four_fifths_of_the_rows():
    X, y = labelled()
    found = validate(Fisher(), X, y, cv=Folds(9))
    np.testing.assert_allclose(found.interval, proportion_interval(found.mean * 72, 72), rtol=1e-9)
    told = validate(Fisher(), X, y, cv=GroupedFolds(9), groups=np.arange(90) // 3)
    assert told.interval[1] - told.interval[0] != pytest.approx(found.interval[1] - found.interval[0], rel=1e-3)


def proportion_interval(hits, rows):
    """The shares t that the score test of Wilson does not reject: the roots of (p - t)^2 = z^2 t (1 - t) / n."""
    z2, p = norm.ppf(0.975) ** 2, hits / rows
    roots = np.roots([1 + z2 / rows, -(2 * p + z2 / rows), p * p])
    return np.sort(roots)


def test_intervals_hold_the_score_on_new_rows_about_as_often_as_they_say():
    new, truth = labelled(99, n=10_000)
    inside = 0
    for seed in range(30):
        X, y = labelled(seed)
        low, high = validate(Fisher(), X, y, cv=5).interval
        inside += low <= Fisher().fit(X, y).score(new, truth) <= high
    # 28.5 of 30 are expected; 24 or fewer would be more than three standard deviations short
    assert inside > 24


def test_a_single_hold_out_has_no_interval_and_repeated_rows_keep_their_split():
    X, y = labelled()
    once = validate(Fisher(), X, y, cv=HoldOut(0.2))
    assert once.interval is None and once.error is None and len(once.rows) == 18
    again = validate(Fisher(), X, y, cv=ShuffleSplit(4, test_size=30, random_state=0))
    np.testing.assert_array_equal(np.bincount(again.split), [30] * 4)
    for i, (_, test) in enumerate(ShuffleSplit(4, test_size=30, random_state=0).split(X)):
        np.testing.assert_array_equal(again.rows[again.split == i], test)


def test_frames_named_scores_pairs_and_numbers_of_folds_are_taken():
    X, y = labelled()
    frame = pd.DataFrame(X, columns=list("abcd"))
    names = np.array(["no", "yes"])[y]
    found = validate(LogisticRegression(), frame, names, cv=5, scoring="neg_log_loss")
    np.testing.assert_allclose(
        found.scores, cross_val_score(LogisticRegression(), frame, names, cv=Folds(5), scoring="neg_log_loss")
    )
    assert set(found.predictions) == {"no", "yes"}
    pairs = [(np.arange(60), np.arange(60, 90))]
    masks = [(np.arange(90) < 60, np.arange(90) >= 60)]
    alone = Fisher().fit(X[:60], y[:60]).score(X[60:], y[60:])
    assert validate(Fisher(), X, y, cv=pairs).scores == pytest.approx(alone)
    assert validate(Fisher(), X, y, cv=masks).scores == pytest.approx(alone)


def test_kernel_values_are_split_on_both_sides():
    X, y = labelled()
    by_rows = validate(SVC(kernel="linear"), X, y, cv=3)
    by_kernel = validate(SVC(kernel="precomputed"), X @ X.T, y, cv=3)
    np.testing.assert_array_equal(by_kernel.predictions, by_rows.predictions)


def test_on_noise_the_nested_score_is_at_chance_and_the_best_inner_score_is_not():
    nested, apparent = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((60, 30)), np.arange(60) % 2
        found = nested_validation(OneColumn(), {"column": list(range(30))}, X, y, cv=Folds(4), inner_cv=Folds(3))
        nested.append(found.mean)
        apparent.append(found.apparent)
        assert found.candidates == 30 and len(found.choices) == 4
    # a score of 60 rows by chance has a standard deviation of 0.065, the mean of four 0.032; the best of 30 such scores
    # is expected two standard deviations above a half
    assert abs(np.mean(nested) - 0.5) < 0.1
    assert np.mean(apparent) > 0.58


class OneColumn(ClassifierMixin, BaseEstimator):
    """Nearest class mean in one column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label, self.column].mean() for label in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[np.abs(X[:, [self.column]] - self.means_).argmin(axis=1)]


def test_the_nested_choice_is_the_best_by_the_inner_splits_alone():
    X, y = labelled(5)
    grid = {"n_neighbors": [1, 5, 21]}
    found = nested_validation(KNeighborsClassifier(), grid, X, y, cv=Folds(3), inner_cv=Folds(4))
    for (train, _), choice in zip(Folds(3).split(X), found.choices, strict=True):
        means = [cross_val_score(KNeighborsClassifier(k), X[train], y[train], cv=Folds(4)).mean() for k in (1, 5, 21)]
        assert choice == {"n_neighbors": (1, 5, 21)[int(np.argmax(means))]}
    whole = [cross_val_score(KNeighborsClassifier(k), X, y, cv=Folds(4)).mean() for k in (1, 5, 21)]
    assert found.apparent == pytest.approx(max(whole))
    assert found.choice == {"n_neighbors": (1, 5, 21)[int(np.argmax(whole))]}


def test_groups_stay_together_in_the_inner_splits_too():
    X, _ = labelled(6)
    groups = np.repeat(np.arange(30), 3)
    copies = X[np.arange(90) // 3 * 3]  # three equal rows in each group: a leak would give a perfect score
    found = nested_validation(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 15]},
        copies,
        np.random.default_rng(0).integers(0, 2, 30).repeat(3),
        cv=GroupedFolds(3),
        inner_cv=GroupedFolds(3),
        groups=groups,
    )
    assert found.mean < 0.8 and found.apparent < 0.8


def test_a_complexity_curve_falls_in_training_and_turns_on_unseen_rows():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (150, 1))
    y = np.sin(4 * X[:, 0]) + 0.5 * rng.standard_normal(150)
    depths = [1, 2, 3, 4, 6, 9, 14]
    curve = complexity_curve(DecisionTreeRegressor(random_state=0), "max_depth", depths, X, y, cv=Folds(5))
    assert (np.diff(curve.training_mean) <= 1e-12).all()
    assert curve.training_mean[-1] < 0.05 < curve.held_out_mean[-1]
    assert 0 < curve.best < len(depths) - 1
    assert curve.chosen <= curve.best and curve.choice == depths[curve.chosen]
    limit = curve.held_out_mean[curve.best] + curve.held_out_error[curve.best]
    assert curve.held_out_mean[curve.chosen] <= limit
    assert (curve.held_out_mean[: curve.chosen] > limit).all()
    direct = -cross_val_score(
        DecisionTreeRegressor(max_depth=3, random_state=0), X, y, cv=Folds(5), scoring="neg_mean_squared_error"
    )
    np.testing.assert_allclose(curve.held_out[2], direct)


def test_the_simple_end_may_be_the_last():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((60, 30)), rng.standard_normal(60)
    curve = complexity_curve(Ridge(), "alpha", [1e-3, 1.0, 1e3, 1e6], X, y, simplest="last")
    assert curve.choice == 1e6
    X, y = labelled(3)
    classes = complexity_curve(KNeighborsClassifier(), "n_neighbors", [45, 15, 5, 1], X, y)
    assert classes.training_mean[-1] == 0.0 and (classes.held_out >= 0.0).all() and (classes.held_out <= 1.0).all()


def test_a_learning_curve_uses_nested_parts_of_the_training_rows():
    X, y = labelled(4, n=300, d=15, apart=0.4)
    curve = learning_curve(Fisher(), X, y, shares=[0.1, 0.3, 1.0], cv=Folds(10))
    np.testing.assert_array_equal(curve.sizes, [27, 81, 270])
    assert curve.training_mean[0] < curve.training_mean[-1] < curve.held_out_mean[-1] < curve.held_out_mean[0]
    np.testing.assert_allclose(1 - curve.held_out[-1], cross_val_score(Fisher(), X, y, cv=Folds(10)))
    again = learning_curve(Fisher(), X, y, shares=[0.1, 0.3, 1.0], cv=Folds(10))
    np.testing.assert_array_equal(curve.held_out, again.held_out)


def test_numbers_are_validated_by_their_own_score():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 2))
    y = X @ [1.0, -2.0] + rng.standard_normal(80) / 10
    found = validate(KNeighborsRegressor(), X, y, cv=4)
    np.testing.assert_allclose(found.scores, cross_val_score(KNeighborsRegressor(), X, y, cv=Folds(4)))


def test_what_cannot_be_validated_is_refused_in_words():
    X, y = labelled()
    with pytest.raises(
        ParameterError, match="validation takes rows by number, and a source is read from its beginning"
    ):
        validate(Fisher(), ArrowSource(pa.table({"x": [1.0, 2.0]})), [0, 1])
    with pytest.raises(ParameterError, match="y is None"):
        validate(Fisher(), X, None)
    with pytest.raises(ParameterError, match="one group for each of the 90 rows; got shape"):
        validate(Fisher(), X, y, cv=GroupedFolds(3), groups=[1, 2])
    for wrong in (2.5, "five"):
        with pytest.raises(ParameterError, match=f"a number of folds; got {wrong!r}"):
            validate(Fisher(), X, y, cv=wrong)
    with pytest.raises(DataError, match="split 0 has row 5 in training and test: what is tested must be unseen"):
        validate(Fisher(), X, y, cv=[(np.arange(6), np.arange(5, 9))])
    with pytest.raises(DataError, match="split 0 has 90 training rows and 0 test rows"):
        validate(Fisher(), X, y, cv=[(np.arange(90), [])])
    with pytest.raises(ParameterError, match=r"splits are pairs .* \(train, test\); number 0 is '3'"):
        validate(Fisher(), X, y, cv=[3, 4])
    with pytest.raises(ParameterError, match="split 0 has row 90; there are 90 rows, counted from 0"):
        validate(Fisher(), X, y, cv=[(np.arange(60), [90])])
    with pytest.raises(DataError, match="there is no split"):
        validate(Fisher(), X, y, cv=[])
    with pytest.raises(ParameterError, match="Fisher has no option 'depth'; it has n_components, priors, shrinkage"):
        complexity_curve(Fisher(), "depth", [1], X, y)
    with pytest.raises(ParameterError, match="no values of shrinkage to try"):
        complexity_curve(Fisher(), "shrinkage", [], X, y)
    with pytest.raises(ParameterError, match="simplest is 'first' or 'last'"):
        complexity_curve(Fisher(), "shrinkage", [0.1], X, y, simplest="middle")
    with pytest.raises(ParameterError, match="shares are ascending numbers in"):
        learning_curve(Fisher(), X, y, shares=[0.5, 0.5])
