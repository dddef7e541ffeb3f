"""Fisher's canonical variates: groups as far apart as any projection puts them, in units of their own spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, PlainText
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.given import matrix, padded, row_numbers, vector
from assay.views.axes.legend import legend, note
from assay.views.axes.placing import spread
from assay.views.axes.theme import CHANCE, LINE, figure, hover
from assay.views.clusters.groups import GroupLooks, grouped
from assay.views.clusters.mixture import ellipse
from assay.views.rows.cloud import TOOLS, drawn_rows, group_key, row_source, scatter_rows, shade_rows

_STRIP = 0.36
_NAME = 18
_CIRCLES = "Circles of radius 1 and 2 about the means hold 39% and 86% of a normal group."
_BARS = "Bars reach 1 and 2 standard deviations from the means and hold 68% and 95% of a normal group."


def canonical_variates_view(
    scores: ArrayLike,
    groups: ArrayLike | Sequence[Any],
    *,
    share: ArrayLike | None = None,
    rows: ArrayLike | None = None,
    height: int = 460,
) -> Any:
    """Draw rows along the canonical variates, with the mean of each group and its spread.

    Args:
        scores: (n, k) canonical variates, of variance 1 within groups; the first two are drawn on one scale, a single
            one, as two groups have, as one strip per group.
        groups: (n,) labels; the ten largest groups get a colour and a shape each.
        share: (k,) of the variance between groups that each variate carries, for the axes.
        rows: (n,) row numbers as they are to be shown; by default counted from 1.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> plot = canonical_variates_view([[0.0, 1.0], [3.0, 0.0]], ["a", "b"], share=[0.9, 0.1])
    >>> plot.xaxis.axis_label.text
    'canonical variate 1 (90.0% between groups)'
    """
    table = matrix("scores", scores)
    n, k = table.shape
    if k == 0:
        raise ParameterError("scores have one canonical variate or more; got none")
    labels = np.asarray(groups, dtype=object)
    if labels.shape != (n,):
        raise ParameterError(f"groups has one entry per row; got shape {labels.shape} for {n} rows")
    words = _axes(k, share)
    looks = grouped(labels)
    strips = k == 1
    places = np.column_stack([table[:, 0], _strips(table[:, 0], looks)]) if strips else table[:, :2]
    drawn = drawn_rows(n)
    plot = _figure(words, places, looks, height, strips)
    columns: dict[str, Any] = {"x": places[:, 0], "y": places[:, 1], "group": np.array(looks.texts, dtype=object)}
    columns |= {"tint": np.array(looks.colours)[looks.code], "shape": np.array(looks.markers)[looks.code]}
    texts = {f"text{j}": table[:, j] for j in range(min(k, 2))}
    said = [("group", "@group"), *((f"variate {j + 1}", f"@text{j}") for j in range(min(k, 2)))]
    scatter_rows(plot, row_source(row_numbers(rows, n), columns, drawn, said=texts), "x", "y", said, grouped=True)
    told = shade_rows(plot, places, drawn, equal=not strips)
    entries: list[Any] = [*group_key(plot, looks), *_draw_means(plot, places, looks, strips)]
    legend(plot, entries)
    note(plot, " ".join([_BARS if strips else _CIRCLES, *told]))
    return plot


def _axes(k: int, share: ArrayLike | None) -> list[str]:
    words = [f"canonical variate {j + 1}" for j in range(min(k, 2))]
    if share is None:
        return words
    parts = vector("share", share, k, what="variate")
    return [f"{text} ({part:.1%} between groups)" for text, part in zip(words, parts, strict=False)]


def _strips(values: Array, looks: GroupLooks) -> Array:
    """Heights that put each group on a line of its own, thick where its rows are many."""
    heights = looks.code.astype(np.float64)
    for g in range(len(looks.names)):
        own = looks.code == g
        heights[own] += _STRIP * spread(values[own])
    return heights


def _figure(words: list[str], places: Array, looks: GroupLooks, height: int, strips: bool) -> Any:
    options: dict[str, Any] = {"match_aspect": True}
    if strips:
        reach = padded(places[:, 0], 0.08)
        options = {"x_range": reach, "y_range": (len(looks.names) - 0.4, -0.6)}
    plot = figure(x_label=words[0], y_label="" if strips else words[1], height=height, tools=TOOLS, **options)
    plot.xgrid.visible = True
    if not strips:
        return plot
    plot.yaxis.ticker = FixedTicker(ticks=list(range(len(looks.names))))
    plot.yaxis.major_label_overrides = {
        g: PlainText(text=shortened(name.rsplit(" (", 1)[0], _NAME)) for g, name in enumerate(looks.names)
    }
    plot.ygrid.visible = False
    return plot


def _draw_means(plot: Any, places: Array, looks: GroupLooks, strips: bool) -> list[Any]:
    """Means and spreads of the groups drawn by themselves; what is drawn alike has no common mean."""
    own = [g for g, colour in enumerate(looks.colours) if colour != CHANCE]
    means = np.array([places[looks.code == g].mean(axis=0) for g in own]).reshape(-1, 2)
    if strips:
        means[:, 1] = own
    tints = [looks.colours[g] for g in own]
    for radius, dash in ((1.0, "solid"), (2.0, "dashed")):
        if strips:
            plot.segment(
                means[:, 0] - radius, means[:, 1], means[:, 0] + radius, means[:, 1], line_color=LINE,
                line_width=4 if radius == 1 else 1.5,
            )  # fmt: skip
        else:
            rings = [ellipse(mean, np.eye(2), radius) for mean in means]
            lines = {"x": [ring[:, 0] for ring in rings], "y": [ring[:, 1] for ring in rings], "tint": tints}
            plot.multi_line("x", "y", source=ColumnDataSource(lines), line_color="tint", line_width=2, line_dash=dash)
    style: dict[str, Any] = {"marker": "circle_cross", "size": 15, "line_color": LINE, "line_width": 1.5}
    names = [looks.names[g] for g in own]
    source = ColumnDataSource({"x": means[:, 0], "y": means[:, 1], "tint": tints, "name": names})
    marks = plot.scatter("x", "y", source=source, fill_color="tint", **style)
    plot.add_tools(hover([marks], [("mean of", "@name")]))
    key = plot.scatter([np.nan], [np.nan], fill_color="#ffffff", **style)
    return [("mean of a group", [key], None)]
