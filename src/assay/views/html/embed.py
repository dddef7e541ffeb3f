"""Figures into a page: one document, so that selections are shared, and nothing fetched from anywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from bokeh.document import Document
from bokeh.embed.util import OutputDocumentFor
from bokeh.resources import Resources

_IDENTIFIER = re.compile(r"p\d+")


def embed(figures: Mapping[str, Any], *, still: bool = False) -> tuple[str, dict[str, str]]:
    """Turn figures into the text of one script and an empty element for each.

    Args:
        figures: by name, of letters, digits and hyphens: it becomes part of the id of the element.
        still: without tools, for a picture; the figures themselves stay as they are.

    Returns:
        The text of a script, to run after `library()`, and per name the element that the figure goes into.

    >>> from assay.views.columns.spectrum import scree
    >>> script, places = embed({"scree": scree([1.0], share=[1.0], n_real=0)})
    >>> places["scree"]
    '<div id="view-scree" class="bokeh"></div>'
    """
    roots = list(figures.values())
    doc = _document_json(roots)
    if still:
        for root in doc["roots"]:
            root["attributes"]["toolbar_location"] = None
    content = _renumbered({"doc": doc, "roots": [root.id for root in roots]})
    places = dict(zip(content["roots"], (f"view-{name}" for name in figures), strict=True))
    items = [{"docid": "assay", "roots": places, "root_ids": list(places)}]
    script = (
        f"globalThis.assayViews = Bokeh.embed.embed_items({_literal({'assay': content['doc']})}, {_literal(items)});"
    )
    return script, {name: f'<div id="view-{name}" class="bokeh"></div>' for name in figures}


def library() -> str:
    """Give the text of the script that draws: Bokeh's core alone, no widgets, tables, WebGL or MathJax.

    >>> "Bokeh" in library()
    True
    """
    return "\n".join(Resources(mode="inline", minified=True, components=["bokeh"]).js_raw)


def _document_json(roots: list[Any]) -> Any:
    if any(root.document is not None for root in roots):  # of a document of the user's, which gets them back
        with OutputDocumentFor(roots, always_new=True) as lent:
            return lent.to_json(deferred=False)
    document = Document()
    with document.models.freeze():  # models are counted once, and not anew after each figure
        for root in roots:
            document.add_root(root)
    doc = document.to_json(deferred=False)
    document.clear()
    return doc


def _renumbered(content: Any) -> Any:
    """Replace the ids of models, counters of the running process, so the same figures give the same bytes."""
    seen: dict[str, str] = {}

    def renumber(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: seen.setdefault(item, f"m{len(seen) + 1}")
                if key == "id" and isinstance(item, str) and _IDENTIFIER.fullmatch(item)
                else renumber(item)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [renumber(item) for item in value]
        return value

    doc = renumber(content["doc"])
    return {"doc": doc, "roots": [seen[identifier] for identifier in content["roots"]]}


def _literal(value: Any) -> str:
    """JSON that can stand inside a script: nothing in it ends the script or starts a comment."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
