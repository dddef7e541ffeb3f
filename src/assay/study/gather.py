"""One pass over a table gives what questions need of it: a sample of rows and, without outcomes, moments of folds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.asking.question import Question
from assay.asking.table import Table, rows_shown
from assay.data.folds import fold_count
from assay.errors import DataError
from assay.linalg.stood_in import stood_in
from assay.study.picked import PickedRows
from assay.summary.grouped import GroupedMoments

# Beyond this many columns the (d, d) summary is larger than the rows it stands for are likely to be.
_WIDEST = 4000


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """One table, as different questions need it.

    Attributes:
        every: all columns in use, also those that lack most of their values.
        whole: without these; None where nothing but outcomes is left.
        others: without outcomes too, with the moments of its folds; None likewise.
    """

    every: Table
    whole: Table | None
    others: Table | None

    def of(self, question: Question) -> Table | None:
        """The table that a question is asked of; None where none of its columns is left."""
        return self.every if question.sparse else self.whole if question.whole else self.others


def gathered(table: Table, outcomes: frozenset[str], seed: int) -> Gathered:
    """The table with its sample; the same without columns that mostly lack their value, and without outcomes.

    Args:
        table: the data.
        outcomes: columns that questions on the others leave out.
        seed: of the sample, of the folds and of values that stand in for missing ones.
    """
    aim = table.of_columns(outcomes)
    if len(aim) and aim.all():
        raise DataError(f"{sorted(outcomes)[0]!r} is the only column in use: there is nothing to predict it from")
    dense = np.ones(len(aim), dtype=bool) if table.sparse is None else ~table.sparse
    kept = dense & ~aim
    n, d = table.card.rows_used, int(kept.sum())
    picked = PickedRows(rows_shown(n, seed))
    folds = None
    if table.rows is None:
        passing = (block if kept.all() else block[:, kept] for block in picked.passing(table.blocks()))
        folds = GroupedMoments.folds(passing, fold_count(n), seed=seed) if kept.any() else None
        every = _sampled(table, picked, seed)
    else:
        every = replace(table, sample=table.rows[picked.numbers], numbers=picked.numbers)
    if not kept.any():
        return Gathered(every, None, None)
    others = every if kept.all() else every.among(kept)
    whole = every if dense.all() else every.among(dense)
    if d <= n and d <= _WIDEST and others.rows is not None:
        # rows that depend on each other are in one fold
        folds = GroupedMoments.of(others.rows, table.design.folds(fold_count(n), seed))
    others = replace(others, folds=folds)
    return Gathered(every, others if kept.all() else whole, others)


def _sampled(table: Table, picked: PickedRows, seed: int) -> Table:
    """With a sample of rows that do not fit in memory; what stands in for missing values is drawn from the sample."""
    if table.gapped is None:
        return replace(table, sample=picked.rows, numbers=picked.numbers)
    for _ in picked.passing(table.gapped()):
        pass
    rows, rng = picked.rows, np.random.default_rng(seed)
    mean = np.zeros(rows.shape[1])  # of a column without any value in the sample, which says nothing then
    sample = stood_in(rows, table.groups, mean, rng)
    return replace(table, sample=sample, numbers=picked.numbers, gaps=np.isnan(rows))
