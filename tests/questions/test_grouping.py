"""Groups around centres, dense parts, and whether they come back."""

import numpy as np
from sklearn.metrics import adjusted_rand_score, jaccard_score

from assay.questions.groups.coming_back import jaccard, prediction_strength
from assay.questions.groups.dense import Dense, faced
from assay.questions.groups.group_search import SearchSpace
from assay.questions.groups.grouping import grouped, shares_between
from assay.questions.groups.rules import ColumnCut, NearestCentres, Projection
from assay.questions.groups.unimodal import peaks

PLANE = NearestCentres(SearchSpace(2, True), (3,))


def blobs(apart, n=300, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    return np.array([[0, 0], [apart, 0], [0, apart]])[labels] + rng.standard_normal((n, 2)), labels


def rings(n=300, seed=0):
    rng = np.random.default_rng(seed)
    angle, far = rng.uniform(0, 2 * np.pi, n), rng.random(n) < 0.5
    radius = np.where(far, 3.0, 1.0) + 0.15 * rng.standard_normal(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), far.astype(int)


def half(n, seed):
    return np.random.default_rng(seed).permutation(n) < n // 2


def test_groups_far_apart_are_predicted_and_come_back_whole():
    X, labels = blobs(20)
    assert prediction_strength(X, half(300, 1), PLANE, 3, 0) == 1.0
    np.testing.assert_allclose(jaccard(X, labels, PLANE, 3, 0, np.random.default_rng(1)), 1.0)


def test_one_lump_is_not_predicted():
    X, _ = blobs(0)
    assert np.mean([prediction_strength(X, half(300, i), PLANE, 5, 0) for i in range(6)]) < 0.6


def test_jaccard_of_identical_groupings_is_one_and_agrees_with_scikit_learn_on_a_shifted_one():
    X, _ = blobs(20)
    own = grouped(X, 3, 0).labels.astype(np.intp)
    moved = own.copy()
    moved[np.flatnonzero(own == 0)[:20]] = 1
    found = jaccard(X, moved, PLANE, 3, 0, np.random.default_rng(2))
    expected = [jaccard_score(moved == g, own == g) for g in range(3)]
    np.testing.assert_allclose(found, expected, atol=0.04)


def test_shares_between_groups_are_those_of_analysis_of_variance():
    from sklearn.feature_selection import f_classif

    X, labels = blobs(2)
    F = f_classif(X, labels)[0]
    share = shares_between(X, labels, 3)
    np.testing.assert_allclose(share / (1 - share) * (300 - 3) / 2, F)


def test_dense_parts_are_the_rings_and_face_each_other_while_a_gap_in_one_ring_is_faced_by_few():
    X, labels = rings()
    tree = Dense.of(X)
    parts = tree.labels(2)
    assert adjusted_rand_score(parts, labels) == 1.0
    assert tree.highest > 0.5 and faced(X, parts, 2) > 0.3
    inner = X[labels == 0]
    gap = inner[inner[:, 0] < 0.97 * inner[:, 0].max()]
    cut = Dense.of(gap).labels(2)
    assert cut is None or faced(gap, cut, 2) < 0.3


def test_a_dense_tree_links_rows_as_hdbscan_does():
    from sklearn.cluster import HDBSCAN

    X, _ = blobs(8, n=150)
    theirs = HDBSCAN(min_cluster_size=10, copy=True).fit_predict(X)
    ours = Dense.of(X).labels(3)
    assert adjusted_rand_score(ours[theirs >= 0], theirs[theirs >= 0]) == 1.0


def test_cuts_lie_between_the_peaks_and_one_peak_has_none():
    rng = np.random.default_rng(3)
    three = np.concatenate([rng.normal(m, 1.0, 100) for m in (0, 7, 14)])
    np.testing.assert_allclose(peaks(three, 3), [3.5, 10.5], atol=0.8)
    assert peaks(np.ones(50), 2) is None and peaks(np.concatenate([np.zeros(98), [9.0, 9.1]]), 2) is None


def test_a_rule_gives_other_rows_the_group_they_fall_into():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((200, 4))
    second = rng.random(200) < 0.4
    X[second, 2] += 8.0
    for way in (ColumnCut(2), Projection(), NearestCentres(SearchSpace(4, True), (2,))):
        labels = way.learnt(X[:120], 2, 0).labels(X[120:])
        assert adjusted_rand_score(labels, second[120:]) > 0.97, way.name
