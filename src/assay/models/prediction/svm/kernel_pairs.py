"""Kernel rows of two groups at a time, for machines that tell every pair of groups apart.

    pair (a, b)   K over the rows of a and b:  [[K_aa, K_ab], [K_ba, K_bb]]

K_aa is part of every pair that a is in: it is computed once and shared, as far as memory allows. A row of K_ab is part
of one pair only and is computed when that pair asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from assay.arrays import Whole
from assay.optimize.smo.rows import Fill, KernelRows, Values


class GroupedRows:
    """A kernel matrix whose rows lie in groups.

    Args:
        kernel: K, by rows.
        groups: the rows of each group, rising.
        shared_mb: memory for the parts K_aa, in MiB; where they need more, none is kept.

    >>> from assay.optimize.smo.rows import MatrixRows
    >>> rows = GroupedRows(MatrixRows(np.diag([1.0, 2.0, 3.0])), [np.array([0]), np.array([1]), np.array([2])])
    >>> rows.pair(0, 2).diagonal
    array([1., 3.])
    """

    def __init__(self, kernel: KernelRows, groups: Sequence[Whole], shared_mb: float = 128.0) -> None:
        self.kernel, self.groups = kernel, groups
        values = sum(len(group) ** 2 for group in groups)
        self._bytes = shared_mb * 2**20 / max(values, 1) if len(groups) > 2 else 0.0  # there is room for, of each value
        self._tables: dict[tuple[int, np.dtype[Any]], Values] = {}
        self._errors: dict[np.dtype[Any], float] = {}
        self._locks = [Lock() for _ in groups]

    def pair(self, a: int, b: int) -> KernelRows:
        """Rows of the kernel matrix of two groups, those of the first before those of the second."""
        return _PairRows(self, a, b)

    def own(self, a: int, dtype: np.dtype[Any]) -> Values | None:
        """(m, m) the kernel matrix of one group; None where memory does not suffice for those of all."""
        if dtype.itemsize > self._bytes:
            return None
        with self._locks[a]:
            if (a, dtype) not in self._tables:
                group = self.groups[a]
                table = np.empty((len(group), len(group)), dtype=dtype)
                self.kernel.among(group, dtype)(group, table)
                self._tables[a, dtype] = table
            return self._tables[a, dtype]

    def error(self, dtype: np.dtype[Any]) -> float:
        """Typical size of the error of a value of this dtype, over all groups."""
        if dtype not in self._errors:
            self._errors[dtype] = self.kernel.error(dtype)
        return self._errors[dtype]


class _PairRows:
    def __init__(self, whole: GroupedRows, a: int, b: int) -> None:
        self._whole, self._sides = whole, (a, b)
        self._first = len(whole.groups[a])  # rows from here on are those of b
        self.diagonal = whole.kernel.diagonal[np.concatenate([whole.groups[a], whole.groups[b]])]
        self.threads = whole.kernel.threads

    def error(self, dtype: np.dtype[Any]) -> float:
        return self._whole.error(dtype)

    def among(self, columns: Whole | None, dtype: np.dtype[Any]) -> Fill:
        held = np.arange(len(self.diagonal)) if columns is None else columns
        cut = int(np.searchsorted(held, self._first))
        blocks = (slice(0, cut), slice(cut, len(held)))
        places = held[:cut], held[cut:] - self._first
        groups = [self._whole.groups[side] for side in self._sides]
        fills = [self._whole.kernel.among(group[at], dtype) for group, at in zip(groups, places, strict=True)]
        tables = [self._whole.own(side, dtype) for side in self._sides]

        def fill(rows: Whole, out: Values) -> None:
            middle = int(np.searchsorted(rows, self._first))
            for i, (part, own) in enumerate(
                [(slice(0, middle), rows[:middle]), (slice(middle, len(rows)), rows[middle:] - self._first)]
            ):
                for j in (0, 1):
                    block, table = out[part, blocks[j]], tables[j]
                    if block.size == 0:
                        continue
                    if i == j and table is not None:
                        block[:] = table[own] if columns is None else table[np.ix_(own, places[j])]
                    else:
                        fills[j](groups[i][own], block)

        return fill
