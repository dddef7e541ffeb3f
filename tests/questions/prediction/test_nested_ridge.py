import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from assay.linalg.regression.regression_sums import RegressionSums
from assay.questions.prediction.nested_ridge import judged_folds, nested_ridge, simplest_least


def folds_of(Z, Y, k):
    return [RegressionSums.of(Z[f::k], Y[f::k]) for f in range(k)]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 3), st.sampled_from([1, 2]))
def test_choice_and_error_are_those_of_ridge_regressions_fitted_one_by_one(seed, p, width):
    rng = np.random.default_rng(seed)
    Z, Y = rng.standard_normal((24, p)), rng.standard_normal((24, 2 * width)) + 1.0
    Y[:, 0] += Z[:, 0]
    strengths, k = np.array([0.1, 3.0, 100.0]), 4
    found = nested_ridge(folds_of(Z, Y, k), strengths, width=width, choice="blocks")
    number = np.arange(24) % k

    def squares(train, test, strength, columns):
        model = Ridge(strength).fit(Z[train], Y[train][:, columns])
        return float(((Y[test][:, columns] - model.predict(Z[test]).reshape(-1, width)) ** 2).sum())

    for t in range(2):
        columns = list(range(t * width, (t + 1) * width))
        for f in range(k):
            inner = [
                sum(squares((number != f) & (number != j), number == j, s, columns) for j in range(k) if j != f)
                for s in strengths
            ]
            assert found.chosen[f, t] == int(np.argmin(inner))
            expected = squares(number != f, number == f, strengths[np.argmin(inner)], columns)
            assert found.errors[f, t] == pytest.approx(expected, rel=1e-9)


def test_the_problems_one_by_one_are_those_found_together():
    rng = np.random.default_rng(0)
    found = nested_ridge(folds_of(rng.standard_normal((30, 2)), rng.standard_normal((30, 6)), 3), np.ones(2), width=2)
    each = found.each()
    assert len(each) == 3
    for name in ("errors", "base", "chosen", "explained"):
        np.testing.assert_array_equal(
            np.concatenate([getattr(one, name) for one in each], axis=-1), getattr(found, name)
        )


def test_the_choice_by_rows_is_generalised_cross_validation_with_the_hat_matrix_written_out():
    rng = np.random.default_rng(1)
    Z, y = rng.standard_normal((30, 4)), rng.standard_normal((30, 1))
    y += Z[:, :1]
    strengths = np.array([0.01, 1.0, 10.0, 100.0])
    found = nested_ridge(folds_of(Z, y, 3), strengths)
    for f in range(3):
        train = np.arange(30) % 3 != f
        X, t = Z[train] - Z[train].mean(axis=0), y[train] - y[train].mean()
        scores = []
        for s in strengths:
            H = X @ np.linalg.solve(X.T @ X + s * np.eye(4), X.T) + 1.0 / 20
            scores.append(float(((t - H @ t) ** 2).sum() / (1.0 - np.trace(H) / 20) ** 2))
        assert found.chosen[f, 0] == int(np.argmin(scores))
        model = Ridge(strengths[np.argmin(scores)]).fit(Z[train], y[train, 0])
        expected = float(((y[~train, 0] - model.predict(Z[~train])) ** 2).sum())
        # sums of 30 squares and systems with a condition below 10
        assert found.errors[f, 0] == pytest.approx(expected, rel=1e-9)


def test_forward_folds_are_taught_and_chosen_for_by_those_before_them():
    rng = np.random.default_rng(2)
    Z, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    strengths, fold = np.array([0.1, 5.0, 500.0]), np.arange(40) // 8
    parts = [RegressionSums.of(Z[fold == f], y[fold == f, None]) for f in range(5)]
    found = nested_ridge(parts, strengths, choice="forward")
    errors = np.empty((5, 3))
    for f in range(1, 5):
        for i, s in enumerate(strengths):
            model = Ridge(s).fit(Z[fold < f], y[fold < f])
            errors[f, i] = ((y[fold == f] - model.predict(Z[fold == f])) ** 2).sum()
    for place, f in enumerate(judged_folds(5, "forward")):
        chosen = int(errors[1:f].sum(axis=0).argmin())
        assert found.chosen[place, 0] == chosen
        assert found.errors[place, 0] == pytest.approx(errors[f, chosen], rel=1e-9)
        before = y[fold < f].mean()
        assert found.base[place, 0] == pytest.approx(((y[fold == f] - before) ** 2).sum(), rel=1e-9)
    assert len(found.errors) == 3


def test_a_target_that_does_not_vary_leaves_nothing_to_explain():
    Z = np.random.default_rng(3).standard_normal((30, 2))
    for choice in ("rows", "blocks", "forward"):
        assert nested_ridge(folds_of(Z, np.ones((30, 1)), 5), np.ones(2), choice=choice).explained[0] == 0.0


@pytest.mark.parametrize("choice", ["rows", "blocks", "forward"])
def test_decompositions_that_are_known_change_nothing_and_serve_other_targets_and_fewer_folds(choice):
    rng = np.random.default_rng(5)
    Z, known, strengths = rng.standard_normal((60, 3)), {}, np.array([0.1, 1.0, 10.0])
    for _ in range(2):
        parts = folds_of(Z, rng.standard_normal((60, 4)), 5)
        for left in ([0, 1, 2, 3, 4], [0, 1, 3, 4]):
            some = [parts[k] for k in left]
            fresh = nested_ridge(some, strengths, 2, choice=choice)
            again = nested_ridge(some, strengths, 2, choice=choice, numbers=left, known=known)
            # sums without folds are taken in another order for each: the last digits differ
            np.testing.assert_allclose(again.errors, fresh.errors, rtol=1e-9)
            np.testing.assert_array_equal(again.chosen, fresh.chosen)


def test_of_several_sets_of_columns_the_simple_one_is_chosen_unless_another_is_clearly_less():
    rng = np.random.default_rng(6)
    Z, noise = rng.standard_normal((90, 2)), rng.standard_normal((90, 2))
    y = np.column_stack([Z[:, 0], Z[:, 0] ** 2]) + 0.1 * rng.standard_normal((90, 2))
    simple, same, square = (
        nested_ridge(folds_of(columns, y, 3), np.array([0.1, 1.0])) for columns in (Z, np.hstack([Z, noise]), Z**2)
    )
    np.testing.assert_array_equal(simplest_least([simple, same, square]), [[0, 2]] * 3)
    np.testing.assert_array_equal(simplest_least([simple, simple]), np.zeros((3, 2)))
