"""Does a map of the network show more than chance?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, QuestionOf

if TYPE_CHECKING:
    from assay.asking.subject import Subject
    from assay.questions.network_map.answer import NetworkMap
    from assay.summary.graph.graph import Graph


class _NetworkMap(QuestionOf["Subject[Graph]"]):
    form = "network"
    name = "network_map"
    wording = "Does a map of the network show more than chance?"
    reading = (
        "The map puts linked nodes near each other; it shows something real where it does so for links that "
        "it was made without. Distances between far nodes mean little on it."
    )
    guide = "guide/network-embedding.md"
    costly = True
    priority = 50

    def why_not(self, table: Subject[Graph], context: Context) -> str:
        from assay.questions.network_map.test import cannot_map

        return cannot_map(table.value)

    def ask(self, table: Subject[Graph], context: Context) -> NetworkMap | None:
        from assay.questions.network_map.test import network_map

        return network_map(
            table.value, level=context.level, seed=context.seed, progress=context.told("Map of the network")
        )


QUESTION = _NetworkMap()
