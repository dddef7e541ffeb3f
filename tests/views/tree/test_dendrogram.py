"""The dendrogram: heights as in the table, every row behind a mark that says so, small whatever the tree."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import FixedTicker, HoverTool, PlainText
from bokeh.models.annotations.legends import Legend
from scipy.cluster.hierarchy import fcluster, linkage

from assay.errors import ParameterError
from assay.summary.graph.merge_table import cut as cut_tree
from assay.views.axes.theme import CHANCE
from assay.views.clusters.groups import COLOURS, grouped
from assay.views.html.embed import embed
from assay.views.tree.dendrogram import ENDS, EVERY, dendrogram

RNG = np.random.default_rng(0)
SMALL = linkage(RNG.standard_normal((12, 3)), "average")
BLOBS = np.vstack([RNG.standard_normal((400, 3)) + 30 * RNG.standard_normal(3) for _ in range(4)])
LARGE = linkage(BLOBS, "ward")


def words(plot):
    """What is written beside the ends, in their order."""
    axis = plot.right[0]
    return [axis.major_label_overrides[at].text for at in axis.ticker.ticks]


def said(plot, side="below"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def glyphs(plot, kind):
    return [marks for marks in plot.renderers if type(marks.glyph).__name__ == kind]


def told(plot, field):
    """What the ends know of themselves, by the marks beside their words."""
    return next(m.data_source.data[field] for m in glyphs(plot, "Scatter") if "who" in m.data_source.data)


def heights_of_forks(plot):
    """From the bars that reach over two branches."""
    data = glyphs(plot, "Segment")[0].data_source.data
    np.testing.assert_array_equal(data["x0"], data["x1"])
    return data["x0"]


def test_every_leaf_of_a_small_tree_is_named_and_forks_lie_at_the_heights_of_the_table():
    names = [f"sample {i}" for i in range(12)]
    plot = dendrogram(SMALL, names=names, scale="linear")
    assert sorted(words(plot)) == sorted(names)
    np.testing.assert_allclose(np.sort(heights_of_forks(plot)), SMALL[:, 2] / SMALL[-1, 2])
    assert said(plot) == []
    assert sorted(words(dendrogram(SMALL)), key=lambda name: int(name[4:])) == [f"row {i}" for i in range(1, 13)]


def test_a_branch_ends_where_the_next_merge_of_its_part_is():
    merges = [[0, 1, 1.0, 2], [2, 3, 3.0, 2], [4, 5, 4.0, 4]]
    bars, branches = (m.data_source.data for m in glyphs(dendrogram(merges, scale="linear"), "Segment"))
    found = sorted(zip(branches["x0"].round(3), branches["x1"].round(3), branches["y0"], strict=True))
    assert found[:4] == [(0.25, 0.0, 0.5), (0.25, 0.0, 1.5), (0.75, 0.0, 2.5), (0.75, 0.0, 3.5)]
    assert found[4:6] == [(1.0, 0.25, 1.0), (1.0, 0.75, 3.0)]
    assert found[6][1:] == (1.0, 2.0)  # the trunk
    assert sorted(zip(bars["y0"], bars["y1"], strict=True)) == [(0.5, 1.5), (1.0, 3.0), (2.5, 3.5)]


def test_of_a_large_tree_the_top_is_drawn_and_all_rows_are_counted():
    plot = dendrogram(LARGE)
    assert len(words(plot)) == ENDS
    assert sum(int(rows.replace(",", "")) for rows in told(plot, "rows")) == len(BLOBS)
    assert f"{len(BLOBS):,} rows; the last {ENDS - 1} of 1,599 merges are drawn." in said(plot)[0]
    assert "A triangle is a part of the tree that is not drawn, as broad as its share of the rows" in said(plot)[0]
    assert len(words(dendrogram(LARGE, max_leaves=100))) == 100
    assert len(words(dendrogram(linkage(BLOBS[:EVERY], "ward")))) == EVERY


def test_triangles_are_as_broad_as_their_share_of_the_rows_with_the_point_at_their_own_merge():
    plot = dendrogram(LARGE, scale="linear")
    data = glyphs(plot, "Patches")[0].data_source.data
    rows = np.array([int(r.replace(",", "")) for r in data["rows"]])
    breadth = np.array([max(ys) - min(ys) for ys in data["ys"]])
    np.testing.assert_allclose(breadth / rows, breadth[0] / rows[0])
    points = np.array([xs[0] for xs in data["xs"]])
    own = LARGE[:, 2] / LARGE[-1, 2]
    assert all(np.isclose(own, point).any() for point in points)
    assert all(xs[1:] == [0.0, 0.0] for xs in data["xs"])


def test_a_cut_colours_its_groups_as_every_view_does():
    plot = dendrogram(LARGE, cut=4)
    labels = cut_tree(LARGE, n_clusters=4)
    looks = grouped(labels)
    assert said(plot, "above") == [*looks.names, said(plot, "above")[-1]]
    assert said(plot, "above")[-1].endswith(": 4 groups")
    line = glyphs(plot, "Segment")[-1]
    assert line.glyph.line_dash != []
    tints = next(m.data_source.data["line_color"] for m in glyphs(plot, "Patches"))
    assert set(tints) == set(looks.colours) <= set(COLOURS)
    bars = glyphs(plot, "Segment")[0].data_source.data["line_color"]
    assert sum(tint == CHANCE for tint in bars) == 3  # the merges above the cut


@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_the_line_of_a_cut_by_number_lies_where_a_cut_by_height_gives_as_many(k):
    line = glyphs(dendrogram(SMALL, cut=k, scale="linear"), "Segment")[-1].data_source.data["x0"][0]
    level = line * SMALL[-1, 2] * (1 if k > 1 else 1.02)  # a line over the last merge is the top of the scale
    assert len(np.unique(fcluster(SMALL, level, "distance"))) == k


def test_a_cut_by_height_agrees_with_scipy():
    level = float(np.median(SMALL[:, 2]))
    plot = dendrogram(SMALL, cut=level)
    many = len(np.unique(fcluster(SMALL, level, "distance")))
    assert said(plot, "above")[-1].endswith(f": {many} groups")


def test_marks_with_rows_of_several_groups_are_grey_and_said_to_be():
    labels = np.where(np.arange(len(BLOBS)) % 2, "odd", "even")
    plot = dendrogram(LARGE, labels=labels)
    assert set(told(plot, "group")) == {"several"}
    assert said(plot)[0].endswith("Grey: rows of several groups.")
    assert said(plot, "above") == ["even (800)", "odd (800)"]


def test_groups_differ_in_shape_too():
    plot = dendrogram(LARGE, cut=4)
    data = next(m.data_source.data for m in glyphs(plot, "Scatter") if "who" in m.data_source.data)
    assert len(set(zip(data["color"], data["marker"], strict=True))) == len(set(data["marker"])) == 4


def test_small_parts_of_a_chain_are_strokes_and_their_rows_are_counted():
    crowds = np.vstack([RNG.standard_normal((900, 2)), RNG.standard_normal((600, 2)) + np.array([12, 0])])
    angle = RNG.uniform(0, 2 * np.pi, 100)
    lone = np.stack([np.cos(angle), np.sin(angle)], axis=1) * RNG.uniform(40, 400, 100)[:, None]
    plot = dendrogram(linkage(np.vstack([crowds, lone]), "single"))
    strokes = next(m for m in glyphs(plot, "Scatter") if "parts" in m.data_source.data).data_source.data
    ends = sum(int(rows.replace(",", "")) for rows in told(plot, "rows"))
    per_branch = {
        (y, rows, parts) for y, rows, parts in zip(strokes["y"], strokes["rows"], strokes["parts"], strict=True)
    }
    off = sum(int(rows.replace(",", "")) for _, rows, _ in per_branch)
    assert ends + off == 1600
    assert f"{off:,} rows in {sum(int(parts.replace(',', '')) for *_, parts in per_branch):,} parts" in said(plot)[0]
    assert max(strokes["x"]) == 1.0  # the last merge of all is one of them


def test_leaves_that_are_groups_are_bars_with_their_rows():
    merges = [[0, 1, 2.0, 2], [2, 3, 5.0, 3]]
    plot = dendrogram(merges, sizes=[100, 300, 50], names=["a", "b", ""], cut=2)
    assert sorted(words(plot)) == ["100 rows: a", "300 rows: b", "50 rows"]
    assert said(plot, "above")[:2] == ["0 (400)", "1 (50)"]
    assert said(plot) == ["A bar is a group as broad as its share of the rows."]
    breadth = [max(ys) - min(ys) for ys in glyphs(plot, "Patches")[0].data_source.data["ys"]]
    assert sorted(np.array(breadth) / max(breadth)) == pytest.approx([1 / 6, 1 / 3, 1])


def test_names_are_never_read_as_html_or_mathematics_and_under_the_pointer_they_are_whole():
    names = ["$$x$$", "<b>bold</b>", "a name that is much too long for the room beside an end", None, *"abcdefgh"]
    plot = dendrogram(SMALL, names=names, labels=names)
    axis = plot.right[0]
    assert all(isinstance(text, PlainText) for text in axis.major_label_overrides.values())
    assert {"$$x$$", "<b>bold</b>", "row 4"} <= set(words(plot))
    assert max(map(len, words(plot))) <= 24
    assert names[2] in told(plot, "who")
    assert all("@" in tool.tooltips for tool in plot.select(HoverTool))
    script, _ = embed({"tree": plot})
    assert not set("<>&\u2028") & set(script)


def test_the_same_tree_gives_the_same_bytes_and_few_of_them_whatever_its_size():
    n = 5_000
    chain = np.column_stack(
        [np.r_[0, np.arange(n, 2 * n - 2)], np.arange(1, n), np.arange(1.0, n), np.arange(2, n + 1)]
    )
    names = [f"a sample with a rather long name, number {i}" for i in range(n)]
    script, _ = embed({"tree": dendrogram(chain, names=names, cut=5)})
    assert script == embed({"tree": dendrogram(chain, names=names, cut=5)})[0]
    assert len(script) < 100_000


def test_a_tree_can_hang_from_the_top():
    plot = dendrogram(SMALL, orientation="top", scale="linear", height_label="distance, km")
    assert isinstance(plot.xaxis.ticker, FixedTicker) and len(plot.xaxis.ticker.ticks) == 12
    assert plot.yaxis.axis_label.text == "distance, km"
    np.testing.assert_allclose(np.sort(glyphs(plot, "Segment")[0].data_source.data["y0"]), SMALL[:, 2] / SMALL[-1, 2])


@pytest.mark.parametrize(
    "merges",
    [np.empty((0, 4)), [[0, 1, 0, 2]], [[0, 1, 0, 2], [2, 3, 0, 3]], *(SMALL * [1, 1, u, 1] for u in (1e300, 1e-300))],
)  # fmt: skip
@pytest.mark.parametrize("scale", ["auto", "log"])
def test_degenerate_trees_can_be_drawn(merges, scale):
    n = len(merges) + 1
    plot = dendrogram(merges, names=["a"] * n, labels=["g"] * n, cut=1, scale=scale)
    assert len(words(plot)) == n
    embed({"tree": plot})


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(ParameterError, match="names has one entry per leaf; got 2 for 12 leaves"):
        dendrogram(SMALL, names=["a", "b"])
    with pytest.raises(ParameterError, match="labels has one entry per leaf; got 3 for 12 leaves"):
        dendrogram(SMALL, labels=[1, 2, 3])
    with pytest.raises(ParameterError, match="max_leaves is a whole number from 2 to 500; got 1"):
        dendrogram(SMALL, max_leaves=1)
    with pytest.raises(ParameterError, match=r"n_clusters must be between 1 and 12 \(the number of items\), is 13"):
        dendrogram(SMALL, cut=13)
    with pytest.raises(ParameterError, match="orientation is 'left' or 'top'; got 'right'"):
        dendrogram(SMALL, orientation="right")
