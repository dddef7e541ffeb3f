import numpy as np
import pytest
from scipy import stats

from assay.summary.moments.moments import Moments
from assay.summary.pairs.rank_shapes import COSINES, shapes, weighted_tail

ONE = np.arange(2)


def test_features_are_cosines_of_ranks_and_orthonormal():
    x = np.random.default_rng(0).standard_normal(50)
    F = shapes(x[:, None], np.zeros(1, np.intp)).F
    u = (stats.rankdata(x) - 0.5) / 50
    for j in range(1, COSINES + 1):
        # the recurrence loses at most j^2 units in the last place
        np.testing.assert_allclose(F[:, j], np.sqrt(2 / 50) * np.cos(np.pi * j * u), atol=1e-13)
    np.testing.assert_allclose(F[:, 1:].T @ F[:, 1:], np.eye(COSINES), atol=1e-12)
    np.testing.assert_allclose(np.corrcoef(F[:, 0], stats.rankdata(x))[0, 1], 1.0)


@pytest.mark.parametrize("levels", [2, 3, 5])
def test_a_number_of_few_values_has_one_feature_fewer_than_values(levels):
    x = np.random.default_rng(levels).integers(levels, size=200).astype(float)
    F = shapes(x[:, None], np.zeros(1, np.intp)).F[:, 1:]
    assert F.shape[1] == levels - 1
    np.testing.assert_allclose(F.T @ F, np.eye(levels - 1), atol=1e-12)


def test_given_the_ranks_products_merge():
    F = shapes(np.random.default_rng(1).standard_normal((90, 3)), np.arange(3)).F
    parts = Moments.of([F[:20]]) + Moments.of([F[20:50]]) + Moments.of([F[50:]])
    np.testing.assert_allclose(parts.scatter, F.T @ F, atol=1e-13)


def test_the_tail_of_three_moments_is_near_that_of_weighted_chi_squares():
    rng = np.random.default_rng(2)
    weights = np.multiply.outer(np.arange(1, 7) ** -0.5, np.arange(1, 7) ** -0.5).ravel()
    T = rng.chisquare(1, (200_000, 36)) @ weights
    for level in (0.05, 0.01, 0.001):
        p = weighted_tail(
            *(np.asarray(x) for x in (np.quantile(T, 1 - level), weights.sum(), (weights**2).sum(), (weights**3).sum()))
        )
        assert p == pytest.approx(level, rel=0.05 + 3 / np.sqrt(200_000 * level))


LAWS = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "rounded": lambda rng, shape: np.round(rng.standard_normal(shape)),
    "mostly zero": lambda rng, shape: np.where(rng.random(shape) < 0.6, 0.0, rng.standard_normal(shape)),
    "counts": lambda rng, shape: rng.poisson(0.5, shape).astype(float),
}


@pytest.mark.parametrize(
    ("n", "law"), [(20, "normal"), (50, "normal"), (50, "rounded"), (200, "mostly zero"), (200, "counts")]
)
def test_columns_that_know_nothing_of_each_other_are_called_no_more_often_than_the_level(n, law):
    # 4,950 pairs: a rate of 7% at the level of 5%, or of 1.8% at 1%, is noticed with probability .95 or more
    rng = np.random.default_rng(n)
    i, j = np.triu_indices(12, 1)
    p = np.concatenate([shapes(LAWS[law](rng, (n, 12)), np.arange(12)).chance()[i, j] for _ in range(75)])
    p = p[~np.isnan(p)]
    for level in (0.05, 0.01):
        # pairs of one table share columns: their number counts for at least two thirds, by simulation
        assert (p <= level).mean() <= level + 3 * np.sqrt(1.5 * level / len(p))


def test_the_chance_is_that_of_shuffled_rows():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(60)
    y = x**2 + rng.standard_normal(60)
    p = shapes(np.column_stack([x, y]), ONE).chance()[0, 1]
    drawn = [shapes(np.column_stack([x, rng.permutation(y)]), ONE).chance()[0, 1] for _ in range(2000)]
    share = np.mean(np.array(drawn) <= p)
    assert 0.0005 < share < 0.2  # so that the draws can tell
    assert abs(share - p) <= 0.2 * p + 4 * np.sqrt(share / 2000)


def shape_of(name, rng, n):
    x, e = rng.standard_normal((2, n))
    turn = 2 * np.pi * rng.random(n)
    return {
        "parabola": (x, x**2 + 0.5 * e),
        "circle": (np.cos(turn) + 0.2 * x, np.sin(turn) + 0.2 * e),
        "cross": (x, x * rng.choice([-1, 1], n) + 0.3 * e),
        "spread": (x, x * e),
    }[name]


@pytest.mark.parametrize("name", ["parabola", "circle", "cross", "spread"])
def test_what_is_no_line_is_found(name):
    # 60 tables of 200 rows: a true share of 90% found fails with probability .99
    rng = np.random.default_rng(6)
    found = [shapes(np.column_stack(shape_of(name, rng, 200)), ONE).chance()[0, 1] <= 0.05 for _ in range(60)]
    assert np.mean(found) > 0.96


def test_gaps_are_nothing_and_the_values_there_are_have_their_own_ranks():
    rng = np.random.default_rng(7)
    x = rng.standard_normal(40)
    holes = np.where(np.arange(40) < 10, np.nan, x)
    F = shapes(holes[:, None], np.zeros(1, np.intp)).F
    assert (F[:10] == 0.0).all()
    np.testing.assert_array_equal(F[10:], shapes(x[10:, None], np.zeros(1, np.intp)).F)
