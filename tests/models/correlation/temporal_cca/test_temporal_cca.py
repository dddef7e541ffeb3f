from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import assay
from assay import CCA, HeldOutRidge, TemporalCCA
from assay.data.source import ArrowSource
from assay.errors import DataError, ParameterError
from assay.models.correlation.temporal_cca.lagged import LaggedMoments


def leading_series(n=400, delay=4, noise=1.0, seed=0, p=3, q=5):
    """One hidden series, seen in X now and in y `delay` steps later, both under noise of their own."""
    rng = np.random.default_rng(seed)
    hidden = np.convolve(rng.standard_normal(n + 40), np.ones(3) / np.sqrt(3.0), "same")[20:-20]
    x = np.outer(hidden, rng.standard_normal(p)) + noise * rng.standard_normal((n, p))
    later = np.roll(hidden, delay)
    y = np.outer(later, rng.standard_normal(q)) + noise * rng.standard_normal((n, q))
    return x, y


def stacked_rows(X, Y, lags):
    low, high = min(0, *lags), max(0, *lags)
    t = np.arange(-low, len(X) - high)
    return X[t], np.hstack([Y[t + lag] for lag in lags])


@pytest.mark.parametrize("lags", [3, [0], [2, 5], [-3, 0, 1], range(-2, 3)])
def test_it_is_cca_of_rows_stacked_with_their_lags(lags):
    X, Y = leading_series(150)
    known = list(range(-lags, lags + 1)) if isinstance(lags, int) else list(lags)
    temporal = TemporalCCA(lags=lags, ridge=(0.1, 0.2)).fit(X, Y)
    x, y = stacked_rows(X, Y, known)
    plain = CCA(ridge=(0.1, 0.2)).fit(x, y)
    np.testing.assert_allclose(temporal.canonical_correlations_, plain.canonical_correlations_, atol=1e-11)
    np.testing.assert_allclose(temporal.x_weights_, plain.x_weights_, atol=1e-9)
    np.testing.assert_allclose(temporal.y_weights_.reshape(y.shape[1], -1), plain.y_weights_, atol=1e-9)
    np.testing.assert_allclose(temporal.y_loadings_.reshape(y.shape[1], -1), plain.y_loadings_, atol=1e-9)
    assert temporal.n_samples_ == len(x) and temporal.lags_.tolist() == known


@pytest.mark.parametrize("delay", [0, 3, 7, -4])
def test_a_planted_delay_is_found_under_noise_in_several_channels(delay):
    X, Y = leading_series(400, delay, noise=1.5)
    found = TemporalCCA(1, lags=range(-8, 9)).fit(X, Y)
    assert found.delay_ == delay
    assert found.canonical_correlogram_.shape == (17, 1)


def test_the_correlogram_is_that_of_the_scores():
    X, Y = leading_series(200)
    cca = TemporalCCA(2, lags=[1, 4, 6]).fit(X, Y)
    t = np.arange(0, 194)
    u = cca.transform(X)[t]
    for i, lag in enumerate(cca.lags_):
        part = Y[t + lag] @ cca.y_weights_[i]
        for j in range(2):
            assert cca.canonical_correlogram_[i, j] == pytest.approx(np.corrcoef(u[:, j], part[:, j])[0, 1], abs=1e-10)


def test_the_delay_of_the_leading_indicator_of_sales_is_three():
    folder = next(p for p in Path(__file__).parents if p.name == "tests").parent.parent / "shared/data/bjsales_lead"
    if not folder.exists():
        pytest.skip("shared data are not here")
    series = pd.read_csv(folder / "bjsales.csv")
    lead, sales = np.diff(series["lead"]), np.diff(series["sales"])
    found = TemporalCCA(lags=range(-8, 9)).fit(lead[:, None], sales)
    assert found.delay_ == 3
    # cross-correlations of the differences (README of the data): 0.720 at 3, -0.380 at 2, over slightly fewer rows here
    at = dict(zip(found.lags_.tolist(), np.abs(found.canonical_correlogram_[:, 0]), strict=True))
    assert at[3] == pytest.approx(0.720, abs=0.02) and at[2] == pytest.approx(0.380, abs=0.03)
    backwards = TemporalCCA(lags=range(-8, 9)).fit(sales[:, None], lead)
    assert backwards.delay_ == -3


def test_scores_of_both_sides_correlate_as_said_and_rows_without_all_lags_have_none():
    X, Y = leading_series(200)
    cca = TemporalCCA(2, lags=[-2, 0, 5], ridge=0.0).fit(X, Y)
    missing = np.isnan(cca.transform(X, Y)[1]).any(axis=1)
    assert np.flatnonzero(missing).tolist() == [0, 1, 195, 196, 197, 198, 199]
    np.testing.assert_allclose(cca.correlations(X, Y), cca.canonical_correlations_, atol=1e-10)
    assert cca.fit_transform(X, Y).shape == (200, 2)


