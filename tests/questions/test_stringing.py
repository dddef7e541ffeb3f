"""The first look reordered: planted blocks stand together, values stand in for gaps, others are left out."""

import numpy as np
import pytest

from assay.asking.table import FirstLook
from assay.questions.stringing.test import DRAWS, reordered_table


def look(values, kinds=None, scale=None):
    values = np.asarray(values, dtype=np.float64)
    m, d = values.shape
    return FirstLook(
        columns=tuple(f"c{j}" for j in range(d)),
        kinds=tuple(kinds or ["number"] * d),
        units=(None,) * d,
        rows=np.arange(1, m + 1),
        values=values,
        centre=np.nan_to_num(np.nanmean(values, axis=0)) if m else np.zeros(d),
        scale=np.asarray(np.nanstd(values, axis=0) if scale is None and m else np.ones(d) if scale is None else scale),
        total=m,
    )


def blocks(n=60, d=12, seed=0):
    """Two groups of rows that differ in half of the columns, shuffled."""
    rng = np.random.default_rng(seed)
    group, side = rng.permutation(np.arange(n) % 2), rng.permutation(np.arange(d) % 2)
    return 4.0 * (group[:, None] == side) + rng.standard_normal((n, d)), group, side


def test_planted_blocks_stand_together_and_are_called_smoother_than_chance():
    X, group, side = blocks()
    found = reordered_table(look(X))
    assert np.count_nonzero(np.diff(group[found.rows])) == 1
    assert np.count_nonzero(np.diff(side[found.columns])) == 1
    for axis in (found.by_row, found.by_column):
        assert axis.evidence.verdict == "supported"
        assert axis.evidence.held_out > 0.2  # neighbours are alike in what the order was not made of, too
    assert found.by_column.evidence.p == 1 / (DRAWS["columns"] + 1)
    assert found.by_row.evidence.p < 1 / (DRAWS["rows"] + 1)  # beyond what so many draws show by rank
    assert np.isnan(found.with_previous[0]) and np.sum(found.with_previous[1:] < 0) == 1
    np.testing.assert_allclose(
        found.with_rows, [np.corrcoef(X[found.rows, j], np.arange(60))[0, 1] for j in found.columns], atol=0.02
    )


def test_noise_is_not_called_smooth():
    found = reordered_table(look(np.random.default_rng(3).standard_normal((40, 8))))
    assert {axis.evidence.verdict for axis in (found.by_row, found.by_column)} == {"not distinguishable from chance"}
    assert len(found.by_column.chance) < DRAWS["columns"]  # the answer was soon clear


def test_the_seed_decides_the_shuffles_and_nothing_but_the_shuffles():
    X, _, _ = blocks(40, 4)
    first, again, other = (reordered_table(look(X), seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.by_row.chance, again.by_row.chance)
    np.testing.assert_array_equal(first.rows, other.rows)
    assert (first.by_row.chance != other.by_row.chance).any()


def test_rows_and_columns_are_two_looks_and_every_p_counts_twice():
    found = reordered_table(look(blocks()[0]))
    assert found.looks == found.tests == 2
    by_row, by_column = (finding.evidence for finding in found.findings())
    assert found.evidence.p == min(by_row.q, by_column.q)
    assert by_row.q == 2 * by_row.p and by_column.q == 2 * by_column.p == 2 / (DRAWS["columns"] + 1)
    harder = found.stricter(3.0, 0.05)
    assert [finding.evidence.verdict for finding in harder.findings()] == ["supported", "suggestive"]


def test_values_stand_in_for_gaps_and_infinite_ones_count_as_far():
    X, group, _ = blocks()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    X[0, 0] = np.inf
    seen = look(np.where(np.isinf(X), np.nan, X))
    seen.values[0, 0] = np.inf
    found = reordered_table(seen)
    assert np.count_nonzero(np.diff(group[found.rows])) <= 3
    assert sorted(found.rows) == list(range(60))


def test_only_columns_whose_values_can_be_near_or_far_take_part():
    X, _, _ = blocks(d=7)
    X[:, 5] = 3.0
    kinds = ["number", "category", "count", "text", "boolean", "number", "ordered"]
    seen = look(X, kinds, scale=[1, 1, 1, 1, 1, 0, np.nan])
    seen.values[:, 6] = np.nan
    assert sorted(reordered_table(seen).columns) == [0, 2, 4]


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (9, 5), (10, 1)])
def test_too_few_rows_or_columns_are_not_reordered(shape):
    assert reordered_table(look(np.random.default_rng(0).standard_normal(shape))) is None


def test_two_columns_have_one_order_only():
    found = reordered_table(look(np.random.default_rng(0).standard_normal((30, 2))))
    assert [one.id for one in found.findings()] == ["order-of-rows"]
    assert found.looks == 1 and found.by_row.evidence.q == found.by_row.evidence.p
    assert "columns" not in found.rule.split(";")[0]


def test_numbers_out_of_all_bounds_have_an_order():
    X = np.tile([[1e308, -1e308], [-1e308, 1e-320], [0.0, 1e308], [1.0, 0.0]], (3, 1))
    seen = look(np.zeros((12, 2)), scale=[1e-300, 1e300])
    seen.values[:] = X
    assert sorted(reordered_table(seen).rows) == list(range(12))


@pytest.mark.calibrate
def test_independent_columns_of_any_law_are_rarely_called_ordered():
    """At a rate of .05 more than 12 of 120 have a chance of .007; at .15 they come with one of .93."""
    rng = np.random.default_rng(11)
    laws = (rng.standard_normal, rng.standard_exponential, lambda n: rng.standard_t(2, n), lambda n: rng.poisson(1, n))
    tables = ([laws[(i + j) % 4](24) for j in range(4)] for i in range(120))
    found = [reordered_table(look(np.column_stack(columns)), seed=i) for i, columns in enumerate(tables)]
    assert sum(one.evidence.p <= 0.05 for one in found if one is not None) <= 12
