"""The map of the rows: drawn where it shows more than chance, with what can and cannot be read from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.report.component_views import View
from assay.report.elements import table
from assay.report.kinds import SURVIVED
from assay.report.numbers import count, percent
from assay.views.embedding import add_map, embedding_map


def map_views(drawn: Any, source: Any, groups: list[str] | None = None) -> list[View]:
    """The rows where t-SNE puts them; nothing where shuffled columns give as good a map.

    Args:
        drawn: the numbers behind the finding on the map; None where there is none.
        source: the same rows as other figures draw them, so that they are selected together; None where none do.
        groups: what each row is called by its group; None where there are none.
    """
    if drawn is None or drawn.evidence.verdict not in SURVIVED:
        return []
    faint = 1.0 - drawn.standing
    if source is None:
        figure = embedding_map(drawn.coordinates, rows=np.asarray(drawn.rows) + 1, faint=faint, groups=groups)
    else:
        figure = embedding_map(add_map(source, drawn.coordinates), faint=faint, groups=groups)
    return [
        View(
            "map", "A map of the rows", figure,
            (("dot soft", "a row"), ("dot faint", "keeps no more neighbours than on a map of shuffled columns")),
            f"t-SNE with perplexity {drawn.perplexity:.0f}. Rows near each other are alike in all columns together: of "
            f"the {drawn.k} nearest rows in the data a row keeps {percent(float(drawn.kept.mean()))} here, on maps of "
            f"shuffled columns {percent(float(drawn.chance.mean()))}. How far groups lie apart, how large and dense "
            "they are cannot be read from such a map, and its axes mean nothing.",
            _table(drawn),
        )
    ]  # fmt: skip


def _table(drawn: Any) -> str:
    evidence = drawn.evidence
    above = float(np.mean(drawn.standing > 0.95))
    rows = [
        ["Rows on the map", count(len(drawn.rows))],
        [f"Of its {drawn.k} nearest rows a row keeps, on average", percent(evidence.statistic)],
        ["On maps of shuffled columns, on average", percent(float(drawn.chance.mean()))],
        ["On the best of them", percent(float(drawn.chance.max()))],
        ["Rows kept out and then placed on the map keep", percent(evidence.held_out)],
        ["Two maps from different starts share", percent(evidence.stability)],
        ["Rows that keep more than 95% of the rows of shuffled maps do", percent(above)],
    ]
    return table("How far the map can be believed", ["", "Value"], rows, numeric=(1,))
