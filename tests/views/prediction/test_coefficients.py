"""Coefficients are drawn where they are, those farthest from zero first, and those that could be zero look so."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.legends import Legend

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.prediction.coefficients import SHOWN, coefficient_view


def lines(plot):
    """What is drawn, from top to bottom: name and value."""
    parts = {id(r.data_source): r.data_source.data for r in plot.renderers}.values()
    found = [(y, name, value) for d in parts for y, name, value in zip(d["y"], d["name"], d["value"], strict=True)]
    return [(name, value) for _, name, value in sorted(found)]


def words(plot):
    return [item.label.value for part in [*plot.above, *plot.below] if isinstance(part, Legend) for item in part.items]


def test_those_most_half_intervals_from_zero_come_first():
    plot = coefficient_view([5.0, 1.0, -2.0], list("abc"), low=[-1.0, 0.9, -3.0], high=[11.0, 1.1, -1.0])
    assert lines(plot) == [("b", 1.0), ("c", -2.0), ("a", 5.0)]
    assert words(plot) == ["differs from zero", "could be zero"]
    (unsure,) = (
        r.data_source.data
        for r in plot.renderers
        if list(r.data_source.data["name"]) == ["a"] and hasattr(r.glyph, "marker")
    )
    assert (unsure["low"], unsure["high"]) == (-1.0, 11.0)
    embed({"a": plot})


def test_an_interval_of_no_width_is_as_sure_as_can_be_and_one_without_end_is_not_known():
    plot = coefficient_view([9.0, 1.0], ["wide", "exact"], low=[8.0, 1.0], high=[10.0, 1.0])
    assert [name for name, _ in lines(plot)] == ["exact", "wide"]
    plot = coefficient_view([9.0, 1.0], ["free", "held"], low=[-np.inf, 0.5], high=[np.inf, 1.5])
    assert [name for name, _ in lines(plot)] == ["free", "held"]
    spans = {
        n: s
        for r in plot.renderers
        for n, s in zip(r.data_source.data["name"], r.data_source.data["span"], strict=True)
    }
    assert spans == {"free": "not known", "held": "0.5 to 1.5"}
    embed({"a": plot})


def test_without_intervals_size_decides_and_nothing_is_called_clear():
    plot = coefficient_view([0.1, -3.0, 2.0])
    assert [name for name, _ in lines(plot)] == ["column 2", "column 3", "column 1"]
    assert words(plot) == []


def test_of_many_columns_the_first_are_drawn_and_the_others_counted():
    plot = coefficient_view(np.arange(100.0))
    assert len(lines(plot)) == SHOWN
    assert words(plot) == ["25 of 100 columns are drawn, those farthest from zero."]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (({"estimate": []}), "needs one or more"),
        (({"estimate": [1.0], "low": [0.0]}), "low and high go together"),
        (({"estimate": [1.0], "low": [0.0, 1.0], "high": [1.0, 2.0]}), "one number per column, 1; got shape"),
        (({"estimate": [np.nan]}), "finite numbers"),
        (({"estimate": [1.0], "names": ["a", "b"]}), "names"),
    ],
)
def test_what_cannot_be_drawn_is_said(given, told):
    with pytest.raises(ParameterError, match=told):
        coefficient_view(**given)


def test_scores_in_order_are_drawn_as_given_and_not_compared_with_zero():
    plot = coefficient_view([3.0, 2.0, 1.0], ["a", "b", "c"], low=[1.0, 1.9, 0.9], high=[5.0, 2.1, 1.1], in_order=True)
    drawn = plot.renderers[-1].data_source.data
    assert drawn["name"].tolist() == ["a", "b", "c"] and not plot.legend
