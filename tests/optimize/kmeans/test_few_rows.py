"""Small k-means: the same minima as scikit-learn finds, at rest, and without empty groups."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from assay.errors import ParameterError
from assay.optimize.kmeans.few_rows import group_few_rows


def test_iris_in_three_groups_has_the_known_sum_of_squares():
    assert group_few_rows(load_iris().data, 3, n_init=5).inertia == pytest.approx(78.851441, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_centres_are_the_means_of_the_rows_nearest_to_them(seed, k):
    X = np.random.default_rng(seed).standard_normal((40, 3)) + 1e6
    found = group_few_rows(X, k, seed=seed, tol=0.0)
    squares = ((X[:, None] - found.centers) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.labels, squares.argmin(axis=1))
    assert found.inertia == pytest.approx(squares.min(axis=1).sum(), rel=1e-6)
    assert np.bincount(found.labels, minlength=k).min() > 0
    for g in range(k):
        np.testing.assert_allclose(found.centers[g], X[found.labels == g].mean(axis=0), atol=1e-6)


def test_the_best_of_several_starts_is_as_good_as_scikit_learns():
    X = np.random.default_rng(0).standard_normal((300, 4))
    ours = group_few_rows(X, 6, n_init=20).inertia
    theirs = KMeans(6, n_init=20, random_state=0).fit(X).inertia_
    assert ours <= theirs * 1.005


def test_fewer_distinct_rows_than_centres_leave_nothing_unexplained():
    found = group_few_rows(np.repeat([[0.0], [1.0]], 5, axis=0), 4)
    assert found.inertia == 0.0


def test_more_centres_than_rows_are_refused():
    with pytest.raises(ParameterError, match="between 1 and the number of rows, 3; got 4"):
        group_few_rows(np.zeros((3, 1)), 4)
