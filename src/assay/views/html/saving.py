"""What is drawn as a file: a page that can be explored, or a picture of it for a document."""

from __future__ import annotations

import base64
import io
import os
import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops

from assay.data.files import atomic_write, check_writable
from assay.errors import ParameterError
from assay.views.figures import Panel
from assay.views.html.browser import BrowserError, found_browser, page_picture, page_text
from assay.views.html.figure_file import write_figure
from assay.views.html.sheet import PADDING, sheet_height, sheet_page

WIDTH, WIDE = 720, 1120
_GROUND = (255, 0, 254)  # around the sheet, as in sheet.css: no figure has it
_BESIDE = 8  # pixels of it that are seen
_LEAST, _MOST = 200, 4000
_SCALES = (0.5, 4.0)


def save(
    panels: Sequence[Panel], path: str | os.PathLike[str], *, heading: str, title: str, width: int | None, scale: float
) -> Path:
    """Write figures to a file, in the way its ending asks for.

    Args:
        panels: the figures.
        path: ends in .html, .png or .svg.
        heading: of the page where there is no title.
        title: of the page, or above the picture.
        width: of a picture in pixels; None for the usual.
        scale: pixels of a PNG to one of these.
    """
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in (".html", ".png", ".svg"):
        raise ParameterError(f"a plot is saved as .html, .png or .svg; got {target.name!r}")
    check_writable(target)
    if ending == ".html":
        return _save_page(panels, target, title or heading)
    found_browser()  # before any work
    width = _usual_width(panels) if width is None else _checked("width", width, (_LEAST, _MOST))
    if len(panels) == 1 and not title:  # a lone picture is the figure alone: words go under it where it is shown
        panels = [Panel("", panels[0].figure)]
    if ending == ".svg":
        content = svg_picture(panels, width, title=title).encode()
    else:
        content = png_picture(panels, width, title=title, scale=_checked("scale", scale, _SCALES))
    with atomic_write(target) as handle:
        handle.write(content)
    return target


def png_picture(panels: Sequence[Panel], width: int, *, title: str = "", scale: float = 2.0) -> bytes:
    """Draw figures as a PNG.

    Args:
        panels: the figures.
        width: in pixels of the page.
        title: above them.
        scale: pixels of the picture to one of the page.
    """
    page = sheet_page(panels, title=title, picture=width)
    height = sheet_height(panels) + 200
    for _ in range(4):
        shot = Image.open(io.BytesIO(page_picture(page, width + _BESIDE, height, scale))).convert("RGB")
        box = ImageChops.difference(shot, Image.new("RGB", shot.size, _GROUND)).getbbox()
        if box is None:
            raise BrowserError("the browser did not draw the figures; save as .html and open it to see why")
        if box[3] < shot.height:  # the ground is seen below: the sheet is whole
            break
        height *= 2
    else:
        raise ParameterError(f"the picture is higher than {height // 2:,} pixels; save fewer figures, or as .html")
    if box[:2] != (0, 0) or box[2] != round(width * scale):
        raise BrowserError(f"the browser drew {box[2]} pixels instead of {width * scale:g}; save as .html")
    kept = io.BytesIO()
    dots = 96 * scale
    shot.crop(box).save(kept, "PNG", optimize=True, dpi=(dots, dots))
    return kept.getvalue()


def svg_picture(panels: Sequence[Panel], width: int, *, title: str = "") -> str:
    """Draw figures as one SVG, whose words are text.

    Args:
        panels: the figures.
        width: in pixels.
        title: above them.
    """
    script = resources.files("assay.views.html").joinpath("picture.js").read_text(encoding="utf-8")
    shown = page_text(sheet_page(panels, title=title, picture=width, scripts=[script]))
    found = re.search(r'<pre id="drawn-svg">([A-Za-z0-9+/=]+)</pre>', shown)
    if found is None:
        raise BrowserError("the browser did not draw the figures; save as .html and open it to see why")
    drawn = base64.b64decode(found.group(1)).decode("utf-8")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_renamed(drawn)}\n'


def _renamed(svg: str) -> str:
    """Number the ids, which Bokeh draws at random, so that the same figures give the same bytes."""
    names = {old: f"a{k}" for k, old in enumerate(dict.fromkeys(re.findall(r' id="([^"]+)"', svg)), 1)}
    svg = re.sub(r' id="([^"]+)"', lambda m: f' id="{names[m.group(1)]}"', svg)
    return re.sub(r"url\((['\"]|&quot;)?#([^)'\"&]+)\1?\)", lambda m: f"url(#{names.get(m.group(2), m.group(2))})", svg)


def _save_page(panels: Sequence[Panel], target: Path, title: str) -> Path:
    figures = {panel.title or title: panel.figure for panel in panels}
    captions = {panel.title or title: panel.caption for panel in panels if panel.caption}
    return write_figure(figures, target, title, captions=captions)


def _usual_width(panels: Sequence[Panel]) -> int:
    if len(panels) > 1:
        return WIDE
    return min(WIDTH, (panels[0].figure.max_width or WIDTH) + 2 * PADDING)


def _checked(name: str, value: Any, span: tuple[float, float]) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not span[0] <= value <= span[1]:
        raise ParameterError(f"{name} is a number from {span[0]:g} to {span[1]:g}; got {value!r}")
    return value
