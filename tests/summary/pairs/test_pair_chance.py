import numpy as np
import pytest
from scipy import stats

from assay.evidence.design import Grouped, Independent, Serial
from assay.summary.pairs.association import standardised
from assay.summary.pairs.association_chance import chance
from assay.summary.pairs.pair_chance import EXACT, LAGGED, RANK, SHAPE, pair_chances


def chances(X, groups=None, rows=None):
    groups = np.arange(X.shape[1]) if groups is None else groups
    return pair_chances(X, groups, standardised(X, groups, ranks=True, counted=True), rows)


def autoregressive(rng, shape, phi):
    noise = rng.standard_normal((shape[0] + 100, shape[1]))
    for t in range(1, len(noise)):
        noise[t] += phi * noise[t - 1]
    return noise[100:]


def test_a_line_is_seen_by_ranks_at_the_cost_of_one_more_look():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    y = 0.5 * x + rng.standard_normal(200)
    found = chances(np.column_stack([x, y]))
    one = np.ones(1, np.intp)
    p = chance(np.array([stats.spearmanr(x, y).statistic]), 200.0, one, one, ranks=True)[0]
    # Cauchy's rule at most doubles the smaller of two small ones, but for the second order
    assert p < found.p[0, 1] < 2.001 * p and found.by[0, 1] == RANK


def test_lines_are_found_nearly_as_often_as_by_spearman():
    # 200 tables: a power lower by 7 points is noticed with probability .95
    rng = np.random.default_rng(1)
    both = []
    for _ in range(200):
        x, e = rng.standard_normal((2, 200))
        y = 0.3 * x + np.sqrt(0.91) * e
        both.append((chances(np.column_stack([x, y])).p[0, 1] <= 0.05, stats.spearmanr(x, y).pvalue <= 0.05))
    ours, spearman = np.mean(both, axis=0)
    assert ours >= 0.95 * spearman


def test_two_rare_levels_have_the_exact_chance_alone():
    X = (np.random.default_rng(2).random((200, 3)) < 0.03).astype(float)
    X[:2] = 1.0
    found = chances(X)
    exact = stats.fisher_exact(stats.contingency.crosstab(X[:, 0], X[:, 1]).count).pvalue
    assert found.p[0, 1] == pytest.approx(exact, rel=1e-10) and found.by[0, 1] == EXACT


def test_frequent_levels_have_that_of_chi_squared():
    rng = np.random.default_rng(3)
    codes = rng.integers(3, size=(300, 2))
    X = np.concatenate([np.eye(3)[codes[:, 0]], np.eye(3)[codes[:, 1]]], axis=1)
    table = stats.contingency.crosstab(*codes.T).count
    assert chances(X, np.repeat([0, 1], 3)).p[0, 1] == pytest.approx(
        stats.chi2_contingency(table, correction=False).pvalue, rel=1e-8
    )


def test_independent_rows_are_the_same_with_and_without_a_design():
    X = np.random.default_rng(4).standard_normal((60, 4))
    np.testing.assert_array_equal(chances(X).p, chances(X, rows=Independent(60)).p)


def test_copied_rows_have_the_chance_of_the_rows_that_were_copied():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((50, 3))
    x[:, 1] += 0.6 * x[:, 0]
    once = chances(x)
    label = np.repeat(np.arange(50), 6)
    often = chances(x[label], rows=Grouped(300, label))
    assert often.effective[0, 1] == pytest.approx(50, rel=1e-6)
    # ranks of copies are tied in sixes, and their law has a fourth moment that is a little other
    np.testing.assert_allclose(np.log(often.p[0, 1:]), np.log(once.p[0, 1:]), atol=0.2)


def test_series_with_a_memory_are_called_no_more_often_than_the_level():
    # 60 tables at 5%: a rate of 15% is noticed with probability .95
    rng = np.random.default_rng(6)
    called = 0
    for _ in range(60):
        p = chances(autoregressive(rng, (200, 5), 0.9), rows=Serial(200, np.arange(200), 20)).p
        called += stats.false_discovery_control(p[np.triu_indices(5, 1)]).min() <= 0.05
    assert called <= 7


def test_a_series_that_leads_another_is_found_with_its_lag():
    rng = np.random.default_rng(7)
    for lag in (3, -5):
        X = autoregressive(rng, (300, 3), 0.5)
        X[:, 1] = np.roll(X[:, 0], lag) + X[:, 1]
        found = chances(X, rows=Serial(300, np.arange(300), 5))
        assert found.by[0, 1] == LAGGED and found.p[0, 1] < 1e-4
        assert found.lag[0, 1] == lag == -found.lag[1, 0]
        kept = slice(10, -10)
        oracle = stats.spearmanr(X[kept, 0], np.roll(X[:, 1], -lag)[kept]).statistic
        assert found.lagged[0, 1] == pytest.approx(oracle, abs=0.05)  # other ranks at the ends


def test_too_few_effective_rows_cannot_be_called():
    x = np.linspace(0, 1, 100)
    found = chances(np.column_stack([x, x**2]), rows=Serial(100, np.arange(100), 50))
    assert found.effective[0, 1] < 12 and found.p[0, 1] == 1.0


def test_values_missing_in_the_same_rows_are_no_dependence():
    # 100 tables at 5%: a rate of 13% is noticed with probability .95
    rng = np.random.default_rng(8)
    p = []
    for _ in range(100):
        X = rng.standard_normal((150, 2))
        X[rng.random(150) < 0.3] = np.nan
        p.append(chances(X).p[0, 1])
    assert np.mean(np.array(p) <= 0.05) <= 0.1


def test_a_parabola_among_values_with_gaps_is_found():
    rng = np.random.default_rng(9)
    x = rng.standard_normal(200)
    X = np.column_stack([x, x**2 + 0.5 * rng.standard_normal(200)])
    X[rng.random((200, 2)) < 0.1] = np.nan
    found = chances(X)
    assert found.p[0, 1] < 1e-6 and found.by[0, 1] == SHAPE


def test_shapes_of_very_many_rows_are_looked_at_in_some(monkeypatch):
    monkeypatch.setattr("assay.summary.pairs.pair_chance._ROWS", 100)
    X = np.random.default_rng(10).standard_normal((300, 2))
    X[:, 1] += X[:, 0] ** 2
    found = chances(X)
    assert len(found.rows) == 100 == len(np.unique(found.rows)) and found.p[0, 1] < 1e-4
    every = chances(X, rows=Serial(300, np.arange(300), 1)).rows
    assert np.unique(np.diff(every)).tolist() == [3]
