"""Rows of wide tables among themselves: products and rotated coordinates say the same."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from assay.summary.regression.wide_table import WideRows, across, along


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("rotated", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_parts_of_the_rows_are_decomposed_about_their_own_mean(intercept, rotated, sparse):
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((12, 1500)) + 4.0, rng.random(12) + 0.2
    near = X.mean(axis=0) if intercept else np.zeros(1500)
    given = csr_array(X) if sparse else X
    rows = WideRows.of(given, near, w, intercept=intercept, rotated=rotated)
    fitted, others = np.arange(8), np.arange(8, 12)
    found = rows.spectrum(fitted, others)
    mean = w[:8] @ X[:8] / w[:8].sum() if intercept else 0.0
    Z = (X[:8] - mean) * np.sqrt(w[:8])[:, None]
    G = (found.vectors * found.values) @ found.vectors.T
    np.testing.assert_allclose(G, Z @ Z.T, atol=1e-9 * np.abs(Z @ Z.T).max())
    np.testing.assert_allclose(found.others @ found.vectors.T, (X[8:] - mean) @ Z.T, atol=1e-9 * np.abs(Z @ Z.T).max())
    assert (np.diff(found.values) <= 0.0).all() and (found.values >= 0.0).all()


def test_coordinates_keep_what_products_lose():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3, 40))
    X[1] = X[0] + 1e-10 * X[2]
    everything = np.arange(2)
    squared = WideRows.of(X[:2], np.zeros(40), np.ones(2), intercept=False, rotated=False).spectrum(everything)
    exact = WideRows.of(X[:2], np.zeros(40), np.ones(2), intercept=False, rotated=True).spectrum(everything)
    truth = np.linalg.svd(X[:2], compute_uv=False)
    assert np.sqrt(exact.values[1]) == pytest.approx(truth[1], rel=1e-4)
    assert squared.values[1] <= squared.flat and exact.values[1] > exact.flat


def test_products_with_the_rows_are_taken_in_blocks_of_columns():
    rng = np.random.default_rng(2)
    X, mean = rng.standard_normal((5, 1300)), rng.standard_normal(1300)
    M, N = rng.standard_normal((5, 2)), rng.standard_normal((1300, 2))
    np.testing.assert_allclose(across(X, mean, M), (X - mean).T @ M, atol=1e-12)
    np.testing.assert_allclose(along(csr_array(X), mean, N), (X - mean) @ N, atol=1e-10)
