"""The subspace classifier: its bases, residuals to the last digit, digits, routes; for refusal see the centroids."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA as Oracle

import assay
from assay import GroupedMoments, NearestCentroid, SubspaceClassifier
from assay.errors import DataError, ParameterError

USPS = (
    next(p for p in Path(__file__).parents if p.name == "tests").parent.parent / "shared/data/usps_digits/usps.parquet"
)


def digits():
    return load_digits(return_X_y=True)


def direct(model, X):
    """Residuals as the definition has them."""
    return np.stack(
        [
            np.linalg.norm((X - mean) - (X - mean) @ basis.T @ basis, axis=1)
            for mean, basis in zip(model.means_, model.components_, strict=True)
        ],
        axis=1,
    )


class TestBases:
    @pytest.mark.parametrize("centred", [True, False])
    def test_directions_are_orthonormal_and_residuals_those_of_the_definition(self, centred):
        X, y = digits()
        model = SubspaceClassifier(8, centred=centred).fit(X, y)
        for basis in model.components_:
            np.testing.assert_allclose(basis @ basis.T, np.eye(8), atol=1e-12)
        np.testing.assert_allclose(model.distances(X), direct(model, X), rtol=1e-9)

    def test_centred_directions_are_the_principal_components_of_each_class(self):
        X, y = digits()
        model = SubspaceClassifier(6).fit(X, y)
        for c in range(10):
            pca = Oracle(6, svd_solver="full").fit(X[y == c])
            np.testing.assert_allclose(np.abs(np.sum(pca.components_ * model.components_[c], axis=1)), 1.0, rtol=1e-9)
            np.testing.assert_allclose(model.singular_values_[c], pca.singular_values_, rtol=1e-10)

    def test_uncentred_directions_are_the_singular_vectors_of_the_rows(self):
        X, y = digits()
        model = SubspaceClassifier(6, centred=False).fit(X, y)
        for c in range(10):
            _, s, V = np.linalg.svd(X[y == c], full_matrices=False)
            np.testing.assert_allclose(model.singular_values_[c], s[:6], rtol=1e-10)
            np.testing.assert_allclose(np.abs(np.sum(V[:6] * model.components_[c], axis=1)), 1.0, rtol=1e-9)

    def test_both_routes_and_moments_however_gathered_agree(self):
        X, y = digits()
        few = np.concatenate([np.flatnonzero(y == c)[:50] for c in range(10)])  # fewer rows a class than columns
        X, y = X[few], y[few]
        rows = SubspaceClassifier(5).fit(X, y)
        summary = SubspaceClassifier(5).fit_moments(
            GroupedMoments.of(X[::2], y[::2]) + GroupedMoments.of(X[1::2], y[1::2])
        )
        assert (rows.route_, summary.route_) == ("svd", "moments")
        np.testing.assert_allclose(rows.distances(X), summary.distances(X), rtol=1e-9)

    def test_without_directions_it_is_the_nearest_centroid(self):
        X, y = digits()
        np.testing.assert_allclose(
            SubspaceClassifier(0).fit(X, y).distances(X), NearestCentroid().fit(X, y).distances(X), rtol=1e-10
        )

    def test_rows_within_a_subspace_have_no_residual_to_the_last_digit(self):
        rng = np.random.default_rng(0)
        planes = [np.linalg.qr(rng.standard_normal((40, 3)))[0] for _ in range(2)]
        X = np.vstack([rng.standard_normal((60, 3)) @ plane.T for plane in planes])
        y = np.repeat([0, 1], 60)
        model = SubspaceClassifier(3, centred=False).fit(X, y)
        assert model.distances(X)[np.arange(120), y].max() < 1e-13 * np.abs(X).max() * 40
        small = X + 1e-7 * rng.standard_normal(X.shape)  # the difference of squares would have no digit of it
        np.testing.assert_allclose(model.distances(small), direct(model, small), rtol=1e-6)
        assert model.score(X, y) == 1.0

    def test_a_multiple_of_a_row_is_the_same_where_classes_are_not_centred(self):
        X, y = digits()
        model = SubspaceClassifier(8, centred=False).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), model.predict(5.0 * X))

    def test_rows_moved_by_1e8_keep_the_digits_that_the_data_have(self):
        X, y = digits()  # whole numbers, which stay what they are
        np.testing.assert_allclose(
            SubspaceClassifier(8).fit(X + 1e8, y).distances(X + 1e8),
            SubspaceClassifier(8).fit(X, y).distances(X),
            rtol=1e-6,
        )

    def test_rotating_the_rows_does_not_change_a_residual(self):
        X, y = digits()
        Q = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))[0]
        np.testing.assert_allclose(
            SubspaceClassifier(8).fit(X @ Q, y).distances(X @ Q),
            SubspaceClassifier(8).fit(X, y).distances(X),
            rtol=1e-8,
        )


class TestDigits:
    def test_digits_of_scikit_learn_are_told_apart_and_refusal_buys_accuracy(self):
        X, y = digits()
        model = SubspaceClassifier().fit(X[:1200], y[:1200])
        assert (model.n_components_ == 12).all() and model.route_ == "moments"
        assert model.score(X[1200:], y[1200:]) > 0.93
        curve = model.refusal_curve(X[1200:], y[1200:])
        tenth = np.searchsorted(curve.refused, 0.1)
        assert 1.0 - curve.accuracy[tenth] < 0.5 * (1.0 - curve.accuracy[0])

    @pytest.mark.skipif(not USPS.exists(), reason="the USPS digits are not here")
    @pytest.mark.parametrize("centred", [True, False])
    def test_at_most_six_percent_of_the_usps_digits_are_wrong(self, centred):
        table = pq.read_table(USPS)
        X = np.column_stack([table[f"p{j:03}"].to_numpy() for j in range(256)])
        y, train = table["digit"].to_numpy(), np.array(table["split"].to_pylist()) == "train"
        model = SubspaceClassifier(12, centred=centred).fit(X[train], y[train])
        assert 1.0 - model.score(X[~train], y[~train]) <= 0.06
        curve = model.refusal_curve(X[~train], y[~train])
        assert curve.accuracy[np.searchsorted(curve.refused, 0.1)] >= 0.97


class TestEdges:
    def test_a_class_has_no_more_directions_than_independent_rows(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((9, 40))
        X[1] = X[0]  # a class of the same row twice
        model = SubspaceClassifier(4).fit(X, [0, 0, 1, 1, 1, 2, 3, 3, 3])
        assert model.n_components_.tolist() == [0, 2, 0, 2]
        assert SubspaceClassifier(4, centred=False).fit(X, [0, 0, 1, 1, 1, 2, 3, 3, 3]).n_components_.tolist() == [
            1,
            3,
            1,
            3,
        ]

    def test_by_default_a_quarter_of_few_columns_is_used(self):
        X = np.random.default_rng(0).standard_normal((90, 8))
        assert SubspaceClassifier().fit(X, np.arange(90) % 3).n_components_.tolist() == [2, 2, 2]
        assert SubspaceClassifier(centred=False).fit(X[:, :2], np.arange(90) % 3).n_components_.tolist() == [1, 1, 1]

    def test_constant_columns_and_float32_rows_are_fine(self):
        X, y = digits()
        X = X.astype(np.float32)
        X[:, 0] = 7.0
        np.testing.assert_allclose(
            SubspaceClassifier(8).fit(X, y).distances(X),
            SubspaceClassifier(8).fit(X.astype(float), y).distances(X.astype(float)),
            rtol=1e-12,
        )

    @pytest.mark.parametrize("n", [12, 400])
    def test_a_weight_of_two_is_the_row_twice(self, n):
        X, y = digits()
        X, y, w = X[:n], y[:n] % 2, np.random.default_rng(0).integers(1, 3, n)
        np.testing.assert_allclose(
            SubspaceClassifier(3).fit(X, y, sample_weight=w).distances(X),
            SubspaceClassifier(3).fit(np.repeat(X, w, axis=0), np.repeat(y, w)).distances(X),
            rtol=1e-8,
            atol=1e-10,
        )

    @pytest.mark.parametrize("rows", [150, 12])
    def test_a_source_gives_the_model_of_its_rows_and_comes_back_from_a_file(self, rows, tmp_path):
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((rows, 6)), np.arange(rows) % 3
        source = assay.read(pa.table({f"x{j}": X[:, j] for j in range(6)} | {"kind": [f"k{c}" for c in y]}))
        model = SubspaceClassifier(2).fit(source, "kind")
        np.testing.assert_allclose(model.distances(source), SubspaceClassifier(2).fit(X, y).distances(X), rtol=1e-9)
        model.save(tmp_path / "model")
        np.testing.assert_array_equal(assay.load(tmp_path / "model").distances(source), model.distances(source))


class TestRefusals:
    def test_a_number_of_directions_that_makes_no_sense_is_named(self):
        X, y = digits()
        for asked, least, options in ((64, 0, {}), (-1, 0, {}), (2.5, 0, {}), (0, 1, {"centred": False})):
            with pytest.raises(ParameterError, match=rf"n_components is a whole number from {least} to 63, fewer than"):
                SubspaceClassifier(asked, **options).fit(X, y)

    @pytest.mark.parametrize("n", [9, 900])
    def test_values_that_cannot_be_squared_are_named(self, n):
        X = np.random.default_rng(0).standard_normal((n, 20))
        X[:, 3] *= 1e300
        with pytest.raises(DataError, match="column 3 runs from .* rescale the column"):
            SubspaceClassifier().fit(X, np.arange(n) % 3)
        model = SubspaceClassifier().fit(np.random.default_rng(0).standard_normal((n, 20)), np.arange(n) % 3)
        with pytest.raises(DataError, match="row 0 is so far out"):
            model.predict(np.full((1, 20), 1e200))

    @pytest.mark.parametrize("n", [9, 900])
    def test_a_gap_in_a_source_is_named(self, n):
        columns = {f"x{j}": np.random.default_rng(j).standard_normal(n) for j in range(20)}
        table = pa.table({**columns, "x5": [None, *columns["x5"][1:]], "kind": [f"k{i % 3}" for i in range(n)]})
        with pytest.raises(DataError, match=r"row 0, column 'x5' is missing \(NaN\)"):
            SubspaceClassifier().fit(assay.read(table), "kind")
