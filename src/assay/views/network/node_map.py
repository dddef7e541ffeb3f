"""Nodes of a network where a map puts them: larger the more links they have, with their links behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool
from numpy.typing import ArrayLike, NDArray

from assay.views.axes.theme import CHANCE, hover
from assay.views.network.drawn_links import UNGROUPED
from assay.views.rows.embedding import embedding_map

DRAWN_LINKS = 4_000
_NAMED = 30
_SMALL, _LARGE = 5.0, 22.0  # pixels across


def node_map(
    places: ArrayLike,
    links: ArrayLike,
    degrees: ArrayLike,
    *,
    names: Sequence[str],
    groups: Sequence[str] | None = None,
    faint: ArrayLike | None = None,
    height: int = 560,
) -> Any:
    """Draw nodes and links; nodes without a place are left out.

    Args:
        places: (n, 2), NaN where a node has none.
        links: (m, 2) numbers of the nodes that are linked; of very many a fair part is drawn.
        degrees: (n,) links of each node, by which nodes are sized and named.
        names: (n,) of the nodes; those of the best connected are written where there is room.
        groups: (n,) what each node belongs to, "" for nothing.
        faint: (n,) from 0 to 1, how little the place of a node can be trusted.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> drawn = node_map([[0, 0], [1, 1]], [[0, 1]], [1, 1], names=["a", "b"])
    >>> len(drawn.renderers[0].data_source.data["x0"])
    1
    """
    at, ends = np.asarray(places, dtype=np.float64), np.asarray(links, dtype=np.int64).reshape(-1, 2)
    degree = np.asarray(degrees, dtype=np.float64)
    there = np.flatnonzero(np.isfinite(at).all(axis=1))
    first = set(there[np.argsort(-degree[there], kind="stable")[:_NAMED]].tolist())
    plot = embedding_map(
        at[there],
        rows=there + 1,
        names=[names[node] if node in first else "" for node in there.tolist()],
        groups=None if groups is None else [groups[node] or None for node in there.tolist()],
        faint=None if faint is None else np.asarray(faint, dtype=np.float64)[there],
        height=height,
        equal=False,
        called="nodes",
        ungrouped=UNGROUPED,
    )
    marks = next(one for one in plot.renderers if "row" in one.data_source.data)
    shown = np.asarray(marks.data_source.data["row"]) - 1
    marks.data_source.data.update(
        node=[names[node] for node in shown.tolist()], links=degree[shown].astype(int), size=_sizes(degree, shown)
    )
    marks.glyph.update(size="size")
    for one in (marks.selection_glyph, marks.nonselection_glyph):
        if one is not None and hasattr(one, "size"):
            one.update(size="size")
    _say(plot, marks, grouped=groups is not None, doubted=faint is not None)
    _draw_links(plot, at, ends, shown)
    return plot


def _sizes(degree: NDArray[np.float64], shown: NDArray[np.intp]) -> NDArray[np.float64]:
    """Areas grow with the links; the more nodes, the smaller all."""
    most = max(float(degree[shown].max(initial=1.0)), 1.0)
    large = np.clip(_LARGE - 4.0 * np.log10(max(len(shown), 1) / 50), 10.0, _LARGE)
    return np.asarray(_SMALL - 1.0 + (large - _SMALL + 1.0) * np.sqrt(degree[shown] / most))


def _say(plot: Any, marks: Any, *, grouped: bool, doubted: bool) -> None:
    for tool in plot.select(HoverTool):
        plot.tools.remove(tool)
    said = [("node", "@node"), ("links", "@links{0,0}")]
    said += [("group", "@m_group")] if grouped else []
    said += [("moves", "@m_faint{0%}")] if doubted else []
    plot.add_tools(hover([marks], said))


def _draw_links(plot: Any, at: NDArray[np.float64], ends: NDArray[np.int64], shown: NDArray[np.intp]) -> None:
    drawn = np.zeros(len(at), dtype=np.bool_)
    drawn[shown] = True
    ends = ends[drawn[ends].all(axis=1)]
    if len(ends) > DRAWN_LINKS:
        ends = ends[np.sort(np.random.default_rng(0).permutation(len(ends))[:DRAWN_LINKS])]
    lines = ColumnDataSource(
        {"x0": at[ends[:, 0], 0], "y0": at[ends[:, 0], 1], "x1": at[ends[:, 1], 0], "y1": at[ends[:, 1], 1]}
    )
    clear = float(np.clip(0.5 - 0.12 * np.log10(max(len(ends), 1) / 10), 0.1, 0.5))
    made = plot.segment("x0", "y0", "x1", "y1", source=lines, line_color=CHANCE, line_alpha=clear, line_width=1)
    made.level = "underlay"
    plot.renderers.remove(made)
    plot.renderers.insert(0, made)
