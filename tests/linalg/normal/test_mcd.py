"""The rows of smallest covariance determinant, and the bulk around them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.covariance import MinCovDet

from assay.errors import DataError, ParameterError
from assay.linalg.normal.mcd import central_rows, consistency, cut, degrees_of_freedom, few_rows, mcd


def log_determinant(rows):
    return np.linalg.slogdet(np.cov(rows, rowvar=False, bias=True))[1]


def contaminated(n, d, share, seed=0):
    """Normal rows, the first of them moved far out together."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[: int(share * n)] += 6.0
    return X @ rng.standard_normal((d, d))


@pytest.mark.parametrize("seed", range(4))
def test_of_a_dozen_rows_the_very_best_are_found(seed):
    X = np.random.default_rng(seed).standard_normal((12, 2))
    best = min(combinations(range(12), 8), key=lambda rows: log_determinant(X[list(rows)]))
    found = mcd(X, 8)
    assert found.support.tolist() == list(best)
    np.testing.assert_allclose(found.location, X[list(best)].mean(axis=0))
    np.testing.assert_allclose(found.covariance, np.cov(X[list(best)], rowvar=False, bias=True))


@settings(max_examples=15, deadline=None)
@given(n=st.integers(20, 120), d=st.integers(1, 5), seed=st.integers(0, 99))
def test_no_step_raises_the_determinant(n, d, seed):
    found = mcd(np.random.default_rng(seed).standard_cauchy((n, d)), seed=seed)
    assert (np.diff(found.descent) < 0).all()
    assert len(found.support) == (n + d + 1) // 2


@pytest.mark.parametrize(("n", "d", "share"), [(200, 5, 0.2), (400, 12, 0.3), (900, 4, 0.2)])
def test_the_determinant_is_no_larger_than_scikit_learns(n, d, share):
    X = contaminated(n, d, share)
    h = (n + d + 1) // 2
    found = mcd(X)
    peer = MinCovDet(support_fraction=(h + 0.5) / n, random_state=0).fit(X)
    assert peer.raw_support_.sum() == len(found.support) == h
    # searches of many rows end in one of many minima, which differ in the fourth digit
    assert log_determinant(X[found.support]) <= log_determinant(X[peer.raw_support_]) + 1e-3
    assert found.support.min() >= int(share * n)


def test_a_linear_map_of_the_rows_changes_no_choice():
    X = contaminated(150, 4, 0.25)
    moved = X @ np.random.default_rng(9).standard_normal((4, 4)) * 1e5 + 1e7
    one, other = mcd(X), mcd(moved)
    assert log_determinant(X[other.support]) == pytest.approx(log_determinant(X[one.support]), abs=1e-2)
    assert mcd(X * [1e-100, 1.0, 1e100, 1e50] + 0.0).support.tolist() == one.support.tolist()


def test_the_same_seed_gives_the_same_rows():
    X = contaminated(700, 3, 0.1)
    assert mcd(X, seed=5).support.tolist() == mcd(X, seed=5).support.tolist()


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(ParameterError, match="of 10 rows and 2 columns, h is from 6, .* to 10; got 5"):
        mcd(np.random.default_rng(0).standard_normal((10, 2)), 5)
    with pytest.raises(ParameterError, match="of 3 rows and 4 columns"):
        mcd(np.eye(3, 4))
    with pytest.raises(DataError, match=r"column 1 \(counted from 0\) is constant; leave it out"):
        mcd(np.column_stack([np.arange(9.0), np.ones(9)]))


def test_most_rows_on_a_plane_are_reported_and_the_others_left_out():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((100, 3))
    X[:60, 2] = X[:60, 0] - 2 * X[:60, 1]
    X[:5] *= 50.0  # on the plane, but far out within it
    found = central_rows(X, 52)
    assert (found.on_plane, found.dimension) == (60, 2)
    assert not found.bulk[60:].any() and not found.bulk[:5].any() and found.bulk[5:60].mean() > 0.9


@pytest.mark.parametrize("share", [0.5, 0.75, 0.975, 1.0])
def test_the_consistent_covariance_of_central_rows_is_that_of_all(share):
    X = np.random.default_rng(4).standard_normal((200_000, 3))
    far = np.sum(X**2, axis=1)
    central = X[far <= np.quantile(far, share)]
    np.testing.assert_allclose(np.cov(central, rowvar=False) * consistency(share, 3), np.eye(3), atol=0.02)


def test_corrections_for_few_rows_vanish_with_many():
    assert cut(10**7, 4, 5_000_003, 0.01) == pytest.approx(stats.chi2(4).isf(0.01), rel=1e-3)
    assert cut(50, 4, 27, 0.01) > stats.chi2(4).isf(0.01)
    for d in (1, 2, 7):
        factors = [few_rows(n, d, 0.6) for n in (50, 500, 5000, 10**7)]
        assert np.all(np.diff(factors) < 0) and factors[-1] == pytest.approx(1.0, abs=0.001)
        assert few_rows(50, d, 1.0) == 1.0
    assert degrees_of_freedom(50, 4, 50) == 49.0


def test_the_bulk_of_clean_rows_is_what_it_is_said_to_be():
    shares = [
        central_rows(np.random.default_rng(seed).standard_normal((150, 4)), 77, seed).bulk.mean() for seed in range(15)
    ]
    assert np.mean(shares) == pytest.approx(0.975, abs=0.015)
