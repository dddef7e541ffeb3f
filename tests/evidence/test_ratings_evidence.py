"""Levels and tastes in ratings: found where they are, and not where they are not."""

import numpy as np
import pytest

import assay
from assay import Ratings, ratings_evidence
from assay.errors import DataError, ParameterError
from assay.evidence import ratings as module
from assay.models.prediction.recommender import als


def drawn(seed, *, kind="levels", n=60, d=40, share=0.4):
    """Ratings with levels of users and items, and what else is asked for."""
    rng = np.random.default_rng(seed)
    levels = 0.6 * rng.normal(size=(n, 1)) + 0.6 * rng.normal(size=d)
    noise = rng.normal(size=(n, d))
    if kind == "nothing":
        levels = levels * 0.0
    if kind == "uneven":  # some users, some items are noisier
        noise = noise * np.exp(0.5 * rng.normal(size=(n, 1))) * np.exp(0.3 * rng.normal(size=d))
    if kind == "stretched":  # some users use more of the scale
        levels = 0.6 * rng.normal(size=(n, 1)) + np.exp(0.5 * rng.normal(size=(n, 1))) * 0.8 * rng.normal(size=d)
    if kind == "tastes":
        levels = 2.0 * levels + 0.7 * rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
    M = levels + noise
    if kind == "stars":  # five of them, and most ratings near the end
        M = np.clip(np.round(3.8 + M), 1, 5)
    M[rng.random((n, d)) > share] = np.nan
    return Ratings.of_matrix(M)


@pytest.fixture(scope="module")
def tastes():
    return ratings_evidence(drawn(1, kind="tastes"), draws=59)


@pytest.fixture(scope="module")
def levels():
    return ratings_evidence(drawn(100), draws=59)


def test_planted_tastes_and_levels_are_supported(tastes):
    found = tastes
    for what in ("users", "items", "tastes"):
        evidence = found.evidence(what)
        assert evidence.verdict == "supported"
        assert evidence.interval[0] > 0.0 and evidence.q <= 0.05
    assert found.error("factors")[0] < found.error("scales")[0] < found.error("mean")[0]
    assert found.alpha is not None


def test_levels_without_tastes_are_told_apart(levels):
    found = levels
    assert found.users.verdict == found.items.verdict == "supported"
    assert found.tastes.verdict == "not distinguishable from chance"
    assert abs(found.tastes.held_out) < 0.05


def test_where_there_is_nothing_nothing_is_found():
    found = ratings_evidence(drawn(5, kind="nothing"), draws=19)
    assert {found.evidence(what).verdict for what in ("users", "items", "tastes")} == {
        "not distinguishable from chance"
    }


def test_the_errors_of_the_yardsticks_are_those_of_numpy(levels):
    seen, found = drawn(100), levels
    z = (seen.value - seen.mean) / seen.value.std()
    folds = seen.folds(module.FOLDS, 0)
    assert len(found.rmse) == 4 * module.FOLDS
    for fold in range(module.FOLDS):
        test = folds == fold
        mean = z[~test].mean()
        sizes = np.bincount(seen.user[~test], minlength=seen.n_users)
        level = np.bincount(seen.user[~test], z[~test] - mean, seen.n_users) / (sizes + module.BETA)
        wanted = [np.mean((z[test] - mean) ** 2), np.mean((z[test] - mean - level[seen.user[test]]) ** 2)]
        np.testing.assert_allclose(found.rmse[fold, :2], np.sqrt(wanted) * seen.value.std(), rtol=1e-10)


def test_scale_and_shift_of_the_ratings_change_no_verdict_and_no_share():
    seen = drawn(4, kind="tastes", n=30, d=20)
    a = ratings_evidence(seen, draws=19)
    b = ratings_evidence(seen.with_values(20.0 * seen.value - 1000.0), draws=19)
    np.testing.assert_allclose(b.gains, a.gains, atol=1e-6)
    np.testing.assert_allclose(b.rmse, 20.0 * a.rmse, rtol=1e-6)
    assert a.tastes.p == b.tastes.p


def test_the_same_seed_gives_the_same_evidence():
    a, b = (ratings_evidence(drawn(6, n=30, d=20), draws=19, random_state=3) for _ in range(2))
    assert a.tastes == b.tastes and a.users == b.users
    np.testing.assert_array_equal(a.rmse, b.rmse)


