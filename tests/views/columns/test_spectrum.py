"""Scree and cumulative figures draw the numbers they are given, beside chance."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import ColumnDataSource
from bokeh.models.annotations.geometry import BoxAnnotation, Span

from assay.errors import ParameterError
from assay.views.columns.spectrum import SHOWN, cumulative, scree


def source_with(plot, column) -> dict:
    return next(s.data for s in plot.select({"type": ColumnDataSource}) if column in s.data)


def annotations(plot, kind):
    return [a for a in plot.center if isinstance(a, kind)]


def words(plot) -> list[str]:
    return [a.text.text for a in plot.center if hasattr(a, "text")]


VALUES = np.array([3.0, 2.0, 0.6, 0.4])


def drawn(**changes):
    options = {
        "share": VALUES / 6, "n_real": 2, "chance_median": [1.2, 1.1, 1.0], "chance_upper": [1.4, 1.3, 1.1],
        "p": [0.001, 0.001, 0.9], "law": (0.5, 1.5),
    }  # fmt: skip
    return scree(changes.pop("values", VALUES), **{**options, **changes})


def test_values_and_chance_are_drawn_where_they_are():
    plot = drawn()
    marks, bars = source_with(plot, "value"), source_with(plot, "median")
    np.testing.assert_array_equal(marks["value"], VALUES)
    np.testing.assert_array_equal(marks["number"], [1, 2, 3, 4])
    np.testing.assert_array_equal(bars["upper"], [1.4, 1.3, 1.1])
    np.testing.assert_array_equal(bars["median"], [1.2, 1.1, 1.0])
    (band,) = annotations(plot, BoxAnnotation)
    assert (band.bottom, band.top) == (0.5, 1.5)
    assert words(plot) == ["noise alone lies in this band"]
    assert plot.y_range.start == 0
    assert plot.y_range.end > 3


@pytest.mark.parametrize("n_real", [0, 1, 4])
def test_as_many_dots_are_filled_as_components_are_real(n_real):
    np.testing.assert_array_equal(source_with(drawn(n_real=n_real), "fill")["fill"], np.arange(4) < n_real)


def test_p_is_shown_for_the_tested_ones_alone():
    said = source_with(drawn(p=[0.0012, np.nan, 1e-9]), "p")["p"]
    assert said == [".0012", "not testable", "less than .0001", "not tested"]


def test_only_the_first_forty_are_drawn_and_that_is_said():
    values = np.linspace(2, 0.1, 300)
    plot = drawn(values=values, share=values / values.sum())
    assert len(source_with(plot, "value")["value"]) == SHOWN == 40
    assert plot.xaxis.axis_label.text == "component (first 40 of 300)"
    assert drawn().xaxis.axis_label.text == "component"


def test_forty_components_are_all_of_forty():
    assert drawn(values=np.ones(40), share=np.ones(40) / 40).xaxis.axis_label.text == "component"


def test_one_component_far_above_the_rest_does_not_press_them_flat():
    values = np.array([4000.0, 3.0, 1.0, 1e-14, 0.0])
    plot = drawn(values=values, share=values / values.sum())
    assert plot.yaxis.axis_label.text == "eigenvalue (log scale)"
    shown = source_with(plot, "value")["value"]
    assert np.all(shown >= plot.y_range.start)
    assert plot.y_range.start > 0
    np.testing.assert_array_equal(shown[:3], values[:3])
    assert drawn().yaxis.axis_label.text == "eigenvalue"


def test_what_is_not_finite_is_not_drawn():
    plot = drawn(chance_median=[1.0, np.nan, 1.0], chance_upper=[1.4, 1.3, np.inf], law=(0.5, np.inf))
    np.testing.assert_array_equal(source_with(plot, "median")["number"], [1])
    assert annotations(plot, BoxAnnotation) == []
    assert np.isfinite(plot.y_range.end)


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 0.0]])
def test_the_smallest_spectra_can_be_drawn(values):
    plot = scree(values, share=values, n_real=0)
    assert plot.y_range.end > plot.y_range.start


def test_arrays_of_the_wrong_shape_are_refused():
    with pytest.raises(ParameterError, match=r"values is one number per component; got an array of shape \(2, 2\)"):
        scree(np.eye(2), share=[1.0], n_real=0)
    with pytest.raises(ParameterError, match="chance_median and chance_upper go together; got 1 and 2 values"):
        drawn(chance_median=[1.0], chance_upper=[1.0, 2.0])


def test_shares_add_up_on_these_rows_and_on_unseen_ones():
    share, held_out = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.2, np.nan])
    plot = cumulative(share, held_out=held_out, n_real=2)
    inside, unseen = (s.data["share"] for s in (r.data_source for r in plot.renderers[1::2]))
    np.testing.assert_allclose(inside, [0, 0.5, 0.8, 1.0])
    np.testing.assert_allclose(unseen, [0, 0.4, 0.6])
    (line,) = annotations(plot, Span)
    assert line.location == 2
    assert words(plot) == ["2 above chance"]


def test_no_line_is_drawn_where_nothing_is_above_chance():
    assert annotations(cumulative([0.6, 0.4], n_real=0), Span) == []


def test_small_shares_fill_the_figure():
    assert cumulative(np.full(1000, 0.001)).y_range.end < 0.06


def test_without_unseen_rows_nothing_is_drawn_for_them():
    assert len(cumulative([0.6, 0.4]).renderers) == 2  # one line and its marks


def test_words_over_the_band_of_noise_stand_where_no_point_is():
    values = np.concatenate([[900.0, 300.0, 100.0], np.geomspace(60.0, 7.2, 30)])
    plot = scree(
        values, share=values / values.sum(), n_real=3, law=(3.0, 7.0),
        chance_median=[120.0, 45.0, 40.0], chance_upper=[130.0, 50.0, 42.0],
    )  # fmt: skip
    ((at, aligned),) = [(a.x, a.text_align) for a in plot.center if hasattr(a, "text")]
    assert at < 1 and aligned == "left"
    ((at, aligned),) = [(a.x, a.text_align) for a in drawn(law=(0.5, 1.5)).center if hasattr(a, "text")]
    assert at > 4 and aligned == "right"


def test_a_component_that_does_not_exist_has_no_tick():
    plot = scree([1.9, 0.1], share=[0.95, 0.05], n_real=1)
    assert list(plot.xaxis[0].ticker.ticks) == [1, 2]
