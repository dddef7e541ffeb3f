"""Least squares from products and triangles: NumPy's pseudo-inverse as oracle, what is determined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.linalg.regression.linear_fit import determined, fit_normal, fit_triangle, polished
from assay.summary.regression.triangles import triangle


@given(st.integers(1, 8), st.integers(0, 3), st.integers(0, 2**31))
@settings(max_examples=40)
def test_both_forms_give_the_shortest_solution_whatever_the_rank(d, extra, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, d))
    X = np.hstack([X, X @ rng.standard_normal((d, extra))]) * rng.choice([0.1, 1.0, 30.0], d + extra)
    Y = rng.standard_normal((30, 2))
    R = triangle(np.hstack([X, Y]))
    oracle = np.linalg.lstsq(X, Y, rcond=1e-10)[0]
    inverse = np.linalg.pinv(X.T @ X, rcond=1e-11)
    for found in (fit_normal(X.T @ X, X.T @ Y), fit_triangle(R[:, : d + extra], R[:, d + extra :], 30)):
        assert found.rank == d and found.dependent == extra
        np.testing.assert_allclose(found.coef, oracle, atol=1e-7 * np.abs(oracle).max())
        sure = ~found.undetermined
        np.testing.assert_allclose(
            (found.root @ found.root.T)[np.ix_(sure, sure)], inverse[np.ix_(sure, sure)], atol=1e-6
        )
        np.testing.assert_allclose(X @ found.null, 0.0, atol=1e-9)
        np.testing.assert_allclose(found.null.T @ found.null, np.eye(extra), atol=1e-12)
        assert determined(X, found.null).all()
        assert extra == 0 or not determined(rng.standard_normal((1, d + extra)), found.null).any()


def test_columns_of_zeros_have_no_part():
    found = fit_normal(np.diag([4.0, 0.0]), np.array([[2.0], [0.0]]))
    assert found.rank == 1 and found.undetermined.tolist() == [False, True] and found.dependent == 0
    np.testing.assert_array_equal(found.coef, [[0.5], [0.0]])
    nothing = fit_triangle(np.zeros((3, 2)), np.zeros((3, 1)), 3)
    assert nothing.rank == 0 and not nothing.coef.any() and nothing.undetermined.all()


def test_polishing_reaches_the_exact_solution():
    rng = np.random.default_rng(0)
    X = rng.integers(-50, 50, (40, 3)).astype(float)
    X[:, 2] = X[:, 0] + X[:, 1] + X[:, 2] / 64
    coef = np.array([[3.0], [-2.0], [7.0]])
    A = np.column_stack([np.ones(40), X])
    mean = X.mean(axis=0)
    found = fit_normal((X - mean).T @ (X - mean), (X - mean).T @ (X @ coef))
    rough = np.vstack([[[11.0]], found.coef * (1 + 1e-6)])
    np.testing.assert_array_equal(
        polished(A, A @ np.vstack([[[11.0]], coef]), rough, found.root, mean).round(13), np.vstack([[[11.0]], coef])
    )


def test_the_condition_number_is_that_of_columns_at_unit_length():
    X = np.random.default_rng(1).standard_normal((20, 4)) @ np.diag([1.0, 1e5, 1e-5, 1.0])
    found = fit_normal(X.T @ X, X.T @ X[:, :1])
    assert found.condition == pytest.approx(np.linalg.cond(X / np.linalg.norm(X, axis=0)), rel=1e-9)
