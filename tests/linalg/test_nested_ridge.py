import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from assay.linalg.nested_ridge import nested_ridge
from assay.linalg.regression_sums import RegressionSums


def folds_of(Z, Y, k):
    return [RegressionSums.of(Z[f::k], Y[f::k]) for f in range(k)]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 3), st.sampled_from([1, 2]))
def test_choice_and_error_are_those_of_ridge_regressions_fitted_one_by_one(seed, p, width):
    rng = np.random.default_rng(seed)
    Z, Y = rng.standard_normal((24, p)), rng.standard_normal((24, 2 * width)) + 1.0
    Y[:, 0] += Z[:, 0]
    strengths, k = np.array([0.1, 3.0, 100.0]), 4
    found = nested_ridge(folds_of(Z, Y, k), strengths, width=width)
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
