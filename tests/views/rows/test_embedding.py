"""The map of the rows: true to the coordinates, honest about what is left out, one source with the other figures."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import BoxSelectTool, HoverTool, PlainText
from bokeh.models.annotations.labels import Label
from bokeh.models.annotations.legends import Legend

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.rows.embedding import SAMPLE, WHOLE, add_map, embedding_map
from assay.views.rows.scores import score_pair, score_source

RNG = np.random.default_rng(0)
PLACES = RNG.standard_normal((50, 2))
MANY = RNG.standard_normal((WHOLE + 1, 2))


def marks(plot):
    return plot.renderers[0]


def data(plot):
    return marks(plot).data_source.data


def said(plot, side="below"):
    """What legends and notes say."""
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def image(plot):
    return next(r for r in plot.renderers if type(r.glyph).__name__ == "Image")


def test_rows_lie_where_the_embedding_puts_them_on_axes_of_one_scale():
    plot = embedding_map(np.column_stack([PLACES, np.arange(50.0)]), rows=np.arange(100, 150))
    np.testing.assert_array_equal(np.stack([data(plot)["m1"], data(plot)["m2"]], axis=1), PLACES)
    np.testing.assert_array_equal(data(plot)["row"], np.arange(100, 150))
    assert plot.match_aspect
    assert not embedding_map(PLACES, equal=False).match_aspect
    assert not any(axis.visible for axis in plot.axis)
    assert (marks(plot).glyph.x, marks(plot).glyph.y) == ("m1", "m2")


def test_a_single_coordinate_becomes_a_strip():
    plot = embedding_map(PLACES[:, :1])
    np.testing.assert_array_equal(data(plot)["m1"], PLACES[:, 0])
    assert 0 < np.ptp(data(plot)["m2"]) < 0.2 * np.ptp(PLACES[:, 0])


def test_rows_without_a_place_are_counted_and_the_others_keep_their_numbers():
    places = np.vstack([[np.nan, np.nan], PLACES])
    plot = embedding_map(places, names=[f"n{i}" for i in range(51)])
    np.testing.assert_array_equal(data(plot)["row"], np.arange(2, 52))
    assert data(plot)["m_name"][0] == "n1"
    assert said(plot)[0].startswith("Rows without a place on the map: 1.")
    strip = embedding_map(places[:, :1])
    assert np.isfinite(data(strip)["m2"]).all()
    source = add_map(score_source(np.zeros((51, 2)), np.arange(51)), places)
    linked = embedding_map(source, names=[f"n{i}" for i in range(51)], behind=places)
    assert len(data(linked)["m1"]) == 51
    assert said(linked)[0].startswith("50 rows are drawn as points; the shade counts all 50. Rows without a place on")
    all_lost = embedding_map(np.full((3, 2), np.nan), names=["a", "b", "c"])
    assert said(all_lost) == ["Rows without a place on the map: 3."]


def test_a_map_in_the_source_of_the_scores_is_selected_with_them():
    source = score_source(RNG.standard_normal((50, 2)), np.arange(1, 51))
    before = dict(source.data)
    plot = embedding_map(add_map(source, PLACES), groups=["a", "b"] * 25, names=[f"r{i}" for i in range(50)])
    assert marks(plot).data_source is source is score_pair(source, 1, 2, [0.5, 0.3]).renderers[0].data_source
    assert isinstance(plot.toolbar.active_drag, BoxSelectTool)
    for column, values in before.items():
        assert source.data[column] is values
    other = embedding_map(add_map(source, -PLACES, prefix="t"), prefix="t")
    np.testing.assert_array_equal(source.data["t1"], -source.data["m1"])
    assert marks(other).data_source is source


def test_the_more_points_the_smaller_and_clearer_each_but_never_unseen():
    shown = [embedding_map(RNG.standard_normal((n, 2))) for n in (1, 60, 400, WHOLE)]
    for key in ("m_fill", "m_line"):
        alphas = [float(data(plot)[key][0]) for plot in shown]
        assert alphas == sorted(alphas, reverse=True)
        assert alphas[-1] >= 0.1
    sizes = [marks(plot).glyph.size for plot in shown]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] >= 4


def test_rows_that_cannot_be_trusted_are_drawn_faint_and_said_to_be():
    faint = np.linspace(0, 1, 50)
    plot = embedding_map(PLACES, faint=faint)
    for key in ("m_fill", "m_line"):
        assert np.all(np.diff(data(plot)[key]) < 0)
        assert data(plot)[key][-1] > 0
    assert "@m_faint{0%}" in plot.select_one(HoverTool).tooltips
    assert said(plot) == ["Faint: neighbours on the map are not to be trusted."]


def test_up_to_five_thousand_rows_are_all_drawn():
    plot = embedding_map(MANY[:WHOLE])
    assert len(data(plot)["row"]) == WHOLE
    assert said(plot) == []


def test_beyond_that_a_fair_sample_is_drawn_over_a_shade_that_counts_all_and_this_is_said():
    names = [""] * len(MANY)
    names[4321] = "the one"
    groups = np.arange(len(MANY)) % 3
    plot = embedding_map(MANY, names=names, groups=groups)
    drawn = data(plot)["row"] - 1
    assert len(drawn) == SAMPLE == len(np.unique(drawn))
    np.testing.assert_array_equal(data(plot)["m1"], MANY[drawn, 0])
    assert data(plot)["m_group"].tolist() == [str(groups[i]) for i in drawn]
    assert 4321 in drawn
    assert said(plot) == ["2,000 rows are drawn as points; the shade counts all 5,001."]
    assert said(plot, "above") == ["0 (1,667)", "1 (1,667)", "2 (1,667)"]
    np.testing.assert_array_equal(data(embedding_map(MANY))["m2"], data(embedding_map(MANY))["m2"])


def test_the_shade_covers_every_point_and_is_clear_where_there_is_none():
    plot = embedding_map(MANY)
    shade = image(plot).glyph
    assert shade.x <= MANY[:, 0].min() and shade.x + shade.dw >= MANY[:, 0].max()
    assert shade.y <= MANY[:, 1].min() and shade.y + shade.dh >= MANY[:, 1].max()
    (levels,) = image(plot).data_source.data["image"]
    column = ((MANY[:, 0] - shade.x) / shade.dw * levels.shape[1]).astype(int).clip(max=levels.shape[1] - 1)
    row = ((MANY[:, 1] - shade.y) / shade.dh * levels.shape[0]).astype(int).clip(max=levels.shape[0] - 1)
    filled = np.zeros(levels.shape, dtype=bool)
    filled[row, column] = True
    np.testing.assert_array_equal(levels > 0, filled)
    assert shade.color_mapper.palette[0].endswith("00")


def test_rows_not_drawn_one_by_one_can_lie_behind_those_of_a_source():
    source = add_map(score_source(PLACES, np.arange(50)), PLACES)
    plot = embedding_map(source, behind=MANY)
    assert said(plot) == ["50 rows are drawn as points; the shade counts all 5,001."]
    assert image(plot).glyph.dw > 0


def test_groups_differ_in_colour_and_in_shape():
    groups = np.array([f"g{i % 10}" for i in range(50)])
    plot = embedding_map(PLACES, groups=groups)
    looks = {(tint, shape) for tint, shape in zip(data(plot)["m_tint"], data(plot)["m_shape"], strict=True)}
    assert len({tint for tint, _ in looks}) == len({shape for _, shape in looks}) == 10
    (legend,) = [part for part in plot.above if isinstance(part, Legend)]
    key = legend.items[0].renderers[0].data_source.data
    assert [item.index for item in legend.items] == list(range(10))
    for j, item in enumerate(legend.items):
        row = int(np.flatnonzero(groups == item.label.value.split(" ")[0])[0])
        assert (key["tint"][j], key["shape"][j]) == (data(plot)["m_tint"][row], data(plot)["m_shape"][row])


def test_numbers_are_coloured_on_a_scale_named_above_the_map():
    values = np.arange(50.0)
    values[3] = np.nan
    plot = embedding_map(PLACES, colour=values, colour_label="$$age$$")
    mapper = marks(plot).glyph.fill_color.transform
    assert (mapper.low, mapper.high) == (0, 49)
    assert said(plot, "above") == ["0", "10", "20", "30", "40"]
    assert plot.above[0].title == "$$age$$"


def test_few_names_are_written_and_never_read_as_mathematics_and_all_are_under_the_pointer():
    names = ["$$x$$", "<b>bold</b>", "a name much too long for any figure", ""]
    plot = embedding_map(10 * np.eye(4)[:, :2] + np.arange(8).reshape(4, 2), names=names)
    labels = [part.text for part in plot.center if isinstance(part, Label)]
    assert all(isinstance(text, PlainText) for text in labels)
    assert {"$$x$$", "<b>bold</b>"} <= {text.text for text in labels}
    assert len(labels) == 3
    assert data(plot)["m_name"].tolist() == names
    assert "@m_name" in plot.select_one(HoverTool).tooltips
    crowd = embedding_map(np.tile(PLACES, (2, 1))[:61], names=[f"n{i}" for i in range(61)])
    assert not [part for part in crowd.center if isinstance(part, Label)]


def test_axes_are_named_where_they_mean_something_and_their_words_stay_words():
    plot = embedding_map(PLACES, axes=("east, km", "$$north$$"))
    assert [axis.axis_label.text for axis in plot.axis] == ["east, km", "$$north$$"]
    assert all(isinstance(axis.axis_label, PlainText) for axis in plot.axis)


def test_the_same_map_gives_the_same_bytes_and_nothing_in_it_ends_the_script():
    def page():
        hostile = ["</script><script>1</script>", "<!--", "\ud800", None] * 10
        return embed({"map": embedding_map(PLACES[:40], groups=hostile, names=hostile, axes=("<b>", "</script>"))})

    first = page()
    assert page() == first
    assert not set("<>&\u2028") & set(first[0])


@pytest.mark.parametrize(
    "places", [np.empty((0, 2)), np.empty((0, 1)), [[3.0, 4.0]], np.zeros((7, 2)), 1e300 * PLACES, 1e-300 * PLACES]
)
def test_degenerate_maps_can_be_drawn(places):
    n = len(places)
    plot = embedding_map(places, names=["a"] * n, groups=["g"] * n, faint=[1.0] * n, behind=places if n else None)
    embed({"map": plot})
    assert all(np.isfinite([part.x_offset, part.y_offset]).all() for part in plot.center if isinstance(part, Label))


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(ParameterError, match=r"coordinates have one line per row; got an array of shape \(3,\)"):
        embedding_map([1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match=r"coordinates are finite or NaN; row 1 \(counted from 0\) is not"):
        embedding_map([[0.0, 1.0], [np.inf, 1.0]])
    with pytest.raises(ParameterError, match=r"groups has one entry per row; got shape \(2,\) for 50 rows"):
        embedding_map(PLACES, groups=["a", "b"])
    with pytest.raises(ParameterError, match=r"rows has one number per row; got shape \(2,\) for 50 rows"):
        embedding_map(PLACES, rows=[1, 2])
    with pytest.raises(ParameterError, match="faint runs from 0, to be trusted, to 1, not to be trusted; got 1.5"):
        embedding_map(PLACES, faint=np.full(50, 1.5))
    with pytest.raises(ParameterError, match="coloured by groups or by colour; got both"):
        embedding_map(PLACES, groups=["a"] * 50, colour=np.zeros(50))
    source = score_source(PLACES, np.arange(50))
    with pytest.raises(ParameterError, match="a map has one place per row; got 3 for 50 rows"):
        add_map(source, PLACES[:3])
    with pytest.raises(ParameterError, match=r"places from add_map\(..., prefix='m'\)"):
        embedding_map(source)
