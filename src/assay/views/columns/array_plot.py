"""The array plot: the whole table as one picture, so that what is missing and what is out of scale is seen at once.

A cell is one of 62 shades: 0 is missing, 1 to 61 run from far below to far above the middle, 31. Shades, not values,
go into the page: no cell can be read back beyond a tenth of a standard deviation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import (
    BasicTicker,
    BoxZoomTool,
    FixedTicker,
    LinearAxis,
    LinearColorMapper,
    NoOverlap,
    PlainText,
    Range1d,
)
from bokeh.models.annotations.geometry import Span
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.drawn import ROWS, as_table
from assay.views.axes.theme import CHANCE, FONT, INK, REAL, UNSEEN, figure

Shades = NDArray[np.uint8]

CLIP = 3.0
# what is missing is darker than any value, so it differs by lightness alone: for every eye, and in print without colour
MISSING, LOW, MIDDLE, HIGH = "#000000", UNSEEN, "#f5f3ef", REAL

_ENDS = (LOW, MIDDLE, HIGH)
_MIDDLE = 31
_STEPS = 30
_NAME = 18
_AROUND = 200
_LINE = 20
_TICKS = 60  # what does not fit is left out by the figure, which knows its width


def palette() -> list[str]:
    """The colours of the shades 0 to 61.

    >>> palette()[0], palette()[31], len(palette())
    ('#000000', '#f5f3ef', 62)
    """
    low, middle, high = (np.array([int(c[i : i + 2], 16) for i in (1, 3, 5)], dtype=np.float64) for c in _ENDS)
    part = np.linspace(-1, 1, 2 * _STEPS + 1)[:, None]
    mixed = middle + np.abs(part) * (np.where(part < 0, low, high) - middle)
    return [MISSING, *("#" + "".join(f"{int(c):02x}" for c in colour.round()) for colour in mixed)]


def standardised(values: ArrayLike, centre: ArrayLike, scale: ArrayLike) -> Shades:
    """Shades by distance from the centre of the column, in its own scale, up to three of them.

    Args:
        values: (m, D) NaN where missing.
        centre: (D,) means.
        scale: (D,) standard deviations; a column without one is drawn in the middle shade.

    Returns:
        (m, D) shades.

    >>> standardised([[1.0, 5.0], [np.nan, 5.0], [9.0, 5.0]], [2.0, 5.0], [1.0, 0.0]).tolist()
    [[21, 31], [0, 31], [61, 31]]
    """
    values = as_table(values)
    centre, scale = _per_column(centre, values), _per_column(scale, values)
    known = np.isfinite(centre) & np.isfinite(scale) & (scale > 0)
    with np.errstate(all="ignore"):  # what overflows is clipped
        z = (values - np.where(known, centre, 0.0)) / np.where(known, scale, np.inf)
    return _shades(np.where(known, z, 0.0) / CLIP, np.isnan(values))


def on_one_scale(values: ArrayLike, limit: float) -> Shades:
    """Shades by the value itself, the same for all columns: those of large scale drown the others.

    Args:
        values: (m, D) NaN where missing.
        limit: the size that gets the strongest colour.

    Returns:
        (m, D) shades.

    >>> on_one_scale([[1000.0, 3.0], [-500.0, np.nan]], 1000.0).tolist()
    [[61, 31], [16, 0]]
    """
    values = as_table(values)
    with np.errstate(all="ignore"):
        part = values / limit
    return _shades(part, np.isnan(values))


def common_limit(values: ArrayLike) -> float:
    """The size that the largest column reaches in one of twenty rows: the end of a scale for all of them.

    Args:
        values: (m, D) NaN where missing.

    Returns:
        A size above zero; 1 where every value is zero or missing.

    >>> common_limit([[1000.0, 3.0], [1000.0, np.nan]])
    1000.0
    """
    size = np.abs(as_table(values))
    size = size[:, np.isfinite(size).any(axis=0)]
    if not size.size:
        return 1.0
    size = np.where(np.isfinite(size), size, np.nan)
    limit = float(np.nanquantile(size, 0.95, axis=0).max())
    return limit or float(np.nanmax(size)) or 1.0


def array_plot(
    shades: Shades,
    names: Sequence[str],
    kinds: Sequence[str],
    rows: ArrayLike,
    *,
    told: str = "",
    parted: bool = True,
) -> Any:
    """Draw the table as a picture: rows downward in their order, columns across, a line between kinds.

    The figure carries what the page's script tells of a cell: `tags` hold "array", the names, whether the shade of
    the column says how much, the row numbers, and what a shade is counted in.

    Args:
        shades: (m, D) from `standardised` or `on_one_scale`.
        names: (D,) of the columns.
        kinds: (D,) of the columns.
        rows: (m,) row numbers as they are to be shown.
        told: what ten shades are, such as "standard deviations"; without it a cell is named, but not measured.
        parted: whether to draw the lines between kinds, and name the kinds above; not where kinds are mixed.

    Returns:
        A Bokeh figure.

    >>> array_plot(np.array([[0, 31]], dtype=np.uint8), ["a", "b"], ["number", "text"], [1]).yaxis.axis_label.text
    'row'
    """
    m, d = shades.shape
    numbers = [int(row) for row in np.asarray(rows)]
    if len(names) != d or len(kinds) != d or len(numbers) != m:
        raise ParameterError(
            f"shades have one line per row and one place per column; got shape {shades.shape} for {len(numbers)} rows, "
            f"{len(names)} names and {len(kinds)} kinds"
        )
    height = _AROUND + min(ROWS, max(3, m) * _LINE)
    across, down = Range1d(start=-0.5, end=d - 0.5, bounds="auto"), Range1d(start=m - 0.5, end=-0.5, bounds="auto")
    plot = figure(
        x_label="", y_label="row", height=height, tools="box_zoom,pan,reset,save", x_range=across, y_range=down
    )
    mapper = LinearColorMapper(palette=palette(), low=-0.5, high=2 * _STEPS + 1.5)
    plot.image(image=[shades], x=-0.5, y=-0.5, dw=d, dh=m, color_mapper=mapper)
    measured = [int(kind not in ("category", "text", "identifier")) for kind in kinds]
    plot.tags = ["array", list(names), measured, numbers, told]
    plot.grid.visible = False
    plot.update(outline_line_alpha=1.0, outline_line_color=CHANCE)
    plot.toolbar.active_drag = plot.select_one(BoxZoomTool)
    plot.xaxis.ticker = BasicTicker(min_interval=1, desired_num_ticks=_TICKS, num_minor_ticks=0)
    plot.yaxis.ticker = BasicTicker(min_interval=1, desired_num_ticks=8, num_minor_ticks=0)
    plot.xaxis.major_label_policy = NoOverlap(min_distance=1)
    plot.xaxis.major_label_overrides = {j: PlainText(text=shortened(name, _NAME)) for j, name in enumerate(names)}
    plot.yaxis.major_label_overrides = {i: f"{row:,}" for i, row in enumerate(numbers)}
    plot.xaxis.major_label_orientation = "vertical"
    if parted:
        _part_kinds(plot, kinds)
    return plot


def _part_kinds(plot: Any, kinds: Sequence[str]) -> None:
    """Draw a line between kinds, and write their names above them where there is room."""
    starts = [j for j in range(len(kinds)) if j == 0 or kinds[j] != kinds[j - 1]]
    for start in starts[1:]:
        plot.add_layout(Span(location=start - 0.5, dimension="height", line_color=INK, line_width=1.5))
    ends = [*starts[1:], len(kinds)]
    above: Any = LinearAxis()
    above.ticker = FixedTicker(ticks=[(start + end - 1) / 2 for start, end in zip(starts, ends, strict=True)])
    above.major_label_overrides = dict(zip(above.ticker.ticks, (kinds[start] for start in starts), strict=True))
    above.major_label_policy = NoOverlap(min_distance=6)
    above.update(
        major_label_text_font=FONT, major_label_text_font_size="12px", major_label_text_color=INK,
        axis_line_alpha=0.0, background_fill_alpha=0.0, major_tick_in=0, major_tick_out=0, minor_tick_out=0,
    )  # fmt: skip
    plot.add_layout(above, "above")


def _shades(part: Array, missing: NDArray[np.bool_]) -> Shades:
    steps = np.round(np.clip(np.nan_to_num(part, nan=0.0, posinf=1.0, neginf=-1.0), -1, 1) * _STEPS)
    return np.where(missing, 0, steps + _MIDDLE).astype(np.uint8)


def _per_column(numbers: ArrayLike, values: Array) -> Array:
    vector = np.asarray(numbers, dtype=np.float64)
    if vector.shape != values.shape[1:]:
        raise ParameterError(f"centre and scale are one per column; got {vector.shape} for {values.shape[1]} columns")
    return vector
