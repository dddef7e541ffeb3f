"""Lloyd's iteration: it never rises, its labels are exact, and threads change nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from assay.errors import ParameterError
from assay.optimize.kmeans import lloyd as module
from assay.optimize.kmeans.lloyd import condense, extended, group_few_rows, lloyd, nearest

RNG = np.random.default_rng(0)


def one_step(X, centers, weights=None):
    """Inertia at the centres, and where the means are, by SciPy's distances."""
    squares = cdist(X, centers, "sqeuclidean")
    labels, w = squares.argmin(axis=1), np.ones(len(X)) if weights is None else weights
    means = centers.copy()
    for c in np.unique(labels[w > 0]):
        means[c] = np.average(X[labels == c], axis=0, weights=w[labels == c])
    return w @ squares.min(axis=1), means


class TestDescent:
    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 10_000), st.integers(1, 9), st.booleans(), st.sampled_from([np.float32, np.float64]))
    def test_the_inertia_never_rises_from_pass_to_pass(self, seed, k, weighted, dtype):
        rng = np.random.default_rng(seed)
        X = (rng.standard_normal((120, 3)).round(1) + 3.0).astype(dtype)
        start = (rng.standard_normal((k, 3)) * 4.0).astype(dtype)  # some far from every row
        w = rng.random(120) if weighted else None
        runs = [lloyd(X, k, init=start, max_iter=m, tol=0.0, weights=w).inertia for m in range(1, 8)]
        assert (np.diff([one_step(X, start, w)[0], *runs]) <= 1e-6 * runs[0]).all()

    @pytest.mark.parametrize("k", [2, 3, 12])
    def test_passes_with_bounds_go_where_plain_ones_go(self, k):
        X = RNG.standard_normal((800, 5))
        centers = X[:k].copy()
        for passes in range(1, 12):
            centers = one_step(X, centers)[1]
            found = lloyd(X, k, init=X[:k], max_iter=passes, tol=0.0)
            np.testing.assert_allclose(found.centers, centers, atol=1e-12)

    def test_at_rest_a_further_step_moves_no_more_than_the_tolerance(self):
        X = RNG.standard_normal((5000, 4))
        for tol in (1e-2, 1e-5):
            found = lloyd(X, 8, tol=tol)
            moved = ((one_step(X, found.centers)[1] - found.centers) ** 2).sum()
            assert found.converged and moved <= 2.0 * tol * X.var(axis=0).mean()

    def test_every_centre_ends_with_rows_where_there_are_enough_distinct_ones(self):
        X = RNG.standard_normal((200, 2))
        start = np.vstack([X[:2], np.full((6, 2), 1e3)])
        found = lloyd(X, 8, init=start)
        assert np.bincount(found.labels, minlength=8).all() and found.converged

    def test_the_best_of_several_starts_is_kept(self):
        X = RNG.standard_normal((400, 3))
        assert lloyd(X, 6, n_init=8).inertia <= min(lloyd(X, 6, n_init=n).inertia for n in (1, 2, 4)) * (1 + 1e-12)


class TestExactness:
    @pytest.mark.parametrize("offset", [0.0, 300.0])
    def test_labels_of_float32_rows_are_those_of_exact_distances(self, offset):
        centers = (offset + np.arange(6)[:, None] * 1e-2 + np.zeros((6, 40))).astype(np.float32)
        X = (centers[RNG.integers(0, 6, 3000)] + 4e-3 * RNG.standard_normal((3000, 40))).astype(np.float32)
        labels, squares = nearest(X, centers)
        exact = cdist(X.astype(np.float64), centers.astype(np.float64), "sqeuclidean")
        np.testing.assert_allclose(squares, exact.min(axis=1), rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(exact[np.arange(3000), labels], exact.min(axis=1), rtol=1e-12)

    def test_the_first_of_equally_near_centres_is_taken(self):
        X = np.array([[0.0], [1.0], [2.0], [3.0]])
        assert nearest(X, np.array([[3.0], [1.0], [1.0], [-1.0]]))[0].tolist() == [1, 1, 0, 0]

    def test_rows_far_from_zero_and_huge_or_tiny_ones_lose_no_digits(self):
        X = np.concatenate([RNG.normal(0, 1, (50, 2)), RNG.normal(9, 1, (50, 2))])
        plain = lloyd(X, 2, init=X[[0, -1]])
        for factor, shift in ((1.0, 1e8), (2.0**1000, 0.0), (2.0**-1000, 0.0)):
            moved = X * factor + shift
            found = lloyd(moved, 2, init=moved[[0, -1]])
            np.testing.assert_allclose((found.centers - shift) / factor, plain.centers, atol=1e-7)
            assert found.separation == pytest.approx(plain.separation, rel=1e-6)

    def test_the_decomposition_of_the_sum_of_squares_holds(self):
        X = RNG.standard_normal((300, 4)) + 50.0
        found = lloyd(X, 5)
        total = ((X - X.mean(axis=0)) ** 2).sum()
        assert found.inertia * (1.0 + found.separation) == pytest.approx(total, rel=1e-6)

    def test_the_precision_is_kept(self):
        for dtype in (np.float32, np.float64):
            found = lloyd(RNG.standard_normal((50, 3)).astype(dtype), 4)
            assert found.centers.dtype == dtype and found.labels.dtype == np.int32


class TestManyRows:
    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch):
        monkeypatch.setattr(module, "_SAMPLE", 300)
        monkeypatch.setattr(module, "_SAMPLE_FOR_EACH", 10)
        monkeypatch.setattr(module, "_SMALL", 0)

    @pytest.mark.parametrize("init", ["k-means++", "k-means||"])
    def test_the_number_of_threads_does_not_change_a_bit(self, init):
        X = RNG.standard_normal((9000, 3)).astype(np.float32)
        one, three = (lloyd(X, 12, init=init, threads=threads) for threads in (1, 3))
        assert one.inertia == three.inertia and (one.centers == three.centers).all()
        assert (one.labels == three.labels).all() and one.n_iter == three.n_iter > 2

    def test_momentum_ends_at_a_fixed_point_too(self):
        X = RNG.standard_normal((6000, 3))
        found = lloyd(X, 7, tol=0.0, max_iter=1000)
        assert found.converged
        np.testing.assert_allclose(one_step(X, found.centers)[1], found.centers, atol=1e-12)

    def test_the_inertia_never_rises_with_momentum(self):
        X = RNG.standard_normal((3000, 3))
        runs = [lloyd(X, 9, max_iter=m, tol=0.0) for m in range(20, 60)]
        assert (np.diff([run.inertia for run in runs]) <= 1e-9 * runs[0].inertia).all()

    def test_a_few_rows_far_away_are_not_missed(self):
        X = np.concatenate([RNG.normal(0, 1, (9990, 2)), RNG.normal(60, 1, (10, 2))])
        found = lloyd(X, 4)
        assert np.bincount(found.labels).min() == 10

    def test_it_is_as_good_as_without_a_sample(self, monkeypatch):
        X = np.concatenate([RNG.normal(middle, 1.0, (1500, 2)) for middle in (0, 6, 12, 18, 24)])
        sampled = lloyd(X, 5).inertia
        monkeypatch.setattr(module, "_SAMPLE", len(X))
        assert sampled <= lloyd(X, 5, n_init=3).inertia * (1 + 1e-4)

    def test_rows_all_at_one_place(self):
        found = lloyd(np.full((5000, 2), 3.0), 3)
        assert found.inertia == 0.0 and (found.centers == 3.0).all() and found.converged


