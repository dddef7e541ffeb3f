"""Sums that linear prediction needs: their algebra, and ridge regressions and errors that follow from them alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from assay.linalg.regression.regression_sums import RegressionSums
from assay.linalg.regression.ridge_path import usual_penalties

NAMES = ("weight", "x", "y", "xx", "xy", "yy")


def rows(n=20, d=3, q=2, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) + offset, rng.standard_normal((n, q)) - offset


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 19), st.sampled_from([0.0, 1e5]))
def test_parts_add_up_to_the_whole_and_a_part_taken_out_leaves_the_rest(cut, offset):
    X, Y = rows(offset=offset)
    whole, part, rest = (
        RegressionSums.of(X, Y),
        RegressionSums.of(X[:cut], Y[:cut]),
        RegressionSums.of(X[cut:], Y[cut:]),
    )
    for name in NAMES:
        # sums of twenty squares about one, of values rounded at 1e-16 of the offset
        tolerance = {"rtol": 1e-12, "atol": 1e-12 + 1e-14 * offset}
        np.testing.assert_allclose(getattr(part + rest, name), getattr(whole, name), **tolerance)
        np.testing.assert_allclose(getattr(whole - part, name), getattr(rest, name), **tolerance)


def test_coefficients_are_those_of_scikit_learn():
    X, Y = rows(30, 4, 2, seed=2, offset=3.0)
    expected = Ridge(2.5, solver="svd").fit(X, Y).coef_.T
    np.testing.assert_allclose(RegressionSums.of(X, Y).path().coefficients(2.5), expected, atol=1e-10)


@pytest.mark.parametrize("d", [1, 5, 40])
def test_errors_in_other_rows_are_those_of_predictions_made_one_by_one(d):
    X, Y = rows(60, d, 3, seed=3, offset=2.0)
    alphas = np.array([0.3, 20.0])
    found = RegressionSums.of(X[:30], Y[:30]).path().errors(RegressionSums.of(X[30:], Y[30:]), alphas)
    for k, alpha in enumerate(alphas):
        model = Ridge(alpha, solver="svd").fit(X[:30], Y[:30])
        expected = ((Y[30:] - model.predict(X[30:])) ** 2).sum(axis=0)
        np.testing.assert_allclose(found[k], expected, rtol=1e-10)


def test_along_axes_is_turning_the_rows():
    X, Y = rows(seed=4)
    axes = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))[0][:, :2]
    turned, whole = RegressionSums.of(X, Y).along(axes), RegressionSums.of(X @ axes, Y)
    for name in NAMES:
        np.testing.assert_allclose(getattr(turned, name), getattr(whole, name), atol=1e-12)


def test_the_usual_penalties_have_the_same_ends_however_many_they_are():
    for count in (5, 17, 50):
        found = usual_penalties(30.0, 3, count)
        assert len(found) == count and (np.diff(found) > 0).all()
        np.testing.assert_allclose(found[[0, -1]], [1e-5, 1e4], rtol=1e-12)
    assert (usual_penalties(0.0, 3) > 0).all()  # columns that do not vary
