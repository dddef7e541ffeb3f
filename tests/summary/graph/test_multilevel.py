"""The bottom of a Laplacian by levels: known spectra, SciPy's shift-invert as oracle, certificates, edges."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph
from scipy.sparse.linalg import eigsh

from assay.errors import DataError, ParameterError
from assay.summary.graph.multilevel import multilevel_eigen
from assay.summary.graph.multilevel_grid import Cycle, hierarchy


def laplacian(W):
    W = sp.csr_array(W)
    return sp.csr_array(sp.diags_array(np.asarray(W.sum(axis=1))) - W)


def chain(n):
    return laplacian(sp.diags_array([np.ones(n - 1)] * 2, offsets=[1, -1], shape=(n, n)))


def ring(n):
    return laplacian(sp.diags_array([np.ones(n - 1)] * 2 + [np.ones(1)] * 2, offsets=[1, -1, n - 1, 1 - n]))


def grid(a, b):
    return sp.csr_array(sp.kron(chain(a), sp.eye_array(b)) + sp.kron(sp.eye_array(a), chain(b)))


def near_rows(n, rng):
    """A connected graph of near rows in the plane, with weights over six orders of magnitude."""
    from scipy.spatial import Delaunay

    triangles = Delaunay(rng.random((n, 2))).simplices
    i, j = triangles[:, [0, 1, 2]].ravel(), triangles[:, [1, 2, 0]].ravel()
    W = sp.coo_array((np.exp(rng.normal(0, 2.5, len(i))), (i, j)), shape=(n, n))
    return sp.csr_array(W + W.T)


def assert_certified(A, found, tol):
    V = found.vectors
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-10)
    scale = abs(A).max()
    np.testing.assert_allclose(np.linalg.norm(A @ V - V * found.values, axis=0), found.residuals, atol=1e-13 * scale)
    assert found.converged
    assert found.residuals.max() <= tol * found.values[-1]


def test_a_long_chain_has_the_eigenvalues_known_by_formula():
    n = 20_000
    found = multilevel_eigen(chain(n), 3, null=np.ones(n))
    assert found.method == "multilevel"
    np.testing.assert_allclose(found.values, 4 * np.sin(np.pi * np.arange(1, 4) / (2 * n)) ** 2, atol=1e-15)
    assert_certified(chain(n), found, 1e-6)


def test_a_ring_has_its_eigenvalues_twice():
    n = 3_000
    found = multilevel_eigen(ring(n), 4, null=np.ones(n))
    np.testing.assert_allclose(found.values, 4 * np.sin(np.pi * np.array([1, 1, 2, 2]) / n) ** 2, rtol=1e-9)


def test_a_grid_has_the_eigenvalues_known_by_formula():
    found = multilevel_eigen(grid(60, 40), 6, null=np.ones(2_400), tol=1e-8)
    a, b = (4 * np.sin(np.pi * np.arange(n) / (2 * n)) ** 2 for n in (60, 40))
    np.testing.assert_allclose(found.values, np.sort(np.add.outer(a, b), axis=None)[1:7], rtol=1e-10)
    assert_certified(grid(60, 40), found, 1e-8)


@pytest.mark.parametrize("normed", [False, True])
def test_uneven_weights_agree_with_shift_invert(normed):
    W = near_rows(3_000, np.random.default_rng(1))
    A = sp.csr_array(csgraph.laplacian(W, normed=normed))
    null = np.sqrt(np.asarray(W.sum(axis=1))) if normed else np.ones(W.shape[0])
    found = multilevel_eigen(A, 5, null=null)
    assert found.method == "multilevel"
    assert_certified(A, found, 1e-6)
    expected = np.sort(eigsh(A.tocsc(), 6, sigma=-1e-3 * A.diagonal().min(), return_eigenvectors=False))[1:]
    np.testing.assert_allclose(found.values, expected, rtol=1e-7)


def test_vectors_are_orthogonal_to_the_null_vector():
    null = np.ones(2_000)
    found = multilevel_eigen(chain(2_000), 4, null=null)
    np.testing.assert_allclose(null @ found.vectors, 0, atol=1e-10)


def test_a_rougher_tolerance_takes_fewer_rounds_and_keeps_the_values():
    A = grid(60, 50)
    rough, fine = (multilevel_eigen(A, 3, null=np.ones(3_000), tol=tol) for tol in (1e-2, 1e-9))
    assert rough.products < fine.products
    np.testing.assert_allclose(rough.values, fine.values, rtol=1e-4)
    assert_certified(A, rough, 1e-2)


@pytest.mark.parametrize("scale", [1e-290, 1e290])
def test_the_scale_of_the_weights_only_scales_the_values(scale):
    A, null = grid(40, 30), np.ones(1_200)
    plain, scaled = multilevel_eigen(A, 2, null=null), multilevel_eigen(A * scale, 2, null=null)
    assert scaled.method == "multilevel"
    np.testing.assert_allclose(scaled.values / scale, plain.values, rtol=1e-9)


def test_the_same_matrix_gives_the_same_bits():
    first, second = (multilevel_eigen(grid(40, 30), 3, null=np.ones(1_200)) for _ in range(2))
    np.testing.assert_array_equal(first.vectors, second.vectors)


def test_where_coarse_matrices_would_fill_in_products_are_used():
    rng = np.random.default_rng(0)
    n = 1_500
    i, j = rng.integers(0, n, (2, 15 * n))  # wired at random: an expander
    W = sp.coo_array((np.ones(15 * n), (i, j)), shape=(n, n))
    A = laplacian(W + W.T)
    found = multilevel_eigen(A, 2, null=np.ones(n))
    assert found.method == "lanczos" and found.converged


def test_a_star_is_not_coarsened_to_nothing():
    n = 1_000
    W = sp.coo_array((np.ones(n - 1), (np.zeros(n - 1, dtype=int), np.arange(1, n))), shape=(n, n))
    found = multilevel_eigen(laplacian(W + W.T), 2, null=np.ones(n))
    np.testing.assert_allclose(found.values, [1, 1], rtol=1e-9)


def test_coarse_levels_keep_the_null_vector():
    levels = hierarchy(grid(50, 40), np.ones(2_000), 100)
    assert [level.matrix.shape[0] for level in levels] == sorted([lv.matrix.shape[0] for lv in levels], reverse=True)
    for level in levels:
        np.testing.assert_allclose(level.matrix @ level.null, 0, atol=1e-12)
    for finer, coarser in pairwise(levels):
        np.testing.assert_allclose(finer.prolong @ coarser.null, finer.null, atol=1e-12)


def test_the_cycle_is_symmetric_and_close_to_the_inverse():
    A = grid(50, 40)
    cycle = Cycle(hierarchy(A, np.ones(2_000), 100))
    B = np.random.default_rng(0).standard_normal((2_000, 6))
    B -= B.mean(axis=0)
    X = cycle.apply(B)
    np.testing.assert_allclose(B.T @ X, (B.T @ X).T, rtol=1e-9)
    energy = np.linalg.eigvals(np.linalg.solve(B.T @ X, X.T @ (A @ X))).real
    assert energy.min() > 0.5 and energy.max() < 1.01  # one cycle never overshoots


def test_a_null_vector_that_is_none_is_refused():
    with pytest.raises(DataError, match="null must solve A null = 0; it does not. For other matrices use bottom_eigen"):
        multilevel_eigen(chain(1_000), 2, null=np.arange(1.0, 1_001))
    with pytest.raises(DataError, match="null must have no entry 0: entry 3 is. Leave out what is apart"):
        multilevel_eigen(chain(1_000), 2, null=np.where(np.arange(1_000) == 3, 0.0, 1.0))
    with pytest.raises(DataError, match="null must have 1000 entries, has 3"):
        multilevel_eigen(chain(1_000), 2, null=np.ones(3))


def test_too_many_are_refused():
    with pytest.raises(ParameterError, match=r"k must be between 1 and 3 \(one less than the size of the matrix\)"):
        multilevel_eigen(chain(4), 4, null=np.ones(4))


def test_a_small_spectrum_is_lapacks():
    for n, k in ((5, 4), (600, 3)):
        found = multilevel_eigen(chain(n), k, null=np.ones(n))
        assert found.method == "lapack"
        np.testing.assert_allclose(found.values[0], 4 * np.sin(np.pi / (2 * n)) ** 2, rtol=1e-8)
