"""Figures in a file of their own, to look at from Python: one HTML page that needs no network and no server."""

from __future__ import annotations

import base64
import hashlib
import html
import os
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from assay.data.files import atomic_write
from assay.errors import ParameterError
from assay.views.html.embed import embed, library


def write_figure(
    figures: Any | Mapping[str, Any],
    path: str | os.PathLike[str],
    title: str,
    *,
    captions: Mapping[str, str] | None = None,
) -> Path:
    """Write figures into one HTML file; the same figures give the same bytes.

    Args:
        figures: a Bokeh figure, or several by their headings, shown side by side. Those that draw from one source
            are selected together.
        path: the file; it is replaced when the new one is whole.
        title: of the page.
        captions: what to see in a figure, by its heading; a lone figure's heading is the title.

    Returns:
        The path.

    >>> import tempfile
    >>> from assay.views.rows.embedding import embedding_map
    >>> target = Path(tempfile.mkdtemp()) / "map.html"
    >>> write_figure(embedding_map([[0.0, 1.0], [1.0, 0.0]]), target, "Two rows").name
    'map.html'
    """
    target = Path(path)
    page = figure_page(figures if isinstance(figures, Mapping) else {title: figures}, title, captions=captions)
    with atomic_write(target) as handle:
        handle.write(page.encode("utf-8", "backslashreplace"))
    return target


def figure_page(figures: Mapping[str, Any], title: str, *, captions: Mapping[str, str] | None = None) -> str:
    """Make the page that `write_figure` writes.

    Args:
        figures: by heading.
        title: of the page.
        captions: by heading.

    Returns:
        HTML; headings, captions and title are shown as they are, never read as HTML.

    >>> from assay.views.rows.embedding import embedding_map
    >>> "<h1>a &lt; b</h1>" in figure_page({"": embedding_map([[0.0, 1.0], [1.0, 0.0]])}, "a < b")
    True
    """
    captions = captions or {}
    unknown = [heading for heading in captions if heading not in figures]
    if unknown:
        raise ParameterError(f"captions belong to figures; there is no figure {unknown[0]!r}")
    script, places = embed({f"figure-{i + 1}": figure for i, figure in enumerate(figures.values())})
    scripts = [library(), script, behaviour()]
    body = "".join(
        _figure(place, heading if heading != title else "", captions.get(heading, ""), title)
        for heading, place in zip(figures, places.values(), strict=True)
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{policy(scripts)}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{html.escape(title)} – assay</title>\n<style>\n{_text('figure_file.css')}</style>\n</head>\n<body>\n"
        f"<h1>{html.escape(title)}</h1>\n<main>{body}</main>\n"
        '<p><output id="selected-rows" aria-live="polite" aria-label="Rows selected"></output></p>\n'
        f"{''.join(f'<script>{text}</script>' for text in scripts)}\n</body>\n</html>\n"
    )


def behaviour() -> str:
    """Give the text of the script that figures on a page share, to run after that of `embed`.

    >>> "selected-rows" in behaviour()
    True
    """
    return _text("figures.js")


def policy(scripts: Sequence[str]) -> str:
    """Allow a page's own scripts by their hashes and nothing else: no network, no script from the data.

    Args:
        scripts: their texts.

    Returns:
        An element for the head of the page.

    >>> policy(["1"])[:46]
    '<meta http-equiv="Content-Security-Policy" con'
    """
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    rules = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    return f"""<meta http-equiv="Content-Security-Policy" content="{rules}; base-uri 'none'; form-action 'none'">"""


def _figure(place: str, heading: str, caption: str, title: str) -> str:
    head = f"<h2>{html.escape(heading)}</h2>" if heading else ""
    said = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return (
        f'<figure aria-label="{html.escape(heading or title)}">{head}{place}'
        f"<noscript><p>The figure needs JavaScript.</p></noscript>{said}</figure>"
    )


def _text(name: str) -> str:
    return resources.files("assay.views.html").joinpath(name).read_text(encoding="utf-8")
