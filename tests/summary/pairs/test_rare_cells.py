import numpy as np
import pytest
from scipy import stats

from assay.summary.pairs.rare_cells import fisher, levels_of


def indicators(codes):
    return (codes[:, None] == np.unique(codes)).astype(float)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.3, 0.9])
def test_two_levels_each_have_fishers_exact_p(share):
    rng = np.random.default_rng(int(100 * share))
    X = (rng.random((150, 7)) < share).astype(float)
    X[0], X[1] = 0.0, 1.0
    i, j = np.triu_indices(7, 1)
    oracle = [
        stats.fisher_exact(stats.contingency.crosstab(X[:, a], X[:, b]).count).pvalue for a, b in zip(i, j, strict=True)
    ]
    # sums of at most 150 probabilities, each known to a few units in the last place
    np.testing.assert_allclose(levels_of(X, np.arange(7), expected=np.inf).chance(i, j), oracle, rtol=1e-10)


def test_more_levels_have_the_smallest_of_their_cells_times_their_number():
    rng = np.random.default_rng(2)
    a, b = rng.choice(4, 60, p=[0.7, 0.1, 0.1, 0.1]), rng.choice(3, 60, p=[0.8, 0.1, 0.1])
    b[a == 3] = 2
    table = stats.contingency.crosstab(a, b).count
    cells = []
    for x in range(4):
        for y in range(3):
            law = stats.hypergeom(60, table[x].sum(), table[:, y].sum())
            cells.append(2 * min(law.sf(table[x, y] - 1), law.cdf(table[x, y])))
    X = np.column_stack([indicators(a), indicators(b)])
    levels = levels_of(X, np.repeat([0, 1], [4, 3]))
    p = levels.chance(np.array([0]), np.array([1]))
    assert p[0] == pytest.approx(min(1.0, 12 * min(cells)), rel=1e-10)


def test_a_number_that_mostly_has_one_value_counts_as_that_value_and_the_others():
    rng = np.random.default_rng(3)
    x = np.where(rng.random(100) < 0.9, 7.0, rng.standard_normal(100))
    levels = levels_of(np.column_stack([x, rng.standard_normal(100)]), np.arange(2))
    assert levels.rarest[0] == (x != 7.0).sum() and levels.starts.tolist() == [0, 1, 1]
    assert np.isinf(levels.rarest[1])
    assert levels.chance(np.array([0]), np.array([1])).tolist() == [1.0]


def test_levels_that_can_be_expected_together_in_five_rows_are_not_rare():
    X = np.zeros((100, 2))
    X[:25, 0] = X[10:30, 1] = 1.0
    every = slice(0, 2)
    assert not levels_of(X, np.arange(2)).rare(every, every)[0, 1]
    X[10:11, 1] = 0.0
    assert levels_of(X, np.arange(2)).rare(every, every)[0, 1]


def test_many_tables_at_once_are_each_as_if_alone(monkeypatch):
    rng = np.random.default_rng(4)
    first, second = rng.integers(1, 40, (2, 50))
    together = np.minimum(first, second) // 2
    rows = rng.integers(80, 100, 50)
    whole = fisher(together, first, second, rows)
    monkeypatch.setattr("assay.summary.pairs.rare_cells._AT_ONCE", 60)
    np.testing.assert_allclose(fisher(together, first, second, rows), whole, rtol=1e-12)
