"""Complexity and learning curves are drawn as given, with their bands and what was chosen."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.geometry import Span
from bokeh.models.annotations.labels import Label
from bokeh.models.annotations.legends import Legend
from bokeh.models.glyphs import VArea

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.prediction.complexity import complexity_curve_view

AT = np.arange(1, 9)
FIT = 10.0 / AT
OUT = FIT + 0.3 * AT
SE = np.full(8, 0.4)


def said(plot, side="below"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def spans(plot, dimension):
    return [p.location for p in plot.center if isinstance(p, Span) and p.dimension == dimension]


def labels(plot):
    return [part.text.text for part in plot.center if isinstance(part, Label)]


def test_both_curves_the_band_and_both_choices_are_drawn():
    plot = complexity_curve_view(
        AT[::-1], FIT[::-1], OUT[::-1], SE, chosen=6, one_standard_error=4, x_label="columns", y_label="error (kg²)"
    )
    data = plot.renderers[0].data_source.data
    np.testing.assert_array_equal(np.stack([data["value"], data["training"], data["held_out"]]), [AT, FIT, OUT])
    (band,) = [r.data_source.data for r in plot.renderers if isinstance(r.glyph, VArea)]
    np.testing.assert_allclose(np.stack([band["y1"], band["y2"]]), [OUT - SE, OUT + SE])
    assert spans(plot, "height") == [6, 4] and spans(plot, "width") == pytest.approx([OUT[5] + 0.4])
    assert labels(plot) == ["least: 6", "simplest: 4"]
    assert said(plot, "above") == ["held-out rows", "rows fitted", "least + one standard error"]
    assert plot.y_range.start < (OUT - SE).min() and plot.y_range.end > (OUT + SE).max()
    assert (plot.xaxis.axis_label.text, plot.yaxis.axis_label.text) == ("columns", "error (kg²)")


def test_the_curves_are_told_apart_without_colour():
    lines = complexity_curve_view(AT, FIT, OUT).renderers
    assert lines[0].glyph.line_dash != lines[2].glyph.line_dash
    assert lines[1].glyph.marker != lines[3].glyph.marker


def test_names_of_two_choices_stand_away_from_each_other():
    plot = complexity_curve_view(AT, FIT, OUT, chosen=5, one_standard_error=4)
    least, simplest = (part for part in plot.center if isinstance(part, Label))
    assert (least.text_align, simplest.text_align) == ("left", "right") and least.y_offset != simplest.y_offset
    assert labels(complexity_curve_view(AT, FIT, OUT, chosen=5, one_standard_error=5)) == ["least and simplest: 5"]


def test_values_over_orders_of_magnitude_get_a_logarithmic_axis_unless_told():
    wide = np.logspace(-300, 300, 8)
    plot = complexity_curve_view(wide, FIT, OUT, x_label="penalty")
    assert plot.xaxis.axis_label.text == "penalty (log scale)"
    assert 0 < plot.x_range.start < 1e-300 and 1e300 < plot.x_range.end < np.inf
    assert complexity_curve_view(AT * 100, FIT, OUT, logarithmic=False).xaxis.axis_label.text == "complexity"
    embed({"wide": plot})


@pytest.mark.parametrize(
    ("at", "curve"), [([3], [1.0]), ([1, 2], [0.0, 0.0]), ([0, 5], [1e-300, 3e-300]), ([1, 2], [-1e300, 1e300])]
)
def test_any_range_can_be_drawn(at, curve):
    plot = complexity_curve_view(at, curve, curve, np.zeros(len(at)), training_errors=np.zeros(len(at)), chosen=at[0])
    assert plot.y_range.start < plot.y_range.end and np.isfinite([plot.y_range.start, plot.y_range.end]).all()
    embed({"plot": plot})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"training": FIT[:3]}, r"training has one number per value; got an array of shape \(3,\) for 8 values"),
        ({"held_out": np.where(AT == 3, np.nan, OUT)}, "held_out holds finite numbers .* got nan at 2"),
        ({"errors": -SE}, "errors are standard errors, not negative; got -0.4"),
        ({"chosen": 99}, "chosen is one of the values; got 99"),
        ({"one_standard_error": 2.5}, "one_standard_error is one of the values; got 2.5"),
        ({"values": AT - 1, "logarithmic": True}, "needs values above zero; got 0"),
        ({"values": [], "training": [], "held_out": []}, "one value or more; got none"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(change, text):
    with pytest.raises(ParameterError, match=text):
        complexity_curve_view(**({"values": AT, "training": FIT, "held_out": OUT} | change))


def test_one_curve_alone_is_drawn_where_the_other_is_not_known():
    for key in ("training", "held_out"):
        given = {"training": None, "held_out": None, key: [3.0, 2.0]}
        plot = complexity_curve_view([1, 2], given["training"], given["held_out"])
        assert {c for r in plot.renderers for c in r.data_source.data} & {"training", "held_out"} == {key}
    with pytest.raises(ParameterError, match="on the rows fitted, on held-out rows, or both; got neither"):
        complexity_curve_view([1, 2], None, None)
    with pytest.raises(ParameterError, match="chosen and errors belong to held-out rows"):
        complexity_curve_view([1, 2], [3.0, 2.0], None, chosen=1)
