"""Tables without groups keep the correlations of the data, and one peak in every column."""

import numpy as np
import pytest
from scipy.stats import kstest

from assay.questions.groups.unimodal import unimodal


def standard(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def peaks(values, bins=14):
    """Local maxima of a coarse histogram that rise above their surroundings by more than counting noise."""
    counts = np.histogram(values, bins)[0].astype(float)
    found, low = 0, 0.0
    high = 0.0
    rising = True
    for c in np.append(counts, 0.0):
        if rising:
            high = max(high, c)
            if c < high - 5 * np.sqrt(high + 1):
                found, rising, low = found + 1, False, c
        else:
            low = min(low, c)
            if c > low + 5 * np.sqrt(c + 1):
                rising, high = True, c
    return found


@pytest.fixture(scope="module")
def two_groups():
    rng = np.random.default_rng(0)
    side = np.where(rng.random(500) < 0.5, -1.0, 1.0)
    X = rng.standard_normal((500, 4))
    X[:, 0] += 3 * side
    X[:, 1] += 3 * side
    return standard(X)


def test_columns_with_two_peaks_are_drawn_with_one(two_groups):
    drawn = unimodal(two_groups).draw(20_000, np.random.default_rng(1))
    assert peaks(two_groups[:, 0]) == 2
    assert [peaks(column) for column in drawn.T] == [1, 1, 1, 1]


def test_draws_have_the_correlations_of_the_data(two_groups):
    drawn = unimodal(two_groups).draw(20_000, np.random.default_rng(1))
    np.testing.assert_allclose(np.corrcoef(drawn.T), np.corrcoef(two_groups.T), atol=0.08)
    np.testing.assert_allclose(drawn.mean(axis=0), 0.0, atol=0.05)
    np.testing.assert_allclose(drawn.std(axis=0), 1.0, atol=0.03)


@pytest.mark.parametrize("law", ["uniform", "norm", "expon"])
def test_a_margin_with_one_peak_stays_as_it_is(law):
    from scipy import stats

    rng = np.random.default_rng(2)
    X = getattr(stats, law).rvs(size=(800, 1), random_state=rng)
    Z = standard(np.hstack([X, rng.standard_normal((800, 1))]))
    found = unimodal(Z)
    drawn = found.draw(4000, rng)
    assert found.moved[0] < 0.05
    # 800 values are known to about 0.05 themselves
    assert kstest(drawn[:, 0], Z[:, 0]).statistic < 0.06


def test_noise_of_a_wide_table_is_not_counted_twice():
    rng = np.random.default_rng(3)
    Z = standard(rng.standard_normal((120, 60)))
    drawn = standard(unimodal(Z).draw(120, rng))
    top = [np.linalg.svd(A, compute_uv=False)[0] ** 2 / 120 for A in (Z, drawn)]
    assert top[1] < 1.15 * top[0]


def test_more_columns_than_rows_can_be_drawn():
    rng = np.random.default_rng(4)
    Z = standard(rng.standard_normal((30, 90)) + 2 * rng.standard_normal((30, 1)))
    assert unimodal(Z).draw(50, rng).shape == (50, 90)


@pytest.mark.parametrize("seed", range(20))
def test_a_column_that_is_the_sum_of_others_shares_all_of_its_variance(seed):
    # its factors may carry more than all of it; what is left of its own is then 0, never the root of -1e-16
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 8))
    X[:, 6] += X[:, 5]
    X[:, 7] = X[:, :2].sum(axis=1)
    law = unimodal(standard(X))
    # eight squares are summed, each rounded
    np.testing.assert_allclose((law.axes**2).sum(axis=1) + law.noise**2, 1.0, atol=16 * np.finfo(float).eps)
    assert np.isfinite(law.draw(50, rng)).all()