def test_draws_of_chance_keep_what_is_not_in_question():
    seen = drawn(7, kind="stars")
    rng = np.random.default_rng(0)
    for group in (seen.user, seen.item):
        again = module._within(seen.value, group, rng)
        assert (again != seen.value).mean() > 0.3
        for one in np.unique(group):
            assert sorted(again[group == one]) == sorted(seen.value[group == one])
    residuals = module._residuals(seen)(rng)
    z = seen.with_values(seen.value - seen.mean)
    base = als.biases(z, module.BETA)
    both = base.user_bias[seen.user] + base.item_bias[seen.item]
    # levels stay: what is drawn goes with them as the ratings do
    assert np.corrcoef(residuals, both)[0, 1] > 0.8 * np.corrcoef(seen.value, both)[0, 1]


def test_scales_beat_levels_where_users_stretch_them():
    seen = drawn(8, kind="stretched", n=120, share=0.6)
    z = seen.with_values((seen.value - seen.mean) / seen.value.std())
    test = z.folds(5, 0) == 0
    train = z.subset(~test)
    base = als.biases(train, module.BETA)
    bent = als.slopes(train, base, 5.0, module.BETA)
    held = z.user[test], z.item[test], z.value[test]
    assert module._missed(bent, *held) < 0.97 * module._missed(base, *held)


def test_users_who_are_copies_are_left_out_and_counted():
    M = np.random.default_rng(9).normal(size=(30, 20))
    found = ratings_evidence(Ratings.of_matrix(np.vstack([M, M[:4]])), draws=19)
    assert found.ratings.n_users == 30
    assert found.notes[0] == "Users who gave the same ratings to the same items as another, left out: 4."


def test_of_many_ratings_the_densest_are_drawn_anew():
    rng = np.random.default_rng(10)
    busy = rng.random((150, 1)) * rng.random(100) < 0.2
    seen = Ratings.of_matrix(np.where(busy, rng.normal(size=(150, 100)), np.nan))
    core = module._core(seen, 800)
    assert 500 <= len(core) <= 800
    assert core.density > 1.5 * seen.density
    number = {(u, i): r for u, i, r in zip(seen.user, seen.item, seen.value, strict=True)}
    for u, i, r in zip(core.user, core.item, core.value, strict=True):
        assert number[int(core.users[u]), int(core.items[i])] == r


def test_orders_are_measured_beside_popularity(tastes):
    found = tastes
    assert set(found.ranking) == {"popularity", "biases", "factors"}
    for measures in found.ranking.values():
        for mean, low, high in measures:
            assert 0.0 <= low <= mean <= high <= 1.0
    assert found.ranking["factors"][1][0] > found.ranking["popularity"][1][0]


def test_the_errors_are_drawn(levels):
    found = levels
    assert list(found.plot().figures) == ["Errors on held-out ratings", "Who rated, and what was rated"]
    assert assay.plot(found).figures


def test_too_little_is_refused():
    with pytest.raises(DataError, match="nothing can be said of these ratings: it takes 8 users"):
        ratings_evidence([("a", "x", 1), ("b", "x", 2)])
    with pytest.raises(DataError, match="it takes 150 ratings"):
        ratings_evidence(Ratings.of_matrix(np.random.default_rng(0).normal(size=(10, 10))))
    with pytest.raises(DataError, match="all ratings are the same"):
        ratings_evidence(Ratings.of_matrix(np.ones((20, 20))))
    with pytest.raises(ParameterError, match="draws are at least 19"):
        ratings_evidence(drawn(0), draws=5)


@pytest.mark.calibrate
@pytest.mark.parametrize("kind", ["levels", "stars", "uneven", "stretched"])
def test_tastes_are_rarely_supported_where_there_are_none(kind):
    # of 60 at most 8: a true rate of 5% passes with probability .99, one of 25% is noticed with probability .98
    verdicts = [ratings_evidence(drawn(100 + s, kind=kind), random_state=s).tastes.verdict for s in range(60)]
    assert verdicts.count("supported") <= 8


# of 30 at least 27: a true rate of 98% passes with probability .99, one of 75% is noticed with probability .96
@pytest.mark.calibrate
def test_two_planted_factors_are_found():
    tables = (drawn(100 + s, kind="tastes", n=100, d=50, share=0.6) for s in range(30))
    verdicts = [ratings_evidence(table, draws=59, random_state=s).tastes.verdict for s, table in enumerate(tables)]
    assert verdicts.count("supported") >= 27


@pytest.mark.calibrate
def test_of_a_thousand_ratings_planted_factors_are_beyond_chance_though_their_gain_is_not_always_sure():
    """Sixteen ratings of each user: in about half of the tables the interval of the gain reaches below zero."""
    found = [ratings_evidence(drawn(100 + s, kind="tastes"), random_state=s).tastes for s in range(30)]
    assert sum(evidence.verdict in ("supported", "suggestive") for evidence in found) >= 27
    assert all(
        evidence.verdict == "supported" for evidence in found if evidence.q <= 0.05 and evidence.interval[0] > 0.0
    )
