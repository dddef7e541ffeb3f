import numpy as np
import pandas as pd
import pytest
from scipy import stats

import assay
from assay.errors import DataError, ParameterError
from assay.models.correlation.dependence import dependence as module


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((150, 1))
    return np.hstack([x + rng.standard_normal((150, 4)), rng.standard_normal((150, 6))])


def test_matrices_are_those_of_numpy_and_scipy(table):
    found = assay.dependence(table)
    np.testing.assert_allclose(found.pearson, np.corrcoef(table.T), atol=1e-13)
    np.testing.assert_allclose(found.rank, stats.spearmanr(table).statistic, atol=1e-13)
    assert found.tested == 45


def test_pairs_come_in_order_with_the_q_of_benjamini_and_hochberg(table):
    found = assay.dependence(table, tested_by="pearson")
    i, j = np.triu_indices(10, 1)
    p = stats.pearsonr(table[:, i], table[:, j], axis=0).pvalue
    order = np.argsort(p)
    np.testing.assert_allclose(found.pairs.p, p[order], rtol=1e-8)
    np.testing.assert_allclose(found.pairs.q, stats.false_discovery_control(p)[order], rtol=1e-8)
    best = stats.pearsonr(table[:, found.pairs.first[0]], table[:, found.pairs.second[0]]).confidence_interval()
    assert (found.pairs.low[0], found.pairs.high[0]) == pytest.approx((best.low, best.high), rel=1e-9)
    assert found.significant() == int((found.pairs.q <= 0.05).sum()) >= 6


def test_a_table_cut_into_tiles_gives_the_same_as_in_one(table, monkeypatch):
    whole = assay.dependence(table)
    monkeypatch.setattr(module, "_SIDE", 3)
    tiled = assay.dependence(table)
    np.testing.assert_allclose(tiled.rank, whole.rank, atol=1e-14)
    assert tiled.pairs.first.tolist() == whole.pairs.first.tolist()
    np.testing.assert_allclose(tiled.pairs.q, whole.pairs.q, rtol=1e-10)


def test_what_is_not_held_can_be_asked_for_by_blocks(table):
    whole, parts = assay.dependence(table), assay.dependence(table, hold=False)
    assert parts.pearson is None and parts.rank is None
    np.testing.assert_allclose(parts.block(slice(2, 5), slice(None)), whole.pearson[2:5], atol=1e-14)
    np.testing.assert_allclose(parts.block(slice(0, 2), slice(-3, None), ranks=True), whole.rank[:2, -3:], atol=1e-14)
    assert parts.pairs.first.tolist() == whole.pairs.first.tolist()


def test_what_is_left_of_a_number_is_the_residual_variance_of_a_line(table):
    found = assay.dependence(table)
    x, y = table[:, 0], table[:, 1]
    line = np.polyfit(x, y, 1)
    left = ((y - np.polyval(line, x)) ** 2).sum() / (len(y) - 1)
    assert found.unexplained("column 2", by="column 1") == pytest.approx(left, rel=1e-10)
    assert found.unexplained(1, by=0) == found.unexplained("column 2", by="column 1")


def test_columns_of_a_frame_keep_their_kinds(table):
    rng = np.random.default_rng(3)
    colour = np.where(table[:, 0] > 0, "red", rng.choice(["blue", "green"], len(table)))
    frame = pd.DataFrame({"x": table[:, 0], "colour": colour, "y": table[:, 5], "always": 1})
    found = assay.dependence(frame)
    kinds = dict(zip(found.columns, found.kinds, strict=True))
    assert kinds["x"] == "number" and kinds["colour"] == "category"
    first = {found.columns[found.pairs.first[0]], found.columns[found.pairs.second[0]]}
    assert first == {"x", "colour"} and found.pairs.q[0] < 1e-6 and np.isnan(found.pairs.low[0])
    with pytest.raises(ParameterError, match="'colour' is a category: only a number has a variance"):
        found.unexplained("colour", by="x")


def test_two_levels_of_a_category_have_a_strength_without_a_sign(table):
    x = table[:, 0]
    frame = pd.DataFrame({"x": x, "low": np.where(x > 0, "b", "a"), "high": np.where(x > 0, "a", "b")})
    found = assay.dependence(frame)
    assert found.kinds == ("number", "category", "category")
    assert found.pearson[0, 1] == pytest.approx(abs(np.corrcoef(x, x > 0)[0, 1]), abs=1e-12)
    np.testing.assert_allclose(found.pearson[0, 2], found.pearson[0, 1])


def test_one_far_row_makes_pearson_and_not_the_ranks():
    X = np.random.default_rng(5).standard_normal((60, 2))
    X[7] = 1000.0
    assert assay.dependence(X, tested_by="pearson").significant() == 1
    assert assay.dependence(X).significant() == 0


def test_gaps_leave_out_the_rows_of_a_pair_and_are_counted(table):
    holes = table.copy()
    holes[:30, 1] = np.nan
    found = assay.dependence(holes)
    assert found.pearson[0, 1] == pytest.approx(stats.pearsonr(table[30:, 0], table[30:, 1]).statistic, abs=1e-12)
    place = [{a, b} for a, b in zip(found.pairs.first, found.pairs.second, strict=True)].index({0, 1})
    assert found.pairs.n[place] == 120


def test_noise_gives_any_pair_no_more_often_than_the_level():
    # of 300 tables at 5%: 27 or more with a chance of 0.3%
    rng = np.random.default_rng(8)
    hits = sum(assay.dependence(rng.standard_t(2, (25, 12))).significant() > 0 for _ in range(300))
    assert hits < 27


def test_what_cannot_be_compared_is_refused_with_the_reason(table):
    with pytest.raises(DataError, match="at least 3 rows; there are 2"):
        assay.dependence(table[:2])
    with pytest.raises(DataError, match="row 1, column 3 is infinite"):
        far = table.copy()
        far[1, 3] = np.inf
        assay.dependence(far)
    with pytest.raises(ParameterError, match="tested_by is 'any', 'rank' or 'pearson'; got 'kendall'"):
        assay.dependence(table, tested_by="kendall")
    with pytest.raises(ParameterError, match="no column 'z'"):
        assay.dependence(table).unexplained("z", by=0)


def test_tiny_huge_and_shifted_columns_have_the_same_correlations(table):
    before = assay.dependence(table).pearson
    for changed in (table * 1e-300, table * 1e299, table + 1e6):
        np.testing.assert_allclose(assay.dependence(changed).pearson, before, atol=1e-8)
