"""The map of the rows: drawn where it shows more than chance, with what can and cannot be read from it."""

from __future__ import annotations

import numpy as np

from assay.asking.page import Page
from assay.asking.words import SURVIVED
from assay.models.row_maps import TSNE, map_method
from assay.questions.map.answer import RowMap
from assay.questions.map.test import FITTED
from assay.views.axes.numbers import count, percent
from assay.views.html.elements import table
from assay.views.html.view import View
from assay.views.rows.embedding import add_map, embedding_map


def views(drawn: RowMap, page: Page) -> list[View]:
    """The rows where the map puts them; a remark where shuffled columns give as good a map.

    Args:
        drawn: the numbers behind the finding.
        page: what figures share: the same rows as other figures draw them, and their groups.
    """
    if drawn.evidence.verdict not in SURVIVED:
        told = "No map of the rows is drawn: shuffled columns give one that is as good."
        return [View("no-map", caption=told, about="rows")]
    faint = 1.0 - drawn.standing
    if page.source is None:
        figure = embedding_map(drawn.coordinates, rows=drawn.rows + 1, faint=faint, groups=page.groups)
    else:
        figure = embedding_map(add_map(page.source, drawn.coordinates), faint=faint, groups=page.groups)
    placed = len(drawn.rows) > FITTED
    made = f" (rows among the {count(FITTED)} that make the map; the others are placed on it)" if placed else ""
    return [
        View(
            "map", "A map of the rows", figure,
            (("dot soft", "a row"), ("dot faint", "keeps no more neighbours than on a map of shuffled columns")),
            f"{_drawn_by(drawn)}. Rows near each other are alike in all columns together: of "
            f"the {drawn.k} nearest rows in the data a row keeps {percent(drawn.evidence.statistic)} here, on maps of "
            f"shuffled columns {percent(float(drawn.chance.mean()))}{made}. How far groups lie apart, how large and "
            "dense they are cannot be read from such a map, and its axes mean nothing.",
            _table(drawn), "rows",
        )
    ]  # fmt: skip


def _drawn_by(drawn: RowMap) -> str:
    words = map_method(drawn.method).words
    return f"{words} with perplexity {drawn.perplexity:.0f}" if drawn.method == TSNE else words[0].upper() + words[1:]


def _table(drawn: RowMap) -> str:
    evidence = drawn.evidence
    above = float(np.mean(drawn.standing > 0.95))
    rows = [
        ["Rows on the map", count(len(drawn.rows))],
        [f"Of its {drawn.k} nearest rows a row keeps, on average", percent(evidence.statistic)],
        ["On maps of shuffled columns, on average", percent(float(drawn.chance.mean()))],
        ["On the best of them", percent(float(drawn.chance.max()))],
        ["Rows kept out and then placed on the map keep", percent(evidence.held_out)],
        *([["Two maps from different starts share", percent(evidence.stability)]] if evidence.stability else []),
        ["Rows that keep more than 95% of the rows of shuffled maps do", percent(above)],
    ]
    return table("How far the map can be believed", ["", "Value"], rows, numeric=(1,))
