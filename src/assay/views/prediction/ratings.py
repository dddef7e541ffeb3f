"""Ratings seen: errors beside yardsticks, who rated how often, and items where their factors put them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, PlainText
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike

from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.given import padded
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE, REAL, UNSEEN, figure, hover
from assay.views.axes.ticks import brief, power_ticks
from assay.views.rows.embedding import embedding_map

NAMED = 30  # items whose names are written
ITEMS = 300  # items drawn: of those with few ratings little is known
_NAME = 26
_LINE, _AROUND = 30, 100
_POINTS = 400


def error_dots(
    names: Sequence[str],
    error: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    x_label: str = "error on held-out ratings",
) -> Any:
    """Draw an error of each method with its interval, the first at the top; the last is what was asked about.

    Args:
        names: (m,) of the methods.
        error: (m,)
        low: (m,) lower ends of their intervals.
        high: (m,) upper ends.
        x_label: what errors are, with their unit.

    Returns:
        A Bokeh figure.

    >>> error_dots(["mean", "factors"], [1.1, 0.9], [1.0, 0.8], [1.2, 1.0]).renderers[0].data_source.data["y"].tolist()
    [0, 1]
    """
    at, ends = np.asarray(error, np.float64), np.stack([np.asarray(low), np.asarray(high)]).astype(np.float64)
    m = len(names)
    if at.shape != (m,) or ends.shape != (2, m) or not m:
        raise ParameterError(
            f"there is one error, low and high for each of {m} names; got shapes {at.shape}, {ends.shape}"
        )
    plot = figure(
        x_label=x_label, y_label="", height=_AROUND + _LINE * m, x_range=padded(np.concatenate([at, *ends]), 0.06),
        y_range=(m - 0.4, -0.6),
    )  # fmt: skip
    plot.xgrid.visible, plot.ygrid.visible = True, False
    plot.add_layout(Span(location=float(at[-1]), dimension="height", line_color=CHANCE, line_dash="dotted"))
    source = ColumnDataSource(
        {
            "y": np.arange(m), "name": list(names), "value": at, "low": ends[0], "high": ends[1],
            "text": [brief(float(x), 4) for x in at],
            "span": [f"{brief(float(a), 4)} to {brief(float(b), 4)}" for a, b in ends.T],
            "tint": [UNSEEN if j == m - 1 else REAL for j in range(m)],
        }
    )  # fmt: skip
    plot.segment("low", "y", "high", "y", source=source, line_color="tint", line_width=2)
    marks = plot.scatter("value", "y", source=source, size=9, color="tint")
    plot.add_tools(hover([marks], [("", "@name"), ("error", "@text"), ("95% interval", "@span")]))
    plot.yaxis.ticker = FixedTicker(ticks=list(range(m)))
    plot.yaxis.major_label_overrides = {k: PlainText(text=shortened(name, _NAME)) for k, name in enumerate(names)}
    plot.yaxis.update(axis_line_alpha=0.0, major_tick_out=0)
    return plot


def activity(per_user: ArrayLike, per_item: ArrayLike) -> Any:
    """Draw how many users and items have at least so many ratings, both axes logarithmic.

    Args:
        per_user: (n,) ratings of each user.
        per_item: (d,) ratings of each item.

    Returns:
        A Bokeh figure.

    >>> len(activity([3, 1], [2, 2]).renderers)
    4
    """
    plot = figure(
        x_label="ratings (log scale)", y_label="share with at least so many (log scale)", x_axis_type="log",
        y_axis_type="log", height=320,
    )  # fmt: skip
    entries: list[Any] = []
    for words, sizes, tint, dash in (("users", per_user, REAL, "solid"), ("items", per_item, UNSEEN, "dashed")):
        count = np.sort(np.asarray(sizes))[::-1]
        count = count[count > 0]
        if not len(count):
            continue
        some = np.unique(np.geomspace(1, len(count), min(_POINTS, len(count))).round().astype(int)) - 1
        # the last of equal counts tells how many have at least so many
        share = np.searchsorted(-count, -count[some], side="right") / len(count)
        told = [f"{part:.1%} of {words} have {many:,} or more" for many, part in zip(count[some], share, strict=True)]
        source = ColumnDataSource({"x": count[some], "y": share, "told": told})
        line = plot.line("x", "y", source=source, line_color=tint, line_width=2.5, line_dash=dash)
        marks = plot.scatter("x", "y", source=source, size=5, color=tint, alpha=0.0)
        plot.add_tools(hover([marks], [("", "@told")], mode="mouse"))
        entries.append((f"{len(count):,} {words}", [line], None))
    _tick(
        plot, max(np.max(per_user, initial=1), np.max(per_item, initial=1)), max(np.size(per_user), np.size(per_item))
    )
    legend(plot, entries)
    return plot


def _tick(plot: Any, most: float, many: int) -> None:
    """Powers of ten in words: 1 to 1000 ratings, 100% down to 0.1% of those who gave them."""
    across = power_ticks(1.0, max(most, 10.0))
    up = [(share, f"{brief(100.0 * share)}%") for share, _ in power_ticks(1.0 / max(many, 10), 1.0)]
    for axis, ticks in ((plot.xaxis, across), (plot.yaxis, up)):
        axis.ticker = FixedTicker(ticks=[at for at, _ in ticks])
        axis.major_label_overrides = dict(ticks)


def item_map(factors: ArrayLike, names: Sequence[str], per_item: ArrayLike, *, height: int = 460) -> Any:
    """Draw items on their first two factors; those rated most have their names written.

    Args:
        factors: (d, k), k at least 1.
        names: (d,) of the items.
        per_item: (d,) ratings of each.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> item_map([[0.0, 1.0], [1.0, 0.0]], ["Alien", "Heidi"], [3, 5]).renderers[0].data_source.data["row"].tolist()
    [2, 1]
    """
    places, sizes = np.asarray(factors, np.float64), np.asarray(per_item)
    order = np.argsort(-sizes, kind="stable")[:ITEMS]
    if places.shape[1] == 1:
        places = np.column_stack([places, np.zeros(len(places))])
    called = [names[i] if rank < NAMED else "" for rank, i in enumerate(order)]
    plot = embedding_map(
        places[order, :2], rows=order + 1, names=called, axes=("factor 1", "factor 2"), height=height,
    )  # fmt: skip
    if len(order) < len(sizes):
        note(plot, f"The {len(order):,} items with most ratings are drawn, of {len(sizes):,}.")
    return plot
