"""A map of rows is believed only where it keeps more neighbours than maps of shuffled columns."""

import numpy as np
import pytest

import assay
from assay.errors import ParameterError
from assay.linalg.noise.monte_carlo import student_p
from assay.models.row_maps import METHODS
from assay.questions.map.test import DRAWS, FITTED, HOPELESS, MOST_DRAWS, NEAR, row_map


def mapped(X, groups=None, seed=0):
    X = np.asarray(X, dtype=float)
    return row_map(X, np.arange(len(X)), groups=np.arange(X.shape[1]) if groups is None else groups, seed=seed)


def curve(n, d=8, noise=0.05, seed=0):
    """Rows along a curve in d dimensions: each column is another wave of one hidden number."""
    rng = np.random.default_rng(seed)
    t = rng.random(n)
    return np.sin(2 * np.pi * np.outer(t, np.arange(1, d + 1)) / 3) + noise * rng.standard_normal((n, d)), t


@pytest.fixture(scope="module")
def found():
    return mapped(curve(150)[0])


@pytest.fixture(scope="module")
def noise():
    return [mapped(np.random.default_rng(s).standard_normal((60, 4)), seed=s) for s in range(12)]


def test_a_curve_is_found_on_its_map_and_on_unseen_rows(found):
    assert found.evidence.verdict == "supported" and found.holds
    assert found.evidence.p < 1e-4
    assert found.evidence.interval[0] > found.chance.max()
    assert found.evidence.statistic > found.evidence.null.upper > found.evidence.null.median
    assert found.evidence.null.median == pytest.approx(found.chance.mean())


def test_neighbours_on_the_map_are_neighbours_on_the_curve(found):
    t = curve(150)[1]
    gaps = np.linalg.norm(found.coordinates[:, None] - found.coordinates, axis=2) + np.diag(np.full(150, np.inf))
    assert np.median(np.abs(t - t[gaps.argmin(axis=1)])) < 0.02


def test_what_is_kept_is_what_a_plain_count_of_shared_neighbours_gives(found):
    from sklearn.neighbors import NearestNeighbors

    X = curve(150)[0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    one, two = (NearestNeighbors(n_neighbors=found.k).fit(A).kneighbors()[1] for A in (Z, found.coordinates))
    counted = [len(set(a) & set(b)) / found.k for a, b in zip(one, two, strict=True)]
    np.testing.assert_allclose(found.kept, counted)
    assert found.evidence.statistic == pytest.approx(np.mean(counted))


def test_more_maps_are_drawn_where_p_is_near_the_level_and_fewer_where_it_is_clear(found, noise):
    assert len(found.chance) == DRAWS  # a curve is clear at once
    drawn = {len(m.chance) for m in noise}
    assert {MOST_DRAWS} < drawn  # of twelve tables of noise about two are near, and most far off
    for m in (found, *noise):
        first = student_p(m.evidence.statistic, m.chance[:DRAWS])
        near = NEAR[0] * 0.05 < first < NEAR[1] * 0.05
        assert near == (len(m.chance) == MOST_DRAWS) or student_p(m.evidence.statistic, m.chance[:5]) > HOPELESS


def test_rows_of_noise_are_rarely_called_more_than_noise(noise):
    p = np.array([m.evidence.p for m in noise])
    assert (p <= 0.05).sum() <= 3  # more: a chance of .002 at a true rate of 5%, of .2 at 20%, .93 at 50%
    assert p.max() > 0.3
    assert abs(np.mean([m.standing.mean() for m in noise]) - 0.5) < 0.1


def test_rows_of_structure_stand_above_those_of_shuffled_maps(found, noise):
    assert found.standing.mean() > 0.8 > max(m.standing.mean() for m in noise)
    assert found.standing.min() >= 0.0 and found.standing.max() <= 1.0


def test_indicators_of_one_category_are_no_structure():
    rng = np.random.default_rng(2)
    X = np.column_stack([np.eye(4)[rng.integers(4, size=120)], rng.standard_normal((120, 3))])
    assert mapped(X, np.array([0, 0, 0, 0, 1, 2, 3])).evidence.verdict == "not distinguishable from chance"


def test_the_same_seed_gives_the_same_map(found):
    again = mapped(curve(150)[0])
    np.testing.assert_array_equal(again.coordinates, found.coordinates)
    assert again.evidence == found.evidence


def test_scale_and_origin_of_columns_do_not_matter(found):
    X = curve(150)[0]
    moved = mapped(X * 2.0 ** np.arange(8) + 5.0)
    assert moved.evidence.statistic == pytest.approx(found.evidence.statistic, abs=0.05)
    assert moved.evidence.verdict == found.evidence.verdict


def test_read_more_strictly_the_map_loses(found, noise):
    assert found.stricter(2.0, 0.05).evidence.q == pytest.approx(2 * found.evidence.p)
    assert found.stricter(1e9, 0.05).evidence.verdict == "not distinguishable from chance"
    assert all(m.stricter(1.0, 0.05).evidence == m.evidence for m in noise)


def test_rows_beyond_those_fitted_are_placed_among_their_like():
    n = FITTED + 100
    X, t = curve(n)
    found = mapped(X)
    assert found.coordinates.shape == (n, 2) and np.isfinite(found.coordinates).all()
    fitted = np.sort(np.random.default_rng(0).permutation(n)[:FITTED])
    others = np.setdiff1d(np.arange(n), fitted)
    gaps = np.linalg.norm(found.coordinates[others][:, None] - found.coordinates[fitted], axis=2)
    assert np.median(np.abs(t[others] - t[fitted][gaps.argmin(axis=1)])) < 0.02
    assert found.kept[others].mean() > found.chance.max()


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).standard_normal((39, 5)),
        np.random.default_rng(0).standard_normal((100, 2)),
        np.column_stack([np.random.default_rng(0).standard_normal((100, 2)), np.ones(100)]),
    ],
    ids=["few rows", "two columns", "two columns that vary"],
)
def test_too_few_rows_or_columns_are_no_question(X):
    assert mapped(X) is None


def test_rows_that_are_all_alike_but_a_few_can_still_be_asked():
    X = np.zeros((60, 4))
    X[np.arange(4), np.arange(4)] = 1.0
    found = mapped(X)
    assert found is not None and np.isfinite(found.coordinates).all()


@pytest.mark.parametrize("method", [name for name in METHODS if name != "tsne"])
def test_every_method_is_judged_against_its_own_maps_of_shuffled_columns(method):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((120, 5))
    found, nothing = (
        row_map(X, np.arange(120), groups=np.arange(5), method=method)
        for X in (noise + 2.0 * rng.standard_normal((120, 1)), noise)
    )
    assert found.evidence.verdict == "supported" and found.evidence.held_out > found.chance.mean()
    assert nothing.evidence.verdict != "supported"
    assert found.evidence.method.startswith(METHODS[method].words) and found.method == method
    assert (found.evidence.stability is None) == (not METHODS[method].starts)
    assert found.numbers()["method"] == method and np.isfinite(found.coordinates).all()


def test_a_method_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match=r"got 'tsen' \(did you mean 'tsne'\?\)"):
        assay.study(np.eye(50, 3), map_method="tsen")
