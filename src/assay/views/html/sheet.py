"""Figures on a bare sheet: what a notebook frames, and what a browser makes a picture of."""

from __future__ import annotations

import html
from collections.abc import Sequence
from importlib import resources

from assay.views.figures import Panel
from assay.views.html.embed import embed, library
from assay.views.html.figure_file import behaviour, policy

PADDING = 12  # pixels around the figures, as in sheet.css
_HEADED, _LINE, _LETTERS, _GAP = 32, 21, 60, 24  # pixels of a heading, of a line of words, letters in it, gap


def sheet_page(
    panels: Sequence[Panel], *, title: str = "", name: str = "", picture: int | None = None, scripts: Sequence[str] = ()
) -> str:
    """Make a page that holds figures and their words alone, in one column or, if they are several, in two.

    Args:
        panels: the figures.
        title: above them.
        name: of the page.
        picture: how wide it is in pixels where a picture is made of it: without tools, on a ground of its own.
        scripts: more of them, to run once the figures are drawn.

    Returns:
        HTML; words are shown as they are, never read as HTML.
    """
    drawn = {f"figure-{i + 1}": panel.figure for i, panel in enumerate(panels)}
    script, places = embed(drawn, still=picture is not None)
    texts = [library(), script, behaviour(), *scripts]
    body = "".join(_figure(panel, place) for panel, place in zip(panels, places.values(), strict=True))
    head = f"<h1>{html.escape(title)}</h1>" if title else ""
    kind = ' class="several"' if len(panels) > 1 else ""
    size = f' style="width:{picture}px"' if picture is not None else ""
    said = '<output id="selected-rows" aria-live="polite"></output>' if picture is None else ""
    return (
        f'<!doctype html>\n<html lang="en"{" data-picture" if picture is not None else ""}>\n<head>\n'
        f'<meta charset="utf-8">\n{policy(texts)}\n<title>{html.escape(name or title)}</title>\n'
        f"<style>\n{_text('sheet.css')}</style>\n</head>\n<body>\n"
        f"<main{kind}{size}>{head}{body}{said}</main>\n"
        f"{''.join(f'<script>{text}</script>' for text in texts)}\n</body>\n</html>\n"
    )


def framed(panels: Sequence[Panel], name: str) -> str:
    """Put the sheet into a frame that a notebook shows as it is; it can reach neither the notebook nor the network.

    Args:
        panels: the figures.
        name: what is drawn, for those who do not see it.

    Returns:
        One HTML element.
    """
    page = html.escape(sheet_page(panels, name=name), quote=True)
    return (
        f'<iframe title="{html.escape(name)}" sandbox="allow-scripts allow-downloads" srcdoc="{page}" '
        f'style="width:100%;height:{sheet_height(panels)}px;border:0"></iframe>'
    )


def sheet_height(panels: Sequence[Panel]) -> int:
    """Estimate how high a sheet is in pixels; words that wrap more often than expected make it higher.

    Args:
        panels: the figures.

    >>> from assay.views.axes.theme import figure
    >>> sheet_height([Panel("", figure(x_label="", y_label="", height=300))])
    350
    """
    heights = [_height(panel) for panel in panels]
    wide = len(heights) % 2 if len(heights) > 1 else 1
    rows = heights[:wide] + [max(heights[k : k + 2]) for k in range(wide, len(heights), 2)]
    return 2 * PADDING + sum(rows) + _GAP * len(rows) + 2


def _height(panel: Panel) -> int:
    lines = -(-len(panel.caption) // _LETTERS)
    return int(panel.figure.height or 400) + (_HEADED if panel.title else 0) + _LINE * lines


def _figure(panel: Panel, place: str) -> str:
    head = f"<h2>{html.escape(panel.title)}</h2>" if panel.title else ""
    said = f"<figcaption>{html.escape(panel.caption)}</figcaption>" if panel.caption else ""
    return f'<figure aria-label="{html.escape(panel.title)}">{head}{place}{said}</figure>'


def _text(name: str) -> str:
    return resources.files("assay.views.html").joinpath(name).read_text(encoding="utf-8")
