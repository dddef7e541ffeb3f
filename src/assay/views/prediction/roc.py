"""How well two classes are told apart: the ROC curve, and whether probabilities come true."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, NumeralTickFormatter
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.given import shares, vector
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE, FONT, LINE, REAL, figure, hover
from assay.views.axes.ticks import brief

_CORNERS = 1500
_NAME = 18
_ENOUGH = 10  # rows of a bin whose share says something
_SQUARE = 1.25  # how much wider than high a figure of shares may become
_FOOT = -0.24  # where the bars of counts stand, below the shares
_BAR = 0.14
_COUNTED = 12  # bins up to which counts are written


def roc_view(
    false_positive: ArrayLike,
    true_positive: ArrayLike,
    *,
    area: float | None = None,
    interval: tuple[float, float] | None = None,
    band: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    thresholds: ArrayLike | None = None,
    chosen: tuple[float, float] | None = None,
    positive: str = "",
    height: int = 430,
) -> Any:
    """Draw the share of positive rows found over the share of false alarms, as `assay.roc` gives them.

    Args:
        false_positive: (m,) share of the negative rows called positive, ascending.
        true_positive: (m,) share of the positive rows called so, ascending.
        area: under the curve, written above the figure.
        interval: range of the area.
        band: places across, lower and upper end of the band around the curve.
        thresholds: (m,) that give the points, shown under the pointer.
        chosen: false and true positives at the threshold that was taken.
        positive: the class called positive.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> roc_view([0.0, 0.0, 1.0], [0.0, 0.5, 1.0], area=0.75).above[-1].title
    'area 0.750'
    """
    across = shares("false_positive", false_positive)
    up = shares("true_positive", true_positive, len(across))
    if np.any(np.diff(across) < 0) or np.any(np.diff(up) < 0):
        raise ParameterError("false_positive and true_positive ascend together, from strict to lenient thresholds")
    name = shortened(positive, _NAME) or "positive"
    plot = _square(f"called {name}, of the other rows", f"called {name}, of the {name} rows", height)
    entries: list[Any] = []
    kept = _corners(across, up)
    source = ColumnDataSource({"x": across[kept], "y": up[kept]})
    said = [("false positives", "@x{0.0%}"), ("true positives", "@y{0.0%}")]
    if thresholds is not None:
        levels = np.asarray(thresholds, dtype=np.float64)
        if levels.shape != across.shape or np.isnan(levels).any():
            raise ParameterError(f"thresholds has one number per point; got shape {levels.shape} for {len(across)}")
        source.data["threshold"] = [f"{x:.4g}".replace("-", "−", int(x < 0)) for x in levels[kept]]
        said.append(("from score", "@threshold"))
    line = plot.line("x", "y", source=source, line_color=REAL, line_width=2.5)
    plot.add_tools(hover([line], said))
    entries.append(("the rule", [line], None))
    if band is not None:
        at, lower, upper = (vector(f"band {word}", b) for word, b in zip(("at", "lower", "upper"), band, strict=True))
        if not len(at) == len(lower) == len(upper):
            raise ParameterError(f"band has three arrays of one length; got {len(at)}, {len(lower)} and {len(upper)}")
        shade = plot.varea(at, lower, upper, fill_color=REAL, fill_alpha=0.16, level="underlay")
        entries.append(("95% band", [shade], None))
    chance = plot.line([0, 1], [0, 1], line_color=CHANCE, line_width=2, line_dash="dashed")
    entries.append(("chance", [chance], None))
    if chosen is not None:
        mark = plot.scatter([chosen[0]], [chosen[1]], marker="diamond", size=13, color=LINE)
        entries.append((f"chosen: {chosen[1]:.1%} found, {chosen[0]:.1%} false alarms", [mark], None))
    legend(plot, entries, title=_area(area, interval))
    return plot


def _corners(across: Array, up: Array) -> NDArray[np.intp]:
    """Points where the curve turns, thinned evenly beyond 1,500; the ends stay."""
    m = len(across)
    if m < 3:
        return np.arange(m)
    turns = np.diff(across)[1:] * np.diff(up)[:-1] != np.diff(across)[:-1] * np.diff(up)[1:]
    corners = np.flatnonzero(np.r_[True, turns, True])
    even = np.unique(np.linspace(0, len(corners) - 1, min(len(corners), _CORNERS)).round().astype(np.intp))
    kept: NDArray[np.intp] = corners[even]
    return kept


def _area(area: float | None, interval: tuple[float, float] | None) -> str:
    if area is None:
        return ""
    return f"area {area:.3f}" + (f" ({interval[0]:.3f} to {interval[1]:.3f})" if interval is not None else "")


def calibration_view(
    predicted: ArrayLike,
    observed: ArrayLike,
    counts: ArrayLike,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    error: float | None = None,
    event: str = "came true",
    height: int = 430,
) -> Any:
    """Draw how often what was said to have a probability came true, as `assay.calibration` gives it.

    Args:
        predicted: (b,) mean probability said in each bin; NaN where it is empty.
        observed: (b,) share that came true; NaN where it is empty.
        counts: (b,) rows in each bin, drawn as bars below.
        lower: (b,) lower end of the range of the share.
        upper: (b,) its upper end.
        edges: (b + 1,) of the bins, for the bars; by default of equal width.
        error: expected calibration error, written above the figure.
        event: what came true, for the axis.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> plot = calibration_view([0.2, 0.8], [0.1, 0.9], [10, 10])
    >>> plot.yaxis.axis_label.text
    'came true'
    """
    many = vector("counts", counts, what="bin")
    b = len(many)
    if np.any(many < 0):
        raise ParameterError(f"counts are not negative; got {many.min():g}")
    full = many > 0
    given = {"predicted": predicted, "observed": observed, "lower": lower, "upper": upper}
    columns = {key: _of_bins(key, v, full) for key, v in given.items() if v is not None}
    if ("lower" in columns) != ("upper" in columns):
        raise ParameterError("lower and upper go together; got one of them")
    ends = np.linspace(0, 1, b + 1) if edges is None else shares("edges", edges, b + 1)
    plot = _square("probability said", shortened(event, 2 * _NAME), height)
    _draw_counts(plot, ends, many)
    diagonal = plot.line([0, 1], [0, 1], line_color=LINE, line_width=1.5, line_dash="dashed")
    enough = many[full] >= _ENOUGH
    clear = np.where(enough, 1.0, 0.3)
    source = ColumnDataSource({**columns, "clear": clear, "count": [f"{n:,.0f}" for n in many[full]]})
    said = [("said", "@predicted{0.0%}"), ("came true", "@observed{0.0%}"), ("rows", "@count")]
    entries: list[Any] = []
    if "lower" in columns:
        bars = plot.segment(
            "predicted", "lower", "predicted", "upper", source=source, line_color=REAL, line_width=2, line_alpha="clear"
        )
        said.append(("range", "@lower{0.0%} to @upper{0.0%}"))
        entries.append(("95% range", [bars], None))
    joined = {key: columns[key][enough] for key in ("predicted", "observed")}
    line = plot.line("predicted", "observed", source=ColumnDataSource(joined), line_color=REAL, line_width=1.2)
    marks = plot.scatter("predicted", "observed", source=source, size=9, color=REAL, alpha="clear")
    plot.add_tools(hover([marks], said))
    entries = [("a bin", [line, marks], None), *entries, ("as said", [diagonal], None)]
    legend(plot, entries, title="" if error is None else f"expected calibration error {error:.3f}")
    few = "" if enough.all() else f" Faint: fewer than {_ENOUGH} rows."
    note(plot, f"Bars: rows per bin, {many.sum():,.0f} together. Below the diagonal: said too often.{few}")
    return plot


def _of_bins(name: str, values: ArrayLike, full: NDArray[np.bool_]) -> Array:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != full.shape:
        raise ParameterError(f"{name} has one number per bin; got shape {numbers.shape} for {len(full)} bins")
    return shares(name, numbers[full])


def _draw_counts(plot: Any, ends: Array, many: Array) -> None:
    """Bars in a strip below the shares, each with its count."""
    plot.y_range.start, plot.yaxis.bounds = _FOOT - 0.02, (0.0, 1.0)
    top = float(many.max(initial=0.0)) or 1.0
    source = ColumnDataSource(
        {
            "left": ends[:-1], "right": ends[1:], "top": _FOOT + _BAR * many / top,
            "middle": (ends[:-1] + ends[1:]) / 2, "count": [f"{n:,.0f}" for n in many],
            "text": [brief(float(n)) for n in many],
        }
    )  # fmt: skip
    bars = plot.quad(
        left="left", right="right", bottom=_FOOT, top="top", source=source, fill_color=CHANCE, fill_alpha=0.4,
        line_color=None,
    )  # fmt: skip
    plot.add_tools(hover([bars], [("rows", "@count")]))
    if len(many) <= _COUNTED:
        plot.text(
            "middle", "top", "text", source=source, text_font=value(FONT), text_font_size="11px", text_color=LINE,
            text_align="center", text_baseline="bottom", y_offset=-2,
        )  # fmt: skip


def _square(x_label: str, y_label: str, height: int) -> Any:
    """Shares across and shares upward."""
    plot = figure(
        x_label=x_label, y_label=y_label, height=height, max_width=round(_SQUARE * height), x_range=(-0.02, 1.02),
        y_range=(-0.02, 1.02),
    )  # fmt: skip
    plot.xgrid.visible = True
    for axis in (plot.xaxis, plot.yaxis):
        axis.formatter = NumeralTickFormatter(format="0%")
    return plot
