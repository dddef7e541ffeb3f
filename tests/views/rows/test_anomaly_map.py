"""The anomaly map: every flagged row is seen and told from the others without colour, and what is left out is said."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import ContourRenderer, HoverTool
from bokeh.models.annotations.labels import Label
from bokeh.models.annotations.legends import Legend

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.rows.anomaly_map import FLAGGED, SAMPLE, WHOLE, anomaly_map

RNG = np.random.default_rng(0)
PLACES = RNG.standard_normal((60, 2))
SCORES = -np.linalg.norm(PLACES, axis=1)
OUT = np.sort(SCORES)[4] > SCORES  # the four farthest
HOSTILE = "<script>x</script> @row ${y} $$z$$"


def data(plot):
    return plot.renderers[0].data_source.data


def said(plot, side="below"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def labels(plot):
    return [part.text.text for part in plot.center if isinstance(part, Label)]


def test_all_rows_are_drawn_in_their_places_the_flagged_on_top():
    shown = data(anomaly_map(PLACES, SCORES, OUT, rows=np.arange(100, 160)))
    at = shown["row"] - 100
    assert sorted(at) == list(range(60)) and OUT[at[-4:]].all()
    np.testing.assert_array_equal(np.stack([shown["x"], shown["y"]], axis=1), PLACES[at])
    np.testing.assert_array_equal(shown["score"], SCORES[at])


def test_flagged_rows_differ_by_shape_size_outline_and_colour():
    shown = data(anomaly_map(PLACES, SCORES, OUT))
    for look in ("shape", "tint"):
        flagged, others = set(shown[look][-4:]), set(shown[look][:-4])
        assert len(flagged) == len(others) == 1 and flagged != others
    for look in ("size", "width", "line"):
        assert shown[look][-4:].min() > shown[look][:-4].max()


def test_the_flagged_are_named_by_number_or_by_name_and_no_others():
    assert sorted(labels(anomaly_map(PLACES, SCORES, OUT))) == sorted(str(i + 1) for i in np.flatnonzero(OUT))
    names = [f"customer {i}" for i in range(60)]
    plot = anomaly_map(PLACES, SCORES, OUT, names=names)
    assert set(labels(plot)) == {names[i] for i in np.flatnonzero(OUT)}
    assert "@name" in plot.select_one(HoverTool).tooltips


def test_the_pointer_shows_score_and_details_and_none_of_their_words_are_read_as_markup():
    details = {"q": SCORES**2, HOSTILE: ["Milk", None] * 30}
    plot = anomaly_map(PLACES, SCORES, OUT, names=[HOSTILE] * 60, details=details)
    tips = plot.select_one(HoverTool).tooltips
    assert "@score" in tips and "@detail0" in tips and "@detail1" in tips
    assert "<script>" not in tips and "@row ${y}" not in tips
    shown = data(plot)
    assert shown["detail0"][0] == f"{SCORES[shown['row'][0] - 1] ** 2:.3g}"
    assert set(shown["detail1"]) == {"Milk", ""}
    assert HOSTILE not in embed({"map": plot})[0]  # in the page it stands escaped


def test_the_boundary_is_where_the_decision_changes_sign():
    plot = anomaly_map(PLACES, SCORES, OUT, boundary=lambda at: 2.0 - np.linalg.norm(at, axis=1))
    (drawn,) = (r for r in plot.renderers if isinstance(r, ContourRenderer))
    lines = drawn.line_renderer.data_source.data
    points = np.stack([np.concatenate(lines["xs"]), np.concatenate(lines["ys"])], axis=1)
    points = points[np.isfinite(points).all(axis=1)]
    assert len(points) > 100 and np.linalg.norm(points, axis=1) == pytest.approx(2.0, abs=1e-2)
    assert said(plot, "above") == ["flagged", "other rows", "boundary of the detector"]


def test_how_many_are_flagged_is_said_also_when_none_is():
    assert said(anomaly_map(PLACES, SCORES, OUT))[0] == "4 of 60 rows are flagged (6.7%)."
    one = np.arange(60) == 7
    assert said(anomaly_map(PLACES, SCORES, one))[0].startswith("1 of 60 rows is flagged (1.7%).")
    none = anomaly_map(PLACES, SCORES, np.zeros(60, dtype=bool))
    assert said(none) == ["None of 60 rows is flagged."] and said(none, "above") == ["other rows"]
    assert labels(none) == []


def test_rows_without_a_place_are_counted_and_the_flagged_among_them():
    places = PLACES.copy()
    places[[0, 1]] = np.nan
    plot = anomaly_map(places, SCORES, np.arange(60) < 1)
    assert len(data(plot)["row"]) == 58
    assert "Rows without a place on the map: 2, 1 of them flagged." in said(plot)[0]
    assert anomaly_map(np.full((3, 2), np.nan), [0.0] * 3, [True, False, False], boundary=lambda at: at[:, 0])


def test_of_too_many_rows_fair_samples_are_drawn_with_the_most_unusual_and_a_shade_of_all():
    many = RNG.standard_normal((WHOLE + 3000, 2))
    scores = -np.linalg.norm(many, axis=1)
    out = scores < np.sort(scores)[FLAGGED + 500]
    plot = anomaly_map(many, scores, out)
    at = data(plot)["row"] - 1
    assert np.count_nonzero(out[at]) == FLAGGED and np.count_nonzero(~out[at]) == SAMPLE
    assert set(np.argsort(scores)[:40]) <= set(at)
    words = said(plot)[0]
    assert "3,000 rows are drawn as points; the shade counts all 8,000." in words
    assert "Of those flagged 1,000 are drawn, the most unusual among them." in words
    assert "The 12 most unusual are named" in words and len(labels(plot)) <= 12
    image = next(r for r in plot.renderers if type(r.glyph).__name__ == "Image")
    assert image.data_source.data["image"][0].max() > 0


def test_axes_and_a_title_are_written_as_they_are():
    plot = anomaly_map(PLACES, SCORES, OUT, axes=("x, cm", HOSTILE), title=HOSTILE)
    assert plot.yaxis.axis_label.text == HOSTILE and plot.xaxis.visible
    assert next(part.title for part in plot.above if isinstance(part, Legend)) == HOSTILE
    assert not anomaly_map(PLACES, SCORES, OUT).xaxis.visible


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"coordinates": PLACES[:, :1]}, r"two numbers or more per row; got an array of shape \(60, 1\)"),
        ({"coordinates": np.where(PLACES[3, 0] == PLACES, np.inf, PLACES)}, "finite or NaN; row 3 "),
        ({"scores": SCORES[:5]}, r"scores has one entry per row; got shape \(5,\) for 60 rows"),
        ({"flagged": np.where(OUT, -1, 1)}, r"true or false for each row; got int64 .* predict\(X\) == -1"),
        ({"names": ["a"]}, r"names has one entry per row; got shape \(1,\)"),
        ({"details": {"q": [1.0]}}, r"q has one entry per row; got shape \(1,\)"),
        ({"boundary": lambda at: at}, r"boundary gives one decision per place; got shape \(25600, 2\)"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(change, text):
    with pytest.raises(ParameterError, match=text):
        anomaly_map(**({"coordinates": PLACES, "scores": SCORES, "flagged": OUT} | change))


def test_a_boundary_over_the_order_of_rows_ends_with_the_first_and_the_last():
    n = 50
    distance = np.r_[np.linspace(1, 2, n - 1), 9.0]
    places = np.stack([np.arange(1.0, n + 1), distance], axis=1)
    plot = anomaly_map(
        places, -distance, distance > 5, boundary=lambda at: 5 - at[:, 1], axes=("row", "distance"), equal=False
    )
    (line,) = [one for one in plot.renderers if isinstance(one, ContourRenderer)]
    xs = np.concatenate([np.ravel(x) for x in line.line_renderer.data_source.data["xs"]])
    assert (np.nanmin(xs), np.nanmax(xs)) == (1.0, n)
