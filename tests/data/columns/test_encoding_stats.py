"""Statistics of columns: merged they are those of the whole, in any order, and agree with SciPy."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.data.columns.column_stats import empty_stats, stats_of
from assay.data.columns.tally import Tally
from assay.data.columns.third_moments import ThirdMoments
from assay.data.field import Field

FIELDS = (
    Field("x", "number"),
    Field("n", "count"),
    Field("c", "category"),
    Field("t", "text"),
    Field("when", "time"),
    Field("b", "boolean"),
    Field("id", "identifier"),
)
rng = np.random.default_rng(2)


def batch(n=50, seed=0):
    r = np.random.default_rng(seed)
    x = r.exponential(20.0, n)
    x[::7] = np.nan
    return pa.record_batch(
        {
            "x": x,
            "n": pa.array(r.poisson(3.0, n), mask=r.random(n) < 0.1),
            "c": r.choice(["a", "b", "", "rare"], n),
            "t": r.choice(["free call now", "see you at home", "call me"], n),
            "when": r.choice(["01/02/2011", "13/02/2011", "soon", "NA", "02/01/2012"], n),
            "b": r.choice(["yes", "no", "perhaps"], n),
            "id": np.arange(n),
        }
    )


def same(a, b, exact=False):
    for one, other in zip(a.columns(), b.columns(), strict=True):
        assert (one.rows, one.missing, one.bad, one.examples) == (other.rows, other.missing, other.bad, other.examples)
        assert (one.levels, one.words, one.documents) == (other.levels, other.words, other.documents)
        assert (one.n, one.not_finite, one.whole, one.reading) == (
            other.n,
            other.not_finite,
            other.whole,
            other.reading,
        )
        for name in ("low", "high"):
            np.testing.assert_equal(getattr(one, name), getattr(other, name))
        for name in ("mean", "variance", "skewness", "log_skewness"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0 if exact else 1e-9, atol=1e-9)


@settings(max_examples=15)
@given(st.lists(st.integers(0, 120), max_size=4), st.integers(0, 3))
def test_blocks_merged_are_the_whole(cuts, seed):
    whole = batch(120, seed)
    edges = [0, *sorted(cuts), 120]
    parts = [stats_of(whole.slice(a, b - a), FIELDS, first_row=a) for a, b in pairwise(edges)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    same(merged, stats_of(whole, FIELDS))


def test_the_order_of_merging_does_not_matter():
    whole = batch(90, 1)
    a, b, c = (stats_of(whole.slice(s, 30), FIELDS, first_row=s) for s in (0, 30, 60))
    same((a + b) + c, a + (b + c))
    same(a + b + c, c + a + b)


def test_no_rows_are_the_neutral_element():
    whole = batch()
    nothing = empty_stats(whole.schema, FIELDS)
    same(nothing + stats_of(whole, FIELDS), stats_of(whole, FIELDS), exact=True)
    same(stats_of(whole, FIELDS) + nothing, stats_of(whole, FIELDS), exact=True)


def test_moments_agree_with_scipy():
    x = rng.exponential(5.0, 500)
    found = stats_of(pa.record_batch({"x": x}), [Field("x", "number")]).columns()[0]
    assert found.mean == pytest.approx(x.mean())
    assert found.variance == pytest.approx(x.var(ddof=1))
    assert found.skewness == pytest.approx(scipy_stats.skew(x))
    assert found.log_skewness == pytest.approx(scipy_stats.skew(np.log1p(x)))
    assert (found.low, found.high) == (x.min(), x.max())


@given(st.floats(-1e8, 1e8), st.integers(1, 40))
def test_moments_far_from_zero_keep_their_skewness(shift, cut):
    x = np.arange(41.0) ** 2
    a, b = (ThirdMoments.of((shift + part)[None, :]) for part in (x[:cut], x[cut:]))
    assert (a + b).skewness[0] == pytest.approx(scipy_stats.skew(x), abs=1e-6)


def test_columns_measured_together_are_as_measured_alone():
    values = rng.normal(size=(700, 30))
    values[3, 4], values[5], values[6, 1] = np.nan, np.nan, np.inf
    names = [f"x{j}" for j in range(700)]
    together = stats_of(
        pa.RecordBatch.from_arrays([pa.array(x) for x in values], names=names), [Field(n, "number") for n in names]
    )
    for j in (0, 3, 5, 6, 699):
        alone = stats_of(pa.record_batch({"x": values[j]}), [Field("x", "number")]).columns()[0]
        one = together.columns()[j]
        assert (one.missing, one.not_finite, one.n) == (alone.missing, alone.not_finite, alone.n)
        np.testing.assert_allclose([one.mean, one.skewness], [alone.mean, alone.skewness], rtol=1e-12)


def test_missing_infinite_and_contradicting_values_are_counted_apart():
    column = pa.array(["1", "2", "inf", None, "", "NA", "abc", "def"])
    found = stats_of(pa.record_batch({"x": column}), [Field("x", "number")], first_row=100).columns()[0]
    assert (found.n, found.missing, found.not_finite, found.bad) == (2, 3, 1, 2)
    assert found.examples == ((106, "abc"), (107, "def"))


def test_the_reading_that_leaves_the_fewest_cells_unread_is_taken():
    def reading(kind, *cells):
        return stats_of(pa.record_batch({"x": list(cells)}), [Field("x", kind)]).columns()[0].reading

    assert reading("time", "01/02/2011", "13/02/2011") == "day before month"
    assert reading("time", "01/02/2011", "02/13/2011") == "month before day"
    assert reading("time", "10:30", "11:45") == "time of day"
    assert reading("number", "1,5", "2,25") == "decimal comma"
    assert reading("number", "1.5", "2,000") == "decimal point"


def test_dates_know_whether_they_are_whole_days_or_months():
    def whole(*cells):
        return stats_of(pa.record_batch({"x": list(cells)}), [Field("x", "time")]).columns()[0].whole

    assert whole("2011-01-01", "2011-02-01") == 2
    assert whole("2011-01-01", "2011-02-02") == 1
    assert whole("2011-01-01", "2011-02-02 10:00") == 0


def test_huge_values_do_not_warn_and_count_as_infinitely_skewed():
    found = stats_of(pa.record_batch({"x": [1e300, 1.0, 2.0, 1.7e308, 1.7e308]}), [Field("x", "number")]).columns()[0]
    assert np.isfinite(found.mean)
    assert found.skewness == np.inf


def test_logarithms_are_looked_at_in_the_same_rows_however_blocks_are_cut():
    x = rng.exponential(3.0, 90_000)
    fields = [Field("x", "number")]
    whole = stats_of(pa.record_batch({"x": x}), fields)
    parts = [stats_of(pa.record_batch({"x": x[s : s + 7001]}), fields, first_row=s) for s in range(0, 90_000, 7001)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    assert merged.log_moments.n == whole.log_moments.n == 65_536 + -(-(90_000 - 65_536) // 16)
    assert merged.columns()[0].log_skewness == pytest.approx(whole.columns()[0].log_skewness)


tallies = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9)).map(
    lambda d: Tally.of(d, d.values(), bound=4)
)


@given(tallies, tallies)
def test_tallies_never_count_too_much_nor_much_too_little(a, b):
    both = a + b
    assert both.total == a.total + b.total
    assert len(both.counts) <= 4
    for value in "abcdefgh":
        true = a.counts.get(value, 0) + b.counts.get(value, 0)
        assert both.counts.get(value, 0) <= true


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=60))
def test_a_pruned_tally_is_at_most_total_over_bound_too_low(values):
    bound = 4
    tally = Tally({}, 0, bound)
    for value in values:
        tally = tally + Tally.of([value], [1], bound=bound)
    for value in "abcdefgh":
        assert values.count(value) - len(values) / (bound + 1) <= tally.counts.get(value, 0) <= values.count(value)


@given(tallies, tallies)
def test_tallies_add_in_any_order(a, b):
    assert (a + b).counts == (b + a).counts
