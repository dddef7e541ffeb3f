"""Rows as points, linked to other figures by their numbers; where they are too many, a sample before a shade."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.models import BoxSelectTool, ColumnDataSource
from numpy.typing import NDArray

from assay.arrays import Array
from assay.views.axes.theme import CHANCE, REAL, figure, hover
from assay.views.clusters.groups import GroupLooks
from assay.views.rows.density import draw_density, sample

WHOLE = 5000
SAMPLE = 2000
TOOLS = "box_select,lasso_select,tap,pan,box_zoom,reset,save"
_SAID = 7  # digits under the pointer


def drawn_rows(n: int, always: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
    """Choose the rows drawn as points: all up to 5,000, else 2,000 of them, the same each time.

    Args:
        n: how many rows there are.
        always: numbers of rows that are drawn in any case.

    >>> len(drawn_rows(5000)), len(drawn_rows(5001))
    (5000, 2000)
    """
    return np.arange(n) if n <= WHOLE else sample(n, SAMPLE, always)


def map_figure(axes: tuple[str, str] | None, height: int, equal: bool) -> Any:
    """Start a figure for points on a map, on which rows are selected by a box.

    Args:
        axes: what its axes show; without them there is a frame alone, for positions that mean nothing by themselves.
        height: in pixels.
        equal: whether both axes have the same scale.
    """
    x_label, y_label = axes or ("", "")
    plot = figure(x_label=x_label, y_label=y_label, height=height, tools=TOOLS, match_aspect=equal)
    plot.toolbar.active_drag = plot.select_one(BoxSelectTool)
    if axes is None:
        plot.axis.visible = plot.grid.visible = False
        # Bokeh strokes the outline together with whatever path was begun last; filling the frame begins one of its own
        plot.update(outline_line_alpha=0.5, outline_line_color=CHANCE, background_fill_alpha=0.01)
    else:
        plot.xgrid.visible = True
    return plot


def row_source(
    rows: NDArray[Any],
    columns: Mapping[str, Any],
    drawn: NDArray[np.intp],
    *,
    said: Mapping[str, Array] | None = None,
) -> ColumnDataSource:
    """Hold the rows drawn, once for all figures that share them; pages select the same rows in all of them.

    Args:
        rows: (n,) row numbers as they are shown.
        columns: (n,) arrays by name.
        drawn: numbers of the rows drawn.
        said: (n,) numbers by name, which the pointer shows in as many digits as they need.

    >>> row_source(np.array([1, 2]), {"x": np.zeros(2)}, np.array([1])).data["row"].tolist()
    [2]
    """
    held = {key: np.asarray(values)[drawn] for key, values in columns.items()}
    texts = {key: as_text(values[drawn]) for key, values in (said or {}).items()}
    return ColumnDataSource({"row": rows[drawn], **held, **texts}, name="rows")


def as_text(values: Array) -> NDArray[np.object_]:
    """Numbers as the pointer shows them: Bokeh's own formats show nothing of 1e-300.

    Args:
        values: (n,) numbers.

    >>> as_text(np.array([0.25, -1e-300])).tolist()
    ['0.25', '−1e-300']
    """
    return np.array([f"{value:.{_SAID}g}".replace("-", "−", int(value < 0)) for value in values], dtype=object)


def scatter_rows(
    plot: Any, source: ColumnDataSource, x: str, y: str, said: list[tuple[str, str]], *, grouped: bool = False
) -> Any:
    """Draw the rows of a source, the smaller and clearer the more there are, so that crowds are dark.

    Args:
        plot: the figure.
        source: from `row_source`; for groups with the columns tint and shape.
        x: the column across.
        y: the column upward.
        said: what the pointer shows beside the row number.
        grouped: whether rows have a colour and a shape of their own.

    Returns:
        The marks.
    """
    m = max(len(source.data["row"]), 1)
    crowd = float(np.clip(np.log10(m) - 2, 0.0, 1.7))  # from a hundred points to five thousand
    tint = "tint" if grouped else REAL
    marks = plot.scatter(
        x, y, source=source, marker="shape" if grouped else "circle", size=float(np.clip(14 - 2.7 * np.log10(m), 4, 9)),
        fill_color=tint, line_color=tint, fill_alpha=0.45 - 0.18 * crowd, line_alpha=0.9 - 0.26 * crowd,
        selection_fill_alpha=0.75, selection_line_alpha=1.0, nonselection_fill_alpha=0.05, nonselection_line_alpha=0.2,
    )  # fmt: skip
    plot.add_tools(hover([marks], [("row", "@row"), *said]))
    plot.toolbar.active_drag = plot.select_one(BoxSelectTool)
    return marks


def shade_rows(plot: Any, points: Array, drawn: NDArray[np.intp], *, equal: bool = False) -> list[str]:
    """Shade a figure by all rows where not all are drawn, and say so.

    Args:
        plot: the figure.
        points: (n, 2) of all rows.
        drawn: numbers of the rows drawn.
        equal: as in `draw_density`.

    Returns:
        A sentence for the note, or none.
    """
    if len(drawn) == len(points):
        return []
    draw_density(plot, points, equal=equal)
    return [f"{len(drawn):,} rows are drawn as points; the shade counts all {len(points):,}."]


def group_key(plot: Any, looks: GroupLooks) -> list[tuple[str, list[Any], int]]:
    """Entries for a legend of groups; their marks lie nowhere, for those of the rows may be faint.

    Args:
        plot: the figure.
        looks: from `grouped`.
    """
    nowhere = np.full(len(looks.names), np.nan)
    key = ColumnDataSource({"x": nowhere, "y": nowhere, "tint": looks.colours, "shape": looks.markers})
    marks = plot.scatter("x", "y", source=key, marker="shape", size=11, color="tint", fill_alpha=0.45, line_width=1.5)
    return [(name, [marks], j) for j, name in enumerate(looks.names)]
