"""Sparse rows about their mean, without a dense copy."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from assay.linalg.eigen.principal import axes_of_sparse
from assay.linalg.sparse.centred import CentredRows, as_entries, sparse_moments


def far_from_zero(n=200, d=300):
    """Sparse rows, among them a column stored whole a million spreads from zero, a constant and an empty one."""
    rng = np.random.default_rng(0)
    X = sp.random(n, d, density=0.05, format="lil", random_state=1)
    X[:, 3] = 1e6 + rng.standard_normal((n, 1))
    X[:, 5] = 7.1
    X[:, 8] = 0.0
    return X.tocsr()


def test_products_are_those_of_the_centred_rows_far_from_zero():
    rng = np.random.default_rng(0)
    X = far_from_zero()
    mean = sparse_moments(X)[0]
    scale = rng.uniform(0.5, 2.0, 300)
    root = np.sqrt(rng.uniform(0.0, 2.0, 200))
    rows = CentredRows.of(X, mean, scale=scale, root=root)
    # about the exact mean, by column, in extended precision
    dense = (X.toarray().astype(np.longdouble) - mean).astype(np.float64) / scale * root[:, None]
    V, U = rng.standard_normal((300, 4)), rng.standard_normal((200, 4))
    bound = 1e-12 * np.linalg.norm(dense)  # far below 1e6 eps, what taking the mean off afterwards would cost
    np.testing.assert_allclose(rows.apply(V), dense @ V, atol=bound)
    np.testing.assert_allclose(rows.adjoint(U), dense.T @ U, atol=bound)
    np.testing.assert_allclose(rows.apply(V[:, 0]), dense @ V[:, 0], atol=bound)
    np.testing.assert_allclose(rows.adjoint(U[:, 0]), dense.T @ U[:, 0], atol=bound)
    np.testing.assert_allclose(rows.gram(), dense @ dense.T, atol=bound * np.linalg.norm(dense))
    np.testing.assert_allclose(rows.column_squares(), np.sum(dense**2, axis=0), atol=bound * np.linalg.norm(dense))
    np.testing.assert_allclose(rows.row_squares(), np.sum(dense**2, axis=1), atol=bound * np.linalg.norm(dense))
    assert rows.far.tolist() == [3, 5]


@pytest.mark.parametrize("weighted", [False, True])
def test_about_their_own_mean_products_are_the_same(weighted):
    rng = np.random.default_rng(4)
    X, scale = far_from_zero(), rng.uniform(0.5, 2.0, 300)
    weights = rng.uniform(0.0, 2.0, 200) if weighted else None
    mean, root = sparse_moments(X, weights)[0], None if weights is None else np.sqrt(weights)
    own, other = (CentredRows.of(X, mean, scale=scale, root=root, own=own) for own in (True, False))
    for V, U in ((rng.standard_normal((300, 3)), rng.standard_normal((200, 3))), rng.standard_normal((2, 300))):
        u = U[:200]
        np.testing.assert_allclose(own @ V, other @ V, atol=1e-11 * np.linalg.norm(other @ V))
        np.testing.assert_allclose(own.T @ u, other.T @ u, atol=1e-11 * np.linalg.norm(other.T @ u))


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_those_of_the_dense_columns(weighted):
    X = far_from_zero()
    weights = np.random.default_rng(2).uniform(0.0, 2.0, 200) if weighted else None
    mean, squares = sparse_moments(X, weights)
    dense = X.toarray()
    expected = np.average(dense, axis=0, weights=weights)
    w = np.ones(200) if weights is None else weights
    np.testing.assert_allclose(mean, expected, rtol=1e-12)
    np.testing.assert_allclose(squares, w @ (dense - expected) ** 2, rtol=1e-9, atol=1e-20)
    assert squares[5] == squares[8] == 0.0


def test_entries_given_twice_are_added_and_the_given_matrix_is_left_alone():
    given = sp.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    assert as_entries(given).nnz == 1
    assert given.nnz == 2
    np.testing.assert_allclose(sparse_moments(given)[0], [0.0, 3.0, 0.0])


def test_axes_take_memory_for_the_entries_and_the_axes_alone():
    n, d, k = 2_000, 200_000, 3
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random(40_000), (rng.integers(n, size=40_000), rng.integers(d, size=40_000))), shape=(n, d))
    mean = sparse_moments(X)[0]
    tracemalloc.start()
    found = axes_of_sparse(CentredRows.of(X, mean), k, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.vectors.shape == (d, k)
    assert peak < 8 * (20 * X.nnz + 20 * d * k + 100 * n)  # a dense copy takes 8 n d, thirty times that
