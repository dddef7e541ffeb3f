"""A policy as a graph: states on a ring, an edge for each state that the chosen action may lead to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource
from numpy.typing import NDArray

from assay.arrays import Array
from assay.shown import shortened
from assay.views.axes.legend import note
from assay.views.axes.theme import FONT, LINE, REAL, UNSEEN, figure, hover
from assay.views.axes.ticks import brief
from assay.views.decisions.policy_grid import mixed

SHOWN = 30
_BENT = 0.35  # how far an edge bends towards the middle
_POINTS = 24
_WIDEST = 7.0
_WIDE = 380.0  # pixels across a figure that has room for names on one line
_LETTERS, _PHONE_LETTERS = (14, 12), (8, 8)  # of a state and of an action
_LEAST = 0.005  # probabilities below are not drawn


def policy_graph(
    states: Sequence[Any],
    values: Array,
    actions: Sequence[Any],
    leads: Any,
    *,
    faint: Sequence[bool] | None = None,
) -> Any:
    """Draw where the chosen action of each state leads, edges as wide as that is probable.

    Of more than 30 states those are drawn in which the policy is most often, begun anywhere.

    Args:
        states: n names.
        values: (n,) of the states.
        actions: n actions, None where the process ends.
        leads: (n, n) sparse, where they lead.
        faint: n, whether the action cannot be told from the next best.
    """
    n = len(states)
    shown = _most_visited(leads, n)
    m = len(shown)
    turn = np.pi / 2 - 2 * np.pi * np.arange(m) / max(m, 1)
    x, y = np.cos(turn), np.sin(turn)
    place = np.full(n, -1)
    place[shown] = np.arange(m)
    plot = figure(x_label="", y_label="", height=520, max_width=760, x_range=(-1.95, 1.95), y_range=(-1.38, 1.38))
    plot.grid.visible = False
    plot.axis.visible = False
    _draw_edges(plot, leads, place, x, y, states)
    ends = np.array([actions[i] is None for i in shown])
    live = values[shown][~ends]
    low, high = (float(live.min()), float(live.max())) if len(live) else (0.0, 1.0)
    part = np.clip((values[shown] - low) / (high - low) if high > low else np.full(m, 0.5), 0.0, 1.0)
    unsure = np.zeros(n, bool) if faint is None else np.asarray(faint, bool)
    does = ["ends" if actions[i] is None else str(actions[i]) + ("?" if unsure[i] else "") for i in shown]
    source = ColumnDataSource(
        {
            "x": x, "y": y,
            "fill": [UNSEEN if end else mixed(0.08 + 0.9 * p) for end, p in zip(ends, part, strict=True)],
            "shape": np.where(ends, "square", "circle").astype(object),
            "state": [str(states[i]) for i in shown], "action": does,
            "value": [brief(float(values[i]), 4) for i in shown],
        }
    )  # fmt: skip
    nodes = plot.scatter("x", "y", source=source, size=17, marker="shape", fill_color="fill", line_color=LINE)
    plot.add_tools(hover([nodes], [("state", "@state"), ("action", "@action"), ("value", "@value")]))
    _name(plot, x, y, [str(states[i]) for i in shown], does)
    told = f"Blue: worth {brief(low, 3)} (pale) to {brief(high, 3)}; squares: the process ends. Edges are as wide as "
    more = f" {m} of {n:,} states are drawn, where the policy is most often." if m < n else ""
    doubt = " ?: may as well be another action." if unsure[shown].any() else ""
    note(plot, f"{told}they are probable.{doubt}{more}")
    return plot


def _most_visited(leads: Any, n: int) -> NDArray[np.intp]:
    if n <= SHOWN:
        return np.arange(n)
    often, now = np.zeros(n), np.full(n, 1.0 / n)
    for _ in range(50):
        often += now
        now = 0.95 * (leads.T @ now)
    return np.sort(np.argsort(-often, kind="stable")[:SHOWN])


def _draw_edges(plot: Any, leads: Any, place: Any, x: Array, y: Array, states: Sequence[Any]) -> None:
    found = leads.tocoo()
    kept = (place[found.row] >= 0) & (place[found.col] >= 0) & (found.data >= _LEAST)
    one, two, p = place[found.row][kept], place[found.col][kept], found.data[kept]
    lines_x, lines_y, heads = [], [], []
    t = np.linspace(0.0, 1.0, _POINTS)
    for i, j in zip(one.tolist(), two.tolist(), strict=True):
        if i == j:
            around = np.linspace(0.0, 2.0 * np.pi, _POINTS)
            cx, cy = 1.075 * x[i] + 0.075 * np.cos(around), 1.075 * y[i] + 0.075 * np.sin(around)
        else:
            mx, my = (x[i] + x[j]) / 2, (y[i] + y[j]) / 2
            # edges there and back bend to different sides
            bx, by = _BENT * mx - 0.12 * (y[j] - y[i]), _BENT * my + 0.12 * (x[j] - x[i])
            cx = (1 - t) ** 2 * x[i] + 2 * t * (1 - t) * bx + t**2 * x[j]
            cy = (1 - t) ** 2 * y[i] + 2 * t * (1 - t) * by + t**2 * y[j]
        lines_x.append(cx)
        lines_y.append(cy)
        k = int(0.7 * _POINTS)
        heads.append((cx[k], cy[k], np.arctan2(cy[k] - cy[k - 1], cx[k] - cx[k - 1]) - np.pi / 2))
    tips = np.array(heads).reshape(-1, 3)
    source = ColumnDataSource(
        {
            "xs": lines_x, "ys": lines_y, "width": 0.8 + (_WIDEST - 0.8) * p, "p": [f"{share:.1%}" for share in p],
            "from": [str(states[int(np.flatnonzero(place == i)[0])]) for i in one],
            "to": [str(states[int(np.flatnonzero(place == j)[0])]) for j in two],
            "tx": tips[:, 0], "ty": tips[:, 1], "turn": tips[:, 2], "size": 6.0 + 7.0 * p,
        }
    )  # fmt: skip
    lines = plot.multi_line("xs", "ys", source=source, line_width="width", line_color=REAL, line_alpha=0.42)
    plot.scatter("tx", "ty", source=source, marker="triangle", angle="turn", size="size", color=REAL, alpha=0.9)
    plot.add_tools(hover([lines], [("from", "@from"), ("to", "@to"), ("probability", "@p")]))


def _name(plot: Any, x: Array, y: Array, states: list[str], does: list[str]) -> None:
    """State and action beside each node: on one line, and on two in fewer letters where a page is narrow."""
    middle = np.abs(x) < 0.05
    for (state, action), between, tags in ((_LETTERS, " ", [_WIDE]), (_PHONE_LETTERS, "\n", [0.0, _WIDE])):
        words = [f"{shortened(s, state)}:{between}{shortened(d, action)}" for s, d in zip(states, does, strict=True)]
        for side, align in ((middle, "center"), (~middle & (x > 0), "left"), (~middle & (x < 0), "right")):
            at = np.flatnonzero(side)
            source = ColumnDataSource(
                {"x": 1.22 * x[at], "y": np.where(middle[at], 1.25, 1.18) * y[at], "words": [words[i] for i in at]}
            )
            written = plot.text(
                "x", "y", "words", source=source, text_align=align, text_baseline="middle", text_font=value(FONT),
                text_font_size="12px", text_color=LINE,
            )  # fmt: skip
            written.update(tags=["name", *tags], visible=len(tags) == 1)
