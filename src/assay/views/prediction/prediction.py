"""Prediction against truth: on the diagonal a row is predicted as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.given import matrix, padded, row_numbers, vector
from assay.views.axes.legend import legend, note
from assay.views.axes.numbers import percent
from assay.views.axes.theme import LINE, REAL, UNSEEN, figure
from assay.views.rows.cloud import TOOLS, drawn_rows, row_source, scatter_rows, shade_rows

_LINES = 100  # rows up to which every interval is drawn


def prediction_view(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    intervals: ArrayLike | None = None,
    rows: ArrayLike | None = None,
    unit: str = "",
    r_squared: float | None = None,
    held_out: bool | None = True,
    height: int = 430,
) -> Any:
    """Draw what was predicted over what was true, on the same scale.

    Args:
        truth: (n,) of the target.
        predicted: (n,) of the same rows.
        intervals: (n, 2) lower and upper end of what was predicted; those that miss the truth are drawn apart.
        rows: (n,) row numbers as they are to be shown; by default counted from 1.
        unit: of the target, for the axes.
        r_squared: the share of the variance that is predicted, written above the figure.
        held_out: whether the rows were kept out of the fit, as the words above the figure say; None: not known.
        height: in pixels.

    Returns:
        A Bokeh figure.

    >>> prediction_view([1.0, 2.0], [1.1, 1.8], r_squared=0.9).above[-1].title
    'R² on held-out rows: 0.900'
    """
    true = vector("truth", truth)
    said = vector("predicted", predicted, len(true))
    numbers = row_numbers(rows, len(true))
    ends = None if intervals is None else _ends(intervals, len(true))
    missed = np.zeros(len(true), dtype=bool) if ends is None else (true < ends[:, 0]) | (true > ends[:, 1])
    drawn = drawn_rows(len(true))
    span = padded(np.concatenate([true, said]))
    of = f" ({unit})" if unit else ""
    plot = figure(
        x_label=f"true{of}", y_label=f"predicted{of}", height=height, tools=TOOLS, x_range=span, y_range=span,
        max_width=round(1.5 * height),
    )  # fmt: skip
    plot.xgrid.visible = True
    columns: dict[str, Any] = {"truth": true, "predicted": said}
    texts = {"true_text": true, "predicted_text": said, "error_text": said - true}
    words = [("true", "@true_text"), ("predicted", "@predicted_text"), ("predicted − true", "@error_text")]
    if ends is not None:
        columns |= {"lower": ends[:, 0], "upper": ends[:, 1], "missed": missed}
        texts |= {"lower_text": ends[:, 0], "upper_text": ends[:, 1]}
        words.append(("interval", "@lower_text to @upper_text"))
    source = row_source(numbers, columns, drawn, said=texts)
    band = None if ends is None else _half_width(said, ends)
    if band is not None:
        _draw_band(plot, span, band)
    elif ends is not None:
        _draw_intervals(plot, source)
    scatter_rows(plot, source, "truth", "predicted", words)
    if band is not None:
        _draw_missed(plot, source)
    told = shade_rows(plot, np.stack([true, said], axis=1), drawn)
    diagonal = plot.line(span, span, line_color=LINE, line_width=1.5, line_dash="dashed")
    _name_marks(plot, diagonal, (ends is not None, band is not None), r_squared, held_out)
    if ends is not None and len(true):
        kept = int(np.count_nonzero(~missed))
        told.insert(0, f"{kept:,} of {len(true):,} intervals hold the truth ({percent(kept / len(true))}).")
    if told:
        note(plot, " ".join(told))
    return plot


def _ends(intervals: ArrayLike, n: int) -> Array:
    ends = matrix("intervals", intervals, (n, 2))
    turned = np.flatnonzero(ends[:, 0] > ends[:, 1])
    if len(turned):
        low, high = ends[turned[0]]
        raise ParameterError(
            f"intervals run from their lower to their upper end; got {low:g} to {high:g} in row {turned[0]}, from 0"
        )
    return ends


def _half_width(predicted: Array, ends: Array) -> float | None:
    """Half of the width that all intervals have about what was predicted; None where they differ."""
    sides = np.concatenate([predicted - ends[:, 0], ends[:, 1] - predicted])
    if not len(sides) or not np.isfinite(sides).all():
        return None
    width = float(np.median(sides))
    near = np.abs(sides - width) <= 1e-6 * max(width, float(np.abs(predicted).max()))
    return width if near.all() else None


def _draw_band(plot: Any, span: tuple[float, float], width: float) -> None:
    """Intervals of one width are a band about the diagonal: a row outside it has a truth that its interval misses."""
    at = np.array([span[0] - width, span[1] + width])
    plot.varea(at, at - width, at + width, fill_color=REAL, fill_alpha=0.12, name="band")


def _draw_missed(plot: Any, source: ColumnDataSource) -> None:
    missed = np.asarray(source.data["missed"], dtype=bool)
    part = {key: np.asarray(source.data[key])[missed] for key in ("truth", "predicted")}
    plot.scatter(
        "truth", "predicted", source=ColumnDataSource(part), size=9, fill_color=None, line_color=UNSEEN, line_width=2,
        name="missed",
    )  # fmt: skip


def _draw_intervals(plot: Any, source: ColumnDataSource) -> None:
    """Thin lines; where they miss the truth, thicker and of another colour. Of many rows only those that miss."""
    missed = np.asarray(source.data["missed"], dtype=bool)
    held = ~missed if len(missed) <= _LINES else np.zeros(len(missed), dtype=bool)
    for which, colour, width, alpha in ((held, REAL, 1.0, 0.3), (missed, UNSEEN, 1.5, 0.6)):
        part = {key: np.asarray(source.data[key])[which] for key in ("truth", "lower", "upper")}
        plot.segment(
            "truth", "lower", "truth", "upper", source=ColumnDataSource(part), line_color=colour, line_width=width,
            line_alpha=alpha,
        )  # fmt: skip


def _name_marks(
    plot: Any, diagonal: Any, ranged: tuple[bool, bool], r_squared: float | None, held_out: bool | None
) -> None:
    # the marks of the legend lie nowhere: those of many rows are faint
    nowhere = [np.nan]
    entries: list[tuple[str, list[Any], None]] = [
        ("a row", [plot.scatter(nowhere, nowhere, size=8, color=REAL, fill_alpha=0.45)], None),
        ("predicted as it is", [diagonal], None),
    ]
    if ranged[1]:
        band = plot.varea(nowhere, nowhere, nowhere, fill_color=REAL, fill_alpha=0.3)
        outside = plot.scatter(nowhere, nowhere, size=9, fill_color=None, line_color=UNSEEN, line_width=2)
        entries += [("within its interval", [band], None), ("outside it", [outside], None)]
    elif ranged[0]:
        key = plot.segment(nowhere, nowhere, nowhere, nowhere, line_color=UNSEEN, line_width=2)
        entries.append(("interval that misses the truth", [key], None))
    where = {True: "held-out rows", False: "the rows it was fitted to", None: "these rows"}[held_out]
    title = "" if r_squared is None else f"R² on {where}: {f'{r_squared:.3f}'.replace('-', '−')}"
    legend(plot, entries, title=title)