class TestAdding:
    def test_further_centres_are_rows_far_from_those_there_are(self):
        X = np.concatenate([RNG.normal(middle, 0.1, (30, 2)) for middle in (0.0, 5.0, 10.0)])
        more = extended(X, X[:1].copy(), 3)
        assert (more[0] == X[0]).all()
        assert sorted(more.mean(axis=1).round().tolist()) == [0.0, 5.0, 10.0]
        assert all((row == X).all(axis=1).any() for row in more)

    def test_weighted_points_are_condensed(self):
        points = np.array([[0.0], [1.0], [10.0]])
        assert sorted(condense(points, np.array([3.0, 1.0, 1.0]), 2).ravel()) == pytest.approx([0.25, 10.0])


class TestFewRows:
    """Small searches in one compiled call: the same minima as scikit-learn finds, at rest, without empty groups."""

    def test_iris_in_three_groups_has_the_known_sum_of_squares(self):
        assert group_few_rows(load_iris().data, 3, n_init=5).inertia == pytest.approx(78.851441, abs=1e-6)

    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 10**6), st.integers(1, 6))
    def test_centres_are_the_means_of_the_rows_nearest_to_them(self, seed, k):
        X = np.random.default_rng(seed).standard_normal((40, 3)) + 1e6
        found = group_few_rows(X, k, seed=seed, tol=0.0)
        squares = ((X[:, None] - found.centers) ** 2).sum(axis=2)
        np.testing.assert_array_equal(found.labels, squares.argmin(axis=1))
        assert found.inertia == pytest.approx(squares.min(axis=1).sum(), rel=1e-6)
        assert np.bincount(found.labels, minlength=k).min() > 0
        for g in range(k):
            np.testing.assert_allclose(found.centers[g], X[found.labels == g].mean(axis=0), atol=1e-6)

    def test_the_best_of_several_starts_is_as_good_as_scikit_learns(self):
        X = np.random.default_rng(0).standard_normal((300, 4))
        ours = group_few_rows(X, 6, n_init=20).inertia
        theirs = KMeans(6, n_init=20, random_state=0).fit(X).inertia_
        assert ours <= theirs * 1.005

    def test_fewer_distinct_rows_than_centres_leave_nothing_unexplained(self):
        found = group_few_rows(np.repeat([[0.0], [1.0]], 5, axis=0), 4)
        assert found.inertia == 0.0

    def test_more_centres_than_rows_are_refused(self):
        with pytest.raises(ParameterError, match="between 1 and the number of rows, 3; got 4"):
            group_few_rows(np.zeros((3, 1)), 4)


def test_what_cannot_be_is_refused():
    with pytest.raises(ParameterError, match="k must be between 1 and the number of rows, 3; got 4"):
        lloyd(np.eye(3), 4)
    for weights in ([1.0, 1.0], [0.0, 0.0, 0.0], [1.0, -1.0, 1.0], [1.0, np.inf, 1.0]):
        with pytest.raises(ParameterError, match="weights are 3 finite numbers, none negative and not all zero"):
            lloyd(np.eye(3), 2, weights=np.array(weights))
    with pytest.raises(ParameterError, match="init is 'k-means"):
        lloyd(np.eye(3), 2, init="random")
