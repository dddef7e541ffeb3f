import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DataError
from assay.linalg import (
    centring,
    definiteness,
    is_isometry,
    is_orthogonal_projection,
    is_projection,
    loewner_order,
)

laws = settings(max_examples=30, deadline=None)
cases = given(st.integers(1, 6), st.integers(0, 10_000))


def normal(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape)


@laws
@cases
def test_projecting_onto_columns_is_an_orthogonal_projection_and_along_others_is_not(n, seed):
    A = normal((n + 1, n), seed)
    Q = np.linalg.qr(A)[0]
    assert is_orthogonal_projection(Q @ Q.T)
    w = normal(n + 1, seed + 1)
    v = normal(n + 1, seed + 2)
    oblique = np.outer(v, w) / (v @ w)
    if np.abs(oblique).max() < 1e3:
        assert is_projection(oblique)
        assert not is_orthogonal_projection(oblique)
    assert not is_projection(2 * Q @ Q.T)


def test_zero_identity_and_centring_are_orthogonal_projections():
    for P in (np.zeros((3, 3)), np.eye(3), centring(5), centring(1)):
        assert is_orthogonal_projection(P)


def test_huge_and_tiny_matrices_are_judged_without_overflow():
    assert not is_projection(np.full((2, 2), 1e300))
    assert not is_isometry(np.full((2, 2), 1e300))
    assert not is_isometry(np.full((2, 2), 1e-300))


@laws
@cases
def test_orthonormal_columns_are_an_isometry_and_their_transpose_only_when_square(n, seed):
    Q = np.linalg.qr(normal((n + 1, n), seed))[0]
    assert is_isometry(Q)
    assert not is_isometry(Q.T)
    assert not is_isometry(Q * 1.001)
    square = np.linalg.qr(normal((n, n), seed))[0]
    assert is_isometry(square) and is_isometry(square.T)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 3], "positive definite"),
        ([1, 2, 0], "positive semidefinite"),
        ([0, 0, 0], "zero"),
        ([-1, -2, 0], "negative semidefinite"),
        ([-1, -2, -3], "negative definite"),
        ([1, 0, -1], "indefinite"),
    ],
)
def test_the_signs_of_the_eigenvalues_decide_at_every_scale(values, kind, scale):
    Q = np.linalg.qr(normal((3, 3), 0))[0]
    assert definiteness((Q * np.array(values)) @ Q.T * scale, tol=1e-14) == kind
    assert definiteness(np.diag(values) * scale) == kind


@laws
@cases
def test_a_gram_matrix_of_few_vectors_is_semidefinite(n, seed):
    X = normal((n, n + 2), seed)
    assert definiteness(X.T @ X, tol=1e-12) == "positive semidefinite"


@laws
@cases
def test_adding_a_definite_matrix_makes_larger_and_the_order_is_antisymmetric(n, seed):
    A = normal((n, n), seed)
    A = A + A.T
    D = normal((n, n), seed + 1)
    D = D @ D.T + 0.1 * np.eye(n)
    assert (loewner_order(A + D, A), loewner_order(A, A + D)) == (">", "<")
    assert loewner_order(A, A) == "=="


def test_semidefinite_differences_and_incomparable_pairs():
    assert loewner_order(np.diag([2.0, 1.0]), np.eye(2)) == ">="
    assert loewner_order(np.eye(2), np.diag([2.0, 1.0])) == "<="
    assert loewner_order(np.diag([2.0, 0.0]), np.eye(2)) == "incomparable"


def test_differences_of_the_largest_floats_do_not_overflow():
    big = np.eye(2) * 1.7e308
    assert loewner_order(big, -big) == ">"


def test_matrices_of_different_shape_cannot_be_compared():
    with pytest.raises(DataError, match=r"same shape, have \(2, 2\) and \(3, 3\)"):
        loewner_order(np.eye(2), np.eye(3))
