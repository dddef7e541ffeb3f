"""k-means: Lloyd's law, scikit-learn's numbers, weights, sources, edges and the choice of k."""

import numpy as np
import pytest
import sklearn.cluster as peers
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score

import assay
from assay.errors import DataError, NotConverged, ParameterError
from assay.models.cluster.kmeans import blocks
from assay.models.cluster.kmeans.sparse import SparseRows, sparse_lloyd
from assay.optimize.kmeans.lloyd import lloyd
from assay.optimize.kmeans.passes import KMeansUnits
from assay.optimize.kmeans.seeding import scattered

IRIS = load_iris().data
DIGITS = load_digits().data
RNG = np.random.default_rng(0)


class TestOracles:
    def test_iris_in_three_has_the_published_within_sum(self):
        found = assay.KMeans(3, random_state=0).fit(IRIS)
        assert found.inertia_ == pytest.approx(78.8514, abs=1e-4)
        assert found.sizes_.tolist() == [62, 50, 38]

    @pytest.mark.parametrize("tol", [0.0, 1e-4])
    def test_from_the_same_start_scikit_learn_ends_at_the_same_place(self, tol):
        start = DIGITS[:10]
        ours = assay.KMeans(10, init=start, tol=tol).fit(DIGITS)
        theirs = peers.KMeans(10, init=start, n_init=1, tol=tol).fit(DIGITS)
        assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        np.testing.assert_allclose(ours.transform(DIGITS[:50]), theirs.transform(DIGITS[:50]), rtol=1e-10)
        assert ours.score(DIGITS[:50]) == pytest.approx(theirs.score(DIGITS[:50]), rel=1e-12)

    def test_the_index_of_the_groups_is_that_of_scikit_learn(self):
        found = assay.KMeans(10, random_state=0).fit(DIGITS)
        assert found.calinski_harabasz_ == pytest.approx(calinski_harabasz_score(DIGITS, found.labels_), rel=1e-10)
        total = ((DIGITS - DIGITS.mean(axis=0)) ** 2).sum()
        assert found.explained_variance_ == pytest.approx(1.0 - found.inertia_ / total, rel=1e-9)


