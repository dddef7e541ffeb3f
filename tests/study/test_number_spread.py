"""How numbers spread, of many columns at once: as of each on its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.asking.coarse import FEWEST
from assay.study import number_spread
from assay.study.number_spread import TENTHS, TOP, NumberSpread
from assay.study.suspicious_values import suspect, suspicious_numbers


def table(seed: int, m: int, d: int) -> np.ndarray:
    """Columns with ties, gaps, infinite and far values, without any value, and of one."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d)) * np.exp(rng.normal(0, 3, d))
    X[:, ::3] = np.round(X[:, ::3])
    X[rng.random((m, d)) < rng.choice([0.0, 0.2, 1.0], d, p=[0.5, 0.4, 0.1])] = np.nan
    X[rng.random((m, d)) < 0.02] = np.inf
    X[0, rng.random(d) < 0.2] = 1e9
    X[:2, rng.random(d) < 0.2] = -999.0
    return X


@given(seed=st.integers(0, 10**6), m=st.integers(1, 60), d=st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_many_columns_are_described_as_one_by_one(seed, m, d):
    X, tenth = table(seed, m, d), np.arange(m) * TENTHS // m
    found = NumberSpread.of(X, tenth, np.ones(d, dtype=bool))
    for j, x in enumerate(X.T):
        seen = x[np.isfinite(x)]
        values, counts = np.unique(seen, return_counts=True)
        assert found.seen[j] == len(seen) and found.distinct[j] == len(values)
        assert found.zeros[j] == np.count_nonzero(seen == 0.0)
        often = [k for k in np.argsort(-counts, kind="stable")[:TOP] if counts[k] >= FEWEST]
        assert found.often[:, j].tolist() == [*counts[often], *[0] * (TOP - len(often))]
        assert found.top[: len(often), j].tolist() == values[often].tolist()
        if not len(seen):
            assert np.isnan(found.quartiles[:, j]).all() and np.isnan(found.low[j])
            continue
        assert (found.low[j], found.high[j]) == (seen.min(), seen.max())
        # the same sums in the same order: equal to rounding of the last of three steps
        parts = [0.25, 0.5, 0.75]
        np.testing.assert_allclose(found.quartiles[:, j], np.quantile(seen, parts), rtol=4e-16, atol=1e-300)
        if (seen > -1.0).all():
            np.testing.assert_allclose(found.log_quartiles[:, j], np.quantile(np.log1p(seen), parts), rtol=1e-14)
        if m < 2 * TENTHS:
            assert not len(found.drift)
            continue
        for part in range(TENTHS):
            own = x[(tenth == part) & np.isfinite(x)]
            mean = own.mean() if len(own) else np.nan
            # rounding of a sum is of the size of its largest term
            np.testing.assert_allclose(found.drift[part, j], mean, rtol=1e-12, atol=1e-12 * np.abs(seen).max())


def test_tiles_of_columns_change_nothing(monkeypatch):
    X, tenth, logged = table(1, 40, 37), np.arange(40) * TENTHS // 40, np.zeros(37, dtype=bool)
    whole = NumberSpread.of(X, tenth, logged)
    monkeypatch.setattr(number_spread, "_TILE", 200)
    for name in NumberSpread.__slots__:
        np.testing.assert_array_equal(getattr(NumberSpread.of(X, tenth, logged), name), getattr(whole, name))


def test_of_columns_that_are_not_asked_for_nothing_is_known():
    X, tenth, logged = table(2, 30, 6), np.arange(30) * TENTHS // 30, np.zeros(6, dtype=bool)
    whole, some = NumberSpread.of(X, tenth, logged), NumberSpread.of(X, tenth, logged, np.array([1, 4]))
    np.testing.assert_array_equal(some.quartiles[:, [1, 4]], whole.quartiles[:, [1, 4]])
    assert not some.seen[[0, 2, 3, 5]].any() and np.isnan(some.drift[:, [0, 2, 3, 5]]).all()


def test_values_as_large_as_numbers_go_have_quartiles():
    X = np.array([[-1.7e308], [1.7e308]])
    spread = NumberSpread.of(X, np.zeros(2, dtype=int), np.array([False]))
    np.testing.assert_allclose(spread.quartiles[:, 0], [-0.85e308, 0.0, 0.85e308])


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_no_column_with_suspicious_values_is_passed_over(seed, log):
    d = 200
    X = table(seed, 45, d)
    X = np.abs(X) if log else X
    spread = NumberSpread.of(X, np.zeros(len(X), dtype=int), np.full(d, log))
    finite = np.where(np.isfinite(X), X, np.nan)
    there = np.isfinite(finite).any(axis=0)
    low, high = np.full(d, np.nan), np.full(d, np.nan)
    low[there], high[there] = np.nanmin(finite[:, there], axis=0), np.nanmax(finite[:, there], axis=0)
    odd = suspect(spread, low, high, np.full(d, log))
    said = np.array([bool(suspicious_numbers(X[:, j], low[j], high[j], log=log)) for j in range(d)])
    assert said.any() and not (said & ~odd).any()
    assert odd.mean() < 0.8  # which would pass all of them
