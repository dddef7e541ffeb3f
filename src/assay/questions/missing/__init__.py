"""Which values are missing, and does that go with anything?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Question

if TYPE_CHECKING:
    from assay.asking.table import Table
    from assay.questions.missing.answer import MissingValues


class _Missing(Question):
    name = "missing"
    wording = "Which values are missing, and does that go with anything?"
    reading = (
        "Where gaps go with other columns, the rows that have a value are no fair sample of all rows. Whether "
        "a value is missing because of what it would have been, no data can tell."
    )
    guide = "guide/missing.md"
    priority = 90
    whole = True
    sparse = True

    def why_not(self, table: Table, context: Context) -> str:
        return "" if any(column.missing for column in table.card.columns) else "no value is missing"

    def ask(self, table: Table, context: Context) -> MissingValues | None:
        from assay.questions.missing.test import missing_values

        return missing_values(table.look, table.card, design_of=table.design_of, level=context.level, seed=context.seed)


QUESTION = _Missing()