class TestLaws:
    def test_new_rows_are_labelled_as_the_fitted_ones(self):
        for X in (DIGITS, DIGITS.astype(np.float32), IRIS * 1e-9 + 5.0):
            found = assay.KMeans(7, random_state=1).fit(X)
            np.testing.assert_array_equal(found.predict(X), found.labels_)
            np.testing.assert_array_equal(found.predict(X[::-1]), found.labels_[::-1])

    def test_groups_are_numbered_by_size(self):
        found = assay.KMeans(6, random_state=0).fit(DIGITS)
        assert (np.diff(found.sizes_) <= 0).all()
        np.testing.assert_array_equal(np.bincount(found.labels_, minlength=6), found.sizes_)

    def test_given_centres_keep_their_order(self):
        found = assay.KMeans(3, init=IRIS[[140, 0, 60]]).fit(IRIS)
        assert found.labels_[0] == 1 and found.labels_[60] == 2

    def test_a_shift_and_a_scale_change_nothing_but_the_centres(self):
        plain = assay.KMeans(3, random_state=0).fit(IRIS)
        for factor, shift in ((1.0, 1e8), (1e300, 0.0), (1e-300, 0.0), (2.0, -1e6)):
            moved = assay.KMeans(3, random_state=0).fit(IRIS * factor + shift)
            np.testing.assert_array_equal(moved.labels_, plain.labels_)
            assert moved.explained_variance_ == pytest.approx(plain.explained_variance_, rel=1e-6)
            np.testing.assert_allclose(moved.cluster_centers_, plain.cluster_centers_ * factor + shift, rtol=1e-12)

    def test_float32_stays_and_its_labels_are_exact(self):
        rows = DIGITS.astype(np.float32)
        found, plain = (assay.KMeans(10, init=DIGITS[:10], tol=0.0).fit(X) for X in (rows, DIGITS))
        assert found.cluster_centers_.dtype == np.float32 == found.transform(rows).dtype
        np.testing.assert_array_equal(found.labels_, plain.labels_)
        assert found.inertia_ == pytest.approx(plain.inertia_, rel=1e-12)

    @pytest.mark.parametrize("init", ["k-means++", "k-means||"])
    @pytest.mark.parametrize("n", [300, 20_000])  # starts on rows in a canonical order, and as they come
    def test_the_same_values_have_the_same_starts_in_float32_and_float64(self, init, n):
        rows = RNG.standard_normal((n, 3)).astype(np.float32)
        for seed in range(5):
            coarse, fine = (
                lloyd(X, 7, seed=seed, init=init, max_iter=1).centers for X in (rows, rows.astype(np.float64))
            )
            np.testing.assert_allclose(coarse, fine, rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize("form", [csr_matrix, np.asarray])
    def test_rows_rounded_to_float32_come_to_the_same_groups_from_one_start(self, form):
        rows = np.random.default_rng(5).standard_normal((300, 4)) + 4.0 * np.eye(4)[np.arange(300) % 4]
        for seed in range(10):
            fine, coarse = (
                assay.KMeans(6, n_init=1, random_state=seed).fit(form(rows.astype(kind)))
                for kind in (np.float64, np.float32)
            )
            np.testing.assert_array_equal(coarse.labels_, fine.labels_)
            np.testing.assert_allclose(coarse.cluster_centers_, fine.cluster_centers_, atol=1e-5)

    @pytest.mark.parametrize("form", [csr_matrix, np.asarray])
    @pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32])
    def test_centres_have_the_precision_that_scikit_learn_gives_them(self, form, kind):
        rows = form(np.round(10 * IRIS).astype(kind))
        ours = assay.KMeans(3, random_state=0).fit(rows)
        theirs = peers.KMeans(3, random_state=0, n_init=1).fit(rows)
        assert ours.cluster_centers_.dtype == theirs.cluster_centers_.dtype
        assert ours.transform(rows).dtype == theirs.transform(rows).dtype
        # labels are those of the centres that are kept
        np.testing.assert_array_equal(ours.predict(rows), ours.labels_)

    def test_sparse_parts_are_learned_as_dense_ones(self):
        rows = np.where(RNG.random((60, 400)) < 0.02, RNG.random((60, 400)), 0.0)
        dense, sparse = (
            assay.KMeans(2, init=rows[:2], n_init=1).partial_fit(form(rows[:30])).partial_fit(form(rows[30:]))
            for form in (np.asarray, csr_matrix)
        )
        np.testing.assert_allclose(sparse.cluster_centers_, dense.cluster_centers_, atol=1e-12)

    def test_a_weight_of_two_is_a_second_row_and_zero_is_none(self):
        weights = RNG.integers(0, 3, len(IRIS))
        weighted = assay.KMeans(4, random_state=0).fit(IRIS, sample_weight=weights)
        repeated = np.repeat(IRIS, weights, axis=0)
        again = assay.KMeans(4, random_state=0).fit(repeated[RNG.permutation(len(repeated))])
        assert weighted.inertia_ == pytest.approx(again.inertia_, rel=1e-12)
        np.testing.assert_allclose(weighted.cluster_centers_, again.cluster_centers_, atol=1e-12)
        np.testing.assert_array_equal(weighted.sizes_, again.sizes_)
        assert weighted.calinski_harabasz_ == pytest.approx(again.calinski_harabasz_, rel=1e-9)

    def test_arguments_are_not_touched(self):
        X, start = IRIS.copy(), IRIS[:3].copy()
        assay.KMeans(3, init=start).fit(X, sample_weight=np.ones(len(X)))
        assert (X == IRIS).all() and (start == IRIS[:3]).all()


