"""Rows that are the same as others, counted in the pass that reads them, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.asking.card import Duplicates
from assay.data.field import Field
from assay.data.row_hashes import hashes_of_batch, likely_bound

Hashes: TypeAlias = NDArray[np.uint64]

MOST = 1 << 21  # hashes kept: up to as many rows the count is exact


@dataclass(frozen=True, slots=True, eq=False)
class HashedRows:
    """The hashes of rows, all of them or those below a bound.

    Rows are drawn by what they hold, not by where they stand, so that copies are drawn together or not at all.

    Attributes:
        rows: how many were met that hold any value.
        bound: hashes below it are kept.
        kept: (m,) hashes.

    >>> rows = HashedRows.of(np.array([7, 7, 9], dtype=np.uint64)) + HashedRows.of(np.array([9], dtype=np.uint64))
    >>> rows.copies, rows.exact
    (2, True)
    """

    rows: int
    bound: int
    kept: Hashes

    @classmethod
    def of(cls, hashes: Hashes, bound: int = 2**63) -> HashedRows:
        """Of one block.

        Args:
            hashes: (b,) below 2^63.
            bound: those below it are kept.
        """
        return cls(len(hashes), bound, hashes if bound == 2**63 else hashes[hashes < bound])

    def __add__(self, other: HashedRows) -> HashedRows:
        bound = min(self.bound, other.bound)
        kept = [part.kept if part.bound == bound else part.kept[part.kept < bound] for part in (self, other)]
        every = np.concatenate(kept)
        # copies of one row alone may be more than fit: then the bound has nothing left to part
        while len(every) > MOST and bound > 1:
            bound //= 2
            every = every[every < bound]
        return HashedRows(self.rows + other.rows, bound, every)

    @property
    def exact(self) -> bool:
        """Whether every row was kept."""
        return self.bound == 2**63

    @property
    def copies(self) -> int:
        """How many rows are the same as an earlier one; of the rows kept, taken for all."""
        if not len(self.kept):
            return 0
        copies = len(self.kept) - len(np.unique(self.kept))
        return copies if self.exact else round(copies / len(self.kept) * self.rows)


@dataclass(frozen=True, slots=True)
class RowsSeen:
    """Rows by all their columns, and by all but those that name them.

    Attributes:
        every: by all columns.
        unnamed: without identifiers; None where there are none, or nothing else.
        names: the identifiers.
    """

    every: HashedRows
    unnamed: HashedRows | None
    names: tuple[str, ...]

    @classmethod
    def of(cls, batch: pa.RecordBatch, fields: Sequence[Field], rows: int | None = None) -> RowsSeen:
        """Of one block.

        Args:
            batch: the block.
            fields: its columns.
            rows: how many there are in all, where that is known.
        """
        bound = likely_bound(rows, MOST)
        names = tuple(known.name for known in fields if known.kind == "identifier")
        others = [known.name for known in fields if known.name not in names]
        every = _of_columns(batch, [known.name for known in fields], bound)
        return cls(every, _of_columns(batch, others, bound) if names and others else None, names)

    def __add__(self, other: RowsSeen) -> RowsSeen:
        unnamed = None
        if self.unnamed is not None and other.unnamed is not None:
            unnamed = self.unnamed + other.unnamed
        return RowsSeen(self.every + other.every, unnamed, self.names)

    def counted(self) -> Duplicates:
        """As the card has it."""
        unnamed = None if self.unnamed is None else self.unnamed.copies
        return Duplicates(self.every.copies, unnamed, self.names, self.every.exact)


def _of_columns(batch: pa.RecordBatch, columns: Sequence[str], bound: int) -> HashedRows:
    """Rows that hold a value in some columns: those that hold none are no copies of each other."""
    lacking = np.full(batch.num_rows, bool(columns))
    for name in columns:
        if not lacking.any():
            break
        column = batch.column(batch.schema.get_field_index(name))
        lacking &= column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    hashes = hashes_of_batch(batch, columns)
    return HashedRows.of(hashes[~lacking], bound)
