"""Can a column be predicted from the others?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Option, Question

if TYPE_CHECKING:
    from assay.asking.table import Table
    from assay.questions.prediction.answer import Prediction


class _Prediction(Question):
    name = "prediction"
    wording = "Can a column be predicted from the others?"
    options = (
        Option(
            "target",
            "A column to predict from the others; rows that lack it are left out, and questions on components and rows "
            "are asked of the other columns.",
            outcome=True,
        ),
    )
    priority = 10
    whole = True

    def asked_for(self, context: Context) -> bool:
        return context.options["target"] is not None

    def ask(self, table: Table, context: Context) -> Prediction | None:
        from assay.questions.prediction.ask import predicted

        return predicted(table, context.options["target"], context)


QUESTION = _Prediction()
