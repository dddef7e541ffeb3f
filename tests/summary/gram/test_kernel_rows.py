"""Kernel rows and sums at the speed of a product: the same values as the kernel's own, wherever the rows lie."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Gaussian, Gram, Linear, Polynomial
from assay.summary.gram._exp_kernels import exp2_float32, exp2_float64
from assay.summary.gram.kernel_rows import kernel_rows, kernel_sums


def table(n=50, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def overlap(X, Y):
    return np.minimum(np.abs(X)[:, None], np.abs(Y)).sum(axis=2)


def rows_of(source, dtype, columns=None):
    n = len(source.diagonal)
    out = np.empty((n, n if columns is None else len(columns)), dtype=dtype)
    source.among(columns, np.dtype(dtype))(np.arange(n), out)
    return out


@pytest.mark.parametrize("kernel", [Gaussian(0.8), Linear(), Polynomial(3), overlap])
@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 2e-6), (np.float64, 1e-13)])
def test_rows_are_those_of_the_gram_matrix(kernel, hold, dtype, error):
    X = table()
    gram, columns = Gram.of(X, kernel, hold=hold), np.array([0, 3, 17, 49])
    source, truth = kernel_rows(gram), Gram.of(X, kernel).values
    size = np.abs(truth).max()
    np.testing.assert_allclose(rows_of(source, dtype), truth, atol=error * size)
    np.testing.assert_allclose(rows_of(source, dtype, columns), truth[:, columns], atol=error * size)
    np.testing.assert_allclose(source.diagonal, np.diag(truth), rtol=1e-12)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), overlap])
@pytest.mark.parametrize("hold", [True, False])
def test_a_shift_moves_the_origin_and_no_distance(kernel, hold):
    X = table() + 30.0
    plain, shifted = (rows_of(kernel_rows(Gram.of(X, kernel, hold=hold), shift=s), np.float64) for s in (False, True))
    apart = [np.diag(K)[:, None] + np.diag(K) - 2 * K for K in (plain, shifted)]
    np.testing.assert_allclose(apart[1], apart[0], atol=1e-11 * np.abs(plain).max())
    assert np.diag(shifted).max() < np.diag(plain).max() / 10


@pytest.mark.parametrize("distance", [0.0, 30.0, 1e6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gaussian_rows_far_from_the_middle_keep_their_digits(distance, dtype):
    near = table(30, 3)
    X = np.vstack([near, near + distance])  # two groups: one of them is far from any middle
    truth = np.exp(-0.5 * ((near[:, None] - near) ** 2).sum(axis=2))
    values = rows_of(kernel_rows(Gram.of(X, Gaussian(1.0), hold=False)), dtype)
    for group in (slice(0, 30), slice(30, 60)):
        np.testing.assert_allclose(values[group, group], truth, atol=2e-5 if dtype == np.float32 else 1e-8)
    assert (np.diag(values) == 1.0).all()


def test_the_error_that_float32_rows_declare_is_the_one_they_have():
    for kernel in (Gaussian(1.5), Linear(), Polynomial(2)):
        X = table(400, 6)
        source, truth = kernel_rows(Gram.of(X, kernel, hold=False)), Gram.of(X, kernel).values
        measured = np.sqrt(np.mean((rows_of(source, np.float32) - truth) ** 2))
        assert 0.3 * measured <= source.error(np.dtype(np.float32)) <= 3 * measured + 3e-8 * np.abs(truth).max()


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 10**6), st.floats(0.05, 20.0), st.booleans())
def test_sums_for_new_rows_are_kernel_values_times_weights(m, p, seed, sigma, far):
    X, points = table(m, 3, seed), table(p, 3, seed + 1)
    if far:
        X, points = X + 2.0**30, points + 2.0**30
    weights = np.random.default_rng(seed).standard_normal((p, 2))
    for kernel in (Gaussian(sigma), Polynomial(2), Linear()):
        truth = kernel(X, points) @ weights
        size = np.abs(kernel(X, points)).max() * np.abs(weights).sum()
        np.testing.assert_allclose(kernel_sums(kernel, X, points, weights), truth, atol=2e-9 * max(size, 1e-300))


def test_sums_do_not_depend_on_the_cut_into_blocks():
    X, points = table(3000, 5), table(2000, 5, seed=1)
    weights = np.full(2000, 1 / 2000)
    whole = kernel_sums(Gaussian(2.0), X, points, weights)
    np.testing.assert_allclose(whole[:7], kernel_sums(Gaussian(2.0), X[:7], points, weights), rtol=1e-13)


@pytest.mark.parametrize(("power", "dtype"), [(exp2_float32, np.float32), (exp2_float64, np.float64)])
def test_powers_of_two_are_exact_to_the_last_places(power, dtype):
    # a polynomial in f, at most 1/2 in size: each product halves the errors before it, so all come to two roundings
    error = 2 * float(np.finfo(dtype).eps)
    exponents = -np.concatenate([np.linspace(0, 30, 10_001), np.arange(100.0)]).astype(dtype)
    found = exponents[None].copy()
    power(found)
    np.testing.assert_allclose(found[0].astype(np.longdouble), np.exp2(exponents.astype(np.longdouble)), rtol=error)
    beyond = np.array([[1e-3, 0.0, -np.inf, -1e30]], dtype=dtype)
    power(beyond)
    assert (beyond[0, :2] == 1.0).all() and (beyond[0, 2:] < 1e-37).all()
