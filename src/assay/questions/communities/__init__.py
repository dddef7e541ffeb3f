"""Are there communities: are the links more clustered than the numbers of links make them?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, QuestionOf
from assay.asking.subject import Subject

if TYPE_CHECKING:
    from assay.questions.communities.answer import Clustered
    from assay.summary.graph.graph import Graph


class _Communities(QuestionOf[Subject["Graph"]]):
    form = "network"
    name = "communities"
    wording = "Do the links fall into communities, beyond what the numbers of links of the nodes make of them?"
    reading = (
        "A community is a set of nodes with more links inside than their numbers of links would give. Believe "
        "those that are found again when a fifth of the links is left out."
    )
    guide = "guide/communities.md"
    priority = 20

    def why_not(self, table: Subject[Graph], context: Context) -> str:
        from assay.questions.communities.test import FEWEST_LINKS

        graph = table.value
        if graph.meaning != "similarity":
            return "its weights are distances, and communities need similarities"
        rows = graph.weights.tocoo()
        links = int((rows.coords[0] != rows.coords[1]).sum()) // (1 if graph.directed else 2)
        return "" if links >= FEWEST_LINKS else f"it takes {FEWEST_LINKS} links between different nodes"

    def ask(self, table: Subject[Graph], context: Context) -> Clustered | None:
        from assay.questions.communities.test import clustered

        return clustered(
            table.value,
            table.card.name,
            level=context.level,
            seed=context.seed,
            times=context.by_effort(0.2, 1.0, 5.0),
            progress=context.told("Communities"),
        )


QUESTION = _Communities()
