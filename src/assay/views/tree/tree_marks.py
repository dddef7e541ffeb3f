"""What is drawn of a tree: branches, small parts as strokes on them, ends as triangles or bars, forks as dots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.arrays import Whole
from assay.views.axes.theme import CHANCE, REAL, hover
from assay.views.clusters.groups import Groups, grouped
from assay.views.tree.tree_canvas import OVER, TreeCanvas
from assay.views.tree.tree_layout import Layout, Tree

_EXAMPLES = 3
_STROKES = 60
_BAR = 0.012  # of the whole height
_BESIDE = 0.026


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """The group of each node and how groups are drawn.

    Attributes:
        code: (2 n - 1,) number of the group; -1 where rows of several lie under a node.
        groups: their looks; None where there are no groups.
    """

    code: Whole
    groups: Groups | None

    @classmethod
    def of(cls, tree: Tree, labels: Any) -> Looks:
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


def draw_branches(canvas: TreeCanvas, tree: Tree, layout: Layout, looks: Looks) -> None:
    """Each fork reaches over its two branches, and each branch from there down to its own top."""
    forks, far = layout.forks, layout.branches
    over = canvas.at(tree.height[forks])
    bars = (over, layout.place[far[:, 0]]), (over, layout.place[far[:, 1]])
    canvas.segments(*bars, line_color=looks.tints(forks), line_width=2, line_cap="square")
    nodes = np.append(far.ravel(), layout.top)
    tops = np.append(np.repeat(over, 2), OVER)
    starts, ends = (tops, layout.place[nodes]), (canvas.at(tree.height[nodes]), layout.place[nodes])
    canvas.segments(starts, ends, line_color=looks.tints(nodes), line_width=2)


def draw_twigs(canvas: TreeCanvas, tree: Tree, layout: Layout, looks: Looks) -> None:
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


def draw_ends(canvas: TreeCanvas, tree: Tree, layout: Layout, looks: Looks, names: Any) -> None:
    """Triangles for parts, bars for groups that are leaves, and marks beside the words of each end."""
    ends, place = layout.ends, layout.place[layout.ends]
    words = [_words(tree, layout, node, names) for node in ends.tolist()]
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


def _shapes(canvas: TreeCanvas, tree: Tree, layout: Layout, wide: list[int]) -> tuple[list[Any], list[Any]]:
    """Corners of the marks of ends with many rows: heights and places."""
    heights, places = [], []
    for j in wide:
        node, half = int(layout.ends[j]), layout.breadth[j] / 2
        middle, top = layout.place[node], float(canvas.at(tree.height[node]))
        low, high = middle - half, middle + half
        heights.append([top, 0.0, 0.0] if node >= tree.n else [0.0, 0.0, -_BAR, -_BAR])
        places.append([middle, low, high] if node >= tree.n else [low, high, high, low])
    return heights, places


def _words(tree: Tree, layout: Layout, node: int, names: Any) -> tuple[str, str]:
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


def draw_forks(canvas: TreeCanvas, tree: Tree, layout: Layout, looks: Looks) -> None:
    """Dots that say under the pointer what is merged."""
    parts = tree.rows[tree.joined[layout.forks - tree.n]]
    told = {
        "height": [f"{height:.4g}" for height in tree.height[layout.forks].tolist()],
        "rows": [f"{a + b:,} = {max(a, b):,} + {min(a, b):,}" for a, b in parts.tolist()],
    }
    at = canvas.at(tree.height[layout.forks])
    marks = canvas.marks(at, layout.place[layout.forks], told, size=5, color=looks.tints(layout.forks))
    canvas.plot.add_tools(hover([marks], [("merged at height", "@height"), ("rows", "@rows")]))
