"""How fast eigenvalues fall, how many are kept, and those below zero, which no map in flat space can show."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE, REAL, UNSEEN, figure, hover
from assay.views.axes.ticks import number_ticks

SHOWN = 40
NEGATIVE = 20
_LOG_FROM = 100.0
_DEPTH = 1e-13


def eigenvalue_decay(
    values: ArrayLike,
    *,
    kept: int,
    negative: ArrayLike | None = None,
    total: int | None = None,
    chance: ArrayLike | None = None,
) -> Any:
    """Draw eigenvalues in falling order, those kept filled, those below zero apart from the others.

    The first 40 and the 20 lowest below zero are drawn; what is left out is said under the axis. The axis is
    logarithmic where all are positive and the first is a hundred times the last one drawn.

    Args:
        values: (r,) eigenvalues, descending; negative ones may be among them.
        kept: how many leading ones make the map.
        negative: (q,) the lowest eigenvalues where they are not among the values, in any order.
        total: how many eigenvalues there are, where some between were not computed.
        chance: (t,) what the first t reach by chance.

    Returns:
        A Bokeh figure.

    >>> eigenvalue_decay([3.0, 1.0, -0.5], kept=2).yaxis.axis_label.text
    'eigenvalue'
    """
    everything, by_chance = _all_values(values, negative), _vector("chance", chance)
    total = len(everything) if total is None else total
    if total < len(everything):
        raise ParameterError(f"total is at least the number of eigenvalues given, {len(everything)}; got {total}")
    if not 0 <= kept <= len(everything):
        raise ParameterError(f"kept is how many of the {len(everything)} eigenvalues make the map; got {kept}")
    above = int(np.count_nonzero(everything >= 0))
    drawn = np.concatenate([np.arange(min(above, SHOWN)), np.arange(above, len(everything))[-NEGATIVE:]])
    shown, by_chance = everything[drawn], by_chance[: min(above, SHOWN)]
    numbers = drawn + 1 + np.where(drawn < above, 0, total - len(everything))
    logarithmic = bool(len(shown) and shown[-1] > 0 and shown[0] > _LOG_FROM * shown[-1])
    room = 0.6 + 0.02 * len(shown)  # for the marks at both ends
    plot = figure(
        x_label="eigenvalue number",
        y_label="eigenvalue (log scale)" if logarithmic else "eigenvalue",
        x_range=(1 - room, max(len(shown), 3) + room),
        y_axis_type="log" if logarithmic else "linear",
    )
    _number(plot, numbers)
    if not logarithmic:
        _count_up(plot, np.concatenate([shown, by_chance]))
    # on a log axis what is zero but for rounding is drawn at its lower end
    heights = np.maximum(shown, _DEPTH * shown[0]) if logarithmic else shown
    source = {"place": np.arange(1, len(shown) + 1), "height": heights, "number": numbers}
    source["told"] = [f"{value:.4g}".replace("-", "−") for value in shown]
    entries = []
    for words, which, style in _kinds(drawn, shown, kept):
        if which.any():
            part = ColumnDataSource({key: np.asarray(column)[which] for key, column in source.items()})
            marks = plot.scatter("place", "height", source=part, size=9, line_width=2, **style)
            plot.add_tools(hover([marks], [("number", "@number"), ("eigenvalue", "@told")]))
            entries.append((words, [marks], None))
    if len(by_chance):
        line = plot.line(
            np.arange(1, len(by_chance) + 1), by_chance, line_color=CHANCE, line_width=2, line_dash="dashed"
        )
        entries.append(("by chance", [line], None))
    legend(plot, entries)
    if len(drawn) < total:
        lowest = f" and the lowest {len(drawn) - min(above, SHOWN)}" if above < len(everything) else ""
        note(plot, f"The first {min(above, SHOWN)}{lowest} of {total:,} eigenvalues are drawn.")
    return plot


def _all_values(values: ArrayLike, negative: ArrayLike | None) -> Array:
    spectrum, below = _vector("values", values), _vector("negative", negative)
    if np.any(np.diff(spectrum) > 0):
        raise ParameterError("values are eigenvalues in descending order; sort them first")
    if np.any(below > 0):
        raise ParameterError(f"negative holds eigenvalues below zero; got {below.max():.6g}")
    return np.concatenate([spectrum, np.sort(below)[::-1]])


def _vector(name: str, numbers: ArrayLike | None) -> Array:
    vector = np.asarray(() if numbers is None else numbers, dtype=np.float64)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise ParameterError(f"{name} is one finite number per eigenvalue; got {_caption(vector)}")
    return vector


def _caption(vector: Array) -> str:
    return f"an array of shape {vector.shape}" if vector.ndim != 1 else "some that are not finite"


def _kinds(drawn: NDArray[np.intp], shown: Array, kept: int) -> list[tuple[str, NDArray[np.bool_], dict[str, Any]]]:
    used = drawn < kept
    return [
        ("kept", used & (shown >= 0), {"marker": "circle", "color": REAL}),
        ("left out", ~used & (shown >= 0), {"marker": "circle", "line_color": REAL, "fill_alpha": 0.0}),
        (
            "below zero",
            shown < 0,
            {"marker": "inverted_triangle", "color": UNSEEN, "fill_alpha": 0.3},
        ),
    ]


def _count_up(plot: Any, heights: Array) -> None:
    """A linear axis that holds zero and all heights, with ticks in few words whatever their size."""
    low, high = float(heights.min(initial=0.0)), float(heights.max(initial=0.0))
    ticks = number_ticks(low, high, 7)
    plot.yaxis.ticker = FixedTicker(ticks=[at for at, _ in ticks])
    plot.yaxis.major_label_overrides = dict(ticks)
    room = 0.06 * (high - low) or 1.0
    plot.y_range.update(start=low - room, end=high + room)
    plot.add_layout(Span(location=0, dimension="width", line_color=CHANCE, line_width=1))


def _number(plot: Any, numbers: NDArray[np.intp]) -> None:
    """Number the eigenvalues as they are counted, and mark where some between are left out."""
    step = 1 if len(numbers) <= 12 else 2 if len(numbers) <= 20 else 5
    at = [j + 1 for j in range(len(numbers)) if j == 0 or (j + 1) % step == 0]
    plot.xaxis.ticker = FixedTicker(ticks=at)
    plot.xaxis.major_label_overrides = {j: f"{numbers[j - 1]:,}" for j in at}
    for gap in np.flatnonzero(np.diff(numbers) > 1):
        left_out = Span(location=gap + 1.5, dimension="height", line_color=CHANCE, line_dash="dotted", line_width=2)
        plot.add_layout(left_out)
