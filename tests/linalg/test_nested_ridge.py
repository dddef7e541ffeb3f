import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from assay.linalg.nested_ridge import Path, Sums, nested_ridge


def folds_of(Z, Y, k):
    return [Sums.of(Z[f::k], Y[f::k]) for f in range(k)]


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


def test_the_part_taken_out_leaves_the_sums_of_the_rest():
    rng = np.random.default_rng(0)
    Z, Y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    rest = Sums.of(Z, Y) - Sums.of(Z[:7], Y[:7])
    whole = Sums.of(Z[7:], Y[7:])
    for name in ("n", "x", "y", "xx", "xy", "yy"):
        np.testing.assert_allclose(getattr(rest, name), getattr(whole, name), atol=1e-12)


def test_about_another_origin_means_moving_the_rows():
    rng = np.random.default_rng(1)
    Z, Y = rng.standard_normal((9, 2)), rng.standard_normal((9, 1))
    x, y = np.array([1.0, -2.0]), np.array([0.5])
    moved, whole = Sums.of(Z, Y).about(x, y), Sums.of(Z - x, Y - y)
    for name in ("x", "y", "xx", "xy", "yy"):
        np.testing.assert_allclose(getattr(moved, name), getattr(whole, name), atol=1e-12)


def test_coefficients_are_those_of_scikit_learn():
    rng = np.random.default_rng(2)
    Z, Y = rng.standard_normal((30, 4)) + 3.0, rng.standard_normal((30, 2))
    expected = Ridge(2.5, solver="svd").fit(Z, Y).coef_.T
    np.testing.assert_allclose(Path.of(Sums.of(Z, Y)).coefficients(2.5), expected, atol=1e-10)
