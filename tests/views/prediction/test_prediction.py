"""Predictions lie where they are, on the scale of the truth, and intervals that miss it are seen."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.models.annotations.legends import Legend
from bokeh.models.glyphs import Image, Segment

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.prediction.prediction import prediction_view
from assay.views.rows.cloud import SAMPLE, WHOLE

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(100, 20, 80)
SAID = TRUTH + RNG.normal(0, 5, 80)


def said(plot, side="below"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def glyphs(plot, kind):
    return [r for r in plot.renderers if isinstance(r.glyph, kind)]


def rows(plot):
    return next(r.data_source for r in plot.renderers if r.data_source.name == "rows")


def test_rows_and_the_diagonal_share_one_range():
    plot = prediction_view(TRUTH, SAID, rows=np.arange(500, 580), unit="kg")
    data = rows(plot).data
    np.testing.assert_array_equal(data["truth"], TRUTH)
    np.testing.assert_array_equal(data["predicted"], SAID)
    assert data["row"].tolist() == list(range(500, 580))
    ends = (plot.x_range.start, plot.x_range.end)
    assert ends == (plot.y_range.start, plot.y_range.end)
    assert ends[0] < min(TRUTH.min(), SAID.min()) and max(TRUTH.max(), SAID.max()) < ends[1]
    diagonal = next(r for r in plot.renderers if list(r.data_source.data.get("x", [])) == list(ends))
    assert list(diagonal.data_source.data["y"]) == list(ends)
    assert (plot.xaxis.axis_label.text, plot.yaxis.axis_label.text) == ("true (kg)", "predicted (kg)")


def test_the_share_predicted_is_written_with_the_rows_it_is_from():
    title = [part.title for part in prediction_view(TRUTH, SAID, r_squared=0.91234).above if isinstance(part, Legend)]
    assert title == ["R² on held-out rows: 0.912"]
    below = prediction_view(TRUTH, SAID, r_squared=-0.5, held_out=False)
    assert below.above[-1].title == "R² on the rows it was fitted to: −0.500"
    assert prediction_view(TRUTH, SAID).above[-1].title == ""


def test_intervals_of_one_width_are_a_band_and_rows_outside_it_are_marked_and_counted():
    ends = np.stack([SAID - 6, SAID + 6], axis=1)
    missed = np.abs(SAID - TRUTH) > 6
    plot = prediction_view(TRUTH, SAID, intervals=ends)
    band = next(drawn for drawn in plot.renderers if drawn.name == "band").data_source.data
    low, high = np.array(band["y1"]), np.array(band["y2"])
    np.testing.assert_allclose(high - low, 12)
    np.testing.assert_allclose((high + low) / 2, band["x"])
    lost = next(drawn for drawn in plot.renderers if drawn.name == "missed").data_source.data
    np.testing.assert_array_equal(lost["truth"], TRUTH[missed])
    inside = int((~missed).sum())
    assert said(plot)[0] == f"{inside} of 80 intervals hold the truth ({inside / 80:.1%})."
    assert not glyphs(plot, Segment)
    assert "@lower_text to @upper_text" in plot.select_one(HoverTool).tooltips


def test_intervals_of_several_widths_are_lines_and_of_many_rows_only_those_that_miss():
    width = np.linspace(3, 9, len(SAID))
    ends = np.stack([SAID - width, SAID + width], axis=1)
    missed = np.abs(SAID - TRUTH) > width
    kept, lost = glyphs(prediction_view(TRUTH, SAID, intervals=ends), Segment)[:2]
    np.testing.assert_array_equal(lost.data_source.data["truth"], TRUTH[missed])
    np.testing.assert_array_equal(kept.data_source.data["upper"], ends[~missed, 1])
    assert lost.glyph.line_color != kept.glyph.line_color and lost.glyph.line_width > kept.glyph.line_width
    many = glyphs(prediction_view(np.tile(TRUTH, 3), np.tile(SAID, 3), intervals=np.tile(ends, (3, 1))), Segment)
    assert len(many[0].data_source.data["truth"]) == 0
    assert len(many[1].data_source.data["truth"]) == 3 * missed.sum()


def test_of_too_many_rows_a_sample_is_drawn_before_a_shade_of_all():
    truth = RNG.standard_normal(WHOLE + 1)
    plot = prediction_view(truth, truth + 1)
    assert len(rows(plot).data["row"]) == SAMPLE
    assert glyphs(plot, Image)[0].data_source.data["image"][0].max() > 0
    assert said(plot) == ["2,000 rows are drawn as points; the shade counts all 5,001."]


@pytest.mark.parametrize(
    ("truth", "predicted"),
    [([], []), ([3.0], [3.0]), ([5.0] * 9, [5.0] * 9), (TRUTH * 1e-303, SAID * 1e-303), (TRUTH * 1e297, SAID * 1e297)],
)
def test_any_range_of_numbers_can_be_drawn(truth, predicted):
    plot = prediction_view(truth, predicted)
    assert np.isfinite([plot.x_range.start, plot.x_range.end]).all() and plot.x_range.start < plot.x_range.end
    assert isinstance(rows(plot), ColumnDataSource) and "NaN" not in embed({"plot": plot})[0]


def test_units_are_shown_as_they_are_written():
    assert prediction_view(TRUTH, SAID, unit="<b>$$x$$").xaxis.axis_label.text == "true (<b>$$x$$)"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"predicted": SAID[:3]}, r"predicted has one number per row; got an array of shape \(3,\) for 80 rows"),
        ({"truth": np.where(np.arange(80) == 7, np.nan, TRUTH)}, "truth holds finite numbers .* got nan at 7"),
        ({"truth": TRUTH * 1e305}, r"up to 1e\+300 in size; got .* Leave such rows out, or divide by a unit"),
        ({"rows": [1, 2]}, r"rows has one number per row; got shape \(2,\) for 80 rows"),
        ({"intervals": np.zeros((80, 3))}, r"intervals is a table, lines and columns \(80, 2\); got .* \(80, 3\)"),
        ({"intervals": np.tile([2.0, 1.0], (80, 1))}, "from their lower to their upper end; got 2 to 1 in row 0"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(change, text):
    with pytest.raises(ParameterError, match=text):
        prediction_view(**({"truth": TRUTH, "predicted": SAID} | change))


def test_rows_of_which_it_is_not_known_whether_they_were_fitted_are_called_these_rows():
    assert (
        prediction_view([1.0, 2.0], [1.1, 1.8], r_squared=0.9, held_out=None).above[-1].title
        == "R² on these rows: 0.900"
    )
