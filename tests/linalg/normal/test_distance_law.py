"""How far normal rows are from an estimated centre."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.linalg.normal.distance_law import DistanceLaw
from assay.linalg.normal.shrinkage import ledoit_wolf
from assay.linalg.one_thread import one_blas_thread

SQUARES = np.geomspace(0.01, 50.0, 30)


@pytest.mark.parametrize(("n", "d"), [(5, 3), (12, 1), (40, 7), (3000, 20)])
def test_new_rows_follow_fs_law_and_fitted_rows_wilks(n, d):
    law = DistanceLaw(np.ones(d), d, n)
    f = stats.f(d, n - d).sf(SQUARES * n * (n - d) / (d * (n**2 - 1)))
    np.testing.assert_allclose(law.tail(SQUARES), f, rtol=1e-9, atol=1e-300)
    possible = SQUARES[(n - 1) ** 2 / n > SQUARES]
    beta = stats.beta(d / 2, (n - 1 - d) / 2).sf(possible * n / (n - 1) ** 2)
    np.testing.assert_allclose(law.tail(possible, fitted=True), beta, rtol=1e-7, atol=1e-300)


def test_many_rows_give_chi_square():
    law = DistanceLaw(np.ones(4), 4, 1e9)
    np.testing.assert_allclose(law.tail(SQUARES), stats.chi2(4).sf(SQUARES), rtol=1e-5)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(10, 500),
    d=st.integers(2, 300),
    ridge=st.sampled_from([0.0, 0.05, 1.0, 50.0]),
    level=st.sampled_from([1e-12, 1e-6, 1e-3, 0.3]),
)
def test_the_quantile_inverts_the_tail(n, d, ridge, level):
    r = min(d, n - 3)
    law = DistanceLaw(np.geomspace(3.0, 0.1, r), d if ridge else r, n, 1.0, ridge)
    assert float(law.tail(law.quantile(level))) == pytest.approx(level, rel=1e-6)
    tails = law.tail(SQUARES)
    assert (np.diff(tails) <= 0).all() and (law.tail(np.inf), law.tail(np.inf, fitted=True)) == (0.0, 0.0)


def test_a_ridge_of_almost_nothing_changes_almost_nothing():
    values = np.geomspace(2.0, 0.5, 6)
    plain, shrunk = DistanceLaw(values, 6, 20), DistanceLaw(values, 6, 20, 1.0, 1e-9)
    np.testing.assert_allclose(shrunk.tail(SQUARES), plain.tail(SQUARES), rtol=1e-5)


@pytest.mark.parametrize(("n", "d"), [(30, 60), (40, 20)])
def test_shrunk_estimates_flag_clean_tables_as_often_as_they_say(n, d):
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(0.7 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d))))
    alarms, share = 0, []
    with one_blas_thread():
        for _ in range(200):
            X = rng.standard_normal((n, d)) @ root.T
            X -= X.mean(axis=0)
            values, V = np.linalg.eigh(X.T @ X / (n - 1))
            values = np.maximum(values, 0.0)
            delta = ledoit_wolf(values * (n - 1) / n, d, n, float(np.sum(np.sum(X**2, axis=1) ** 2)))
            ridge = delta * values.mean()
            far = np.sum((X @ V) ** 2 / ((1 - delta) * values + ridge), axis=1)
            p = DistanceLaw(values, d, n, 1 - delta, ridge).tail(far, fitted=True)
            alarms += p.min() <= 0.05 / n
            share.append(np.mean(p <= 0.1))
    # 0.05 of 200 tables, with three standard deviations of a binomial count
    assert alarms <= 10 + 3 * np.sqrt(9.5)
    # an approximation, on the safe side for more columns than rows
    assert 0.08 <= np.mean(share) <= 0.11
