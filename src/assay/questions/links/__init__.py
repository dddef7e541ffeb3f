"""Can links be told by the others, which are missing, and which are surprising?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, QuestionOf

if TYPE_CHECKING:
    from assay.asking.subject import Subject
    from assay.questions.links.answer import LinksTold
    from assay.summary.graph.graph import Graph


class _Links(QuestionOf["Subject[Graph]"]):
    form = "network"
    name = "links"
    wording = "Which links are missing or surprising?"
    reading = (
        "Some links are hidden, and a score made of the others has to tell them from pairs that are not "
        "linked. Half of the comparisons are right by chance; more means that the network says who belongs "
        "with whom."
    )
    guide = "guide/links.md"
    priority = 40

    def why_not(self, table: Subject[Graph], context: Context) -> str:
        from assay.models.network.link_prediction.predict import cannot_tell
        from assay.summary.network.held_out_links import ends_of

        return cannot_tell(ends_of(table.value))

    def ask(self, table: Subject[Graph], context: Context) -> LinksTold | None:
        from assay.questions.links.test import links_told

        return links_told(
            table.value, name=table.card.name, level=context.level, seed=context.seed, progress=context.told("Links")
        )


QUESTION = _Links()
