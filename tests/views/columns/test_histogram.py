"""Histograms count every value once, in bins that mean something, and draw what is rare."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from assay.errors import ParameterError
from assay.views.columns.histogram import BINS, as_read, binned, by_level, by_logarithm, in_standard_units, skewness

columns = arrays(np.float64, st.integers(0, 60))


def bars(svg: str) -> int:
    return ElementTree.fromstring(svg).find("path[@class='bars']").get("d").count("M")


def words(svg: str) -> list[str]:
    return [text.text for text in ElementTree.fromstring(svg).iter("text")]


@settings(max_examples=150, deadline=None)
@given(columns, st.booleans())
def test_every_finite_value_is_counted_once_in_few_bins(x, whole):
    found = binned(np.round(x) if whole else x, whole=whole)
    assert found.counts.sum() == np.isfinite(x).sum()
    assert 1 <= len(found.counts) <= BINS + 1
    assert np.isfinite([found.low, found.high]).all()


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (1.0, 1e8), (1e-300, 0.0), (1e300, 0.0)])
def test_bins_are_those_of_freedman_and_diaconis_as_numpy_has_them(scale, shift):
    x = np.random.default_rng(3).standard_normal(300)
    oracle, _ = np.histogram(x, bins="fd")
    found = binned(scale * x + shift)
    assert len(found.counts) == len(oracle)
    assert np.abs(found.counts - oracle).sum() <= 4  # values at an edge may round to either side


def test_whole_numbers_have_bins_of_whole_width_centred_on_them():
    x = np.random.default_rng(4).integers(0, 9, 500)
    found = binned(x, whole=True)
    assert np.array_equal(found.counts, np.bincount(x))
    assert (found.low, found.high) == (-0.5, 8.5)
    many = binned(np.random.default_rng(4).poisson(4000, 500), whole=True)
    assert ((many.high - many.low) / len(many.counts)) % 1 == 0


def test_half_of_the_values_alike_still_gives_more_than_one_bin():
    assert len(binned([0.0] * 80 + [1.0, 2.0, 3.0, 40.0]).counts) > 4


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, st.integers(3, 40), elements=st.floats(-1e6, 1e6)))
def test_skewness_is_that_of_scipy(x):
    if np.ptp(x) > 1e-6 * np.abs(x).max():
        oracle = scipy.stats.skew(x / np.abs(x).max())  # which underflows below 1e-100
        assert skewness(x) == pytest.approx(oracle, rel=1e-6, abs=1e-6)


def test_skewness_survives_what_is_huge_missing_or_constant():
    x = np.random.default_rng(5).exponential(size=50)
    assert skewness(1e307 * x) == pytest.approx(scipy.stats.skew(x))
    assert skewness([*x, np.nan, np.inf]) == pytest.approx(scipy.stats.skew(x))
    assert skewness([3.0] * 9) == skewness([np.nan]) == skewness([]) == 0.0


@settings(max_examples=100, deadline=None)
@given(columns, st.sampled_from(["number", "count", "time"]))
def test_whatever_the_values_the_drawings_are_well_formed_and_finite(x, kind):
    with np.errstate(all="ignore"):
        drawings = [
            as_read(np.round(x) if kind == "count" else x, kind=kind),
            by_logarithm(np.abs(x)),
            in_standard_units(x, 0.0, 1.0),
        ]
    for svg in drawings:
        ElementTree.fromstring(svg)
        assert not re.search(r"nan|inf\b", svg)


def test_a_drawing_has_a_bar_for_each_bin_that_is_not_empty():
    x = [1.0] * 99 + [1000.0]
    assert bars(as_read(x)) == np.count_nonzero(binned(x).counts) == 2


def test_a_single_row_among_thousands_is_still_seen():
    svg = as_read([1.0] * 5000 + [1000.0])
    heights = [float(h) for h in re.findall(r"v-([\d.]+)h", svg)]
    assert min(heights) >= 2


def test_all_missing_says_so():
    assert words(as_read([np.nan, np.nan])) == ["no values"]


def test_the_logarithm_is_marked_in_the_units_of_the_data_and_only_where_it_exists():
    assert words(by_logarithm([0.0, 9.0, 99.0, 99_999.0])) == ["1", "100", "10k"]
    assert by_logarithm([0.0, -1e-9]) == ""


def test_standard_units_are_clipped_into_the_outermost_bars():
    svg = in_standard_units([0.0, 1e9, -np.inf, -1e300], 0.0, 1.0)
    assert bars(svg) == 3
    assert words(svg)[0] == "≤ −4" and words(svg)[-1] == "≥ 4"
    assert 'class="curve"' in svg


@pytest.mark.parametrize("scale", [0.0, np.nan, np.inf, -1.0])
def test_what_has_no_scale_cannot_be_standardised(scale):
    assert in_standard_units([1.0, 2.0], 1.0, scale) == ""


def test_levels_are_named_with_their_shares_and_the_rest_is_pooled():
    svg = by_level([50, 25, 25], ["red", "green", "blue"])
    assert words(svg) == ["red", "50%", "green", "25%", "blue", "25%"]
    many = words(by_level(range(100, 0, -1), [f"level {j}" for j in range(100)]))
    assert many[-2] == "94 others"
    assert len(many) == 14
    assert sum(float(share.rstrip("%")) for share in many[1::2]) == pytest.approx(100, abs=4)


@pytest.mark.parametrize("counts", [[], [0, 0]])
def test_levels_that_never_occur_leave_no_bar(counts):
    svg = by_level(counts, ["a", "b"][: len(counts)])
    ElementTree.fromstring(svg)
    assert not re.search("nan", svg)


def test_names_and_labels_are_escaped():
    bad = "</svg><script>1</script>\"'&"
    for svg in (by_level([1], [bad], label=bad), as_read([1.0], label=bad)):
        assert ElementTree.fromstring(svg).get("aria-label") == bad
        assert "<script" not in svg


def test_names_must_fit_counts_and_a_table_is_refused():
    with pytest.raises(ParameterError, match="got 1 for 2 counts"):
        by_level([1, 2], ["a"])
    with pytest.raises(ParameterError, match=re.escape("got an array of shape (1, 1)")):
        as_read([[1.0]])


def test_years_have_whole_numbers_under_their_bars():
    for years in ([2019.0, 2020.0, 2020.0], np.arange(1990.0, 2024.0)):
        assert all(re.fullmatch(r"\d{4}", word) for word in words(as_read(years)) if word)
    assert "0.5" in words(as_read([0.0, 0.5, 1.0]))  # a number that is not whole keeps its fractions


def test_names_of_levels_have_the_room_that_capitals_take():
    x = {name: float(re.search(rf'<text x="([0-9.]+)"[^>]*>{name}', by_level([2, 1], [name, "b"]))[1]) for name in
         ("female", "FEMALE")}  # fmt: skip
    assert x["FEMALE"] > x["female"]
    assert "textLength" in by_level([2, 1], ["W" * 15, "b"])


def test_a_level_that_few_rows_have_is_not_said_to_have_none():
    svg = by_level([998, 2, 0], ["common", "rare", "never"])
    assert re.findall(r'class="start">([^<]*)<', svg) == ["&gt; 99%", "&lt; 1%", "0%"]
