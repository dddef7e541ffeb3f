import numpy as np
import pytest
from scipy import stats

from assay.evidence.design import Grouped
from assay.summary.pairs import apart
from assay.summary.pairs.association import standardised
from assay.summary.pairs.pair_chance import TileChances, pair_chances
from assay.summary.pairs.rare_cells import levels_of
from assay.summary.pairs.shared_rows import Gaps

WIDTHS = [1, 1, 4, 3, 1]
GROUPS = np.repeat(np.arange(5), WIDTHS)


def ready(X, groups, rows=None):
    return X, groups, standardised(X, groups, ranks=True, counted=True), rows


def with_gaps(seed, n=90):
    """Numbers and categories whose gaps go with values of others."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, n))
    few = np.where(rng.random(n) < 0.8, 0.0, x)
    a, b = rng.integers(4, size=n), rng.integers(3, size=n)
    X = np.column_stack([x, y, np.eye(4)[a], np.eye(3)[b], few])
    gone = np.column_stack([rng.random(n) < 0.2, np.abs(x) < 0.5, y > 0.5, a == 1, rng.random(n) < 0.1])
    return np.where(np.repeat(gone, WIDTHS, axis=1), np.nan, X), gone


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_pair_with_gaps_has_the_chance_of_a_table_of_the_rows_where_both_have_a_value(seed, dependent):
    X, gone = with_gaps(seed)
    rows = Grouped(len(X), np.arange(len(X)) // 2) if dependent else None
    found = pair_chances(*ready(X, GROUPS, rows))
    for i, j in zip(*np.triu_indices(5, 1), strict=True):
        both = np.flatnonzero(~(gone[:, i] | gone[:, j]))
        part = X[np.ix_(both, np.isin(GROUPS, [i, j]))]
        groups = np.repeat([0, 1], [WIDTHS[i], WIDTHS[j]])
        alone = pair_chances(*ready(part, groups, None if rows is None else rows.among(both)))
        np.testing.assert_allclose(found.p[i, j], alone.p[0, 1], rtol=1e-9)
        assert found.p[i, j] == found.p[j, i] and found.by[i, j] == found.by[j, i]


def test_tiles_of_wide_tables_judge_levels_by_the_rows_where_both_have_a_value():
    X, gone = with_gaps(3)
    every = slice(0, 5)
    p, _, effective = TileChances.of(*ready(X, GROUPS))(every, every)
    for i, j in ((0, 2), (2, 3), (3, 4)):
        both = ~(gone[:, i] | gone[:, j])
        part = X[np.ix_(both, np.isin(GROUPS, [i, j]))]
        alone = TileChances.of(*ready(part, np.repeat([0, 1], [WIDTHS[i], WIDTHS[j]])))(slice(0, 2), slice(0, 2))
        assert p[i, j] == pytest.approx(alone[0][0, 1], rel=1e-9) and effective[i, j] == both.sum()


def three_files(rng, n):
    """Independent wherever both are known, and both higher there than elsewhere."""
    x, y = rng.standard_normal((2, n)) + 2.0 * (np.arange(n) % 3 == 1)
    x[2::3] = y[0::3] = np.nan
    return np.column_stack([x, y]), np.arange(2)


def asked_where_extreme(rng, n):
    x, y = rng.standard_normal((2, n))
    return np.column_stack([x, np.where(np.abs(x) > 1.15, y, np.nan)]), np.arange(2)


def level_asked_where_extreme(rng, n):
    x, codes = rng.standard_normal(n), rng.integers(4, size=n)
    return np.column_stack([x, np.where(np.abs(x)[:, None] > 1.0, np.eye(4)[codes], np.nan)]), np.repeat([0, 1], [1, 4])


def levels_of_three_files(rng, n):
    file = np.arange(n) % 3
    a, b = (np.eye(4)[np.where(file == 1, rng.integers(2, size=n), rng.integers(1, 4, size=n))] for _ in range(2))
    a[file == 2] = b[file == 0] = np.nan
    return np.column_stack([a, b]), np.repeat([0, 1], 4)


@pytest.mark.parametrize("draw", [three_files, asked_where_extreme, level_asked_where_extreme, levels_of_three_files])
@pytest.mark.parametrize("n", [150, 1800])
def test_gaps_that_go_with_values_make_no_pair(draw, n):
    # 100 tables at 5%: a rate of 13% is noticed with probability .95; by products of all rows it was 16% to 100%
    rng = np.random.default_rng(n)
    p = [pair_chances(*ready(*draw(rng, n))).p[0, 1] for _ in range(100)]
    assert np.mean(np.array(p) <= 0.05) <= 0.1


def test_many_rows_that_are_a_fair_sample_are_judged_together_with_all_columns_and_others_apart():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((2000, 4))
    X[rng.random(2000) < 0.5, 1] = np.nan
    X[X[:, 0] < 0.0, 2] = np.nan
    X[:1950, 3] = np.nan
    found = pair_chances(*ready(X, np.arange(4))).apart
    assert not found[0, 1] and found[0, 2] and found[0, 3] and (found == found.T).all()


@pytest.mark.parametrize("seed", range(4))
def test_fair_gaps_of_many_rows_give_nearly_the_chance_of_the_shared_rows(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, 4000))
    X = np.column_stack([x, y + 0.05 * x])
    X[rng.random((4000, 2)) < 0.3] = np.nan
    both = ~np.isnan(X).any(axis=1)
    found, alone = pair_chances(*ready(X, np.arange(2))), pair_chances(*ready(X[both], np.arange(2)))
    assert not found.apart[0, 1]
    # other ranks: of the rows of each column, not of those they share; and shapes with 0 where one is missing
    assert np.log(found.p[0, 1]) == pytest.approx(np.log(alone.p[0, 1]), rel=0.5, abs=0.5)


def test_of_very_many_pairs_those_that_may_be_beyond_chance_are_judged_and_no_other_is_called(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((120, 12))
    X[:, 1] += X[:, 0]
    X[rng.random(X.shape) < 0.2] = np.nan
    whole = pair_chances(*ready(X, np.arange(12)))
    monkeypatch.setattr(apart, "_ALL", 5)
    some = pair_chances(*ready(X, np.arange(12)))
    i, j = np.triu_indices(12, 1)
    assert some.p[0, 1] == whole.p[0, 1] < 1e-6
    called = some.p[i, j] <= 0.01
    np.testing.assert_array_equal(some.p[i, j][called], whole.p[i, j][called])


def test_pairs_are_put_together_by_the_rows_they_share():
    rng = np.random.default_rng(6)
    seen = np.repeat(rng.random((40, 3)) < 0.7, [3, 2, 1], axis=1)
    i, j = np.triu_indices(6, 1)
    parts = list(Gaps(seen.astype(np.float32)).by_rows(i, j))
    assert len(parts) == 5  # of three patterns each with another, and those of two or more columns alone
    assert sorted(np.concatenate([pairs for _, pairs in parts]).tolist()) == list(range(15))
    for rows, pairs in parts:
        for k in pairs:
            np.testing.assert_array_equal(rows, np.flatnonzero(seen[:, i[k]] & seen[:, j[k]]))


def test_rare_levels_with_gaps_have_the_exact_chance_of_the_rows_they_share():
    rng = np.random.default_rng(7)
    X = (rng.random((120, 5)) < 0.2).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    i, j = np.triu_indices(5, 1)
    oracle = []
    for a, b in zip(i, j, strict=True):
        both = ~np.isnan(X[:, a] + X[:, b])
        oracle.append(stats.fisher_exact(stats.contingency.crosstab(X[both, a], X[both, b]).count).pvalue)
    np.testing.assert_allclose(levels_of(X, np.arange(5), expected=np.inf).chance(i, j), oracle, rtol=1e-10)
