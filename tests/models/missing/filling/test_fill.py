"""Filling in missing values: against scikit-learn, the laws of the normal fill, both encodings, refusals, files."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline

import assay
from assay import PCA, FillMissing, Moments
from assay.data.source import ArrowSource
from assay.errors import DataError, NotConverged, ParameterError
from assay.models.missing.filling import held_out_ridge

STRATEGIES = ["conditional", "constant", "indicator", "pair"]


def table(n=200, d=4, share=0.25, seed=0):
    """Correlated rows within 0 and 1, and the same with gaps in all columns but the last."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + 0.3 * rng.standard_normal((n, d))
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    Y = X.copy()
    Y[rng.random((n, d)) < share] = np.nan
    Y[:, -1] = X[:, -1]
    return X, Y


def frame(Y):
    return pd.DataFrame(Y, columns=["a", "b", "c", "e"])


@pytest.mark.parametrize(
    ("value", "peer"),
    [
        (0.0, {"strategy": "constant", "fill_value": 0.0}),
        (-7, {"strategy": "constant", "fill_value": -7.0}),
        ("mean", {"strategy": "mean"}),
    ],
)
def test_constants_are_scikit_learns(value, peer):
    Y = table()[1]
    ours = FillMissing("constant", value=value).fit(Y[:150])
    theirs = SimpleImputer(**peer).fit(Y[:150])
    np.testing.assert_allclose(ours.transform(Y), theirs.transform(Y), rtol=1e-13)
    np.testing.assert_allclose(ours.fill_, theirs.statistics_.astype(float), rtol=1e-13)


@pytest.mark.parametrize("value", [0.0, "mean"])
def test_indicators_are_scikit_learns_beside_the_filled_columns(value):
    Y = table()[1]
    found = FillMissing("indicator", value=value).set_output(transform="pandas").fit_transform(frame(Y))
    assert list(found) == ["a", "a missing", "b", "b missing", "c", "c missing", "e"]
    peer = MissingIndicator().fit_transform(Y)
    np.testing.assert_array_equal(found[["a missing", "b missing", "c missing"]], peer)
    # of the same frame: rows laid out otherwise may be summed in another order
    filled = FillMissing("constant", value=value).fit_transform(frame(Y))
    np.testing.assert_array_equal(found[["a", "b", "c", "e"]], filled)


