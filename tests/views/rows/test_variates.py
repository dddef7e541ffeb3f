"""Canonical variates: rows and means where they are, circles of the unit that groups have."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.legends import Legend
from bokeh.models.glyphs import MultiLine, Segment

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.rows.cloud import SAMPLE, WHOLE
from assay.views.rows.variates import canonical_variates_view

RNG = np.random.default_rng(0)
GROUPS = np.repeat(["a", "b", "c"], 30)
SCORES = RNG.standard_normal((90, 3)) + np.repeat([[0, 0, 0], [6, 0, 0], [0, 5, 0]], 30, axis=0)
MEANS = np.array([SCORES[g == GROUPS, :2].mean(axis=0) for g in "abc"])


def said(plot, side="below"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def rows(plot):
    return next(r.data_source.data for r in plot.renderers if r.data_source.name == "rows")


def means(plot):
    data = next(r.data_source.data for r in plot.renderers if getattr(r.glyph, "marker", None) == "circle_cross")
    return np.stack([data["x"], data["y"]], axis=1)


def test_rows_means_and_circles_of_one_and_two_units():
    plot = canonical_variates_view(SCORES, GROUPS, share=[0.7, 0.2, 0.1], rows=np.arange(90) + 5)
    np.testing.assert_array_equal(np.stack([rows(plot)["x"], rows(plot)["y"]], axis=1), SCORES[:, :2])
    assert rows(plot)["row"][0] == 5 and plot.match_aspect
    np.testing.assert_allclose(means(plot), MEANS)
    rings = [r.data_source.data for r in plot.renderers if isinstance(r.glyph, MultiLine)]
    for ring, radius in zip(rings, (1.0, 2.0), strict=True):
        for mean, x, y in zip(MEANS, ring["x"], ring["y"], strict=True):
            np.testing.assert_allclose(np.hypot(x - mean[0], y - mean[1]), radius)
    assert plot.yaxis.axis_label.text == "canonical variate 2 (20.0% between groups)"
    assert said(plot, "above") == ["a (30)", "b (30)", "c (30)", "mean of a group"]
    assert "39% and 86%" in said(plot)[0]


def test_a_single_variate_is_drawn_as_one_strip_per_group():
    plot = canonical_variates_view(SCORES[:, :1], GROUPS)
    np.testing.assert_array_equal(rows(plot)["x"], SCORES[:, 0])
    np.testing.assert_array_equal(rows(plot)["y"].round(), np.repeat([0, 1, 2], 30))
    np.testing.assert_allclose(means(plot), np.stack([MEANS[:, 0], [0, 1, 2]], axis=1))
    bars = [r.data_source.data for r in plot.renderers if isinstance(r.glyph, Segment)]
    assert [float(np.mean(bar["x1"] - bar["x0"])) for bar in bars] == pytest.approx([2.0, 4.0])
    assert [text.text for text in plot.yaxis.major_label_overrides.values()] == ["a", "b", "c"]


def test_groups_beyond_ten_are_drawn_alike_and_many_rows_as_a_shade():
    n = WHOLE + 10
    plot = canonical_variates_view(RNG.standard_normal((n, 2)), np.arange(n) % 12)
    assert len(rows(plot)["row"]) == SAMPLE and len(means(plot)) == 10
    assert said(plot, "above")[10].startswith("other (")
    assert "2,000 rows are drawn as points; the shade counts all 5,010." in said(plot)[0]


def test_none_one_and_equal_rows():
    plots = {
        "none": canonical_variates_view(np.empty((0, 2)), []),
        "one": canonical_variates_view([[1.0]], ["a"]),
        "equal": canonical_variates_view(np.full((4, 2), 1e300), ["a", "a", "b", None]),
    }
    assert [len(rows(plot)["row"]) for plot in plots.values()] == [0, 1, 4]
    assert [len(means(plot)) for plot in plots.values()] == [0, 1, 2]
    assert list(embed(plots)[1]) == list(plots)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"scores": SCORES[:, 0]}, r"scores is a table, .* got an array of shape \(90,\)"),
        ({"scores": SCORES[:, :0]}, "one canonical variate or more; got none"),
        ({"scores": np.where(SCORES[0, 1] == SCORES, np.nan, SCORES)}, r"got nan at \(0, 1\)"),
        ({"groups": GROUPS[:2]}, r"groups has one entry per row; got shape \(2,\) for 90 rows"),
        ({"share": [1.0]}, r"share has one number per variate; got an array of shape \(1,\) for 3 variates"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(change, text):
    with pytest.raises(ParameterError, match=text):
        canonical_variates_view(**({"scores": SCORES, "groups": GROUPS} | change))
