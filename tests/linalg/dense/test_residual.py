from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.linalg.dense.residual import _CHUNK, residual


def exactly(A, x, b):
    """The residual in rational arithmetic, rounded once."""
    rows = [[Fraction(v) for v in row] for row in A.tolist()]
    unknowns = [Fraction(v) for v in x.tolist()]
    return np.array(
        [
            float(Fraction(right) - sum(a * u for a, u in zip(row, unknowns, strict=True)))
            for row, right in zip(rows, b.tolist(), strict=True)
        ]
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 10_000))
def test_residuals_that_cancel_in_float64_are_right_to_the_last_digits(m, n, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, n)) * 10.0 ** rng.integers(-6, 7, (m, n))
    x = rng.standard_normal(n)
    b = A @ x
    exact = exactly(A, x, b)
    size = np.abs(A) @ np.abs(x)
    assert np.all(np.abs(residual(A, x, b) - exact) <= 1e-16 * np.abs(exact) + 1e-30 * size)


def test_terms_are_added_without_rounding_between_them():
    A, x = np.array([[1.0]]), np.array([1.0])
    assert residual(A, x, np.array([1e20]), np.array([-1e20]), np.array([1.25]))[0] == 0.25


def test_without_terms_it_is_minus_the_product():
    A = np.random.default_rng(0).standard_normal((4, 3))
    np.testing.assert_allclose(residual(A, np.ones(3)), -A.sum(axis=1), rtol=1e-15)


@pytest.mark.parametrize("shape", [(_CHUNK + 3, 2), (2, _CHUNK + 3), (300, 301)])
def test_chunks_cover_every_row_of_long_wide_and_transposed_matrices(shape):
    rng = np.random.default_rng(1)
    A = rng.integers(-9, 10, shape).astype(float)
    x, b = rng.integers(-9, 10, shape[1]).astype(float), rng.integers(-9, 10, shape[0]).astype(float)
    np.testing.assert_array_equal(residual(A, x, b), b - A @ x)
    np.testing.assert_array_equal(residual(A.T, b, x), x - A.T @ b)


def test_several_columns_are_as_many_single_ones():
    rng = np.random.default_rng(2)
    A, X, B = rng.standard_normal((5, 4)), rng.standard_normal((4, 3)), rng.standard_normal((5, 3))
    together = residual(A, X, B)
    for j in range(3):
        np.testing.assert_array_equal(together[:, j], residual(A, X[:, j], B[:, j]))
