"""Complexity and learning curves: error on the rows fitted and on held-out rows, over what was chosen or given."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, NoOverlap
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.given import log_padded, padded, vector
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import LINE, REAL, UNSEEN, figure, hover, label
from assay.views.axes.ticks import brief, number_ticks, power_ticks

_LOG_FROM = 20.0
_PAIRS = (("training", "training_errors"), ("held_out", "errors"))
_FEW = 7  # values up to which each has a tick
_MARKED = 60  # points up to which each is marked


def complexity_curve_view(
    values: ArrayLike,
    training: ArrayLike | None,
    held_out: ArrayLike | None,
    errors: ArrayLike | None = None,
    *,
    training_errors: ArrayLike | None = None,
    chosen: float | None = None,
    one_standard_error: float | None = None,
    x_label: str = "complexity",
    y_label: str = "error",
    logarithmic: bool | None = None,
    height: int = 380,
) -> Any:
    """Draw errors on the rows fitted and on held-out rows over a parameter, or over how many rows were learned from.

    Args:
        values: (m,) of the parameter, or numbers of rows, in any order.
        training: (m,) error on the rows fitted; None where it is not known.
        held_out: (m,) error on rows kept out; None where there were none.
        errors: (m,) standard errors of the held-out error; drawn as a band of one on either side.
        training_errors: (m,) standard errors on the rows fitted.
        chosen: the value with the least held-out error.
        one_standard_error: the simplest value within one standard error of it.
        x_label: what the values are, with their unit.
        y_label: what errors are, with their unit.
        logarithmic: whether the axis across is; by default where values are positive and span a factor of 20.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> plot = complexity_curve_view([1, 2, 3], [3.0, 2.0, 1.0], [3.5, 2.5, 2.8], chosen=2)
    >>> plot.renderers[0].data_source.data["held_out"].tolist()
    [3.5, 2.5, 2.8]
    """
    at = vector("values", values, what="value")
    if not len(at):
        raise ParameterError("a curve needs one value or more; got none")
    given = {"training": training, "held_out": held_out, "errors": errors, "training_errors": training_errors}
    curves = {key: vector(key, v, len(at), what="value") for key, v in given.items() if v is not None}
    for key in ("errors", "training_errors"):
        if key in curves and curves[key].min() < 0:
            raise ParameterError(f"{key} are standard errors, not negative; got {curves[key].min():g}")
    if not {"training", "held_out"} & set(curves):
        raise ParameterError("a curve shows errors on the rows fitted, on held-out rows, or both; got neither")
    if "held_out" not in curves and (chosen is not None or errors is not None):
        raise ParameterError("chosen and errors belong to held-out rows; got none of these")
    order = np.argsort(at, kind="stable")
    at, curves = at[order], {key: curve[order] for key, curve in curves.items()}
    log = bool(at[0] > 0 and at[-1] > _LOG_FROM * at[0]) if logarithmic is None else logarithmic
    if log and at[0] <= 0:
        raise ParameterError(f"a logarithmic axis needs values above zero; got {at[0]:g}")
    bands = [curves[c] + s * curves[e] for c, e in _PAIRS if c in curves and e in curves for s in (-1, 1)]
    low, high = padded(np.concatenate([*(curves[c] for c, _ in _PAIRS if c in curves), *bands]), 0.06)
    marked = _marked(at, chosen, one_standard_error)
    span = (low, high + 0.16 * (high - low)) if marked else (low, high)  # names of choices stand above the curves
    plot = _figure(at, span, log, x_label, y_label, height)
    source = {"value": at, "value_text": [brief(x, 5) for x in at], **curves}
    source |= {f"{key}_text": [brief(v, 4) for v in curve] for key, curve in curves.items()}
    entries = _draw_errors(plot, ColumnDataSource(source), curves)
    _mark(plot, marked, span, log)
    if chosen is not None and "errors" in curves:
        best = int(np.flatnonzero(at == chosen)[0])
        limit = float(curves["held_out"][best] + curves["errors"][best])
        line = Span(location=limit, dimension="width", line_color=UNSEEN, line_dash="dotted", line_width=1.5)
        plot.add_layout(line)
        key = plot.line([np.nan], [np.nan], line_color=UNSEEN, line_dash="dotted", line_width=1.5)
        entries.append(("least + one standard error", [key], None))
    legend(plot, entries)
    if "errors" in curves:
        simplest = " Simplest: within one standard error of the least." if one_standard_error is not None else ""
        note(plot, f"Bands: one standard error on either side.{simplest}")
    return plot


def _figure(at: Array, span: tuple[float, float], log: bool, x_label: str, y_label: str, height: int) -> Any:
    reach = log_padded(at, 0.04, 0.04) if log else padded(at, 0.04)
    plot = figure(
        x_label=f"{x_label} (log scale)" if log else x_label, y_label=y_label, height=height,
        x_axis_type="log" if log else "linear", x_range=reach, y_range=span,
    )  # fmt: skip
    ticks = number_ticks(span[0], span[1], 7)
    plot.yaxis.ticker = FixedTicker(ticks=[y for y, _ in ticks])
    plot.yaxis.major_label_overrides = dict(ticks)
    if len(at) <= _FEW:
        across = [(float(x), brief(float(x))) for x in at]
    else:
        across = power_ticks(*reach) if log else number_ticks(*reach, 9)
    plot.xaxis.ticker = FixedTicker(ticks=[x for x, _ in across])
    plot.xaxis.major_label_overrides = dict(across)
    plot.xaxis.major_label_policy = NoOverlap(min_distance=4)
    return plot


def _draw_errors(plot: Any, source: ColumnDataSource, curves: dict[str, Array]) -> list[Any]:
    every = (("held_out", "errors", "held-out rows", UNSEEN, "solid", "circle"),
             ("training", "training_errors", "rows fitted", REAL, "dashed", "square"))  # fmt: skip
    looks = [look for look in every if look[0] in curves]
    said = [("value", "@value_text"), *((words, f"@{curve}_text") for curve, _, words, *_ in looks)]
    said += [("standard error", "@errors_text")] if "errors" in curves else []
    entries = []
    at = source.data["value"]
    for curve, _, words, colour, dash, shape in looks:
        line = plot.line("value", curve, source=source, line_color=colour, line_width=2.2, line_dash=dash)
        marks = plot.scatter(
            "value", curve, source=source, size=7 if len(at) <= _MARKED else 3, marker=shape, color=colour
        )
        plot.add_tools(hover([marks], said))
        entries.append((words, [line, marks], None))
    for curve, error, _, colour, _, _ in looks:
        if error in curves:
            low, high = (curves[curve] + sign * curves[error] for sign in (-1, 1))
            plot.varea(at, low, high, fill_color=colour, fill_alpha=0.18, level="underlay")
    return entries


def _marked(at: Array, chosen: float | None, simplest: float | None) -> list[tuple[float, str]]:
    marked = []
    for name, x, words in (
        ("chosen", chosen, "least"), ("one_standard_error", simplest, "simplest"),
    ):  # fmt: skip
        if x is not None:
            if not np.any(at == x):
                raise ParameterError(f"{name} is one of the values; got {x:g}")
            marked.append((float(x), words))
    return marked


def _mark(plot: Any, marked: list[tuple[float, str]], span: tuple[float, float], log: bool) -> None:
    """Name what was chosen beside its line, each on a line of its own and away from the other's."""
    if len(marked) == 2 and marked[0][0] == marked[1][0]:
        marked = [(marked[0][0], "least and simplest")]
    start, end = (np.log10(e) if log else e for e in (plot.x_range.start, plot.x_range.end))
    parts = [((np.log10(x) if log else x) - start) / (end - start) for x, _ in marked]
    for k, (x, words) in enumerate(marked):
        lowest = parts[k] == min(parts)
        # away from the other's line, unless the frame ends there
        leftward = parts[k] > (0.5 if len(marked) == 1 else 0.35 if lowest else 0.65)
        place = {"text_align": "right", "x_offset": -6} if leftward else {"text_align": "left", "x_offset": 6}
        dash = "dotted" if k == 0 else "dashed"
        plot.add_layout(Span(location=x, dimension="height", line_color=LINE, line_dash=dash, line_width=1.8))
        plot.add_layout(label(x, span[1], f"{words}: {brief(x)}", text_baseline="top", y_offset=-17 * k, **place))
