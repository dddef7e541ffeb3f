"""Encoded blocks made complete: a value of another row stands in for a missing one, or rows with gaps are left out.

What stands in is drawn from the rows that have a value, whatever else these hold: it knows nothing of other columns, in
whatever rows and for whatever reason values are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.asking.table import Blocks
from assay.linalg.stood_in import columns_with_gaps, stood_in

Array: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]
Missing: TypeAlias = Literal["fill", "drop"]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What is in the columns in use, in the rows in use.

    Attributes:
        rows: rows in use.
        empty: rows without any value, never in use.
        gaps: rows with a value missing.
        mean, low, high: (D,) of the values present.
        lacking: (D,) whether a value is missing in the rows in use.
    """

    rows: int
    empty: int
    gaps: int
    mean: Array
    low: Array
    high: Array
    lacking: NDArray[np.bool_]


def tallied(blocks: Iterable[Array], D: int, missing: Missing) -> Tally:
    """Count rows and gaps, and find the mean and range of each column, in one pass.

    Args:
        blocks: (b, D), NaN where missing.
        D: columns.
        missing: which rows are in use: those with any value ("fill") or with every value ("drop").
    """
    rows = empty = gaps = 0
    count, mean = np.zeros(D), np.zeros(D)
    low, high = np.full(D, np.inf), np.full(D, -np.inf)
    lacking = np.zeros(D, dtype=bool)
    for block in blocks:
        used, none, some = _in_use(block, missing)
        empty += none
        gaps += some
        rows += len(used)
        if not len(used):
            continue
        holes = columns_with_gaps(used)
        lacking[holes] = True
        whole = np.setdiff1d(np.arange(D), holes)
        here, here_mean = np.full(D, len(used)), np.zeros(D)
        for columns, average, least, most in (
            (whole, np.mean, np.min, np.max),
            (holes, _nan_mean, np.fmin.reduce, np.fmax.reduce),
        ):
            part = used if len(columns) == D else used[:, columns]
            here_mean[columns] = average(part, axis=0)
            low[columns] = np.fmin(low[columns], least(part, axis=0))
            high[columns] = np.fmax(high[columns], most(part, axis=0))
        here[holes] -= np.isnan(used[:, holes]).sum(axis=0)
        count += here
        mean += np.divide((here_mean - mean) * here, count, out=np.zeros(D), where=count > 0)
    return Tally(rows, empty, gaps, mean, low, high, lacking)


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


def rows_in_use(blocks: Blocks, missing: Missing) -> NDArray[np.bool_]:
    """(N,) which of all rows are in use.

    Args:
        blocks: starts an iteration over (b, D) blocks, NaN where missing.
        missing: which rows are left out, as for `tallied`.
    """
    return ~np.concatenate([_gaps(block)[int(missing == "drop")] for block in blocks()])


def _nan_mean(part: Array, axis: int) -> Array:
    """Means of the values present, 0 where there are none."""
    present = (~np.isnan(part)).sum(axis=axis)
    mean: Array = np.divide(np.nansum(part, axis=axis), present, out=np.zeros(part.shape[1]), where=present > 0)
    return mean


def gapped(blocks: Blocks, missing: Missing) -> Blocks:
    """The rows in use, NaN where a value is missing.

    Args:
        blocks: starts an iteration over (b, D) blocks of all rows.
        missing: whether rows with gaps are in use ("fill") or not ("drop"); rows without any value never are.
    """

    def start() -> Iterator[Array]:
        for block in blocks():
            yield _in_use(block, missing)[0]

    return start


def completed(blocks: Blocks, groups: Numbers, mean: Array, seed: int) -> Blocks:
    """The same rows without gaps; every pass gives the same.

    Args:
        blocks: starts an iteration over (b, D) blocks, NaN where missing; they are not changed.
        groups: (D,) the column that each number belongs to.
        mean: (D,) what stands in where a block has no value of a column.
        seed: of the draws.
    """

    def start() -> Iterator[Array]:
        for k, block in enumerate(blocks()):
            yield stood_in(block, groups, mean, np.random.default_rng((seed, k)))

    return start


def filled_by_means(block: Array, mean: Array) -> Array:
    """(b, D) rows whose gaps hold means: copies of one row stay copies, which draws would tell apart.

    Args:
        block: (b, D) NaN where missing; it is not changed.
        mean: (D,) of the columns.
    """
    return np.where(np.isnan(block), mean, block) if len(columns_with_gaps(block)) else block
