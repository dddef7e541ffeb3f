"""Words around a figure: what its marks mean, and what must be known before it is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.core.properties import value
from bokeh.models import InlineStyleSheet
from bokeh.models.annotations.legends import Legend, LegendItem

from assay.views.axes.theme import FONT, INK

# words wrap at the width of the page and follow its colour in the light and in the dark; a legend alone does neither
_STYLE = f"""
:host {{ width: 100%; pointer-events: none; }}
.bk-grid {{ display: flex; flex-wrap: wrap; width: 100%; gap: 2px 14px !important; padding: 3px 0; }}
.bk-label, .bk-title {{ white-space: normal; }}
.bk-label, .bk-title {{ color: var(--bk-major-label-text-color, {INK}) !important; }}
"""
_FONTS = {"text_font": FONT, "text_font_size": "12px", "text_font_style": "normal"}


def legend(plot: Any, entries: Sequence[tuple[str, Sequence[Any], int | None]], *, title: str = "") -> Legend:
    """Name the marks of a figure, above it. No words of it are read as HTML or mathematics.

    Args:
        plot: the figure.
        entries: for each its words, the renderers whose mark it shows, and which of their points it shows.
        title: what the entries are.

    Returns:
        The legend.

    >>> from assay.views.axes.theme import figure
    >>> plot = figure(x_label="", y_label="")
    >>> legend(plot, [("chosen", [plot.scatter([0], [0])], None)]).items[0].label.value
    'chosen'
    """
    items = [LegendItem(label=value(words), renderers=list(marks), index=at) for words, marks, at in entries]
    made = _words(items, title=title, label_standoff=4, glyph_width=18, glyph_height=18)
    plot.add_layout(made, "above")
    return made


def note(plot: Any, words: str) -> None:
    """Write a sentence under a figure: what must be known before it is read.

    Args:
        plot: the figure.
        words: the sentence.
    """
    plot.add_layout(_words([LegendItem(label=value(words))], label_standoff=0, glyph_width=0, glyph_height=0), "below")


def _words(items: list[LegendItem], **options: Any) -> Legend:
    style: dict[str, Any] = {f"{part}_{key}": setting for part in ("label", "title") for key, setting in _FONTS.items()}
    style |= {"margin": 0, "padding": 0, "title_standoff": 0, "border_line_color": None, "background_fill_alpha": 0.0}
    style |= {"location": "top_left", "stylesheets": [InlineStyleSheet(css=_STYLE)]}
    return Legend(items=items, orientation="horizontal", **style, **options)
