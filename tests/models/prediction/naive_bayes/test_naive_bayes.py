"""Naive Bayes: scikit-learn's four as oracles, mixed columns, missing cells, merging, edges."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.datasets import load_digits, load_iris
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

import assay
from assay import ClassCounts, NaiveBayes
from assay.errors import DataError, ParameterError

ORACLES = {
    "gaussian": lambda alpha: GaussianNB(var_smoothing=0.0),
    "multinomial": lambda alpha: MultinomialNB(alpha=alpha),
    "bernoulli": lambda alpha: BernoulliNB(alpha=alpha),
    "categorical": lambda alpha: CategoricalNB(alpha=alpha),
}


def columns_of(kind, n=400, seed=0):
    """Rows whose columns tell of the class, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    if kind == "gaussian":
        return rng.standard_normal((n, 5)) * (1.0 + y[:, None]) + 0.5 * y[:, None], y
    if kind == "bernoulli":
        return (rng.random((n, 5)) < 0.2 + 0.2 * y[:, None]).astype(float), y
    X = rng.binomial(3, 0.2 + 0.2 * y[:, None], (n, 5)).astype(float)
    X[:4] = np.arange(4.0)[:, None]  # every level is met, as CategoricalNB counts those below the largest in
    return X, y


def assert_agree(model, oracle, X):
    ours, theirs = model.predict_joint_log_proba(X), oracle.predict_joint_log_proba(X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), oracle.predict_proba(X), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.predict_log_proba(X), oracle.predict_log_proba(X), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), oracle.predict(X))


class TestOracles:
    @pytest.mark.parametrize("kind", ORACLES)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_likelihoods_and_posteriors_are_scikit_learns(self, kind, weighted):
        X, y = columns_of(kind)
        w = np.random.default_rng(1).random(len(y)) + 0.1 if weighted else None
        assert_agree(
            NaiveBayes(kind, smoothing=0.3).fit(X, y, sample_weight=w), ORACLES[kind](0.3).fit(X, y, sample_weight=w), X
        )

    def test_its_attributes_are_scikit_learns_too(self):
        X, y = load_iris(return_X_y=True)
        model, oracle = NaiveBayes().fit(X, y), GaussianNB(var_smoothing=0.0).fit(X, y)
        np.testing.assert_allclose(model.theta_, oracle.theta_, rtol=1e-13)
        np.testing.assert_allclose(model.var_, oracle.var_, rtol=1e-12)
        X, y = load_digits(return_X_y=True)
        oracle = MultinomialNB().fit(X, y)
        np.testing.assert_allclose(NaiveBayes("multinomial").fit(X, y).feature_log_prob_, oracle.feature_log_prob_)

    @pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
    def test_sparse_rows_are_judged_as_their_dense_form(self, kind):
        X, y = load_digits(return_X_y=True)
        sparse, dense = NaiveBayes(kind).fit(csr_array(X), y), NaiveBayes(kind).fit(X, y)
        np.testing.assert_allclose(
            sparse.predict_joint_log_proba(csr_array(X)), dense.predict_joint_log_proba(X), rtol=1e-12
        )

    def test_given_priors_move_the_posterior_as_bayes_rule_says(self):
        X, y = columns_of("gaussian")
        priors = [0.7, 0.2, 0.1]
        assert_agree(NaiveBayes(priors=priors).fit(X, y), GaussianNB(priors=priors, var_smoothing=0.0).fit(X, y), X)


