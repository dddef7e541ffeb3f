"""One look for every figure: colours told apart by the colour-blind, quiet axes, no decoration.

A page's style sheet may override inks, grids and axes by Bokeh's `--bk-*` variables, for light and dark;
what is drawn as data has middle tones that stand out on both. Colours derive from M. Okabe and K. Ito, Color
Universal Design (2008).
"""

from __future__ import annotations

from typing import Any

from bokeh.models import BasicTickFormatter, HoverTool, NoOverlap, PlainText
from bokeh.models.annotations.labels import Label

from assay.views.figures import Figure

REAL = "#2787cf"
CHANCE = "#8b919a"
UNSEEN = "#d9680f"
ARROW = "#d9680f"
INK = "#3d434b"
LINE = "#6c747e"  # to compare with, where it must be seen on light and dark pages alike
_WRITTEN_OUT = 7  # powers of ten up to which ticks are written out
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def figure(*, x_label: str, y_label: str, height: int = 340, tools: Any = "", **options: Any) -> Any:
    """Start an empty figure in the common style, as wide as its place on the page.

    Labels are never read as mathematics: a column may be called `$$x$$`.

    Args:
        x_label: what the horizontal axis shows, with its unit.
        y_label: what the vertical axis shows, with its unit.
        height: in pixels.
        tools: Bokeh tools; without any there is no toolbar, and touch scrolls the page.
        options: handed to `bokeh.plotting.figure`.

    Returns:
        A Bokeh figure that a notebook shows and that has `save`.

    >>> figure(x_label="component", y_label="eigenvalue").sizing_mode
    'stretch_width'
    """
    plot = Figure(
        height=height,
        min_width=240,
        sizing_mode="stretch_width",
        tools=tools,
        toolbar_location="above" if tools else None,
        background_fill_alpha=0.0,
        border_fill_alpha=0.0,
        outline_line_alpha=0.0,
        x_axis_label=PlainText(text=x_label) if x_label else None,
        y_axis_label=PlainText(text=y_label) if y_label else None,
        **options,
    )
    if options.get("match_aspect"):
        plot.max_width = 2 * height  # with one scale for both axes a wider figure is mostly empty
    plot.toolbar.logo = None
    plot.toolbar.active_scroll = None
    plot.axis.axis_label_text_font = FONT
    plot.axis.axis_label_text_font_style = "normal"
    plot.axis.axis_label_text_font_size = "13px"
    plot.axis.axis_label_text_color = INK
    plot.axis.axis_label_standoff = 10
    plot.axis.major_label_text_font = FONT
    plot.axis.major_label_text_font_size = "12px"
    plot.axis.major_label_text_color = INK
    plot.axis.axis_line_color = CHANCE
    plot.axis.major_tick_line_color = CHANCE
    plot.axis.major_tick_in = 0
    plot.axis.major_tick_out = 4
    plot.axis.minor_tick_line_color = None
    # the page's colour behind names would fill the boxes of axes too; clearing the canvas leaves half a pixel of them
    plot.axis.background_fill_alpha = 0.0
    plot.xaxis.major_label_policy = NoOverlap(min_distance=3)
    for axis in plot.axis:
        if isinstance(axis.formatter, BasicTickFormatter):
            axis.formatter.power_limit_high = _WRITTEN_OUT
    plot.grid.grid_line_color = "#e4e7eb"
    plot.xgrid.visible = False
    return plot


def hover(renderers: list[Any], rows: list[tuple[str, str]], **options: Any) -> HoverTool:
    """Show named numbers under the pointer, without a button in the toolbar.

    Args:
        renderers: the marks it answers to.
        rows: words of this package, as HTML, and the Bokeh field behind each.
        options: handed to `HoverTool`.

    >>> hover([], [("row", "@row")]).visible
    False
    """
    # Bokeh's own layout names the rows in a blue that is too light to read; values are escaped in either
    lines = "".join(
        f'<tr><td style="color:{INK};padding-right:8px">{name}</td><td class="tip"><b>{value}</b></td></tr>'
        for name, value in rows
    )
    return HoverTool(renderers=renderers, tooltips=f"<table>{lines}</table>", visible=False, **options)


def label(x: float, y: float, text: str, **options: Any) -> Label:
    """Words on the figure itself, never read as mathematics: a column may be called `$$x$$`.

    Args:
        x: position in the units of the data.
        y: position in the units of the data.
        text: the words.
        options: handed to Bokeh's `Label`.

    >>> label(0, 1, "chance").text.text
    'chance'
    """
    style = {"text_font": FONT, "text_font_size": "12px", "text_color": INK}
    return Label(x=x, y=y, text=PlainText(text=text), **{**style, **options})