class TestSources:
    @pytest.fixture
    def in_blocks(self, monkeypatch):
        monkeypatch.setattr("assay.data.source.BLOCK_ROWS", 500)
        X = make_blobs(1800, 5, centers=8, cluster_std=4.0, random_state=0)[0]
        return X, assay.read(X)

    @pytest.mark.parametrize("weights", [None, np.random.default_rng(3).random(1800)])
    def test_a_source_gives_the_answer_of_the_array_from_the_same_start(self, in_blocks, weights):
        X, source = in_blocks
        array = assay.KMeans(8, init=X[:8], tol=0.0).fit(X, sample_weight=weights)
        streamed = assay.KMeans(8, init=X[:8], tol=0.0).fit(source, sample_weight=weights)
        assert streamed.n_iter_ == array.n_iter_ > 5
        np.testing.assert_array_equal(streamed.labels_, array.labels_)
        np.testing.assert_allclose(streamed.cluster_centers_, array.cluster_centers_, atol=1e-11)
        assert streamed.inertia_ == pytest.approx(array.inertia_, rel=1e-12)
        assert streamed.calinski_harabasz_ == pytest.approx(array.calinski_harabasz_, rel=1e-9)
        np.testing.assert_array_equal(streamed.predict(source), streamed.labels_)
        np.testing.assert_allclose(streamed.transform(source), array.transform(X), rtol=1e-9)

    @pytest.mark.parametrize("init", ["k-means++", "k-means||"])
    def test_its_own_starts_are_as_good_and_never_need_all_rows(self, in_blocks, init, monkeypatch):
        X, source = in_blocks
        monkeypatch.setattr(blocks, "_DRAWN", 5 * 600)  # a third of the rows
        streamed = assay.KMeans(8, init=init, n_init=3, random_state=0).fit(source)
        assert streamed.inertia_ < 1.05 * assay.KMeans(8, random_state=0).fit(X).inertia_

    def test_a_centre_without_rows_takes_the_row_farthest_from_its_centre(self, in_blocks):
        X, source = in_blocks
        start = np.vstack([X[:3], np.full((2, 5), 1e6)])
        array, streamed = (assay.KMeans(5, init=start, tol=0.0).fit(rows) for rows in (X, source))
        assert (streamed.sizes_ > 0).all()
        np.testing.assert_array_equal(streamed.labels_, array.labels_)

    def test_sparse_rows_are_grouped_as_dense_ones(self):
        X = np.where(RNG.random((300, 20)) < 0.8, 0.0, RNG.standard_normal((300, 20)))
        dense = assay.KMeans(4, init=X[:4], tol=0.0).fit(X)
        sparse = assay.KMeans(4, init=X[:4], tol=0.0).fit(csr_matrix(X))
        np.testing.assert_array_equal(sparse.labels_, dense.labels_)
        np.testing.assert_array_equal(sparse.predict(csr_matrix(X)), dense.labels_)

    @pytest.mark.parametrize("far", [0, 3])  # centres that no row is nearest to at first
    def test_rows_that_stay_sparse_take_the_same_steps_as_dense_ones(self, far):
        X = np.where(RNG.random((300, 20)) < 0.8, 0.0, RNG.standard_normal((300, 20)))
        start = np.vstack([X[: 6 - far], np.full((far, 20), 1e3)])
        dense = lloyd(X, 6, init=start, tol=0.0)
        sparse = sparse_lloyd(csr_array(X), 6, seed=0, n_init=1, init=start, max_iter=300, tol=0.0)
        assert sparse.n_iter == dense.n_iter and sparse.converged and (sparse.sizes > 0).all()
        np.testing.assert_array_equal(sparse.labels, dense.labels)
        np.testing.assert_allclose(sparse.centers, dense.centers, atol=1e-12)

    def test_squares_between_sparse_rows_are_those_of_dense_ones_also_far_from_zero(self):
        X = np.where(RNG.random((60, 20)) < 0.8, 0.0, RNG.standard_normal((60, 20)))
        X[:, 7] += 1e6  # stored whole, far from zero: held dense and centred
        rows = SparseRows(csr_array(X))
        between = rows.units.squares_outside(rows.squares_between(np.array([3, 41])))
        np.testing.assert_allclose(between, cdist(X[[3, 41]], X, "sqeuclidean"), atol=1e-8)  # 1e6 eps 2 |x - y|

    def test_no_copy_of_a_sparse_row_is_drawn_again(self):
        X = np.repeat(np.diag(np.arange(1.0, 8.0)), 5, axis=0)
        options = {"seed": 0, "n_init": 1, "init": "k-means++", "max_iter": 1, "tol": 0.0}
        found = sparse_lloyd(csr_array(X), 7, **options)
        assert found.inertia == pytest.approx(0.0, abs=1e-12) and (found.sizes == 5.0).all()

    def test_a_gap_in_a_source_is_named(self):
        X = IRIS.copy()
        X[7, 2] = np.nan
        with pytest.raises(DataError, match="row 7, column 'column 3' is missing"):
            assay.KMeans(2).fit(assay.read(X))