@given(st.integers(1, 30), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_a_pair_sums_to_one_where_it_is_known_and_is_zero_where_not(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    X[rng.random((n, d)) < 0.3] = np.nan
    fill = FillMissing("pair").fit(X)
    found = fill.transform(X)
    np.testing.assert_array_equal(found[:, ::2] + found[:, 1::2], ~np.isnan(X))
    np.testing.assert_array_equal(found[:, ::2], np.nan_to_num(X))
    assert list(fill.get_feature_names_out()[:2]) == ["x0", "not x0"]


@pytest.mark.parametrize("ridge", [1e-8, 0.1])
def test_the_most_likely_value_is_the_regression_on_what_is_known(ridge):
    X, Y = table(500)
    fill = FillMissing(ridge=ridge).fit(Y)
    filled = fill.transform(Y)
    np.testing.assert_array_equal(filled[~np.isnan(Y)], Y[~np.isnan(Y)])
    i = int(np.flatnonzero(np.isnan(Y).sum(axis=1) == 2)[0])
    m, o = np.flatnonzero(np.isnan(Y[i])), np.flatnonzero(~np.isnan(Y[i]))
    S, mu = fill.covariance_, fill.mean_
    expected = mu[m] + S[np.ix_(m, o)] @ np.linalg.solve(S[np.ix_(o, o)], Y[i, o] - mu[o])
    np.testing.assert_allclose(filled[i, m], expected, rtol=1e-8)
    gaps = np.isnan(Y)
    mean = np.where(gaps, np.nanmean(Y, axis=0), Y)
    assert np.mean((filled - X)[gaps] ** 2) < 0.5 * np.mean((mean - X)[gaps] ** 2)


def test_each_column_is_the_ridge_regression_with_its_own_ridge():
    # what follows from the others wants a small ridge, what hardly does a large one, what does not at all the mean
    rng = np.random.default_rng(0)
    common = rng.standard_normal((200, 2))
    noise = rng.standard_normal((200, 8)) * [0.05, 0.05, 0.05, 0.05, 3.0, 3.0, 3.0, 3.0]
    X = 5.0 + np.hstack([common @ rng.standard_normal((2, 8)) + noise, rng.standard_normal((200, 4))])
    Y = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    fill = FillMissing().fit(Y)
    assert fill.column_ridge_[:4].max() < 0.1 * np.median(fill.column_ridge_[4:])
    np.testing.assert_allclose(fill.variance_, np.nanvar(Y, axis=0), rtol=1e-9)
    i = int(np.isnan(Y).sum(axis=1).argmax())
    o, filled = np.flatnonzero(~np.isnan(Y[i])), fill.transform(Y)
    for j in np.flatnonzero(np.isnan(Y[i])):
        expected, ridge = fill.mean_[j], fill.column_ridge_[j]
        if ridge < fill.ridge_:  # a law of its own
            (own,) = np.flatnonzero(fill.lesser_ridge_ == ridge)
            S, mu = fill.lesser_covariance_[own], fill.lesser_mean_[own]
            expected = mu[j] + S[j, o] @ np.linalg.solve(S[np.ix_(o, o)], Y[i, o] - mu[o])
        elif np.isfinite(ridge):
            S = fill.covariance_ + np.diag((ridge - fill.ridge_) * fill.variance_)
            expected += S[j, o] @ np.linalg.solve(S[np.ix_(o, o)], Y[i, o] - fill.mean_[o])
        np.testing.assert_allclose(filled[i, j], expected, rtol=1e-8)
    assert (fill.lesser_ridge_ < fill.ridge_).all() and set(fill.lesser_ridge_) <= set(fill.column_ridge_)


def test_the_law_of_a_lesser_ridge_is_where_em_with_that_ridge_goes():
    Y = holed(load_diabetes().data, 60, 0.1, seed=0)[1]
    fill = FillMissing().fit(Y)
    assert len(fill.lesser_ridge_)
    for ridge, mean, covariance in zip(fill.lesser_ridge_, fill.lesser_mean_, fill.lesser_covariance_, strict=True):
        alone = FillMissing(ridge=ridge, tol=1e-10, max_iter=5000).fit(Y)
        scale = np.sqrt(alone.variance_)
        # four steps for each ridge of the path are near, not at, the end
        np.testing.assert_allclose(mean / scale, alone.mean_ / scale, atol=0.1)
        np.testing.assert_allclose(
            covariance / scale / scale[:, None], alone.covariance_ / scale / scale[:, None], atol=0.2
        )
        assert np.linalg.norm(covariance - alone.covariance_) < np.linalg.norm(fill.covariance_ - alone.covariance_)


def test_filled_rows_leave_the_estimate_where_it_was():
    # EM's own law: at the end the filled values have the mean that filled them
    Y = table(300)[1]
    fill = FillMissing(tol=1e-12, ridge=1e-3).fit(Y)
    np.testing.assert_allclose(fill.transform(Y).mean(axis=0), fill.mean_, atol=1e-6)


def holed(X, rows, share, seed):
    """Some rows of a table, and the same with values missing completely at random."""
    rng = np.random.default_rng([seed, rows])
    X = X[rng.permutation(len(X))[:rows]]
    gaps = rng.random(X.shape) < share
    gaps[0, gaps.all(axis=0)] = False
    return X, np.where(gaps, np.nan, X)


def error(X, Y, filled):
    """Root mean square of what filled values are beside the truth, in standard deviations."""
    scale, gaps = X.std(axis=0), np.isnan(Y)
    return np.sqrt(np.mean((((filled - X) / np.where(scale > 0.0, scale, 1.0)) ** 2)[gaps]))


@pytest.mark.filterwarnings("ignore:.*IterativeImputer.*")
def test_few_rows_are_filled_better_than_by_means_and_no_worse_than_by_chained_regressions():
    tables = load_breast_cancer().data, load_digits().data[:, 16:40], load_diabetes().data
    ratios = []
    for X, (rows, share) in product(tables, ((60, 0.3), (150, 0.1))):
        X, Y = holed(X, rows, share, seed=0)
        ours = error(X, Y, FillMissing().fit_transform(Y))
        assert ours < 0.95 * error(X, Y, FillMissing("constant", value="mean").fit_transform(Y))
        ratios.append(ours / error(X, Y, IterativeImputer(keep_empty_features=True).fit_transform(Y)))
    assert np.mean(ratios) < 1.0
    assert max(ratios) < 1.1  # one draw of the gaps of so few rows


def test_columns_with_ridges_of_their_own_are_filled_better_than_with_one_for_all():
    ratios = []
    for X, rows, share, seeds in ((load_diabetes().data, 60, 0.1, 6), (load_digits().data, 150, 0.3, 1)):
        for seed in range(seeds):
            whole, Y = holed(X, rows, share, seed)
            fill = FillMissing().fit(Y)
            alike = FillMissing(ridge=fill.ridge_).fit(Y)
            ratios.append(error(whole, Y, fill.transform(Y)) / error(whole, Y, alike.transform(Y)))
    assert np.mean(ratios) < 1.0


@pytest.mark.parametrize(("n", "d"), [(60, 30), (150, 53), (300, 5), (10, 20)])
def test_where_columns_know_nothing_of_each_other_the_mean_is_filled_in(n, d):
    # a gain that chance makes passes its standard error once in six draws at most, and then costs little
    chosen = []
    for seed in range(4):
        X, Y = holed(np.random.default_rng(seed).standard_normal((n, d)), n, 0.2, seed)
        fill = FillMissing().fit(Y)
        mean = FillMissing("constant", value="mean").fit_transform(Y)
        assert error(X, Y, fill.transform(Y)) < 1.02 * error(X, Y, mean)
        chosen.append(fill.ridge_)
        if np.isinf(fill.ridge_):
            np.testing.assert_allclose(fill.transform(Y), mean, rtol=1e-12)
            assert fill.converged_ and fill.n_iter_ == 0
    assert sum(np.isinf(chosen)) >= 2


def test_the_ridge_found_is_a_ridge_to_give_and_ridges_know_no_units():
    Y = holed(load_breast_cancer().data, 90, 0.2, seed=1)[1]
    fill = FillMissing().fit(Y)
    assert 1e-3 < fill.ridge_ < 1.0
    again = FillMissing(ridge=fill.ridge_).fit(Y)
    np.testing.assert_array_equal(again.covariance_, fill.covariance_)
    assert (again.column_ridge_ == fill.ridge_).all()
    units = 10.0 ** np.arange(-15, 15)
    other = FillMissing().fit((Y + 3.0) * units)
    assert other.ridge_ == fill.ridge_
    np.testing.assert_array_equal(other.column_ridge_, fill.column_ridge_)
    np.testing.assert_allclose(other.transform((Y + 3.0) * units), (fill.transform(Y) + 3.0) * units, rtol=1e-6)


def test_columns_that_determine_each_other_are_filled_exactly_and_need_little_ridge():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 6))
    gaps = rng.random(X.shape) < 0.15
    gaps[gaps.sum(axis=1) > 3] = False
    fill = FillMissing().fit(np.where(gaps, np.nan, X))
    assert fill.ridge_ < 1e-4
    np.testing.assert_allclose(fill.transform(np.where(gaps, np.nan, X)), X, atol=1e-2)


