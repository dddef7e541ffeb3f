"""Mahalanobis: distances, shrinkage, the robust estimate, chances, and the columns that drive a row."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.covariance import EmpiricalCovariance, LedoitWolf, MinCovDet
from sklearn.decomposition import PCA as Peer
from sklearn.preprocessing import StandardScaler

import assay
from assay import PCA, Mahalanobis, Moments
from assay.errors import DataError, ParameterError
from assay.linalg.one_thread import one_blas_thread


def table(n, d, seed=0):
    """Correlated columns in different units."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) * np.geomspace(0.01, 100.0, d) + 3.0


def masked(n=200, d=5, share=0.15, seed=0):
    """The first rows are outliers that lie together, as wide as the others."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[: int(share * n)] += 5.0
    return X @ rng.standard_normal((d, d))


@settings(max_examples=20, deadline=None)
@given(d=st.integers(1, 8), more=st.integers(2, 60), seed=st.integers(0, 99))
def test_squared_distances_are_squared_lengths_of_whitened_principal_scores(d, more, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((d + more, d)) @ (np.eye(d) + 0.3 * rng.standard_normal((d, d))) + 3.0
    found = Mahalanobis(shrinkage=None).fit(X)
    squares = found.distance(X) ** 2
    np.testing.assert_allclose(squares, np.sum(PCA(whiten=True).fit_transform(X) ** 2, axis=1), rtol=1e-6)
    np.testing.assert_allclose(squares, np.sum(Peer(whiten=True).fit_transform(X) ** 2, axis=1), rtol=1e-6)
    np.testing.assert_allclose(found.contributions(X).sum(axis=1), squares, rtol=1e-9)
    assert squares.sum() == pytest.approx((d + more - 1) * d)  # trace of the identity


def test_distances_are_scipys_and_scikit_learns():
    X = table(90, 4)
    found = Mahalanobis().fit(X)
    # distances do not depend on units, but peers lose digits by them: in the units given the condition is 5e12
    Z, correlations = (X - X.mean(axis=0)) / X.std(axis=0), np.corrcoef(X, rowvar=False)
    rounding = len(X) * np.finfo(float).eps * np.linalg.cond(correlations)  # of sums over the rows, in the inverse
    oracle = cdist(Z, Z.mean(axis=0)[None], "mahalanobis", VI=np.linalg.inv(np.cov(Z, rowvar=False)))[:, 0]
    np.testing.assert_allclose(found.distance(X), oracle, rtol=rounding)
    peer = EmpiricalCovariance().fit(Z)
    np.testing.assert_allclose(found.score_samples(X), -peer.mahalanobis(Z) * 89 / 90, rtol=rounding)
    np.testing.assert_allclose(found.covariance_, np.cov(X, rowvar=False), rtol=1e-9, atol=1e-9)
    assert (found.route_, found.rule_, found.shrinkage_, found.ridge_) == ("moments", "none", 0.0, 0.0)


@pytest.mark.parametrize(("n", "d"), [(300, 4), (40, 25), (20, 60)])
def test_the_shrunk_covariance_is_scikit_learns_in_both_units(n, d):
    X = table(n, d)
    raw, peer = Mahalanobis(shrinkage="ledoit-wolf", scale=False).fit(X), LedoitWolf().fit(X)
    assert raw.shrinkage_ == pytest.approx(peer.shrinkage_, rel=1e-9)
    scale = np.abs(peer.covariance_).max()
    np.testing.assert_allclose(raw.covariance_ * (n - 1) / n, peer.covariance_, atol=1e-11 * scale)
    np.testing.assert_allclose(raw.distance(X) ** 2, peer.mahalanobis(X) * (n - 1) / n, rtol=1e-7)
    Z = StandardScaler().fit_transform(X)
    unit, peer = Mahalanobis(shrinkage="ledoit-wolf").fit(X), LedoitWolf().fit(Z)
    assert unit.shrinkage_ == pytest.approx(peer.shrinkage_, rel=1e-9)
    np.testing.assert_allclose(unit.distance(X) ** 2, peer.mahalanobis(Z) * (n - 1) / n, rtol=1e-7)
    np.testing.assert_allclose(unit.contributions(X).sum(axis=1), unit.distance(X) ** 2, rtol=1e-9)


@pytest.mark.parametrize("shape", [(200, 6), (10, 30)])
def test_a_ridge_is_added_to_the_covariance(shape):
    X = table(*shape)
    gap = X - X.mean(axis=0)
    for standardise, S in ((False, np.cov(X, rowvar=False)), (True, np.corrcoef(X, rowvar=False))):
        z = gap / X.std(axis=0, ddof=1) if standardise else gap
        oracle = np.einsum("ij,ij->i", z, np.linalg.solve(S + 0.3 * np.eye(shape[1]), z.T).T)
        found = Mahalanobis(shrinkage=0.3, scale=standardise).fit(X)
        np.testing.assert_allclose(-found.score_samples(X), oracle, rtol=1e-8)
        assert found.rule_ == "ridge"


def test_units_and_rotations_do_not_matter_without_shrinkage_and_units_never():
    X = masked(60, 3)
    turned = X @ np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0] * 5 - 7
    np.testing.assert_allclose(Mahalanobis().fit(turned).distance(turned), Mahalanobis().fit(X).distance(X))
    wide = table(20, 30)
    other = wide * np.geomspace(1e-3, 1e3, 30)
    np.testing.assert_allclose(Mahalanobis().fit(other).distance(other), Mahalanobis().fit(wide).distance(wide))


def test_an_estimate_that_is_not_shrunk_has_no_use_for_common_units():
    X = table(60, 4) * [1e-9, 1.0, 1e9, 1.0]
    raw = Mahalanobis(scale=False).fit(X)
    np.testing.assert_allclose(raw.distance(X), Mahalanobis().fit(X).distance(X))


def test_covariances_are_shrunk_where_rows_are_few_and_this_matters_little_where_they_are_not():
    assert Mahalanobis().fit(table(49, 10)).rule_ == "ledoit-wolf"
    assert Mahalanobis().fit(table(50, 10)).rule_ == "none"
    X = table(4000, 5)
    plain, shrunk = Mahalanobis().fit(X), Mahalanobis(shrinkage="ledoit-wolf").fit(X)
    np.testing.assert_allclose(shrunk.distance(X), plain.distance(X), rtol=0.05)


def test_more_columns_than_rows_are_fitted_without_a_square_of_columns():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 3000))
    X[7] += 0.7
    found = Mahalanobis().fit(X)
    assert (found.route_, found.rule_, found.axes_.shape) == ("gram", "ledoit-wolf", (3000, 39))
    assert found.flagged(X).tolist() == [7]
    assert found.contributions(X[:3]).shape == (3, 3000)


def test_a_fitted_row_has_the_chance_that_it_has_as_a_new_one_for_the_others():
    X = table(25, 3)
    others = Mahalanobis(shrinkage=None).fit(X[1:])
    assert Mahalanobis(shrinkage=None).fit(X).p_values(X, fitted=True)[0] == pytest.approx(others.p_values(X[:1])[0])


@pytest.mark.parametrize(("n", "d", "options"), [(40, 6, {}), (24, 12, {}), (60, 3, {"robust": True})])
def test_clean_tables_are_flagged_about_as_often_as_alpha_says(n, d, options):
    rounds = 40 if options else 200
    rng = np.random.default_rng(3)
    root = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))).T
    alarms = 0
    with one_blas_thread():
        for _ in range(rounds):
            X = rng.standard_normal((n, d)) @ root
            alarms += len(Mahalanobis(**options).fit(X).flagged(X)) > 0
    assert alarms <= 0.05 * rounds + 4 * np.sqrt(0.05 * 0.95 * rounds)


def test_predict_flags_new_rows_beyond_the_offset():
    X = table(100, 3)
    found = Mahalanobis(level=0.01).fit(X)
    gap = X[:1] - found.location_
    edge = gap * np.sqrt(found.offset_ / found.score_samples(X[:1]))
    around = found.location_ + np.vstack([edge * (1 - 1e-9), edge * (1 + 1e-9)])
    assert found.predict(around).tolist() == [1, -1]
    np.testing.assert_allclose(found.p_values(around), 0.01 / 100, rtol=1e-6)


def test_moments_sources_sparse_and_single_precision_agree():
    X = table(300, 4)
    direct = Mahalanobis().fit(X)
    for other in (
        Mahalanobis().fit_moments(Moments.of(X[:100]) + Moments.of(X[100:])),
        Mahalanobis().fit(assay.read(X)),
        Mahalanobis().fit(csr_array(X)),
    ):
        np.testing.assert_allclose(other.covariance_, direct.covariance_, rtol=1e-9, atol=1e-9)
        assert other.offset_ == pytest.approx(direct.offset_)
    np.testing.assert_allclose(Mahalanobis().fit(X.astype(np.float32)).distance(X), direct.distance(X), rtol=2e-2)
    # columns first in memory, BLAS adds the four products in another order
    rounding = 4 * np.finfo(float).eps * np.linalg.cond(np.corrcoef(X, rowvar=False))
    np.testing.assert_allclose(direct.distance(np.asfortranarray(X)), direct.distance(X), rtol=rounding)


def test_a_summary_is_shrunk_by_what_normal_rows_would_give():
    X = table(30, 15)
    by_rows, by_summary = Mahalanobis().fit(X), Mahalanobis().fit_moments(Moments.of(X))
    assert (by_rows.rule_, by_summary.rule_) == ("ledoit-wolf", "rao-blackwell")
    assert by_summary.shrinkage_ == pytest.approx(by_rows.shrinkage_, abs=0.1)
    assert Mahalanobis().fit(assay.read(X)).shrinkage_ == pytest.approx(by_rows.shrinkage_)


def test_a_source_is_scored_block_by_block_and_explained_by_the_names_of_its_columns():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((70_000, 1)) + 0.1 * rng.standard_normal((70_000, 3))
    X[69_995] = [1.0, -1.0, 1.0]
    source = assay.read(pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}))
    found = Mahalanobis().fit(source)
    np.testing.assert_allclose(found.score_samples(source), Mahalanobis().fit(X).score_samples(X), rtol=1e-7)
    told = found.explain(source, fitted=True)
    assert told.rows.tolist() == [69_995]
    assert told.drivers(0, 1)[0].column == "b" and told.drivers(0, 1)[0].share > 0.5
    assert told.contributions.sum() == pytest.approx(told.distances[0] ** 2)


def test_outliers_that_lie_together_hide_from_the_plain_estimate_but_not_from_the_robust_one():
    X = masked()
    plain, robust = Mahalanobis().fit(X), Mahalanobis(robust=True).fit(X)
    assert not set(plain.flagged(X)) & set(range(30))
    assert set(range(30)) <= set(robust.flagged(X))
    assert len(robust.flagged(X)) <= 31
    assert (robust.predict(X)[:30] == -1).all() and (plain.predict(X)[:30] == 1).all()
    assert (robust.fit_predict(X)[robust.flagged(X)] == -1).all()
    assert robust.route_ == "mcd" and not robust.support_[:30].any()


def test_the_robust_estimate_is_scikit_learns_on_the_rows_both_keep():
    X = masked(400, 4, 0.2)
    ours, peer = Mahalanobis(robust=True).fit(X), MinCovDet(random_state=0).fit(X)
    assert (ours.support_ == peer.support_).mean() > 0.97
    np.testing.assert_allclose(ours.location_, peer.location_, atol=0.1 * ours.scale_.max())
    same = np.linalg.norm(ours.covariance_ - peer.covariance_) / np.linalg.norm(peer.covariance_)
    assert same < 0.2
    # and both are near the truth, that of the rows that are no outliers
    clean = np.cov(X[80:], rowvar=False)
    assert np.linalg.norm(ours.covariance_ - clean) / np.linalg.norm(clean) < 0.1


def test_the_robust_estimate_repeats_and_takes_a_larger_share_of_clean_rows():
    X = masked(150, 3, 0.1)
    one, again = (Mahalanobis(robust=True, random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.covariance_, again.covariance_)
    assert not hasattr(again.set_params(robust=False).fit(X), "support_")
    assert set(range(15)) <= set(Mahalanobis(robust=True, support_fraction=0.85).fit(X).flagged(X))
    assert set(range(15)) & set(Mahalanobis(robust=True, support_fraction=1.0).fit(X).flagged(X)) == set()


def test_most_rows_on_a_plane_are_reported_and_the_others_are_infinitely_far():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((100, 3))
    X[:60, 2] = X[:60, 0] + X[:60, 1]
    with pytest.warns(UserWarning, match="60 of 100 rows lie exactly on a plane .* raise support_fraction"):
        found = Mahalanobis(robust=True).fit(X)
    assert found.on_plane_ == 60
    assert np.isinf(found.distance(X)[60:]).all() and np.isfinite(found.distance(X)[:60]).all()


def test_what_breaks_an_exact_relation_is_infinitely_far_in_the_columns_concerned():
    X = np.column_stack([table(80, 3), np.full(80, 7.0)])
    X = np.column_stack([X, X[:, 0]])
    found = Mahalanobis().fit(X)
    np.testing.assert_allclose(found.distance(X), Mahalanobis().fit(X[:, :3]).distance(X[:, :3]), rtol=1e-7)
    assert found.offset_ == pytest.approx(Mahalanobis().fit(X[:, :3]).offset_)
    new = X[:3].copy()
    new[1, 3] = 7.5
    new[2, 4] += 1.0
    assert np.isinf(found.distance(new)).tolist() == [False, True, True]
    assert found.p_values(new)[1:].tolist() == [0.0, 0.0]
    told = found.explain(new)
    assert told.rows.tolist() == [1, 2]
    assert told.shares.tolist() == [[0, 0, 0, 1, 0], [0.5, 0, 0, 0, 0.5]]
    # a ridge measures the same breaches
    assert np.isfinite(Mahalanobis(shrinkage=0.01).fit(X[:, [0, 1, 2, 4]]).distance(new[:, [0, 1, 2, 4]])).all()


def test_extreme_units_and_shifts_change_nothing_or_are_refused():
    X = np.round(table(80, 3) * 2**20) / 2**20
    far = Mahalanobis().fit(X).distance(X)
    np.testing.assert_allclose(Mahalanobis().fit(X + 2.0**27).distance(X + 2.0**27), far, rtol=1e-4)
    units = np.array([1e-130, 1.0, 1e130])
    np.testing.assert_allclose(Mahalanobis().fit(X * units).distance(X * units), far, rtol=1e-9)
    with pytest.raises(DataError, match="leave the range of floating point numbers; rescale the column"):
        Mahalanobis().fit(X * 1e-300)
    assert np.isinf(Mahalanobis().fit(X).distance([[1e300, 0.0, 0.0]])).all()


@pytest.mark.parametrize("n", [3, 4])
def test_a_handful_of_rows_gives_chances(n):
    X = table(n, 5)
    p = Mahalanobis().fit(X).p_values(X, fitted=True)
    assert ((p > 0.0) & (p <= 1.0)).all()


def test_what_cannot_be_is_refused_with_its_reason():
    X = table(30, 4)
    for value in ("ridge", -0.1, np.inf, True):
        with pytest.raises(ParameterError, match="shrinkage is 'auto', 'ledoit-wolf', None or a number of at least 0"):
            Mahalanobis(shrinkage=value).fit(X)
    with pytest.raises(ParameterError, match="support_fraction is a share from 0.5 to 1, or None; got 0.3"):
        Mahalanobis(support_fraction=0.3).fit(X)
    with pytest.raises(ParameterError, match="robust=True needs the rows"):
        Mahalanobis(robust=True).fit_moments(Moments.of(X))
    with pytest.raises(DataError, match="robust=True needs 5 rows for each column; there are 19 rows and 4 columns"):
        Mahalanobis(robust=True).fit(X[:19])
    with pytest.raises(DataError, match="5 rows that span 4 directions are all equally far .* at least 6 rows"):
        Mahalanobis(shrinkage=None).fit(X[:5])
    with pytest.raises(DataError, match="2 rows that span 1 directions"):
        Mahalanobis().fit(X[:2])
    with pytest.raises(DataError, match="every column is constant: there is no spread to measure distances by"):
        Mahalanobis().fit(np.ones((9, 2)))
    with pytest.raises(DataError, match="60 of 100 rows are identical: most rows have no spread"):
        Mahalanobis(robust=True).fit(np.vstack([np.zeros((60, 2)), table(40, 2)]))
    X[3, 2] = np.nan
    for robust in (False, True):
        with pytest.raises(DataError, match=r"row 3, column 2 is missing \(NaN\)"):
            Mahalanobis(robust=robust).fit(X)
    with pytest.raises(DataError, match=r"row 3, column 2 is missing \(NaN\): a distance needs finite numbers"):
        Mahalanobis().fit(table(30, 4)).predict(X)
