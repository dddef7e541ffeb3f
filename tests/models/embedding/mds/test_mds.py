"""MDS: stress falls and is what it is called, ranks alone suffice, gaps and weights count, new rows are placed."""

import csv
import inspect
from pathlib import Path

import numpy as np
import pytest
import sklearn.manifold as peers
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.isotonic import IsotonicRegression

import assay
from assay import MDS
from assay.errors import DataError, NotConverged, ParameterError

CITIES = next(p for p in Path(__file__).parents if p.name == "tests").parent.parent / "shared/data/city_distances"


def of(D, k=2, **options):
    return MDS(k, metric="precomputed", **options).fit(D)


def rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@settings(max_examples=12, deadline=None)
@given(n=st.integers(4, 25), d=st.integers(1, 5), seed=st.integers(0, 999), metric=st.booleans())
def test_the_stress_history_never_rises_and_the_best_start_is_kept(n, d, seed, metric):
    mds = MDS(2, metric_mds=metric, n_init=3, random_state=seed).fit(rows(n, d, seed))
    assert (np.diff(mds.stress_history_) <= 0.0).all()
    assert mds.stress_history_[-1] == mds.stresses_[mds.start_] == pytest.approx(mds.stresses_.min(), abs=1e-6)
    assert len(mds.stresses_) == 3 and len(mds.stress_history_) == mds.n_iter_ + 1


def test_distances_of_points_in_the_plane_are_kept():
    X = rows(40, 2)
    assert pdist(MDS(2).fit(X).embedding_) == pytest.approx(pdist(X))
    assert pdist(of(cdist(X, X)).embedding_) == pytest.approx(pdist(X), abs=1e-5)


def test_the_figures_are_what_their_formulas_say():
    rng = np.random.default_rng(1)
    D, W = cdist(*(rows(30, 6),) * 2), rng.random((30, 30)) + 0.1
    W += W.T
    for mds in (of(D, weights=W), of(D, weights=W, metric_mds=False)):
        d, t, w = pdist(mds.embedding_), squareform(mds.disparities_, checks=False), squareform(W, checks=False)
        raw = (w * (t - d) ** 2).sum()
        assert mds.stress_ == pytest.approx(raw)
        assert mds.stress1_ == pytest.approx(np.sqrt(raw / (w * d**2).sum()))
        assert mds.normalized_stress_ == pytest.approx(raw / (w * t**2).sum())
    assert mds.stresses_.min() == pytest.approx(mds.stress1_)


def peer_of(D, init, n_init, *, ranks=False):
    """scikit-learn's map; before 1.8 it began at random places, whatever one would have liked."""
    known = inspect.signature(peers.MDS).parameters
    now = {"metric": "precomputed", "metric_mds": not ranks, "init": init}
    how = now if "init" in known else {"dissimilarity": "precomputed", "metric": not ranks}
    return peers.MDS(2, n_init=n_init, random_state=0, **how).fit(D)


def test_the_stress_is_no_higher_than_scikit_learns():
    D = cdist(*(rows(80, 6),) * 2)
    assert of(D, n_init=1).stress_ <= peer_of(D, "classical_mds", 1).stress_
    from_random = peer_of(D, "random", 4)
    assert of(D, random_state=0).stress_ <= from_random.stress_ * 1.02


def test_the_stress_of_ranks_is_no_higher_than_scikit_learns():
    D = cdist(*(rows(60, 5),) * 2)
    ours = of(D, metric_mds=False, n_init=1)
    peer = peer_of(D, "classical_mds", 1, ranks=True)
    d = pdist(peer.embedding_)
    t = IsotonicRegression().fit_transform(squareform(D), d)
    assert ours.stress1_ <= np.sqrt(((d - t) ** 2).sum() / (d**2).sum())


def test_disparities_are_the_isotonic_regression_of_the_distances():
    D = cdist(*(rows(30, 5),) * 2)
    mds = of(D, metric_mds=False, ties="secondary")
    d = pdist(mds.embedding_)
    expected = IsotonicRegression().fit_transform(squareform(D), d)
    assert squareform(mds.disparities_) == pytest.approx(expected)
    # as large as the dissimilarities in the mean square
    assert (d**2).mean() == pytest.approx((squareform(D) ** 2).mean())


@pytest.mark.parametrize("ties", ["primary", "secondary"])
def test_only_the_order_counts_without_metric(ties):
    D = cdist(*(rows(25, 4),) * 2)
    bent = np.expm1(2 * D)
    plain, other = (of(M, metric_mds=False, ties=ties, n_init=1) for M in (D, bent))
    # the classical starts differ, so that the ends may, by a little
    assert plain.stress1_ == pytest.approx(other.stress1_, rel=0.05)
    steps = np.round(D)
    primary, secondary = (of(steps, metric_mds=False, ties=ties) for ties in ("primary", "secondary"))
    assert primary.stress1_ <= secondary.stress1_ + 1e-6


def test_ranks_alone_give_a_plane_back():
    X = rows(60, 2)
    assert procrustes(X, of(cdist(X, X) ** 3, metric_mds=False).embedding_)[2] < 1e-3


