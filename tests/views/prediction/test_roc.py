"""ROC and calibration: the points as given, chance and truth to compare with, ranges and counts beside them."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import HoverTool
from bokeh.models.annotations.legends import Legend
from bokeh.models.glyphs import Line, Quad, Segment, VArea

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.prediction.roc import calibration_view, roc_view

ACROSS, UP = np.array([0.0, 0.0, 0.25, 0.5, 1.0]), np.array([0.0, 0.5, 0.5, 1.0, 1.0])


def said(plot, side="below"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def title(plot):
    return next(part.title for part in plot.above if isinstance(part, Legend))


def data(plot, kind):
    return [r.data_source.data for r in plot.renderers if isinstance(r.glyph, kind)]


def test_the_curve_chance_the_band_and_the_area_are_drawn_as_given():
    band = (np.array([0.0, 1.0]), np.array([0.0, 0.9]), np.array([0.7, 1.0]))
    plot = roc_view(
        ACROSS, UP, area=0.8125, interval=(0.4, 0.96), band=band, thresholds=[np.inf, 4, 3, -2, -5], chosen=(0.25, 0.5),
        positive="ill",
    )  # fmt: skip
    curve, chance = data(plot, Line)[:2]
    np.testing.assert_array_equal(np.stack([curve["x"], curve["y"]]), [ACROSS, UP])
    assert curve["threshold"] == ["inf", "4", "3", "−2", "−5"]
    assert (list(chance["x"]), list(chance["y"])) == ([0, 1], [0, 1])
    (shade,) = data(plot, VArea)
    assert (list(shade["y1"]), list(shade["y2"])) == ([0.0, 0.9], [0.7, 1.0])
    assert title(plot) == "area 0.812 (0.400 to 0.960)"
    assert said(plot, "above") == [
        "the rule", "95% band", "chance", "chosen: 50.0% found, 25.0% false alarms",
    ]  # fmt: skip
    assert plot.yaxis.axis_label.text == "called ill, of the ill rows"
    assert (plot.x_range.start, plot.x_range.end) == (plot.y_range.start, plot.y_range.end) == (-0.02, 1.02)


def test_points_on_straight_parts_are_left_out_and_very_many_thinned():
    line = np.linspace(0, 1, 400)
    (curve, _) = data(roc_view(line, line), Line)
    assert len(curve["x"]) < 400 and (curve["x"][0], curve["x"][-1]) == (0.0, 1.0)
    stairs = np.repeat(np.linspace(0, 1, 5001), 2)
    (curve, _) = data(roc_view(stairs[1:], stairs[:-1]), Line)
    assert len(curve["x"]) == 1500
    at = np.searchsorted(stairs, curve["x"])
    assert np.all(np.abs(stairs[at] - curve["y"]) < 1e-3)  # what is kept are points of the curve
    embed({"empty": roc_view([], []), "ends": roc_view([0.0, 1.0], [0.0, 1.0])})


def test_bins_lie_where_they_are_with_range_and_count_and_empty_ones_are_not_drawn():
    nan = np.nan
    plot = calibration_view(
        [0.1, nan, 0.8], [0.2, nan, 0.7], [30, 0, 1200], lower=[0.1, nan, 0.65], upper=[0.4, nan, 0.75], error=0.1,
        event="was ill",
    )  # fmt: skip
    (ranges,) = data(plot, Segment)
    assert (ranges["predicted"].tolist(), ranges["observed"].tolist()) == ([0.1, 0.8], [0.2, 0.7])
    assert (ranges["lower"].tolist(), ranges["count"]) == ([0.1, 0.65], ["30", "1,200"])
    (bars,) = data(plot, Quad)
    np.testing.assert_allclose(bars["left"], [0, 1 / 3, 2 / 3])
    heights = np.asarray(bars["top"]) - plot.y_range.start
    assert heights[1] < heights[0] < heights[2] and max(bars["top"]) < 0 and bars["text"] == ["30", "0", "1200"]
    assert title(plot) == "expected calibration error 0.100"
    assert said(plot) == ["Bars: rows per bin, 1,230 together. Below the diagonal: said too often."]
    assert plot.yaxis.axis_label.text == "was ill" and plot.yaxis.bounds == (0.0, 1.0)
    assert any("@lower" in tool.tooltips for tool in plot.select(HoverTool))


def test_bars_follow_the_edges_and_many_bins_go_without_numbers():
    (bars,) = data(calibration_view([0.1, 0.6], [0.1, 0.6], [5, 5], edges=[0.0, 0.2, 1.0]), Quad)
    assert bars["right"].tolist() == [0.2, 1.0]
    many = np.linspace(0.01, 0.99, 50)
    embed({"many": calibration_view(many, many, np.ones(50)), "none": calibration_view([], [], [])})


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: roc_view(ACROSS, UP[:2]), r"true_positive has one number per point; got .* \(2,\) for 5 points"),
        (lambda: roc_view(ACROSS, UP[::-1]), "ascend together, from strict to lenient thresholds"),
        (lambda: roc_view(ACROSS * 2, UP), "false_positive holds shares from 0 to 1; got 2"),
        (
            lambda: roc_view(ACROSS, UP, thresholds=[1.0]),
            r"thresholds has one number per point; got .* for 5",
        ),
        (lambda: roc_view(ACROSS, UP, band=([0.0], [0.0], [])), "band has three arrays of one length; got 1, 1 and 0"),
        (lambda: calibration_view([0.5], [np.nan], [3]), "observed holds finite numbers .* got nan at 0"),
        (lambda: calibration_view([0.5], [0.5], [3, 4]), r"predicted has one number per bin; got shape \(1,\) for 2"),
        (lambda: calibration_view([0.5], [0.5], [-3]), "counts are not negative; got -3"),
        (lambda: calibration_view([0.5], [0.5], [3], lower=[0.1]), "lower and upper go together"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(call, text):
    with pytest.raises(ParameterError, match=text):
        call()
