"""The perceptron as a model: certificates, units, warnings, edges. The rule itself is tested in tests/optimize."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_iris

import assay
from assay import Perceptron
from assay.errors import DataError, NotConverged, ParameterError


def two_of_iris():
    X, y = load_iris(return_X_y=True)
    return X[y < 2], y[y < 2]


class TestSeparableClasses:
    @pytest.mark.parametrize("version", ["plain", "pocket", "averaged"])
    def test_it_stops_without_an_error_and_proves_it(self, version):
        X, y = two_of_iris()
        model = Perceptron(version, random_state=1).fit(X, y)
        assert model.converged_ and model.errors_ == 0 and model.score(X, y) == 1.0
        assert 0 < model.mistakes_ <= model.mistake_bound_
        assert model.mistake_bound_ == (model.radius_ / model.margin_) ** 2

    def test_the_margin_is_the_distance_of_the_nearest_standardised_row(self):
        X, y = two_of_iris()
        model = Perceptron("plain").fit(X, y)
        Z = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0, ddof=1), np.ones(len(X))])
        w = np.append(model.coef_[0] * X.std(axis=0, ddof=1), model.offset_)
        np.testing.assert_allclose(model.margin_, (Z @ w * (2 * y - 1)).min() / np.linalg.norm(w), rtol=1e-10)
        np.testing.assert_allclose(model.radius_, np.linalg.norm(Z, axis=1).max(), rtol=1e-12)

    def test_several_classes_need_linear_scores_only_not_one_line_against_the_rest(self):
        rng = np.random.default_rng(0)
        x = rng.uniform(-0.3, 0.3, (90, 1)) + np.repeat([-2.0, 0.0, 2.0], 30)[:, None]
        y = np.repeat(["low", "middle", "high"], 30)
        model = Perceptron("plain", max_iter=500).fit(x, y)  # no threshold on x separates the middle from the rest
        assert model.converged_ and model.score(x, y) == 1.0
        assert model.coef_.shape == (3, 1) and model.mistakes_ <= model.mistake_bound_

    def test_it_separates_where_a_linear_program_says_that_one_can_and_only_there(self):
        verdicts = []
        for seed in range(24):
            rng = np.random.default_rng(seed)
            X, y = rng.standard_normal((9, 3)), np.append([0, 1], rng.integers(0, 2, 7))
            sides = (2.0 * y - 1.0)[:, None] * np.column_stack([X, np.ones(9)])
            program = linprog(np.zeros(4), A_ub=-sides, b_ub=-np.ones(9), bounds=(None, None))
            model = Perceptron(max_iter=5000).fit(X, y)
            assert model.converged_ == (program.status == 0)
            assert model.converged_ == (model.errors_ == 0)
            verdicts.append(model.converged_)
        assert 4 <= sum(verdicts) <= 20


class TestInseparableClasses:
    def rows(self):
        X, y = load_iris(return_X_y=True)
        return X[y > 0], y[y > 0]

    def test_the_plain_version_warns_that_it_does_not_settle(self):
        with pytest.warns(
            NotConverged, match=r"the last of 50 passes still made mistakes.*version='pocket' keeps the best"
        ):
            model = Perceptron("plain", max_iter=50).fit(*self.rows())
        assert not model.converged_ and np.isnan(model.margin_) and np.isnan(model.mistake_bound_)

    @pytest.mark.parametrize("version", ["pocket", "averaged"])
    def test_the_remedies_do_well_without_a_warning(self, version):
        X, y = self.rows()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = Perceptron(version).fit(X, y)
        assert not model.converged_ and model.n_iter_ == 200
        assert model.errors_ == round((1.0 - model.score(X, y)) * len(y)) <= 6

    def test_the_same_seed_gives_the_same_model_and_another_another(self):
        X, y = self.rows()
        one, same, other = (Perceptron(random_state=s, max_iter=9).fit(X, y).coef_ for s in (0, 0, 1))
        np.testing.assert_array_equal(one, same)
        assert (one != other).any()


class TestUnits:
    def test_units_and_offsets_of_columns_do_not_change_the_answers(self):
        X, y = load_iris(return_X_y=True)
        scale, shift = np.array([1e-6, 1.0, 1e6, 1e100]), np.array([0.0, 1e3, -1e9, 0.0])
        one, other = Perceptron().fit(X, y), Perceptron().fit(X * scale + shift, y)
        np.testing.assert_array_equal(one.predict(X), other.predict(X * scale + shift))
        assert one.mistakes_ == other.mistakes_

    def test_far_from_zero_scores_keep_the_digits_that_the_data_have(self):
        X, y = two_of_iris()
        far = X + 1e8
        near = far - 1e8  # exact: the rows as rounding has left them
        np.testing.assert_allclose(
            Perceptron().fit(far, y).decision_function(far),
            Perceptron().fit(near, y).decision_function(near),
            rtol=1e-6,
        )

    def test_scores_are_those_of_weights_and_intercept(self):
        X, y = load_iris(return_X_y=True)
        for rows, labels in ((X, y), two_of_iris()):
            model = Perceptron(scale=False).fit(rows, labels)
            expected = rows @ model.coef_.T + model.intercept_
            np.testing.assert_allclose(
                model.decision_function(rows).reshape(expected.shape), expected, rtol=1e-10, atol=1e-10
            )

    def test_float32_rows_are_the_rows_they_are(self):
        X, y = two_of_iris()
        X = X.astype(np.float32)
        np.testing.assert_allclose(Perceptron().fit(X, y).coef_, Perceptron().fit(X.astype(float), y).coef_, rtol=1e-12)


class TestEdges:
    def test_a_constant_column_has_no_weight(self):
        X, y = two_of_iris()
        model = Perceptron().fit(np.column_stack([X, np.full(len(X), 3.0)]), y)
        assert model.coef_[0, 4] == 0.0 and model.converged_

    def test_a_class_of_one_row_and_more_columns_than_rows(self):
        X = np.random.default_rng(0).standard_normal((10, 50))
        y = ["odd"] + ["even"] * 9
        model = Perceptron("plain").fit(X, y)
        assert model.converged_ and list(model.predict(X)) == y

    def test_it_learns_from_a_source_and_comes_back_from_a_file(self, tmp_path):
        X, y = two_of_iris()
        table = {f"x{j}": X[:, j] for j in range(4)} | {"kind": np.where(y == 1, "versicolor", "setosa")}
        source = assay.read(pa.table(table))
        model = Perceptron().fit(source, "kind")
        assert model.target_ == "kind" and model.converged_
        model.save(tmp_path / "model")
        np.testing.assert_array_equal(assay.load(tmp_path / "model").predict(source), table["kind"])

    def test_options_and_cells_that_make_no_sense_are_named(self):
        X, y = two_of_iris()
        with pytest.raises(ParameterError, match="version is one of plain, pocket, averaged; got 'voted'"):
            Perceptron("voted").fit(X, y)
        with pytest.raises(ParameterError, match="max_iter is a whole number of at least 1; got 0"):
            Perceptron(max_iter=0).fit(X, y)
        X[3, 2] = np.nan
        with pytest.raises(DataError, match=r"row 3, column 2 is missing \(NaN\)"):
            Perceptron().fit(X, y)
        with pytest.raises(DataError, match="runs from .* rescale the column"):
            Perceptron().fit(np.array([[1e300], [-1e300]]), [0, 1])