class TestEdges:
    def test_one_row_and_as_many_clusters_as_rows(self):
        one = assay.KMeans(1).fit([[3.0, 4.0]])
        assert one.inertia_ == 0.0 and one.cluster_centers_.tolist() == [[3.0, 4.0]]
        assert np.isnan(one.explained_variance_) and np.isnan(one.calinski_harabasz_)
        each = assay.KMeans(3, random_state=0).fit([[0.0], [1.0], [5.0]])
        assert each.inertia_ == 0.0 and sorted(each.labels_) == [0, 1, 2] and each.explained_variance_ == 1.0

    def test_fewer_distinct_rows_than_clusters_leave_centres_without_rows(self):
        X = np.repeat([[0.1, 0.2], [0.3, 0.4], [-5.0, 7.1]], [5, 3, 4], axis=0)
        for rows in (X, assay.read(X)):
            found = assay.KMeans(5, random_state=0).fit(rows)
            assert found.n_clusters_ == 3 and sorted(found.sizes_) == [0, 0, 3, 4, 5]
            assert found.inertia_ < 1e-28 and found.converged_
            assert np.isfinite(found.cluster_centers_).all()

    def test_constant_rows(self):
        found = assay.KMeans(2, random_state=0).fit(np.full((9, 3), 1e8))
        assert found.n_clusters_ == 1 and found.inertia_ == 0.0 and (found.labels_ == 0).all()

    def test_more_columns_than_rows(self):
        X = RNG.standard_normal((12, 4000))
        X[6:] += 1.0
        assert adjusted_rand_score(assay.KMeans(2, random_state=0).fit(X).labels_, np.arange(12) >= 6) == 1.0

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"n_clusters": 0}, "n_clusters is a whole number from 1 on; got 0"),
            ({"n_clusters": 2.0}, "n_clusters is a whole number from 1 on; got 2.0"),
            ({"n_clusters": 151}, "n_clusters=151 is more than the n_samples=150 rows: ask for fewer clusters"),
            ({"max_iter": 0}, "max_iter is a whole number from 1 on; got 0"),
            ({"n_init": "some"}, "n_init is 'auto' or a whole number from 1 on; got 'some'"),
            ({"tol": -1.0}, "tol is a share of the variance, 0 or more; got -1.0"),
            ({"init": "random"}, "init is 'k-means\\+\\+', 'k-means.*' or \\(k, d\\) centres; got 'random'"),
            ({"init": IRIS[:2]}, "one row for each cluster; got shape \\(2, 4\\)"),
        ],
    )
    def test_options_that_cannot_be_are_refused_with_the_rule(self, options, said):
        with pytest.raises(ParameterError, match=said):
            assay.KMeans(**{"n_clusters": 3, **options}).fit(IRIS)

    def test_weights_that_cannot_be_are_refused(self):
        with pytest.raises(ParameterError, match="the weight of every row is zero"):
            assay.KMeans(2).fit(IRIS, sample_weight=np.zeros(150))
        with pytest.raises(ParameterError, match="more than the n_samples=2 rows of positive weight"):
            assay.KMeans(3).fit(IRIS, sample_weight=np.arange(150) < 2)
        with pytest.raises(ParameterError, match="weights are finite and not negative; the weight of row 0 is -1"):
            assay.KMeans(3).fit(IRIS, sample_weight=-np.ones(150))

    def test_a_row_beyond_all_bounds_does_not_blind_the_others(self):
        for dtype, far in ((np.float64, 1e300), (np.float32, 1e38)):
            found = assay.KMeans(2, init=[[0.0], [1.0]]).fit(np.array([[0.0], [0.1], [0.9], [1.0]], dtype=dtype))
            assert found.predict(np.array([[0.1], [far], [0.9], [-far]], dtype=dtype))[[0, 2]].tolist() == [0, 1]

    def test_stopping_early_warns(self):
        with pytest.warns(NotConverged, match="stopped after 1 passes with centres still moving"):
            assert not assay.KMeans(10, max_iter=1, random_state=0).fit(DIGITS).converged_

    def test_a_saved_model_labels_alike(self, tmp_path):
        found = assay.KMeans(3, random_state=0).fit(IRIS)
        found.save(tmp_path / "groups.assay")
        np.testing.assert_array_equal(assay.load(tmp_path / "groups.assay").predict(IRIS), found.labels_)


