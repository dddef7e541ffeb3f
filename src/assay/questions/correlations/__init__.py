"""Which columns go together?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.asking.question import Context, Question

if TYPE_CHECKING:
    from assay.asking.by_law import ByLaw
    from assay.asking.table import Table
    from assay.questions.correlations.answer import Correlations


class _Correlations(Question):
    name = "correlations"
    wording = "Which columns go together?"
    reading = (
        "A pair of columns goes together where knowing one tells something of the other: 1 or −1 is all, 0 is "
        "nothing. It does not say that one causes the other; a third column may drive both."
    )
    guide = "guide/dependence.md"
    priority = 40
    whole = True
    of_summaries = True
    sparse = True

    def why_not(self, table: Table, context: Context) -> str:
        return "" if len(_labels(table)) > 1 else "a pair needs two columns"

    def ask(self, table: Table, context: Context) -> Correlations | ByLaw | None:
        if table.summarised and table.folds is not None and table.depends is not None:
            from assay.questions.correlations.from_moments import correlations_of

            return correlations_of(
                table.folds, table.columns, groups=table.groups, noise=table.noise, level=context.level,
                limit=table.depends.limit,
            )  # fmt: skip
        from assay.questions.correlations.closer import looked_closer
        from assay.questions.correlations.columns import columns_of, drawn_fairly
        from assay.questions.correlations.test import correlations

        labels = _labels(table)
        some = drawn_fairly(table, labels, context.seed)
        given = columns_of(table, labels if some is None else [labels[j] for j in some])
        found = correlations(
            given.X,
            given.groups,
            given.names,
            categories=given.categories,
            level=context.level,
            seed=context.seed,
            design=table.design,
        )
        if found is not None and some is not None:
            found = replace(found, of_columns=len(labels))
        return None if found is None else looked_closer(found, given, table, context)


def _labels(table: Table) -> list[int]:
    """One label for each column that enters: each word of a text has one of its own."""
    by_name: dict[str, int] = {}
    for label, (name, _) in table.origins.items():
        if _enters(table, label):
            by_name.setdefault(name, label)
    return list(by_name.values())


def _enters(table: Table, label: int) -> bool:
    """Every column enters, but for texts whose length is not known, as that would take another pass over the data."""
    name, kind = table.origins[label]
    return kind != "text" or (name in table.beside and table.rows is not None)


QUESTION = _Correlations()
