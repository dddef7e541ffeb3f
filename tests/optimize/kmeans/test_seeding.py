"""Starts of k-means: rows drawn far apart, by chances that are right, whatever the order of the rows."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import chisquare
from sklearn.cluster import kmeans_plusplus

from assay.optimize.kmeans.lloyd import lloyd
from assay.optimize.kmeans.passes import Passes
from assay.optimize.kmeans.seeding import ArrayDraws, ArrayNearness, plus_plus, scattered
from assay.optimize.team import Team

RNG = np.random.default_rng(0)


def passes_over(X, weights=None):
    return Passes.centred(np.ascontiguousarray(X), weights, Team(1))[0]


def potential(X, centers):
    return cdist(X, centers, "sqeuclidean").min(axis=1).sum()


def test_centres_are_rows_and_differ():
    X = RNG.standard_normal((101, 3))
    passes = passes_over(X)
    chosen = passes.outside(plus_plus(ArrayNearness(passes), 10, np.random.default_rng(1)))
    gaps = cdist(chosen, X)
    assert gaps.min(axis=1).max() < 1e-12 and len(np.unique(gaps.argmin(axis=1))) == 10


def test_the_first_row_is_drawn_by_weight():
    X, w = np.arange(5.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    passes = passes_over(X, w)
    drawn = [passes.outside(plus_plus(ArrayNearness(passes), 1, np.random.default_rng(s)))[0, 0] for s in range(1000)]
    seen = np.bincount(np.round(drawn).astype(int), minlength=5)
    assert seen[0] == 0 and chisquare(seen[1:], 1000 * w[1:] / w.sum()).pvalue > 1e-4


def test_starts_are_on_average_as_good_as_those_of_scikit_learn():
    X = np.concatenate([RNG.normal(middle, 1.0, (40, 2)) for middle in np.arange(0, 60, 6)])
    passes = passes_over(X)
    ours = [
        potential(X, passes.outside(plus_plus(ArrayNearness(passes), 10, np.random.default_rng(s)))) for s in range(40)
    ]
    theirs = [potential(X, kmeans_plusplus(X, 10, random_state=s)[0]) for s in range(40)]
    assert np.mean(ours) < 1.2 * np.mean(theirs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_are_centres_already_are_not_drawn_again(dtype):
    X = np.repeat(1e4 + np.arange(7.0)[:, None] * np.ones((1, 9)), 5, axis=0).astype(dtype)
    passes = passes_over(X)
    chosen = passes.outside(plus_plus(ArrayNearness(passes), 7, np.random.default_rng(0)))
    assert sorted(chosen[:, 0].round()) == (1e4 + np.arange(7)).tolist()


def test_the_parallel_start_holds_a_row_of_every_far_group_and_weighs_them_all():
    X = np.concatenate([RNG.normal(middle, 1.0, (200, 2)) for middle in np.arange(0, 400, 50)])
    passes = passes_over(X)
    points, weights = scattered(ArrayDraws(passes, np.random.default_rng(0)), 8)
    assert weights.sum() == len(X)
    assert set((passes.outside(points).mean(axis=1) / 50).round()) == set(range(8))


def test_the_order_and_repetition_of_few_rows_do_not_matter_to_the_start():
    X = RNG.standard_normal((90, 3))
    w = RNG.integers(1, 4, 90)
    plain = lloyd(X, 6, weights=w.astype(float), seed=5)
    shuffled = RNG.permutation(np.repeat(X, w, axis=0))
    again = lloyd(np.ascontiguousarray(shuffled), 6, seed=5)
    np.testing.assert_allclose(again.centers, plain.centers, atol=1e-12)
