"""Restarted block Lanczos against spectra known beforehand."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

from assay.errors import ParameterError
from assay.linalg.eigen.leading import leading_eigen


def diagonal(values, scale=1.0):
    """A matrix known by its products; the start of the solver is random, so its basis does not matter."""

    def product(x):
        return scale * (values * x.T).T

    return LinearOperator((len(values), len(values)), matvec=product, matmat=product, dtype=np.float64)


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("decay", ["fast", "repeated", "with negatives"])
def test_pairs_are_those_of_the_spectrum(k, decay):
    values = 0.9 ** np.arange(1200.0)
    if decay == "repeated":
        values = np.repeat(0.7 ** np.arange(300.0), 4)
    if decay == "with negatives":
        values[-30:] = -2.0
    A = diagonal(np.random.default_rng(1).permutation(values))
    found = leading_eigen(A, k)
    np.testing.assert_allclose(found.values, np.sort(values)[::-1][:k], atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-9)
    assert np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0).max() <= 1e-9
    assert found.converged and 0 < found.iterations <= 40


@pytest.mark.parametrize(("n", "method"), [(900, "lapack"), (1200, "lapack"), (2500, "lanczos")])
def test_a_spectrum_without_gaps_is_still_solved(n, method):
    values = np.linspace(1.0, 0.0, n)
    found = leading_eigen(diagonal(values), 2)
    np.testing.assert_allclose(found.values, values[:2], rtol=1e-9)
    assert found.method == method


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_scales_do_not_matter(scale):
    values = 0.8 ** np.arange(1100.0)
    np.testing.assert_allclose(leading_eigen(diagonal(values, scale), 4).values / scale, values[:4], rtol=1e-9)


def test_zero_and_low_rank_matrices_have_their_answer():
    assert (leading_eigen(diagonal(np.zeros(1100)), 3).values == 0.0).all()
    u = np.random.default_rng(0).standard_normal((1100, 2))
    found = leading_eigen(u @ u.T, 4)
    np.testing.assert_allclose(found.values, np.append(np.linalg.svd(u, compute_uv=False) ** 2, [0, 0]), atol=1e-8)


def test_a_seed_repeats_and_the_count_is_checked():
    A = diagonal(0.9 ** np.arange(1100.0))
    first, again = leading_eigen(A, 3, random_state=4), leading_eigen(A, 3, random_state=4)
    np.testing.assert_array_equal(first.vectors, again.vectors)
    with pytest.raises(ParameterError, match="k must be between 1 and 1100"):
        leading_eigen(A, 1101)