def test_gaps_are_tried_as_they_come():
    # twins that are always missing together tell nothing when they are missing; alone they would fill each other
    rng = np.random.default_rng(3)
    twin = rng.standard_normal((150, 10))
    X = np.hstack([twin, twin + 0.01 * rng.standard_normal((150, 10))])
    gone = rng.random((150, 10)) < 0.3
    together = FillMissing().fit(np.where(np.hstack([gone, gone]), np.nan, X))
    apart = FillMissing().fit(np.where(np.hstack([gone, rng.random((150, 10)) < 0.3]), np.nan, X))
    assert together.ridge_ > 1.0 and apart.ridge_ < 0.01


def test_of_many_rows_a_sample_finds_the_ridge_and_blocks_do_not_change_it(monkeypatch):
    X, Y = holed(load_digits().data[:, 2:62:4], 1700, 0.2, seed=0)
    chosen = held_out_ridge.held_out_ridges(Y)
    in_blocks = held_out_ridge.held_out_ridges([Y[:300], Y[300:1000], Y[1000:]])
    assert chosen.table == in_blocks.table
    np.testing.assert_array_equal(chosen.columns, in_blocks.columns)
    ours = error(X, Y, FillMissing().fit_transform(Y))
    monkeypatch.setattr(held_out_ridge, "_MOST_ROWS", 2000)
    best = error(X, Y, FillMissing().fit_transform(Y))
    assert ours < 1.02 * best


