"""The tree of merges: which groups hold together up to which height, readable from ten leaves to a hundred thousand.

Small trees show every leaf by its name. Of larger ones the merges that tell most are drawn; each part below them is a
triangle as broad as its share of the rows, with its point at the height where the part is whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from bokeh.models import ColumnDataSource
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Whole
from assay.errors import ParameterError
from assay.summary.graph.merge_table import as_merges, inversions, whole_at
from assay.summary.graph.merge_table import cut as groups_of_cut
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE, REAL, hover
from assay.views.axes.ticks import brief
from assay.views.clusters.groups import GroupLooks, grouped
from assay.views.tree.canvas import OVER, HeightScale, Kind, Orientation, TreeCanvas
from assay.views.tree.layout import MergeTree, Order, ShownMerges, TreeLayout, choose, lay_out

Entry: TypeAlias = tuple[str, Sequence[Any], int | None]

EVERY = 60
ENDS = 30
MOST = 500
_EXAMPLES = 3
_STROKES = 60
_BAR = 0.012  # of the whole height
_BESIDE = 0.026


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
    tree = MergeTree.of(table, sizes)
    shown = choose(tree, _most(tree.n, max_leaves), min_size)
    layout = lay_out(tree, shown, order=order)
    level, groups = _cut(table, cut)
    looks = TreeLooks.of(tree, groups if labels is None else _column("labels", labels, tree.n))
    drawn = [*tree.height[layout.forks], *tree.height[layout.ends], tree.height[-1], level or 0.0]
    canvas = TreeCanvas(layout.length, HeightScale.of(drawn, scale), orientation, height_label)
    _draw_branches(canvas, tree, layout, looks)
    _draw_twigs(canvas, tree, layout, looks)
    _draw_ends(canvas, tree, layout, looks, None if names is None else _column("names", names, tree.n))
    _draw_forks(canvas, tree, layout, looks)
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


def _group_entries(plot: Any, groups: GroupLooks) -> list[Entry]:
    # the legend's own marks lie nowhere
    nowhere = np.full(len(groups.names), np.nan)
    key = ColumnDataSource({"x": nowhere, "y": nowhere, "tint": groups.colours, "shape": groups.markers})
    marks = plot.scatter("x", "y", source=key, marker="shape", size=10, color="tint")
    return [(name, [marks], j) for j, name in enumerate(groups.names)]


def _caption(tree: MergeTree, shown: ShownMerges, layout: TreeLayout, looks: TreeLooks) -> str:
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


@dataclass(frozen=True, slots=True, eq=False)
class TreeLooks:
    """The group of each node and how groups are drawn.

    Attributes:
        code: (2 n - 1,) number of the group; -1 where rows of several lie under a node.
        groups: their looks; None where there are no groups.
    """

    code: Whole
    groups: GroupLooks | None

    @classmethod
    def of(cls, tree: MergeTree, labels: Any) -> TreeLooks:
        """From the label of each leaf upward; None for no groups."""
        if labels is None:
            return cls(np.zeros(2 * tree.n - 1, dtype=np.int64), None)
        groups = grouped(labels, tree.rows[: tree.n])
        code = groups.code.tolist()
        for a, b in tree.joined.tolist():
            code.append(code[a] if code[a] == code[b] else -1)
        return cls(np.array(code), groups)

    def tints(self, nodes: Any) -> list[str]:
        """Their colours."""
        if self.groups is None:
            return [REAL] * len(nodes)
        return [self.groups.colours[c] if c >= 0 else CHANCE for c in self.code[nodes].tolist()]

    def told(self, nodes: Any) -> list[str]:
        """Their groups in words."""
        if self.groups is None:
            return []
        return [self.groups.names[c] if c >= 0 else "several" for c in self.code[nodes].tolist()]


def _draw_branches(canvas: TreeCanvas, tree: MergeTree, layout: TreeLayout, looks: TreeLooks) -> None:
    """Each fork reaches over its two branches, and each branch from there down to its own top."""
    forks, far = layout.forks, layout.branches
    over = canvas.at(tree.height[forks])
    bars = (over, layout.place[far[:, 0]]), (over, layout.place[far[:, 1]])
    canvas.segments(*bars, line_color=looks.tints(forks), line_width=2, line_cap="square")
    nodes = np.append(far.ravel(), layout.top)
    tops = np.append(np.repeat(over, 2), OVER)
    starts, ends = (tops, layout.place[nodes]), (canvas.at(tree.height[nodes]), layout.place[nodes])
    canvas.segments(starts, ends, line_color=looks.tints(nodes), line_width=2)


def _draw_twigs(canvas: TreeCanvas, tree: MergeTree, layout: TreeLayout, looks: TreeLooks) -> None:
    """Strokes across a branch where parts too small to be shown join it; many are thinned, their rows are not."""
    heights, places, tints = [], [], []
    told: dict[str, list[Any]] = {"rows": [], "parts": [], "between": []}
    joins = tree.joins
    for node, twigs in layout.twigs.items():
        at = joins[twigs]
        kept = np.unique(np.linspace(0, len(at) - 1, min(len(at), _STROKES)).round().astype(int))
        heights += canvas.at(at[kept]).tolist()
        places += [layout.place[node]] * len(kept)
        tints += looks.tints([node]) * len(kept)
        between = f"{at.min():.4g} and {at.max():.4g}"
        for key, words in zip(told, (f"{tree.rows[twigs].sum():,}", f"{len(twigs):,}", between), strict=True):
            told[key] += [words] * len(kept)
    if heights:
        marks = canvas.marks(
            heights, places, told, marker="dash", angle=0.0 if canvas.upright else np.pi / 2, size=10, line_width=1.5,
            line_color=tints, line_alpha=0.7,
        )  # fmt: skip
        said = [("small parts joining this branch", "@parts"), ("rows in them", "@rows"), ("at heights", "@between")]
        canvas.plot.add_tools(hover([marks], said))


def _draw_ends(canvas: TreeCanvas, tree: MergeTree, layout: TreeLayout, looks: TreeLooks, names: Any) -> None:
    """Triangles for parts, bars for groups that are leaves, and marks beside the words of each end."""
    ends, place = layout.ends, layout.place[layout.ends]
    words = [_end_words(tree, layout, node, names) for node in ends.tolist()]
    canvas.name(place, [word for word, _ in words])
    told = {
        "rows": [f"{rows:,}" for rows in tree.rows[ends].tolist()],
        "whole": [f"{height:.4g}" for height in tree.height[ends].tolist()],
        "who": [who for _, who in words],
    }
    said = [("rows", "@rows"), ("among them" if max(tree.rows[ends]) > 1 else "name", "@who")]
    said += [("whole at height", "@whole")] if ends.max() >= tree.n else []
    if looks.groups is not None:
        told["group"] = looks.told(ends)
        said.append(("group", "@group"))
    wide = np.flatnonzero(tree.rows[ends] > 1).tolist()
    if wide:
        part = {key: [column[j] for j in wide] for key, column in told.items()}
        tints = looks.tints(ends[wide])
        corners = _shapes(canvas, tree, layout, wide)
        shapes = canvas.patches(*corners, part, fill_color=tints, line_color=tints, fill_alpha=0.35, line_width=1.5)
        canvas.plot.add_tools(hover([shapes], said))
    style: dict[str, Any] = {"color": looks.tints(ends), "size": 7}
    if looks.groups is not None:
        shapes_of = looks.groups.markers
        style["marker"] = [shapes_of[c] if c >= 0 else "circle_cross" for c in looks.code[ends].tolist()]
    dots = canvas.marks(np.full(len(ends), -_BESIDE), place, told, **style)
    canvas.plot.add_tools(hover([dots], said))


def _shapes(canvas: TreeCanvas, tree: MergeTree, layout: TreeLayout, wide: list[int]) -> tuple[list[Any], list[Any]]:
    """Corners of the marks of ends with many rows: heights and places."""
    heights, places = [], []
    for j in wide:
        node, half = int(layout.ends[j]), layout.breadth[j] / 2
        middle, top = layout.place[node], float(canvas.at(tree.height[node]))
        low, high = middle - half, middle + half
        heights.append([top, 0.0, 0.0] if node >= tree.n else [0.0, 0.0, -_BAR, -_BAR])
        places.append([middle, low, high] if node >= tree.n else [low, high, high, low])
    return heights, places


def _end_words(tree: MergeTree, layout: TreeLayout, node: int, names: Any) -> tuple[str, str]:
    """What is written beside an end, and which of its leaves are told under the pointer."""
    first = int(layout.first[node])
    leaves = layout.order[first : first + min(int(tree.leaves[node]), _EXAMPLES)].tolist()
    kind = "row" if tree.rows[: tree.n].max() == 1 else "group"
    known = [names is not None and names[leaf] not in (None, "") for leaf in leaves]
    one = [str(names[leaf]) if there else f"{kind} {leaf + 1:,}" for leaf, there in zip(leaves, known, strict=True)]
    more = int(tree.leaves[node]) - len(leaves)
    who = ", ".join(one) + (f" and {more:,} more" if more else "")
    if tree.rows[node] == 1:
        return one[0], who
    rest = " …" if tree.leaves[node] > 1 else ""
    return f"{tree.rows[node]:,} rows" + (f": {one[0]}{rest}" if known[0] else ""), who


def _draw_forks(canvas: TreeCanvas, tree: MergeTree, layout: TreeLayout, looks: TreeLooks) -> None:
    """Dots that say under the pointer what is merged."""
    parts = tree.rows[tree.joined[layout.forks - tree.n]]
    told = {
        "height": [f"{height:.4g}" for height in tree.height[layout.forks].tolist()],
        "rows": [f"{a + b:,} = {max(a, b):,} + {min(a, b):,}" for a, b in parts.tolist()],
    }
    at = canvas.at(tree.height[layout.forks])
    marks = canvas.marks(at, layout.place[layout.forks], told, size=5, color=looks.tints(layout.forks))
    canvas.plot.add_tools(hover([marks], [("merged at height", "@height"), ("rows", "@rows")]))
