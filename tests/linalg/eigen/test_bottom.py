"""The bottom of a spectrum: analytic spectra of chains, rings and grids, LAPACK as oracle, certificates, edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.sparse.linalg import aslinearoperator

from assay.errors import DataError, NotConverged, ParameterError
from assay.linalg.eigen.bottom import bottom_eigen


def laplacian(W):
    W = sp.csr_array(W)
    return sp.csr_array(sp.diags_array(np.asarray(W.sum(axis=1))) - W)


def chain(n):
    return laplacian(sp.diags_array([np.ones(n - 1)] * 2, offsets=[1, -1], shape=(n, n)))


def ring(n):
    return laplacian(sp.diags_array([np.ones(n - 1)] * 2 + [np.ones(1)] * 2, offsets=[1, -1, n - 1, 1 - n]))


def assert_certified(A, found, tol=1e-8):
    V = found.vectors
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(A @ V - V * found.values, axis=0), found.residuals, atol=1e-13)
    assert found.converged
    assert found.residuals.max() <= max(tol * np.abs(found.values).max(), 1e-12)


@pytest.mark.parametrize("n", [3, 50, 600, 2_000])
def test_a_chain_has_the_eigenvalues_known_by_formula(n):
    k = min(3, n - 1)
    found = bottom_eigen(chain(n), k, null=np.ones((n, 1)))
    np.testing.assert_allclose(found.values, 2 - 2 * np.cos(np.pi * np.arange(1, k + 1) / n), rtol=1e-9)
    assert_certified(chain(n), found)
    x = found.vectors[:, 0]
    assert np.all(np.diff(x) > 0) or np.all(np.diff(x) < 0)


@pytest.mark.parametrize("n", [60, 1_500])
def test_both_copies_of_the_double_eigenvalues_of_a_ring_are_found(n):
    found = bottom_eigen(ring(n), 4, null=np.ones((n, 1)))
    np.testing.assert_allclose(found.values, 2 - 2 * np.cos(2 * np.pi * np.array([1, 1, 2, 2]) / n), rtol=1e-9)
    assert_certified(ring(n), found)


def test_a_grid_has_the_sums_of_two_chains():
    n, m = 36, 22
    A = sp.csr_array(sp.kron(chain(n), sp.eye_array(m)) + sp.kron(sp.eye_array(n), chain(m)))
    a, b = (2 - 2 * np.cos(np.pi * np.arange(side) / side) for side in (n, m))
    expected = np.sort((a[:, None] + b).ravel())[:7]
    np.testing.assert_allclose(bottom_eigen(A, 7).values, expected, atol=1e-11)


@pytest.mark.parametrize("n", [150, 800])
def test_a_star_gives_as_many_copies_of_one_as_are_asked_for(n):
    W = sp.lil_array((n, n))
    W[0, 1:] = W[1:, 0] = 1.0
    found = bottom_eigen(laplacian(W), 5, null=np.ones((n, 1)))
    np.testing.assert_allclose(found.values, 1.0, atol=1e-10)
    assert_certified(laplacian(W), found)


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 60), st.integers(1, 3), st.integers(0, 10**6))
def test_any_symmetric_matrix_agrees_with_lapack(n, k, seed):
    B = np.random.default_rng(seed).standard_normal((n, n))
    A = B + B.T
    found = bottom_eigen(A, k)
    np.testing.assert_allclose(found.values, eigh(A, eigvals_only=True)[:k], atol=1e-10)
    assert_certified(A, found)


def test_sparse_random_matrices_with_negative_eigenvalues_agree_with_lapack():
    n = 800
    B = sp.random_array((n, n), density=0.02, rng=np.random.default_rng(n), format="csr")
    A = sp.csr_array(B + B.T) - 0.3 * sp.eye_array(n)
    found = bottom_eigen(sp.csr_array(A), 4)
    np.testing.assert_allclose(found.values, eigh(A.toarray(), eigvals_only=True)[:4], atol=1e-9)
    assert found.method != "lapack"


def test_a_spectrum_that_begins_below_zero_is_filtered_there():
    A = sp.csr_array(chain(1_200) - 3.5 * sp.eye_array(1_200))
    found = bottom_eigen(A, 2)
    np.testing.assert_allclose(found.values + 3.5, 2 - 2 * np.cos(np.pi * np.arange(2) / 1_200), atol=1e-12)
    assert found.method == "filtered"


def test_values_that_crowd_together_far_above_zero_are_found_too():
    X = np.random.default_rng(0).standard_normal((1_000, 50))
    squares = (X**2).sum(axis=1)
    near = np.argsort(squares[:, None] + squares - 2 * X @ X.T, axis=1)[:, 1:11]
    W = sp.csr_array((np.ones(10_000), near.ravel(), np.arange(0, 10_001, 10)), shape=(1_000, 1_000))
    A = laplacian(W.maximum(W.T))
    found = bottom_eigen(A, 3, null=np.ones((1_000, 1)))
    np.testing.assert_allclose(found.values, eigh(A.toarray(), eigvals_only=True)[1:4], atol=1e-9)
    assert found.values[0] > 1 and found.method != "lapack"
    assert_certified(A, found)


def test_what_products_cannot_find_in_time_is_written_out(monkeypatch):
    from assay.linalg.eigen import bottom

    def spent(*_):
        raise bottom._SpentError

    monkeypatch.setattr(bottom, "_lanczos", spent)
    found = bottom_eigen(chain(800), 2, null=np.ones((800, 1)))
    np.testing.assert_allclose(found.values, 2 - 2 * np.cos(np.pi * np.arange(1, 3) / 800), rtol=1e-8)
    assert found.method == "lapack"


def test_two_groups_held_together_by_a_thread_are_told_apart_to_the_last_node():
    rng, half = np.random.default_rng(3), 450
    blocks = [sp.random_array((half, half), density=0.03, rng=rng) for _ in range(2)]
    W = sp.lil_array(sp.block_diag([b + b.T for b in blocks]))
    W[0, half] = W[half, 0] = 1e-9
    A = laplacian(W)
    found = bottom_eigen(A, 2, null=np.ones((2 * half, 1)))
    assert 0 < found.values[0] < 1e-10 < found.values[1]
    side = np.sign(found.vectors[:, 0])
    assert abs(side[:half].sum()) == abs(side[half:].sum()) == half and side[0] != side[half]


def test_without_null_vectors_the_zeros_are_counted_by_the_components():
    A = sp.csr_array(sp.block_diag([chain(400), chain(300), ring(200)]))
    values = bottom_eigen(A, 4).values
    assert np.abs(values[:3]).max() < 1e-12 < 1e-6 < values[3]


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1e300])
def test_the_scale_of_the_matrix_does_not_matter(scale):
    A, null = chain(800), np.ones((800, 1))
    found = bottom_eigen(sp.csr_array(A * scale), 2, null=null)
    np.testing.assert_allclose(found.values / scale, bottom_eigen(A, 2, null=null).values, rtol=1e-9)


def test_the_same_seed_gives_the_same_bits_and_the_matrix_is_left_alone():
    A = chain(800)
    kept = A.copy()
    first, second = (bottom_eigen(A, 2, null=np.ones((800, 1)), random_state=5) for _ in range(2))
    np.testing.assert_array_equal(first.vectors, second.vectors)
    assert (kept != A).nnz == 0


def test_a_zero_matrix_and_one_number_are_matrices_too():
    np.testing.assert_array_equal(bottom_eigen(sp.csr_array((800, 800)), 2).values, 0.0)
    assert bottom_eigen([[7.0]], 1).values == [7.0]


def test_what_cannot_be_is_refused_in_words():
    A = chain(5)
    with pytest.raises(
        ParameterError, match=r"k must be between 1 and 4 \(the size of the matrix less the vectors known"
    ):
        bottom_eigen(A, 5, null=np.ones((5, 1)))
    with pytest.raises(DataError, match=r"null must have 5 rows like the matrix and fewer columns, has shape \(4, 1\)"):
        bottom_eigen(A, 1, null=np.ones((4, 1)))
    with pytest.raises(DataError, match="is known by its products only"):
        bottom_eigen(aslinearoperator(A), 1)
    with pytest.raises(DataError, match="A must be symmetric"):
        bottom_eigen(sp.csr_array([[0.0, 1.0], [0.0, 0.0]]), 1)


def test_stopping_short_is_told(monkeypatch):
    from assay.linalg.eigen import bottom

    def anything(apply, known, k, rng, most):
        return np.linalg.qr(rng.random((len(known), k)))[0]

    monkeypatch.setattr(bottom, "_lanczos", anything)
    with pytest.warns(NotConverged, match="smallest eigenvalues were found to a residual of"):
        assert not bottom_eigen(chain(800), 1).converged