def test_a_summary_of_few_rows_is_drawn_towards_independence():
    X, _ = holed(load_digits().data, 60, 0.0, seed=0)
    new, gaps = holed(load_digits().data, 300, 0.2, seed=2)
    ours, bare = (FillMissing(ridge=r).fit_moments(Moments.of(X)) for r in ("auto", 1e-8))
    mean = FillMissing("constant", value="mean").fit_moments(Moments.of(X))
    assert error(new, gaps, ours.transform(gaps)) < 0.9 * error(new, gaps, mean.transform(gaps))
    assert error(new, gaps, ours.transform(gaps)) < 0.9 * error(new, gaps, bare.transform(gaps))


def test_what_was_missing_is_told():
    Y = table()[1]
    Y[[3, 70]] = np.nan
    for strategy in STRATEGIES:
        fill = FillMissing(strategy).fit(Y)
        np.testing.assert_array_equal(fill.n_missing_, np.isnan(Y).sum(axis=0))
        assert fill.n_wholly_missing_ == len(fill.wholly_missing_) >= 2
        assert {3, 70} <= set(fill.wholly_missing_)
    fill = FillMissing().fit(Y)
    np.testing.assert_array_equal(fill.transform(Y)[3], fill.mean_)
    assert fill.converged_ and fill.n_iter_ > 0 and (np.diff(fill.log_likelihood_) > -1e-6).all()
    np.testing.assert_array_equal(fill.normal_.mean, fill.mean_)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_arrays_frames_and_sources_are_filled_alike(strategy):
    Y = table()[1]
    pandas = frame(Y)
    polars = pl.DataFrame({name: [None if np.isnan(v) else v for v in pandas[name]] for name in pandas})
    source = ArrowSource(polars.to_arrow())
    plain = FillMissing(strategy).fit(Y).transform(Y)
    for data in (pandas, polars, source):
        fill = FillMissing(strategy).fit(data)
        np.testing.assert_allclose(fill.transform(data), plain, rtol=1e-12)
        assert list(fill.feature_names_in_) == ["a", "b", "c", "e"]


def test_new_rows_are_filled_from_what_was_learned():
    Y = table(300)[1]
    fill = FillMissing().fit(Y[:200])
    together, alone = fill.transform(Y[200:]), [fill.transform(row[None])[0] for row in Y[200:]]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


def test_complete_rows_pass_through_unchanged():
    X = table()[0]
    for strategy in ("conditional", "constant", "indicator"):
        np.testing.assert_array_equal(FillMissing(strategy).fit_transform(X), X)


def test_a_summary_fills_as_the_rows_it_came_from():
    X, Y = table()
    for ridge in (1e-8, 0.1, np.inf):
        fill = FillMissing(ridge=ridge)
        from_rows, from_moments = clone(fill).fit(X), clone(fill).fit_moments(Moments.of(X))
        np.testing.assert_allclose(from_moments.transform(Y), from_rows.transform(Y), atol=1e-6)
        np.testing.assert_allclose(from_moments.covariance_, from_rows.covariance_, atol=1e-9)
    mean = FillMissing("constant", value="mean").fit_moments(Moments.of(X))
    np.testing.assert_allclose(mean.fill_, X.mean(axis=0), rtol=1e-13)
    named = FillMissing().fit_moments(Moments.of(frame(X)))
    assert list(named.get_feature_names_out()) == ["a", "b", "c", "e"]
    with pytest.raises(ParameterError, match="strategy 'indicator' needs the rows"):
        FillMissing("indicator").fit_moments(Moments.of(X))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_saved_filler_fills_alike(strategy, tmp_path):
    Y = frame(table()[1])
    fill = FillMissing(strategy).fit(Y)
    fill.save(tmp_path / "fill")
    back = assay.load(tmp_path / "fill")
    np.testing.assert_array_equal(back.transform(Y), fill.transform(Y))
    np.testing.assert_array_equal(back.get_feature_names_out(), fill.get_feature_names_out())


