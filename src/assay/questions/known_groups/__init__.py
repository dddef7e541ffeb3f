"""What tells the groups of a summary apart?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Question

if TYPE_CHECKING:
    from assay.asking.by_law import ByLaw
    from assay.asking.table import Table


class _KnownGroups(Question):
    """Asked of summaries that have moments of groups; of rows, a target is predicted instead."""

    name = "known_groups"
    wording = "What tells the groups of the summary apart?"
    reading = (
        "The direction is the mix of columns along which the known groups differ most for how much rows "
        "differ within them. Of the variance along it, 0% between groups is no difference, 100% is perfect "
        "separation."
    )
    guide = "guide/summaries.md"
    priority = 15
    whole = True
    of_summaries = True

    def concerns(self, table: Table) -> bool:
        return table.known is not None

    def ask(self, table: Table, context: Context) -> ByLaw | None:
        from assay.questions.known_groups.from_moments import known_groups_of

        if table.known is None or table.depends is None:
            return None
        return known_groups_of(
            table.known, table.columns, noise=table.noise, level=context.level, seed=context.seed,
            limit=table.depends.limit,
        )  # fmt: skip


QUESTION = _KnownGroups()
