"""How far one series runs behind another: their correlation at each delay."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike, NDArray

from assay.errors import ParameterError
from assay.views.axes.given import padded, vector
from assay.views.axes.legend import legend
from assay.views.axes.theme import CHANCE, REAL, UNSEEN, figure, hover, label
from assay.views.axes.ticks import brief


def delay_view(
    lags: ArrayLike,
    correlations: ArrayLike,
    chosen: float | None = None,
    *,
    chance: ArrayLike | None = None,
    unit: str = "",
    height: int = 340,
) -> Any:
    """Draw the correlation of two series over the delay between them.

    Args:
        lags: (m,) delays.
        correlations: (m,) at each.
        chosen: the delay that was found.
        chance: what chance reaches in one of twenty, a number or one per lag; drawn on both sides of zero.
        unit: of the delays, such as "months".
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> plot = delay_view([0, 1, 2, 3], [0.1, 0.0, 0.2, 0.7], 3)
    >>> plot.xaxis.axis_label.text
    'delay'
    """
    at = vector("lags", lags, what="lag")
    found = vector("correlations", correlations, len(at), what="lag")
    if not len(at) or np.any(np.abs(found) > 1 + 1e-9):
        raise ParameterError("there is a lag or more, with a correlation between -1 and 1 each")
    by_chance = None if chance is None else _level(chance, len(at))
    order = np.argsort(at, kind="stable")
    at, found = at[order], found[order]
    by_chance = None if by_chance is None else by_chance[order]
    drawn = [found, *([] if by_chance is None else [by_chance, -by_chance])]
    span = padded(np.concatenate([*drawn, [0.0]]), 0.14)
    words = f"delay ({unit})" if unit else "delay"
    plot = figure(x_label=words, y_label="correlation", height=height, x_range=padded(at, 0.04), y_range=span)
    plot.add_layout(Span(location=0, dimension="width", line_color=CHANCE, line_width=1))
    entries: list[Any] = []
    if by_chance is not None:
        band = plot.varea(at, -by_chance, by_chance, fill_color=CHANCE, fill_alpha=0.25, level="underlay")
        entries.append(("reached by chance at one delay in twenty", [band], None))
    taken = np.zeros(len(at), dtype=bool) if chosen is None else at == chosen
    for which, words, colour, size, shape in (
        (~taken, "a delay", REAL, 8, "circle"), (taken, "the delay found", UNSEEN, 13, "diamond"),
    ):  # fmt: skip
        if which.any():
            source = ColumnDataSource({"lag": at[which], "correlation": found[which], "foot": np.zeros(which.sum())})
            plot.segment("lag", "foot", "lag", "correlation", source=source, line_color=colour, line_width=2)
            marks = plot.scatter("lag", "correlation", source=source, size=size, marker=shape, color=colour)
            plot.add_tools(hover([marks], [("delay", "@lag"), ("correlation", "@correlation{0.000}")]))
            entries.append((words, [marks], None))
    if taken.any():
        x, y = float(at[taken][0]), float(found[taken][0])
        text = f"{brief(x)}{f' {unit}' if unit else ''}: {y:.2f}".replace("-", "−")
        up = y >= 0
        plot.add_layout(
            label(x, y, text, text_align="center", text_baseline="bottom" if up else "top", y_offset=9 if up else -9)
        )
    legend(plot, entries)
    return plot


def _level(chance: ArrayLike, m: int) -> NDArray[np.float64]:
    level = np.asarray(chance, dtype=np.float64)
    return np.abs(vector("chance", np.full(m, level) if level.ndim == 0 else level, m, what="lag"))
