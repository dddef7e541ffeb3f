"""Two columns drawn side by side: where rows, medians and boxes lie, what is written, and refusals."""

import numpy as np
import pytest
from bokeh.models import BasicTickFormatter, Line, NumeralTickFormatter, Scatter, VArea, VBar

from assay.errors import ParameterError
from assay.views.columns.pair import LEVELS, ROWS, Axis, boxes_view, pair_view


def glyphs(plot, kind):
    return [one for one in plot.renderers if isinstance(one.glyph, kind)]


def ticks(axis):
    return [words.text for words in axis.major_label_overrides.values()]


def test_the_line_is_the_running_median_and_the_band_the_quartiles():
    rng = np.random.default_rng(0)
    x = rng.random(3000)
    y = 3 * x + rng.standard_normal(3000)
    plot = pair_view(Axis("x", x), Axis("y", y))
    (line,), (band,) = glyphs(plot, Line), glyphs(plot, VArea)
    at, median = (np.asarray(line.data_source.data[key]) for key in ("x", "y"))
    # windows of 300 rows: the median has an error of 1.25 / sqrt(300), the window an own slope of 3 x .1
    np.testing.assert_allclose(median, 3 * at, atol=4 * 1.25 / np.sqrt(300) + 0.02)
    low, high = (np.asarray(band.data_source.data[key]) for key in ("y1", "y2"))
    np.testing.assert_allclose(high - low, 2 * 0.6745, atol=0.35)


def test_points_are_the_rows_in_their_own_numbers_and_at_most_two_thousand():
    few = pair_view(Axis("x", [1.0, 2.0]), Axis("y", [3.0, 4.0]), rows=[7, 9])
    (points,) = glyphs(few, Scatter)
    data = points.data_source.data
    assert (data["row"].tolist(), data["x"].tolist(), data["y"].tolist()) == ([7, 9], [1.0, 2.0], [3.0, 4.0])
    assert points.data_source.name is None  # not among the rows that a page selects together
    many = pair_view(Axis("x", np.arange(5000.0)), Axis("y", np.arange(5000.0)))
    assert len(glyphs(many, Scatter)[0].data_source.data["row"]) <= ROWS
    assert many.below[-1].items[0].label.value.startswith("2,000 of 5,000 rows are drawn")


def test_a_logarithmic_axis_shows_zero_and_says_the_values_as_they_are():
    x = np.array([0.0, 9.0, 99.0, 999.0])
    plot = pair_view(Axis("x", x, "log"), Axis("y", x))
    data = glyphs(plot, Scatter)[0].data_source.data
    np.testing.assert_allclose(data["x"], np.log(x + 1))
    assert data["x_text"].tolist() == ["0", "9", "99", "999"] and ticks(plot.xaxis[0])[0] == "0"
    with pytest.raises(ParameterError, match="x has values of -1 or less"):
        pair_view(Axis("x", [-1.0, 2.0], "log"), Axis("y", [0.0, 1.0]))


def test_times_are_written_as_dates():
    plot = pair_view(Axis("day", np.arange(0.0, 3000.0, 10), "time"), Axis("y", np.arange(300.0)))
    assert "1972" in " ".join(ticks(plot.xaxis[0]))


def test_every_group_has_a_median_of_its_own_beside_that_of_all():
    rng = np.random.default_rng(1)
    level = np.repeat([0, 1, 2], 60)
    x = rng.standard_normal(180) + 4 * level
    y = 8.0 * level - x
    plot = pair_view(Axis("x", x), Axis("y", y), groups=np.array(["a", "b", "c"])[level])
    lines = [one.data_source.data for one in glyphs(plot, Line)]
    falls = [np.asarray(line["y"])[-1] < np.asarray(line["y"])[0] for line in lines]
    assert falls == [True, True, True, False]
    words = [item.label.value for item in plot.above[-1].items]
    assert words == ["a (60)", "b (60)", "c (60)", "all rows"]


def test_boxes_have_the_quantiles_of_their_level():
    rng = np.random.default_rng(2)
    level, y = rng.integers(3, size=500), rng.lognormal(size=500)
    plot = boxes_view(Axis("ward", level, levels=("a", "b", "c")), Axis("y", y, "log"))
    (boxes,) = glyphs(plot, VBar)
    data = boxes.data_source.data
    for k in range(3):
        own = np.quantile(np.log1p(y[level == k]), [0.05, 0.25, 0.5, 0.75, 0.95])
        np.testing.assert_allclose([data[f"y{j}"][k] for j in range(5)], own)
        assert float(data["t2"][k]) == pytest.approx(np.expm1(own[2]), rel=1e-6)
    assert ticks(plot.xaxis[0]) == [f"{name}\n({np.sum(level == k)})" for k, name in enumerate("abc")]


def test_of_many_levels_the_largest_are_drawn():
    level = np.repeat(np.arange(20), np.arange(1, 21))
    plot = boxes_view(Axis("ward", level, levels=[f"w{k}" for k in range(20)]), Axis("y", np.arange(210.0)))
    names = glyphs(plot, VBar)[0].data_source.data["level"]
    assert len(names) == LEVELS and names[0] == "w8 (9)" and names[-1] == "w19 (20)"
    assert plot.below[-1].items[0].label.value == "The 12 levels with most rows of 20 are drawn."


def test_levels_without_names_and_columns_of_different_length_are_refused():
    with pytest.raises(ParameterError, match="ward needs a name for each of its levels"):
        boxes_view(Axis("ward", [0, 3], levels=("a", "b")), Axis("y", [1.0, 2.0]))
    with pytest.raises(ParameterError, match="y has one number per row; got an array of shape"):
        pair_view(Axis("x", [1.0, 2.0]), Axis("y", [1.0]))


def test_few_or_constant_rows_are_drawn_without_a_line():
    assert not glyphs(pair_view(Axis("x", [1.0]), Axis("y", [2.0])), Line)
    assert not glyphs(pair_view(Axis("x", np.ones(50)), Axis("y", np.arange(50.0))), Line)


def test_thousands_stand_apart_on_an_axis_of_large_numbers_and_years_stay_years():
    plot = pair_view(Axis("year", [2007.0, 2013.0, 2019.0]), Axis("price", [150_000.0, 900_000.0, 2_500_000.0]))
    assert isinstance(plot.xaxis[0].formatter, BasicTickFormatter)
    assert isinstance(plot.yaxis[0].formatter, NumeralTickFormatter) and plot.yaxis[0].formatter.format == "0,0"
