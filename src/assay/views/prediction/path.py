"""How coefficients shrink: one line per column over the strength of the penalty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, LinearAxis, PlainText
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.given import log_padded, matrix, names_of, padded, vector
from assay.views.axes.legend import note
from assay.views.axes.theme import CHANCE, FONT, INK, LINE, figure, hover, label
from assay.views.axes.ticks import brief, power_ticks
from assay.views.clusters.groups import COLOURS

NAMED = 10
LINES = 200
_DASHES = ("solid", "dashed", "dotdash")
_MARKED = 12  # strengths up to which each is marked by a point; more would hide the dashes
_NAME = 18
_LINE = 15.0  # pixels that a name needs
_AROUND = 90  # pixels above and below the lines


def coefficient_path_view(
    strengths: ArrayLike,
    coefficients: ArrayLike,
    names: Sequence[str] | None = None,
    *,
    chosen: float | None = None,
    x_label: str = "strength of the penalty",
    y_label: str = "coefficient",
    height: int = 420,
) -> Any:
    """Draw the coefficients of each column over the strength of the penalty, on a logarithmic axis.

    The ten columns whose coefficients are largest somewhere on the path are named and coloured; the others are faint,
    up to 200 lines. Coefficients can be compared where the columns have the same unit, or were standardised.

    Args:
        strengths: (k,) of the penalty, in any order, not negative; zero is drawn at the left end of the axis.
        coefficients: (k, d) one line per strength.
        names: (d,) of the columns.
        chosen: the strength that was taken.
        x_label: what strengths are, with their unit.
        y_label: what coefficients are, with their unit.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> plot = coefficient_path_view([0.1, 1.0, 10.0], [[2.0, 1.0], [1.5, 0.2], [0.5, 0.0]], ["age", "dose"], chosen=1)
    >>> plot.xaxis.axis_label.text
    'strength of the penalty (log scale)'
    """
    at = vector("strengths", strengths, what="strength")
    table = matrix("coefficients", coefficients, (len(at), None))
    called = names_of(names, table.shape[1])
    if not len(at) or at.min() < 0:
        raise ParameterError(f"strengths are not negative, at least one; got {at.min() if len(at) else 'none'}")
    if chosen is not None and not at.min() <= chosen <= at.max():
        raise ParameterError(f"chosen lies between the strengths {at.min():g} and {at.max():g}; got {chosen:g}")
    order = np.argsort(at, kind="stable")
    at, table = at[order], table[order]
    floor = _floor(at)
    places = np.where(at > 0, at, floor)
    peak = np.abs(table).max(axis=0, initial=0.0)
    largest = np.argsort(-peak, kind="stable")[:LINES]
    span = padded(table[:, largest])
    first, last = (np.abs(table[end]).max(initial=0.0) for end in (0, -1))
    left = bool(first >= last)  # names stand where lines are apart
    reach = log_padded(places, *((0.06, 0.02) if left else (0.02, 0.06)))  # with room for lines to the names
    plot = figure(
        x_label=f"{x_label} (log scale)", y_label=y_label, height=height, x_axis_type="log", x_range=reach,
        y_range=span, y_axis_location="right" if left else "left",
    )  # fmt: skip
    _tick(plot, at, floor, reach)
    plot.add_layout(Span(location=0, dimension="width", line_color=CHANCE, line_width=1))
    _draw_faint(plot, places, table, largest[NAMED:], called)
    _draw_named(plot, at, places, table, largest[:NAMED], called)
    _name_lines(plot, table[0 if left else -1], largest[:NAMED], called, places, reach, span, height, left)
    if chosen is not None:
        _mark(plot, float(chosen), floor, reach, span)
    if told := _caption(peak, largest):
        note(plot, told)
    return plot


def _floor(at: Array) -> float:
    """Where a strength of zero is drawn: a step below the least other one."""
    above = np.unique(at[at > 0])
    if not len(above):
        return 1.0
    powers = np.diff(np.log10(above[:2]))  # no quotient: it may overflow
    return float(above[0] / 10.0 ** np.clip(powers[0] if len(powers) else 1.0, 0.2, 1.0))


def _tick(plot: Any, at: Array, floor: float, reach: tuple[float, float]) -> None:
    ticks = power_ticks(*reach)
    if at[0] == 0:
        ticks = [(floor, "0"), *((x, words) for x, words in ticks if x > floor)]
    plot.xaxis.ticker = FixedTicker(ticks=[x for x, _ in ticks])
    plot.xaxis.major_label_overrides = dict(ticks)


def _draw_faint(plot: Any, places: Array, table: Array, which: NDArray[np.intp], names: list[str]) -> None:
    source = ColumnDataSource(
        {"x": [places] * len(which), "y": [table[:, j] for j in which], "name": [names[j] for j in which]}
    )
    lines = plot.multi_line("x", "y", source=source, line_color=CHANCE, line_alpha=0.4, line_width=1)
    plot.add_tools(hover([lines], [("column", "@name")]))


def _draw_named(plot: Any, at: Array, places: Array, table: Array, which: NDArray[np.intp], names: list[str]) -> None:
    for k, j in reversed(list(enumerate(which))):
        source = ColumnDataSource(
            {
                "x": places, "y": table[:, j], "strength": [brief(x, 4) for x in at],
                "value": [brief(c, 4) for c in table[:, j]], "name": [names[j]] * len(at),
            }
        )  # fmt: skip
        style: dict[str, Any] = {"line_color": COLOURS[k], "line_width": 2.2, "line_dash": _DASHES[k % len(_DASHES)]}
        lines = plot.line("x", "y", source=source, **style)
        if len(at) <= _MARKED:
            plot.scatter("x", "y", source=source, size=6, color=COLOURS[k])
        said = [("column", "@name"), ("strength", "@strength"), ("coefficient", "@value")]
        plot.add_tools(hover([lines], said))


def _name_lines(
    plot: Any, ends: Array, which: NDArray[np.intp], names: list[str], places: Array,
    reach: tuple[float, float], span: tuple[float, float], height: int, left: bool,
) -> None:  # fmt: skip
    """Write names beside the frame, none over another, with a line from each to the end of its path."""
    if not len(which):
        return
    gap = _LINE / (height - _AROUND) * (span[1] - span[0])
    heights = apart(ends[which], gap, span)
    beside: Any = LinearAxis()
    beside.ticker = FixedTicker(ticks=heights.tolist())
    beside.major_label_overrides = {
        float(y): PlainText(text=shortened(names[j], _NAME)) for y, j in zip(heights, which, strict=True)
    }
    beside.update(
        major_label_text_font=FONT, major_label_text_font_size="12px", major_label_text_color=INK,
        axis_line_alpha=0.0, background_fill_alpha=0.0, major_tick_in=0, major_tick_out=0, minor_tick_out=0,
        major_label_standoff=3,
    )  # fmt: skip
    plot.add_layout(beside, "left" if left else "right")
    start, edge = (places[0], reach[0]) if left else (places[-1], reach[1])
    plot.segment(
        np.full(len(which), start), ends[which], np.full(len(which), edge), heights,
        line_color=list(COLOURS[: len(which)]), line_width=1.2,
    )  # fmt: skip


def apart(heights: ArrayLike, gap: float, span: tuple[float, float]) -> Array:
    """Move heights so that none is nearer than a gap to the next, and none leaves the span, by as little as it takes.

    Args:
        heights: (m,) where names had best be.
        gap: the least distance between two.
        span: lowest and highest place.

    Returns:
        (m,) heights in the same order.

    >>> apart([1.0, 1.0, 5.0], 1.0, (0.0, 10.0)).tolist()
    [0.5, 1.5, 5.0]
    """
    wanted = np.asarray(heights, dtype=np.float64)
    m = len(wanted)
    if not m:
        return wanted
    gap = min(gap, (span[1] - span[0]) / m)
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(m)
    # less their steps, heights that keep the gap are those that do not fall: least squares among these, cut to the span
    even = isotonic_regression(wanted[order] - steps).x
    placed = np.empty(m)
    placed[order] = np.clip(even, span[0] + gap / 2, span[1] - gap / 2 - steps[-1]) + steps
    return placed


def _mark(plot: Any, chosen: float, floor: float, reach: tuple[float, float], span: tuple[float, float]) -> None:
    x = chosen if chosen > 0 else floor
    plot.add_layout(Span(location=x, dimension="height", line_color=LINE, line_dash="dotted", line_width=2))
    right = x > np.sqrt(reach[0]) * np.sqrt(reach[1])
    place: dict[str, Any] = {"text_align": "right", "x_offset": -6} if right else {"text_align": "left", "x_offset": 6}
    plot.add_layout(label(x, span[1], f"chosen: {brief(chosen)}", text_baseline="top", **place))


def _caption(peak: Array, largest: NDArray[np.intp]) -> str:
    d = len(peak)
    told = [f"The {NAMED} columns with the largest coefficients are named."] if d > NAMED else []
    if d > LINES:
        rest = np.delete(peak, largest).max()
        told.append(f"{LINES} of {d:,} columns are drawn; the others reach at most {brief(float(rest))}.")
    return " ".join(told)
