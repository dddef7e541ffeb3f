import numpy as np
import pyarrow as pa
import pytest
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import assay
from assay import CCA, HeldOutRidge, NonlinearCCA, Powers, Products, RandomFourier
from assay.data.source import ArrowSource
from assay.errors import DataError, ParameterError


def circle(n=400, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.cos(angle) + noise * rng.standard_normal(n), np.sin(angle) + noise * rng.standard_normal(n)


def test_on_a_circle_pearson_sees_nothing_and_squares_everything():
    x, y = circle()
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.1
    assert CCA().fit(x[:, None], y).canonical_correlations_[0] < 0.1
    found = NonlinearCCA(1).fit(x[:, None], y)
    assert found.canonical_correlations_[0] > 0.99
    assert found.x_feature_names_.tolist() == ["x0", "x0^2", "x0^3"]
    for weights, loadings, column in (
        (found.x_weights_, found.x_loadings_, x),
        (found.y_weights_, found.y_loadings_, y),
    ):
        spread = Powers(3)(StandardScaler().fit_transform(column[:, None])).std(axis=0)
        assert np.abs(weights[:, 0] * spread).argmax() == 1
        assert abs(loadings[1, 0]) > 0.95
    assert found.x_loadings_[1, 0] > 0 > found.y_loadings_[1, 0]


def test_on_an_even_circle_the_squares_have_all_the_weight():
    angle = 2 * np.pi * np.arange(200) / 200
    found = NonlinearCCA(1).fit(np.cos(angle)[:, None], np.sin(angle))
    assert found.canonical_correlations_[0] > 0.99
    np.testing.assert_allclose(found.x_loadings_[:, 0], [0, 1, 0], atol=1e-9)
    np.testing.assert_allclose(found.y_loadings_[:, 0], [0, -1, 0], atol=1e-9)
    np.testing.assert_allclose(found.x_weights_[[0, 2], 0], 0.0, atol=1e-9)


def test_it_is_cca_of_the_expanded_columns():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((80, 2)) * 3 + 5, rng.exponential(size=(80, 2))
    cca = NonlinearCCA(features=(Products(2), Powers(2)), ridge=0.05).fit(X, Y)
    unit = (Y - Y.mean(axis=0)) / Y.std(axis=0, ddof=1)
    left = PolynomialFeatures(2, include_bias=False).fit_transform((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))
    right = np.column_stack([unit[:, 0], unit[:, 0] ** 2, unit[:, 1], unit[:, 1] ** 2])
    plain = CCA(ridge=0.05).fit(left, right)
    np.testing.assert_allclose(cca.canonical_correlations_, plain.canonical_correlations_, atol=1e-11)
    for one, other in zip(cca.transform(X, Y), plain.transform(left, right), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    assert cca.x_feature_names_.tolist() == ["x0", "x1", "x0^2", "x0 x1", "x1^2"]


def test_units_and_places_of_the_columns_do_not_matter():
    x, y = circle(noise=0.1)
    one = NonlinearCCA(2).fit(x[:, None], y)
    other = NonlinearCCA(2).fit(x[:, None] * 1e-3 + 20.0, 1e5 * y - 3e7)
    np.testing.assert_allclose(other.canonical_correlations_, one.canonical_correlations_, atol=1e-7)


def test_more_features_than_rows_take_products_of_rows():
    x, y = circle(60, noise=0.05)
    waves = RandomFourier(150, sigma=1.0)
    cca = NonlinearCCA(1, features=waves, ridge=0.1).fit(x[:, None], y)
    assert cca.route_ == "dual" and cca.canonical_correlations_[0] > 0.8
    more = NonlinearCCA(1, features=RandomFourier(40), ridge=0.1).fit(x[:, None], y)
    assert more.route_ == "moments" and more.transform(x[:, None]).shape == (60, 1)


def test_a_ridge_is_chosen_on_held_out_rows():
    x, y = circle(200, noise=0.2)
    cca = NonlinearCCA(1, features=Powers(6), ridge=HeldOutRidge((1e-4, 1.0), cv=3)).fit(x[:, None], y)
    new = circle(1000, noise=0.2, seed=9)
    assert cca.held_out_correlations_[0] == pytest.approx(cca.correlations(new[0][:, None], new[1])[0], abs=0.1)


def test_independent_columns_have_no_held_out_correlation():
    rng = np.random.default_rng(3)
    reached = [
        NonlinearCCA(1, ridge=HeldOutRidge((0.01, 1.0)))
        .fit(rng.standard_normal((300, 2)), rng.standard_normal((300, 2)))
        .held_out_correlations_[0]
        for _ in range(8)
    ]
    assert abs(np.mean(reached)) < 0.1


def test_a_source_gives_its_names_to_the_features():
    x, y = circle(100)
    source = ArrowSource(pa.table({"east": x, "north": y}))
    cca = NonlinearCCA(1, features=Powers(2)).fit(source, "north")
    assert cca.x_feature_names_.tolist() == ["east", "east^2"] and cca.y_feature_names_.tolist() == ["north", "north^2"]
    plain = NonlinearCCA(1, features=Powers(2)).fit(x[:, None], y)
    np.testing.assert_allclose(cca.transform(source), plain.transform(x[:, None]), atol=1e-9)


class TestEdges:
    @pytest.mark.parametrize("features", ["powers", Powers, None, (Powers(2), 3)])
    def test_features_that_are_none_are_refused(self, features):
        x, y = circle(20)
        with pytest.raises(ParameterError, match="features is an expansion such as Powers"):
            NonlinearCCA(features=features).fit(x[:, None], y)

    def test_what_is_not_finite_is_named_by_its_column(self):
        x, y = circle(20)
        y[3] = np.inf
        with pytest.raises(DataError, match="row 3, column 'y0' is infinite"):
            NonlinearCCA().fit(x[:, None], y)

    def test_a_constant_column_stays_out(self):
        x, y = circle(50)
        cca = NonlinearCCA(1).fit(np.column_stack([x, np.full(50, 2.0)]), y)
        assert (cca.x_weights_[3:] == 0).all() and cca.rank_[0] == 3

    def test_a_column_of_two_values_has_one_direction(self):
        x, _ = circle(50)
        assert NonlinearCCA().fit(x[:, None], (x > 0).astype(float)).rank_ == (3, 1)

    def test_it_is_saved_as_data(self, tmp_path):
        x, y = circle(50)
        cca = NonlinearCCA(1, features=(Products(3), RandomFourier(9, random_state=4))).fit(x[:, None], y)
        cca.save(tmp_path / "model")
        back = assay.load(tmp_path / "model")
        assert back.features == cca.features
        for one, other in zip(back.transform(x[:, None], y), cca.transform(x[:, None], y), strict=True):
            np.testing.assert_array_equal(one, other)
