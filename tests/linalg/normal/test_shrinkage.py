"""How far covariances are shrunk, and what that makes of distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import ledoit_wolf_shrinkage

from assay.linalg.normal.shrinkage import inflation, ledoit_wolf, rao_blackwell
from assay.linalg.one_thread import one_blas_thread

SETTINGS = settings(max_examples=25, deadline=None)


def spectrum(X, free):
    return np.linalg.eigvalsh(X.T @ X / free)


def fourth(X):
    return float(np.sum(np.sum(X**2, axis=1) ** 2))


@SETTINGS
@given(n=st.integers(3, 40), d=st.integers(2, 40), seed=st.integers(0, 999))
def test_the_share_is_scikit_learns(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.lognormal(size=d)
    X -= X.mean(axis=0)
    assert ledoit_wolf(spectrum(X, n), d, n, fourth(X)) == pytest.approx(ledoit_wolf_shrinkage(X), abs=1e-10)


@SETTINGS
@given(n=st.integers(2, 30), d=st.integers(1, 30), seed=st.integers(0, 999))
def test_shares_lie_between_nothing_and_all(n, d, seed):
    X = np.random.default_rng(seed).standard_t(2, (n, d))
    X -= X.mean(axis=0)
    for share in (ledoit_wolf(spectrum(X, n), d, n, fourth(X)), rao_blackwell(spectrum(X, n - 1), d, n - 1)):
        assert 0.0 <= share <= 1.0


def test_the_summary_says_what_the_rows_say_on_average():
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(0.6 ** np.abs(np.subtract.outer(np.arange(12), np.arange(12))))
    shares = []
    for _ in range(300):
        X = rng.standard_normal((40, 12)) @ root.T
        shares.append((ledoit_wolf(spectrum(X, 40), 12, 40, fourth(X)), rao_blackwell(spectrum(X, 40), 12, 40)))
    by_rows, by_summary = np.mean(shares, axis=0)
    assert by_summary == pytest.approx(by_rows, rel=0.01)
    # Rao and Blackwell: the same on average, and steadier
    assert np.std(shares, axis=0)[1] < np.std(shares, axis=0)[0]


def test_zero_eigenvalues_may_be_left_out():
    X = np.random.default_rng(1).standard_normal((8, 20))
    X -= X.mean(axis=0)
    values = spectrum(X, 7)
    some = values[values > 1e-9]
    assert rao_blackwell(some, 20, 7) == pytest.approx(rao_blackwell(values, 20, 7))
    assert inflation(some, 20, 7, 0.6, 0.4) == pytest.approx(inflation(values, 20, 7, 0.6, 0.4))


def test_equal_eigenvalues_need_no_share():
    assert ledoit_wolf(np.full(3, 2.0), 3, 10, 1000.0) == 0.0
    assert rao_blackwell(np.full(3, 2.0), 3, 10.0) == 0.0


@pytest.mark.parametrize(("n", "d"), [(300, 150), (200, 300)])
@pytest.mark.parametrize(("keep", "ridge"), [(1.0, 0.3), (0.5, 0.5), (0.0, 1.0)])
def test_inflation_tells_the_traces_that_the_true_covariance_has(n, d, keep, ridge):
    rng = np.random.default_rng(2)
    C = 0.6 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    told, truth = [], []
    with one_blas_thread():
        for _ in range(8):
            X = rng.standard_normal((n, d)) @ np.linalg.cholesky(C).T
            S = X.T @ X / n
            A = np.linalg.solve(keep * S + ridge * np.eye(d), C)
            told.append(inflation(np.linalg.eigvalsh(S), d, n, keep, ridge))
            truth.append((np.trace(A), np.trace(A @ A), np.trace(A @ A @ A)))
    np.testing.assert_allclose(np.mean(told, axis=0), np.mean(truth, axis=0), rtol=0.04)