class TestChoiceOfK:
    def test_the_sweep_names_the_number_of_groups_that_stand_apart(self):
        X = make_blobs(400, 3, centers=5, cluster_std=0.6, random_state=4)[0]
        found = assay.choose_k(X, range(1, 10), random_state=0)
        assert found.best_k == 5
        for k, index in zip(found.k[1:], found.calinski_harabasz[1:], strict=True):
            # by these very centres: a further run could move them, as they rest within tol only
            labels = cdist(X, found.centers[k - 1]).argmin(axis=1)
            assert index == pytest.approx(calinski_harabasz_score(X, labels), rel=1e-6)

    def test_more_groups_never_leave_more_within(self):
        X = RNG.standard_normal((500, 4))
        found = assay.choose_k(X, [1, 2, 3, 4, 5, 8, 20], n_init=1, random_state=0)
        assert (np.diff(found.inertia) <= 0).all()
        assert (np.diff(found.explained_variance) >= 0).all() and found.explained_variance[0] == pytest.approx(
            0.0, abs=1e-12
        )

    def test_scikit_learn_cannot_improve_what_the_sweep_found(self):
        found = assay.choose_k(DIGITS, [2, 4, 7], tol=0.0, random_state=0)
        for k, inertia, start in zip(found.k, found.inertia, found.centers, strict=True):
            assert peers.KMeans(int(k), init=start, n_init=1).fit(DIGITS).inertia_ == pytest.approx(inertia, rel=1e-12)

    def test_the_inflection_is_where_groups_at_equal_distances_are_all_found(self):
        X = 20.0 * np.eye(6)[RNG.integers(0, 6, 300)] + RNG.standard_normal((300, 6))
        assert assay.choose_k(X, range(1, 13), random_state=0).inflection == 6
        assert assay.choose_k(X, [2, 3]).inflection is None

    def test_one_group_has_no_index_and_wrong_ranges_are_refused(self):
        found = assay.choose_k(IRIS, [1])
        assert found.best_k is None and np.isnan(found.calinski_harabasz[0])
        with pytest.raises(ParameterError, match="k_range names at least one number of groups, each from 1 on; got"):
            assay.choose_k(IRIS, [0, 1])
        with pytest.raises(ParameterError, match="n_clusters=200 is more than the n_samples=150"):
            assay.choose_k(IRIS, [2, 200])

    def test_a_source_and_weights(self):
        assert assay.choose_k(assay.read(IRIS), range(1, 6), random_state=0).best_k == 3
        twice = assay.choose_k(IRIS, [3], random_state=0, sample_weight=np.full(150, 2.0))
        assert twice.inertia[0] == pytest.approx(2 * 78.8514, abs=1e-3)
        with pytest.raises(ParameterError, match="sample_weight is for rows given as an array"):
            assay.choose_k(assay.read(IRIS), [2], sample_weight=np.ones(150))


class TestDrawnApart:
    X = make_blobs(3000, centers=20, n_features=3, random_state=0)[0]
    weights = np.where(np.arange(3000) % 3 == 0, 0.0, 1.0 + np.arange(3000) % 2)

    def drawn(self, step, seed=0):
        parts = [(i, self.X[i : i + step], self.weights[i : i + step]) for i in range(0, len(self.X), step)]
        return scattered(blocks.BlockDraws(parts, KMeansUnits(np.zeros(3), 1.0), seed), 20)

    def test_it_does_not_matter_how_rows_are_cut(self):
        whole, cut = self.drawn(3000), self.drawn(170)
        np.testing.assert_array_equal(cut[0], whole[0])
        np.testing.assert_allclose(cut[1], whole[1], rtol=1e-12)
        assert not np.array_equal(self.drawn(3000, seed=1)[0], whole[0])

    def test_points_are_rows_that_count_and_carry_all_the_weight(self):
        points, masses = self.drawn(500)
        counted = {tuple(row) for row in self.X[self.weights > 0]}
        assert {tuple(point) for point in points} <= counted
        assert masses.sum() == pytest.approx(self.weights.sum(), rel=1e-12)
        # five rounds of 2 k rows expected in each, and the first: a Poisson count of mean 200
        assert 100 < len(points) < 300
