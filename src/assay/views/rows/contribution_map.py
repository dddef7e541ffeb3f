"""Which columns make each flagged row unusual: one line per row, one place per column, darker for more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import AllLabels, ColumnDataSource, FixedTicker, LinearColorMapper, PlainText
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE, INK, REAL, UNSEEN, figure, hover
from assay.views.axes.ticks import brief

ROWS = 40
COLUMNS = 20
_NUMBERED = 10  # columns up to which the numbers are written into their places, also on a phone
_NAME = 22
_COLUMN = 18
_ACROSS = 36  # letters of all names that fit side by side, also on a phone
_AROUND = 190
_LINE = 22
_STEPS = 32
_MIDDLE = "#f5f3ef"
_DARK = "#174f80"


def contribution_map(
    contributions: ArrayLike,
    columns: Sequence[str],
    *,
    rows: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    values: ArrayLike | None = None,
    shares: bool = True,
    title: str = "",
) -> Any:
    """Draw how much each column adds to the score of each flagged row.

    The first 40 rows are shown, so give the most unusual first, and the 20 columns that add most to them, the largest
    first; what is left out is said in words.

    Args:
        contributions: (m, d) of the flagged rows: what columns add, not negative, as a detector's `contributions` are,
            or signed numbers such as z-scores.
        columns: (d,) names.
        rows: (m,) row numbers as they are to be shown; by default counted from 1.
        names: (m,) of the rows, instead of their numbers.
        values: (m, d) what stands in the table, shown under the pointer.
        shares: show them as shares of their row, in percent; otherwise as they are, blue above and orange below zero.
        title: what is shown, above the figure.

    Returns:
        A Bokeh figure.

    >>> contribution_map([[0.9, 0.1]], ["Fresh", "Milk"], rows=[86]).renderers[0].data_source.data["column"].tolist()
    ['Fresh', 'Milk']
    """
    table, numbers, called, held = _checked(contributions, columns, rows, names, values, shares)
    known = np.nan_to_num(np.abs(table[:ROWS]))
    chosen = np.argsort(-known.sum(axis=0), kind="stable")[:COLUMNS]
    shown = table[:ROWS][:, chosen]
    height = _AROUND + max(3, len(shown)) * _LINE
    plot = figure(x_label="", y_label="", height=height, tools="save", x_range=(-0.5, max(len(chosen), 1) - 0.5),
                  y_range=(len(shown) - 0.5, -0.5))  # fmt: skip
    top = 1.0 if shares else float(np.abs(shown[np.isfinite(shown)]).max(initial=0.0)) or 1.0
    mapper = LinearColorMapper(palette=_palette(shares), low=0.0 if shares else -top, high=top, nan_color=CHANCE)
    across, down = (side.ravel() for side in np.meshgrid(np.arange(len(chosen)), np.arange(len(shown))))
    picked = chosen[across]
    source = ColumnDataSource({
        "x": across, "y": down, "value": shown.ravel(), "said": [_said(v, shares) for v in shown.ravel()],
        "row": numbers[down], "name": called[down], "column": np.array(columns, dtype=object)[picked],
        "held": held[down, picked],
        "ink": ["white" if strong else INK for strong in np.nan_to_num(np.abs(shown.ravel())) > 0.4 * top],
    })  # fmt: skip
    cells = plot.rect("x", "y", 0.96, 0.9, source=source, line_color=None,
                      fill_color={"field": "value", "transform": mapper})  # fmt: skip
    if len(chosen) <= _NUMBERED:
        plot.text("x", "y", "said", source=source, text_font_size="11px", text_color="ink", text_align="center",
                  text_baseline="middle")  # fmt: skip
    said = [("row", "@row"), ("column", "@column"), ("contribution", "@said")]
    said += [("name", "@name")] if names is not None else []
    said += [("value", "@held")] if values is not None else []
    plot.add_tools(hover([cells], said))
    _name_sides(plot, [columns[j] for j in chosen], list(called[: len(shown)]))
    _name_colours(plot, mapper, shares, top, title)
    if told := _left_out(table, chosen, shares):
        note(plot, told)
    return plot


def _checked(
    contributions: ArrayLike, columns: Sequence[str], rows: Any, names: Any, values: Any, shares: bool
) -> tuple[Array, NDArray[Any], NDArray[np.object_], NDArray[np.object_]]:
    table = np.asarray(contributions, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(columns) or not len(table):
        raise ParameterError(
            f"contributions have one line per flagged row, at least one, and one number per column; got shape "
            f"{table.shape} for {len(columns)} columns"
        )
    if shares and not np.all((table >= 0) | np.isnan(table)):
        raise ParameterError("what columns add is not negative; for signed contributions pass shares=False")
    m = len(table)
    numbers = np.arange(1, m + 1) if rows is None else np.asarray(rows)
    called = np.array([f"row {row}" if names is None else row for row in (numbers if names is None else names)], object)
    given = np.full(table.shape, "") if values is None else np.asarray(values, dtype=object)
    for what, array, wanted in (("rows", numbers, (m,)), ("names", called, (m,)), ("values", given, table.shape)):
        if array.shape != wanted:
            raise ParameterError(f"{what} must have shape {wanted} like the contributions; got {array.shape}")
    if shares:
        total = table.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            table = np.divide(table, total, out=np.zeros_like(table), where=total != 0.0)
    held = np.array([_held(value) for value in given.ravel()], dtype=object).reshape(table.shape)
    return table, numbers, np.array([str(name) for name in called], dtype=object), held


def _held(value: Any) -> str:
    return brief(float(value), 5) if isinstance(value, (float, int, np.floating, np.integer)) else str(value)


def _said(value: float, shares: bool) -> str:
    if np.isnan(value):
        return "unknown"
    return f"{100 * value:.0f}%" if shares else f"{value:.1f}".replace("-", "−")


def _palette(shares: bool) -> list[str]:
    ends = (_MIDDLE, REAL, _DARK) if shares else (UNSEEN, _MIDDLE, REAL)
    levels = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in ends], dtype=np.float64)
    at = np.linspace(0, 2, 2 * _STEPS + 1)
    mixed = np.stack([np.interp(at, [0, 1, 2], levels[:, j]) for j in range(3)], axis=1).round().astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in mixed]


def _name_sides(plot: Any, columns: list[str], rows: list[str]) -> None:
    for axis, texts, limit in ((plot.xaxis, columns, _COLUMN), (plot.yaxis, rows, _NAME)):
        axis.ticker = FixedTicker(ticks=list(range(len(texts))))
        axis.major_label_overrides = {i: PlainText(text=shortened(text, limit)) for i, text in enumerate(texts)}
        axis.update(axis_line_color=None, major_tick_line_color=None)
    short = sum(len(shortened(text, _COLUMN)) for text in columns) <= _ACROSS
    plot.xaxis.update(major_label_orientation="horizontal" if short else 0.9, major_label_policy=AllLabels())
    plot.grid.visible = False


def _name_colours(plot: Any, mapper: Any, shares: bool, top: float, title: str) -> None:
    levels = [0.0, 0.25, 0.5, 1.0] if shares else [-top, -top / 2, 0.0, top / 2, top]
    nowhere = np.full(len(levels), np.nan)
    key = ColumnDataSource({"x": nowhere, "y": nowhere, "value": levels})
    tint: Any = {"field": "value", "transform": mapper}
    marks = plot.scatter("x", "y", source=key, size=13, marker="square", fill_color=tint, line_color=CHANCE)
    entries = [(_said(level, shares), [marks], j) for j, level in enumerate(levels)]
    legend(plot, entries, title=shortened(title, 60))


def _left_out(table: Array, chosen: NDArray[np.intp], shares: bool) -> str:
    m, d = table.shape
    told = [f"{ROWS} of {m:,} flagged rows are shown, the first given."] if m > ROWS else []
    if len(chosen) < d:
        size = np.nan_to_num(np.abs(table[:ROWS]))
        rest = np.setdiff1d(np.arange(d), chosen)
        most = float(size[:, rest].sum(axis=1).max()) if shares else float(size[:, rest].max())
        what = "add up to at most" if shares else "reach at most"
        told.append(f"{len(chosen)} of {d:,} columns are shown; the others {what} {_said(most, shares)} of any row.")
    return " ".join(told)
