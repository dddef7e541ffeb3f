"""Krylov spaces: the relation they keep, blocks that give up, pairs that are restarted; repeated values among them."""

import numpy as np
import pytest
import scipy.sparse as sp

from assay.linalg.eigen.krylov import KrylovSpace, block_krylov, thick_restart
from assay.linalg.eigen.top_svd import top_svd


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


@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("rank", [3, 60])
def test_the_basis_stays_orthonormal_and_its_residuals_are_those_of_the_pairs(width, rank):
    rng = np.random.default_rng(width)
    A = spiked(60, np.geomspace(1e4, 1.0, 6)) if rank == 60 else np.diag(np.r_[5.0, 4.0, 3.0, np.zeros(57)])
    known = np.linalg.qr(rng.standard_normal((60, 2)))[0]
    B = A - known @ (known.T @ A)
    B = B - (B @ known) @ known.T
    space = KrylovSpace(lambda Q: B @ Q, rng.standard_normal((60, width)), 30, rng, outside=known)
    for turn in range(3):
        while not space.full:
            space.grow()
        pairs = space.pairs()
        whole = np.column_stack([known, space.basis])
        np.testing.assert_allclose(whole.T @ whole, np.eye(whole.shape[1]), atol=1e-12)
        vectors = space.vectors(pairs, 4)
        size = np.abs(B).max()
        np.testing.assert_allclose(
            pairs.residuals[:4] / size,
            np.linalg.norm(B @ vectors - vectors * pairs.values[:4], axis=0) / size,
            atol=1e-12,
        )
        space.restart(pairs, 8 + turn)
    np.testing.assert_allclose(pairs.values[:3], np.linalg.eigvalsh(B)[::-1][:3], rtol=1e-9)


def test_a_space_of_everything_has_all_pairs():
    A = spiked(21, [9.0, 3.0])
    space = KrylovSpace(
        lambda Q: A @ Q, np.random.default_rng(1).standard_normal((21, 4)), 21, np.random.default_rng(2)
    )
    while not space.full:
        space.grow()
    np.testing.assert_allclose(space.pairs().values, np.linalg.eigvalsh(A)[::-1], atol=1e-12 * 12)
    assert space.pairs().residuals.max() <= 1e-12


def _applied(values):
    """A symmetric matrix of known eigenvalues in a random basis, and how often it was applied."""
    n = len(values)
    basis = np.linalg.qr(np.random.default_rng(3).standard_normal((n, n)))[0]
    count = [0]

    def apply(v):
        count[0] += 1
        return basis @ (values * (basis.T @ v))

    return apply, count


@pytest.mark.parametrize("k", [1, 2, 7, 30])
def test_pairs_solve_the_problem_and_are_the_largest_ones(k):
    values = np.sort(np.random.default_rng(0).chisquare(20, 400))
    apply, _ = _applied(values)
    found = thick_restart(apply, 400, k, np.random.default_rng(1), tol=1e-11)
    np.testing.assert_allclose(found.values, values[::-1][:k], rtol=1e-10)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-10)
    for value, v, residual in zip(found.values, found.vectors.T, found.residuals, strict=True):
        # the residual that is carried along is the true one, up to rounding of products
        assert abs(np.linalg.norm(apply(v) - value * v) - residual) <= 1e-11 * values[-1]
        assert residual <= 1e-11 * value
    assert not found.agree


def test_values_that_agree_are_said_to():
    values = np.concatenate([np.linspace(0.0, 1.0, 200), [2.0, 3.0, 3.0]])
    found = thick_restart(_applied(values)[0], 203, 3, np.random.default_rng(1), tol=1e-11)
    np.testing.assert_allclose(found.values, [3.0, 3.0, 2.0], rtol=1e-10)
    assert found.agree


def test_an_end_of_its_turns_is_said():
    values = 1.0 + 1e-9 * np.arange(300.0)
    assert thick_restart(_applied(values)[0], 300, 20, np.random.default_rng(1), tol=1e-14, restarts=1) is None


@pytest.mark.parametrize("copies", [1, 2, 3, 7])
@pytest.mark.parametrize("apart", [0.0, 1e-12, 1e-9, 1e-6, 1e-4])
def test_singular_values_as_often_as_they_are_there(copies, apart):
    values = np.repeat(np.arange(1.0, 100.0), copies) * (1.0 + apart * np.random.default_rng(0).random(99 * copies))
    A = sp.diags_array(np.concatenate([values, np.zeros(520)])).tocsr()
    found = top_svd(A, 12)
    np.testing.assert_allclose(found.values, np.sort(values)[::-1][:12], rtol=1e-12)
    assert found.converged and found.method == "lanczos"


def test_more_values_than_the_rank_cost_few_products():
    rng = np.random.default_rng(0)
    factors = (sp.random_array(shape, density=0.3, rng=rng) for shape in ((700, 3), (3, 900)))
    A = sp.csr_array(next(factors) @ next(factors))
    found = top_svd(A, 8)
    np.testing.assert_allclose(found.values, np.linalg.svd(A.toarray())[1][:8], atol=1e-12 * found.values[0])
    np.testing.assert_allclose(found.right.T @ found.right, np.eye(8), atol=1e-10)
    assert found.iterations < 2_000
