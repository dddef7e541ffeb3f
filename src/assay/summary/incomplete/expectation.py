"""The expectation step of EM for a normal law with missing values, on pieces of a table.

For standardised rows z with the current mean mu and covariance S a piece gives, with e the deviations completed by
their conditional mean and C what that leaves open (linalg.completion):

    total  sum e (d,)          scatter  sum e e^T + C (d, d)          sum of log |S_oo|

A pattern of gaps that many rows share is held as its moments, so that its rows are read once; other rows are
completed one by one. Both give the same sums about the same mean, which merge by adding.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Mask
from assay.data.blocks import FloatBlocks
from assay.data.partitions import Blocks, Here
from assay.engine.current import is_elsewhere, map_reduce, scattered
from assay.errors import DataError
from assay.linalg.normal.completion import Law, Patterns, completed, patterns_of
from assay.summary.incomplete.missing_patterns import Observed

# Numbers that may be held in memory between passes, for the moments of patterns and for rows: 128 and 256 MB.
_HELD_MOMENTS = 1 << 24
_HELD_ROWS = 1 << 25


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Sums over rows about the mean they were completed with.

    Attributes:
        rows: how many.
        total: (d,) sum of completed deviations.
        scatter: (d, d) sum of their expected products.
        log_determinant: sum over the rows of log |S_oo|.
    """

    rows: int
    total: Array
    scatter: Array
    log_determinant: float

    def __add__(self, other: Expected) -> Expected:
        return Expected(
            self.rows + other.rows,
            self.total + other.total,
            self.scatter + other.scatter,
            self.log_determinant + other.log_determinant,
        )


class PatternPiece(Protocol):
    """Some rows, ready for any number of expectation steps."""

    def expected(self, mean: Array, law: Law) -> Expected:
        """The sums of these rows under a normal law."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Columns that vary, in units of their observed standard deviation.

    Attributes:
        active: (k,) numbers of these columns.
        centre, scale: (k,) observed means and standard deviations.
    """

    active: NDArray[np.intp]
    centre: Array
    scale: Array

    @classmethod
    def of(cls, seen: Observed) -> Frame:
        """The frame of a table: constant columns stay out, since nothing can be learned from them."""
        active = np.flatnonzero((seen.low < seen.high) & (seen.norm > 0.0))
        return cls(active, seen.mean[active], seen.spread[active])

    def standardised(self, block: NDArray[Any]) -> Array:
        """(b, k) rows of a block that have at least one value in the frame; NaN where missing."""
        rows = block if len(self.active) == block.shape[1] else block[:, self.active]
        z = np.ascontiguousarray((rows - self.centre) / self.scale)
        return z[~np.isnan(z).all(axis=1)]

    def patterns(self, seen: Observed) -> dict[bytes, int]:
        """Rows of each pattern of gaps among the columns of the frame, wholly missing ones left out."""
        counts: dict[bytes, int] = {}
        for key, rows in seen.patterns.items():
            mask = np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=seen.d)[self.active]
            if not mask.all():
                inner = np.packbits(mask).tobytes()
                counts[inner] = counts.get(inner, 0) + rows
        return counts


@dataclass(frozen=True, slots=True, eq=False)
class PatternMoments:
    """All rows with the same gaps, as the count, mean (o,) and scatter (o, o) of their observed columns."""

    mask: Mask
    count: int
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, mask: Mask, values: Array) -> PatternMoments:
        """Summarise (b, o) observed values."""
        mean = values.mean(axis=0)
        centred = values - mean
        return cls(mask, len(values), mean, centred.T @ centred)

    def __add__(self, other: PatternMoments) -> PatternMoments:
        count = self.count + other.count
        gap = other.mean - self.mean
        between = self.count * other.count / count * np.multiply.outer(gap, gap)
        mean = self.mean + gap * (other.count / count)
        return PatternMoments(self.mask, count, mean, self.scatter + other.scatter + between)

    def expected(self, mean: Array, law: Law) -> Expected:
        """As `PatternPiece`: with e_m = K e_o the completed products are G, K G and K G K^T + n C."""
        m, o = np.flatnonzero(self.mask), np.flatnonzero(~self.mask)
        # the rows of the identity, completed, are the regression of all columns on each observed one
        basis = np.zeros((len(o), len(mean)))
        basis[np.arange(len(o)), o] = 1.0
        same = Patterns(self.mask[None], np.array([len(o)]), np.arange(len(o)))
        done = completed(basis, same, law)
        K, share = done.deviations[:, m], self.count / len(o)
        offset = self.mean - mean[o]
        G = self.scatter + self.count * np.multiply.outer(offset, offset)
        total, scatter = np.empty_like(mean), share * done.left_over
        total[o], total[m] = self.count * offset, self.count * (offset @ K)
        across = G @ K
        scatter[np.ix_(o, o)] = G
        scatter[np.ix_(o, m)] = across
        scatter[np.ix_(m, o)] = across.T
        scatter[np.ix_(m, m)] += K.T @ across
        return Expected(self.count, total, scatter, share * done.log_determinant)


@dataclass(frozen=True, slots=True, eq=False)
class IncompleteRows:
    """Standardised rows (b, k), zero where missing, grouped by their gaps."""

    values: Array
    missing: Mask
    patterns: Patterns

    @classmethod
    def of(cls, z: Array) -> IncompleteRows:
        """Take (b, k) rows with NaN where missing."""
        missing = np.isnan(z)
        return cls(np.where(missing, 0.0, z), missing, patterns_of(missing))

    def expected(self, mean: Array, law: Law) -> Expected:
        """As `PatternPiece`."""
        done = completed(np.where(self.missing, 0.0, self.values - mean), self.patterns, law)
        e = done.deviations
        return Expected(len(e), e.sum(axis=0), e.T @ e + done.left_over, done.log_determinant)


