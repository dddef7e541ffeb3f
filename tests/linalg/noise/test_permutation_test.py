"""Shuffled columns: exact at the first step, honest behind components, deaf to margins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, pearsonr

from assay.errors import DataError, ParameterError
from assay.linalg.noise import permutation_test as permuted
from assay.linalg.noise.permutation_test import permutation_plan, permuted_spectrum
from assay.linalg.one_thread import one_blas_thread


@pytest.fixture(scope="module", autouse=True)
def _small_tables_need_no_threads():
    with one_blas_thread():
        yield


NOISES = {
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
    "t5": lambda rng, shape: rng.standard_t(5, shape),
    "lognormal": lambda rng, shape: np.exp(rng.standard_normal(shape)),
    "rare": lambda rng, shape: (rng.random(shape) < 0.1).astype(float),
}


def standard(X):
    spread = X.std(axis=0, ddof=1)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def planted(rng, noise, n, d, strengths):
    X = noise(rng, (n, d))
    X = (X - X.mean()) / X.std()
    for b in strengths:
        v = rng.standard_normal(d)
        X = X + np.sqrt(b) * rng.standard_normal((n, 1)) * (v / np.linalg.norm(v))
    return X


def run(X, seed=0, **options):
    return permuted_spectrum(X, rng=np.random.default_rng(seed), **options)


@given(seed=st.integers(0, 1000), n=st.integers(3, 30), d=st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_values_are_the_eigenvalues_of_the_covariance(seed, n, d):
    X = np.random.default_rng(seed).standard_normal((n, d)) + 5.0
    expected = np.linalg.eigvalsh(np.atleast_2d(np.cov(X.T)))[::-1][: min(n, d)]
    np.testing.assert_allclose(run(X, n_max=19).values, expected, atol=1e-12)


@given(seed=st.integers(0, 1000), n=st.integers(3, 40), d=st.integers(2, 12), k=st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_gram_of_either_side_is_that_of_the_projected_table(seed, n, d, k):
    rng = np.random.default_rng(seed)
    k = min(k, n - 1, d - 1)
    left = np.linalg.qr(rng.standard_normal((n, k)))[0]
    right = np.linalg.qr(rng.standard_normal((d, k)))[0]
    E = rng.standard_normal((n, d))
    projected = (np.eye(n) - left @ left.T) @ E @ (np.eye(d) - right @ right.T)
    expected = np.linalg.svd(projected, compute_uv=False)[0] ** 2
    gram = permuted._projected_gram(np.ascontiguousarray(E.T), left, right)
    assert gram.shape == (min(n, d),) * 2
    assert np.linalg.eigvalsh(gram)[-1] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_large_and_small_eigenproblems_give_the_same_draws(monkeypatch):
    X = np.random.default_rng(0).standard_normal((60, 40))
    dense = run(X, n_max=19)
    monkeypatch.setattr(permuted, "_DENSE", 10)
    for one, two in zip(dense.null, run(X, n_max=19).null, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-7)


def test_two_columns_give_the_p_of_their_correlation():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 2))
    X[:, 1] += 0.3 * X[:, 0]
    expected = pearsonr(*X.T).pvalue
    found = run(standard(X), level=0.5, n_max=1999).p_values[0]
    assert found == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 2000) + 0.005)


@pytest.mark.parametrize("noise", NOISES)
def test_noise_of_any_margin_is_called_real_no_more_often_than_promised(noise):
    rng = np.random.default_rng(2)
    tables = 100
    tall = sum(run(standard(NOISES[noise](rng, (50, 6))), seed, n_max=39).n_real > 0 for seed in range(tables))
    wide = sum(run(standard(NOISES[noise](rng, (15, 30))), seed, n_max=39).n_real > 0 for seed in range(tables))
    assert tall + wide <= binom.isf(1e-4, 2 * tables, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("n", "d", "strengths"), [(200, 8, [8.0]), (80, 16, [40.0, 12.0]), (30, 60, [60.0])])
def test_behind_planted_components_one_too_many_is_rare(noise, n, d, strengths):
    rng = np.random.default_rng(n)
    tables = 100
    real = [
        run(standard(planted(rng, NOISES[noise], n, d, strengths)), seed, n_max=39).n_real for seed in range(tables)
    ]
    assert sum(k > len(strengths) for k in real) <= binom.isf(1e-4, tables, 0.05)
    assert sum(k >= len(strengths) for k in real) >= 0.9 * tables


def test_one_too_many_is_rare_behind_a_planted_component():
    rng = np.random.default_rng(3)
    tables = 100
    real = [
        run(standard(planted(rng, NOISES["gaussian"], 60, 8, [8.0])), seed, n_max=39).n_real for seed in range(tables)
    ]
    assert min(real) >= 1
    assert sum(k > 1 for k in real) <= binom.isf(1e-4, tables, 0.05)


def test_strong_components_do_not_hide_weak_ones():
    rng = np.random.default_rng(4)
    real = [
        run(planted(rng, NOISES["gaussian"], 120, 20, [1e6, 1e3, 6.0]), seed, n_max=39).n_real for seed in range(20)
    ]
    assert sum(k >= 3 for k in real) >= 19


def test_columns_in_different_units_are_no_structure():
    X = np.random.default_rng(5).standard_normal((80, 6)) * np.geomspace(1, 1000, 6)
    assert run(X).n_real == 0


def test_draws_stop_once_alpha_is_out_of_reach():
    found = run(np.random.default_rng(6).standard_normal((50, 5)), n_max=999)
    assert found.n_real == 0
    assert found.draws[0] < 999
    exceeding = (found.null[0] >= found.values[0]).sum()
    assert exceeding == 50  # the first count with (1 + count) / 1000 > 0.05
    assert found.p_values[0] == pytest.approx((1 + exceeding) / (1 + found.draws[0]))


@pytest.mark.parametrize("seed", range(8))
def test_stopping_early_does_not_change_the_decision(seed):
    rng = np.random.default_rng(seed)
    X = standard(planted(rng, NOISES["gaussian"], 30, 5, [0.8]))
    found = run(X, seed, n_max=99, max_components=1)
    table = np.ascontiguousarray((X - X.mean(axis=0)).T)
    draws, shuffle = [], np.random.default_rng(seed)
    for _ in range(99):
        shuffle.permuted(table, axis=1, out=table)
        draws.append(np.linalg.eigvalsh(table @ table.T / 29)[-1])
    p = (1 + np.sum(np.array(draws) >= found.values[0])) / 100
    assert (found.p_values[0] <= 0.05) == (p <= 0.05)


def test_p_values_never_fall_and_are_one_where_nothing_is_left():
    X = planted(np.random.default_rng(7), NOISES["gaussian"], 60, 4, [50.0])
    found = run(X)
    assert found.n_real == 1
    assert np.all(np.diff(found.p_values) >= 0)
    assert np.all(found.p_tail <= found.p_values)
    assert found.p_values[-1] == 1.0
    assert len(found.null) == len(found.draws) == 2


def test_tail_goes_below_the_draws_but_not_below_its_floor():
    found = run(planted(np.random.default_rng(8), NOISES["gaussian"], 100, 10, [3.0]))
    assert found.p_values[0] == 1 / 200
    assert found.p_tail[0] == 1e-4
    assert run(planted(np.random.default_rng(8), NOISES["gaussian"], 100, 10, [3.0]), n_max=19).p_tail[0] == 1 / 20


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["gaussian", "t5", "rare"])
def test_tail_is_calibrated_below_the_draws(noise):
    """Of many draws, each judged by a tail fitted to 199 others, a share of 0.002 has p_tail <= 0.002."""
    rng = np.random.default_rng(9)
    hits = trials = 0
    for _ in range(4):
        table = np.ascontiguousarray(standard(NOISES[noise](rng, (80, 5))).T)
        tops = np.empty(6000)
        for i in range(6000):
            rng.permuted(table, axis=1, out=table)
            tops[i] = np.linalg.eigvalsh(table @ table.T)[-1]
        for _ in range(10):
            chosen = rng.choice(6000, 199, replace=False)
            hits += (permuted.tail_p(tops, tops[chosen], permuted._monte_carlo_p(tops, tops[chosen])) <= 0.002).sum()
            trials += 6000
    assert 0.1 * 0.002 <= hits / trials <= 1.5 * 0.002


def test_same_seed_same_answer_and_units_do_not_matter():
    X = planted(np.random.default_rng(10), NOISES["gaussian"], 40, 6, [3.0])
    one, two, scaled = run(X), run(X), run(X * 2.0**40)
    np.testing.assert_array_equal(one.p_values, two.p_values)
    np.testing.assert_array_equal(one.p_values, scaled.p_values)
    np.testing.assert_allclose(scaled.values, one.values * 2.0**80)
    np.testing.assert_allclose(scaled.null[0], one.null[0] * 2.0**80)


def test_a_large_offset_does_not_matter():
    X = planted(np.random.default_rng(11), NOISES["gaussian"], 40, 6, [3.0])
    np.testing.assert_allclose(run(X + 1e8).p_values, run(X).p_values)


def test_argument_is_left_as_it_was():
    X = np.random.default_rng(12).standard_normal((20, 4))
    before = X.copy()
    run(X)
    np.testing.assert_array_equal(X, before)


def test_progress_is_told_of_every_draw():
    calls = []
    X = planted(np.random.default_rng(13), NOISES["gaussian"], 50, 5, [10.0])
    found = run(X, n_max=39, progress=lambda k, done: calls.append((k, done)))
    assert calls == [(k, i + 1) for k, draws in enumerate(found.draws) for i in range(draws)]


def test_search_ends_where_it_is_told_to():
    X = planted(np.random.default_rng(14), NOISES["gaussian"], 100, 12, [100.0, 50.0, 25.0])
    found = run(X, n_max=39, max_components=2)
    assert found.n_real == 2
    assert found.p_values[2] == 1.0


@pytest.mark.parametrize(
    ("X", "testable"),
    [
        (np.zeros((10, 3)), False),
        (np.full((10, 3), 1e8), False),
        (np.arange(10.0)[:, None], False),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), False),
        (np.column_stack([np.zeros(30), np.random.default_rng(0).standard_normal((30, 3))]), True),
        (np.random.default_rng(0).standard_normal((30, 3)) * 1e-100, True),
        (np.random.default_rng(0).standard_normal((30, 3)) * 1e100, True),
        (np.repeat(np.random.default_rng(0).standard_normal((3, 40)), 2, axis=0), True),
    ],
)
def test_degenerate_tables_have_defined_answers(X, testable):
    found = run(X, n_max=19)
    assert found.testable == testable
    assert np.isfinite(found.values).all()
    assert np.all((found.p_values > 0) & (found.p_values <= 1))
    if not testable:
        assert found.n_real == 0
        assert found.null == ()


def test_equal_columns_are_one_real_component_and_nothing_else():
    rng = np.random.default_rng(15)
    X = rng.standard_normal((200, 5))
    X[:, 4] = X[:, 3]
    assert run(standard(X)).n_real == 1
    assert run(np.outer(rng.standard_normal(50), [1.0, 2.0, -1.0])).n_real == 1


def test_what_is_wrong_is_said_with_the_remedy():
    X = np.random.default_rng(16).standard_normal((10, 3))
    with pytest.raises(ParameterError, match=r"9 draws cannot reach p <= 0\.05; n_max must be at least 19"):
        run(X, n_max=9)
    with pytest.raises(ParameterError, match="level must be between 0 and 1, got 0"):
        run(X, level=0)
    with pytest.raises(DataError, match="at least 2 rows, got 1"):
        run(X[:1])
    with pytest.raises(DataError, match=r"entries up to .*e\+199 overflow when squared; divide the columns"):
        run(np.array([[1e200, 0.0], [0.0, 1.0], [1.0, 2.0]]))
    X[2, 1] = np.nan
    with pytest.raises(DataError, match="row 2, column 1 .* is NaN"):
        run(X)


def test_permuting_pays_for_tables_and_not_for_mountains():
    assert permutation_plan(440, 8).draws == 199
    assert 39 <= permutation_plan(181, 12_533).draws < 199
    assert permutation_plan(1_000_000, 500).draws == 0
    assert permutation_plan(5_000, 5_000).draws == 0
