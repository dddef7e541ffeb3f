import numpy as np
import pytest
import scipy.linalg as sla
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.errors import ParameterError, SingularError
from assay.linalg import cholesky, lu, qr, solve_triangular

laws = settings(max_examples=30, deadline=None)
sizes, seeds = st.integers(1, 9), st.integers(0, 10_000)
scales = st.sampled_from([1e-300, 1e-8, 1.0, 1e8, 1e300])
VARIANTS, METHODS = ["doolittle", "crout"], ["householder", "gram-schmidt", "cholesky"]


def normal(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape)


@laws
@given(sizes, seeds, scales, st.sampled_from(VARIANTS))
def test_the_triangles_multiply_to_the_permuted_matrix(n, seed, scale, variant):
    A = normal((n, n), seed)
    f = lu(A * scale, variant)
    unit, other = (f.lower, f.upper) if variant == "doolittle" else (f.upper, f.lower)
    np.testing.assert_array_equal(np.diag(unit), 1.0)
    np.testing.assert_array_equal(np.triu(f.lower, 1), 0.0)
    np.testing.assert_array_equal(np.tril(f.upper, -1), 0.0)
    product = f.lower @ (other / scale) if variant == "doolittle" else (other / scale) @ f.upper
    np.testing.assert_allclose(product, A[f.permutation], atol=1e-13 * n)
    assert sorted(f.permutation) == list(range(n))


def test_doolittle_agrees_with_lapack():
    A = normal((6, 6), 1)
    P, L, U = sla.lu(A)
    f = lu(A)
    np.testing.assert_allclose(f.lower, L, atol=1e-14)
    np.testing.assert_allclose(f.upper, U, atol=1e-14)
    np.testing.assert_array_equal(np.eye(6)[:, f.permutation], P)


@pytest.mark.parametrize(
    ("A", "pivot"),
    [
        ([[0.0]], 0),
        ([[1.0, 2.0], [2.0, 4.0]], 1),
        ([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]], 2),
        (np.outer([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.7]), 1),
    ],
)
def test_a_singular_matrix_is_refused_at_the_pivot_that_vanishes(A, pivot):
    with pytest.raises(SingularError, match=rf"A is singular: pivot {pivot} \(counted from 0\)"):
        lu(A)


def test_a_badly_scaled_matrix_is_not_singular():
    for A in (np.diag([1e300, 1e-300]), np.array([[1.0, 2.0], [3e-20, 4e-20]])):
        f = lu(A)
        np.testing.assert_allclose(f.lower @ f.upper, A[f.permutation], rtol=1e-15)


@laws
@given(sizes, seeds, scales)
def test_the_cholesky_factor_is_lower_positive_and_squares_to_the_matrix(n, seed, scale):
    A = normal((n, n + 2), seed)
    A = A @ A.T
    L = cholesky(A * scale)
    assert np.all(np.diag(L) > 0)
    np.testing.assert_array_equal(np.triu(L, 1), 0.0)
    root = np.sqrt(scale)
    np.testing.assert_allclose((L / root) @ (L / root).T, A, rtol=0, atol=1e-13 * np.abs(A).max() * n)


def test_the_cholesky_factor_agrees_with_lapack_and_stands_bad_scaling():
    A = normal((5, 8), 3)
    A = A @ A.T
    np.testing.assert_allclose(cholesky(A), np.linalg.cholesky(A), rtol=1e-12)
    D = np.array([1e150, 1e-150, 1.0, 1e60, 1e-60])
    np.testing.assert_allclose(cholesky(A * D * D[:, None]) / D[:, None], np.linalg.cholesky(A), rtol=1e-12)


@pytest.mark.parametrize(
    ("A", "text"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "leading minor of order 2 is not positive"),
        ([[1.0, 1.0], [1.0, 1.0]], "leading minor of order 2 is not positive"),
        (np.ones((4, 4)) + np.diag([1.0, 0, 0, 1]), "leading minor of order 3 is not positive"),
        ([[1.0, 0.0], [0.0, -1.0]], r"diagonal entry 1 \(counted from 0\) is -1"),
        ([[0.0]], r"diagonal entry 0 \(counted from 0\) is 0"),
    ],
)
def test_what_is_not_positive_definite_is_refused_at_its_minor(A, text):
    with pytest.raises(SingularError, match=f"A is not positive definite: .*{text}.*ridge"):
        cholesky(A)


def test_a_gram_matrix_of_dependent_columns_is_refused_although_lapack_may_pass_it():
    X = normal((50, 6), 0)
    X[:, 5] = X[:, 0] + X[:, 1]
    with pytest.raises(SingularError, match="leading minor of order 6"):
        cholesky(X.T @ X)