@dataclass(frozen=True, slots=True, eq=False)
class GappedTable:
    """A table as pieces: moments of frequent patterns, and the other rows, held in memory or read anew in each pass.

    Attributes:
        rows: rows with at least one value in the frame.
        held: pieces in memory.
        unread: where the other rows come from, if they are too many to hold.
        frame, often: what `unread` is cut by.
        apart: the other rows in the memory of workers, where these read the table.
    """

    rows: int
    held: tuple[PatternPiece, ...]
    unread: FloatBlocks | None
    frame: Frame
    often: Set[bytes]
    apart: Any = None

    @classmethod
    def of(cls, blocks: FloatBlocks, seen: Observed, frame: Frame, threads: int | None) -> GappedTable:
        """Read the table once more and keep what fits.

        Args:
            blocks: the rows; they can be read again.
            seen: what a first pass saw.
            frame: how to standardise.
            threads: workers.
        """
        often, rare = _frequent(frame.patterns(seen), seen, len(frame.active))
        apart = is_elsewhere(blocks)
        hold = apart or rare * len(frame.active) <= _HELD_ROWS
        cutter, pieces = _Cutter(frame, often, hold), None
        if apart:  # workers cut their blocks once, and keep what no moments stand for
            pieces = scattered(blocks.map(cutter) if isinstance(blocks, Blocks) else Here(blocks, cutter))
            whole = map_reduce(pieces, lambda piece: replace(piece, rare=()), _Cut.__add__)
        else:
            whole = map_reduce(blocks, cutter, _Cut.__add__, threads=threads)
        if whole.read != seen.rows:
            raise _changed(seen.rows, whole.read)
        moments = (whole.moments[key] for key in sorted(whole.moments))
        held = (*moments, *whole.rare)
        return cls(whole.used, held, None if hold else blocks, frame, often, pieces)

    def expected(self, mean: Array, law: Law, threads: int | None) -> Expected:
        """The sums of the whole table under a normal law; pieces are merged in their order."""
        none = _nothing(len(mean))
        whole = map_reduce(
            self._pieces(), lambda piece: piece.expected(mean, law), Expected.__add__, threads=threads, empty=none
        )
        if self.apart is not None:
            whole += map_reduce(self.apart, lambda piece: piece.expected(mean, law), Expected.__add__, empty=none)
        if whole.rows != self.rows:
            raise _changed(self.rows, whole.rows)
        return whole

    def _pieces(self) -> Iterator[PatternPiece]:
        yield from self.held
        for _, block in self.unread or ():
            yield _Unread(block, self.frame, self.often)


@dataclass(frozen=True, slots=True, eq=False)
class _Unread:
    block: NDArray[Any]
    frame: Frame
    often: Set[bytes]

    def expected(self, mean: Array, law: Law) -> Expected:
        return _cut(self.block, self.frame, self.often, hold=True, summarise=False).expected(mean, law)


@dataclass(frozen=True, slots=True, eq=False)
class _Cut:
    """A part of the table: rows read and used, moments of frequent patterns, the other rows."""

    read: int
    used: int
    moments: dict[bytes, PatternMoments]
    rare: tuple[IncompleteRows, ...]

    def __add__(self, other: _Cut) -> _Cut:
        merged = dict(self.moments)
        for key, part in other.moments.items():
            merged[key] = merged[key] + part if key in merged else part
        return _Cut(self.read + other.read, self.used + other.used, merged, self.rare + other.rare)

    def expected(self, mean: Array, law: Law) -> Expected:
        """The sums of the rows that no moments stand for."""
        return sum((rows.expected(mean, law) for rows in self.rare), _nothing(len(mean)))


@dataclass(frozen=True, slots=True, eq=False)
class _Cutter:
    """Cuts blocks; a class, so that it can be pickled."""

    frame: Frame
    often: Set[bytes]
    hold: bool

    def __call__(self, part: tuple[int, NDArray[Any]]) -> _Cut:
        return _cut(part[1], self.frame, self.often, hold=self.hold)


def _nothing(d: int) -> Expected:
    return Expected(0, np.zeros(d), np.zeros((d, d)), 0.0)


def _cut(block: NDArray[Any], frame: Frame, often: Set[bytes], *, hold: bool, summarise: bool = True) -> _Cut:
    z = frame.standardised(block)
    moments: dict[bytes, PatternMoments] = {}
    rare = np.ones(len(z), dtype=bool)
    for mask, rows in patterns_of(np.isnan(z)).groups():
        key = np.packbits(mask).tobytes()
        if key in often:
            rare[rows] = False
            if summarise:
                moments[key] = PatternMoments.of(mask, z[np.ix_(rows, ~mask)])
    return _Cut(len(block), len(z), moments, (IncompleteRows.of(z[rare]),) if hold and rare.any() else ())


def _frequent(patterns: dict[bytes, int], seen: Observed, k: int) -> tuple[set[bytes], int]:
    """Patterns to hold as moments, and how many rows have another: those of at least k rows, as memory allows."""
    often: set[bytes] = set()
    rare = seen.rows - seen.wholly_missing
    for key, rows in sorted(patterns.items(), key=lambda item: (-item[1], item[0])):
        # the moments of complete rows never change, however few they are
        if (rows >= k or not any(key)) and (len(often) + 1) * k * k <= _HELD_MOMENTS:
            often.add(key)
            rare -= rows
    return often, rare


def _changed(before: int, now: int) -> DataError:
    return DataError(
        f"the data have {now} rows in this pass and had {before} in the one before: estimating with missing values "
        "reads them several times, so they must not change meanwhile"
    )
