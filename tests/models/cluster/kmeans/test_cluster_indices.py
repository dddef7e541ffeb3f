"""Indices of any partition, beside scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import calinski_harabasz_score

from assay.errors import DataError, ParameterError
from assay.models.cluster.kmeans.cluster_indices import cluster_indices

RNG = np.random.default_rng(0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 5))
def test_the_index_is_that_of_scikit_learn(seed, k, d):
    rng = np.random.default_rng(seed)
    X, labels = rng.standard_normal((40, d)) + 100.0, np.append(np.arange(k), rng.integers(0, k, 40 - k))
    assert cluster_indices(X, labels).calinski_harabasz == pytest.approx(calinski_harabasz_score(X, labels), rel=1e-9)


def test_between_and_within_add_up_to_the_total():
    X, labels = RNG.standard_normal((60, 3)), RNG.integers(0, 4, 60)
    within = sum(((X[labels == g] - X[labels == g].mean(axis=0)) ** 2).sum() for g in range(4))
    total = ((X - X.mean(axis=0)) ** 2).sum()
    assert cluster_indices(X, labels).explained_variance == pytest.approx(1.0 - within / total, rel=1e-12)


def test_weights_are_repetitions_and_units_do_not_matter():
    X, labels, w = RNG.standard_normal((50, 2)), RNG.integers(0, 3, 50), RNG.integers(0, 4, 50)
    plain = cluster_indices(np.repeat(X, w, axis=0), np.repeat(labels, w))
    for factor, shift in ((1.0, 0.0), (1e300, 0.0), (1e-300, 0.0), (1.0, 1e8)):
        weighted = cluster_indices(X * factor + shift, labels, w)
        assert weighted.calinski_harabasz == pytest.approx(plain.calinski_harabasz, rel=1e-6)


def test_partitions_without_an_index():
    one = cluster_indices([[1.0], [2.0]], ["a", "a"])
    assert np.isnan(one.calinski_harabasz) and one.explained_variance == 0.0
    each = cluster_indices([[1.0], [2.0]], ["a", "b"])
    assert np.isnan(each.calinski_harabasz) and each.explained_variance == 1.0
    assert np.isnan(cluster_indices([[1.0], [1.0]], ["a", "b"]).explained_variance)


def test_what_cannot_be_is_refused():
    with pytest.raises(ParameterError, match=r"one label for each of the 2 rows; got shape \(3,\)"):
        cluster_indices([[1.0], [2.0]], [0, 1, 1])
    with pytest.raises(DataError, match="an \\(n, d\\) table of finite numbers"):
        cluster_indices([[np.nan], [2.0]], [0, 1])
    with pytest.raises(DataError, match="no row has a positive weight"):
        cluster_indices([[1.0], [2.0]], [0, 1], [0, 0])
