"""One pass over a table gives what questions need of it: a sample of rows and, without outcomes, moments of folds."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.asking.table import Table, rows_shown
from assay.data.folds import fold_count
from assay.errors import DataError
from assay.study.picked import PickedRows
from assay.summary.grouped import GroupedMoments

Mask: TypeAlias = NDArray[np.bool_]

# Beyond this many columns the (d, d) summary is larger than the rows it stands for are likely to be.
_WIDEST = 4000


def gathered(table: Table, outcomes: frozenset[str], seed: int) -> tuple[Table, Table]:
    """The table with its sample; and the same without the columns that are outcomes, with the moments of its folds.

    Args:
        table: the data.
        outcomes: columns that questions on the others leave out.
        seed: of the sample and of the folds.
    """
    kept = ~table.of_columns(outcomes)
    if not kept.any():
        raise DataError(f"{sorted(outcomes)[0]!r} is the only column in use: there is nothing to predict it from")
    picked = PickedRows(rows_shown(table.card.rows_used, seed))
    n, d = table.card.rows_used, int(kept.sum())
    narrow = d <= n and d <= _WIDEST
    folds = None
    if table.rows is None:
        passing = (block if kept.all() else block[:, kept] for block in picked.passing(table.blocks()))
        folds = GroupedMoments.folds(passing, fold_count(n), seed=seed)
        sample = picked.rows
    else:
        sample = table.rows[picked.numbers]
    whole = replace(table, sample=sample, numbers=picked.numbers)
    others = whole if kept.all() else whole.among(kept)
    if narrow and others.rows is not None:
        # rows that depend on each other are in one fold
        folds = GroupedMoments.of(others.rows, table.design.folds(fold_count(n), seed))
    others = replace(others, folds=folds)
    return (others if kept.all() else whole), others
