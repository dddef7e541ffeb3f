"""Which values are missing in the same rows: a line for each set of columns, as long as its rows are many.

Full cells are missing, faint ones are there; the bars beside them count rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker
from numpy.typing import ArrayLike

from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.theme import CHANCE, LINE, REAL, figure, hover

PATTERNS, COLUMNS = 20, 40
_LINE = 22
_AROUND, _LETTER = 76, 7  # pixels about the lines, and for each letter of names that stand upright
_NAME = 18
_PHONE = 270  # pixels across on a phone
_BAR = 0.35  # of the width, for the counts of rows


def gap_patterns(missing: ArrayLike, rows: ArrayLike, columns: Sequence[str]) -> Any:
    """Draw sets of columns that are missing in the same rows, the commonest on top.

    Args:
        missing: (s, c) whether a column is missing in each set; at most 20 sets and 40 columns are drawn.
        rows: (s,) how many rows have exactly this set missing.
        columns: (c,) names.

    Returns:
        A Bokeh figure.

    >>> gap_patterns([[False, True], [True, True]], [90, 10], ["age", "dose"]).xaxis.axis_label.text
    'bars: rows that lack exactly these'
    """
    sets, counts = np.asarray(missing, dtype=bool), np.asarray(rows, dtype=np.float64)
    if sets.ndim != 2 or sets.shape != (len(counts), len(columns)) or not len(counts):
        raise ParameterError(
            f"missing has a line for each of {len(counts)} counts and a column for each of {len(columns)} names; got "
            f"shape {sets.shape}"
        )
    sets, counts = sets[:PATTERNS, :COLUMNS], counts[:PATTERNS]
    names = [shortened(name, _NAME) for name in columns[:COLUMNS]]
    s, c = sets.shape
    width = max(c * _BAR / (1.0 - _BAR), 1.5)
    longest_name = max(map(len, names))
    upright = _LETTER * longest_name > _PHONE / (c + width + 1.0)
    around = _AROUND + (_LETTER * longest_name if upright else 0)
    plot = figure(
        x_label="bars: rows that lack exactly these", y_label="", height=around + _LINE * s,
        x_range=(-0.6, c + width + 0.4), y_range=(s - 0.4, -0.6),
    )  # fmt: skip
    plot.grid.visible = False
    line, column = np.divmod(np.arange(s * c), c)
    cells = ColumnDataSource({
        "x": column, "y": line, "strength": np.where(sets.ravel(), 1.0, 0.14),
        "column": [columns[j] for j in column], "said": np.where(sets.ravel(), "missing", "there"),
    })  # fmt: skip
    drawn = plot.rect("x", "y", 0.86, 0.8, source=cells, fill_color=LINE, fill_alpha="strength", line_color=None)
    plot.add_tools(hover([drawn], [("column", "@column"), ("value", "@said")]))
    longest = counts.max()
    bars = ColumnDataSource({
        "y": np.arange(s), "left": np.full(s, c - 0.2), "right": c - 0.2 + (width - 0.6) * counts / longest,
        "rows": counts, "told": [f" {int(n):,}" for n in counts],
    })  # fmt: skip
    long = plot.hbar("y", left="left", right="right", height=0.6, source=bars, color=REAL)
    plot.add_tools(hover([long], [("rows", "@rows{0,0}")]))
    plot.text(
        "right", "y", "told", source=bars, text_baseline="middle", text_font_size="12px", text_color=LINE,
    )  # fmt: skip
    plot.xaxis.ticker = FixedTicker(ticks=list(range(c)))
    plot.xaxis.major_label_overrides = dict(enumerate(names))
    plot.xaxis.major_label_orientation = "vertical" if upright else "horizontal"
    plot.yaxis.ticker = FixedTicker(ticks=[])
    plot.axis.axis_line_color = CHANCE
    return plot
