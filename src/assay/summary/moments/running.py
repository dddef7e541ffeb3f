"""Moments of a stream, after each block, old rows fading if asked.

A row that b rows followed weighs 2^(-b / h), h the half-life. Within a block the rows are weighted by their own age,
and what was before fades by the length of the block, so that where blocks were cut shows in no more than rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.blocks import float_blocks
from assay.errors import ParameterError
from assay.summary.moments.accumulate import Accumulator
from assay.summary.moments.moments import Moments


def running_moments(data: Any, *, half_life: float | None = None) -> Iterator[Moments]:
    """The summary of all rows so far, after each block, in memory for one block.

    Args:
        data: anything with blocks of numbers: a stream, a growing file, an iterator of arrays.
        half_life: rows after which a row counts half; None: rows never fade.

    >>> import numpy as np
    >>> [m.mean.tolist() for m in running_moments(iter([np.zeros((2, 1)), np.ones((2, 1))]))]
    [[0.0], [0.5]]
    """
    check_half_life(half_life)
    blocks = float_blocks(data)
    total: Moments | None = None
    for row, block in blocks:
        before = Moments.empty(block.shape[1], blocks.columns) if total is None else total
        total = followed(before, block, half_life, first_row=row)
        yield total


def followed(before: Moments, rows: NDArray[Any], half_life: float | None, *, first_row: int = 0) -> Moments:
    """The summary after (b, d) more rows.

    Args:
        before: of the rows until then.
        rows: in their order.
        half_life: rows after which a row counts half; None: rows never fade.
        first_row: number of the first one, for messages.

    >>> before = Moments.of(np.zeros((1, 1)))
    >>> followed(before, np.ones((1, 1)), half_life=1.0).mean.round(3)
    array([0.667])
    """
    if not len(rows):
        return before
    done = Accumulator(rows.shape[1], names=before.columns)
    if half_life is None:
        done.add(rows, first_row=first_row)
        return before + Moments.from_accumulator(done, before.columns)
    age = np.arange(len(rows) - 1, -1, -1.0)
    done.add(rows, np.exp2(-age / half_life), first_row=first_row)
    # a weight of exactly zero would not be one of a share; nothing so old is seen in the sum
    kept = max(float(np.exp2(-len(rows) / half_life)), np.finfo(np.float64).tiny)
    return before.forget(kept) + Moments.from_accumulator(done, before.columns)


def check_half_life(half_life: float | None) -> None:
    """Refuse what is no number of rows."""
    if half_life is not None and not half_life > 0.0:
        raise ParameterError(f"half_life is a number of rows above 0; got {half_life}")