@laws
@given(sizes, sizes, seeds, scales, st.sampled_from(METHODS))
def test_orthonormal_columns_times_the_triangle_are_the_matrix(m, n, seed, scale, method):
    assume(m >= n or method == "householder")
    A = normal((m, n), seed)
    assume(np.linalg.cond(A) < 1e6)
    f = qr(A * scale, method)
    k = min(m, n)
    np.testing.assert_allclose(f.orthogonal.T @ f.orthogonal, np.eye(k), atol=1e-13)
    np.testing.assert_allclose(f.orthogonal @ (f.upper / scale), A, atol=1e-12)
    np.testing.assert_array_equal(np.tril(f.upper, -1), 0.0)
    assert np.all(np.diag(f.upper) >= 0)


def test_the_three_routes_give_the_same_factors():
    A = normal((20, 6), 2)
    reference = qr(A)
    for method in METHODS[1:]:
        other = qr(A, method)
        np.testing.assert_allclose(other.orthogonal, reference.orthogonal, atol=1e-13)
        np.testing.assert_allclose(other.upper, reference.upper, atol=1e-12)


@pytest.mark.parametrize("method", ["householder", "gram-schmidt"])
def test_nearly_dependent_columns_still_give_orthonormal_ones(method):
    hilbert = sla.hilbert(9)  # condition 5e11
    Q = qr(hilbert, method).orthogonal
    np.testing.assert_allclose(Q.T @ Q, np.eye(9), atol=1e-14)


@pytest.mark.parametrize("n", range(2, 14))
def test_the_cholesky_route_is_orthonormal_or_refused_where_squaring_loses_definiteness(n):
    hilbert = sla.hilbert(n)
    if np.linalg.cond(hilbert) < 1e7:
        Q = qr(hilbert, "cholesky").orthogonal
        np.testing.assert_allclose(Q.T @ Q, np.eye(n), atol=1e-14)
    elif np.linalg.cond(hilbert) > 1e10:
        with pytest.raises(SingularError, match=r"A\^T A is not positive definite.*condition above 1e8.*householder"):
            qr(hilbert, "cholesky")


def test_columns_of_very_different_length_are_no_obstacle():
    A = normal((8, 3), 4)
    D = np.array([1e200, 1.0, 1e-200])
    for method in METHODS:
        f = qr(A * D, method)
        np.testing.assert_allclose(f.upper / D, qr(A).upper, atol=1e-13)


def test_dependent_columns_are_refused_by_gram_schmidt_and_named():
    A = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 5.0], [1.0, 2.0, 9.0]])
    with pytest.raises(SingularError, match=r"column 1 of A \(counted from 0\) depends on the columns before it"):
        qr(A, "gram-schmidt")
    f = qr(A)
    np.testing.assert_allclose(f.orthogonal @ f.upper, A, atol=1e-14)


@pytest.mark.parametrize("method", METHODS[1:])
def test_more_columns_than_rows_need_householder(method):
    with pytest.raises(SingularError, match="the 3 columns of A must be independent, but they have only 2 rows"):
        qr(np.ones((2, 3)), method)


@laws
@given(sizes, seeds, st.booleans(), st.booleans(), st.booleans())
def test_substitution_solves_either_triangle_and_its_transpose(n, seed, lower, transposed, several):
    T = normal((n, n), seed) + 4 * np.eye(n)
    b = normal((n, 3) if several else n, seed + 1)
    x = solve_triangular(T, b, lower=lower, transposed=transposed)
    triangle = np.tril(T) if lower else np.triu(T)
    np.testing.assert_allclose((triangle.T if transposed else triangle) @ x, b, atol=1e-9)


def test_a_zero_on_the_diagonal_is_refused_and_named():
    with pytest.raises(SingularError, match=r"T is singular: row 1 \(counted from 0\) has a zero on the diagonal"):
        solve_triangular([[1, 2], [0, 0]], [1, 1])


def test_unknown_variants_are_refused():
    with pytest.raises(ParameterError, match="variant must be 'doolittle' or 'crout', is 'x'"):
        lu(np.eye(2), "x")
    with pytest.raises(ParameterError, match="method must be 'householder', .* is 'x'"):
        qr(np.eye(2), "x")


def test_arguments_are_left_as_they_were():
    A = normal((4, 4), 0)
    S = A @ A.T
    before, before_s = A.copy(), S.copy()
    lu(A), lu(A, "crout"), cholesky(S), solve_triangular(A, A)
    for method in METHODS:
        qr(A, method)
    np.testing.assert_array_equal(A, before)
    np.testing.assert_array_equal(S, before_s)
