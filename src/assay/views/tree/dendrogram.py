"""The tree of merges: which groups hold together up to which height, readable from ten leaves to a hundred thousand.

Small trees show every leaf by its name. Of larger ones the merges that tell most are drawn; each part below them is a
triangle as broad as its share of the rows, with its point at the height where the part is whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from bokeh.models import ColumnDataSource
from numpy.typing import ArrayLike, NDArray

from assay.errors import ParameterError
from assay.summary.graph.merge_table import as_merges, inversions, whole_at
from assay.summary.graph.merge_table import cut as groups_of_cut
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE
from assay.views.axes.ticks import brief
from assay.views.clusters.groups import Groups
from assay.views.tree.tree_canvas import Orientation, TreeCanvas
from assay.views.tree.tree_layout import Layout, Order, Shown, Tree, choose, lay_out
from assay.views.tree.tree_marks import Looks, draw_branches, draw_ends, draw_forks, draw_twigs
from assay.views.tree.tree_scale import HeightScale, Kind

Entry: TypeAlias = tuple[str, Sequence[Any], int | None]

EVERY = 60
ENDS = 30
MOST = 500


def dendrogram(
    merges: ArrayLike,
    *,
    sizes: ArrayLike | None = None,
    labels: ArrayLike | Sequence[Any] | None = None,
    names: Sequence[Any] | None = None,
    cut: int | float | None = None,
    max_leaves: int | None = None,
    min_size: int | None = None,
    order: Order = "size",
    scale: Kind = "auto",
    orientation: Orientation = "left",
    height_label: str = "height",
) -> Any:
    """Draw a tree of merges, or the part of it that tells most.

    Args:
        merges: (n - 1, 4) SciPy's merge table, as in `merges_` of Agglomerative and Divisive.
        sizes: (n,) rows in each leaf where leaves are groups, as in `leaf_sizes_` of Divisive.
        labels: (n,) group of each leaf, for colours; by default those of the cut.
        names: (n,) of the leaves; by default their numbers, counted from 1.
        cut: draw the line that leaves so many groups, a whole number, or that lies at this height, a float.
        max_leaves: how many ends to draw at most, from 2 to 500; by default all up to 60, else 30.
        min_size: draw parts of fewer rows as strokes on the branch they join; by default only where otherwise half of
            the ends would show less than 1% of the rows while larger merges stay hidden, as in chains.
        order: "size": the larger part first. "table": as the table has them.
        scale: of the heights: "linear", "sqrt", "log", or "auto".
        orientation: where the last merge is: "left", with names to read, or "top".
        height_label: what the heights are, with their unit.

    Returns:
        A Bokeh figure.

    >>> plot = dendrogram([[0, 1, 1.0, 2], [2, 3, 4.0, 3]], names=["Oslo", "Bergen", "Rome"], cut=2)
    >>> [tick.text for tick in plot.right[0].major_label_overrides.values()]
    ['Oslo', 'Bergen', 'Rome']
    """
    table = as_merges(merges)
    tree = Tree.of(table, sizes)
    shown = choose(tree, _most(tree.n, max_leaves), min_size)
    layout = lay_out(tree, shown, order=order)
    level, groups = _cut(table, cut)
    looks = Looks.of(tree, groups if labels is None else _column("labels", labels, tree.n))
    drawn = [*tree.height[layout.forks], *tree.height[layout.ends], tree.height[-1], level or 0.0]
    canvas = TreeCanvas(layout.length, HeightScale.of(drawn, scale), orientation, height_label)
    draw_branches(canvas, tree, layout, looks)
    draw_twigs(canvas, tree, layout, looks)
    draw_ends(canvas, tree, layout, looks, None if names is None else _column("names", names, tree.n))
    draw_forks(canvas, tree, layout, looks)
    entries = [] if looks.groups is None else _group_entries(canvas.plot, looks.groups)
    if level is not None:
        entries.append((_cut_words(level, groups), [_draw_cut(canvas, level)], None))
    if entries:
        legend(canvas.plot, entries, title="group (rows)" if looks.groups is not None else "")
    if told := _caption(tree, shown, layout, looks):
        note(canvas.plot, told)
    return canvas.plot


def _most(n: int, asked: int | None) -> int:
    if asked is None:
        return n if n <= EVERY else ENDS
    if not isinstance(asked, (int, np.integer)) or not 2 <= asked <= MOST:
        raise ParameterError(f"max_leaves is a whole number from 2 to {MOST}; got {asked!r}")
    return int(asked)


def _column(name: str, values: Any, n: int) -> NDArray[Any]:
    column = np.empty(n, dtype=object)
    if len(values) != n:
        raise ParameterError(f"{name} has one entry per leaf; got {len(values)} for {n} leaves")
    column[:] = list(values)
    return column


def _cut(table: NDArray[np.float64], cut: int | float | None) -> tuple[float | None, NDArray[np.int64] | None]:
    """The height of the line and the group of each leaf."""
    if cut is None:
        return None, None
    heights = table[:, 2]
    if isinstance(cut, (float, np.floating)):
        return float(cut), groups_of_cut(table, height=float(cut))
    groups = groups_of_cut(table, n_clusters=cut)
    if len(inversions(table)):
        # of a tree with merges below their parts, a line leaves these groups only if all their merges are below it
        wholes = whole_at(table)
        level = float(wholes[: len(table) + 1 - cut].max(initial=0.0))
        return (level if np.array_equal(groups_of_cut(table, height=level), groups) else None), groups
    # the line lies half-way between the last merge made and the first that is not
    around = np.concatenate([[0.0], heights, heights[-1:] * 1.04])[len(table) + 1 - cut :][:2]
    return float(around.mean()), groups


def _draw_cut(canvas: TreeCanvas, level: float) -> Any:
    at = canvas.at([level])
    return canvas.segments((at, [0.0]), (at, [canvas.length]), line_color=CHANCE, line_dash="dashed", line_width=2)


def _cut_words(level: float, groups: Any) -> str:
    many = int(groups.max()) + 1
    return f"cut at {brief(level)}: {many:,} group{'s' if many > 1 else ''}"


def _group_entries(plot: Any, groups: Groups) -> list[Entry]:
    # the legend's own marks lie nowhere
    nowhere = np.full(len(groups.names), np.nan)
    key = ColumnDataSource({"x": nowhere, "y": nowhere, "tint": groups.colours, "shape": groups.markers})
    marks = plot.scatter("x", "y", source=key, marker="shape", size=10, color="tint")
    return [(name, [marks], j) for j, name in enumerate(groups.names)]


def _caption(tree: Tree, shown: Shown, layout: Layout, looks: Looks) -> str:
    """How many rows are behind which marks."""
    told = []
    merges, drawn, rows = tree.n - 1, len(layout.forks), int(tree.rows[-1])
    if drawn < merges:
        last = "the last " if shown.least == 1 else ""
        told.append(f"{rows:,} rows; {last}{drawn:,} of {merges:,} merges are drawn.")
    if (layout.ends >= tree.n).any():
        told.append(
            "A triangle is a part of the tree that is not drawn, as broad as its share of the rows; its point is the "
            "height at which it is whole."
        )
    if layout.ends.min() < tree.n and tree.rows[: tree.n].max() > 1:
        told.append("A bar is a group as broad as its share of the rows.")
    if layout.twigs:
        twigs = np.concatenate(list(layout.twigs.values()))
        told.append(
            f"{tree.rows[twigs].sum():,} rows in {len(twigs):,} parts of fewer than {shown.least:,} rows are strokes "
            "on the branch that they join."
        )
    if fallen := int((tree.height[layout.forks] < tree.height[tree.joined[layout.forks - tree.n]].max(axis=1)).sum()):
        told.append(
            f"{fallen:,} merge{'s are' if fallen > 1 else ' is'} lower than one of the parts: heights may fall here."
        )
    if looks.groups is not None and (looks.code[layout.ends] < 0).any():
        told.append("Grey: rows of several groups.")
    return " ".join(told)
