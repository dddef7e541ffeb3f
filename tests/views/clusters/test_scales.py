"""The choice of the scale: both curves over every scale tried, and the one taken."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.geometry import Span
from bokeh.models.annotations.legends import Legend

from assay.errors import ParameterError
from assay.views.clusters.scales import scale_choice
from assay.views.html.embed import embed

SCALES, RESIDUAL, SHARE = [5, 10, 20], [0.3, 0.01, 0.2], [0.4, 0.9, 1.0]


def curves(plot):
    (legend,) = [part for part in plot.above if isinstance(part, Legend)]
    return [item.renderers[0].data_source.data for item in legend.items]


def test_both_curves_are_drawn_in_the_order_of_the_scales():
    shuffled = [2, 0, 1]
    plot = scale_choice(*(np.array(v)[shuffled] for v in (SCALES, RESIDUAL, SHARE)), 10)
    residual, share = curves(plot)
    assert residual["scale"].tolist() == share["scale"].tolist() == SCALES
    assert residual["residual"].tolist() == RESIDUAL
    assert share["share"].tolist() == SHARE
    assert plot.y_range.start <= 0 and plot.y_range.end >= 1


def test_the_chosen_scale_is_marked():
    plot = scale_choice(SCALES, RESIDUAL, SHARE, 10)
    assert [part.location for part in plot.center if isinstance(part, Span)] == [10]
    assert [part.text.text for part in plot.center if hasattr(part, "text")] == ["chosen: 10"]


def test_a_scale_without_a_map_has_a_share_but_no_residual():
    residual, share = curves(scale_choice(SCALES, [np.nan, 0.1, 0.2], SHARE, 10))
    assert residual["scale"].tolist() == [10, 20]
    assert share["scale"].tolist() == SCALES


def test_scales_far_apart_get_a_log_axis():
    assert scale_choice([0.1, 10.0], [0.1, 0.2], [1, 1], 0.1, what="epsilon").xaxis.axis_label.text.endswith(
        "(log scale)"
    )
    assert scale_choice([0.0, 10.0], [0.1, 0.2], [1, 1], 0.0, what="epsilon").xaxis.axis_label.text.endswith(
        "neighbour"
    )


def test_one_scale_can_be_drawn():
    plot = scale_choice([7], [0.1], [1.0], 7)
    embed({"a": plot})
    drawn = [r.data_source.data["scale"].tolist() for r in plot.renderers if "scale" in r.data_source.data]
    assert drawn and all(scales == [7] for scales in drawn)


def test_mismatched_input_is_refused():
    with pytest.raises(ParameterError, match=r"one number per scale tried; got shapes \(3,\), \(2,\) and \(3,\)"):
        scale_choice(SCALES, [0.1, 0.2], SHARE, 10)
    with pytest.raises(ParameterError, match="what is 'neighbours' or 'epsilon'; got 'radius'"):
        scale_choice(SCALES, RESIDUAL, SHARE, 10, what="radius")
