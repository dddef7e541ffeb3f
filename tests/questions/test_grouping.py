"""Whether groups come back."""

import numpy as np
from sklearn.metrics import jaccard_score

from assay.questions.groups.grouping import grouped, jaccard, prediction_strength, shares_between


def blobs(apart, n=300, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    return np.array([[0, 0], [apart, 0], [0, apart]])[labels] + rng.standard_normal((n, 2)), labels


def test_groups_far_apart_are_predicted_and_come_back_whole():
    X, labels = blobs(20)
    rng = np.random.default_rng(1)
    assert prediction_strength(X, 3, 0, rng) == 1.0
    np.testing.assert_allclose(jaccard(X, labels, 3, 0, rng), 1.0)


def test_one_lump_is_not_predicted():
    X, _ = blobs(0)
    rng = np.random.default_rng(1)
    strengths = [prediction_strength(X, 5, 0, rng) for _ in range(6)]
    assert np.mean(strengths) < 0.6


def test_jaccard_of_identical_groupings_is_one_and_agrees_with_scikit_learn_on_a_shifted_one():
    X, _ = blobs(20)
    own = grouped(X, 3, 0).labels.astype(np.intp)
    moved = own.copy()
    moved[np.flatnonzero(own == 0)[:20]] = 1
    found = jaccard(X, moved, 3, 0, np.random.default_rng(2))
    expected = [jaccard_score(moved == g, own == g) for g in range(3)]
    np.testing.assert_allclose(found, expected, atol=0.04)


def test_shares_between_groups_are_those_of_analysis_of_variance():
    from sklearn.feature_selection import f_classif

    X, labels = blobs(2)
    F = f_classif(X, labels)[0]
    share = shares_between(X, labels, 3)
    np.testing.assert_allclose(share / (1 - share) * (300 - 3) / 2, F)
