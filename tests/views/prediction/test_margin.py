"""The margin plot: regions, line and margins where the decision says, support vectors ringed, errors crossed."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import ContourRenderer
from bokeh.models.annotations.legends import Legend
from bokeh.models.glyphs import Image

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.prediction.margin import margin_view
from assay.views.rows.cloud import SAMPLE, WHOLE

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 2)) * [1.0, 2.0]
WEIGHTS = np.array([2.0, -1.0])
NOISY = X @ WEIGHTS + RNG.normal(0, 1.5, 60) > 0.5
NAMES = np.where(NOISY, "ill", "healthy")


def decide(at):
    return at @ WEIGHTS - 0.5


def said(plot, side="below"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def contours(plot):
    found = []
    for part in (r for r in plot.renderers if isinstance(r, ContourRenderer)):
        data = part.line_renderer.data_source.data
        for level, xs, ys in zip(part.levels, data["xs"], data["ys"], strict=True):
            points = np.stack([xs, ys], axis=1)
            found.append((level, points[np.isfinite(points).all(axis=1)]))
    return found


def marks(plot, marker, n):
    """Places of the marks of a shape, that are n or more."""
    drawn = (r for r in plot.renderers if not isinstance(r, ContourRenderer) and r.data_source.name != "rows")
    found = [r for r in drawn if getattr(r.glyph, "marker", "") == marker and len(r.data_source.data["x"]) >= n]
    return [np.stack([r.data_source.data["x"], r.data_source.data["y"]], axis=1) for r in found]


@pytest.fixture(scope="module")
def plot():
    return margin_view(X, NAMES, decide, support=[3, 8, 11], rows=np.arange(60) + 100, axes=("x, cm", "y, cm"))


def test_rows_lie_in_their_places_with_shape_and_colour_of_their_class(plot):
    data = next(r.data_source.data for r in plot.renderers if r.data_source.name == "rows")
    np.testing.assert_array_equal(np.stack([data["x"], data["y"]], axis=1), X)
    assert data["row"][0] == 100 and data["class"].tolist() == NAMES.tolist()
    for look in ("tint", "shape"):
        ill, healthy = set(data[look][NOISY]), set(data[look][~NOISY])
        assert len(ill) == len(healthy) == 1 and ill != healthy
    assert (plot.xaxis.axis_label.text, plot.yaxis.axis_label.text) == ("x, cm", "y, cm")


def test_the_line_and_both_margins_lie_where_the_decision_says(plot):
    drawn = contours(plot)
    assert sorted(level for level, _ in drawn) == [-1.0, 0.0, 1.0]
    for level, points in drawn:
        assert len(points) > 20
        np.testing.assert_allclose(decide(points), level, atol=1e-9)  # the decision is linear, so is the grid


def test_regions_have_the_class_that_the_decision_gives(plot):
    (image,) = [r for r in plot.renderers if isinstance(getattr(r, "glyph", None), Image)]
    values = image.data_source.data["image"][0]
    x = np.linspace(plot.x_range.start, plot.x_range.end, values.shape[1])
    y = np.linspace(plot.y_range.start, plot.y_range.end, values.shape[0])
    np.testing.assert_array_equal(values, decide(np.stack(np.meshgrid(x, y), axis=2)) > 0)


def test_support_vectors_are_ringed_errors_crossed_and_both_counted(plot):
    wrong = (decide(X) > 0) != NOISY
    rings = [at for at in marks(plot, "circle", 3) if len(at) == 3]
    np.testing.assert_array_equal(rings[0], X[[3, 8, 11]])
    (crosses,) = [at for at in marks(plot, "x", 1) if np.isfinite(at).all()]
    np.testing.assert_array_equal(crosses, X[wrong])
    assert said(plot)[0] == (
        f"3 of 60 rows are support vectors. {wrong.sum()} of 60 rows lie on the wrong side ({wrong.mean():.1%})."
    )
    assert said(plot, "above")[2:] == ["decision 0", "margins ±1", "support", "wrong side"]


def test_values_on_a_grid_give_the_same_line_and_no_guess_about_rows():
    x, y = np.linspace(-4, 4, 41), np.linspace(-6, 6, 61)
    values = decide(np.stack(np.meshgrid(x, y), axis=2))
    plot = margin_view(X, NAMES, (x, y, values), support=np.arange(60) < 2)
    np.testing.assert_allclose(decide(contours(plot)[0][1]), 0.0, atol=1e-9)
    assert said(plot) == ["2 of 60 rows are support vectors."]
    told = margin_view(X, NAMES, (x, y, values), at_rows=np.where(NOISY, 1.0, -1.0))
    assert said(told) == ["0 of 60 rows lie on the wrong side (0%)."]


def test_of_too_many_rows_a_fair_sample_is_drawn():
    many = RNG.standard_normal((WHOLE + 1, 2))
    plot = margin_view(many, many[:, 0] > 0, lambda at: at[:, 0] - 0.5)
    data = next(r.data_source.data for r in plot.renderers if r.data_source.name == "rows")
    assert len(data["row"]) == SAMPLE
    wrong = np.count_nonzero((many[:, 0] > 0) & (many[:, 0] <= 0.5))
    assert f"{wrong:,} of 5,001 rows lie on the wrong side" in said(plot)[0]


@pytest.mark.parametrize("factor", [1e-300, 1e299])
def test_any_unit_and_a_rule_that_always_says_the_same(factor):
    plot = margin_view(X * factor, NAMES, lambda at: np.ones(len(at)))
    assert not contours(plot) and said(plot, "above")[2:] == ["wrong side"]
    embed({"plot": plot})


def test_two_rows_in_one_place_can_be_drawn():
    plot = margin_view([[1.0, 2.0], [1.0, 2.0]], ["a", "b"], decide)
    for axis, place in ((plot.x_range, 1.0), (plot.y_range, 2.0)):
        assert axis.start < place < axis.end < np.inf
    assert said(plot) == ["1 of 2 rows lie on the wrong side (50.0%)."]
    assert list(embed({"plot": plot})[1]) == ["plot"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"X": X[:, :1]}, r"X is a table, lines and columns \(any number, 2\); got an array of shape \(60, 1\)"),
        ({"X": np.where(X[5, 1] == X, np.nan, X)}, r"X holds finite numbers .* got nan at \(5, 1\)"),
        ({"classes": NAMES[:4]}, r"classes has one entry per row; got shape \(4,\) for 60 rows"),
        ({"classes": np.arange(60) % 3}, "between two known classes; got 0, 1, 2. Draw one pair"),
        ({"classes": ["a"] * 60}, "between two known classes; got a. Draw one pair"),
        ({"X": np.empty((0, 2)), "classes": []}, "between two known classes; got none"),
        ({"support": [60]}, r"numbers of rows, from 0 to 59; got \[60\]"),
        ({"decision": lambda at: at}, r"decision gives one number per place; got shape \(60, 2\) for 60 places"),
        ({"decision": ([0.0, 1.0], [1.0, 0.0], np.zeros((2, 2)))}, "two ascending places or more"),
        (
            {"decision": ([0.0, 1.0], [0.0, 1.0], np.zeros((2, 3)))},
            r"decision is a table, .* \(2, 2\); got .* \(2, 3\)",
        ),
        ({"at_rows": [1.0]}, "at_rows has one number per row"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(change, text):
    with pytest.raises(ParameterError, match=text):
        margin_view(**({"X": X, "classes": NAMES, "decision": decide} | change))
