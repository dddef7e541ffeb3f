"""Which components are real?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Question

if TYPE_CHECKING:
    from assay.asking.table import Table
    from assay.questions.components.answer import Components


class _Components(Question):
    name = "components"
    wording = "Which components are real?"
    reading = (
        "A component is a direction along which many columns vary together; a real one carries more of the "
        "variance than any direction of shuffled columns does. Its columns say what it is about: those that "
        "rise together, against those that fall."
    )
    guide = "guide/components.md"
    priority = 30
    of_summaries = True

    def ask(self, table: Table, context: Context) -> Components:
        from assay.questions.components.test import components

        return components(
            table.columns,
            rows=table.rows,
            folds=table.folds,
            groups=table.groups,
            shown=table.numbers,
            design=table.depends,
            noise=table.noise,
            level=context.level,
            seed=context.seed,
            draws=context.by_effort(39, None, 999),
            progress=context.told("Components"),
        )


QUESTION = _Components()
