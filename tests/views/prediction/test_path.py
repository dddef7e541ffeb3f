"""The coefficient path: true values, the largest named without names over names, the choice marked."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import LinearAxis
from bokeh.models.annotations.geometry import Span
from bokeh.models.annotations.labels import Label
from bokeh.models.annotations.legends import Legend
from bokeh.models.glyphs import Line, MultiLine
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.prediction.path import LINES, NAMED, apart, coefficient_path_view

STRENGTHS = np.logspace(-2, 3, 11)
FULL = np.array([5.0, -3.0, 0.5])
PATH = FULL / (1 + STRENGTHS[:, None])


def said(plot):
    return " ".join(item.label.value for part in plot.below if isinstance(part, Legend) for item in part.items)


def lines(plot):
    """Values of the named columns by name."""
    named = [r.data_source.data for r in plot.renderers if isinstance(r.glyph, Line) and "name" in r.data_source.data]
    return {data["name"][0]: data for data in named}


def written(plot):
    sides = [part for part in (*plot.left, *plot.right) if isinstance(part, LinearAxis)]
    return {t.text: y for part in sides for y, t in part.major_label_overrides.items() if hasattr(t, "text")}


def test_each_column_is_a_line_over_ascending_strengths():
    order = np.random.default_rng(0).permutation(11)
    drawn = lines(coefficient_path_view(STRENGTHS[order], PATH[order], ["age", "dose", "sex"]))
    assert set(drawn) == {"age", "dose", "sex"}
    np.testing.assert_array_equal(drawn["dose"]["x"], STRENGTHS)
    np.testing.assert_array_equal(drawn["dose"]["y"], PATH[:, 1])


def test_names_stand_where_the_lines_are_apart():
    weak = coefficient_path_view(STRENGTHS, PATH, ["age", "dose", "sex"])
    assert list(written(weak)) == ["age", "dose", "sex"] and len(weak.left) == 1  # names at the left, numbers right
    strong = coefficient_path_view(STRENGTHS, PATH[::-1], ["age", "dose", "sex"])
    assert set(written(strong)) == {"age", "dose", "sex"} and len(strong.right) == 1
    assert written(weak)["age"] > written(weak)["sex"] > written(weak)["dose"]


def test_the_choice_is_marked_and_named():
    plot = coefficient_path_view(STRENGTHS, PATH, chosen=10.0)
    assert 10.0 in [part.location for part in plot.center if isinstance(part, Span)]
    assert [part.text.text for part in plot.center if isinstance(part, Label)] == ["chosen: 10"]
    zero = coefficient_path_view([0.0, 1.0, 10.0], PATH[:3], chosen=0.0)
    assert [part.text.text for part in zero.center if isinstance(part, Label)] == ["chosen: 0"]


def test_a_strength_of_zero_is_drawn_below_the_least_other_one():
    plot = coefficient_path_view([0.0, 0.1, 1.0], PATH[:3])
    drawn = lines(plot)["column 1"]
    assert 0 < drawn["x"][0] < 0.1 and drawn["strength"][0] == "0"
    assert plot.xaxis[0].major_label_overrides[drawn["x"][0]] == "0"
    assert plot.x_range.start < drawn["x"][0]
    embed({"only zero": coefficient_path_view([0.0], [[1.0, 2.0]])})


def test_of_many_columns_the_largest_are_named_the_next_faint_and_the_rest_told():
    rng = np.random.default_rng(0)
    size = rng.permutation(20_000) / 20_000.0
    plot = coefficient_path_view(STRENGTHS[:3], np.stack([size, size / 2, size / 4]))
    largest = np.argsort(-size)
    assert set(lines(plot)) == {f"column {j + 1}" for j in largest[:NAMED]}
    (faint,) = [r for r in plot.renderers if isinstance(r.glyph, MultiLine)]
    assert len(faint.data_source.data["y"]) == LINES - NAMED
    assert faint.data_source.data["name"][0] == f"column {largest[NAMED] + 1}"
    told = said(plot)
    assert "200 of 20,000 columns are drawn; the others reach at most 0.99." in told
    assert "The 10 columns with the largest coefficients are named." in told


def test_lines_that_cross_can_be_told_without_colour():
    plot = coefficient_path_view(STRENGTHS, np.outer(1 / (1 + STRENGTHS), np.arange(1.0, 7.0)))
    dashes = [
        tuple(r.glyph.line_dash) for r in plot.renderers if isinstance(r.glyph, Line) and "name" in r.data_source.data
    ]
    assert len(set(dashes)) == 3


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-5, 5), max_size=12), st.floats(0.01, 2.0))
def test_names_keep_their_order_their_distance_and_the_frame(heights, gap):
    placed = apart(heights, gap, (-5.0, 5.0))
    least = min(gap, 10.0 / max(len(heights), 1))
    order = np.argsort(heights, kind="stable")
    assert np.all(np.diff(placed[order]) >= least - 1e-9)
    assert np.all((placed >= -5 + least / 2 - 1e-9) & (placed <= 5 - least / 2 + 1e-9))
    if len(heights) == 1:
        assert placed[0] == pytest.approx(np.clip(heights[0], -5 + least / 2, 5 - least / 2))


@pytest.mark.parametrize(
    ("strengths", "table"),
    [([1.0], [[2.0]]), ([1.0, 2.0], np.zeros((2, 3))), (np.array([0.0, 1e-300, 1e300]), np.ones((3, 2)) * 1e300),
     ([2.0, 3.0], np.full((2, 1), 1e-300)), ([1.0, 1.0], [[1.0], [2.0]]), ([1.0, 2.0], np.empty((2, 0)))],
)  # fmt: skip
def test_any_range_can_be_drawn(strengths, table):
    plot = coefficient_path_view(strengths, table)
    assert 0 < plot.x_range.start < plot.x_range.end and plot.y_range.start < plot.y_range.end
    assert np.isfinite([plot.x_range.end, plot.y_range.end]).all()
    embed({"path": plot})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"strengths": -STRENGTHS}, "strengths are not negative, at least one; got -1000"),
        ({"strengths": [], "coefficients": np.empty((0, 3))}, "at least one; got none"),
        ({"coefficients": PATH[:3]}, r"coefficients is a table, lines and columns \(11, any number\); got .* \(3, 3\)"),
        ({"coefficients": np.where(PATH[2, 1] == PATH, np.nan, PATH)}, r"coefficients holds .* got nan at \(2, 1\)"),
        ({"chosen": 1e4}, "chosen lies between the strengths 0.01 and 1000; got 10000"),
        ({"names": ["a"]}, "names are one per column, 3 of them; got 1"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(change, text):
    with pytest.raises(ParameterError, match=text):
        coefficient_path_view(**({"strengths": STRENGTHS, "coefficients": PATH} | change))
