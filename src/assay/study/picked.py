"""Rows of chosen numbers, taken from blocks while these pass for another purpose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


class PickedRows:
    """Takes rows out of a pass over the data without a pass of its own.

    Args:
        numbers: (m,) of the rows wanted, ascending, from 0.

    >>> picked = PickedRows(np.array([1, 2]))
    >>> sum(len(block) for block in picked.passing([np.zeros((2, 1)), np.ones((2, 1))]))
    4
    >>> picked.rows.ravel()
    array([0., 1.])
    """

    def __init__(self, numbers: NDArray[np.intp]) -> None:
        self.numbers = numbers
        self._parts: list[Array] = []

    def passing(self, blocks: Iterable[Array]) -> Iterator[Array]:
        """The same (b, D) blocks."""
        self._parts, first = [], 0
        for block in blocks:
            last = first + len(block)
            here = self.numbers[np.searchsorted(self.numbers, first) : np.searchsorted(self.numbers, last)] - first
            self._parts.append(block[here])
            first = last
            yield block

    @property
    def rows(self) -> Array:
        """(m, D) the rows, once the pass is over."""
        return np.concatenate(self._parts)
