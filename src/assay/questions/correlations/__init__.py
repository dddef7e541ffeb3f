"""Which columns go together?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Question

if TYPE_CHECKING:
    from assay.asking.table import Table
    from assay.questions.correlations.answer import Correlations


class _Correlations(Question):
    name = "correlations"
    wording = "Which columns go together?"
    priority = 40
    whole = True

    def why_not(self, table: Table, context: Context) -> str:
        return "" if len(_labels(table)) > 1 else "a pair needs two columns that are neither text nor time"

    def ask(self, table: Table, context: Context) -> Correlations | None:
        from dataclasses import replace

        import numpy as np

        from assay.asking.words import SURVIVED
        from assay.questions.correlations.closer import closer_look
        from assay.questions.correlations.test import correlations

        context.tell("Columns that go together", None, None)
        labels = _labels(table)
        places = [np.flatnonzero(table.groups == label) for label in labels]
        groups = np.repeat(np.arange(len(places)), [len(place) for place in places])
        names = tuple(table.origins[label][0] for label in labels)
        rows = table.at_hand[:, np.concatenate(places)]
        found = correlations(rows, groups, names, alpha=context.alpha, seed=context.seed, design=table.design)
        if found is None or found.evidence.verdict not in SURVIVED:
            return found
        pairs = found.found.pairs
        listed = [
            k for k in range(min(max(found.n_pairs, 1), len(pairs))) if not pairs.lag[k]
        ]  # lags have no rows alike
        standing = [(int(pairs.first[k]), int(pairs.second[k])) for k in listed]
        closer = closer_look(
            rows,
            groups,
            standing,
            levels=tuple(tuple(table.levels.get(name, ())) for name in names),
            look=table.look,
            design=table.design,
            alpha=context.alpha,
            seed=context.seed,
        )
        return replace(found, closer=closer)


def _labels(table: Table) -> list[int]:
    """Columns of the data, but for texts and times, whose numbers are many."""
    return [label for label, (_, kind) in table.origins.items() if kind not in ("text", "time")]


QUESTION = _Correlations()
