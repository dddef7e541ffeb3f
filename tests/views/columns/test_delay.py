"""Correlations over delays: each where it is, the one found apart, chance on both sides of zero."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.labels import Label
from bokeh.models.annotations.legends import Legend
from bokeh.models.glyphs import Scatter, VArea

from assay.errors import ParameterError
from assay.views.columns.delay import delay_view
from assay.views.html.embed import embed

LAGS = np.arange(-2, 5)
FOUND = np.array([0.1, -0.2, 0.0, 0.1, 0.2, -0.8, 0.1])


def said(plot, side="above"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def test_the_delay_found_differs_by_shape_size_and_colour_and_is_named():
    plot = delay_view(LAGS[::-1], FOUND[::-1], 3, chance=0.3, unit="months")
    others, found = [r for r in plot.renderers if isinstance(r.glyph, Scatter)]
    assert others.data_source.data["lag"].tolist() == [-2, -1, 0, 1, 2, 4]
    assert (found.data_source.data["lag"].tolist(), found.data_source.data["correlation"].tolist()) == ([3], [-0.8])
    assert found.glyph.marker != others.glyph.marker and found.glyph.size > others.glyph.size
    assert [p.text.text for p in plot.center if isinstance(p, Label)] == ["3 months: −0.80"]
    assert plot.xaxis.axis_label.text == "delay (months)"
    assert said(plot) == ["reached by chance at one delay in twenty", "a delay", "the delay found"]


def test_chance_is_one_level_or_one_per_lag_in_any_order():
    levels = np.linspace(0.1, 0.4, 7)
    plot = delay_view(LAGS[::-1], FOUND[::-1], chance=levels[::-1])
    (band,) = [r.data_source.data for r in plot.renderers if isinstance(r.glyph, VArea)]
    np.testing.assert_array_equal(np.stack([band["x"], band["y1"], band["y2"]]), [LAGS, -levels, levels])
    assert said(plot) == ["reached by chance at one delay in twenty", "a delay"]


def test_one_lag_and_no_correlation_at_all():
    one, flat = delay_view([0], [1.0], 0), delay_view([0, 1], [0.0, 0.0])
    assert [p.text.text for p in one.center if isinstance(p, Label)] == ["0: 1.00"]
    assert [p for p in flat.center if isinstance(p, Label)] == [] and said(flat) == ["a delay"]
    assert list(embed({"one": one, "flat": flat})[1]) == ["one", "flat"]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: delay_view([0, 1], [0.5]), r"correlations has one number per lag; got .* \(1,\) for 2 lags"),
        (lambda: delay_view([0, 1], [0.5, np.nan]), "correlations holds finite numbers .* got nan at 1"),
        (lambda: delay_view([0, 1], [0.5, 1.5]), "a correlation between -1 and 1 each"),
        (lambda: delay_view([], []), "there is a lag or more"),
        (lambda: delay_view([0, 1], [0.5, 0.5], chance=[0.1]), "chance has one number per lag"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(call, text):
    with pytest.raises(ParameterError, match=text):
        call()
