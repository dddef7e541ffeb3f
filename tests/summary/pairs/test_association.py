import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from assay.models.correlation.dependence.top_pairs import Strongest
from assay.summary.pairs.association import standardised
from assay.summary.pairs.association_chance import Likely, chance


def indicators(codes):
    return (codes[:, None] == np.unique(codes)).astype(float)


@pytest.fixture
def mixed():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 200))
    a = (x + rng.standard_normal(200) > 0).astype(int) + rng.integers(0, 2, 200)
    b = (a + rng.integers(0, 3, 200)) % 4
    X = np.column_stack([x, indicators(a), y + x, indicators(b)])
    groups = np.repeat([0, 1, 2, 3], [1, 3, 1, 4])
    return X, groups, (x, a, y + x, b)


def test_two_numbers_have_pearsons_and_spearmans_correlation_with_its_p(mixed):
    X, groups, (x, _, z, _) = mixed
    for ranks, oracle in ((False, stats.pearsonr(x, z)), (True, stats.spearmanr(x, z))):
        standard = standardised(X, groups, ranks=ranks)
        tile, n = standard.strengths(slice(0, 4), slice(0, 4))
        p = chance(tile[0, 2], n, standard.sizes[0], standard.sizes[2])
        assert tile[0, 2] == pytest.approx(oracle.statistic, abs=1e-12)
        assert p == pytest.approx(oracle.pvalue, rel=1e-8)


@pytest.mark.parametrize(("n", "within"), [(6, 1e-9), (9, 0.3), (12, 0.25), (40, 0.15)])
def test_the_chance_of_spearmans_correlation_is_that_of_shuffled_rows(n, within):
    rng = np.random.default_rng(n)
    ranks = np.arange(n) - (n - 1) / 2.0
    shuffled = np.abs(ranks[np.argsort(rng.random((100_000, n)), axis=1)] @ ranks) / (ranks @ ranks)
    for level in (0.05, 0.01, 0.002):
        r = np.quantile(shuffled, 1 - level)
        one = np.ones(1, np.intp)
        p = chance(np.array([r]), float(n), one, one, ranks=True)[0]
        share = (shuffled >= r - 1e-9).mean()
        noise = 5 * np.sqrt(share / 100_000)
        assert abs(p - share) <= within * share + noise


def test_a_number_and_a_category_have_the_p_of_the_analysis_of_variance(mixed):
    X, groups, (x, a, _, _) = mixed
    standard = standardised(X, groups, ranks=False)
    tile, n = standard.strengths(slice(0, 4), slice(0, 4))
    parts = [x[a == k] for k in np.unique(a)]
    between = sum(len(part) * (part.mean() - x.mean()) ** 2 for part in parts)
    assert tile[0, 1] ** 2 == pytest.approx(between / ((x - x.mean()) ** 2).sum(), rel=1e-10)
    assert chance(tile[0, 1], n, standard.sizes[0], standard.sizes[1]) == pytest.approx(
        stats.f_oneway(*parts).pvalue, rel=1e-7
    )


def test_of_ranks_it_is_the_share_that_kruskal_and_wallis_measure(mixed):
    X, groups, (x, a, _, _) = mixed
    tile, _ = standardised(X, groups, ranks=True).strengths(slice(0, 4), slice(0, 4))
    H = stats.kruskal(*(x[a == k] for k in np.unique(a))).statistic
    assert tile[0, 1] ** 2 == pytest.approx(H / (len(x) - 1), rel=1e-10)


def test_two_categories_have_cramers_v_with_the_p_of_chi_squared(mixed):
    X, groups, (_, a, _, b) = mixed
    standard = standardised(X, groups, ranks=False)
    tile, n = standard.strengths(slice(0, 4), slice(0, 4))
    table = stats.contingency.crosstab(a, b).count
    assert tile[1, 3] == pytest.approx(stats.contingency.association(table, method="cramer"), rel=1e-10)
    assert chance(tile[1, 3], n, standard.sizes[1], standard.sizes[3]) == pytest.approx(
        stats.chi2_contingency(table, correction=False).pvalue, rel=1e-8
    )


