"""The Gaussian rule: densities that SciPy gives, answers that scikit-learn gives, edges and refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

import assay
from assay import Fisher, GaussianRule, GroupedMoments
from assay.errors import DataError, ParameterError, SingularError


def classes(seed, n=120, d=4, g=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % g
    mixes = rng.standard_normal((g, d, d)) + 2 * np.eye(d)
    return np.einsum("ni,nij->nj", rng.standard_normal((n, d)), mixes[y]) + 2 * rng.standard_normal((g, d))[y], y


@pytest.mark.parametrize("priors", [None, (0.2, 0.5, 0.3)])
def test_unequal_covariances_give_the_answers_of_scikit_learn(priors):
    X, y = load_iris(return_X_y=True)
    found = GaussianRule(priors=priors).fit(X, y)
    peer = QuadraticDiscriminantAnalysis(priors=priors, store_covariance=True).fit(X, y)
    if np.allclose(peer.covariance_[0], np.cov(X[y == 0].T), rtol=1e-10):
        pytest.skip("this scikit-learn divides by one less than the 50 rows of a class")
    np.testing.assert_allclose(found.covariances_, peer.covariance_, rtol=1e-10)
    np.testing.assert_allclose(found.predict_proba(X), peer.predict_proba(X), atol=1e-11)
    np.testing.assert_array_equal(found.predict(X), peer.predict(X))
    np.testing.assert_allclose(found.predict_log_proba(X), peer.predict_log_proba(X), rtol=1e-9, atol=1e-9)


def test_equal_covariances_give_the_answers_of_fisher_and_of_scikit_learn():
    X, y = classes(0)
    found = GaussianRule("equal").fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X), Fisher().fit(X, y).predict_proba(X), atol=1e-11)
    peer = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(X, y)
    np.testing.assert_allclose(found.covariances_, peer.covariance_, rtol=1e-10)
    np.testing.assert_allclose(found.predict_proba(X), peer.predict_proba(X), atol=1e-11)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["equal", "unequal"]),
    st.sampled_from([0.1, 0.7, "auto", None]),
    st.sampled_from([3, 40]),
)
@settings(max_examples=15, deadline=None)
def test_densities_are_those_of_the_normal_laws_with_the_covariances_shown(seed, covariance, shrinkage, d):
    X, y = classes(seed, n=36, d=d)
    rule = GaussianRule(covariance, shrinkage="auto" if d > 36 and shrinkage is None else shrinkage).fit(X, y)
    assert rule.route_ == ("gram" if d > 36 else "moments")
    new = np.vstack([X[:9], X[:9] + np.random.default_rng(seed).standard_normal((9, d))])
    C = np.broadcast_to(rule.covariances_, (3, d, d))
    logs = np.stack([multivariate_normal(rule.means_[k], C[k]).logpdf(new) for k in range(3)], axis=1)
    np.testing.assert_allclose(rule.log_likelihood(new), logs, rtol=1e-7)
    joint = logs + np.log(rule.priors_)
    np.testing.assert_allclose(
        rule.predict_log_proba(new), joint - logsumexp(joint, axis=1, keepdims=True), rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("covariance", ["equal", "unequal"])
@pytest.mark.parametrize(("d", "shrinkage"), [(3, None), (200, 0.3)])
def test_the_log_likelihood_of_the_fit_is_the_sum_over_its_rows(covariance, d, shrinkage):
    X, y = classes(1, d=d)
    rule = GaussianRule(covariance, shrinkage=shrinkage, priors=(0.3, 0.3, 0.4)).fit(X, y)
    rows = rule.log_likelihood(X)[np.arange(120), y] + np.log(rule.priors_)[y]
    assert rule.log_likelihood_ == pytest.approx(rows.sum(), rel=1e-9)


def test_no_other_covariances_make_the_rows_more_likely():
    X, y = classes(2)
    best = GaussianRule().fit(X, y)
    C = best.covariances_
    for factor in (0.97, 1.03):
        other = sum(multivariate_normal(best.means_[k], factor * C[k]).logpdf(X[y == k]).sum() for k in range(3))
        assert other + 120 * np.log(1 / 3) < best.log_likelihood_


def test_automatic_shrinkage_is_that_of_ledoit_and_wolf_for_each_class():
    X, y = classes(3, n=45, d=6)
    means = np.stack([X[y == k].mean(axis=0) for k in range(3)])
    unit = np.sqrt(((X - means[y]) ** 2).sum(axis=0))
    expected = [ledoit_wolf_shrinkage((X[y == k] - means[k]) / unit, assume_centered=True) for k in range(3)]
    np.testing.assert_allclose(GaussianRule(shrinkage="auto").fit(X, y).shrinkage_, expected, rtol=1e-9)


@pytest.mark.parametrize("covariance", ["equal", "unequal"])
def test_merged_summaries_give_the_fit_of_the_rows(covariance):
    X, y = classes(4)
    merged = GaussianRule(covariance).fit_moments(GroupedMoments.of(X[:50], y[:50]) + GroupedMoments.of(X[50:], y[50:]))
    whole = GaussianRule(covariance).fit(X, y)
    np.testing.assert_allclose(merged.covariances_, whole.covariances_, rtol=1e-10)
    np.testing.assert_allclose(merged.predict_proba(X), whole.predict_proba(X), atol=1e-10)
    assert merged.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-10)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_answers_do_not_change_under_invertible_maps_and_shifts(seed):
    X, y = classes(seed)
    rng = np.random.default_rng(seed)
    T = rng.standard_normal((4, 4)) + 3 * np.eye(4)
    moved = X @ T + 100 * rng.standard_normal(4)
    a, b = GaussianRule().fit(X, y), GaussianRule().fit(moved, y)
    np.testing.assert_allclose(b.predict_proba(moved), a.predict_proba(X), atol=1e-6)
    # densities change by the volume alone
    volume = np.log(abs(np.linalg.det(T)))
    np.testing.assert_allclose(b.log_likelihood(moved) + volume, a.log_likelihood(X), rtol=1e-8, atol=1e-8)


def test_many_rows_judged_in_blocks_are_judged_like_a_few():
    X, y = classes(5, n=9000, d=12)
    rule = GaussianRule().fit(X, y)
    np.testing.assert_allclose(rule.decision_function(X)[8000:8100], rule.decision_function(X[8000:8100]), rtol=1e-9)


def test_constant_columns_are_left_out():
    X, y = classes(6)
    more = np.insert(X, 2, 3.0, axis=1)
    plain, found = GaussianRule().fit(X, y), GaussianRule().fit(more, y)
    np.testing.assert_allclose(found.predict_proba(more), plain.predict_proba(X), atol=1e-10)
    assert (found.covariances_[:, 2] == 0.0).all()


def test_rows_beyond_all_measure_still_have_a_class_and_probabilities():
    X, y = classes(7, g=2)
    X[y == 1] *= 3.0
    for covariance in ("equal", "unequal"):
        rule = GaussianRule(covariance).fit(X, y)
        proba = rule.predict_proba([[1e300, -1e300, 0, 1.7e308], [1e200, 0, 0, 0]])
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    directions = np.random.default_rng(7).standard_normal((20, 4))
    unequal = GaussianRule().fit(X, y)
    far = unequal.predict(1e6 * directions)
    assert len(set(far)) == 2
    for size in (1e150, 1e300, 1e307):
        np.testing.assert_array_equal(unequal.predict(size * directions), far)


def test_far_from_zero_the_digits_that_the_data_have_are_used():
    X, y = classes(8)
    shifted = X + 1e8
    a, b = GaussianRule().fit(shifted - 1e8, y), GaussianRule().fit(shifted, y)
    np.testing.assert_allclose(b.predict_proba(shifted), a.predict_proba(shifted - 1e8), atol=1e-9)


def test_float32_rows_are_computed_in_float64():
    X, y = classes(9)
    small = X.astype(np.float32)
    np.testing.assert_allclose(
        GaussianRule().fit(small, y).predict_proba(small),
        GaussianRule().fit(small.astype(float), y).predict_proba(small),
    )


def test_a_covariance_that_the_rows_do_not_determine_is_refused_with_the_remedy():
    X, y = classes(10, n=30, d=12)
    with pytest.raises(
        SingularError, match="12 columns needs at least 13 rows; class 0 has 10: use covariance='equal', s"
    ):
        GaussianRule().fit(X, y)
    assert GaussianRule("equal").fit(X, y).score(X, y) > 0.5
    assert GaussianRule(shrinkage="auto").fit(X, y).score(X, y) > 0.5
    with pytest.raises(
        SingularError, match="12 columns needs at least 15 rows; all 3 classes together have 9: use shr"
    ):
        GaussianRule("equal").fit(X[:9], y[:9])
    with pytest.raises(SingularError, match="class b has 1 row, without a spread: use covariance='equal'"):
        GaussianRule(shrinkage=0.5).fit(X[:9], ["a"] * 8 + ["b"])
    Z, y = classes(11)
    Z[:, 3] = Z[:, 0] + Z[:, 1]
    with pytest.raises(
        SingularError, match="column 3 is constant or follows from the columns before it in the 40 rows"
    ):
        GaussianRule().fit(Z, y)
    Z[y == 1, 0] = 2.0
    with pytest.raises(
        SingularError, match="that class 1 has: leave it out, or use covariance='equal', shrinkage='auto'"
    ):
        GaussianRule().fit(Z[:, :3], y)


def test_wrong_options_and_values_are_refused_in_words():
    X, y = classes(12)
    with pytest.raises(ParameterError, match="covariance is 'equal' or 'unequal'; got 'full'"):
        GaussianRule("full").fit(X, y)
    with pytest.raises(DataError, match="every column is constant"):
        GaussianRule().fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    X[7, 2] = np.nan
    with pytest.raises(DataError, match="row 7, column 2 is missing"):
        GaussianRule().fit(X, y)
    empty = GroupedMoments.of(X[:6], y[:6])
    with pytest.raises(DataError, match="the weight of class 1 is zero"):
        GaussianRule().fit_moments(empty - GroupedMoments.of(X[:6][y[:6] == 1], [1, 1]))


def test_a_saved_model_answers_alike(tmp_path):
    for d, shrinkage in ((4, None), (150, 0.5)):
        X, y = classes(13, d=d)
        model = GaussianRule(shrinkage=shrinkage).fit(X, y)
        model.save(tmp_path / "m")
        np.testing.assert_array_equal(assay.load(tmp_path / "m").predict_proba(X), model.predict_proba(X))
