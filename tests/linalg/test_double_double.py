"""Double-double arithmetic against exact rationals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.linalg import double_double as dd

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
