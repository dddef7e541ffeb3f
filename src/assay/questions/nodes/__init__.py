"""Which nodes of a network matter, beyond the numbers of their links?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, QuestionOf

if TYPE_CHECKING:
    from assay.asking.subject import Subject
    from assay.questions.nodes.answer import Nodes
    from assay.summary.graph.graph import Graph


class _Nodes(QuestionOf["Subject[Graph]"]):
    form = "network"
    name = "nodes"
    wording = "Which nodes matter beyond the numbers of their links?"
    reading = (
        "PageRank is how often a walk along links is at a node; it grows with the number of links. So it is "
        "compared with random networks in which every node has as many links as here."
    )
    guide = "guide/pagerank.md"
    priority = 20

    def why_not(self, table: Subject[Graph], context: Context) -> str:
        from assay.questions.nodes.test import FEWEST_LINKS

        if table.value.meaning != "similarity":
            return "weights are distances, and a walk along links needs similarities"
        few = table.value.weights.nnz < FEWEST_LINKS * (1 if table.value.directed else 2)
        return f"it takes {FEWEST_LINKS} links" if few else ""

    def ask(self, table: Subject[Graph], context: Context) -> Nodes | None:
        from assay.questions.nodes.test import nodes

        return nodes(table.value, context.level, context.seed, context.told("Nodes that matter"))


QUESTION = _Nodes()
