"""Which rows do not belong?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Question

if TYPE_CHECKING:
    from assay.asking.table import Table
    from assay.questions.anomalies.answer import Anomalies


class _Anomalies(Question):
    name = "anomalies"
    wording = "Which rows do not belong?"
    reading = (
        "A row does not belong where it lies farther from the middle of all rows, or from its neighbours, "
        "than the others let one expect. It may be an error or the most interesting row of the table: look at "
        "the columns that put it there."
    )
    guide = "guide/anomalies.md"
    priority = 60

    def why_not(self, table: Table, context: Context) -> str:
        from assay.evidence.measured import measured
        from assay.questions.anomalies.test import FEWEST_ROWS

        if table.card.rows_used < FEWEST_ROWS:
            return f"it takes {FEWEST_ROWS} rows"
        return (
            ""
            if len(measured(table.sample, table.measured))
            else "no column of numbers or steps has five different values"
        )

    def ask(self, table: Table, context: Context) -> Anomalies | None:
        from assay.asking.table import picked
        from assay.evidence.measured import measured
        from assay.questions.anomalies.test import anomalies, measuring_rows

        used = measured(table.sample, table.measured)
        by, numbers = measuring_rows(table.rows, table.sample, table.numbers, context.seed)
        return anomalies(
            picked(table.as_found, used),
            by[:, used],
            numbers,
            tuple(table.columns[j] for j in used),
            present=table.present(slice(None) if table.rows is None else numbers)[:, used],
            design=table.depends,
            level=context.level,
            seed=context.seed,
            progress=context.told("Rows that do not belong"),
        )


QUESTION = _Anomalies()
