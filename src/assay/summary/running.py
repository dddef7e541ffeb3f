"""Moments of a stream, after each block, old rows fading if asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.data.blocks import float_blocks
from assay.errors import ParameterError
from assay.summary.moments import Moments


def running_moments(data: Any, *, half_life: float | None = None) -> Iterator[Moments]:
    """The summary of all rows so far, after each block, in memory for one block.

    Args:
        data: anything with blocks of numbers: a stream, a growing file, an iterator of arrays.
        half_life: rows after which a row counts half; None: rows never fade.

    >>> import numpy as np
    >>> [m.mean.tolist() for m in running_moments(iter([np.zeros((2, 1)), np.ones((2, 1))]))]
    [[0.0], [0.5]]
    """
    if half_life is not None and not half_life > 0.0:
        raise ParameterError(f"half_life is a number of rows above 0; got {half_life}")
    blocks = float_blocks(data)
    total: Moments | None = None
    for _, block in blocks:
        new = Moments.of(block, columns=blocks.columns)
        if total is None:
            total = new
        else:
            faded = total if half_life is None else total.forget(0.5 ** (len(block) / half_life))
            total = faded + new
        yield total
