"""ZScore: each column on its own, what that flags and how often."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

import assay
from assay import Moments, ZScore
from assay.errors import DataError, ParameterError
from assay.linalg.one_thread import one_blas_thread


def table(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * rng.lognormal(size=d) + rng.standard_normal(d)


@settings(max_examples=20, deadline=None)
@given(n=st.integers(3, 40), d=st.integers(1, 6), seed=st.integers(0, 99))
def test_z_scores_are_scikit_learns_but_for_n_less_one(n, d, seed):
    X = table(n, d, seed)
    found = ZScore().fit(X)
    z = StandardScaler().fit_transform(X) * np.sqrt((n - 1) / n)
    np.testing.assert_allclose(found.z_scores(X), z, atol=1e-9)
    np.testing.assert_allclose(found.score_samples(X), -np.abs(z).max(axis=1), atol=1e-9)
    np.testing.assert_allclose(found.contributions(X), z**2, atol=1e-8)


def test_chances_of_one_column_are_students():
    X = table(12, 1)
    found = ZScore().fit(X)
    new = np.array([[-3.0], [0.4], [9.0]])
    t = found.z_scores(new)[:, 0] / np.sqrt(1 + 1 / 12)
    np.testing.assert_allclose(found.p_values(new), 2 * stats.t(11).sf(np.abs(t)), rtol=1e-9)
    # a fitted row has the chance that it has as a new one for the others
    left_out = ZScore().fit(X[1:]).p_values(X[:1])
    np.testing.assert_allclose(found.p_values(X, fitted=True)[:1], left_out, rtol=1e-9)


@pytest.mark.parametrize("robust", [False, True])
def test_clean_tables_are_flagged_as_often_as_alpha_says(robust):
    rng = np.random.default_rng(1)
    mixed = np.linalg.cholesky(np.full((4, 4), 0.5) + 0.5 * np.eye(4)).T
    tables = [rng.standard_normal((60, 4)) @ mixed for _ in range(300)]
    with one_blas_thread():
        alarms = sum(len(ZScore(robust=robust).fit(X).flagged(X)) > 0 for X in tables)
    # 15 tables of 300, four standard deviations of a binomial count either way; correlation leaves it below
    assert 3 <= alarms <= 15 + 4 * np.sqrt(14.3)


def test_predict_flags_new_rows_beyond_the_offset():
    X = table(200, 3)
    found = ZScore(level=0.01).fit(X)
    edge = found.location_ - found.offset_ * found.scale_ * [1, 0, 0]
    around = edge + np.outer([-1e-6, 1e-6], [1, 0, 0])
    assert found.predict(around).tolist() == [1, -1]
    np.testing.assert_allclose(found.p_values(around), 0.01 / 200, rtol=1e-3)
    np.testing.assert_allclose(found.decision_function(X), found.score_samples(X) - found.offset_)


def test_outliers_hide_each_other_from_the_mean_but_not_from_the_median():
    X = table(100, 2)
    X[:12, 0] += 8 * X[:, 0].std()
    assert not len(ZScore().fit(X).flagged(X))
    robust = ZScore(robust=True).fit(X)
    assert robust.flagged(X).tolist() == list(range(12))
    assert robust.route_ == "median"
    np.testing.assert_allclose(robust.scale_, stats.median_abs_deviation(X, scale="normal"), rtol=1e-4)
    assert (robust.fit_predict(X) == -1).sum() == 12


def test_a_column_that_is_mostly_one_value_has_a_robust_spread_too():
    X = np.zeros((100, 1))
    X[:30, 0] = np.random.default_rng(2).standard_normal(30)
    found = ZScore(robust=True).fit(X)
    assert found.scale_[0] == pytest.approx(1.2533 * np.abs(X).mean())
    assert len(found.flagged(X)) < 10


def test_moments_sources_sparse_and_single_precision_agree():
    X = table(300, 3)
    direct = ZScore().fit(X)
    others = [
        ZScore().fit_moments(Moments.of(X[:100]) + Moments.of(X[100:])),
        ZScore().fit(csr_array(X)),
        ZScore().fit(assay.read(X)),
    ]
    for other in others:
        np.testing.assert_allclose(other.scale_, direct.scale_, rtol=1e-12)
        assert other.offset_ == pytest.approx(direct.offset_)
    np.testing.assert_allclose(ZScore().fit(X.astype(np.float32)).location_, direct.location_, atol=1e-5)
    np.testing.assert_allclose(direct.score_samples(csr_array(X)), direct.score_samples(X))


def test_a_source_is_scored_block_by_block_and_explained_by_the_names_of_its_columns():
    X = np.random.default_rng(3).standard_normal((70_000, 2))
    X[69_990, 1] = 40.0
    source = assay.read(pa.table({"height": X[:, 0], "weight": X[:, 1]}))
    found = ZScore().fit(source)
    np.testing.assert_allclose(found.score_samples(source), ZScore().fit(X).score_samples(X))
    told = found.explain(source, fitted=True)
    assert told.rows.tolist() == found.flagged(source).tolist() == [69_990]
    driver = told.drivers(0)[0]
    assert driver.column == "weight" and driver.share > 0.98 and driver.deviation == pytest.approx(39.5, abs=0.6)
    assert str(told).startswith("row 69990: 39.")


def test_what_differs_from_a_constant_column_is_infinitely_far_out():
    X = np.column_stack([table(50, 1), np.full(50, 0.1)])
    found = ZScore().fit(X)
    new = np.array([[0.0, 0.1], [0.0, 0.2]])
    assert np.isneginf(found.score_samples(new)).tolist() == [False, True]
    assert found.p_values(new)[1] == 0.0 and found.predict(new).tolist() == [1, -1]
    # the constant column does not count among those that are looked at
    assert found.offset_ == pytest.approx(ZScore().fit(X[:, :1]).offset_)
    assert found.explain(new, [1]).drivers(0, 1)[0] == ("column 1", 1.0, np.inf)


def test_extreme_units_and_shifts_change_nothing_or_are_refused():
    X = np.round(table(80, 2) * 1024) / 1024
    z = ZScore().fit(X).z_scores(X)
    np.testing.assert_allclose(ZScore().fit(X + 2.0**27).z_scores(X + 2.0**27), z, atol=1e-6)
    np.testing.assert_allclose(ZScore().fit(X * 1e-120).z_scores(X * 1e-120), z, rtol=1e-9)
    with pytest.raises(DataError, match="leave the range of floating point numbers; rescale the column"):
        ZScore().fit(X * 1e-300)
    assert np.isneginf(ZScore().fit(X * 1e-9).score_samples([[1e308, 0.0]])).all()


def test_what_cannot_be_is_refused_with_its_reason():
    X = table(30, 2)
    with pytest.raises(ParameterError, match="level is a chance between 0 and 1; got 1.5"):
        ZScore(level=1.5).fit(X)
    with pytest.raises(DataError, match="z-scores of 2 rows are all of the same size; at least 3 rows are needed"):
        ZScore().fit(X[:2])
    with pytest.raises(ParameterError, match="robust=True needs the rows"):
        ZScore(robust=True).fit_moments(Moments.of(X))
    found = ZScore().fit(X)
    with pytest.raises(DataError, match=r"row 0, column 1 is missing \(NaN\): a distance needs finite numbers"):
        found.predict([[1.0, np.nan]])
    with pytest.raises(DataError, match="row 1, column 0 is infinite"):
        found.contributions([[1.0, 1.0], [np.inf, 1.0]])
    with pytest.raises(DataError, match="the rows of fit are asked for, 30 of them; got 5: new rows are judged by"):
        found.flagged(X[:5])
    with pytest.raises(ParameterError, match="rows are numbers from 0 to 29"):
        found.explain(X, [30])
