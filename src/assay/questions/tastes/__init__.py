"""Do tastes differ, beyond some items being liked more and some users rating higher?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, QuestionOf

if TYPE_CHECKING:
    from assay.asking.subject import Subject
    from assay.questions.tastes.answer import Tastes
    from assay.summary.ratings.ratings import Ratings


class _Tastes(QuestionOf["Subject[Ratings]"]):
    form = "ratings"
    name = "tastes"
    wording = "Do users and items differ in their levels, and do tastes differ beyond these?"
    reading = (
        "Levels say that some users rate higher and some items are liked more; tastes say that users who like "
        "one item like another, too. Each must predict ratings that were held out."
    )
    guide = "guide/recommender.md"
    priority = 10

    def why_not(self, table: Subject[Ratings], context: Context) -> str:
        from assay.evidence.ratings import why_not

        if table.value.counts:
            return "it is about how much items were liked, and these are counts"
        return why_not(table.value)

    def ask(self, table: Subject[Ratings], context: Context) -> Tastes | None:
        from assay.questions.tastes.test import tastes

        return tastes(table.value, level=context.level, seed=context.seed, progress=context.told("Ratings"))


QUESTION = _Tastes()
