"""Monotone regression against scikit-learn's, and Kruskal's two ways with ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression, isotonic_regression

from assay.models.embedding.mds.disparities import DissimilarityRanking


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9999), size=st.integers(1, 60), kinds=st.integers(1, 8))
def test_secondary_ties_are_scikit_learns_isotonic_regression(seed, size, kinds):
    rng = np.random.default_rng(seed)
    delta, d, w = rng.integers(0, kinds, size).astype(float), rng.random(size), rng.random(size) + 0.1
    fitted = DissimilarityRanking.of(delta).disparities(d, "secondary", w)
    expected = IsotonicRegression().fit(delta, d, sample_weight=w).predict(delta)
    assert fitted == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9999), size=st.integers(1, 60), kinds=st.integers(1, 8))
def test_primary_ties_are_the_fit_to_pairs_sorted_by_distance_within_ties(seed, size, kinds):
    rng = np.random.default_rng(seed)
    delta, d = rng.integers(0, kinds, size).astype(float), rng.random(size)
    order = np.lexsort((d, delta))
    expected = np.empty(size)
    expected[order] = isotonic_regression(d[order])
    ranking = DissimilarityRanking.of(delta)
    assert ranking.disparities(d, "primary") == pytest.approx(expected, abs=1e-12)
    # the order kept from the last call changes nothing
    other = rng.random(size)
    fresh = DissimilarityRanking.of(delta).disparities(other, "primary")
    assert ranking.disparities(other, "primary") == pytest.approx(fresh, abs=1e-12)


def test_long_ties_are_sorted_whether_they_were_nearly_sorted_or_not():
    rng = np.random.default_rng(0)
    ranking = DissimilarityRanking.of(np.zeros(5000))
    for d in (rng.random(5000), np.arange(5000.0)[::-1].copy(), np.arange(5000.0)):
        assert np.array_equal(ranking.disparities(d, "primary"), d)


def test_pairs_of_weight_zero_are_left_out():
    delta, d = np.array([1.0, 2.0, 3.0]), np.array([1.0, 9.0, 2.0])
    weights = np.array([1.0, 0.0, 1.0])
    for ties in ("primary", "secondary"):
        assert DissimilarityRanking.of(delta, weights).disparities(d, ties, weights).tolist() == [1.0, 0.0, 2.0]


def test_levels_rise_and_give_the_disparities_back():
    rng = np.random.default_rng(1)
    delta, d = rng.random(500), rng.random(500)
    ranking = DissimilarityRanking.of(delta)
    fitted = ranking.disparities(d, "primary")
    at, level = ranking.levels(delta, fitted)
    assert (np.diff(at) > 0).all() and (np.diff(level) >= 0).all() and len(at) < 500
    assert np.interp(delta, at, level) == pytest.approx(fitted)