def test_missing_pairs_are_made_good_by_the_others():
    X, rng = rows(40, 2), np.random.default_rng(3)
    D = cdist(X, X)
    gaps = np.triu(rng.random(D.shape) < 0.5, 1)
    holes = np.where(gaps | gaps.T, np.nan, D)
    mds = of(holes)
    assert pdist(mds.embedding_) == pytest.approx(pdist(X), abs=1e-2)
    assert np.isnan(mds.dissimilarity_matrix_).sum() == 2 * gaps.sum()
    # a weight of zero says the same as a missing value
    wrong = np.where(gaps | gaps.T, 99.0, D)
    weighted = of(wrong, weights=(~(gaps | gaps.T)).astype(float))
    assert weighted.stress_ == pytest.approx(mds.stress_, abs=1e-9)
    assert weighted.embedding_ == pytest.approx(mds.embedding_, abs=1e-4)
    ranks = of(holes, metric_mds=False)
    assert np.isnan(ranks.disparities_).sum() == 2 * gaps.sum() and ranks.stress1_ < 0.01


def test_equal_weights_of_any_size_change_nothing():
    D = cdist(*(rows(20, 4),) * 2)
    plain = of(D, n_init=1)
    for weight in (1e-300, 2.0, 1e300):
        heavy = of(D, n_init=1, weights=np.full(D.shape, weight))
        assert heavy.stress1_ == pytest.approx(plain.stress1_, rel=1e-6)


def test_a_heavy_pair_is_kept_better():
    D = cdist(*(rows(20, 6),) * 2)
    W = np.ones_like(D)
    W[0, 1] = W[1, 0] = 1000.0
    light, heavy = (abs(pdist(mds.embedding_)[0] - D[0, 1]) for mds in (of(D), of(D, weights=W)))
    assert heavy < 0.1 * light


def test_known_pairs_that_fall_apart_are_refused():
    D = np.where(np.kron(np.eye(2), np.ones((3, 3))) > 0, 1.0, np.nan)
    np.fill_diagonal(D, 0.0)
    with pytest.raises(DataError, match="fall apart into 2 groups: nothing links row 0 and row 3 "):
        of(D)


@pytest.mark.parametrize("metric", [True, False])
def test_fitted_rows_are_placed_where_they_are(metric):
    X = rows(30, 5)
    mds = MDS(2, metric_mds=metric).fit(X)
    assert np.array_equal(mds.transform(X), mds.embedding_)


def test_new_rows_come_to_their_distances_and_no_place_nearby_is_better():
    X, new = rows(40, 2), rows(6, 2, seed=1)
    mds = MDS(2).fit(X)
    assert cdist(mds.transform(new), mds.embedding_) == pytest.approx(cdist(new, X), abs=1e-4)
    X, new = rows(40, 6), rows(6, 6, seed=1)
    mds = MDS(2).fit(X)
    placed, targets = mds.transform(new), cdist(new, X)

    def stress(places):
        return ((cdist(places, mds.embedding_) - targets) ** 2).sum(axis=1)

    for shift in np.random.default_rng(2).standard_normal((20, 1, 2)) * 0.01:
        assert (stress(placed) <= stress(placed + shift)).all()


def test_new_rows_are_read_by_the_fitted_ranks_and_gaps_in_them_are_allowed():
    X, new = rows(60, 2), rows(5, 2, seed=1)
    bent = of(cdist(X, X) ** 2, metric_mds=False)
    placed = bent.transform(cdist(new, X) ** 2)
    both = procrustes(np.vstack([X, new]), np.vstack([bent.embedding_, placed]))
    assert both[2] < 1e-2
    mds = of(cdist(X, X))
    holes = cdist(new, X)
    holes[:, ::2] = np.nan
    assert cdist(mds.transform(holes), mds.embedding_) == pytest.approx(cdist(new, X), abs=1e-3)
    with pytest.raises(DataError, match="row 1 .* has no known dissimilarity"):
        mds.transform([np.ones(60), np.full(60, np.nan)])


def test_the_same_seed_gives_the_same_bits_and_rows_may_come_in_any_order():
    X = rows(40, 4)
    first, second = (MDS(2, random_state=3).fit(X) for _ in range(2))
    assert np.array_equal(first.embedding_, second.embedding_)
    order = np.random.default_rng(0).permutation(40)
    turned = np.linalg.qr(rows(4, 4, seed=5))[0]
    plain, other = (MDS(2, n_init=1, tol=1e-7).fit(M).embedding_ for M in (X, (X @ turned)[order] + 1e3))
    assert other == pytest.approx(plain[order], abs=1e-3)


@pytest.mark.parametrize("unit", [1e-300, 1e150, 1e300])
@pytest.mark.parametrize("metric", [True, False])
def test_the_map_is_the_same_in_any_unit(unit, metric):
    D = cdist(*(rows(15, 3),) * 2)
    plain, scaled = (of(M, metric_mds=metric, n_init=1, tol=1e-7) for M in (D, D * unit))
    assert scaled.embedding_ / unit == pytest.approx(plain.embedding_, abs=1e-4)
    assert scaled.stress1_ == pytest.approx(plain.stress1_)
    assert scaled.transform(D * unit) / unit == pytest.approx(scaled.embedding_ / unit)


