"""Nearest centroid, and refusal as every classifier by distances has it."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.neighbors import NearestCentroid as Oracle

import assay
from assay import GroupedMoments, NearestCentroid
from assay.errors import DataError, ParameterError
from assay.models.refusal import RefusalCurve


def digits():
    return load_digits(return_X_y=True)


class TestCentroids:
    def test_answers_and_centroids_are_scikit_learns(self):
        X, y = load_iris(return_X_y=True)
        model, oracle = NearestCentroid().fit(X, y), Oracle().fit(X, y)
        np.testing.assert_allclose(model.centroids_, oracle.centroids_, rtol=1e-12)
        np.testing.assert_array_equal(model.predict(X), oracle.predict(X))

    def test_moments_however_gathered_give_the_model_of_the_rows(self):
        X, y = digits()
        moments = GroupedMoments.of(X[:900], y[:900]) + GroupedMoments.of(X[900:], y[900:])
        np.testing.assert_allclose(
            NearestCentroid().fit_moments(moments).distances(X), NearestCentroid().fit(X, y).distances(X), rtol=1e-12
        )

    def test_distances_of_rows_moved_by_1e8_keep_the_digits_that_the_data_have(self):
        X, y = digits()  # whole numbers, which stay what they are
        np.testing.assert_allclose(
            NearestCentroid().fit(X + 1e8, y).distances(X + 1e8), NearestCentroid().fit(X, y).distances(X), rtol=1e-7
        )

    def test_a_source_is_read_block_by_block_and_the_model_comes_back_from_a_file(self, tmp_path):
        X, y = load_iris(return_X_y=True)
        source = assay.read(pa.table({f"x{j}": X[:, j] for j in range(4)} | {"kind": y.astype(str)}))
        model = NearestCentroid().fit(source, "kind")
        np.testing.assert_allclose(model.distances(source), NearestCentroid().fit(X, y).distances(X), rtol=1e-12)
        model.save(tmp_path / "model")
        np.testing.assert_array_equal(assay.load(tmp_path / "model").predict(source), model.predict(source))

    def test_a_class_of_one_row_is_that_row(self):
        X = np.random.default_rng(0).standard_normal((5, 30))
        model = NearestCentroid().fit(X, [0, 1, 1, 1, 1])
        assert model.distances(X[:1])[0, 0] == 0.0 and model.ambiguity(X[:1])[0] == 0.0

    def test_classes_with_the_same_centroid_are_a_tie_not_an_error(self):
        model = NearestCentroid(refuse=0.99).fit(np.ones((4, 2)), [0, 0, 1, 1])
        np.testing.assert_array_equal(model.ambiguity(np.ones((1, 2))), 1.0)
        assert model.refused(np.ones((1, 2)))[0]


class TestRefusal:
    def test_predict_answers_every_row_unless_told_what_to_say_instead(self):
        X, y = digits()
        plain, shy = NearestCentroid().fit(X, y), NearestCentroid(refuse=0.8).fit(X, y)
        np.testing.assert_array_equal(plain.predict(X), shy.predict(X))
        refused = shy.refused(X)
        assert 0 < refused.sum() < len(X)
        silent = NearestCentroid(refuse=0.8, refused_label=-1).fit(X, y)
        np.testing.assert_array_equal(silent.predict(X), np.where(refused, -1, plain.predict(X)))
        assert silent.predict(X).dtype == y.dtype

    def test_refused_rows_are_those_of_close_distances(self):
        X, y = digits()
        model = NearestCentroid(refuse=0.8).fit(X, y)
        far = np.sort(model.distances(X), axis=1)
        np.testing.assert_array_equal(model.refused(X), far[:, 0] > 0.8 * far[:, 1])

    def test_a_ratio_of_one_refuses_nothing_and_of_zero_all_but_exact_hits(self):
        X, y = digits()
        assert not NearestCentroid(refuse=1.0).fit(X, y).refused(X).any()
        assert NearestCentroid(refuse=0.0).fit(X, y).refused(X).all()

    @pytest.mark.parametrize(
        ("classes", "label", "kind"),
        [("ab", "not sure", "U"), ([0, 1], np.nan, "f"), ([0, 1], "?", "O"), ([False, True], -1, "O")],
    )
    def test_the_label_of_refused_rows_leaves_the_other_classes_what_they_are(self, classes, label, kind):
        X = np.array([[0.0], [1.0], [10.0], [11.0]])
        y = np.array(list(classes))[[0, 0, 1, 1]]
        found = NearestCentroid(refuse=0.5, refused_label=label).fit(X, y).predict([[0.0], [5.5], [11.0]])
        assert found.dtype.kind == kind
        assert [found[0], found[2]] == list(classes) and (found[1] == label or found[1] != found[1])

    def test_the_curve_counts_what_refusing_at_each_threshold_does(self):
        X, y = digits()
        model = NearestCentroid().fit(X[::2], y[::2])
        curve = model.refusal_curve(X[1::2], y[1::2])
        right = model.predict(X[1::2]) == y[1::2]
        assert curve.threshold[0] == 1.0 and curve.refused[0] == 0.0 and curve.accuracy[0] == right.mean()
        assert (np.diff(curve.threshold) < 0.0).all() and (np.diff(curve.refused) > 0.0).all()
        for i in (0, 10, 200, -1):
            refused = model.set_params(refuse=curve.threshold[i]).refused(X[1::2])
            assert refused.mean() == pytest.approx(curve.refused[i])
            assert right[~refused].mean() == pytest.approx(curve.accuracy[i])

    def test_rows_of_equal_ambiguity_are_refused_together(self):
        model = NearestCentroid().fit(np.array([[0.0], [4.0]]), [0, 1])
        curve = model.refusal_curve(np.array([[1.0], [1.0], [3.0], [0.0]]), [0, 1, 1, 0])
        np.testing.assert_allclose(curve.threshold, [1.0, 0.0])
        np.testing.assert_allclose(curve.refused, [0.0, 0.75])
        np.testing.assert_allclose(curve.accuracy, [0.75, 1.0])

    def test_the_curve_gives_the_threshold_for_an_accuracy(self):
        curve = RefusalCurve(np.array([1.0, 0.9, 0.5]), np.array([0.0, 0.2, 0.4]), np.array([0.9, 0.96, 0.94]), 10)
        assert curve.threshold_for(0.95) == 0.9
        with pytest.raises(
            ParameterError, match=r"no threshold leaves an accuracy of 0.99; the best on these rows is 0.96"
        ):
            curve.threshold_for(0.99)

    def test_options_that_contradict_each_other_are_named(self):
        X, y = digits()
        with pytest.raises(ParameterError, match="refuse is a ratio of distances from 0 to 1, or None; got 2"):
            NearestCentroid(refuse=2).fit(X, y)
        with pytest.raises(ParameterError, match="refused_label=-1 needs refuse, the ratio above which rows get it"):
            NearestCentroid(refused_label=-1).fit(X, y)
        with pytest.raises(ParameterError, match="refused_label 3 is one of the classes; take another"):
            NearestCentroid(refuse=0.9, refused_label=3).fit(X, y)
        with pytest.raises(ParameterError, match="refuse is None, so no row is refused; set it, say refuse=0.9"):
            NearestCentroid().fit(X, y).refused(X)


class TestRefusedData:
    def test_gaps_and_rows_too_far_for_numbers_are_named(self):
        X, y = load_iris(return_X_y=True)
        model = NearestCentroid().fit(X, y)
        far = X.copy()
        far[4, 1] = 1e200
        with pytest.raises(DataError, match="row 4 is so far out that the squares of its distances leave the range"):
            model.predict(far)
        table = pa.table({f"x{j}": X[:, j] for j in range(4)} | {"kind": y.astype(str)})
        gap = table.set_column(1, "x1", pa.array([None, *X[1:, 1]]))
        with pytest.raises(DataError, match="column 'x1' has missing values"):
            NearestCentroid().fit(assay.read(gap), "kind")
        with pytest.raises(DataError, match=r"row 0, column 'x1' is missing \(NaN\): distances need finite numbers"):
            NearestCentroid().fit(assay.read(table), "kind").predict(assay.read(gap))

    def test_a_class_without_weight_has_no_mean(self):
        X, y = load_iris(return_X_y=True)
        with pytest.raises(DataError, match="class 1 has a weight of zero in all its rows: it has no mean"):
            NearestCentroid().fit(X, y, sample_weight=(y != 1).astype(float))
