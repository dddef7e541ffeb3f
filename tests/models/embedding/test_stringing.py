"""Stringing: planted curves and bands recovered, chance told from structure, invariances, edges, the estimator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

import assay
from assay.errors import DataError, ParameterError
from assay.models.embedding import stringing
from assay.models.embedding.stringing import Stringing, reorder


def curve(n, noise=0.0, seed=0):
    """Points along an arc in space, shuffled, and where each belongs."""
    rng = np.random.default_rng(seed)
    t = rng.permutation(np.linspace(0, 1, n))
    return np.column_stack([np.cos(4 * t), np.sin(4 * t), 3 * t, t**2]) + noise * rng.standard_normal((n, 4)), t


@pytest.mark.parametrize("method", ["fiedler", "tsne"])
@pytest.mark.parametrize("n", [30, 300])
def test_the_order_along_a_planted_curve_is_found(method, n):
    X, t = curve(n)
    found = reorder(X, method=method, draws=0)
    assert abs(kendalltau(t[found.order], np.arange(n)).statistic) > 0.999
    assert found.roughness < 60 / n**2


@pytest.mark.parametrize("table", ["curve", "equal distances", "copies"])
@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_few_points_are_linked_as_many_are(monkeypatch, table, axis):
    X = curve(60, noise=0.1)[0]
    if table == "equal distances":
        X = np.random.default_rng(0).permutation(np.indices((6, 5)).reshape(2, -1).T) * 1.0
    if table == "copies":
        X = np.repeat(X[:20], 3, axis=0)
    few = reorder(X, axis=axis, draws=0)
    monkeypatch.setattr(stringing, "_FEW", 0)
    many = reorder(X, axis=axis, draws=0)
    np.testing.assert_array_equal(few.order, many.order)
    np.testing.assert_allclose(few.positions, many.positions, rtol=0, atol=1e-8)


def test_with_noise_neighbours_on_the_curve_stay_near():
    X, t = curve(200, noise=0.05)
    found = reorder(X)
    assert abs(kendalltau(t[found.order], np.arange(200)).statistic) > 0.95
    assert found.p == 0.05 and found.ratio < 0.05


def test_columns_of_shifted_waves_are_put_back_in_order():
    rng = np.random.default_rng(0)
    shift = rng.permutation(40)
    X = np.array([np.exp(-((np.arange(120) - 2 * s - 20) ** 2) / 300) for s in shift]).T + 0.01 * rng.random((120, 40))
    found = reorder(X, axis="columns")
    assert abs(kendalltau(shift[found.order], np.arange(40)).statistic) > 0.999
    assert found.p == 0.05


@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_in_noise_p_is_as_often_small_as_it_says(axis):
    rng = np.random.default_rng(7)
    p = [reorder(rng.standard_normal((14, 9)), axis=axis, draws=9, random_state=i).p for i in range(40)]
    assert np.sum(np.array(p) <= 0.1) <= 10  # binomial(40, .1): 11 or more come once in 600
    assert np.mean(p) == pytest.approx(0.55, abs=0.15)


def test_roughness_of_every_order_averages_one_and_is_what_it_says():
    X, _ = curve(12)
    found = reorder(X, scale=False, draws=0)
    Z = X[found.order]
    pairs = ((X[:, None] - X) ** 2).sum(axis=2)[np.triu_indices(12, 1)].mean()
    assert found.roughness == pytest.approx(((Z[1:] - Z[:-1]) ** 2).sum(axis=1).mean() / pairs)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_rows_in_another_order_are_reordered_alike_and_the_same_way_round(seed):
    rng = np.random.default_rng(seed)
    X, _ = curve(40, noise=0.02, seed=seed)
    shuffle = rng.permutation(40)
    np.testing.assert_allclose(X[shuffle][reorder(X[shuffle], draws=0).order], X[reorder(X, draws=0).order], atol=1e-12)


@pytest.mark.parametrize("change", [lambda X: X + 1e8, lambda X: X * 1e-300, lambda X: X * 1e300, lambda X: X * 1e6])
@pytest.mark.parametrize("standardise", [True, False])
def test_shift_and_scale_do_not_change_the_order(change, standardise):
    X = np.round(curve(50)[0] * 2**12) / 2**12
    base = reorder(X, scale=standardise, draws=2)
    moved = reorder(change(X), scale=standardise, draws=2)
    np.testing.assert_array_equal(moved.order, base.order)
    assert moved.roughness == pytest.approx(base.roughness, rel=1e-6)


def test_standardising_lets_every_column_speak():
    X, t = curve(80)
    loud = np.column_stack([X, 1e6 * np.random.default_rng(0).standard_normal(80)])
    assert abs(kendalltau(t[reorder(loud, draws=0).order], np.arange(80)).statistic) > 0.8
    assert abs(kendalltau(t[reorder(loud, scale=False, draws=0).order], np.arange(80)).statistic) < 0.3


def test_groups_far_apart_are_ordered_one_after_the_other_from_low_to_high():
    X = np.concatenate([curve(30, seed=s)[0] + 1000 * s for s in (1, 0, 2)])
    found = reorder(X, scale=False, draws=0)
    group = np.repeat([1, 0, 2], 30)[found.order]
    assert np.count_nonzero(np.diff(group)) == 2 and group[45] == 1


def test_equal_rows_stand_together_and_the_same_data_give_the_same_order():
    X = np.repeat(curve(15)[0], 4, axis=0)[np.random.default_rng(0).permutation(60)]
    first, second = reorder(X), reorder(X)
    np.testing.assert_array_equal(first.order, second.order)
    np.testing.assert_array_equal(first.chance, second.chance)
    assert np.count_nonzero(np.diff(X[first.order], axis=0).any(axis=1)) == 14


def test_constant_columns_come_last_and_have_no_position():
    X = np.column_stack([np.full(20, 0.1), *curve(20)[0].T, np.full(20, 1e300)])
    found = reorder(X, axis="columns")
    assert found.order[-2:].tolist() == [0, 5] and sorted(found.order) == list(range(6))
    assert np.isnan(found.positions[[0, 5]]).all() and np.isfinite(found.positions[1:5]).all()
    rows = reorder(X)
    np.testing.assert_array_equal(rows.order, reorder(X[:, 1:5]).order)


@pytest.mark.parametrize("axis", ["rows", "columns"])
@pytest.mark.parametrize("method", ["fiedler", "tsne"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (2, 1), (2, 3), (3, 2), (9, 1), (5, 400)])
def test_tables_of_any_shape_have_an_order(shape, axis, method):
    X = np.random.default_rng(0).standard_normal(shape)
    found = reorder(X, axis=axis, method=method, draws=1)
    assert sorted(found.order) == list(range(shape[0 if axis == "rows" else 1]))
    assert np.isfinite(found.roughness)


def test_a_table_of_one_value_is_not_smoother_than_chance():
    found = reorder(np.ones((6, 3)))
    assert found.order.tolist() == list(range(6)) and found.roughness == 0 and found.p == 1 and found.ratio == 1
    assert reorder(np.ones((6, 3)), axis="columns").order.tolist() == [0, 1, 2]


def test_what_cannot_be_is_refused_in_words():
    X = curve(5)[0]
    with pytest.raises(DataError, match="X must be finite: row 1, column 0"):
        reorder([[1.0], [np.nan]])
    with pytest.raises(ParameterError, match='method must be "fiedler" or "tsne", is \'pca\''):
        reorder(X, method="pca")
    with pytest.raises(ParameterError, match='axis must be "rows" or "columns", is 1'):
        reorder(X, axis=1)
    with pytest.raises(ParameterError, match="draws must be a whole number of at least 0, is -1"):
        reorder(X, draws=-1)
    with pytest.raises(ParameterError, match="n_neighbors must be a whole number of at least 1, is 2.5"):
        reorder(X, n_neighbors=2.5)


class TestStringing:
    def test_it_orders_columns_in_transform_and_keeps_the_order_of_rows_aside(self):
        X, _ = curve(30)
        model = Stringing().fit(X)
        np.testing.assert_array_equal(model.rows_, reorder(X).order)
        np.testing.assert_array_equal(model.columns_, reorder(X, axis="columns").order)
        np.testing.assert_array_equal(model.transform(X), X[:, model.columns_])
        np.testing.assert_array_equal(model.inverse_transform(model.transform(X)), X)
        np.testing.assert_array_equal(model.embedding_.ravel().argsort(), model.rows_)
        assert model.roughness_.shape == model.p_.shape == (2,) and model.chance_.shape == (2, 19)

    def test_names_go_with_their_columns(self):
        X, _ = curve(10)
        model = Stringing(draws=0).fit(X)
        names = model.get_feature_names_out(list("abcd"))
        assert "".join(names) == "".join("abcd"[j] for j in model.columns_)

    def test_it_is_saved_as_data(self, tmp_path):
        model = Stringing(draws=3).fit(curve(10)[0])
        model.save(tmp_path / "string.assay")
        again = assay.load(tmp_path / "string.assay")
        np.testing.assert_array_equal(again.rows_, model.rows_)
        np.testing.assert_array_equal(again.chance_, model.chance_)

    def test_rows_of_another_width_are_refused(self):
        model = Stringing(draws=0).fit(curve(10)[0])
        with pytest.raises(DataError, match="fitted on 4 columns; these rows have 2"):
            model.inverse_transform([[1.0, 2.0]])
