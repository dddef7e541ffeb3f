"""Block Krylov: exact where it answers, silent where it cannot."""

import numpy as np
import pytest

from assay.linalg.eigen.krylov import block_krylov


def spiked(n, strengths, seed=0):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((n, len(strengths))))[0]
    noise = rng.standard_normal((n, 3 * n)) / np.sqrt(3 * n)
    return noise @ noise.T + (axes * strengths) @ axes.T


@pytest.mark.parametrize("seed", range(3))
def test_clear_leaders_are_found_to_the_digits_of_lapack(seed):
    G = spiked(300, np.geomspace(4000.0, 200.0, 8), seed)
    found = block_krylov(lambda Q: G @ Q, 300, 8, seed=seed)
    values, vectors = np.linalg.eigh(G)
    np.testing.assert_allclose(found.values, values[::-1][:8], rtol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(found.vectors * vectors[:, ::-1][:, :8], axis=0)), 1.0, rtol=1e-12)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(
        found.residuals, np.linalg.norm(G @ found.vectors - found.vectors * found.values, axis=0), atol=1e-9
    )


def test_equal_leaders_are_all_found():
    G = np.diag(np.r_[np.full(5, 100.0), np.linspace(1.0, 0.0, 95)])
    np.testing.assert_allclose(block_krylov(lambda Q: G @ Q, 100, 5).values, 100.0, rtol=1e-12)


def test_noise_is_given_up_after_a_few_products():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((400, 400))
    G = A @ A.T
    calls = []
    assert block_krylov(lambda Q: (calls.append(1), G @ Q)[1], 400, 10) is None
    assert len(calls) <= 3


def test_a_zero_matrix_has_zero_eigenvalues():
    found = block_krylov(lambda Q: 0.0 * Q, 50, 3)
    np.testing.assert_array_equal(found.values, 0.0)
