"""Forward selection: against a greedy search by least squares on the rows, scikit-learn's, and refitted folds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression, orthogonal_mp

from assay import GroupedMoments, Moments, forward_selection
from assay.errors import DataError, ParameterError


def table(n=80, d=8, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1)) + 5.0
    return X, X @ rng.standard_normal(d) + noise * rng.standard_normal(n)


def left_over(X, y, columns):
    A = np.column_stack([np.ones(len(y)), X[:, columns]])
    off = y - A @ np.linalg.lstsq(A, y)[0]
    return float(off @ off)


def greedy(X, y, k):
    """The definition: fit every candidate anew at every step."""
    order, errors = [], []
    for _ in range(k):
        trials = {j: left_over(X, y, [*order, j]) for j in range(X.shape[1]) if j not in order}
        order.append(min(trials, key=trials.get))
        errors.append(trials[order[-1]])
    return order, errors


def summary(X, y, folds=None):
    both = np.column_stack([X, y])
    return Moments.of(both) if folds is None else GroupedMoments.of(both, folds)


@given(st.integers(10, 60), st.integers(1, 8), st.integers(0, 2**31))
@settings(max_examples=25)
def test_each_step_is_the_best_of_all_refits(n, d, seed):
    X, y = table(n, d, seed)
    found = forward_selection(summary(X, y), target=d)
    order, errors = greedy(X, y, d)
    assert found.order.tolist() == order
    np.testing.assert_allclose(found.error, errors, rtol=1e-8)
    total = np.sum((y - y.mean()) ** 2)
    np.testing.assert_allclose(found.r_squared, 1.0 - np.array(errors) / total, atol=1e-10)
    assert found.held_out_error is None and found.n_chosen is None


def test_scikit_learns_search_on_the_same_rows_takes_the_same_columns():
    X, y = table()
    every = np.arange(len(y))
    for k in (1, 3, 5):
        peer = SequentialFeatureSelector(LinearRegression(), n_features_to_select=k, cv=[(every, every)]).fit(X, y)
        found = forward_selection(summary(X, y), target=8, n_features=k)
        assert sorted(found.order) == np.flatnonzero(peer.get_support()).tolist()


def test_orthogonal_columns_are_matched_as_by_orthogonal_matching_pursuit():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 6))
    X = np.linalg.qr(X - X.mean(axis=0))[0]
    y = X @ [5.0, 0.1, -3.0, 0.0, 1.0, 2.0]
    found = forward_selection(summary(X, y), target=6, n_features=3)
    assert set(found.order) == set(np.flatnonzero(orthogonal_mp(X, y, n_nonzero_coefs=3)))


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_the_held_out_error_is_that_of_searching_anew_without_each_fold(shift):
    X, y = table(60, 6, noise=3.0)
    X = np.round(X * 1024) / 1024 + shift
    folds = np.arange(60) % 4
    found = forward_selection(summary(X, y, folds), target=6)
    errors = np.zeros((4, 7))
    for k in range(4):
        train, test = folds != k, folds == k
        order, _ = greedy(X[train], y[train], 6)
        assert found.fold_orders[k].tolist() == order
        for size in range(7):
            if size == 0:
                told = np.full(test.sum(), y[train].mean())
            else:
                told = LinearRegression().fit(X[train][:, order[:size]], y[train]).predict(X[test][:, order[:size]])
            errors[k, size] = np.sum((y[test] - told) ** 2)
    np.testing.assert_allclose(found.held_out_error, errors.sum(axis=0) / 60, rtol=1e-7)
    assert found.n_chosen == errors.sum(axis=0).argmin()
    np.testing.assert_array_equal(found.chosen, found.order[: found.n_chosen])


def test_noise_is_not_chosen_though_it_explains_the_rows_it_was_searched_on():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((60, 40)), rng.standard_normal(60)
    found = forward_selection(GroupedMoments.folds(np.column_stack([X, y]), 5), target=40, n_features=20)
    assert found.r_squared[-1] > 0.6
    assert found.held_out_error[20] > 1.2 * found.held_out_error[0]
    assert (
        forward_selection(
            GroupedMoments.folds(np.column_stack([X, y]), 5), target=40, rule="one-standard-error"
        ).chosen.tolist()
        == []
    )


def test_planted_columns_are_found_first_and_the_simpler_rule_takes_no_more():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 30))
    y = 3.0 * X[:, 7] - 2.0 * X[:, 21] + X[:, 4] + rng.standard_normal(400)
    folds = GroupedMoments.folds(np.column_stack([y, X]), 10)
    found = forward_selection(folds, target=0)
    assert found.order[:3].tolist() == [8, 22, 5]
    simple = forward_selection(folds, target=0, rule="one-standard-error")
    assert 3 == simple.n_chosen <= found.n_chosen


def test_names_are_told_and_the_target_may_stand_anywhere():
    X, y = table(50, 3)
    m = Moments.of(np.column_stack([X[:, 0], y, X[:, 1:]]), columns=["a", "price", "b", "c"])
    found = forward_selection(m, "price")
    plain = forward_selection(summary(X, y), 3)
    assert found.names == tuple("abc"[j] for j in plain.order)
    np.testing.assert_allclose(found.error, plain.error, rtol=1e-12)


def test_units_and_shifts_do_not_matter():
    X, y = table()
    plain = forward_selection(summary(X, y), 8)
    other = forward_selection(summary(X * np.geomspace(1e-100, 1e100, 8), y * 1e50 + 1e53), 8)
    assert other.order.tolist() == plain.order.tolist()
    np.testing.assert_allclose(other.r_squared, plain.r_squared, rtol=1e-6)


def test_columns_that_follow_from_others_or_are_constant_are_never_chosen():
    X, y = table(40, 3)
    more = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(40), X[:, 2]])
    found = forward_selection(summary(more, y, np.arange(40) % 3), 6)
    assert len(found.order) == 3 and 4 not in found.order
    assert found.held_out_error.shape == (4,)


def test_the_search_ends_when_nothing_is_left_to_explain():
    X, _ = table(40, 5)
    exact = forward_selection(summary(X, X[:, 3] * 2.0 + 1.0), 5)
    assert exact.order.tolist() == [3] and exact.r_squared[0] == pytest.approx(1.0)
    assert forward_selection(summary(X, np.ones(40)), 5).order.size == 0
    assert len(forward_selection(summary(*table(4, 9)), 9).order) == 3


def test_refusals_say_what_is_allowed():
    m = summary(*table())
    with pytest.raises(ParameterError, match="n_features is a number from 1 to 8, the columns beside .* got 9"):
        forward_selection(m, 8, n_features=9)
    with pytest.raises(ParameterError, match=r"forward selection has one target, by name or number; got \[7, 8\]"):
        forward_selection(m, [7, 8])
    with pytest.raises(ParameterError, match="rule is 'least' or 'one-standard-error'; got 'best'"):
        forward_selection(m, 8, rule="best")
    with pytest.raises(DataError, match="fold 'b' has no rows to judge by: leave it out"):
        forward_selection(GroupedMoments(("a", "b"), (m, Moments.empty(9))), 8)
