"""The links of a network as a picture: nodes in one order downward and across, a dark cell where links are many."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from bokeh.models import AllLabels, FixedTicker, LinearColorMapper, Range1d
from bokeh.models.annotations.geometry import Span

from assay.shown import shortened
from assay.views.axes.legend import note
from assay.views.axes.theme import CHANCE, REAL, figure
from assay.views.network.drawn_links import DrawnLinks

CELLS = 320  # along an edge; of more nodes several share a cell
_HEIGHT = 560
_NAME = 18
_SHADES = 64
_LEAST = 0.035  # of the nodes: a smaller group is not named at the edge


def ordered_matrix(
    links: DrawnLinks,
    *,
    names: Sequence[str] | None = None,
    groups: Sequence[Any] | None = None,
    directed: bool = False,
) -> Any:
    """Draw the links as a matrix in the order given.

    Args:
        links: the links and the order of the nodes.
        names: (n,) of the nodes, written where there is room.
        groups: (n,) labels of the nodes, together in the order: lines part them, and they are named at the edge.
        directed: whether links lead one way, from the row to the column.

    Returns:
        A Bokeh figure.

    >>> drawn = ordered_matrix(DrawnLinks([0], [1], [1.0], [0, 1]), names=["a", "b"])
    >>> drawn.renderers[0].data_source.data["image"][0].shape
    (2, 2)
    """
    n = links.n
    side = min(n, CELLS)
    place = np.empty(n, dtype=np.intp)
    place[links.order] = np.arange(n)
    cell = place * side // n
    counts = np.zeros((side, side))
    pairs = [(links.sources, links.targets)] + ([] if directed else [(links.targets, links.sources)])
    for rows, cols in pairs:
        np.add.at(counts, (cell[rows], cell[cols]), links.weights)
    shades = np.zeros((side, side), dtype=np.uint8)
    if counts.max() > 0:
        part = np.sqrt(counts / counts.max())
        shades = np.where(counts > 0, 8 + np.round((_SHADES - 9) * part), 0).astype(np.uint8)
    plot = figure(
        x_label="linked with" if not directed else "to", y_label="" if not directed else "from", height=_HEIGHT,
        x_range=Range1d(start=0, end=n), y_range=Range1d(start=n, end=0), match_aspect=True,
        tools="pan,box_zoom,reset,save",
    )  # fmt: skip
    mapper = LinearColorMapper(palette=_palette(), low=0, high=_SHADES - 1)
    # the figure's vertical axis points down, so the picture is anchored below and its rows come in their order
    plot.image([shades], x=0, y=0, dw=n, dh=n, color_mapper=mapper)
    plot.grid.visible = False
    _name_edges(plot, links, names, groups)
    if n > side:
        note(plot, f"{n:,} nodes in {side} steps: a cell adds up the links of about {n / side:,.0f} x {n / side:,.0f}.")
    return plot


def _palette() -> list[str]:
    """From no ink at all to dark; the first shade lets the page's own colour through."""
    light, dark = (np.array([int(c[i : i + 2], 16) for i in (1, 3, 5)], dtype=np.float64) for c in ("#d9e6f2", REAL))
    mixed = light + np.linspace(0, 1, _SHADES - 1)[:, None] * (0.72 * dark - light)
    return ["#ffffff00", *("#" + "".join(f"{int(c):02x}" for c in colour.round()) for colour in mixed)]


def _name_edges(plot: Any, links: DrawnLinks, names: Sequence[str] | None, groups: Sequence[Any] | None) -> None:
    n = links.n
    if groups is not None:
        runs = [(label, len(list(run))) for label, run in groupby(str(groups[node]) for node in links.order)]
        starts = np.concatenate([[0], np.cumsum([size for _, size in runs])])
        for edge in starts[1:-1]:
            for way in ("width", "height"):
                plot.add_layout(Span(location=float(edge), dimension=way, line_color=CHANCE, line_width=0.7))
        named = {
            float(starts[k] + size / 2): shortened(label, _NAME)
            for k, (label, size) in enumerate(runs) if size >= _LEAST * n and label
        }  # fmt: skip
    elif names is not None and n <= 60:
        named = {place + 0.5: shortened(str(names[node]), _NAME) for place, node in enumerate(links.order)}
    else:
        named = {}
    for axis in (plot.xaxis, plot.yaxis):
        axis.ticker = FixedTicker(ticks=sorted(named))
        axis.major_label_overrides = dict(named)
        axis.major_tick_line_color = None
    plot.xaxis.major_label_orientation = 1.2
    plot.xaxis.major_label_policy = AllLabels()  # slanted this steeply a name is as wide as its line
