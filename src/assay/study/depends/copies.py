"""Rows that are copies of others, counted while they pass."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data.row_hashes import hashes_of_numbers
from assay.linalg.stood_in import columns_with_gaps

Array: TypeAlias = NDArray[np.float64]


class Copies:
    """Counts rows that are copies of others while they pass, in bounded memory.

    Rows are drawn by what they hold, not by where they stand, so that copies are drawn together or not at all: kept are
    those whose hash is below a bound, which is halved whenever too many are kept.
    """

    def __init__(self, most: int = 20_000) -> None:
        self._most = most
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.rows = 0
        self._bound = 2**63
        self._hashes = np.empty(0, dtype=np.uint64)
        self._counts = np.empty(0, dtype=np.int64)
        self._kept: Array | None = None

    def add(self, block: Array) -> None:
        """Take in (b, d) rows; those without any value are no copies of each other."""
        self.rows += len(block)
        if len(columns_with_gaps(block)) == block.shape[1]:
            block = block[~np.isnan(block).all(axis=1)]
        hashes = hashes_of_numbers(block)
        drawn = np.flatnonzero(hashes < self._bound)
        new, first, counts = np.unique(hashes[drawn], return_index=True, return_counts=True)
        rows = block[drawn[first]]
        together = np.concatenate([self._hashes, new])
        self._hashes, first, place = np.unique(together, return_index=True, return_inverse=True)
        self._counts = np.bincount(place, np.concatenate([self._counts, counts])).astype(np.int64)
        self._kept = (rows if self._kept is None else np.concatenate([self._kept, rows]))[first]
        while len(self._hashes) > self._most:
            self._bound //= 2
            stay = self._hashes < self._bound
            self._hashes, self._counts, self._kept = self._hashes[stay], self._counts[stay], self._kept[stay]

    def notes(self) -> list[str]:
        """Whether many rows are copies, beyond what few different values make by themselves."""
        drawn, different = int(self._counts.sum()), len(self._hashes)
        if self._kept is None or self._kept.shape[1] < 2 or drawn == 0 or 10 * (drawn - different) < drawn:
            return []
        # rows coincide by chance where each column has few values; copies have one column that tells them all apart
        if max(len(np.unique(x)) for x in self._kept.T[:200]) < 0.9 * different:
            return []
        copies = f"{drawn - different:,}" if self._bound == 2**63 else f"About {1.0 - different / drawn:.0%}"
        return [
            f"{copies} of {self.rows:,} rows are copies of others: copies are not independent, and what is called "
            "supported here may be chance."
        ]
