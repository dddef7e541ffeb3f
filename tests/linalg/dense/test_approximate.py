import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import ParameterError
from assay.linalg import (
    best_definite,
    best_rank,
    definiteness,
    ky_fan_eigenvalues,
    ky_fan_norm,
    norm,
    rank,
)

laws = settings(max_examples=30, deadline=None)


@st.composite
def matrix_and_rank(draw, square=False):
    m = draw(st.integers(1, 7))
    n = m if square else draw(st.integers(1, 7))
    seed = draw(st.integers(0, 10_000))
    A = np.random.default_rng(seed).standard_normal((m, n))
    return (A + A.T if square else A), draw(st.integers(1, min(m, n))), seed


@laws
@given(matrix_and_rank())
def test_no_other_matrix_of_the_rank_is_nearer_in_either_norm(case):
    A, k, seed = case
    result = best_rank(A, k)
    assert rank(result.matrix, 1e-10) <= k
    dropped = np.linalg.svd(A, compute_uv=False)[k:]
    assert np.isclose(result.error, np.sqrt((dropped**2).sum()), atol=1e-12)
    assert np.isclose(np.linalg.norm(A - result.matrix, 2), dropped[0] if dropped.size else 0, atol=1e-12)
    rng = np.random.default_rng(seed + 1)
    left, _, right = np.linalg.svd(A)
    for spread in (0.01, 0.3, 3.0):
        # rivals near the optimum and far from it: perturbed factors, best coefficients between them
        U = np.linalg.qr(left[:, :k] + spread * rng.standard_normal((A.shape[0], k)))[0]
        V = np.linalg.qr(right[:k].T + spread * rng.standard_normal((A.shape[1], k)))[0]
        rival = U @ (U.T @ A @ V) @ V.T
        assert result.error <= np.linalg.norm(A - rival) + 1e-12


@laws
@given(matrix_and_rank(square=True))
def test_no_other_definite_matrix_of_the_rank_is_nearer(case):
    A, k, seed = case
    result = best_definite(A, k)
    assert definiteness(result.matrix, 1e-10) in ("positive definite", "positive semidefinite", "zero")
    assert rank(result.matrix, 1e-10) == result.rank <= k
    values = np.linalg.eigvalsh(A)[::-1]
    kept = np.maximum(values[:k], 0)
    assert np.isclose(result.error**2, (values**2).sum() - (kept**2).sum(), atol=1e-9)
    rng = np.random.default_rng(seed + 1)
    for _ in range(5):
        F = rng.standard_normal((len(A), k))
        step = max(np.trace(F.T @ A @ F), 0) / np.linalg.norm(F.T @ F) ** 2  # the best multiple of F F^T
        assert result.error <= np.linalg.norm(A - step * F @ F.T) + 1e-9


def test_a_matrix_with_no_positive_eigenvalue_is_nearest_to_zero():
    result = best_definite(-np.eye(3), 2)
    np.testing.assert_array_equal(result.matrix, 0.0)
    assert result.rank == 0
    assert np.isclose(result.error, np.sqrt(3))


def test_the_rank_is_what_the_matrix_has_when_less_than_asked():
    A = np.outer([1.0, 2.0, 3.0], [1.0, 1.0])
    result = best_rank(A, 2)
    assert result.rank == 1
    assert result.error < 1e-14


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_extreme_scales_scale_the_error(scale):
    A = np.diag([3.0, 2.0, 1.0])
    assert np.isclose(best_rank(A * scale, 1).error / scale, np.sqrt(5))
    assert np.isclose(best_definite(A * scale, 2).error / scale, 1.0)
    assert np.isclose(ky_fan_norm(A * scale, 2) / scale, 5.0)
    assert np.isclose(ky_fan_eigenvalues(A * scale, 2) / scale, 5.0)


@laws
@given(matrix_and_rank(square=True), st.integers(0, 10_000))
def test_ky_fan_sums_of_a_sum_are_at_most_the_sums(case, seed):
    A, k, _ = case
    B = np.random.default_rng(seed).standard_normal(A.shape)
    B = B + B.T
    assert ky_fan_eigenvalues(A + B, k) <= ky_fan_eigenvalues(A, k) + ky_fan_eigenvalues(B, k) + 1e-10
    assert ky_fan_norm(A + B, k) <= ky_fan_norm(A, k) + ky_fan_norm(B, k) + 1e-10
    assert ky_fan_eigenvalues(A, k) <= ky_fan_norm(A, k) + 1e-10


def test_ky_fan_norms_join_the_spectral_and_the_nuclear_norm():
    A = np.random.default_rng(0).standard_normal((4, 6))
    assert np.isclose(ky_fan_norm(A, 1), norm(A, "spectral"))
    assert np.isclose(ky_fan_norm(A, 4), np.linalg.norm(A, "nuc"))
    S = A[:, :4] + A[:, :4].T
    assert np.isclose(ky_fan_eigenvalues(S, 4), np.trace(S))


def test_ranks_out_of_range_are_refused():
    with pytest.raises(ParameterError, match="k must be between 1 and 2"):
        best_rank(np.ones((2, 3)), 3)
