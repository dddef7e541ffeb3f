"""What a table with gaps holds: how much of each column, about where and how wide, and which values miss together.

    count_j, mean_j, norm_j = sqrt(sum (x_ij - mean_j)^2), low_j, high_j   over the observed values of column j

One pass, mergeable. Norms merge by hypot, so that their squares may leave the range of floating point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.data.blocks import FloatBlocks, float_blocks
from assay.engine.current import map_reduce
from assay.engine.engine import Parted
from assay.errors import DataError
from assay.linalg.normal.completion import patterns_of

# Patterns counted by name at most, so that memory stays bounded when every row has its own.
MOST_PATTERNS = 1 << 16
# Row numbers kept of rows without any value.
MOST_NAMED = 100


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """The observed part of a table; `a + b` is that of both, b's rows after a's.

    Attributes:
        rows: rows read.
        count: (d,) observed values.
        mean: (d,) of the observed values; 0 where there are none.
        norm: (d,) root of the sum of their squared deviations from the mean.
        low, high: (d,) smallest and largest; NaN where there are none.
        patterns: rows of each pattern of gaps, named by its packed bits, the first 65,536 patterns met.
        wholly_missing: rows without any value.
        wholly_missing_rows: numbers (from 0) of the first 100 of these.
        columns: names, or None.

    >>> seen = Observed.of([[1.0, np.nan], [3.0, np.nan]])
    >>> seen.count, seen.mean, seen.missing
    (array([2, 0]), array([2., 0.]), array([0, 2]))
    """

    rows: int
    count: Whole
    mean: Array
    norm: Array
    low: Array
    high: Array
    patterns: dict[bytes, int]
    wholly_missing: int
    wholly_missing_rows: tuple[int, ...]
    columns: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Observed:
        """Look at rows in one pass.

        Args:
            data: (n, d) array, data frame, `Source`, or an iterable of (b, d) blocks; NaN where missing.
            columns: names; taken from the data where they have some.
            threads: workers; the result does not depend on it.
            progress: called with the number of blocks done.
        """
        blocks: Any = data if isinstance(data, (FloatBlocks, Parted)) else float_blocks(data)
        names = tuple(columns) if columns is not None else blocks.columns
        return map_reduce(
            blocks, lambda part: _of_block(part[1], part[0], names), cls.__add__, threads=threads, progress=progress
        )

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.count)

    @property
    def missing(self) -> Whole:
        """(d,) missing values of each column."""
        return self.rows - self.count

    @property
    def spread(self) -> Array:
        """(d,) standard deviation of the observed values, divisor n; 0 where there are none."""
        return self.norm / np.sqrt(np.maximum(self.count, 1))

    def label(self, column: int) -> str:
        """How a message calls a column."""
        return f"column {column}" if self.columns is None else f"column {self.columns[column]!r}"

    def refuse_empty(self) -> None:
        """Raise for a column without any value."""
        empty = np.flatnonzero(self.count == 0)
        if empty.size:
            raise DataError(
                f"{self.label(int(empty[0]))} has no value in any of the {self.rows} rows, so nothing can be learned "
                "about it: leave it out"
            )

    def refuse_extreme(self, least: float = 1e-300) -> None:
        """Raise for a column whose squared deviations leave the range of floating point numbers.

        Args:
            least: they must sum to more than this: shares of variances, and their inverses, have to be numbers too.
        """
        with np.errstate(over="ignore", under="ignore"):
            square = self.norm**2
        for column in np.flatnonzero((self.low < self.high) & ~((square > least) & (square < np.inf))):
            j = int(column)
            raise DataError(
                f"{self.label(j)} runs from {self.low[j]:g} to {self.high[j]:g}: the squares of its deviations leave "
                "the range of floating point numbers; rescale the column"
            )

    def __add__(self, other: Observed) -> Observed:
        if self.d != other.d:
            raise DataError(f"blocks of {self.d} and of {other.d} columns cannot be combined")
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        low, high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        # halves first: the difference of two means near 1e308 would overflow
        half = 0.5 * other.mean - 0.5 * self.mean
        mean = np.where(self.count == 0, other.mean, self.mean + 2.0 * (half * share))
        between = 2.0 * np.abs(half) * np.sqrt(self.count * share)
        named = (row + self.rows for row in other.wholly_missing_rows)
        return Observed(
            self.rows + other.rows,
            count,
            # clipped into the range, so that a constant column stays exactly at its value
            np.where(count > 0, np.clip(mean, low, high), 0.0),
            np.hypot(np.hypot(self.norm, other.norm), np.where(low < high, between, 0.0)),
            low,
            high,
            _merged(self.patterns, other.patterns),
            self.wholly_missing + other.wholly_missing,
            (*self.wholly_missing_rows, *named)[:MOST_NAMED],
            self.columns or other.columns,
        )


def _merged(a: dict[bytes, int], b: dict[bytes, int]) -> dict[bytes, int]:
    merged = dict(a)
    for pattern, rows in b.items():
        if pattern in merged:
            merged[pattern] += rows
        elif len(merged) < MOST_PATTERNS:
            merged[pattern] = rows
    return merged


def _of_block(rows: NDArray[Any], first_row: int, names: tuple[str, ...] | None) -> Observed:
    missing = np.isnan(rows)
    count = len(rows) - missing.sum(axis=0)
    low, high = (bound.reduce(rows, axis=0, initial=np.nan).astype(np.float64) for bound in (np.fmin, np.fmax))
    if np.isinf(low).any() or np.isinf(high).any():
        refuse_infinite(rows, first_row, names)
    size = np.fmax(np.abs(low), np.abs(high))
    # powers of two change no digit, and keep sums and squares of extreme columns in range
    extreme = (size > 1e100) | (size < 1e-100)
    unit = np.where(extreme & (size > 0.0), np.ldexp(1.0, np.clip(np.frexp(size)[1], -1000, 1000)), 1.0)
    values = np.where(missing, 0.0, rows) / unit if extreme.any() else np.where(missing, 0.0, rows)
    present = np.maximum(count, 1)
    near = np.clip(
        values.sum(axis=0, dtype=np.float64) / present, np.nan_to_num(low) / unit, np.nan_to_num(high) / unit
    )
    deviations = np.where(missing, 0.0, values - near)
    offset = deviations.sum(axis=0) / present
    square = np.einsum("ij,ij->j", deviations, deviations) - count * offset**2
    empty = np.flatnonzero(missing.all(axis=1))
    patterns = patterns_of(missing)
    keys = map(bytes, np.packbits(patterns.masks, axis=1))
    return Observed(
        len(rows),
        count,
        np.where(count > 0, np.clip((near + offset) * unit, low, high), 0.0),
        np.sqrt(np.maximum(square, 0.0)) * unit,
        low,
        high,
        dict(zip(keys, patterns.counts.tolist(), strict=True)),
        len(empty),
        tuple(int(row) for row in empty[:MOST_NAMED]),
        names,
    )


def refuse_infinite(rows: NDArray[Any], first_row: int = 0, names: Sequence[str] | None = None) -> None:
    """Raise for the first infinite value, and say where it is."""
    bad = np.argwhere(np.isinf(rows))
    if not len(bad):
        return
    i, j = map(int, bad[0])
    where = f"column {j}" if names is None else f"column {names[j]!r}"
    raise DataError(
        f"row {first_row + i}, {where} is infinite: only finite numbers and NaN (missing) are known; "
        "make it NaN if it stands for a missing value"
    )