def test_with_gaps_each_pair_is_that_of_the_rows_where_both_have_values(mixed):
    X, groups, (x, a, z, b) = mixed
    rng = np.random.default_rng(2)
    gone = rng.random((len(x), 4)) < 0.15
    holes = np.where(np.repeat(gone, [1, 3, 1, 4], axis=1), np.nan, X)
    tile, n = standardised(holes, groups, ranks=False).strengths(slice(0, 4), slice(0, 4))
    both = ~(gone[:, 0] | gone[:, 2])
    assert tile[0, 2] == pytest.approx(stats.pearsonr(x[both], z[both]).statistic, abs=1e-12)
    both = ~(gone[:, 1] | gone[:, 3])
    table = stats.contingency.crosstab(a[both], b[both]).count
    assert tile[1, 3] == pytest.approx(stats.contingency.association(table, method="cramer"), rel=1e-10)
    assert n[1, 3] == both.sum()
    numbers, counts = standardised(holes[:, [0, 4]], np.array([0, 1]), ranks=False).strengths(slice(0, 2), slice(0, 2))
    assert numbers[0, 1] == pytest.approx(tile[0, 2], abs=1e-12) and counts[0, 1] == n[0, 2]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_strengths_are_symmetric_to_the_last_bit(seed, gaps):
    rng = np.random.default_rng(seed)
    codes = [rng.integers(levels, size=300) for levels in (3, 4, 6, 8)]
    X = np.column_stack([*map(indicators, codes), rng.standard_normal((300, 2))])
    groups = np.repeat(np.arange(6), [3, 4, 6, 8, 1, 1])
    gone = np.repeat(rng.random((300, 6)) < gaps, [3, 4, 6, 8, 1, 1], axis=1)
    tile, n = standardised(np.where(gone, np.nan, X), groups, ranks=True).strengths(slice(0, 6), slice(0, 6))
    np.testing.assert_array_equal(tile, tile.T)
    np.testing.assert_array_equal(np.broadcast_to(n, tile.shape), np.broadcast_to(n, tile.shape).T)


def test_columns_without_rows_in_common_have_no_strength():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.standard_normal((40, 2)), indicators(rng.integers(3, size=40))])
    X[:20, 0] = X[20:, 1] = np.nan
    X[:20, 2:] = np.nan
    standard = standardised(X, np.array([0, 1, 2, 2, 2]), ranks=False)
    tile, n = standard.strengths(slice(0, 3), slice(0, 3))
    apart = np.isnan(tile)
    assert apart.tolist() == [[False, True, False], [True, False, True], [False, True, False]]
    np.testing.assert_array_equal(n == 0, apart)


@settings(max_examples=30, deadline=None)
@given(
    hnp.arrays(np.float64, (12, 3), elements=st.floats(-10, 10, width=16)),
    st.sampled_from([1.0, 1e-300, 1e290]),
    st.sampled_from([0.0, 1e4]),
)
def test_strengths_do_not_change_with_unit_and_origin(X, unit, origin):
    groups = np.arange(3)
    before, _ = standardised(X, groups, ranks=False).strengths(slice(0, 3), slice(0, 3))
    moved = (X + origin) * unit
    lost = (np.ptp(X, axis=0) > 0) & (np.ptp(X, axis=0) < 1e-6)  # digits that the shift takes away
    after, _ = standardised(moved, groups, ranks=False).strengths(slice(0, 3), slice(0, 3))
    kept = np.ix_(~lost, ~lost)
    np.testing.assert_allclose(after[kept], before[kept], atol=1e-6)


def test_a_constant_column_has_no_strength():
    X = np.column_stack([np.arange(5.0), np.full(5, 1e8)])
    standard = standardised(X, np.array([0, 1]), ranks=True)
    tile, _ = standard.strengths(slice(0, 2), slice(0, 2))
    assert standard.sizes.tolist() == [1, 0]
    assert np.isnan(tile[1]).all() and np.isnan(tile[0, 1]) and tile[0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("n", [5, 30, 4000])
def test_the_table_of_chances_is_monotone_and_near_the_exact_ones(n):
    likely = Likely.of(n, ranks=False)
    r = np.linspace(likely.least, 0.9, 500) if likely.least < 0.9 else np.array([likely.least])
    exact = 2 * stats.t.sf(r * np.sqrt((n - 2) / (1 - r**2)), n - 2)
    near = exact > 1e-200
    np.testing.assert_allclose(likely(r)[near], exact[near], rtol=0.01)
    assert (np.diff(likely(r)) <= 0).all()


def test_no_p_is_below_that_of_one_order_among_all():
    assert chance(np.array([1.0]), 5.0, np.array([1]), np.array([1]))[0] == pytest.approx(2 / 120)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 400), st.integers(1, 60))
def test_the_strongest_of_many_tiles_have_the_q_of_all_taken_together(seed, m, keep):
    rng = np.random.default_rng(seed)
    p = rng.random(m) ** rng.choice([1, 3])
    first, second = np.arange(m), np.arange(m) + 1
    strongest = Strongest(keep)
    for part in np.array_split(np.arange(m), 5):
        strongest.add(first[part], second[part], p[part])
    found = strongest.found()
    order = np.argsort(p, kind="stable")[: len(found.p)]
    exact = stats.false_discovery_control(p)[order]
    assert found.tested == m and found.first.tolist() == order.tolist()
    every = stats.false_discovery_control(p)
    for level in (0.05, 0.3):
        assert (every <= level / 1.0101).sum() <= found.called(level) <= (every <= level).sum()
    assert (found.q >= exact - 1e-12).all() and (found.q <= 1.0101 * exact + 1e-12).all()