def test_several_series_are_kept_apart():
    X, Y = leading_series(300)
    groups = np.repeat(["b", "a", "c"], [120, 100, 80])
    cca = TemporalCCA(lags=range(5), ridge=0.01).fit(X, Y, groups=groups)
    stacked = [stacked_rows(X[groups == g], Y[groups == g], range(5)) for g in "abc"]
    plain = CCA(ridge=0.01).fit(*(np.concatenate(side) for side in zip(*stacked, strict=True)))
    np.testing.assert_allclose(cca.canonical_correlations_, plain.canonical_correlations_, atol=1e-11)
    assert cca.n_samples_ == 300 - 3 * 4


def test_lagged_moments_gathered_in_pieces_fit_as_the_whole():
    X, Y = leading_series(200)
    both = np.hstack([X, Y])
    pieces = [LaggedMoments.of([both[a:b]], 6) for a, b in ((0, 3), (3, 90), (90, 200))]
    cca = TemporalCCA().fit_lagged(pieces[0] + pieces[1] + pieces[2], 3)
    np.testing.assert_allclose(cca.x_weights_, TemporalCCA().fit(X, Y).x_weights_, atol=1e-10)
    with pytest.raises(ParameterError, match="split says how many of the 8 columns are X's, 1 to 7; got 8"):
        TemporalCCA().fit_lagged(pieces, 8)


def test_a_ridge_is_chosen_by_stretches_of_time():
    X, Y = leading_series(300, noise=3.0, p=10, q=8)
    cca = TemporalCCA(1, lags=range(7), ridge=HeldOutRidge((0.001, 0.1, 10.0), cv=3)).fit(X, Y)
    table = np.zeros((3, 3))
    parts = np.array_split(np.arange(300), 3)
    whole = [np.concatenate(side) for side in zip(*(stacked_rows(X[p], Y[p], range(7)) for p in parts), strict=True)]
    total = stacked_rows(X, Y, range(7))
    units = [side.std(axis=0, ddof=1) for side in total]
    fold = np.repeat([0, 1, 2], 94)
    for i, rx in enumerate((0.001, 0.1, 10.0)):
        for j, ry in enumerate((0.001, 0.1, 10.0)):
            sums = np.zeros(3)
            for f in range(3):
                old = [side[fold != f] / unit for side, unit in zip(whole, units, strict=True)]
                new = [side[fold == f] / unit for side, unit in zip(whole, units, strict=True)]
                u, v = (s.ravel() for s in CCA(1, ridge=(rx, ry), scale=False).fit(*old).transform(*new))
                sums += [u @ v, u @ u, v @ v]
            table[i, j] = sums[0] / np.sqrt(sums[1] * sums[2])
    np.testing.assert_allclose(cca.held_out_table_, table, atol=1e-9)
    assert cca.n_samples_ == 294  # the final pairs use the rows across the cuts too
    with pytest.raises(DataError, match="3 stretches of time with all lags need at least 24 rows of each series; one"):
        TemporalCCA(lags=range(7), ridge=HeldOutRidge(cv=3)).fit(X[:20], Y[:20])


def test_a_source_is_read_in_blocks():
    X, Y = leading_series(200, p=2, q=1)
    source = ArrowSource(pa.table({"a": X[:, 0], "b": X[:, 1], "later": Y[:, 0]}))
    cca = TemporalCCA(lags=6).fit(source, "later")
    assert cca.delay_ == TemporalCCA(lags=6).fit(X, Y).delay_ and cca.y_names_.tolist() == ["later"]


class TestEdges:
    @pytest.mark.parametrize("lags", [-1, [], [1, 1], [0.5], "now", True, None])
    def test_lags_that_cannot_be_are_refused(self, lags):
        with pytest.raises(ParameterError, match="lags is a whole number of steps, not negative, or a sequence"):
            TemporalCCA(lags=lags).fit(*leading_series(50))

    def test_too_few_rows_for_the_lags_are_refused(self):
        X, Y = leading_series(50)
        with pytest.raises(DataError, match="lags from -60 to 60 leave 0 of 50 rows with all of them"):
            TemporalCCA(lags=60).fit(X, Y)

    def test_what_is_not_finite_is_named(self):
        X, Y = leading_series(50)
        Y[7, 2] = np.nan
        with pytest.raises(DataError, match="row 7, column 'y2' is missing"):
            TemporalCCA().fit(X, Y)

    def test_a_constant_column_has_no_weight_and_far_from_zero_nothing_changes(self):
        X, Y = leading_series(200)
        near = TemporalCCA(lags=6).fit(X, Y)
        far = TemporalCCA(lags=6).fit(np.column_stack([X + 1e8, np.full(200, 1e8)]), Y - 1e8)
        assert (far.x_weights_[-1] == 0).all() and far.delay_ == near.delay_
        np.testing.assert_allclose(far.canonical_correlations_, near.canonical_correlations_, atol=1e-6)

    def test_it_is_saved_as_data(self, tmp_path):
        X, Y = leading_series(100)
        cca = TemporalCCA(lags=[-1, 0, 4]).fit(X, Y)
        cca.save(tmp_path / "model")
        back = assay.load(tmp_path / "model")
        for one, other in zip(back.transform(X, Y), cca.transform(X, Y), strict=True):
            np.testing.assert_array_equal(one, other)
