"""What a policy is worth after more and more trials, beside the best there is."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike

from assay.views.axes.given import log_padded, padded, vector
from assay.views.axes.legend import legend
from assay.views.axes.numbers import number
from assay.views.axes.theme import CHANCE, REAL, figure, hover
from assay.views.axes.ticks import brief, log_ticks, number_ticks


def policy_curve_view(
    trials: ArrayLike,
    value: ArrayLike,
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    level: float | None = None,
    level_words: str = "best possible",
    x_label: str = "trials learned from",
    y_label: str = "value where trials begin",
) -> Any:
    """Draw values over trials.

    Args:
        trials: (c,) ascending, above 0.
        value: (c,) values.
        low: (c,) lower ends of their intervals.
        high: (c,) upper ends.
        level: to compare with.
        level_words: what that is.
        x_label: what trials are.
        y_label: what values are.

    >>> plot = policy_curve_view([1, 10], [0.2, 0.5], level=0.54)
    >>> plot.renderers[0].data_source.data["value"].tolist()
    [0.2, 0.5]
    """
    at, worth = vector("trials", trials, what="value"), vector("value", value, what="value")
    ends = [worth if end is None else vector("interval", end, len(at), what="value") for end in (low, high)]
    log = bool(len(at) > 1 and at[-1] > 8 * at[0])
    reach = log_padded(at, 0.04, 0.04) if log else padded(at, 0.04)
    span = padded(np.concatenate([*ends, worth, [] if level is None else [level]]), 0.06)
    plot = figure(
        x_label=f"{x_label} (log scale)" if log else x_label, y_label=y_label, x_range=reach, y_range=span,
        x_axis_type="log" if log else "linear",
    )  # fmt: skip
    ticks = number_ticks(span[0], span[1], 7)
    plot.yaxis.ticker = FixedTicker(ticks=[y for y, _ in ticks])
    plot.yaxis.major_label_overrides = dict(ticks)
    across = _whole_ticks(reach) if log else number_ticks(*reach, 9)
    plot.xaxis.ticker = FixedTicker(ticks=[x for x, _ in across])
    plot.xaxis.major_label_overrides = dict(across)
    source = ColumnDataSource(
        {"trials": at, "value": worth, "told": [brief(v, 4) for v in worth], "many": [f"{t:,.0f}" for t in at]}
    )
    line = plot.line("trials", "value", source=source, line_color=REAL, line_width=2.2)
    marks = plot.scatter("trials", "value", source=source, size=7, color=REAL)
    plot.add_tools(hover([marks], [("trials", "@many"), ("value", "@told")]))
    entries: list[Any] = [("policy learned", [line, marks], None)]
    if low is not None and high is not None and np.any(ends[1] > ends[0]):
        plot.varea(at, ends[0], ends[1], fill_color=REAL, fill_alpha=0.18, level="underlay")
    if level is not None:
        look: dict[str, Any] = {"line_color": CHANCE, "line_dash": "dashed", "line_width": 1.8}
        plot.add_layout(Span(location=level, dimension="width", **look))
        entries.append((f"{level_words}: {number(level)}", [plot.line([np.nan], [np.nan], **look)], None))
    legend(plot, entries)
    return plot


def _whole_ticks(reach: tuple[float, float]) -> list[tuple[float, str]]:
    powers = [10.0**e for e in range(0, 13) if reach[0] <= 10.0**e <= reach[1]]
    every = powers if len(powers) > 3 else [m * 10.0**e for e in range(0, 13) for m in (1, 2, 5)]
    return [(t, f"{t:,.0f}") for t in every if reach[0] <= t <= reach[1]] or log_ticks(*reach)
