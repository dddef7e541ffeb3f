"""The random walk along similarities: sparse and dense alike, its laws, its parts."""

import numpy as np
import pytest
from scipy import sparse

from assay.models.embedding.diffusion_map.random_walk import random_walk
from assay.summary.gram.kernels import Gaussian


def similarities(n=80, seed=0, factor=1.0):
    return Gaussian(0.8)(np.random.default_rng(seed).standard_normal((n, 2))) * factor


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("factor", [1.0, 1e-200, 1e200])
def test_functions_solve_the_walk_and_are_orthonormal_under_its_long_run(alpha, factor):
    W = similarities(factor=factor)
    found = random_walk(W, 5, alpha=alpha)
    q = W.sum(axis=1) / factor
    Wa = W / factor / np.outer(q, q) ** alpha
    P = Wa / Wa.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(P @ found.functions, found.functions * found.values, atol=1e-9)
    np.testing.assert_allclose(found.stationary @ P, found.stationary, rtol=1e-9)
    np.testing.assert_allclose(found.functions.T * found.stationary @ found.functions, np.eye(5), atol=1e-9)
    np.testing.assert_allclose(found.density, W.sum(axis=1))


@pytest.mark.parametrize("n", [60, 700])
def test_sparse_and_dense_matrices_have_the_same_walk(n):
    W = np.where(similarities(n) > 0.3, similarities(n), 0.0)
    dense, thin = random_walk(W, 4), random_walk(sparse.csr_array(W), 4)
    np.testing.assert_allclose(thin.values, dense.values, atol=1e-10)
    np.testing.assert_allclose(
        np.abs(np.sum(thin.functions * dense.functions * dense.stationary[:, None], axis=0)), 1.0
    )
    np.testing.assert_array_equal(thin.parts, dense.parts)


def test_eigenvalue_one_repeats_with_the_parts_and_links_of_rounding_size_are_none():
    W = np.kron(np.eye(3), np.ones((4, 4))) + 1e-30
    found = random_walk(W, 5)
    np.testing.assert_allclose(found.values, [1, 1, 0, 0, 0], atol=1e-12)
    np.testing.assert_array_equal(found.parts, np.repeat([0, 1, 2], 4))
    weak = random_walk(np.kron(np.eye(3), np.ones((4, 4))) + 1e-9, 2)
    assert (weak.parts == 0).all() and weak.values[0] > 1 - 1e-8


def test_all_functions_of_a_two_sided_graph_are_found():
    W = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(random_walk(W, 2, alpha=0.0).values, [0.0, -1.0], atol=1e-12)
