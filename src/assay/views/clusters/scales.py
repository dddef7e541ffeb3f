"""Which scale of the neighbourhood graph: how well the map keeps distances, and how many rows hang together."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, NumeralTickFormatter
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike

from assay.errors import ParameterError
from assay.views.axes.legend import legend
from assay.views.axes.theme import CHANCE, REAL, UNSEEN, figure, hover, label
from assay.views.axes.ticks import brief

_LOG_FROM = 8.0


def scale_choice(
    scales: ArrayLike,
    residual_variance: ArrayLike,
    share_kept: ArrayLike,
    chosen: float,
    *,
    what: Literal["neighbours", "epsilon"] = "neighbours",
) -> Any:
    """Draw what each scale would give: a small one tears the rows apart, a large one takes short cuts.

    Args:
        scales: (s,) tried, in any order.
        residual_variance: (s,) share of the variance of distances along the graph that the map does not keep; not
            finite where there is no map.
        share_kept: (s,) share of the rows in the largest connected part.
        chosen: the scale that was taken.
        what: whether scales count neighbours or are distances.

    Returns:
        A Bokeh figure.

    >>> scale_choice([5, 10], [0.2, 0.01], [0.7, 1.0], 10).xaxis.axis_label.text
    'neighbours of each row'
    """
    if what not in ("neighbours", "epsilon"):
        raise ParameterError(f"what is 'neighbours' or 'epsilon'; got {what!r}")
    at, residual, share = (np.asarray(values, dtype=np.float64) for values in (scales, residual_variance, share_kept))
    if at.ndim != 1 or not at.shape == residual.shape == share.shape or not len(at):
        raise ParameterError(
            "scales, residual_variance and share_kept have one number per scale tried; "
            f"got shapes {at.shape}, {residual.shape} and {share.shape}"
        )
    order = np.argsort(at, kind="stable")
    at, residual, share = at[order], residual[order], share[order]
    logarithmic = bool(at[0] > 0 and at[-1] > _LOG_FROM * at[0])
    words = {"neighbours": "neighbours of each row", "epsilon": "largest distance to a neighbour"}[what]
    plot = figure(
        x_label=f"{words} (log scale)" if logarithmic else words,
        y_label="share",
        x_axis_type="log" if logarithmic else "linear",
        y_range=(-0.03, 1.06),
    )
    plot.yaxis.formatter = NumeralTickFormatter(format="0%")
    if len(at) <= 9:
        plot.xaxis.ticker = FixedTicker(ticks=at.tolist())
        plot.xaxis.major_label_overrides = {float(scale): brief(float(scale)) for scale in at}
    middle = np.sqrt(at[0] * at[-1]) if logarithmic else (at[0] + at[-1]) / 2
    align = {"text_align": "right", "x_offset": -6} if chosen > middle else {"text_align": "left", "x_offset": 6}
    plot.add_layout(Span(location=chosen, dimension="height", line_color=CHANCE, line_dash="dotted", line_width=2))
    plot.add_layout(label(chosen, 0.5, f"chosen: {brief(chosen)}", **align))
    source = {"scale": at, "residual": residual, "share": share}
    said = [("scale", "@scale{0.[000]}")]
    said += [("distances not kept", "@residual{0.0%}"), ("rows in one piece", "@share{0.0%}")]
    entries = []
    for key, name, colour, dash, shape in (
        ("residual", "distances not kept (residual variance)", REAL, "solid", "circle"),
        ("share", "rows in one piece", UNSEEN, "dashed", "square"),
    ):
        known = np.isfinite(source[key])
        part = ColumnDataSource({k: v[known] for k, v in source.items()})
        line = plot.line("scale", key, source=part, line_color=colour, line_width=2, line_dash=dash)
        marks = plot.scatter("scale", key, source=part, size=8, marker=shape, color=colour)
        plot.add_tools(hover([marks], said))
        entries.append((name, [line, marks], None))
    legend(plot, entries)
    return plot
