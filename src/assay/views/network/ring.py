"""Nodes on a ring, and their links across it: straight, or as the curves of a chord plot.

    x(t) = x_i t^p + x_j (1 - t)^p,   0 <= t <= 1,   x_i, x_j on the unit circle

With p = 1 links are straight. A larger p bends them towards the middle, so that bundles between far parts can be told;
p = 2 and p = 3 are Bezier curves whose control points lie in the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import BoxSelectTool, ColumnDataSource
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE, FONT, LINE, REAL, figure, hover
from assay.views.clusters.groups import grouped
from assay.views.network.drawn_links import UNGROUPED, DrawnLinks, heaviest
from assay.views.rows.cloud import TOOLS

NODES = 1000
LINKS = 1500
_NAMED = 40
_NAME = 16
_STEPS = 24
_HEIGHT = 560
_SLIM = 0.7  # width to height on a phone, where a legend stands above the ring
_ROOM = 1.55  # of the radius, at least, for names around the ring
_START = 1.06  # of the radius, where names begin
_LETTER = 6.4  # pixels of an 11 px system font, on average
_WIDE = 480.0  # pixels across a figure that has room for whole names
_SHORT = 8  # letters of a name on a phone
_LINE_APART, _PHONE_APART = 0.075, 0.15  # of the radius: what names need along the rim, wide and on a phone


def ring(
    links: DrawnLinks,
    *,
    power: float = 1.0,
    names: Sequence[str] | None = None,
    groups: Sequence[Any] | None = None,
    size: ArrayLike | None = None,
    size_label: str = "size",
    most: int = LINKS,
) -> Any:
    """Draw a network on a ring.

    Args:
        links: the links and the order of the nodes around the ring.
        power: p of the curves, 1 or larger; 1 for straight lines.
        names: (n,) of the nodes; the largest are written.
        groups: (n,) labels that colour nodes and the links inside a group.
        size: (n,) not negative: how large nodes are drawn, by area.
        size_label: what that is.
        most: links drawn: the heaviest, those that are as heavy as the lightest of them included or left out together.

    Returns:
        A Bokeh figure; the nodes are selected with those of other figures.

    >>> from assay.views.network.drawn_links import DrawnLinks
    >>> drawn = ring(DrawnLinks([0, 1], [1, 2], [1.0, 1.0], [0, 1, 2]), names=["a", "b", "c"])
    >>> drawn.renderers[2].data_source.data["row"].tolist()
    ['a', 'b', 'c']
    """
    if not (np.isfinite(power) and power >= 1.0):
        raise ParameterError(f"power of the curves is 1 or larger, 1 for straight lines; got {power}")
    n = links.n
    called = [str(node) for node in range(n)] if names is None else [str(name) for name in names]
    sizes = np.ones(n) if size is None else np.asarray(size, dtype=np.float64)
    for what, given in (("names", called), ("size", sizes), ("groups", groups)):
        if given is not None and len(given) != n:
            raise ParameterError(f"{what} has one entry for each node; got {len(given)} for {n} nodes")
    shown = _shown(links.order, sizes)
    angle = np.full(n, np.nan)
    angle[shown] = np.pi / 2 - 2 * np.pi * (np.arange(len(shown)) + 0.5) / max(len(shown), 1)
    places = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    named = [(angle[at], [called[node] for node in at]) for at in _named(angle, shown, sizes)]
    plot = _figure(_room(named[0][1]))
    looks = None if groups is None else grouped([one if one != "" else None for one in groups], unknown=UNGROUPED)
    kept, least = heaviest(links, np.isfinite(angle), most)
    tint = np.full(n, REAL, dtype=object) if looks is None else np.array(looks.colours, dtype=object)[looks.code]
    _draw_links(plot, links, kept, places, power, tint, looks is not None)
    nodes = _draw_nodes(plot, places, shown, called, sizes, tint, looks, size_label if size is not None else "")
    if looks is not None:
        legend(plot, _key(plot, looks))
    _write_names(plot, named)
    told = _caption(links, len(shown), kept, least)
    if told:
        note(plot, told)
    plot.toolbar.active_drag = plot.select_one(BoxSelectTool)
    plot.add_tools(nodes)
    return plot


def _shown(order: NDArray[np.intp], sizes: Array) -> NDArray[np.intp]:
    """All nodes in their order, or the largest where they are too many to be told apart."""
    if len(order) <= NODES:
        return order
    largest = np.zeros(len(sizes), dtype=bool)
    largest[np.argsort(-sizes, kind="stable")[:NODES]] = True
    return order[largest[order]]


def _room(names: Sequence[str]) -> float:
    """Half of the frame in radii, such that the longest name ends inside it: W / 2 = r R, (r - start) R = its width."""
    longest = _LETTER * max((min(len(name), _NAME) for name in names), default=0)
    return max(_ROOM, _START * _WIDE / 2 / (_WIDE / 2 - longest))


def _figure(room: float) -> Any:
    plot = figure(x_label="", y_label="", height=_HEIGHT, tools=TOOLS, match_aspect=True)
    # a ring stays round where ranges follow marks; the bounds that Bokeh has of curves are wrong
    frame = plot.scatter([-room, room], [-room, room], size=0, alpha=0.0)
    plot.x_range.renderers = plot.y_range.renderers = [frame]
    plot.axis.visible = False
    plot.grid.visible = False
    plot.update(outline_line_alpha=0.0, background_fill_alpha=0.01, aspect_ratio=_SLIM, max_height=_HEIGHT)
    return plot


def _draw_links(
    plot: Any, links: DrawnLinks, kept: NDArray[np.intp], places: Array, power: float, tint: Any, coloured: bool
) -> None:
    """The links kept, wider and darker where they weigh more; inside a group in its colour."""
    if not len(kept):
        return
    i, j, weight = links.sources[kept], links.targets[kept], links.weights[kept]
    part = np.sqrt(weight / weight.max()) if weight.max() > 0 else np.ones(len(kept))
    crowd = float(np.clip(250 / len(kept), 0.15, 1.0))
    style = {
        "line_color": np.where(tint[i] == tint[j], tint[i], CHANCE) if coloured else np.full(len(kept), LINE, object),
        "line_width": 0.4 + 3.0 * part * np.sqrt(crowd),
        "line_alpha": np.clip((0.25 + 0.65 * part) * np.sqrt(crowd), 0.08, 0.9),
    }
    ends = {"x0": places[j, 0], "y0": places[j, 1], "x1": places[i, 0], "y1": places[i, 1]}
    source = ColumnDataSource({key: np.asarray(values) for key, values in (ends | style).items()})
    look = {key: key for key in style}
    if power == 1.0:
        plot.segment("x0", "y0", "x1", "y1", source=source, **look)
    elif power == 2.0:
        plot.quadratic("x0", "y0", "x1", "y1", cx=0, cy=0, source=source, **look)
    elif power == 3.0:
        plot.bezier("x0", "y0", "x1", "y1", cx0=0, cy0=0, cx1=0, cy1=0, source=source, **look)
    else:
        t = np.linspace(0.0, 1.0, _STEPS)
        curves = places[i][:, :, None] * t**power + places[j][:, :, None] * (1 - t) ** power
        source.data.update(xs=list(curves[:, 0]), ys=list(curves[:, 1]))
        plot.multi_line("xs", "ys", source=source, **look)


def _draw_nodes(
    plot: Any, places: Array, shown: NDArray[np.intp], called: list[str], sizes: Array, tint: Any,
    looks: Any, size_label: str,
) -> Any:  # fmt: skip
    """The nodes, and what the pointer tells of them."""
    largest = float(sizes[shown].max(initial=0.0)) or 1.0
    crowd = float(np.clip(60 / max(len(shown), 1), 0.15, 1.0))
    columns: dict[str, Any] = {
        "row": np.array([called[node] for node in shown], dtype=object),
        "x": places[shown, 0], "y": places[shown, 1], "tint": tint[shown],
        "across": 1.5 + 1.5 * crowd + 13.0 * np.sqrt(crowd) * np.sqrt(np.maximum(sizes[shown], 0.0) / largest),
    }  # fmt: skip
    said = [("node", "@row")]
    if size_label:
        columns["size"] = sizes[shown]
        said.append((size_label, "@size{0.[0000]}"))
    if looks is not None:
        columns["group"] = np.array(looks.texts, dtype=object)[shown]
        columns["shape"] = np.array(looks.markers, dtype=object)[looks.code[shown]]
        said.append(("group", "@group"))
    marks = plot.scatter(
        "x", "y", source=ColumnDataSource(columns, name="rows"), size="across", fill_color="tint", line_color="tint",
        marker="circle" if looks is None else "shape", fill_alpha=0.7, line_alpha=1.0, selection_fill_alpha=1.0,
        nonselection_fill_alpha=0.12, nonselection_line_alpha=0.3,
    )  # fmt: skip
    return hover([marks], said)


def _key(plot: Any, looks: Any) -> list[tuple[str, list[Any], int]]:
    nowhere = np.full(len(looks.names), np.nan)
    source = ColumnDataSource({"x": nowhere, "y": nowhere, "tint": looks.colours, "shape": looks.markers})
    marks = plot.scatter("x", "y", source=source, marker="shape", size=11, color="tint", fill_alpha=0.6)
    return [(name, [marks], at) for at, name in enumerate(looks.names)]


def _named(angle: Array, shown: NDArray[np.intp], sizes: Array) -> list[list[int]]:
    """The nodes whose names are written, on a wide page and on a phone: the largest, as far as none covers another."""
    order = shown[np.argsort(-sizes[shown], kind="stable")]
    return [_apart(angle, order, least) for least in (_LINE_APART, _PHONE_APART)]


def _apart(angle: Array, order: NDArray[np.intp], least: float) -> list[int]:
    taken: list[float] = []
    chosen: list[int] = []
    for node in order:
        if len(chosen) == _NAMED:
            break
        apart = [abs((angle[node] - other + np.pi) % (2 * np.pi) - np.pi) for other in taken]
        if not apart or min(apart) > least:
            taken.append(float(angle[node]))
            chosen.append(int(node))
    return chosen


def _write_names(plot: Any, named: list[tuple[Array, list[str]]]) -> None:
    """Names along the spokes; a page too narrow for them has fewer of them, in few letters."""
    looks = ((_NAME, ["name", _WIDE]), (_SHORT, ["name", 0.0, _WIDE]))
    for (turned, names), (letters, tags) in zip(named, looks, strict=True):
        left = np.cos(turned) < 0
        written = plot.text(
            x=_START * np.cos(turned), y=_START * np.sin(turned), text=[shortened(name, letters) for name in names],
            angle=np.where(left, turned + np.pi, turned), text_align=["right" if one else "left" for one in left],
            text_baseline="middle", text_font=value(FONT), text_font_size="11px", text_color=LINE,
        )  # fmt: skip
        written.update(tags=tags, visible=letters == _NAME)


def _caption(links: DrawnLinks, nodes: int, kept: NDArray[np.intp], least: float) -> str:
    told = []
    if nodes < links.n:
        told.append(f"The {nodes:,} largest of {links.n:,} nodes are drawn.")
    among = len(links.sources)
    if len(kept) < among:
        alike = bool((links.weights == links.weights[0]).all())
        which = "an even sample" if alike else f"those of weight {least:,.4g} or more"
        told.append(f"{len(kept):,} of {among:,} links are drawn: {which}.")
    return " ".join(told)
