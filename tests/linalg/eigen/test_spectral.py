import numpy as np
import pytest
import scipy.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from assay.errors import DataError, SingularError
from assay.linalg import eigen, eigen_symmetric, fix_signs, generalized_eigen, svd
from assay.linalg.eigen.spectral import column_signs

RATINGS = [[5, 4, 1], [5, 5, 0], [0, 0, 5], [1, 0, 4]]
squares = st.integers(1, 7).flatmap(lambda n: arrays(float, (n, n), elements=st.floats(-10, 10)))
matrices = st.tuples(st.integers(1, 7), st.integers(1, 7)).flatmap(
    lambda shape: arrays(float, shape, elements=st.floats(-10, 10))
)
laws = settings(max_examples=40, deadline=None)


def random_symmetric(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return (A + A.T) / 2


def has_fixed_signs(vectors):
    lead = np.abs(vectors).argmax(axis=0)
    return np.all(vectors[lead, np.arange(vectors.shape[1])] > 0)


@laws
@given(squares)
def test_a_symmetric_matrix_is_its_orthonormal_vectors_times_its_descending_values(A):
    A = A + A.T
    spectrum = eigen_symmetric(A)
    V, size = spectrum.vectors, max(1.0, np.abs(A).max())
    assert np.all(np.diff(spectrum.values) <= 0)
    np.testing.assert_allclose(V.T @ V, np.eye(len(A)), atol=1e-13)
    np.testing.assert_allclose((V * spectrum.values) @ V.T, A, atol=1e-13 * size * len(A))


@laws
@given(matrices)
def test_any_matrix_is_its_orthonormal_sides_times_its_descending_values(A):
    s = svd(A)
    k, size = min(A.shape), max(1.0, np.abs(A).max())
    assert np.all(np.diff(s.values) <= 0)
    assert np.all(s.values >= 0)
    np.testing.assert_allclose(s.left.T @ s.left, np.eye(k), atol=1e-13)
    np.testing.assert_allclose(s.right.T @ s.right, np.eye(k), atol=1e-13)
    np.testing.assert_allclose((s.left * s.values) @ s.right.T, A, atol=1e-13 * size * max(A.shape))


def test_the_ratings_matrix_has_its_published_singular_values():
    np.testing.assert_allclose(svd(RATINGS).values, [9.6438109, 6.3638909, 0.7055523], atol=5e-8)


def test_singular_values_are_the_roots_of_the_eigenvalues_of_the_gram_matrix():
    A = np.random.default_rng(1).standard_normal((6, 4))
    spectrum, s = eigen_symmetric(A.T @ A), svd(A)
    np.testing.assert_allclose(s.values**2, spectrum.values, rtol=1e-12)
    np.testing.assert_allclose(s.right, spectrum.vectors, atol=1e-12)


@laws
@given(squares)
def test_a_general_matrix_stretches_each_of_its_vectors_by_its_value(A):
    result = eigen(A)
    size = max(1.0, np.abs(A).max())
    residual = A @ result.vectors - result.vectors * result.values
    assert np.abs(residual).max() <= 1e-11 * size * len(A)
    assert np.all(np.diff(np.abs(result.values)) <= 1e-9 * size)


@pytest.mark.parametrize("tiny", [1e-212, 1e-60, 1e-20])
def test_tiny_entries_do_not_spoil_the_vectors_as_they_do_in_lapack(tiny):
    A = np.full((5, 5), tiny)
    A[0, 1] = A[3, 3] = 1.0
    values, vectors = sla.eig(A)
    result = eigen(A)
    assert np.abs(A @ vectors - vectors * values).max() > 1e-11
    assert np.abs(A @ result.vectors - result.vectors * result.values).max() < 1e-14


def test_a_rotation_has_a_conjugate_pair_with_the_positive_imaginary_part_first():
    c, s = np.cos(0.3), np.sin(0.3)
    values = eigen([[c, -s], [s, c]]).values
    np.testing.assert_allclose(values, [c + 1j * s, c - 1j * s], atol=8 * np.finfo(float).eps)


def test_general_values_agree_with_lapack_for_a_companion_matrix():
    roots = np.array([5.0, -4.0, 3.0, 0.5])
    np.testing.assert_allclose(eigen(sla.companion(np.poly(roots))).values, roots, rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_scaling_the_matrix_scales_the_values_and_keeps_the_vectors(scale):
    A = random_symmetric(5)
    B = np.random.default_rng(2).standard_normal((5, 3))
    plain, scaled = eigen_symmetric(A), eigen_symmetric(A * scale)
    np.testing.assert_allclose(scaled.values / scale, plain.values, rtol=1e-12)
    np.testing.assert_allclose(scaled.vectors, plain.vectors, atol=1e-12)
    np.testing.assert_allclose(svd(B * scale).values / scale, svd(B).values, rtol=1e-12)
    general = np.random.default_rng(3).standard_normal((5, 5))
    np.testing.assert_allclose(eigen(general * scale).values / scale, eigen(general).values, rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_generalised_vectors_are_orthonormal_in_the_second_matrix(scale):
    A, B = random_symmetric(6, 1), random_symmetric(6, 2)
    B = B @ B + np.eye(6)
    result = generalized_eigen(A, B * scale)
    V = result.vectors * np.sqrt(scale)
    np.testing.assert_allclose(V.T @ B @ V, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(A @ V, (B @ V) * (result.values * scale), atol=1e-11)
    np.testing.assert_allclose(result.values * scale, sla.eigvalsh(A, B)[::-1], rtol=1e-10)


def test_the_generalised_problem_with_the_identity_is_the_plain_one():
    A = random_symmetric(5, 4)
    general, plain = generalized_eigen(A, np.eye(5)), eigen_symmetric(A)
    np.testing.assert_allclose(general.values, plain.values, atol=1e-13)
    np.testing.assert_allclose(general.vectors, plain.vectors, atol=1e-12)


def test_a_second_matrix_that_is_not_definite_is_refused():
    with pytest.raises(SingularError, match=r"B must be positive definite, its smallest eigenvalue is -1.*ridge"):
        generalized_eigen(np.eye(2), np.diag([1.0, -1.0]))


def test_matrices_of_different_shape_are_refused():
    with pytest.raises(DataError, match=r"same shape, have \(2, 2\) and \(3, 3\)"):
        generalized_eigen(np.eye(2), np.eye(3))


@laws
@given(arrays(float, (4, 3), elements=st.floats(-1, 1)))
def test_fixing_signs_is_idempotent_and_undoes_any_flip(V):
    fixed = fix_signs(V)
    np.testing.assert_array_equal(np.abs(fixed), np.abs(V))
    np.testing.assert_array_equal(fix_signs(fixed), fixed)
    np.testing.assert_array_equal(fix_signs(V * np.array([-1.0, 1.0, -1.0])), fixed)


def test_rounding_does_not_choose_the_sign_when_moduli_tie():
    r = np.sqrt(0.5)
    for noise in (-1e-12, 0.0, 1e-12):
        np.testing.assert_allclose(fix_signs(np.array([[-r], [r + noise]])), [[r], [-r]], atol=1e-11)


def test_a_zero_column_keeps_its_sign_and_a_complex_one_is_turned_to_a_positive_lead():
    assert column_signs(np.zeros((3, 1)))[0] == 1
    turned = fix_signs(np.array([[1.0 + 0j], [2j]]))
    np.testing.assert_allclose(turned, [[-1j], [2.0]])


def test_the_lead_of_every_vector_is_positive():
    A = random_symmetric(8, 9)
    s = svd(np.random.default_rng(0).standard_normal((8, 5)))
    assert has_fixed_signs(eigen_symmetric(A).vectors)
    assert has_fixed_signs(s.right)


@pytest.mark.parametrize("A", [np.zeros((3, 3)), np.eye(3), np.ones((3, 3)), [[-2.0]]])
def test_zero_repeated_and_one_by_one_matrices_decompose(A):
    spectrum = eigen_symmetric(A)
    V = spectrum.vectors
    np.testing.assert_allclose((V * spectrum.values) @ V.T, A, atol=1e-14)
    s = svd(A)
    np.testing.assert_allclose((s.left * s.values) @ s.right.T, A, atol=1e-14)


def test_the_argument_is_left_as_it_was():
    A = random_symmetric(4)
    before = A.copy()
    eigen_symmetric(A), eigen(A), svd(A), generalized_eigen(A, np.eye(4))
    np.testing.assert_array_equal(A, before)
