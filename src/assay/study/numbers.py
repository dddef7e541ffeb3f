"""Encoded blocks made complete: missing values filled with means, or rows with gaps left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Blocks: TypeAlias = Callable[[], Iterator[Array]]
Missing: TypeAlias = Literal["mean", "drop"]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What is in the columns in use, in the rows in use.

    Attributes:
        rows: rows in use.
        empty: rows without any value, never in use.
        gaps: rows with a value missing.
        mean, low, high: (D,) of the values present.
    """

    rows: int
    empty: int
    gaps: int
    mean: Array
    low: Array
    high: Array


def tallied(blocks: Iterable[Array], D: int, missing: Missing) -> Tally:
    """Count rows and gaps, and find the mean and range of each column, in one pass.

    Args:
        blocks: (b, D), NaN where missing.
        D: columns.
        missing: which rows are in use: those with any value ("mean") or with every value ("drop").
    """
    rows = empty = gaps = 0
    count, mean = np.zeros(D), np.zeros(D)
    low, high = np.full(D, np.inf), np.full(D, -np.inf)
    for block in blocks:
        absent = np.isnan(block)
        none, some = absent.all(axis=1), absent.any(axis=1)
        empty += int(none.sum())
        gaps += int(some.sum())
        used = block[~(some if missing == "drop" else none)]
        rows += len(used)
        if not len(used):
            continue
        present = ~np.isnan(used)
        here = present.sum(axis=0)
        # about the mean so far, so that a large offset costs no digits
        moved = np.where(present, used - mean, 0.0).sum(axis=0)
        count += here
        mean += np.divide(moved, count, out=np.zeros(D), where=count > 0)
        low = np.fmin(low, np.fmin.reduce(used, axis=0))
        high = np.fmax(high, np.fmax.reduce(used, axis=0))
    return Tally(rows, empty, gaps, mean, low, high)


def completed(blocks: Blocks, mean: Array, missing: Missing) -> Blocks:
    """The rows in use without gaps.

    Args:
        blocks: starts an iteration over (b, D) blocks, NaN where missing; they are not changed.
        mean: (D,) what to fill in.
        missing: fill ("mean") or leave the row out ("drop"). Rows without any value are left out in either.
    """

    def start() -> Iterator[Array]:
        for block in blocks():
            absent = np.isnan(block)
            if not absent.any():
                yield block
                continue
            kept = ~(absent.any(axis=1) if missing == "drop" else absent.all(axis=1))
            yield np.where(absent[kept], mean, block[kept])

    return start
