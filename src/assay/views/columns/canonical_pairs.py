"""Canonical pairs: what two sides have in common, row by row, and which columns carry it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, PlainText
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.given import matrix, names_of, padded, row_numbers, vector
from assay.views.axes.legend import legend, note
from assay.views.axes.theme import CHANCE, REAL, UNSEEN, figure, hover
from assay.views.axes.ticks import brief
from assay.views.rows.cloud import TOOLS, drawn_rows, row_source, scatter_rows, shade_rows

PAIRS = 6
BARS = 12
_NAME = 22
_SHRUNK = 0.2  # a fall of the correlation on held-out rows that is worth a word


def canonical_pairs_view(
    u: ArrayLike,
    v: ArrayLike,
    correlations: ArrayLike,
    held_out: ArrayLike | None = None,
    *,
    sides: tuple[str, str] = ("left side", "right side"),
    rows: ArrayLike | None = None,
    height: int = 340,
) -> dict[str, Any]:
    """Draw each pair of canonical variates, with its correlation on the rows at hand and on unseen ones.

    Args:
        u: (n, k) variates of the left side.
        v: (n, k) variates of the right side.
        correlations: (k,) of the pairs on the rows they were found on.
        held_out: (k,) on rows that were not used to find them.
        sides: what the two sides are.
        rows: (n,) row numbers as they are to be shown; by default counted from 1.
        height: in pixels.

    Returns:
        Bokeh figures by heading, at most six, as `write_figure` takes them; rows selected in one are selected in all.

    >>> plots = canonical_pairs_view([[1.0], [2.0]], [[1.1], [1.9]], [0.99], [0.80])
    >>> plots["Pair 1"].above[-1].title
    'correlation 0.99 at hand, 0.80 on held-out rows'
    """
    left = matrix("u", u)
    right = matrix("v", v, left.shape)
    n, k = left.shape
    found = vector("correlations", correlations, k, what="pair")
    unseen = None if held_out is None else vector("held_out", held_out, k, what="pair")
    drawn = drawn_rows(n)
    shown = min(k, PAIRS)
    columns: dict[str, Any] = {f"u{j}": left[:, j] for j in range(shown)} | {f"v{j}": right[:, j] for j in range(shown)}
    texts = {f"{key}_text": values for key, values in columns.items()}
    source = row_source(row_numbers(rows, n), columns, drawn, said=texts)
    plots = {}
    for j in range(shown):
        plot = figure(
            x_label=f"{sides[0]}, variate {j + 1}", y_label=f"{sides[1]}, variate {j + 1}", height=height, tools=TOOLS,
            x_range=padded(left[:, j]), y_range=padded(right[:, j]),
        )  # fmt: skip
        plot.xgrid.visible = True
        scatter_rows(plot, source, f"u{j}", f"v{j}", [(f"u{j + 1}", f"@u{j}_text"), (f"v{j + 1}", f"@v{j}_text")])
        told = shade_rows(plot, np.stack([left[:, j], right[:, j]], axis=1), drawn)
        key = plot.scatter([np.nan], [np.nan], size=8, color=REAL, fill_alpha=0.45)
        legend(plot, [("a row", [key], None)], title=_words(found[j], None if unseen is None else unseen[j]))
        if unseen is not None and found[j] - unseen[j] > _SHRUNK:
            told.append("Much of this pair was fitted to chance: it falls on rows not used to find it.")
        if j == shown - 1 and k > shown:
            told.append(f"{shown} of {k:,} pairs are drawn, the first.")
        if told:
            note(plot, " ".join(told))
        plots[f"Pair {j + 1}"] = plot
    return plots


def _words(found: float, unseen: float | None) -> str:
    first = f"correlation {_two(found)}"
    return f"{first} at hand, {_two(unseen)} on held-out rows" if unseen is not None else f"{first} at hand"


def _two(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def loadings_view(
    left: ArrayLike,
    right: ArrayLike,
    left_names: Sequence[str] | None = None,
    right_names: Sequence[str] | None = None,
    *,
    sides: tuple[str, str] = ("left side", "right side"),
    x_label: str = "correlation with the variate",
) -> Any:
    """Draw which columns of either side carry a pair.

    The twelve largest of each side are drawn, the largest first.

    Args:
        left: (p,) loadings of the left side's columns on its variate.
        right: (q,) loadings of the right side's.
        left_names: (p,) of the columns.
        right_names: (q,) of the columns.
        sides: what the two sides are.
        x_label: what loadings are.

    Returns:
        A Bokeh figure.

    >>> plot = loadings_view([0.9, -0.3], [0.8], ["age", "dose"], ["pulse"])
    >>> plot.renderers[0].data_source.data["name"].tolist()
    ['age', 'dose']
    """
    values = [vector("left", left, what="column"), vector("right", right, what="column")]
    names = [names_of(given, len(v)) for given, v in zip((left_names, right_names), values, strict=True)]
    if not len(values[0]) or not len(values[1]):
        raise ParameterError("loadings_view needs a column or more on either side")
    chosen = [np.argsort(-np.abs(v), kind="stable")[:BARS] for v in values]
    lines = [np.arange(len(chosen[0])), np.arange(len(chosen[1])) + len(chosen[0]) + 1]
    top = max(float(np.abs(v).max()) for v in values)
    span = (-1.05, 1.05) if top <= 1 else padded(np.array([-top, top]))
    height = 130 + 22 * int(lines[1][-1] + 1)
    plot = figure(x_label=x_label, y_label="", height=height, x_range=span, y_range=(lines[1][-1] + 0.6, -0.6))
    plot.xgrid.visible, plot.ygrid.visible = True, False
    plot.add_layout(Span(location=0, dimension="height", line_color=CHANCE, line_width=1))
    entries: list[Any] = []
    ticks: dict[float, PlainText] = {}
    for side, colour, hatch, at, which, numbers, called in zip(
        sides, (REAL, UNSEEN), (None, "/"), lines, chosen, values, names, strict=True
    ):
        source = ColumnDataSource(
            {
                "y": at, "value": numbers[which], "name": np.array([called[j] for j in which], dtype=object),
                "text": [brief(x) for x in numbers[which]],
            }
        )  # fmt: skip
        bars = plot.hbar(
            y="y", right="value", left=0, height=0.72, source=source, fill_color=colour, line_color=colour,
            fill_alpha=0.55, hatch_pattern=hatch, hatch_color="#ffffff", hatch_alpha=0.6,
        )  # fmt: skip
        plot.add_tools(hover([bars], [("column", "@name"), ("loading", "@text")]))
        entries.append((side, [bars], None))
        ticks |= {float(y): PlainText(text=shortened(called[j], _NAME)) for y, j in zip(at, which, strict=True)}
    plot.yaxis.ticker = FixedTicker(ticks=list(ticks))
    plot.yaxis.major_label_overrides = ticks
    plot.yaxis.update(axis_line_alpha=0.0, major_tick_out=0)
    legend(plot, entries)
    if told := _left_out(values, chosen, sides):
        note(plot, told)
    return plot


def _left_out(values: list[Array], chosen: list[NDArray[np.intp]], sides: tuple[str, str]) -> str:
    told = []
    for side, numbers, which in zip(sides, values, chosen, strict=True):
        if len(which) < len(numbers):
            most = float(np.abs(np.delete(numbers, which)).max())
            told.append(f"{side}: {len(which)} of {len(numbers):,} columns, the others reach at most {brief(most)}.")
    return " ".join(told)
