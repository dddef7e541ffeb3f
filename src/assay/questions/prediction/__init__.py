"""Can a column be predicted from the others?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Option, Question

if TYPE_CHECKING:
    from assay.asking.by_law import ByLaw
    from assay.asking.table import Table
    from assay.questions.prediction.answer import Prediction

_ROWS_EACH = 3  # for each class, on average: of fewer, most classes are missing from some fold


class _Prediction(Question):
    name = "prediction"
    wording = "Can a column be predicted from the others?"
    reading = (
        "The target is predicted for rows that had no part in learning the rule; only that counts. What a "
        "column adds to the prediction is no proof that it causes the target."
    )
    guide = "guide/target.md"
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
    of_summaries = True

    def asked_for(self, context: Context) -> bool:
        return context.options["target"] is not None

    def why_not(self, table: Table, context: Context) -> str:
        if table.summarised:
            numbers = int(table.of_columns(frozenset([str(context.options["target"])])).sum())
            several = "the target has several levels: summarise by it (--by), and it is asked what tells them apart"
            return "" if numbers == 1 else several if numbers else "the target does not vary"
        from assay.questions.prediction.asked import FEWEST_ROWS

        target, rows = context.options["target"], len(table.at_hand)
        if rows < FEWEST_ROWS:
            return f"it takes {FEWEST_ROWS} rows"
        classes = len(table.levels.get(target, ())) if (target, "category") in table.origins.values() else 0
        few = _ROWS_EACH * classes > rows
        return f"{classes} classes of {target} need {_ROWS_EACH * classes} rows; there are {rows}" if few else ""

    def ask(self, table: Table, context: Context) -> Prediction | ByLaw | None:
        if table.summarised and table.folds is not None and table.depends is not None:
            from assay.questions.prediction.from_moments import prediction_of

            place = int(table.of_columns(frozenset([str(context.options["target"])])).argmax())
            return prediction_of(
                table.folds, table.columns, place, noise=table.noise, level=context.level, seed=context.seed,
                limit=table.depends.limit,
            )  # fmt: skip
        from assay.questions.prediction.ask import predicted

        return predicted(table, context.options["target"], context)


QUESTION = _Prediction()
