"""Do some columns, together, go with the others?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Option, Question
from assay.errors import ParameterError
from assay.shown import a_few

if TYPE_CHECKING:
    from assay.asking.by_law import ByLaw
    from assay.asking.table import Table
    from assay.questions.canonical.answer import Canonical


class _Canonical(Question):
    name = "canonical"
    wording = "Do two sets of columns go together?"
    reading = (
        "One mix of columns is made of each side so that the two mixes rise and fall together as closely as "
        "possible. The correlation on unseen rows is the one to believe: mixes found on the same rows always "
        "look closer than they are."
    )
    guide = "guide/cca.md"
    options = (Option("side", "A column of one side: do these, together, go with all the others?", many=True),)
    priority = 20
    whole = True
    of_summaries = True

    def asked_for(self, context: Context) -> bool:
        return bool(context.options["side"])

    def ask(self, table: Table, context: Context) -> Canonical | ByLaw | None:
        import numpy as np

        from assay.questions.canonical.test import WORK, canonical

        side = tuple(context.options["side"])
        used = {name for name, _ in table.origins.values()}
        missing = [name for name in side if name not in used]
        if missing:
            raise ParameterError(f"no column {missing[0]!r} in use to be on one side; there are {a_few(sorted(used))}")
        own = table.of_columns(frozenset(side))
        if own.all():
            raise ParameterError("all columns in use are on one side: leave some for the other")
        columns = [tuple(table.columns[j] for j in np.flatnonzero(which)) for which in (own, ~own)]
        names = ", ".join(side[:3]) + (" ..." if len(side) > 3 else "")
        if table.summarised and table.folds is not None and table.depends is not None:
            from assay.questions.canonical.from_moments import canonical_of

            named, limit = (names, "the other columns"), table.depends.limit
            return canonical_of(
                table.folds, own, table.columns, named, noise=table.noise, level=context.level, seed=context.seed,
                limit=limit,
            )  # fmt: skip
        rows = table.at_hand
        return canonical(
            rows[:, own], rows[:, ~own], (columns[0], columns[1]), (names, "the other columns"),
            level=context.level, seed=context.seed, work=context.by_effort(WORK / 10, WORK, 5 * WORK),
            progress=context.told("Two sets of columns"), design=table.design,
        )  # fmt: skip


QUESTION = _Canonical()
