"""Encoded blocks made complete: a value of another row stands in for a missing one, or rows with gaps are left out.

What stands in is drawn from the rows that have a value, whatever else these hold: it knows nothing of other columns, in
whatever rows and for whatever reason values are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.asking.table import NumberedBlocks
from assay.data.hot_deck import columns_with_gaps, stood_in
from assay.engine.current import map_reduce
from assay.study.row_dependence.copies import Copies

Missing: TypeAlias = Literal["fill", "drop"]
Progress: TypeAlias = Callable[[int], object]


@dataclass(frozen=True, slots=True, eq=False)
class CompleteTally:
    """What is in the columns in use, in the rows in use.

    Attributes:
        rows: rows in use.
        empty: rows without any value, never in use.
        gaps: rows with a value missing.
        mean, low, high: (D,) of the values present.
        lacking: (D,) whether a value is missing in the rows in use.
        count: (D,) values present.
        blocks: number of the first row, rows and rows in use of each block.
    """

    rows: int
    empty: int
    gaps: int
    mean: Array
    low: Array
    high: Array
    lacking: NDArray[np.bool_]
    count: Array
    blocks: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, row: int, block: Array, missing: Missing) -> CompleteTally:
        """Of one block.

        Args:
            row: number of its first row.
            block: (b, D), NaN where missing.
            missing: which rows are in use: those with any value ("fill") or with every value ("drop").
        """
        used, empty, gaps = _in_use(block, missing)
        D = block.shape[1]
        count, mean = np.full(D, float(len(used))), np.zeros(D)
        low, high = np.full(D, np.inf), np.full(D, -np.inf)
        lacking = np.zeros(D, dtype=bool)
        if len(used):
            holes = columns_with_gaps(used)
            lacking[holes] = True
            whole = np.setdiff1d(np.arange(D), holes)
            for columns, average, least, most in (
                (whole, np.mean, np.min, np.max),
                (holes, _nan_mean, np.fmin.reduce, np.fmax.reduce),
            ):
                part = used if len(columns) == D else used[:, columns]
                mean[columns] = average(part, axis=0)
                low[columns], high[columns] = least(part, axis=0), most(part, axis=0)
            count[holes] -= np.isnan(used[:, holes]).sum(axis=0)
        return cls(len(used), empty, gaps, mean, low, high, lacking, count, ((row, len(block), len(used)),))

    def __add__(self, other: CompleteTally) -> CompleteTally:
        count = self.count + other.count
        step = np.divide(other.count, count, out=np.zeros_like(count), where=count > 0)
        return CompleteTally(
            self.rows + other.rows,
            self.empty + other.empty,
            self.gaps + other.gaps,
            self.mean + (other.mean - self.mean) * step,
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
            self.lacking | other.lacking,
            count,
            self.blocks + other.blocks,
        )

    def numbered(self, blocks: NumberedBlocks, missing: Missing) -> NumberedBlocks:
        """The rows in use, NaN where a value is missing; blocks are numbered by the rows in use before them.

        Args:
            blocks: of all rows, those that were tallied.
            missing: which rows are in use.
        """
        if all(found == used and row == before for row, found, used, before in self._before()):
            return blocks
        number = {row: before for row, _, _, before in self._before()}
        return blocks.map(lambda part: (number[part[0]], _in_use(part[1], missing)[0]))

    def _before(self) -> Iterator[tuple[int, int, int, int]]:
        before = 0
        for row, found, used in self.blocks:
            yield row, found, used, before
            before += used


def tallied(
    blocks: NumberedBlocks, used: Indices, missing: Missing, rows: int | None = None, progress: Progress | None = None
) -> tuple[CompleteTally, Copies]:
    """Count rows and gaps, find the mean and range of each column in use, and count copies of rows, in one pass.

    Args:
        blocks: (b, D), NaN where missing.
        used: numbers of the columns in use.
        missing: which rows are in use: those with any value ("fill") or with every value ("drop").
        rows: how many there are, where that is known.
        progress: told how many blocks are done.
    """

    def looked(part: tuple[int, Array]) -> tuple[CompleteTally, Copies]:
        row, block = part
        own = block if len(used) == block.shape[1] else block[:, used]
        return CompleteTally.of(row, own, missing), Copies.of(block, rows)

    return map_reduce(blocks, looked, lambda a, b: (a[0] + b[0], a[1] + b[1]), progress=progress)


def _in_use(block: Array, missing: Missing) -> tuple[Array, int, int]:
    """The rows in use, and how many have no value at all and how many lack one."""
    none, some = _gaps(block)
    out = some if missing == "drop" else none
    return (block[~out] if out.any() else block), int(none.sum()), int(some.sum())


def _gaps(block: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(b,) rows without any value, and rows that lack one."""
    whole = np.zeros(len(block), dtype=bool)
    holes = columns_with_gaps(block)
    if not len(holes):
        return whole, whole
    absent = np.isnan(block[:, holes])
    none = np.asarray(absent.all(axis=1)) if len(holes) == block.shape[1] else whole
    return none, np.asarray(absent.any(axis=1))


def rows_in_use(blocks: NumberedBlocks, missing: Missing) -> NDArray[np.bool_]:
    """(N,) which of all rows are in use.

    Args:
        blocks: (b, D), NaN where missing.
        missing: which rows are left out, as for `tallied`.
    """
    return ~np.concatenate([_gaps(block)[int(missing == "drop")] for _, block in blocks])


def _nan_mean(part: Array, axis: int) -> Array:
    """Means of the values present, 0 where there are none."""
    present = (~np.isnan(part)).sum(axis=axis)
    mean: Array = np.divide(np.nansum(part, axis=axis), present, out=np.zeros(part.shape[1]), where=present > 0)
    return mean


def completed(blocks: NumberedBlocks, groups: Indices, mean: Array, seed: int) -> NumberedBlocks:
    """The same rows without gaps; every pass gives the same.

    Args:
        blocks: (b, D), NaN where missing; they are not changed.
        groups: (D,) the column that each number belongs to.
        mean: (D,) what stands in where a block has no value of a column.
        seed: of the draws.
    """
    return blocks.map(lambda part: (part[0], stood_in(part[1], groups, mean, np.random.default_rng((seed, part[0])))))


def filled_by_means(block: Array, mean: Array) -> Array:
    """(b, D) rows whose gaps hold means: copies of one row stay copies, which draws would tell apart.

    Args:
        block: (b, D) NaN where missing; it is not changed.
        mean: (D,) of the columns.
    """
    return np.where(np.isnan(block), mean, block) if len(columns_with_gaps(block)) else block
