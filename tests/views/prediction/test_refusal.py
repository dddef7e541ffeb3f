"""Accuracy over refusals, with its range and the share that was chosen."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.geometry import Span
from bokeh.models.annotations.labels import Label
from bokeh.models.glyphs import VArea

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.prediction.refusal import refusal_view


def test_the_curve_its_range_and_the_choice_are_drawn_in_order():
    plot = refusal_view([0.2, 0.0, 0.1], [0.99, 0.9, 0.95], lower=[0.97, 0.8, 0.9], upper=[1, 1, 1], chosen=0.1)
    data = next(r.data_source.data for r in plot.renderers if "refused" in r.data_source.data)
    assert (data["refused"].tolist(), data["accuracy"].tolist()) == ([0.0, 0.1, 0.2], [0.9, 0.95, 0.99])
    (band,) = [r.data_source.data for r in plot.renderers if isinstance(r.glyph, VArea)]
    assert list(band["y1"]) == [0.8, 0.9, 0.97]
    assert [p.location for p in plot.center if isinstance(p, Span)] == [0.1]
    assert [p.text.text for p in plot.center if isinstance(p, Label)] == ["chosen: 10.0%"]
    assert plot.y_range.start < 0.8 and plot.y_range.end > 1.0


def test_one_point_none_and_very_many():
    many = np.linspace(0, 1, 5000)
    thinned = refusal_view(many, many)
    data = next(r.data_source.data for r in thinned.renderers if "refused" in r.data_source.data)
    assert len(data["refused"]) == 1500 and (data["refused"][0], data["refused"][-1]) == (0.0, 1.0)
    np.testing.assert_array_equal(data["refused"], data["accuracy"])
    embed({"one": refusal_view([0.0], [1.0]), "none": refusal_view([], []), "many": thinned})


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: refusal_view([0.0, 1.2], [1, 1]), "share_refused holds shares from 0 to 1; got 1.2"),
        (lambda: refusal_view([0.0], [np.nan]), "accuracy holds finite numbers .* got nan at 0"),
        (lambda: refusal_view([0.0], [1, 1]), r"accuracy has one number per point; got .* \(2,\) for 1 points"),
        (lambda: refusal_view([0.0], [1], lower=[0.5]), "lower and upper go together; got one of them"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(call, text):
    with pytest.raises(ParameterError, match=text):
        call()
