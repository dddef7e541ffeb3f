"""The difference of means: a midpoint, the nearest mean, and refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestCentroid

import assay
from assay import DifferenceOfMeans, GroupedMoments
from assay.errors import DataError


def classes(seed, n=60, d=5, g=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % g
    return rng.standard_normal((n, d)) + rng.standard_normal((g, d))[y], y


def test_two_classes_are_cut_half_way_between_their_means():
    X, y = classes(0, g=2)
    rule = DifferenceOfMeans().fit(X, y)
    a, b = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    np.testing.assert_allclose(rule.coef_[0], b - a, rtol=1e-12)
    ends = rule.decision_function(np.stack([a, (a + b) / 2, b]))
    half = (b - a) @ (b - a) / 2
    np.testing.assert_allclose(ends, [-half, 0.0, half], atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from([1, 4, 80]))
@settings(max_examples=25, deadline=None)
def test_the_class_is_that_of_the_nearest_mean(seed, g, d):
    X, y = classes(seed, g=g, d=d)
    rule = DifferenceOfMeans().fit(X, y)
    new = X + np.random.default_rng(seed + 1).standard_normal(X.shape)
    np.testing.assert_array_equal(rule.predict(new), cdist(new, rule.means_).argmin(axis=1))
    np.testing.assert_array_equal(rule.predict(new), NearestCentroid().fit(X, y).predict(new))


def test_coordinates_are_orthonormal_and_keep_the_distances_between_means():
    X, y = classes(1, g=4, d=9)
    rule = DifferenceOfMeans().fit(X, y)
    np.testing.assert_allclose(rule.scalings_.T @ rule.scalings_, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(cdist(*[rule.transform(rule.means_)] * 2), cdist(rule.means_, rule.means_), atol=1e-10)
    spread = (rule.transform(rule.means_).T * rule.weights_) @ rule.transform(rule.means_)
    np.testing.assert_allclose(spread, np.diag(rule.eigenvalues_), atol=1e-9)
    assert list(rule.get_feature_names_out()) == [f"differenceofmeans{j}" for j in range(3)]


def test_means_on_a_line_span_one_direction():
    rule = DifferenceOfMeans().fit([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], [0, 1, 2])
    np.testing.assert_allclose(rule.scalings_, np.full((2, 1), np.sqrt(0.5)))


def test_rows_summaries_sparse_matrices_and_weights_agree():
    X, y = classes(2)
    rule = DifferenceOfMeans().fit(X, y)
    merged = DifferenceOfMeans().fit_moments(GroupedMoments.of(X[:25], y[:25]) + GroupedMoments.of(X[25:], y[25:]))
    np.testing.assert_allclose(merged.coef_, rule.coef_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(DifferenceOfMeans().fit(csr_array(X), y).coef_, rule.coef_, rtol=1e-10, atol=1e-12)
    w = y + np.arange(60) % 2
    weighted = DifferenceOfMeans().fit(X, y, sample_weight=w)
    repeated = DifferenceOfMeans().fit(X.repeat(w, axis=0), y.repeat(w))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-10, atol=1e-10)


def test_a_shift_and_a_rotation_change_no_decision():
    X, y = classes(3)
    Q = np.linalg.qr(np.random.default_rng(3).standard_normal((5, 5)))[0]
    plain = DifferenceOfMeans().fit(X, y)
    moved = DifferenceOfMeans().fit(X @ Q + 1e8, y)
    assert (moved.predict(X @ Q + 1e8) == plain.predict(X)).all()


def test_what_has_no_difference_or_no_numbers_is_refused_in_words():
    with pytest.raises(DataError, match="all classes have the same mean"):
        DifferenceOfMeans().fit([[1.0], [3.0], [2.0]], [0, 0, 1])
    with pytest.raises(DataError, match="only one class, 0, in all 3 rows"):
        DifferenceOfMeans().fit([[1.0], [3.0], [2.0]], [0, 0, 0])
    with pytest.raises(DataError, match="row 1, column 0 is missing"):
        DifferenceOfMeans().fit([[1.0], [np.nan], [2.0]], [0, 0, 1])
    with pytest.raises(DataError, match="column 0 runs from 1 to 1e\\+300: the squares"):
        DifferenceOfMeans().fit([[1.0], [1e300], [2.0]], [0, 0, 1])
    with pytest.raises(DataError, match="the weight of class 1 is zero"):
        DifferenceOfMeans().fit([[1.0], [5.0], [2.0]], [0, 0, 1], sample_weight=[1, 1, 0])
    with pytest.raises(DataError, match="the summary has 1"):
        DifferenceOfMeans().fit_moments(GroupedMoments.of([[1.0], [2.0]], [0, 0]))


def test_a_saved_model_answers_alike(tmp_path):
    X, y = classes(4)
    model = DifferenceOfMeans().fit(X, y)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(assay.load(tmp_path / "m").decision_function(X), model.decision_function(X))
