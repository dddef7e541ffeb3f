"""How large the components are, beside what chance alone makes: scree and cumulative variance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import BasicTickFormatter, ColumnDataSource, FixedTicker, NumeralTickFormatter
from bokeh.models.annotations.geometry import BoxAnnotation, Span
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.theme import CHANCE, REAL, UNSEEN, figure, hover, label

SHOWN = 40
_LOG_FROM = 30.0
_WORDS, _POINT = 0.07, 0.025  # height of words over the band, and half a point, of that of the figure


def scree(
    values: ArrayLike,
    *,
    share: ArrayLike,
    n_real: int,
    chance_median: ArrayLike = (),
    chance_upper: ArrayLike = (),
    p: ArrayLike = (),
    law: tuple[float, float] | None = None,
) -> Any:
    """Which eigenvalues stand above what chance makes of them.

    Args:
        values: (r,) eigenvalues, descending; the first 40 are drawn.
        share: (r,) their shares of the variance.
        n_real: how many leading ones stand above chance; drawn filled, the rest hollow.
        chance_median: (t,) median of the null for the tested ones; what is not finite is not drawn.
        chance_upper: (t,) its 95% point.
        p: (t,) how often chance does as well.
        law: edges of the Marchenko-Pastur bulk.

    Returns:
        A Bokeh figure.

    >>> scree([2.0, 1.0], share=[2 / 3, 1 / 3], n_real=1).yaxis.axis_label.text
    'eigenvalue'
    """
    values = _vector("values", values)
    median, upper = _vector("chance_median", chance_median), _vector("chance_upper", chance_upper)
    if len(median) != len(upper):
        raise ParameterError(f"chance_median and chance_upper go together; got {len(median)} and {len(upper)} values")
    r = min(len(values), SHOWN)
    known = np.flatnonzero(np.isfinite(median[:r]) & np.isfinite(upper[:r]))
    law = law if law is not None and np.all(np.isfinite(law)) else None
    logarithmic = _needs_log(values, upper[known])
    plot = figure(
        x_label=_counted("component", len(values)),
        y_label="eigenvalue (log scale)" if logarithmic else "eigenvalue",
        x_range=(0.4, max(r, 3) + 0.6),
        y_axis_type="log" if logarithmic else "linear",
    )
    floor = _floor(values[:r]) if logarithmic else 0.0
    top = max(values.max(initial=0.0), upper[known].max(initial=0.0), law[1] if law else 0.0)
    plot.y_range.start, plot.y_range.end = floor, top * (1.6 if logarithmic else 1.08) or 1.0
    plot.xaxis.ticker = FixedTicker(ticks=_ticks(r))
    plot.yaxis.formatter = BasicTickFormatter(use_scientific=False)
    if law is not None:
        drawn = np.concatenate(
            [np.stack([np.arange(1, r + 1), values[:r]]), np.stack([known + 1, upper[known]])], axis=1
        )
        low, high = max(law[0], floor), max(law[1], floor)
        _draw_law(plot, low, high, _free_end(drawn, high, (plot.y_range.start, plot.y_range.end), logarithmic, r))
    _draw_chance(plot, known + 1, np.maximum(median[known], floor), np.maximum(upper[known], floor))
    _draw_values(plot, np.maximum(values[:r], floor), _vector("share", share)[:r], n_real, _vector("p", p)[:r])
    return plot


def cumulative(share: ArrayLike, *, held_out: ArrayLike = (), n_real: int = 0) -> Any:
    """How much variance the first components carry together, on the rows at hand and on unseen ones.

    Args:
        share: (r,) share of the variance per component; the first 40 are drawn.
        held_out: (k,) share on rows that were not used to find the components.
        n_real: how many stand above chance; marked by a line where there are any.

    Returns:
        A Bokeh figure.

    >>> cumulative([0.6, 0.4], held_out=[0.5], n_real=1).yaxis.axis_label.text
    'share of variance'
    """
    share, held_out = _vector("share", share), _vector("held_out", held_out)
    r = min(len(share), SHOWN)
    curves = [
        ("on these rows", np.cumsum(share)[:r], REAL, "solid", "circle"),
        ("on unseen rows", np.cumsum(held_out[np.isfinite(held_out)])[:r], UNSEEN, "dashed", "square"),
    ]
    top = max(curve.max(initial=0.0) for _, curve, *_ in curves)
    plot = figure(
        x_label=_counted("components", len(share)),
        y_label="share of variance",
        x_range=(-0.2, r + 0.4),
        y_range=(0.0, 1.04 if top > 0.5 else top * 1.2 or 1.0),
    )
    plot.xaxis.ticker = FixedTicker(ticks=[0, *(j for j in _ticks(r) if j > 1 or r <= 12)])
    plot.yaxis.formatter = NumeralTickFormatter(format="0%")
    if 0 < n_real <= r:
        plot.add_layout(Span(location=n_real, dimension="height", line_color=CHANCE, line_dash="dotted", line_width=2))
        plot.add_layout(label(n_real, 0.0, f"{n_real} above chance", x_offset=7, y_offset=8))
    for name, curve, color, dash, marker in curves:
        if not len(curve):
            continue
        number = np.arange(len(curve) + 1)
        source = ColumnDataSource({"number": number, "share": np.concatenate([[0.0], curve])})
        plot.line("number", "share", source=source, line_color=color, line_width=2, line_dash=dash)
        marks = plot.scatter("number", "share", source=source, size=8, marker=marker, color=color)
        plot.add_tools(hover([marks], [("components", "@number"), (name, "@share{0.0%}")]))
    return plot


def _free_end(drawn: Array, upper: float, ends: tuple[float, float], logarithmic: bool, r: int) -> float:
    """Where the words over the band cover less: at its right end, or at its left."""
    x, (low, high) = drawn[0], ends
    y, at = (np.log10(np.maximum(drawn[1], low)), math.log10(upper)) if logarithmic else (drawn[1], upper)
    whole = math.log10(high / low) if logarithmic else high - low
    near = (y > at - _POINT * whole) & (y < at + (_WORDS + _POINT) * whole)
    wide = 0.5 * max(r, 3)
    right = int(np.sum(near & (x > max(r, 3) - wide)))
    return max(r, 3) + 0.6 if right <= int(np.sum(near & (x < 1 + wide))) else 0.4


def _draw_law(plot: Any, lower: float, upper: float, end: float) -> None:
    band = BoxAnnotation(bottom=lower, top=upper, fill_color=CHANCE, fill_alpha=0.16, line_color=None)
    band.level = "underlay"
    words = label(
        end,
        upper,
        "noise alone lies in this band",
        text_align="right" if end > 1 else "left",
        x_offset=-6 if end > 1 else 6,
        y_offset=3,
        text_font_style="italic",
    )
    plot.add_layout(band)
    plot.add_layout(words)


def _draw_chance(plot: Any, number: NDArray[np.intp], median: Array, upper: Array) -> None:
    source = ColumnDataSource(
        {"number": number, "median": median, "upper": upper, "left": number - 0.31, "right": number + 0.31}
    )
    bars = plot.vbar("number", width=0.62, bottom="median", top="upper", source=source, fill_color=CHANCE)
    bars.glyph.update(fill_alpha=0.45, line_color=None)
    plot.segment("left", "upper", "right", "upper", source=source, line_color=CHANCE, line_width=2.5)
    rows = [
        ("component", "@number"),
        ("chance, median", "@median{0.000}"),
        ("chance, 95% point", "@upper{0.000}"),
    ]
    plot.add_tools(hover([bars], rows))


def _draw_values(plot: Any, values: Array, share: Array, n_real: int, p: Array) -> None:
    number = np.arange(1, len(values) + 1)
    source = ColumnDataSource(
        {
            "number": number,
            "value": values,
            "share": share,
            "p": [_chance_in_words(x) for x in p] + ["not tested"] * (len(values) - len(p)),
            "fill": (number <= n_real).astype(np.float64),
        }
    )
    plot.line("number", "value", source=source, line_color=REAL, line_width=1.5, line_alpha=0.5)
    marks = plot.scatter("number", "value", source=source, size=10, line_color=REAL, line_width=2)
    marks.glyph.update(fill_color=REAL, fill_alpha="fill")
    rows = [("component", "@number"), ("eigenvalue", "@value{0.000}"), ("share", "@share{0.0%}"), ("p", "@p")]
    plot.add_tools(hover([marks], rows))


def _chance_in_words(p: float) -> str:
    if not np.isfinite(p):
        return "not testable"
    return "less than .0001" if p < 1e-4 else f"{p:.2g}".removeprefix("0")


def _vector(name: str, values: ArrayLike) -> Array:
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ParameterError(f"{name} is one number per component; got an array of shape {vector.shape}")
    return vector


def _needs_log(values: Array, upper: Array) -> bool:
    """Whether the first eigenvalue would press the rest of a linear axis flat."""
    if not len(values):
        return False
    yardstick = float(upper.min()) if len(upper) else float(np.median(values))
    return bool(yardstick > 0 and values[0] > _LOG_FROM * yardstick)


def _floor(values: Array) -> float:
    """Lower end of a log axis; eigenvalues that are zero but for rounding are drawn on it."""
    return float(values[values > values.max() * 1e-4].min()) * 0.6


def _counted(what: str, r: int) -> str:
    return f"{what} (first {SHOWN} of {r:,})" if r > SHOWN else what


def _ticks(r: int) -> list[int]:
    step = 1 if r <= 12 else 2 if r <= 20 else 5
    return [j for j in range(1, r + 1) if j == 1 or j % step == 0]
