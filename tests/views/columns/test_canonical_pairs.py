"""Canonical pairs: one source for all, both correlations said; loadings, the largest of each side."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.legends import Legend

from assay.errors import ParameterError
from assay.views.columns.canonical_pairs import BARS, PAIRS, canonical_pairs_view, loadings_view
from assay.views.html.embed import embed

RNG = np.random.default_rng(0)
U = RNG.standard_normal((50, 2))
V = U + 0.3 * RNG.standard_normal((50, 2))


def said(plot, side="below"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def rows(plot):
    return next(r.data_source for r in plot.renderers if r.data_source.name == "rows")


def test_pairs_share_one_source_and_say_both_correlations():
    plots = canonical_pairs_view(U, V, [0.95, 0.9], [0.94, -0.1], sides=("diet", "blood"), rows=np.arange(50) + 9)
    assert list(plots) == ["Pair 1", "Pair 2"]
    first, second = plots.values()
    assert rows(first) is rows(second) and rows(first).data["row"][0] == 9
    np.testing.assert_array_equal(rows(first).data["u1"], U[:, 1])
    np.testing.assert_array_equal(rows(first).data["v0"], V[:, 0])
    assert first.above[-1].title == "correlation 0.95 at hand, 0.94 on held-out rows"
    assert second.above[-1].title == "correlation 0.90 at hand, −0.10 on held-out rows"
    assert said(first) == [] and said(second) == [
        "Much of this pair was fitted to chance: it falls on rows not used to find it."
    ]
    assert (second.xaxis.axis_label.text, second.yaxis.axis_label.text) == ("diet, variate 2", "blood, variate 2")


def test_at_most_six_pairs_are_drawn_and_the_rest_told():
    many = RNG.standard_normal((9, 20))
    plots = canonical_pairs_view(many, many, np.ones(20))
    assert len(plots) == PAIRS
    assert said(plots["Pair 6"]) == ["6 of 20 pairs are drawn, the first."]
    assert plots["Pair 1"].above[-1].title == "correlation 1.00 at hand"


def test_many_rows_are_shaded_and_few_or_tiny_ones_drawn():
    (plot,) = canonical_pairs_view(np.arange(6000.0)[:, None], np.zeros((6000, 1)), [0.0]).values()
    assert said(plot) == ["2,000 rows are drawn as points; the shade counts all 6,000."]
    embed(canonical_pairs_view(U[:1] * 1e-300, V[:1] * 1e300, [0.5, 0.1]))
    assert canonical_pairs_view(np.empty((3, 0)), np.empty((3, 0)), []) == {}


def test_loadings_are_bars_from_zero_the_largest_first():
    left, right = np.array([0.1, -0.9, 0.4]), np.linspace(-0.5, 0.45, 20)
    plot = loadings_view(left, right, ["a", "b", "c"], sides=("diet", "blood"))
    one, other = (r.data_source.data for r in plot.renderers)
    assert one["name"].tolist() == ["b", "c", "a"] and one["value"].tolist() == [-0.9, 0.4, 0.1]
    np.testing.assert_array_equal(np.abs(other["value"]), np.sort(np.abs(right))[::-1][:BARS])
    assert other["name"][0] == "column 1" and set(one["y"]).isdisjoint(other["y"])
    assert plot.renderers[1].glyph.hatch_pattern is not None  # told apart without colour
    rest = np.sort(np.abs(right))[::-1][BARS]
    assert said(plot) == [f"blood: 12 of 20 columns, the others reach at most {rest:.3g}."]
    assert said(plot, "above") == ["diet", "blood"] and plot.x_range.end == 1.05


def test_weights_of_any_size_are_drawn():
    plot = loadings_view([1e300, -1.0], [1e-300])
    assert plot.x_range.end > 1e300 and np.isfinite(plot.x_range.end)
    embed({"plot": plot})


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: canonical_pairs_view(U, V[:5], [1, 1]), r"v is a table, lines and columns \(50, 2\); got .* \(5, 2\)"),
        (lambda: canonical_pairs_view(U, V, [1]), r"correlations has one number per pair; got .* for 2 pairs"),
        (lambda: canonical_pairs_view(U, V, [1, 1], [np.nan, 1]), "held_out holds finite numbers .* got nan at 0"),
        (lambda: loadings_view([], [1.0]), "a column or more on either side"),
        (lambda: loadings_view([1.0], [1.0], ["a", "b"]), "names are one per column, 1 of them; got 2"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(call, text):
    with pytest.raises(ParameterError, match=text):
        call()