@pytest.mark.parametrize("metric", [True, False])
@pytest.mark.parametrize(
    "X",
    [np.zeros((5, 3)), np.array([[0.0], [1.0]]), np.repeat(np.eye(2), 5, axis=0), np.ones((2, 1))],
    ids=["constant", "two rows", "duplicates", "two equal rows"],
)
def test_few_different_points_give_a_finite_map_with_their_distances(X, metric):
    mds = MDS(2, metric_mds=metric).fit(X)
    assert pdist(mds.embedding_) == pytest.approx(pdist(X)) and mds.stress1_ < 1e-7
    # an equal row may stand for a row; their places differ by the rounding of n sums over n points
    rounding = len(X) ** 2 * np.finfo(float).eps * np.abs(mds.embedding_).max()
    np.testing.assert_allclose(mds.transform(X), mds.embedding_, rtol=0, atol=rounding)


def test_axes_that_classical_scaling_leaves_flat_are_used():
    # the broken triangle has one positive eigenvalue; the second axis of its start would be zero for ever
    D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    mds = of(D, 2, n_init=1)
    assert mds.converged_ and mds.embedding_.any(axis=0).all()
    assert of(np.ones((5, 5)) - np.eye(5), 4).stress1_ < 1e-3


def test_roads_give_the_map_of_bavaria_from_lengths_and_from_their_order():
    if not CITIES.exists():
        pytest.skip("the city distances are not here")

    def table(name):
        with (CITIES / name).open() as file:
            return np.array([[float(cell) for cell in row[1:]] for row in list(csv.reader(file))[1:]])

    roads, true = table("bays29_road.csv"), table("bays29_map_xy.csv")
    for metric in (True, False):
        flat, placed, _ = procrustes(true, of(roads, metric_mds=metric).embedding_)
        assert np.corrcoef(flat.ravel(), placed.ravel())[0, 1] > 0.995


def test_stopping_early_is_said_and_a_callback_may_stop_on_purpose():
    X, seen = rows(40, 6), []
    with pytest.warns(NotConverged, match="after 2 iterations a Guttman transform still moves the points by"):
        early = MDS(2, max_iter=2, n_init=1).fit(X)
    assert not early.converged_ and early.n_iter_ == 2

    def third(start, iteration, stress):
        seen.append(stress)
        return iteration == 3

    stopped = MDS(2, n_init=1).fit(X, callback=third)
    assert stopped.n_iter_ == 3 and seen == pytest.approx(stopped.stress_history_[1:])


def test_a_saved_model_places_new_rows_alike(tmp_path):
    X, new = rows(20, 3), rows(4, 3, seed=1)
    for name, model, unseen in [
        ("rows", MDS(2).fit(X), new),
        ("ranks", of(cdist(X, X), metric_mds=False), cdist(new, X)),
    ]:
        model.save(tmp_path / name)
        loaded = assay.load(tmp_path / name)
        assert np.array_equal(loaded.transform(unseen), model.transform(unseen))
        assert np.array_equal(loaded.disparities_, model.disparities_)


def test_refusals_say_what_is_allowed():
    X = rows(5, 2)
    for options, message in [
        ({"n_components": 6}, "from 1 to the number of rows, 5; got 6"),
        ({"n_components": 0}, "n_components is an integer of at least 1; got 0"),
        ({"n_init": 0}, "n_init is an integer of at least 1; got 0"),
        ({"max_iter": 1.5}, "max_iter is an integer of at least 1; got 1.5"),
        ({"tol": -1}, "tol is a number of at least 0; got -1"),
        ({"ties": "both"}, "ties is 'primary' or 'secondary'; got 'both'"),
        ({"metric": "mahalanobis"}, "metric must be .* or a function of two rows, is 'mahalanobis'"),
        ({"weights": np.ones((2, 2))}, r"shape of the dissimilarities, \(5, 5\); have \(2, 2\)"),
    ]:
        with pytest.raises(ParameterError, match=message):
            MDS(**options).fit(X)
    with pytest.raises(DataError, match="row 3, column 1 .* is NaN"):
        X[3, 1] = np.nan
        MDS().fit(X)


def test_older_words_of_scikit_learn_mean_the_same():
    D = cdist(X := np.random.default_rng(5).standard_normal((25, 3)), X)
    by_order = MDS(metric_mds=False, random_state=0).fit(X)
    assert np.array_equal(MDS(metric=False, random_state=0).fit(X).embedding_, by_order.embedding_)
    given = MDS(metric="precomputed", metric_mds=False, random_state=0).fit(D)
    older = MDS(metric=False, dissimilarity="precomputed", random_state=0).fit(D)
    assert np.array_equal(older.embedding_, given.embedding_)
    assert older.__sklearn_tags__().input_tags.pairwise
