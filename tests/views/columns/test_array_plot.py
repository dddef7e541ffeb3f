"""Shades of an array plot: order kept, missing apart for every eye, extremes clipped, columns chosen as stated."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from assay.errors import ParameterError
from assay.views.columns import array_plot as ap

# what a protanope and a deuteranope see, linear RGB: Viénot, Brettel and Mollon, Color Res. Appl. 24 (1999)
SEEN_BY = {
    "all": np.eye(3),
    "protanope": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    "deuteranope": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
}


def light(color: str) -> np.ndarray:
    rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(color: str, eye: str) -> float:
    return float(np.clip(np.array(SEEN_BY[eye]) @ light(color), 0, 1) @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("eye", SEEN_BY)
def test_missing_is_darker_than_every_value_for_every_eye_and_in_grey(eye):
    missing, *values = (luminance(color, eye) for color in ap.palette())
    assert all((value + 0.05) / (missing + 0.05) > 3 for value in values)


@pytest.mark.parametrize("eye", SEEN_BY)
def test_the_scale_darkens_evenly_to_both_sides_and_its_ends_differ(eye):
    colors = ap.palette()[1:]
    values = np.array([luminance(color, eye) for color in colors])
    assert np.all(np.diff(values[:31]) > 0)
    assert np.all(np.diff(values[30:]) < 0)
    ends = [np.cbrt(np.clip(np.array(SEEN_BY[eye]) @ light(colors[i]), 0, 1)) for i in (0, -1)]
    assert np.linalg.norm(ends[0] - ends[1]) > 0.3


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 5))))
def test_shades_keep_the_order_and_only_what_is_missing_is_missing(values):
    centre, scale = np.zeros(values.shape[1]), np.ones(values.shape[1])
    for shades in (ap.standardised(values, centre, scale), ap.on_one_scale(values, 1e3)):
        assert shades.dtype == np.uint8
        assert np.array_equal(shades == 0, np.isnan(values))
        assert shades.max() <= 61
        there = values[~np.isnan(values)], shades[~np.isnan(values)]
        order = np.argsort(there[0], kind="stable")
        assert np.all(np.diff(there[1][order].astype(int)) >= 0)


def test_a_shade_is_a_tenth_of_a_standard_deviation():
    z = np.arange(-30, 31) / 10
    shades = ap.standardised((5 + 2 * z)[:, None], [5.0], [2.0])[:, 0]
    assert np.array_equal((shades.astype(int) - 31) / 10, z)


@pytest.mark.parametrize("shift", [1e8, -1e-300, 1e300])
def test_standardising_forgets_where_and_how_wide_a_column_is(shift):
    x = np.array([[-1.0], [0.0], [1.0], [np.nan]])
    width = abs(shift) / 100
    moved = ap.standardised(shift + width * x, [shift], [width])
    assert np.array_equal(moved, ap.standardised(x, [0.0], [1.0]))


@pytest.mark.parametrize("scale", [0.0, np.nan, np.inf])
def test_a_column_without_a_scale_is_neutral_where_it_is_there(scale):
    assert ap.standardised([[7.0], [np.nan], [1e308]], [7.0], [scale])[:, 0].tolist() == [31, 0, 31]


def test_infinite_values_get_the_ends_of_the_scale():
    assert ap.standardised([[np.inf], [-np.inf]], [0.0], [1.0])[:, 0].tolist() == [61, 1]


def test_without_standardising_only_the_column_of_large_scale_has_colour():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((200, 3)) * [1.0, 50.0, 10_000.0]
    shades = ap.on_one_scale(values, ap.common_limit(values)).astype(int)
    spread = np.abs(shades - 31).mean(axis=0)
    assert spread[2] > 8
    assert spread[0] == 0 and spread[1] < 0.5


@pytest.mark.parametrize("values", [[[0.0, 0.0]], [[np.nan]], np.empty((0, 2)), [[np.inf]]])
def test_the_common_scale_of_nothing_is_one(values):
    assert ap.common_limit(values) == 1.0


def test_one_cell_out_of_all_bounds_does_not_set_the_common_scale():
    values = np.ones((100, 2))
    values[3, 1] = 1e12
    assert ap.common_limit(values) == 1.0


def test_the_figure_tells_cells_by_shade_and_name_and_never_by_value():
    shades = np.array([[0, 31, 61], [1, 2, 3]], dtype=np.uint8)
    plot = ap.array_plot(shades, ["a", "$$b$$", "c"], ["number", "number", "category"], [7, 9], told="units")
    assert plot.tags == ["array", ["a", "$$b$$", "c"], [1, 1, 0], [7, 9], "units"]
    source = plot.renderers[0].data_source.data
    assert list(source) == ["image"] and source["image"][0].dtype == np.uint8
    mapper = plot.renderers[0].glyph.color_mapper
    assert (mapper.high - mapper.low) / len(mapper.palette) == 1.0
    assert plot.below[0].major_label_overrides[1].text == "$$b$$"
    assert plot.y_range.start > plot.y_range.end


def test_shades_that_do_not_fit_their_names_are_refused():
    with pytest.raises(ParameterError, match=re.escape("got shape (1, 2) for 1 rows, 1 names and 2 kinds")):
        ap.array_plot(np.zeros((1, 2), dtype=np.uint8), ["a"], ["number"] * 2, [1])
    with pytest.raises(ParameterError, match="one per column; got"):
        ap.standardised([[1.0, 2.0]], [0.0], [1.0])
    with pytest.raises(ParameterError, match=re.escape("got an array of shape (1,)")):
        ap.on_one_scale([1.0], 1.0)
