"""What PCA says beyond coordinates: likelihood, quality, contributions, columns that took no part."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA as PeerPCA

from assay import PCA, Moments
from assay.errors import DataError

DECATHLON = json.loads(
    (Path(__file__).parents[1] / "oracles" / "data" / "factominer" / "decathlon.json").read_text(encoding="utf-8")
)


def decathlon():
    """Ten events, then rank and points and the competition, of 41 athletes."""
    table = pd.DataFrame(DECATHLON["rows"], columns=DECATHLON["columns"])
    return table.iloc[:, :10], table.iloc[:, 10:12], table["Competition"]


def rows(n=60, d=7, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + rng.standard_normal(d)


class TestLikelihood:
    @pytest.mark.parametrize(("n", "d"), [(60, 7), (20, 40)])
    @pytest.mark.parametrize("k", [1, 3, 7])
    def test_it_is_scikit_learns(self, n, d, k):
        X, unseen = rows(n, d), rows(9, d, seed=1)
        ours, peer = PCA(k).fit(X), PeerPCA(k, svd_solver="full").fit(X)
        # relative to |x|^2 / noise, with the condition of the covariance, below 1e6 here
        np.testing.assert_allclose(ours.score_samples(unseen), peer.score_samples(unseen), rtol=1e-9)
        assert ours.score(X) == pytest.approx(peer.score(X), rel=1e-9)
        np.testing.assert_allclose(ours.get_covariance(), peer.get_covariance(), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours.get_precision(), peer.get_precision(), rtol=1e-7, atol=1e-7)
        assert ours.noise_variance_ == pytest.approx(peer.noise_variance_, rel=1e-9, abs=1e-12)

    def test_of_standardised_columns_it_is_the_density_in_their_own_units(self):
        X = rows() * [1.0, 10.0, 0.1, 1.0, 5.0, 1.0, 1.0]
        pca = PCA(3, scale=True).fit(X)
        normal = multivariate_normal(X.mean(axis=0), pca.get_covariance())
        np.testing.assert_allclose(pca.score_samples(X), normal.logpdf(X), rtol=1e-9)
        np.testing.assert_allclose(pca.get_precision() @ pca.get_covariance(), np.eye(7), atol=1e-9)

    def test_sparse_rows_moments_and_whitening_change_nothing(self):
        X = rows()
        expected = PCA(2).fit(X).score_samples(X)
        for pca in (PCA(2).fit_moments(Moments.of(X)), PCA(2, whiten=True).fit(X), PCA(2).fit(sparse.csr_matrix(X))):
            np.testing.assert_allclose(pca.score_samples(sparse.csr_matrix(X)), expected, rtol=1e-9)

    def test_on_unseen_rows_it_is_best_with_the_planted_number_of_axes(self):
        rng = np.random.default_rng(0)
        W = rng.standard_normal((3, 12)) * 2.0
        X, unseen = (rng.standard_normal((n, 3)) @ W + rng.standard_normal((n, 12)) for n in (200, 2000))
        assert 1 + np.argmax([PCA(k).fit(X).score(unseen) for k in range(1, 9)]) == 3

    @pytest.mark.parametrize("k", [2, 3, None])
    def test_rows_in_a_plane_have_no_density(self, k):
        flat = np.random.default_rng(0).standard_normal((30, 2)) @ np.array(
            [[1.0, 0.0, 2.0, 1.0], [0.0, 1.0, 1.0, 1.0]]
        )
        pca = PCA(k).fit(flat)
        with pytest.raises(DataError, match="there is no density; keep fewer axes"):
            pca.score(flat)
        with pytest.raises(DataError, match="keep fewer axes"):
            pca.get_precision()
        np.testing.assert_allclose(pca.get_covariance(), np.cov(flat, rowvar=False), atol=1e-9)
        assert np.isfinite(PCA(1).fit(flat).score(flat))


class TestDecathlon:
    """FactoMineR's table; eigenvalues and correlations are those of its documentation, the rest prince's."""

    def test_eigenvalues(self):
        events, _, _ = decathlon()
        pca = PCA(scale=True).fit(events)
        np.testing.assert_allclose(pca.eigenvalues_, DECATHLON["pca"]["eigenvalues"], rtol=1e-9)
        # as FactoMineR prints them
        np.testing.assert_allclose(pca.eigenvalues_[:3], [3.2719055, 1.7371310, 1.4049167], atol=5e-8)

    def test_quality_and_contributions_of_columns_and_rows(self):
        events, _, _ = decathlon()
        pca, peer = PCA(3, scale=True).fit(events), DECATHLON["pca"]
        np.testing.assert_allclose(pca.column_cos2_, peer["column_cos2"], atol=1e-9)
        np.testing.assert_allclose(pca.column_contributions_, peer["column_contributions"], atol=1e-9)
        np.testing.assert_allclose(pca.row_cos2(events)[:6], peer["row_cos2"], atol=1e-9)
        np.testing.assert_allclose(pca.row_contributions(events)[:6], peer["row_contributions"], atol=1e-9)

    def test_numbers_that_took_no_part(self):
        events, others, _ = decathlon()
        pca = PCA(3, scale=True).fit(events)
        seen = pca.supplementary(events, others)
        assert seen.names == ("Rank", "Points")
        peer = np.array(DECATHLON["pca"]["supplementary"])
        np.testing.assert_allclose(np.abs(seen.coordinates), np.abs(peer), atol=1e-9)
        np.testing.assert_allclose(seen.cos2, peer**2, atol=1e-9)

    def test_levels_that_took_no_part_lie_in_the_middle_of_their_rows(self):
        events, _, competition = decathlon()
        pca = PCA(3, scale=True).fit(events)
        seen = pca.supplementary(events, competition)
        assert seen.names == ("Competition = Decastar", "Competition = OlympicG")
        F, inside = pca.transform(events), (competition == "OlympicG").to_numpy()
        np.testing.assert_allclose(seen.coordinates[1], F[inside].mean(axis=0), atol=1e-12)
        # v.test of FactoMineR: middle / sqrt(lambda / n_k * (n - n_k) / (n - 1)), lambda with 1 / n
        n, nk = len(F), inside.sum()
        v_test = F[inside].mean(axis=0) / np.sqrt(F.var(axis=0) / nk * (n - nk) / (n - 1))
        np.testing.assert_allclose(seen.z[1], v_test, rtol=1e-9)
        full = ((events - events.mean()) / events.std())[inside].mean().to_numpy()
        np.testing.assert_allclose(seen.cos2[1], F[inside].mean(axis=0) ** 2 / (full @ full), rtol=1e-9)


@pytest.mark.parametrize("options", [{}, {"whiten": True}, {"scale": True}, {"solver": "gram"}])
def test_quality_and_contributions_add_up(options):
    X = rows()
    pca = PCA(**options).fit(X)
    for share in (pca.row_cos2(X).sum(axis=1), pca.column_cos2_.sum(axis=1)):
        np.testing.assert_allclose(share, 1.0, rtol=1e-9)
    for share in (pca.row_contributions(X).sum(axis=0), pca.column_contributions_.sum(axis=0)):
        np.testing.assert_allclose(share, 1.0, rtol=1e-9)


def test_a_row_at_the_centre_and_a_constant_column_have_no_quality():
    X = np.column_stack([[-1.0, 0.0, 1.0], [0.5, 0.0, -0.5], [2.0, 2.0, 2.0]])
    pca = PCA().fit(X)
    np.testing.assert_array_equal(pca.row_cos2(X)[1], 0.0)
    np.testing.assert_array_equal(pca.column_cos2_[2], 0.0)
    assert np.isfinite(pca.row_contributions(X)).all()


def test_rows_without_a_value_are_left_out_for_their_column_only():
    X = rows()
    other, text = X[:, 0] + 1.0, np.where(X[:, 1] > 0, "up", "down").astype(object)
    pca = PCA(2).fit(X)
    gappy = pd.DataFrame({"x": np.where(np.arange(60) < 5, np.nan, other), "way": [None, *text[1:]]})
    seen = pca.supplementary(X, gappy)
    assert seen.names == ("x", "way = down", "way = up")
    F = pca.transform(X)
    np.testing.assert_allclose(seen.correlations[0, 0], np.corrcoef(other[5:], F[5:, 0])[0, 1], rtol=1e-9)
    np.testing.assert_allclose(seen.correlations[1], -seen.correlations[2], rtol=1e-9)


def test_columns_that_know_nothing_of_an_axis_have_standard_normal_z():
    rng = np.random.default_rng(3)
    X = rows()
    seen = PCA(1).fit(X).supplementary(X, rng.standard_normal((60, 2000)))
    # of 2000 the share beyond 1.96 has a standard error of .005, their variance one of .03
    assert abs((np.abs(seen.z) > 1.96).mean() - 0.05) < 0.02
    assert abs(seen.z.var() - 1.0) < 0.13


def test_what_cannot_be_seen_along_axes_is_refused():
    X = rows()
    pca = PCA(2).fit(X)
    with pytest.raises(DataError, match="column 'other 1' has 2 values; at least 3"):
        pca.supplementary(X, np.where(np.arange(60) < 2, 1.0, np.nan))
    with pytest.raises(DataError, match="column 0 holds 'a' and 1; the levels"):
        pca.supplementary(X, pd.DataFrame({"mixed": ["a", 1] * 30}))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        pca.supplementary(X, np.ones(7))