class TestMixedColumns:
    def test_columns_of_different_kinds_add_their_log_likelihoods(self):
        parts = {kind: columns_of(kind) for kind in ORACLES}  # the same classes, from the same seed
        y = parts["gaussian"][1]
        X = np.hstack([X for X, _ in parts.values()])
        kinds = [kind for kind in parts for _ in range(5)]
        model = NaiveBayes(kinds).fit(X, y)
        prior = np.log(np.bincount(y) / len(y))
        expected = prior + sum(
            ORACLES[kind](1.0).fit(Z, y).predict_joint_log_proba(Z) - prior for kind, (Z, _) in parts.items()
        )
        np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-10)
        assert np.isnan(model.theta_[:, 5:]).all() and np.isnan(model.feature_log_prob_[:, :5]).all()

    def table(self, n=900):
        rng = np.random.default_rng(0)
        y = rng.choice(["cat", "dog"], n)
        cat = y == "cat"
        return pa.table(
            {
                "weight": rng.normal(np.where(cat, 4.0, 12.0), 2.0),
                "colour": np.where(rng.random(n) < np.where(cat, 0.6, 0.2), "black", rng.choice(["white", "brown"], n)),
                "climbs": rng.random(n) < np.where(cat, 0.8, 0.3),
                "animal": y,
            }
        )

    def test_a_source_is_understood_by_the_kinds_of_its_columns(self):
        table = self.table()
        model = NaiveBayes().fit(assay.read(table), "animal")
        assert model.kinds_ == ("gaussian", "multinomial", "multinomial", "multinomial", "bernoulli")
        y = np.array(table["animal"].to_pylist())
        weight = np.array(table["weight"])[:, None]
        climbs = np.array(table["climbs"].to_pylist(), dtype=float)[:, None]
        colour = np.unique(np.array(table["colour"].to_pylist()), return_inverse=True)[1][:, None]
        prior = np.log(np.unique(y, return_counts=True)[1] / len(y))
        oracles = ((GaussianNB(var_smoothing=0.0), weight), (CategoricalNB(), colour), (BernoulliNB(), climbs))
        expected = prior + sum(oracle.fit(Z, y).predict_joint_log_proba(Z) - prior for oracle, Z in oracles)
        np.testing.assert_allclose(model.predict_joint_log_proba(assay.read(table)), expected, rtol=1e-10)

    def test_a_frame_is_understood_as_the_source_it_is(self):
        table = self.table()
        frame = table.to_pandas()
        X, y = frame.drop(columns="animal"), frame["animal"]
        framed, sourced = NaiveBayes().fit(X, y), NaiveBayes().fit(assay.read(table), "animal")
        np.testing.assert_array_equal(framed.predict_proba(X), sourced.predict_proba(assay.read(table)))
        np.testing.assert_array_equal(framed.predict_proba(X), sourced.predict_proba(frame))

    def test_a_frame_of_numbers_keeps_its_columns_and_their_kinds(self):
        rng = np.random.default_rng(0)
        y = np.arange(300) % 2
        frame = pd.DataFrame({"x": rng.random(300), "yes": rng.random(300) < 0.5, "region": rng.integers(1, 5, 300)})
        model = NaiveBayes().fit(frame, y)
        assert model.kinds_ == ("gaussian", "bernoulli", "categorical")
        assert list(model.feature_names_in_) == ["x", "yes", "region"]

    def test_a_level_not_met_before_says_nothing(self):
        X, y = columns_of("categorical")
        model = NaiveBayes("categorical").fit(X, y)
        new, gap = X[:3].copy(), X[:3].copy()
        new[:, 2], gap[:, 2] = 77.0, np.nan
        np.testing.assert_array_equal(model.predict_joint_log_proba(new), model.predict_joint_log_proba(gap))


class TestMissingCells:
    @pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "categorical"])
    def test_a_missing_cell_is_left_out_of_the_product(self, kind):
        X, y = columns_of(kind)
        model, without = NaiveBayes(kind).fit(X, y), NaiveBayes(kind).fit(X[:, [0, 1, 3, 4]], y)
        gaps = X.copy()
        gaps[:, 2] = np.nan
        np.testing.assert_allclose(
            model.predict_joint_log_proba(gaps), without.predict_joint_log_proba(X[:, [0, 1, 3, 4]]), rtol=1e-12
        )

    def test_laws_are_fitted_on_the_cells_that_are_there(self):
        X, y = columns_of("gaussian")
        X[np.random.default_rng(2).random(X.shape) < 0.3] = np.nan
        model = NaiveBayes().fit(X, y)
        prior = np.bincount(y) / len(y)
        expected = np.log(prior) + np.stack(
            [
                np.nansum(norm.logpdf(X, np.nanmean(X[y == c], axis=0), np.nanstd(X[y == c], axis=0)), axis=1)
                for c in range(3)
            ],
            axis=1,
        )
        np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-10)

    def test_a_row_without_a_value_has_the_posterior_of_its_prior(self):
        X, y = columns_of("gaussian")
        model = NaiveBayes().fit(X, y)
        np.testing.assert_allclose(model.predict_proba(np.full((1, 5), np.nan))[0], model.priors_, rtol=1e-14)

    def test_a_class_without_a_value_in_a_column_takes_the_law_of_all_rows_there(self):
        X, y = columns_of("gaussian")
        X[y == 1, 0] = np.nan
        model = NaiveBayes().fit(X, y)
        np.testing.assert_allclose(model.theta_[1, 0], np.nanmean(X[:, 0]), rtol=1e-12)
        np.testing.assert_allclose(model.var_[1, 0], np.nanvar(X[:, 0]), rtol=1e-12)


