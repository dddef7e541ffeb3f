"""Double-double arithmetic against exact rationals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.linalg import double_double as dd
from assay.linalg.double_double import _CHUNK, residual

numbers = st.floats(-1e100, 1e100, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-100)


def exact(pair):
    return Fraction(float(pair[0])) + Fraction(float(pair[1]))


def of(a, b):
    """A normalised pair from two floats."""
    return dd.add(dd.pair(a), dd.pair(b * 1e-17))


@given(numbers, numbers)
def test_sum_and_product_lose_nothing(a, b):
    assert exact(dd.two_sum(np.float64(a), np.float64(b))) == Fraction(a) + Fraction(b)
    assert exact(dd.two_product(np.float64(a), np.float64(b))) == Fraction(a) * Fraction(b)


@pytest.mark.parametrize(
    ("operation", "oracle"),
    [
        (dd.add, lambda x, y: x + y),
        (dd.multiply, lambda x, y: x * y),
        (dd.divide, lambda x, y: x / y),
    ],
)
@given(numbers, numbers, numbers, numbers)
def test_pairs_keep_thirty_digits(operation, oracle, a, b, c, d):
    x, y = of(a, b), of(c, d)
    if operation is dd.divide and exact(y) == 0:
        return
    truth = oracle(exact(x), exact(y))
    scale = abs(exact(x)) + abs(exact(y)) if operation is dd.add else abs(truth)
    assert abs(exact(operation(x, y)) - truth) <= scale * Fraction(1, 10**30)


@given(*[numbers] * 6)
def test_three_at_once_are_as_good_as_one_after_another(a, b, c, d, e, f):
    x, y, z = of(a, b), of(c, d), of(e, f)
    truth = exact(x) + exact(y) + exact(z)
    scale = abs(exact(x)) + abs(exact(y)) + abs(exact(z))
    assert abs(exact(dd.add_three(x, y, z)) - truth) <= scale * Fraction(1, 10**30)
    assert exact(dd.add_three(x, y, z)) == exact(dd.add_three(y, x, z))


@given(st.floats(1e-100, 1e100), numbers)
def test_square_root_squares_back(a, b):
    x = dd.add(dd.pair(a), dd.pair(a * 1e-17 * np.tanh(b)))
    root = exact(dd.square_root(x))
    assert abs(root * root - exact(x)) <= exact(x) * Fraction(1, 10**29)


def test_outer_is_symmetric_to_the_bit_and_right_to_thirty_digits():
    rng = np.random.default_rng(0)
    v = dd.add(dd.pair(rng.standard_normal(6)), dd.pair(rng.standard_normal(6) * 1e-18))
    high, low = dd.outer(v, v)
    np.testing.assert_array_equal(high, high.T)
    np.testing.assert_array_equal(low, low.T)
    for i in range(6):
        for j in range(6):
            truth = exact((v[0][i], v[1][i])) * exact((v[0][j], v[1][j]))
            assert abs(exact((high[i, j], low[i, j])) - truth) <= abs(truth) * Fraction(1, 10**30)


@given(st.integers(0, 10**6))
def test_order_of_summation_does_not_show(seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(50) * 10.0 ** rng.integers(-8, 8, 50)

    def total(terms):
        result = dd.pair(0.0)
        for term in terms:
            result = dd.add(result, dd.pair(term))
        return float(result[0])

    assert total(values) == total(rng.permutation(values))


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
