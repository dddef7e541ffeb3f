"""Is there an order in which neighbouring rows, or columns, are alike?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Question

if TYPE_CHECKING:
    from assay.asking.table import Table
    from assay.questions.stringing.answer import ReorderedTable


class _Stringing(Question):
    name = "stringing"
    wording = "Is there an order in which neighbours are alike?"
    reading = (
        "Rows and columns are reordered so that like stands beside like; blocks and gradients then show. "
        "Noise looks smooth too once it is ordered, so the order is compared with those of shuffled columns."
    )
    guide = "guide/stringing.md"
    priority = 80
    costly = True
    whole = True

    def why_not(self, table: Table, context: Context) -> str:
        from assay.questions.stringing.test import FEWEST_COLUMNS, FEWEST_ROWS, fit_columns

        if len(table.look.rows) < FEWEST_ROWS:
            return f"it takes {FEWEST_ROWS} rows"
        few = len(fit_columns(table.look)) < FEWEST_COLUMNS
        return f"it takes {FEWEST_COLUMNS} columns of numbers or steps" if few else ""

    def ask(self, table: Table, context: Context) -> ReorderedTable | None:
        from assay.questions.stringing.test import reordered_table

        tell = context.told("Order of rows and columns")
        return reordered_table(
            table.look,
            design_of=table.design_of,
            level=context.level,
            seed=context.seed,
            times=context.by_effort(1, 1, 5),
            progress=tell,
        )


QUESTION = _Stringing()
