"""Lanczos with pairs, restarted: the top of spectra that are known, repeated and nearly repeated values among them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from assay.linalg.eigen.thick_restart import thick_restart
from assay.linalg.eigen.top_svd import top_svd


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