class TestMerging:
    @settings(max_examples=15, deadline=None)
    @given(cut=st.integers(1, 199), kind=st.sampled_from(list(ORACLES)))
    def test_counts_of_two_parts_fit_the_model_of_the_whole(self, cut, kind):
        X, y = columns_of(kind, 200)
        counts = ClassCounts.of(X[:cut], y[:cut], kinds=kind) + ClassCounts.of(X[cut:], y[cut:], kinds=kind)
        np.testing.assert_allclose(
            NaiveBayes(kind).fit_counts(counts).predict_joint_log_proba(X),
            NaiveBayes(kind).fit(X, y).predict_joint_log_proba(X),
            rtol=1e-9,
        )

    def test_rows_that_come_in_parts_give_the_model_of_all(self):
        X, y = columns_of("gaussian")
        order = np.argsort(y, kind="stable")  # classes that come one after the other
        model = NaiveBayes()
        for part in np.array_split(order, 7):
            model.partial_fit(X[part], y[part])
        np.testing.assert_allclose(
            model.predict_joint_log_proba(X), NaiveBayes().fit(X, y).predict_joint_log_proba(X), rtol=1e-10
        )

    def test_a_class_announced_but_not_met_is_impossible(self):
        X, y = columns_of("gaussian")
        model = NaiveBayes().partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
        assert model.predict_proba(X)[:, 2].max() == 0.0
        with pytest.raises(DataError, match="class 2 is none of those named: 0, 1"):
            NaiveBayes().partial_fit(X, y, classes=[0, 1])

    def test_a_part_that_is_refused_leaves_the_model_as_it_was(self):
        X, y = columns_of("gaussian")
        model = NaiveBayes().partial_fit(X, y)
        before = model.predict_joint_log_proba(X)
        with pytest.raises(DataError, match="row 1, column 0 is infinite"):
            model.partial_fit([[1.0] * 5, [np.inf] * 5], [7, 8])
        np.testing.assert_array_equal(model.predict_joint_log_proba(X), before)
        assert model.classes_.tolist() == [0, 1, 2]

    def test_a_source_in_parts_is_encoded_as_the_first_was(self):
        table = TestMixedColumns().table()
        model = (
            NaiveBayes().partial_fit(assay.read(table[:500]), "animal").partial_fit(assay.read(table[500:]), "animal")
        )
        np.testing.assert_allclose(
            model.predict_proba(assay.read(table)),
            NaiveBayes().fit(assay.read(table), "animal").predict_proba(assay.read(table)),
            rtol=1e-9,
        )

    def test_a_saved_model_learns_on(self, tmp_path):
        X, y = columns_of("gaussian")
        NaiveBayes().fit(X[:200], y[:200]).save(tmp_path / "model")
        back = assay.load(tmp_path / "model").partial_fit(X[200:], y[200:])
        np.testing.assert_allclose(back.theta_, NaiveBayes().fit(X, y).theta_, rtol=1e-12)


class TestInvariances:
    def test_units_and_offsets_of_columns_do_not_change_the_posterior(self):
        X, y = columns_of("gaussian")
        scale, shift = np.array([1e-9, 1.0, 3.0, 1e6, 1e100]), np.array([0.0, 5.0, -2.0, 1e9, 1e101])
        np.testing.assert_allclose(
            NaiveBayes().fit(X * scale + shift, y).predict_proba(X * scale + shift),
            NaiveBayes().fit(X, y).predict_proba(X),
            rtol=1e-9,
        )

    def test_rows_moved_by_1e8_keep_their_likelihood(self):
        X, y = columns_of("gaussian")
        far = X + 1e8
        near = far - 1e8  # exact: the rows as rounding has left them
        np.testing.assert_allclose(
            NaiveBayes().fit(far, y).predict_joint_log_proba(far),
            NaiveBayes().fit(near, y).predict_joint_log_proba(near),
            rtol=1e-7,
        )

    def test_layout_and_float32_do_not_matter(self):
        X, y = columns_of("gaussian", 9000)
        X = X.astype(np.float32)
        model = NaiveBayes().fit(X, y)
        expected = model.predict_joint_log_proba(X.astype(float))
        np.testing.assert_array_equal(model.predict_joint_log_proba(X), expected)
        np.testing.assert_array_equal(model.predict_joint_log_proba(np.asfortranarray(X)), expected)


