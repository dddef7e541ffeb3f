"""Do the rows fall into groups?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Question

if TYPE_CHECKING:
    from assay.asking.table import Table
    from assay.questions.groups.answer import Groups


class _Groups(Question):
    name = "groups"
    wording = "Do the rows fall into groups?"
    reading = (
        "Rows form groups only where a gap lies between them that is there on unseen rows, too. Rows that lie "
        "along a gradient can be cut into pieces anywhere; such pieces are not called groups here."
    )
    guide = "guide/groups.md"
    priority = 50

    def why_not(self, table: Table, context: Context) -> str:
        import numpy as np

        from assay.evidence.measured import measured
        from assay.questions.groups.test import FEWEST_ROWS

        if len(table.sample) < FEWEST_ROWS:
            return f"it takes {FEWEST_ROWS} rows"
        apart = len(table.sample_design.thinned(np.random.default_rng(context.seed)))
        if apart < FEWEST_ROWS:
            return f"it takes {FEWEST_ROWS} independent rows; there are about {apart}"
        return (
            ""
            if len(measured(table.sample, table.measured))
            else "no column of numbers or steps has five different values"
        )

    def ask(self, table: Table, context: Context) -> Groups | None:
        from assay.asking.table import picked
        from assay.evidence.measured import measured
        from assay.questions.groups.profile import categories_of
        from assay.questions.groups.test import DRAWS, FITTED, QUICK_DRAWS, THOROUGH_DRAWS, groups

        used = measured(table.sample, table.measured)
        return groups(
            table.sample[:, used],
            table.numbers,
            tuple(table.columns[j] for j in used),
            blocks=picked(table.blocks, used),
            categories=categories_of(table, {table.origins[int(table.groups[j])][0] for j in used}),
            design=table.sample_design,
            level=context.level,
            seed=context.seed,
            draws=context.by_effort(QUICK_DRAWS, DRAWS, THOROUGH_DRAWS),
            fitted=context.by_effort(FITTED // 2, FITTED, FITTED),
            progress=context.told("Groups"),
        )


QUESTION = _Groups()
