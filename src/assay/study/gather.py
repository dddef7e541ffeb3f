"""One pass over a table gives what questions need of it: a sample of rows and, without outcomes, moments of folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.arrays import Array, Indices
from assay.asking.question import Question, Tell
from assay.asking.table import NumberedBlocks, Table, rows_shown
from assay.data.folds import fold_count
from assay.data.hot_deck import stood_in
from assay.data.partitions import Blocks
from assay.engine.current import map_reduce
from assay.errors import DataError
from assay.study.usable_columns import WIDEST
from assay.summary.moments.grouped import GroupedMoments, fold_moments


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """One table, as different questions need it; rows of fewer columns are taken anew for each, and not held.

    Attributes:
        every: all columns in use, also those that lack most of their values.
        of_whole: gives `whole`.
        of_others: gives `others`.
    """

    every: Table
    of_whole: Callable[[], Table | None]
    of_others: Callable[[], Table | None]

    @property
    def whole(self) -> Table | None:
        """Without columns that lack most of their values; None where nothing but outcomes is left."""
        return self.of_whole()

    @property
    def others(self) -> Table | None:
        """Without outcomes too, with the moments of its folds; None likewise."""
        return self.of_others()

    def of(self, question: Question) -> Table | None:
        """The table that a question is asked of; None where none of its columns is left."""
        return self.every if question.sparse else self.whole if question.whole else self.others


def gathered(table: Table, outcomes: frozenset[str], seed: int, tell: Tell | None = None) -> Gathered:
    """The table with its sample; the same without columns that mostly lack their value, and without outcomes.

    Args:
        table: the data.
        outcomes: columns that questions on the others leave out.
        seed: of the sample, of the folds and of values that stand in for missing ones.
        tell: told how far the pass is.
    """
    aim = table.of_columns(outcomes)
    if len(aim) and aim.all():
        raise DataError(f"{sorted(outcomes)[0]!r} is the only column in use: there is nothing to predict it from")
    dense = np.ones(len(aim), dtype=bool) if table.sparse is None else ~table.sparse
    kept = dense & ~aim
    n, d = table.card.rows_used, int(kept.sum())
    numbers = rows_shown(n, seed, table.look)
    folds = None
    if table.rows is None:
        folds, sample = _folded(table, np.flatnonzero(kept), numbers, fold_count(n), seed, _telling(table.blocks, tell))
        every = _sampled(table, sample, numbers, seed)
    else:
        every = replace(table, sample=table.rows[numbers], numbers=numbers)
    if not kept.any():
        return Gathered(every, lambda: None, lambda: None)
    if d <= n and d <= WIDEST and every.rows is not None:
        # rows that depend on each other are in one fold
        rows = every.rows if kept.all() else every.rows[:, kept]
        folds = GroupedMoments.of(rows, table.design.folds(fold_count(n), seed))

    def others() -> Table:
        return replace(every if kept.all() else every.among(kept), folds=folds)

    def whole() -> Table:
        return others() if kept.all() else every if dense.all() else every.among(dense)

    return Gathered(every, whole, others)


def _folded(
    table: Table, kept: Indices, numbers: Indices, n_folds: int, seed: int, progress: Callable[[int], object]
) -> tuple[GroupedMoments | None, Array]:
    """Moments of folds by some columns, and the rows of some numbers, in one pass."""
    of_block = fold_moments(n_folds, seed)

    def work(part: tuple[int, Array]) -> tuple[GroupedMoments | None, Array]:
        first, block = part
        own = block if len(kept) == block.shape[1] else block[:, kept]
        return of_block((first, own)) if len(kept) else None, _picked(part, numbers)

    def merge(a: tuple[GroupedMoments | None, Array], b: tuple[GroupedMoments | None, Array]) -> Any:
        folds = a[0] + b[0] if a[0] is not None and b[0] is not None else None
        return folds, np.concatenate([a[1], b[1]])

    found: tuple[GroupedMoments | None, Array] = map_reduce(table.blocks, work, merge, progress=progress)
    return found


def _telling(blocks: NumberedBlocks, tell: Tell | None) -> Callable[[int], object]:
    """What tells how far a pass over a source is."""

    def progress(done: int) -> None:
        if tell is not None and isinstance(blocks, Blocks):
            tell("Summarising", blocks.source.rows_read, blocks.source.fraction_read)

    return progress


def _sampled(table: Table, rows: Array, numbers: Indices, seed: int) -> Table:
    """With a sample of rows that do not fit in memory; what stands in for missing values is drawn from the sample."""
    if table.gapped is None:
        return replace(table, sample=rows, numbers=numbers)
    rows = map_reduce(table.gapped, lambda part: _picked(part, numbers), lambda a, b: np.concatenate([a, b]))
    rng = np.random.default_rng(seed)
    mean = np.zeros(rows.shape[1])  # of a column without any value in the sample, which says nothing then
    sample = stood_in(rows, table.groups, mean, rng)
    return replace(table, sample=sample, numbers=numbers, gaps=np.isnan(rows))


def _picked(part: tuple[int, Array], numbers: Indices) -> Array:
    """The rows of a block that have one of some ascending numbers."""
    first, block = part
    return block[numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + len(block))] - first]
