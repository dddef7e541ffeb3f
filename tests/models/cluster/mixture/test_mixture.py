"""Gaussian mixtures: scikit-learn and mclust as oracles, laws of the fit, invariances, edges, refusals."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture as PeerMixture

import assay
from assay import GaussianMixture, choose_components
from assay.errors import DataError, NotConverged, ParameterError
from assay.models.cluster.mixture import options

SHAPES = ("full", "tied", "diag", "spherical")
RNG = np.random.default_rng(0)
IRIS = load_iris().data
MEANS = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 2.0], [0.0, 5.0, -1.0]])
X = np.concatenate([m + RNG.standard_normal((n, 3)) @ np.diag(s) for m, n, s in zip(
    MEANS, (200, 120, 80), ([1.0, 0.5, 1.0], [0.7, 0.7, 1.5], [1.0, 1.0, 0.4]), strict=True)])  # fmt: skip
START = {"weights_init": [0.3, 0.3, 0.4], "means_init": X[[0, 250, 350]]}
PRECISIONS = {
    "full": np.tile(np.eye(3), (3, 1, 1)),
    "tied": np.eye(3),
    "diag": np.ones((3, 3)),
    "spherical": np.ones(3),
}


def steps(model, n):
    """Fit with exactly n steps."""
    with pytest.warns(NotConverged):
        return model.set_params(max_iter=n, tol=0.0).fit(X)


def begun(shape, **options):
    return GaussianMixture(3, covariance_type=shape, precisions_init=PRECISIONS[shape], **START, **options)


@pytest.mark.parametrize("shape", SHAPES)
def test_steps_from_one_start_are_scikit_learns(shape):
    mine = steps(begun(shape), 6)
    peer = PeerMixture(3, covariance_type=shape, reg_covar=0.0, precisions_init=PRECISIONS[shape], **START)
    with pytest.warns(UserWarning, match="did not converge"):
        peer.set_params(max_iter=6, tol=0.0).fit(X)
    assert mine.lower_bound_ == pytest.approx(peer.score(X), abs=1e-11)
    # scikit-learn tells the value before its last step
    assert mine.log_likelihoods_[-2] / len(X) == pytest.approx(peer.lower_bound_, abs=1e-11)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        np.testing.assert_allclose(getattr(mine, name), getattr(peer, name), atol=1e-9)
    np.testing.assert_allclose(mine.score_samples(X), peer.score_samples(X), atol=1e-9)
    np.testing.assert_allclose(mine.predict_proba(X), peer.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(mine.predict(X), peer.predict(X))
    assert mine.bic(X) == pytest.approx(peer.bic(X), rel=1e-12) == pytest.approx(mine.bic_, rel=1e-12)
    assert mine.aic(X) == pytest.approx(peer.aic(X), rel=1e-12) == pytest.approx(mine.aic_, rel=1e-12)


@pytest.mark.parametrize(
    ("k", "shape", "bic"),
    [
        (1, "spherical", 1804.0854), (1, "diag", 1522.1202), (1, "tied", 829.9782), (1, "full", 829.9782),
        (2, "spherical", 1012.2352), (2, "diag", 857.5515), (2, "tied", 688.0972), (2, "full", 574.0178),
    ],
)  # fmt: skip
def test_iris_has_the_bic_that_mclust_gives(k, shape, bic):
    # R's mclust, models VII, VVI, EEE and VVV; its sign is the other one
    model = GaussianMixture(k, covariance_type=shape, tol=1e-8, max_iter=500, random_state=0).fit(IRIS)
    assert model.bic_ == pytest.approx(bic, abs=6e-4)


def test_one_component_is_the_sample_mean_and_the_covariance_of_maximum_likelihood():
    model = GaussianMixture().fit(X)
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0), atol=1e-13)
    np.testing.assert_allclose(model.covariances_[0], np.cov(X.T, bias=True), atol=1e-12)
    normal = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True))
    np.testing.assert_allclose(model.score_samples(X), normal.logpdf(X), atol=1e-11)
    assert model.residual_ < 1e-12 and model.converged_


@pytest.mark.parametrize("shape", SHAPES)
def test_planted_components_are_found_with_the_heaviest_first(shape):
    model = GaussianMixture(3, covariance_type=shape, random_state=0).fit(X)
    np.testing.assert_allclose(model.weights_, [0.5, 0.3, 0.2], atol=0.02)
    np.testing.assert_allclose(model.means_, MEANS, atol=0.4)
    assert np.mean(model.predict(X) == np.repeat([0, 1, 2], [200, 120, 80])) > 0.97


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 1000), shape=st.sampled_from(SHAPES), k=st.integers(1, 4), floor=st.sampled_from([1e-6, 0.2])
)
def test_the_likelihood_never_falls_and_responsibilities_sum_to_one(seed, shape, k, floor):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 2)) + 50.0
    model = GaussianMixture(
        k,
        covariance_type=shape,
        floor=floor,
        tol=1e-7,
        max_iter=1000,
        init_params="random_from_data",
        random_state=seed,
    ).fit(rows)
    assert np.all(np.diff(model.log_likelihoods_) >= 0.0)
    assert len(model.log_likelihoods_) in (model.n_iter_, model.n_iter_ + 1)
    shares = model.predict_proba(rows)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-14)
    assert shares.min() >= 0.0
    assert model.score_samples(rows).sum() == pytest.approx(model.log_likelihood_, rel=1e-11)
    assert model.weights_.sum() == pytest.approx(1.0, abs=1e-12)


def test_the_floor_bounds_every_direction_in_standardised_columns():
    rows = np.concatenate([X[:50], np.tile(X[0], (50, 1))]) * [1.0, 1e4, 1e-4]
    scale = rows.std(axis=0)
    for shape in ("full", "tied", "diag"):
        model = GaussianMixture(2, covariance_type=shape, floor=1e-2, random_state=0).fit(rows)
        S = model.covariances_ if shape != "tied" else model.covariances_[None]
        if shape == "diag":
            S = np.stack([np.diag(line) for line in S])
        least = [np.linalg.eigvalsh(each / scale / scale[:, None]).min() for each in S]
        assert min(least) >= 1e-2 * (1 - 1e-10)
        assert (model.floored_.sum() > 0) == (min(least) < 1e-2 * (1 + 1e-10))
    assert GaussianMixture(2, floor=1e-2, random_state=0).fit(rows).floored_.max() == 3  # collapsed onto the copies


def test_at_the_end_one_more_step_changes_nothing():
    model = GaussianMixture(2, tol=1e-12, max_iter=2000, random_state=0).fit(IRIS)
    assert model.converged_ and model.residual_ < 1e-5
    loose = GaussianMixture(2, tol=1e-2, random_state=0).fit(IRIS)
    assert loose.residual_ > model.residual_


@pytest.mark.parametrize("shape", ["full", "tied", "diag"])
def test_units_of_columns_do_not_matter(shape):
    units = np.array([2.0**40, 1.0, 2.0**-30])
    plain, other = (GaussianMixture(3, covariance_type=shape, random_state=1).fit(rows) for rows in (X, X * units))
    np.testing.assert_allclose(other.means_, plain.means_ * units, rtol=1e-9, atol=1e-20)
    np.testing.assert_allclose(other.predict_proba(X * units), plain.predict_proba(X), atol=1e-9)
    assert other.log_likelihood_ == pytest.approx(plain.log_likelihood_ - len(X) * np.log(units).sum(), rel=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_data_far_from_zero_are_described_as_well_as_data_near_it(shape):
    near = steps(begun(shape), 5)
    far = begun(shape, max_iter=5, tol=0.0).set_params(means_init=START["means_init"] + 1e8)
    with pytest.warns(NotConverged):
        far.fit(X + 1e8)
    np.testing.assert_allclose(far.covariances_, near.covariances_, atol=1e-6)
    np.testing.assert_allclose(far.score_samples(X + 1e8), near.score_samples(X), atol=1e-5)


def test_the_order_of_rows_and_of_columns_does_not_matter():
    order, columns = RNG.permutation(len(X)), [2, 0, 1]
    given_means = np.asarray(START["means_init"])
    a = GaussianMixture(3, **START).fit(X)
    b = GaussianMixture(3, weights_init=START["weights_init"], means_init=given_means[:, columns]).fit(
        X[order][:, columns]
    )
    np.testing.assert_allclose(b.means_, a.means_[:, columns], atol=1e-8)
    assert b.log_likelihood_ == pytest.approx(a.log_likelihood_, rel=1e-10)


def test_components_keep_the_order_of_given_means():
    given_means = MEANS[[2, 1, 0]]
    model = GaussianMixture(3, means_init=given_means).fit(X)
    np.testing.assert_allclose(model.means_, given_means, atol=0.4)
    assert model.weights_[0] < model.weights_[1] < model.weights_[2]


def test_the_same_seed_gives_the_same_model_and_more_starts_are_never_worse():
    hard = RNG.standard_normal((80, 2))
    options = {"tol": 1e-4, "max_iter": 1000, "random_state": 3}
    one, again = (GaussianMixture(4, **options).fit(hard) for _ in range(2))
    np.testing.assert_array_equal(one.means_, again.means_)
    assert GaussianMixture(4, n_init=4, **options).fit(hard).log_likelihood_ >= one.log_likelihood_


def test_float32_is_computed_in_float64():
    narrow = X.astype(np.float32)
    a, b = GaussianMixture(3, random_state=0).fit(narrow), GaussianMixture(3, random_state=0).fit(narrow.astype(float))
    assert a.means_.dtype == np.float64
    np.testing.assert_allclose(a.means_, b.means_, rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_source_in_many_blocks_gives_what_the_array_gives(shape, monkeypatch):
    whole = GaussianMixture(3, covariance_type=shape, random_state=0).fit(X)
    monkeypatch.setattr("assay.data.source.BLOCK_ROWS", 37)
    source = assay.read(pa.table({f"x{j}": X[:, j] for j in range(3)}))
    model = GaussianMixture(3, covariance_type=shape, random_state=0).fit(source)
    np.testing.assert_allclose(model.means_, whole.means_, atol=1e-10)
    np.testing.assert_allclose(model.covariances_, whole.covariances_, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(source), whole.predict_proba(X), atol=1e-9)
    assert list(model.feature_names_in_) == ["x0", "x1", "x2"]
    renamed = assay.encode(assay.read(pa.table({f"y{j}": X[:, j] for j in range(3)})))
    with pytest.raises(DataError, match="fitted on columns x0, x1, x2; these data have y0, y1, y2"):
        model.predict(renamed)


def test_sampled_rows_have_the_moments_of_the_law_and_repeat():
    for shape in SHAPES:
        model = GaussianMixture(3, covariance_type=shape, random_state=0).fit(X)
        rows, labels = model.sample(40_000)
        np.testing.assert_array_equal(rows, model.sample(40_000)[0])
        np.testing.assert_allclose(np.bincount(labels) / 40_000, model.weights_, atol=0.01)
        S = model.covariances_ if shape == "tied" else model.covariances_[0]
        S = np.diag(np.broadcast_to(S, 3)) if shape in ("diag", "spherical") else S
        np.testing.assert_allclose(np.cov(rows[labels == 0].T), S, atol=0.06)
        np.testing.assert_allclose(rows[labels == 0].mean(axis=0), model.means_[0], atol=0.04)
    assert not np.array_equal(rows, model.sample(40_000, random_state=9)[0])


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("shape", ["full", "tied", "diag"])
def test_a_constant_column_has_no_say(shape, at):
    wide = np.insert(X, at, 7.0, axis=1)
    with_it, without = (GaussianMixture(3, covariance_type=shape, random_state=0).fit(rows) for rows in (wide, X))
    assert with_it.log_likelihood_ == pytest.approx(without.log_likelihood_, rel=1e-12)
    assert with_it.bic_ == pytest.approx(without.bic_, rel=1e-12)
    np.testing.assert_array_equal(with_it.means_[:, at], 7.0)
    np.testing.assert_array_equal(with_it.sample(5)[0][:, at], 7.0)
    np.testing.assert_array_equal(with_it.covariances_[..., at], 0.0)
    np.testing.assert_allclose(with_it.predict_proba(wide), without.predict_proba(X), atol=1e-12)


def test_spherical_components_count_a_constant_column_as_scikit_learn_does():
    wide = np.insert(X, 1, 7.0, axis=1)
    mine = GaussianMixture(1, covariance_type="spherical").fit(wide)
    peer = PeerMixture(1, covariance_type="spherical", reg_covar=0.0).fit(wide)
    assert mine.log_likelihood_ == pytest.approx(peer.score(wide) * len(X), rel=1e-12)
    assert mine.bic_ == pytest.approx(peer.bic(wide), rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_fewer_distinct_rows_than_components_leave_some_without_weight(shape):
    rows = np.repeat(X[:3], 5, axis=0)
    model = GaussianMixture(5, covariance_type=shape, random_state=0).fit(rows)
    np.testing.assert_allclose(model.weights_, [1 / 3, 1 / 3, 1 / 3, 0, 0], atol=1e-12)
    assert len(set(model.predict(rows))) == 3
    assert model.floored_[0] == (1 if shape == "spherical" else 3)
    assert np.isfinite(model.log_likelihood_)


@pytest.mark.parametrize("shape", SHAPES)
def test_more_columns_than_rows_and_two_rows_are_described(shape):
    wide = np.random.default_rng(0).standard_normal((12, 40))
    model = GaussianMixture(2, covariance_type=shape, random_state=0).fit(wide)
    assert np.isfinite(model.score_samples(wide)).all()
    if shape == "full":  # m rows span m - 1 directions, the others are held
        sizes = np.bincount(model.predict(wide), minlength=2)
        np.testing.assert_array_equal(model.floored_, 40 - (sizes - 1))
    assert GaussianMixture(2, covariance_type=shape).fit(wide[:2]).weights_.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("factor", [1e-120, 1e120])
def test_tiny_and_huge_units_are_no_trouble_within_the_range_of_squares(factor):
    plain, scaled = (GaussianMixture(2, means_init=X[[0, 250]] * f).fit(X * f) for f in (1.0, factor))
    np.testing.assert_allclose(scaled.weights_, plain.weights_, rtol=1e-9)
    np.testing.assert_allclose(scaled.means_ / factor, plain.means_, rtol=1e-9)


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_beyond_that_range_the_column_is_named(factor):
    with pytest.raises(DataError, match="column 0 runs from .* leave the range of floating point numbers; rescale"):
        GaussianMixture().fit(X * factor)


def test_new_rows_however_far_have_finite_densities_and_shares():
    model = GaussianMixture(3, random_state=0).fit(X)
    far = np.array([[1.7e308, -1.7e308, 0.0], [1e200, 1e200, 1e200]])
    assert np.isfinite(model.score_samples(far)).all()
    np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1.0)


@pytest.mark.parametrize(("value", "word"), [(np.nan, r"missing \(NaN\)"), (np.inf, "infinite")])
def test_what_is_not_finite_is_refused_with_its_place(value, word):
    rows = X.copy()
    rows[7, 2] = value
    with pytest.raises(DataError, match=f"row 7, column 2 is {word}"):
        GaussianMixture(2).fit(rows)
    source = assay.encode(assay.read(pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})))
    model = GaussianMixture(2, random_state=0).fit(source)
    gap = assay.read(pa.table({"a": X[:3, 0], "b": pa.array([1.0, None, 2.0]), "c": X[:3, 2]}))
    with pytest.raises(DataError, match="row 1, column 'b' is missing"):
        model.predict(gap)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 0}, "n_components is a whole number, at least 1; got 0"),
        ({"n_components": 2.0}, "n_components is a whole number, at least 1; got 2.0"),
        ({"max_iter": 0}, "max_iter is a whole number, at least 1; got 0"),
        ({"n_init": True}, "n_init is a whole number, at least 1; got True"),
        ({"covariance_type": "round"}, "covariance_type is one of 'full', 'tied', 'diag', 'spherical'; got 'round'"),
        ({"tol": -1.0}, "tol is a number >= 0; got -1.0"),
        ({"floor": 0.0}, "floor is a share of the variance from 1e-12 to 1; got 0.0"),
        ({"init_params": "guess"}, "init_params is 'kmeans' or 'random_from_data'; got 'guess'"),
        ({"means_init": [[0.0, 0.0]]}, r"means_init has shape \(1, 3\) here; got \(1, 2\)"),
        ({"weights_init": [0.7]}, "weights_init is not negative and sums to 1; it sums to 0.7"),
        ({"weights_init": [np.nan]}, r"weights_init holds finite numbers only; entry \[0\] is nan"),
        ({"precisions_init": -np.eye(3)[None]}, "precisions_init is symmetric and positive definite; number 0 is not"),
        ({"precisions_init": [-1.0], "covariance_type": "spherical"}, "precisions_init is positive; the smallest"),
    ],
)  # fmt: skip
def test_impossible_options_are_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        GaussianMixture(**options).fit(X)


def test_too_few_rows_and_no_spread_are_refused():
    with pytest.raises(DataError, match="n_components is at most the number of rows; got 5 for 4 rows: ask for fewer"):
        GaussianMixture(5).fit(X[:4])
    with pytest.raises(ValueError, match="1 sample"):
        GaussianMixture().fit(X[:1])
    with pytest.raises(DataError, match="every column is constant, so there is no spread to describe"):
        GaussianMixture().fit(np.ones((5, 2)))


def test_stopping_early_warns_with_the_gain_of_the_last_step():
    with pytest.warns(NotConverged, match=r"EM stopped after 1 steps, .* \(tol=0\): raise max_iter or tol"):
        model = begun("full", max_iter=1, tol=0.0).fit(X)
    assert not model.converged_ and model.n_iter_ == 1


def test_arguments_are_left_as_they_were():
    rows, means = X.copy(), np.array(START["means_init"])
    GaussianMixture(3, means_init=means).fit(rows).predict(rows)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(means, START["means_init"])


def test_the_choice_by_bic_is_the_least_of_its_table_and_its_model_is_fitted():
    found = choose_components(X, [3, 1, 4], random_state=0)
    assert found.n_components.tolist() == [1, 3, 4] and found.covariance_types == SHAPES
    i = found.n_components.tolist().index(found.chosen)
    j = SHAPES.index(found.covariance_type)
    assert found.bic[i, j] == found.bic.min() == pytest.approx(found.model.bic(X), rel=1e-11)
    assert (found.chosen, found.covariance_type) == (3, "diag")
    assert found.converged.all() and found.floored.sum() == 0
    np.testing.assert_allclose(found.bic[0, :2], 2 * [GaussianMixture().fit(X).bic_])


def test_the_choice_reads_a_source_and_refuses_an_empty_range():
    source = assay.read(pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}))
    assert choose_components(source, [1, 3], ["diag"], random_state=0).chosen == 3
    with pytest.raises(ParameterError, match="name at least one mixture to try; got none"):
        choose_components(X, [])


def test_a_start_at_the_top_is_one_step_away_from_the_end():
    ended = GaussianMixture(3, tol=1e-10, max_iter=1000, random_state=0).fit(X)
    again = GaussianMixture(
        3, weights_init=ended.weights_, means_init=ended.means_, precisions_init=ended.precisions_, tol=1e-9
    ).fit(X)
    assert again.n_iter_ == 1 and again.converged_
    assert again.log_likelihood_ == pytest.approx(ended.log_likelihood_, rel=1e-11)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_a_warm_start_goes_on_where_the_last_fit_ended(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    X = 6.0 * rng.standard_normal((3, 4))[y] + rng.standard_normal((900, 4))
    model = GaussianMixture(3, covariance_type=kind, warm_start=True, tol=1e-9, max_iter=500, random_state=0)
    model.fit(X[:800])
    cold = GaussianMixture(3, covariance_type=kind, tol=1e-9, max_iter=500, random_state=0).fit(X)
    before = model.means_
    first = model.score(X)
    model.fit(X)
    # EM never falls from where it begins, and both ends are the same maximum
    assert model.log_likelihoods_[0] == pytest.approx(first * 900, rel=1e-9)
    assert model.lower_bound_ == pytest.approx(cold.lower_bound_, abs=1e-7)
    assert (np.linalg.norm(model.means_ - before, axis=1) < 1.0).all()  # numbered as before
    model.set_params(n_components=2).fit(X)  # another shape begins anew
    assert model.means_.shape == (2, 4)
    constant = np.column_stack([X, np.ones(900)])
    model.fit(constant)
    constant[:, 4] = rng.standard_normal(900)
    assert np.isfinite(model.fit(constant).lower_bound_)


@pytest.mark.parametrize("far", [0.0, 50.0])
def test_few_rows_take_the_step_of_k_means_that_many_take(monkeypatch, far):
    means = np.vstack([MEANS[:2], MEANS[2] + far])  # the last has no rows where it is far
    few = options._one_step(X, means)
    monkeypatch.setattr(options, "_FEW", 0)
    many = options._one_step(X, means)
    np.testing.assert_array_equal(few[0], many[0])
    np.testing.assert_allclose(few[1], many[1], rtol=0, atol=1e-13)  # sums of 200 numbers below 10
