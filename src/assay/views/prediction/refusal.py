"""What refusing buys: how right a rule is on the rows that it still decides."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, NumeralTickFormatter
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike

from assay.errors import ParameterError
from assay.views.axes.given import padded, shares
from assay.views.axes.legend import note
from assay.views.axes.theme import LINE, REAL, figure, hover, label

_POINTS = 1500  # of a curve; more are thinned evenly, the ends stay
_MARKED = 60  # points up to which each is marked


def refusal_view(
    share_refused: ArrayLike,
    accuracy: ArrayLike,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    chosen: float | None = None,
    height: int = 340,
) -> Any:
    """Draw how right a rule is on the rows it decides, over the share of rows it refuses.

    Args:
        share_refused: (m,) from 0 to 1, in any order.
        accuracy: (m,) on the rows decided.
        lower: (m,) lower end of the range of the accuracy.
        upper: (m,) its upper end.
        chosen: the share refused that was taken.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> refusal_view([0.0, 0.1], [0.94, 0.98]).xaxis.axis_label.text
    'rows refused'
    """
    refused = shares("share_refused", share_refused)
    given = {"accuracy": accuracy, "lower": lower, "upper": upper}
    curves = {key: shares(key, v, len(refused)) for key, v in given.items() if v is not None}
    if ("lower" in curves) != ("upper" in curves):
        raise ParameterError("lower and upper go together; got one of them")
    order = np.argsort(refused, kind="stable")
    order = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), _POINTS)).round().astype(np.intp))]
    refused, curves = refused[order], {key: curve[order] for key, curve in curves.items()}
    low, high = padded(np.concatenate([*curves.values(), [1.0]]), 0.06)
    plot = figure(
        x_label="rows refused", y_label="right, of the rows decided", height=height,
        x_range=(-0.02, max(float(refused.max(initial=0.1)) * 1.04, 0.05)), y_range=(low, high),
    )  # fmt: skip
    for axis in (plot.xaxis, plot.yaxis):
        axis.formatter = NumeralTickFormatter(format="0.[0]%")
    if "lower" in curves:
        plot.varea(refused, curves["lower"], curves["upper"], fill_color=REAL, fill_alpha=0.18, level="underlay")
    source = ColumnDataSource({"refused": refused, "accuracy": curves["accuracy"]})
    plot.line("refused", "accuracy", source=source, line_color=REAL, line_width=2.2)
    marks = plot.scatter(
        "refused", "accuracy", source=source, size=7, color=REAL, alpha=1.0 if len(refused) <= _MARKED else 0.0
    )
    plot.add_tools(hover([marks], [("refused", "@refused{0.0%}"), ("right", "@accuracy{0.00%}")]))
    if chosen is not None:
        plot.add_layout(Span(location=chosen, dimension="height", line_color=LINE, line_dash="dotted", line_width=1.8))
        right = chosen > plot.x_range.end / 2
        place: dict[str, Any] = {"text_align": "right" if right else "left", "x_offset": -6 if right else 6}
        plot.add_layout(label(chosen, low, f"chosen: {chosen:.1%}", text_baseline="bottom", y_offset=4, **place))
    if "lower" in curves:
        note(plot, "Band: range of the accuracy, on these rows.")
    return plot