class TestEdges:
    def test_a_constant_column_says_nothing(self):
        X, y = columns_of("gaussian")
        wide = np.column_stack([X, np.full(len(X), 7.0)])
        model = NaiveBayes().fit(wide, y)
        wide[:, 5] = 8.0
        np.testing.assert_array_equal(
            model.predict_joint_log_proba(wide), NaiveBayes().fit(X, y).predict_joint_log_proba(X)
        )
        assert not model.var_[:, 5].any()

    def test_a_column_constant_in_one_class_keeps_the_floor_of_its_variance(self):
        X, y = columns_of("gaussian")
        X[y == 0, 0] = 2.0
        model = NaiveBayes(var_floor=1e-4).fit(X, y)
        np.testing.assert_allclose(model.var_[0, 0], 1e-4 * X[:, 0].var(), rtol=1e-12)
        assert np.isfinite(model.predict_log_proba(X)).any(axis=1).all()

    def test_a_column_constant_in_one_class_varies_there_as_one_more_row_could(self):
        X, y = columns_of("gaussian")
        X[y == 0, 0] = 2.0
        X[0, 0] = np.nan
        model = NaiveBayes().fit(X, y)
        within = sum(((X[y == c, 0] - np.nanmean(X[y == c, 0])) ** 2)[~np.isnan(X[y == c, 0])].sum() for c in (0, 1, 2))
        n = np.sum((y == 0) & ~np.isnan(X[:, 0]))
        np.testing.assert_allclose(model.var_[0, 0], within / (len(X) - 1) / (n + 1), rtol=1e-10)
        np.testing.assert_allclose(model.var_[1], np.nanvar(X[y == 1], axis=0), rtol=1e-10)  # others as they are

    def test_digits_are_told_better_than_by_a_floor_that_all_columns_share_and_in_any_units(self):
        X, y = load_digits(return_X_y=True)
        train = np.arange(len(y)) % 2 == 0
        ours, peer = (model.fit(X[train], y[train]) for model in (NaiveBayes(), GaussianNB()))
        assert ours.score(X[~train], y[~train]) > peer.score(X[~train], y[~train]) + 0.02
        units = 10.0 ** (np.arange(64) % 9 - 4)
        other = NaiveBayes().fit(X[train] * units, y[train])
        np.testing.assert_array_equal(other.predict(X[~train] * units), ours.predict(X[~train]))

    def test_a_class_of_one_row_is_found_there_and_nowhere_else(self):
        X, y = columns_of("gaussian")
        y[0] = 9
        found = NaiveBayes(var_floor=1e-9).fit(X, y).predict(X)
        assert found[0] == 9 and (found[1:] != 9).all()
        # one row is no reason to be sure: by default its class spreads as classes do
        model = NaiveBayes().fit(X, y)
        chance = model.predict_proba(X)[:, model.classes_ == 9]
        assert model.priors_[-1] < chance[0] and chance.max() < 0.5

    def test_more_columns_than_rows_and_rows_twice(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((8, 300))
        y = np.repeat([0, 1], 4)
        X[y == 1] += 1.0
        np.testing.assert_array_equal(NaiveBayes().fit(np.vstack([X, X]), [*y, *y]).predict(X), y)

    def test_classes_of_zero_weight_are_never_predicted(self):
        X, y = columns_of("gaussian")
        model = NaiveBayes().fit(X, y, sample_weight=(y != 1).astype(float))
        assert set(model.predict(X)) == {0, 2}


class TestRefusals:
    def test_a_row_too_far_for_numbers_is_named(self):
        X, y = columns_of("gaussian")
        model = NaiveBayes().fit(X, y)
        far = X.copy()
        far[3, 1] = 1e200
        with pytest.raises(DataError, match="row 3 is so far from every class that its likelihood leaves the range"):
            model.predict(far)
        far[3, 1] = -np.inf
        with pytest.raises(DataError, match="row 3, column 1 is infinite"):
            model.predict(far)

    @pytest.mark.parametrize(
        ("options", "text"),
        [
            (
                {"kinds": "normal"},
                "kinds is 'auto', 'gaussian', 'multinomial', 'bernoulli', 'categorical' or one for each",
            ),
            ({"kinds": ["gaussian"]}, "one for each of the 5; got 1"),
            ({"smoothing": 0.0}, "smoothing is a number above 0; got 0.0"),
            ({"var_floor": 0.0}, "var_floor is a share above 0 and at most 1, or 'auto'; got 0.0"),
            ({"priors": [0.5, 0.5]}, "priors are 3 chances that sum to 1, one for each class"),
            ({"priors": [0.5, 0.5, 0.5]}, "priors are 3 chances that sum to 1, one for each class"),
        ],
    )
    def test_options_that_make_no_sense_are_named(self, options, text):
        with pytest.raises(ParameterError, match=text):
            NaiveBayes(**options).fit(*columns_of("gaussian"))

    def test_rows_without_weight_teach_nothing(self):
        X, y = columns_of("gaussian")
        with pytest.raises(DataError, match="every row has a weight of zero"):
            NaiveBayes().fit(X, y, sample_weight=np.zeros(len(y)))


@pytest.mark.parametrize("kinds", ["categorical", "gaussian", "bernoulli"])
def test_only_levels_are_told_to_scikit_learn_as_categorical_input(kinds: str) -> None:
    assert NaiveBayes(kinds).__sklearn_tags__().input_tags.categorical == (kinds == "categorical")
