"""Noise per column: recovered behind components, and its edge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.linalg.noise.column_noise import column_noise, identified, matching_flat_noise, most_column_noise
from assay.linalg.one_thread import one_blas_thread


@pytest.fixture(scope="module", autouse=True)
def _small_tables_need_no_threads():
    with one_blas_thread():
        yield


def projected(psi, V):
    P = np.eye(len(psi)) - V @ V.T
    return np.diagonal(P @ np.diag(psi) @ P).copy()


@given(seed=st.integers(0, 10**6), d=st.integers(8, 30), k=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_noise_behind_components_is_recovered(seed, d, k):
    rng = np.random.default_rng(seed)
    psi = rng.uniform(0.5, 1.5, d)
    V = np.linalg.qr(rng.standard_normal((d, max(k, 1))))[0][:, :k]
    found = column_noise(projected(psi, V), V, np.full(d, 10.0))
    np.testing.assert_allclose(projected(found, V), projected(psi, V), rtol=2e-3)


def test_equal_noise_is_recovered_exactly():
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 3)))[0]
    np.testing.assert_allclose(column_noise(projected(np.full(12, 2.0), V), V, np.full(12, 5.0)), 2.0, rtol=1e-3)


def test_noise_is_never_negative_nor_more_than_the_variance():
    rng = np.random.default_rng(2)
    V = np.linalg.qr(rng.standard_normal((6, 4)))[0]
    total = rng.uniform(0.1, 1.0, 6)
    psi = column_noise(rng.uniform(0.0, 1.0, 6) * total, V, total)
    assert np.all((psi >= 0) & (psi <= total))


def test_columns_without_rest_have_no_noise():
    V = np.eye(5)[:, :1]
    psi = column_noise(np.array([0.0, 1.0, 1.0, 1.0, 1.0]), V, np.ones(5))
    np.testing.assert_allclose(psi, [0, 1, 1, 1, 1], atol=1e-6)


@pytest.mark.parametrize(("d", "most"), [(2, 0), (3, 1), (5, 2), (6, 3), (8, 4), (9, 5), (20, 14)])
def test_ledermanns_bound_is_the_textbook_one(d, most):
    assert identified(d, most)
    assert not identified(d, most + 1)


@given(d=st.integers(2, 300), rows=st.integers(2, 1000), noise=st.floats(1e-8, 1e8))
@settings(max_examples=60, deadline=None)
def test_equal_noise_matches_itself(d, rows, noise):
    found, columns = matching_flat_noise(np.full(d, noise), np.ones(d), rows)
    assert found == pytest.approx(noise, rel=1e-6)
    assert columns == pytest.approx(d, rel=1e-6)


def test_columns_without_noise_or_weight_do_not_count():
    psi = np.array([1.0] * 20 + [0.0] * 10 + [7.0] * 5)
    weights = np.array([1.0] * 30 + [0.0] * 5)
    noise, columns = matching_flat_noise(psi, weights, 100)
    assert (noise, columns) == pytest.approx((1.0, 20.0), rel=1e-6)


def test_edge_of_unequal_noise_is_where_simulation_puts_it():
    rng = np.random.default_rng(3)
    n, psi = 600, np.repeat([3.0, 1.0], [120, 180])
    noise, columns = matching_flat_noise(psi, np.ones(300), n)
    edge = noise * (1 + np.sqrt(columns / n)) ** 2
    tops = [np.linalg.eigvalsh((X := rng.standard_normal((n, 300)) * np.sqrt(psi)).T @ X / n)[-1] for _ in range(3)]
    assert np.mean(tops) == pytest.approx(edge, rel=0.03)
    flat = psi.mean() * (1 + np.sqrt(0.5)) ** 2
    assert np.mean(tops) > 1.15 * flat


@given(seed=st.integers(0, 10**6), d=st.integers(4, 60), share=st.floats(0.0, 0.6))
@settings(max_examples=60, deadline=None)
def test_noise_is_never_more_than_its_bound(seed, d, share):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((d, d)) * np.exp(rng.normal(0, 2, (d, 1))))[0][:, : int(share * d)]
    total = rng.uniform(0.5, 2.0, d)
    residual = rng.uniform(0.0, 1.0, d) * total
    # the iteration ends where no column moves by more than 1e-6 of the largest variance
    assert (column_noise(residual, V, total) <= most_column_noise(residual, V, total) + 1e-5).all()
