"""The expected alignment of a sample component with its direction, beside spiked tables drawn with known directions."""

import numpy as np
import pytest

from assay.linalg.noise.marchenko_pastur import spike_alignment, spike_eigenvalue
from assay.linalg.noise.spike_direction import direction_alignment


def drawn(rng, n, d, strengths, noise):
    """A centred table and its leading directions in the population, (d, k)."""
    V = np.linalg.qr(rng.standard_normal((d, len(strengths))))[0]
    if noise == "correlated":
        root = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d))))
    else:
        root = np.diag(np.exp(rng.normal(0.0, 0.5, d)) if noise == "uneven" else np.ones(d))
    X = rng.standard_normal((n, d)) @ root.T + (rng.standard_normal((n, len(strengths))) * np.sqrt(strengths)) @ V.T
    axes = np.linalg.eigh(root @ root.T + (V * strengths) @ V.T)[1][:, ::-1][:, : len(strengths)]
    return X - X.mean(axis=0), axes


@pytest.mark.parametrize("noise", ["equal", "uneven", "correlated"])
@pytest.mark.parametrize(("n", "d", "strengths"), [(200, 20, [12.0, 6.0]), (40, 400, [60.0, 25.0]), (100, 5, [4.0])])
def test_it_is_the_squared_cosine_with_the_direction_drawn(n, d, strengths, noise):
    rng = np.random.default_rng([n, d])
    said, true = [], []
    for _ in range(40):
        X, axes = drawn(rng, n, d, strengths, noise)
        _, s, vt = np.linalg.svd(X, full_matrices=False)
        k = len(strengths)
        said.append(direction_alignment(s**2 / (n - 1), n - 1, d, k))
        true.append(((vt[:k] * axes.T).sum(axis=1)) ** 2)
    # means of 40 squared cosines with a spread of at most .15 have an error of .024 each; a formula of equal noise is
    # off by .26 in the second direction of correlated noise (40 x 400)
    np.testing.assert_allclose(np.mean(said, axis=0), np.mean(true, axis=0), atol=0.12)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_for_equal_noise_it_is_the_formula_of_equal_noise(gamma):
    n = 400
    d = round(gamma * n)
    s = np.linalg.svd(np.random.default_rng(1).standard_normal((n, d)), compute_uv=False)
    b = 4.0 * np.sqrt(gamma)
    values = np.concatenate([[spike_eigenvalue(b, gamma)], s**2 / n])[: min(n, d)]
    assert direction_alignment(values, n, d, 1)[0] == pytest.approx(spike_alignment(b, gamma), abs=0.02)


def test_no_noise_leaves_the_direction_as_it_is_and_ties_leave_nothing():
    assert direction_alignment(np.array([3.0, 0.0, 0.0]), 50, 3, 1)[0] == pytest.approx(1.0)
    assert direction_alignment(np.array([3.0]), 1, 3, 1)[0] == pytest.approx(1.0)
    np.testing.assert_array_equal(direction_alignment(np.array([2.0, 2.0, 1.0]), 50, 3, 1), [0.0])
    np.testing.assert_array_equal(direction_alignment(np.array([2.0, 2.0, 1.0]), 50, 3, 2), [0.0, 0.0])
    np.testing.assert_array_equal(direction_alignment(np.zeros(3), 50, 3, 2), [0.0, 0.0])
    assert direction_alignment(np.array([2.0, 1.0]), 50, 2, 0).shape == (0,)


def test_units_do_not_matter():
    values = np.array([9.0, 5.0, 1.3, 1.1, 0.7])
    for unit in (1e-100, 1e100):
        np.testing.assert_allclose(
            direction_alignment(unit * values, 60, 9, 2), direction_alignment(values, 60, 9, 2), rtol=1e-12
        )
