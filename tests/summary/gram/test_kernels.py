"""Kernels: scikit-learn and METHODS.md as oracles, positive semidefinite by law, values that compare and print."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from assay.errors import DataError, ParameterError
from assay.summary.gram.kernels import (
    FunctionKernel,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    as_kernel,
    median_distance,
)

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((40, 5)), RNG.standard_normal((17, 5))


def overlap(A, B):
    return np.minimum(A[:, None], B).sum(axis=2)


def dot_of_pairs(A, B):
    return (A * B).sum(axis=1)


def dot_of_rows(a, b):
    return float(a @ b)


def lopsided(A, B):
    return A[:, :1] + 2 * B[:, 0]


ORACLES = [
    (Linear(), pairwise.linear_kernel),
    (Polynomial(3, 2.0, 0.5), lambda A, B: pairwise.polynomial_kernel(A, B, degree=3, gamma=0.5, coef0=2.0)),
    (Gaussian(1.7), lambda A, B: pairwise.rbf_kernel(A, B, gamma=1 / (2 * 1.7**2))),
    (FunctionKernel(dot_of_pairs, "pairs"), pairwise.linear_kernel),
    (FunctionKernel(dot_of_rows, "rows"), pairwise.linear_kernel),
    (FunctionKernel(pairwise.chi2_kernel), pairwise.chi2_kernel),
]


@pytest.mark.parametrize(("kernel", "oracle"), ORACLES, ids=lambda v: repr(v) if isinstance(v, Kernel) else "")
def test_values_agree_with_scikit_learn(kernel, oracle):
    A, B = (np.abs(X), np.abs(Y)) if "chi2" in repr(kernel) else (X, Y)
    np.testing.assert_allclose(kernel(A, B), oracle(A, B), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel(A), oracle(A, A), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(oracle(A, A)), rtol=1e-12)


def test_the_gaussian_on_a_circle_has_the_published_centred_eigenvalues():
    angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    K = Gaussian(0.5)(np.column_stack([np.cos(angle), np.sin(angle)]))
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    expected = [17.8750840, 17.8750840, 11.7626501, 11.7626501, 6.1124338, 6.1124338]
    np.testing.assert_allclose(np.linalg.eigvalsh(centred)[::-1][:6], expected, atol=5e-8)


def test_doubling_sigma_divides_the_exponent_by_four():
    np.testing.assert_allclose(Gaussian(2.0)(X, Y) ** 4, Gaussian(1.0)(X, Y), rtol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 4), st.sampled_from([0.0, 1e3]))
def test_gram_matrices_are_positive_semidefinite_and_symmetric(seed, n, d, shift):
    rows = np.random.default_rng(seed).standard_normal((n, d)).round(1) + shift
    for kernel in (Linear(), Polynomial(3), Gaussian(0.7), Gaussian().resolve(rows)):
        K = kernel(rows)
        np.testing.assert_array_equal(K, K.T)
        assert np.linalg.eigvalsh(K)[0] >= -1e-13 * n * np.abs(K).max()


def test_the_gaussian_does_not_see_a_shift_by_1e8():
    shifted = X + 1e8
    exactly_back = shifted - 1e8  # the rounding of the shift is in the data, not in the kernel
    np.testing.assert_allclose(Gaussian(0.5)(shifted), Gaussian(0.5)(exactly_back), rtol=1e-7)


def test_the_gaussian_is_right_within_clusters_that_are_far_apart():
    rows = np.vstack([X, X + 1e9])
    np.testing.assert_allclose(
        Gaussian(1.0)(rows), np.exp(-cdist(rows, rows, "sqeuclidean") / 2), rtol=1e-7, atol=1e-300
    )


def test_a_row_seen_again_has_a_gaussian_value_of_exactly_one():
    for shift in (0.0, 1e8, 1e15):
        rows = X + shift
        assert (np.diag(Gaussian(1e-3)(rows)) == 1).all()
        assert (np.diag(Gaussian(1e-3)(rows, rows.copy())) == 1).all()


def test_sigma_by_default_is_the_median_distance_of_the_training_rows():
    kernel = Gaussian().resolve(X)
    assert kernel.sigma == pytest.approx(np.median(pdist(X)), rel=1e-12)
    assert kernel.resolve(100 * X) is kernel
    many = np.random.default_rng(1).standard_normal((5000, 3))
    assert median_distance(many) == median_distance(many)
    assert median_distance(many) == pytest.approx(np.median(pdist(many[:3000])), rel=0.03)


def test_sigma_by_default_leaves_equal_rows_aside():
    assert median_distance(np.array([[0.0]] * 50 + [[2.0]])) == 2
    for equal in (np.ones((7, 3)), np.ones((1, 3))):
        assert Gaussian().resolve(equal) == Gaussian(1.0)
        assert (Gaussian().resolve(equal)(equal) == 1).all()


def test_a_gaussian_without_sigma_says_what_it_needs():
    with pytest.raises(ParameterError, match=r"Gaussian\(\) has no sigma yet. Call resolve\(X\)"):
        Gaussian()(X)


def test_huge_and_tiny_rows_get_a_gaussian_and_are_refused_by_products():
    for size in (1e300, 1e-300):
        np.testing.assert_allclose(Gaussian(size)(X * size), Gaussian(1.0)(X), rtol=1e-9)
        assert Gaussian().resolve(X * size).sigma == pytest.approx(size * median_distance(X), rel=1e-9)
    np.testing.assert_array_equal(Gaussian(1.0)(X * 1e300), np.eye(40))
    np.testing.assert_array_equal(Gaussian(1.0)(X * 1e-300), np.ones((40, 40)))
    with pytest.raises(DataError, match=r"the linear kernel overflows on values as large as .*e\+300. Rescale"):
        Linear()(X * 1e300)
    for size in (1e-150, 1e-200, 1e-300):  # the square of the middle one is zero
        with pytest.raises(
            DataError, match=rf"the linear kernel underflows: no value is larger than .*{size:g}. Rescale"
        ):
            Linear()(X * (size / np.abs(X).max()))
    with pytest.raises(DataError, match=r"Polynomial\(degree=50, .*\) overflows on these rows. Standardise"):
        Polynomial(50)(X * 1e10)
    assert not Linear()(X * 0).any()


def test_kernels_are_values():
    assert Gaussian(2.0) == Gaussian(2.0) != Gaussian(3.0)
    assert len({Linear(), Linear(), Polynomial(2), Polynomial(3), Gaussian(), FunctionKernel(overlap)}) == 5
    assert repr(Polynomial(3)) == "Polynomial(degree=3, coef0=1.0, gamma=1.0)"
    assert repr(FunctionKernel(overlap)) == "FunctionKernel(overlap, takes='matrices')"
    with pytest.raises(AttributeError):
        Gaussian(2.0).sigma = 3.0
    for kernel in (Linear(), Polynomial(3), Gaussian(2.0), Precomputed(), FunctionKernel(overlap)):
        assert copy.deepcopy(kernel) == kernel == pickle.loads(pickle.dumps(kernel))
        assert clone(SVC(kernel=kernel)).get_params()["kernel"] == kernel


def test_float32_rows_are_computed_in_float64():
    half = X.astype(np.float32)
    np.testing.assert_array_equal(Gaussian(1.0)(half), Gaussian(1.0)(half.astype(np.float64)))


def test_arguments_are_not_changed():
    before, other = X.copy(), Y.copy()
    for kernel in (Linear(), Polynomial(2), Gaussian(1.0)):
        kernel(X, Y)
        kernel(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(Y, other)


def test_given_values_are_passed_on_when_they_fit():
    K = Gaussian(1.0)(X)
    np.testing.assert_array_equal(Precomputed()(K), K)
    np.testing.assert_array_equal(Precomputed()(K[:3], X), K[:3])
    np.testing.assert_array_equal(Precomputed().diagonal(K), np.ones(40))
    with pytest.raises(DataError, match=r"one column for each of the 17 training rows, has 40"):
        Precomputed()(K[:3], Y)
    with pytest.raises(DataError, match=r"the kernel matrix must be symmetric: row 0, column 1"):
        Precomputed()([[1.0, 0.0], [0.5, 1.0]])


def test_a_function_that_is_not_a_kernel_is_told_what_is_wrong():
    with pytest.raises(DataError, match=r"kernel dot_of_pairs must give values of shape \(40, 40\), gave \(40,\)"):
        FunctionKernel(dot_of_pairs)(X)
    with pytest.raises(DataError, match=r"the matrix of kernel lopsided must be symmetric: row \d+, column \d+"):
        FunctionKernel(lopsided)(X)
    with pytest.raises(DataError, match=r"kernel <lambda> must give finite values, gave nan at \(0, 0\)"):
        FunctionKernel(lambda A, B: np.full((len(A), len(B)), np.nan))(X)
    with pytest.raises(DataError, match=r"kernel <lambda> must give numbers"):
        FunctionKernel(lambda A, B: "far")(X)
    with pytest.raises(ParameterError, match=r'takes must be "matrices", "pairs" or "rows", is \'all\''):
        FunctionKernel(overlap, "all")
    with pytest.raises(ParameterError, match=r"a kernel function must be callable, is 3"):
        FunctionKernel(3)


def test_kernels_are_found_by_name_and_functions_are_wrapped():
    assert [as_kernel(k) for k in ("linear", "polynomial", "gaussian", "precomputed", Gaussian(3.0), overlap)] == [
        Linear(),
        Polynomial(),
        Gaussian(),
        Precomputed(),
        Gaussian(3.0),
        FunctionKernel(overlap),
    ]
    for wrong in ("cubic", 3, Gaussian):
        with pytest.raises(ParameterError, match=r'kernel must be one such as Gaussian\(\), a name \("linear", .*\)'):
            as_kernel(wrong)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Gaussian(0.0), r"sigma must be a positive number, is 0.0"),
        (lambda: Gaussian(np.nan), r"sigma must be a positive number, is nan"),
        (lambda: Polynomial(0), r"degree must be a whole number of at least 1, is 0"),
        (lambda: Polynomial(1.5), r"degree must be a whole number of at least 1, is 1.5"),
        (lambda: Polynomial(2, -1.0), r"coef0 must be finite and not negative, is -1.0"),
        (lambda: Polynomial(2, 1.0, 0.0), r"gamma must be a positive number, is 0.0"),
    ],
)
def test_impossible_parameters_are_refused(make, text):
    with pytest.raises(ParameterError, match=text):
        make()


def test_lengths_become_similarities():
    lengths = np.array([0.0, 1.0, 3.0, 5.0])
    np.testing.assert_allclose(Gaussian(2.0).of_distances(lengths), np.exp(-(lengths**2) / 8))
    np.testing.assert_array_equal(Gaussian().of_distances(lengths), Gaussian(3.0).of_distances(lengths))
    assert (Gaussian().of_distances([0.0, 0.0]) == 1).all()
