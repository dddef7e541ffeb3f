"""An empty figure of two columns that the reader of a page chooses: `explore.js` fills it.

What it may show is made here, so that it looks like every other figure: rows as points, a running median, boxes of a
number by levels, and counts of two categories.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import BoxSelectTool, ColumnDataSource, FixedTicker, Range1d
from numpy.typing import ArrayLike

from assay.views.axes.theme import FONT, LINE, REAL, UNSEEN, figure, hover
from assay.views.rows.cloud import TOOLS

HEIGHT = 440


def chosen_pair(rows: ArrayLike, *, linked: bool = True) -> Any:
    """Make the figure.

    Args:
        rows: (m,) row numbers as they are shown.
        linked: whether other figures number rows in the same way, so that rows are selected in all.

    Returns:
        A Bokeh figure whose renderers are named points, cells, counts, boxes, whiskers, medians and line.

    >>> [drawn.name for drawn in chosen_pair([1, 2]).renderers]
    ['cells', 'points', 'whiskers', 'boxes', 'medians', 'line', 'counts']
    """
    numbers = np.asarray(rows)
    plot = figure(
        x_label=" ",
        y_label=" ",
        height=HEIGHT,
        tools=TOOLS,
        x_range=Range1d(start=0, end=1),
        y_range=Range1d(start=0, end=1),
    )
    plot.tags = ["explore"]
    plot.xgrid.visible = True
    for axis in (plot.xaxis, plot.yaxis):
        axis.ticker = FixedTicker(ticks=[])  # places and words of ticks are the script's
    nowhere = np.full(len(numbers), np.nan)
    texts = np.full(len(numbers), "", dtype=object)
    points = ColumnDataSource(
        {"row": numbers, "x": nowhere, "y": nowhere.copy(), "said_x": texts, "said_y": texts.copy()},
        name="rows" if linked else "explored",
    )  # fmt: skip
    cells = ColumnDataSource({"x": [], "y": [], "top": [], "alpha": [], "count": []})
    boxes = ColumnDataSource({key: [] for key in ("x", "left", "right", "low", "high", "median", "least", "most")})
    plot.rect("x", "y", 0.96, 0.96, source=cells, fill_color=REAL, fill_alpha="alpha", line_color=None, name="cells")
    size = float(np.clip(14 - 2.7 * np.log10(max(len(numbers), 1)), 4, 9))
    marks = plot.scatter(
        "x", "y", source=points, size=size, fill_color=REAL, line_color=REAL, fill_alpha=0.3, line_alpha=0.75,
        selection_fill_alpha=0.75, selection_line_alpha=1.0, nonselection_fill_alpha=0.05, nonselection_line_alpha=0.2,
        name="points",
    )  # fmt: skip
    plot.segment("x", "least", "x", "most", source=boxes, line_color=LINE, line_width=2, name="whiskers")
    plot.quad(
        left="left", right="right", bottom="low", top="high", source=boxes, fill_color=None, line_color=LINE,
        line_width=2, name="boxes",
    )  # fmt: skip
    plot.segment(
        "left", "median", "right", "median", source=boxes, line_color=UNSEEN, line_width=4, name="medians"
    )  # fmt: skip
    plot.line("x", "y", source=ColumnDataSource({"x": [], "y": []}), line_color=UNSEEN, line_width=3, name="line")
    plot.text(
        "x", "top", "count", source=cells, text_font=value(FONT), text_font_size="12px", text_font_style="bold",
        text_color=LINE, text_align="center", text_baseline="top", name="counts",
    )  # fmt: skip
    plot.add_tools(hover([marks], [("row", "@row"), ("across", "@said_x"), ("up", "@said_y")]))
    plot.toolbar.active_drag = plot.select_one(BoxSelectTool)
    return plot