def test_it_stands_in_a_pipeline():
    Y = table()[1]
    scores = make_pipeline(FillMissing(), PCA(2)).fit_transform(Y)
    assert scores.shape == (200, 2) and np.isfinite(scores).all()


@pytest.mark.parametrize("strategy", ["constant", "indicator"])
def test_columns_without_any_value_take_a_constant_but_have_no_mean(strategy):
    Y = table()[1]
    Y[:, 0] = np.nan
    assert (FillMissing(strategy, value=3.0).fit_transform(Y)[:, 0] == 3.0).all()
    with pytest.raises(DataError, match="column 0 has no value in any of the 200 rows"):
        FillMissing(strategy, value="mean").fit(Y)
    with pytest.raises(DataError, match="column 'a' has no value in any of the 200 rows"):
        FillMissing().fit(frame(Y))


def test_extreme_numbers_pass_where_no_squares_are_needed():
    Y = np.array([[1e300, np.nan], [np.nan, 1e-300], [1.5e300, 3e-300]])
    means = FillMissing("constant", value="mean").fit(Y).fill_
    np.testing.assert_allclose(means, [1.25e300, 2e-300], rtol=1e-14)


def test_few_rows_and_constant_columns_are_filled():
    Y = np.array([[1.0, 5.0, np.nan], [2.0, np.nan, 0.5], [np.nan, 5.0, 0.25]])
    filled = FillMissing(ridge=0.1).fit_transform(Y)
    assert np.isfinite(filled).all() and filled[1, 1] == 5.0


def test_stopping_early_is_said():
    with pytest.warns(NotConverged, match="EM stopped after 2 steps"):
        fill = FillMissing(max_iter=2).fit(table()[1])
    assert not fill.converged_


def test_what_cannot_be_filled_is_refused():
    X, Y = table()
    bad = X.copy()
    bad[7, 2] = np.inf
    for strategy in STRATEGIES:
        with pytest.raises(DataError, match="row 7, column 'c' is infinite"):
            FillMissing(strategy).fit(frame(bad))
        with pytest.raises(DataError, match="row 7, column 'c' is infinite"):
            FillMissing(strategy).fit(frame(Y)).transform(frame(bad))
    late = Y.copy()
    late[9, 3] = np.nan
    with pytest.raises(DataError, match="row 9, column 'e' is missing, but the column had no gaps in fit"):
        FillMissing("indicator").fit(frame(Y)).transform(frame(late))
    with pytest.raises(DataError, match="within 0 and 1; column 'b' runs from .* scale it to that range first, or use"):
        FillMissing("pair").fit(frame(Y * [1, 2, 1, 1]))
    with pytest.raises(DataError, match="within 0 and 1; column 'a' runs from"):
        FillMissing("pair").fit(frame(Y)).transform(frame(Y - [1, 0, 0, 0]))
    with pytest.raises(DataError, match="the new column 'a missing' exists already: rename one of the two"):
        FillMissing("indicator").fit(pd.DataFrame({"a": [1.0, np.nan], "a missing": [0.0, 1.0]}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "median"}, "strategy is one of conditional, constant, indicator, pair; got 'median'"),
        ({"value": "median"}, "value is a finite number or 'mean'; got 'median'"),
        ({"value": np.nan}, "value is a finite number or 'mean'; got nan"),
        ({"max_iter": 0}, "max_iter is a whole number of steps"),
        ({"ridge": -0.1}, "ridge is a number >= 0 or 'auto'; got -0.1"),
        ({"ridge": "none"}, "ridge is a number >= 0 or 'auto'; got 'none'"),
    ],
)
def test_options_that_do_not_exist_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        FillMissing(**options).fit(table()[1])
