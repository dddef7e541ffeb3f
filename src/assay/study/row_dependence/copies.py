"""Rows that are copies of others, counted in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.hot_deck import columns_with_gaps
from assay.data.row_hashes import hashes_of_numbers, likely_bound

# Hashes kept at most, and rows.
MOST = 20_000
_ROWS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """Counts rows that are copies of others, in bounded memory; `a + b` counts in both.

    Rows are drawn by what they hold, not by where they stand, so that copies are drawn together or not at all: kept are
    those whose hash is below a bound, which is halved whenever too many are kept.

    Attributes:
        rows: how many were met.
        bound: hashes below it are kept.
        hashes: (m,) different ones, ascending.
        counts: (m,) how often each was met.
        kept: (k, d) a row of each of the first.
    """

    rows: int
    bound: int
    hashes: NDArray[np.uint64]
    counts: NDArray[np.int64]
    kept: Array

    @classmethod
    def of(cls, block: Array, total: int | None = None) -> Copies:
        """Of one block.

        Args:
            block: (b, d) rows; those without any value are no copies of each other.
            total: how many rows there are in all, where that is known.
        """
        rows = len(block)
        if len(columns_with_gaps(block)) == block.shape[1]:
            block = block[~np.isnan(block).all(axis=1)]
        hashes, first, counts = np.unique(hashes_of_numbers(block), return_index=True, return_counts=True)
        return cls._bounded(rows, likely_bound(total, MOST), hashes, counts, block[first[:_ROWS]])

    @classmethod
    def _bounded(
        cls, rows: int, bound: int, hashes: NDArray[np.uint64], counts: NDArray[np.int64], kept: Array
    ) -> Copies:
        stay = int(np.searchsorted(hashes, np.uint64(bound)))
        while stay > MOST:
            bound //= 2
            stay = int(np.searchsorted(hashes, np.uint64(bound)))
        return cls(rows, bound, hashes[:stay], counts[:stay], kept[: min(stay, _ROWS)])

    def __add__(self, other: Copies) -> Copies:
        together = np.concatenate([self.hashes, other.hashes])
        hashes, first, place = np.unique(together, return_index=True, return_inverse=True)
        counts = np.bincount(place, np.concatenate([self.counts, other.counts])).astype(np.int64)
        # the first rows of both hold those of the first hashes together
        held = np.concatenate([np.arange(len(self.kept)), len(self.hashes) + np.arange(len(other.kept))])
        place_of = np.full(len(together), -1)
        place_of[held] = np.arange(len(held))
        kept = np.concatenate([self.kept, other.kept])[place_of[first[:_ROWS]]]
        return self._bounded(self.rows + other.rows, min(self.bound, other.bound), hashes, counts, kept)

    def notes(self) -> list[str]:
        """Whether many rows are copies, beyond what few different values make by themselves."""
        drawn, different = int(self.counts.sum()), len(self.hashes)
        if self.kept.shape[1] < 2 or drawn == 0 or 10 * (drawn - different) < drawn:
            return []
        # rows coincide by chance where each column has few values; copies have one column that tells them all apart
        if max(len(np.unique(x)) for x in self.kept.T[:200]) < 0.9 * len(self.kept):
            return []
        copies = f"{drawn - different:,}" if self.bound == 2**63 else f"About {1.0 - different / drawn:.0%}"
        return [
            f"{copies} of {self.rows:,} rows are copies of others: copies are not independent, and what is called "
            "supported here may be chance."
        ]
