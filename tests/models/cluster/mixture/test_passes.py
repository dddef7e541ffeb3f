"""The two halves of an EM step for normal mixtures: sums of responsibilities, and what they lead to."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture as PeerMixture

from assay.data.blocks import ArrayBlocks, float_blocks
from assay.linalg.one_thread import one_blas_thread
from assay.models.cluster.mixture.gaussians import (
    MixtureComponents,
    MixtureSums,
    MixtureWhitening,
    Shape,
    bounded,
    maximised,
    n_parameters,
    wide_start,
)
from assay.models.cluster.mixture.responsibilities import MixtureTable, shared_out

SHAPES = get_args(Shape)


def table_of(X, shape):
    return MixtureTable.of(float_blocks(X), shape)


def cut(table, X, rows):
    """The same table in blocks of so many rows."""
    blocks = ArrayBlocks(None, lambda: (X[i : i + rows] for i in range(0, len(X), rows)))
    return replace(table, blocks=blocks)


def law_of(rng, shape, k, d):
    roots = rng.standard_normal((k, d, d))
    full = roots @ roots.swapaxes(1, 2) / d + 0.1 * np.eye(d)
    covariances = {
        "full": full, "tied": full[:1], "diag": rng.uniform(0.2, 2, (k, d)), "spherical": rng.uniform(0.2, 2, (k, 1))
    }[shape]  # fmt: skip
    return bounded(shape, rng.dirichlet(np.ones(k)), rng.standard_normal((k, d)), covariances, 1e-6)


def dense_covariances(law):
    k, d = law.means.shape
    S = law.covariances
    if law.triangular:
        return np.broadcast_to(S, (k, d, d))
    return np.stack([np.diag(np.broadcast_to(line, (d,))) for line in S])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("d", [1, 2, 5, 6])
def test_a_pass_gives_what_scipys_densities_give(shape, d):
    rng = np.random.default_rng(d)
    X, k = rng.standard_normal((700, d)) * 3 + 2, 3
    law, table = law_of(rng, shape, k, d), table_of(X, shape)
    Z = (X - table.frame.centre) / table.frame.scale
    logs = np.stack(
        [
            np.log(w) + multivariate_normal(m, S).logpdf(Z).reshape(len(Z))
            for w, m, S in zip(law.weights, law.means, dense_covariances(law), strict=True)
        ]
    )
    r = np.exp(logs - logsumexp(logs, axis=0))
    sums = table.sums(law)
    told = logsumexp(logs, axis=0) - np.log(table.frame.scale).sum()
    np.testing.assert_allclose(sums.log_likelihood, told.sum(), rtol=1e-12)
    np.testing.assert_allclose(sums.mass, r.sum(axis=1), rtol=1e-10)
    after = maximised(law, sums, 1e-9)
    np.testing.assert_allclose(after.means, (r @ Z) / r.sum(axis=1)[:, None], atol=1e-10)
    spread = [np.cov(Z.T, aweights=each, bias=True).reshape(d, d) for each in r]
    expected = {
        "full": spread,
        "tied": [np.einsum("k,kij->ij", after.weights, spread)],
        "diag": [np.diag(S) for S in spread],
        "spherical": [[np.diag(S).mean()] for S in spread],
    }[shape]
    np.testing.assert_allclose(after.covariances, expected, atol=1e-10)
    logs, shares = shared_out(X, table.frame, MixtureWhitening.of(law))
    np.testing.assert_allclose(logs, told, rtol=1e-10)
    np.testing.assert_allclose(shares, r.T, atol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_blocks_of_any_size_and_any_number_of_threads_give_the_same_sums(shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 3)) + 1e4
    table, law = table_of(X, shape), law_of(rng, shape, 4, 3)
    whole = table.sums(law)
    for rows in (7, 977, 4999):
        parts = cut(table, X, rows).sums(law, threads=1)
        for name in ("rows", "log_likelihood", "mass", "first", "second"):
            np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12, atol=1e-9)
    again = [cut(table, X, 500).sums(law, threads=threads) for threads in (1, 3)]
    for name in ("log_likelihood", "mass", "first", "second"):
        np.testing.assert_array_equal(getattr(again[0], name), getattr(again[1], name))


@pytest.mark.parametrize("shape", SHAPES)
def test_float32_rows_are_summed_in_float64(shape):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((400, 3)) + 1000).astype(np.float32)
    law = law_of(rng, shape, 2, 3)
    narrow, wide = table_of(X, shape), table_of(X.astype(np.float64), shape)
    np.testing.assert_allclose(narrow.sums(law).second, wide.sums(law).second, rtol=1e-12, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from(SHAPES),
    k=st.integers(1, 5),
    d=st.integers(1, 4),
    floor=st.sampled_from([1e-9, 1e-3, 0.3]),
    kind=st.sampled_from(["cloud", "duplicates", "line", "few"]),
)
def test_no_step_ever_lowers_the_likelihood_whether_the_floor_holds_or_not(seed, shape, k, d, floor, kind):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((k + 3 if kind == "few" else 60, d)) * 10.0 ** rng.integers(-3, 4, d) + 100.0
    if kind == "duplicates":
        X = X[rng.integers(0, 6, len(X))]
    if kind == "line":
        X = X[:, :1] * np.arange(1.0, d + 1)
    table = table_of(X, shape)
    law = bounded(
        shape, np.full(k, 1 / k), table.drawn(0)[rng.permutation(len(X))[:k]],
        wide_start(shape, np.zeros((k, len(table.frame.active)))).covariances, floor,
    )  # fmt: skip
    values = []
    with one_blas_thread():
        for _ in range(25):
            sums = table.sums(law, threads=1)
            values.append(sums.log_likelihood / sums.rows)
            law = maximised(law, sums, floor)
            assert np.isclose(law.weights.sum(), 1.0, rtol=1e-12)
    assert np.diff(values).min() >= -1e-9 * max(1.0, np.abs(values).max())


def test_raising_eigenvalues_to_the_floor_maximises_the_expected_likelihood_under_it():
    rng = np.random.default_rng(3)
    root = rng.standard_normal((3, 3)) * [2.0, 0.5, 0.01]
    S, floor = root @ root.T, 0.05
    law = wide_start("full", np.zeros((1, 3)))
    after = maximised(law, MixtureSums(1, 0.0, np.ones(1), np.zeros((1, 3)), S[None]), floor)
    assert after.floored.tolist() == [int((np.linalg.eigvalsh(S) < floor).sum())] and after.floored[0] > 0

    def cost(free):
        H = free.reshape(3, 3)  # S = H H^T + floor I: every matrix that obeys the floor
        C = H @ H.T + floor * np.eye(3)
        return np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, S))

    C = after.covariances[0]
    found = np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, S))
    others = [minimize(cost, rng.standard_normal(9), tol=1e-12).fun for _ in range(3)]
    assert found <= min(others) + 1e-9
    assert np.isclose(found, min(others), atol=1e-4)
    assert np.linalg.eigvalsh(C).min() >= floor * (1 - 1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_component_without_rows_keeps_its_place_with_weight_zero(shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    table = table_of(X, shape)
    unit = wide_start(shape, np.zeros((2, 2)))
    law = MixtureComponents(shape, np.array([1.0, 0.0]), np.array([[0.0, 0.0], [7.0, 7.0]]), unit.factors, unit.floored)
    after = maximised(law, table.sums(law), 1e-6)
    assert after.weights.tolist() == [1.0, 0.0]
    np.testing.assert_array_equal(after.means[1], [7.0, 7.0])
    if shape in ("full", "diag", "spherical"):
        np.testing.assert_array_equal(after.factors[1], law.factors[1])
    assert np.isfinite(table.sums(after).log_likelihood)
    far = MixtureComponents(shape, np.full(2, 0.5), np.array([[0.0, 0.0], [37.0, 0.0]]), unit.factors, unit.floored)
    faint = table.sums(far)
    assert 0.0 < faint.mass[1] < 1e-200  # too little to divide by
    assert maximised(far, faint, 1e-6).weights.tolist() == [1.0, 0.0]


def test_rows_drawn_for_a_start_are_the_same_however_blocks_are_cut(monkeypatch):
    X = np.random.default_rng(0).standard_normal((900, 2))
    np.testing.assert_allclose(table_of(X, "diag").drawn(0), (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-12)
    monkeypatch.setattr("assay.models.cluster.mixture.responsibilities._DRAWN", 600)
    some = table_of(X, "diag").drawn(5)
    assert 200 < len(some) < 400
    np.testing.assert_allclose(some, cut(table_of(X, "diag"), X, 70).drawn(5), atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_parameters_are_counted_as_scikit_learn_counts_them(shape):
    peer = PeerMixture(3, covariance_type=shape).fit(np.random.default_rng(0).standard_normal((40, 4)))
    assert n_parameters(shape, 3, 4) == peer._n_parameters()
