"""The table that questions are asked of: complete rows as numbers, and a look at the data as they came."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.asking.card import DataCard
from assay.asking.row_names import RowNames
from assay.data.partitions import Blocks, Here
from assay.evidence.design import Design, Independent
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.sharing.release import Noise

NumberedBlocks: TypeAlias = Blocks[tuple[int, Array]] | Here[tuple[int, Array]]
Texts: TypeAlias = Callable[[], Iterator[str]]

ROWS_SHOWN = 2000
_BLOCK = 1 << 21  # numbers of a block of rows that are held: 16 MB


@dataclass(frozen=True, slots=True, eq=False)
class FirstLook:
    """Rows drawn fairly, one number a cell, for pictures of the data as they came.

    Attributes:
        columns, kinds, units: of the D columns, in the order of the data.
        rows: (m,) numbers of the rows drawn, from 1, ascending.
        values: (m, D) NaN where missing. Indices and counts as read; booleans 0 and 1; categories as the number of
            their level, the most frequent first (ordered ones from low to high); times in days since 1970; texts and
            identifiers by their length in characters.
        centre, scale: (D,) mean and standard deviation of the whole data, scale 0 for a constant column.
        levels: by column, the names of the levels that the numbers stand for.
        log: columns that the encoding takes the logarithm of.
        total: how many rows there are.
        among_used: (m,) numbers of the rows among those in use, from 1, as views of rows have them, 0 for a row that is
            not; None where that is not known.
        texts: by column of texts or identifiers, the text of each row drawn, shortened; for a page that is asked to
            show rows, and no other.
    """

    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    units: tuple[str | None, ...]
    rows: Indices
    values: Array
    centre: Array
    scale: Array
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    log: frozenset[str] = frozenset()
    total: int = 0
    among_used: Indices | None = None
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class KnownGroups:
    """Groups of the rows that a summary tells apart.

    Attributes:
        column: that names them.
        folds: for each fold, moments of each group in it.
    """

    column: str
    folds: tuple[GroupedMoments, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Complete rows of the columns in use, as numbers.

    Attributes:
        card: what was read and used.
        look: the first look at the data as they came.
        columns: names of the D numbers of each row, in the user's words.
        groups: (D,) numbers that came from one column of the data have one label.
        measured: (D,) whether a number is a measurement or a count: neither one level of a category nor part of a
            text or a date, of which distances mean little.
        origins: name and kind of the column of the data behind each label in `groups`.
        rows: (n, D), or None where they do not fit in memory.
        blocks: (b, D) blocks of the same rows, each with the number of its first row, for any number of passes; what
            an engine maps.
        levels: by column of the data, what its numbers stand for: the level of each, or where there is a single number
            the levels that its values 0 and 1 (or 0, 1, ...) are.
        sample: (m, D) rows drawn fairly, all of them where they are few: those that are grouped and drawn.
        numbers: (m,) their numbers, from 0, ascending.
        folds: moments of each fold of the rows, where they were gathered.
        depends: how rows depend on each other; None where they do not, as far as can be seen.
        in_use: (n,) numbers of the rows among all of the data, from 0; None where all are in use.
        beside: by column of the data, one number a row of what its numbers do not tell: the level of a category some
            of whose levels share a number (-1 where missing), the length of a text in characters.
        summarised: whether there are no rows, only the moments in `folds`, in one part or several.
        gaps: (n, D) of the rows at hand, where a value is missing and another of its column stands in; None where none
            is missing.
        gapped: the same blocks with NaN where a value is missing, for rows that do not fit in memory; None where none
            is missing.
        sparse: (D,) numbers of columns that lack more than half of their values; None where no column does.
        texts: by column of text, or by the name of a folder of texts, what starts an iteration over the texts of the
            rows in use as they came, empty where missing; to be counted, never to be shown.
        known: groups that a summary has moments of; None where it has not.
        noise: that was added to a summary for privacy; None where none was.
        names: what the rows in use are called; None where there are no rows.
    """

    card: DataCard
    look: FirstLook
    columns: tuple[str, ...]
    groups: Indices
    measured: NDArray[np.bool_]
    origins: Mapping[int, tuple[str, str]]
    rows: Array | None
    blocks: NumberedBlocks
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sample: Array = field(default_factory=lambda: np.empty((0, 0)))
    numbers: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    folds: GroupedMoments | None = None
    depends: Design | None = None
    in_use: Indices | None = None
    beside: Mapping[str, Array] = field(default_factory=dict)
    summarised: bool = False
    gaps: NDArray[np.bool_] | None = None
    gapped: NumberedBlocks | None = None
    sparse: NDArray[np.bool_] | None = None
    texts: Mapping[str, Texts] = field(default_factory=dict)
    known: KnownGroups | None = None
    noise: Noise | None = None
    names: RowNames | None = None

    @property
    def design(self) -> Design:
        """How the rows at hand depend on each other."""
        if self.depends is None:
            return Independent(len(self.at_hand))
        return self.depends.among(self.numbers) if self.rows is None else self.depends

    def design_of(self, rows: Indices) -> Design:
        """How some rows of the data depend on each other; a row that is not in use stands where the next one does.

        Args:
            rows: their numbers among all of the data, from 0, ascending.
        """
        if self.depends is None or self.rows is None:
            return Independent(len(rows), limit="" if self.depends is None else self.depends.limit)
        place = rows if self.in_use is None else np.searchsorted(self.in_use, rows)
        return self.depends.among(np.minimum(place, self.depends.n - 1))

    @property
    def sample_design(self) -> Design:
        """How the rows of the sample depend on each other."""
        return Independent(len(self.sample)) if self.depends is None else self.depends.among(self.numbers)

    @property
    def at_hand(self) -> Array:
        """(n, D) all rows where they fit in memory, the sample otherwise."""
        return self.sample if self.rows is None else self.rows

    def present(self, numbers: Indices | slice = slice(None)) -> Array:
        """(m, D) some of the rows at hand, or all, NaN where a value is missing.

        Args:
            numbers: which rows, from 0.
        """
        rows = self.at_hand[numbers]
        return rows if self.gaps is None else np.where(self.gaps[numbers], np.nan, rows)

    def with_means(self, numbers: Indices | slice = slice(None)) -> Array:
        """(m, D) some of the rows at hand, or all, with means in the place of missing values.

        They lose less than values of other rows do, and are fair where chance moves a column that has no gaps, such as
        an outcome, and leaves all others as they are.

        Args:
            numbers: which rows, from 0.
        """
        if self.gaps is None:
            return self.at_hand[numbers]
        rows, gaps = self.at_hand[numbers].copy(), self.gaps[numbers]
        for j in np.flatnonzero(self.gaps.any(axis=0)):
            there = self.at_hand[~self.gaps[:, j], j]
            rows[gaps[:, j], j] = there.mean() if len(there) else 0.0
        return rows

    @property
    def as_found(self) -> NumberedBlocks:
        """Blocks of all rows, NaN where a value is missing."""
        if self.rows is not None and self.gaps is not None:
            gaps = self.gaps
            return self.blocks.map(lambda part: (part[0], _with_gaps(part, gaps)))
        return self.gapped or self.blocks

    def of_columns(self, names: frozenset[str]) -> NDArray[np.bool_]:
        """(D,) which numbers were made from these columns of the data."""
        return np.array([self.origins[int(label)][0] in names for label in self.groups], dtype=bool)

    def among(self, kept: NDArray[np.bool_]) -> Table:
        """The same rows, by some of their numbers; without the moments of folds."""
        rows = None if self.rows is None else self.rows[:, kept]
        groups = self.groups[kept]
        return replace(
            self,
            columns=tuple(self.columns[j] for j in np.flatnonzero(kept)),
            groups=groups,
            measured=self.measured[kept],
            origins={label: origin for label, origin in self.origins.items() if label in groups},
            rows=rows,
            blocks=picked(self.blocks, np.flatnonzero(kept)) if rows is None else held_blocks(rows),
            sample=self.sample[:, kept] if self.sample.size else self.sample,
            folds=None,
            gaps=None if self.gaps is None else self.gaps[:, kept],
            gapped=None if self.gapped is None else picked(self.gapped, np.flatnonzero(kept)),
            sparse=None if self.sparse is None else self.sparse[kept],
            known=None if self.known is None else _columns_of(self.known, kept),
            noise=None if self.noise is None else self.noise.among(kept),
        )


def _columns_of(known: KnownGroups, kept: NDArray[np.bool_]) -> KnownGroups:
    places = np.flatnonzero(kept)
    return KnownGroups(known.column, tuple(fold.map(lambda m: m[places]) for fold in known.folds))


def held_blocks(rows: Array) -> Here[tuple[int, Array]]:
    """Rows that are held as numbered blocks of them, so that what a pass makes of a block stays small.

    Args:
        rows: (n, D).
    """
    step = max(_BLOCK // max(rows.shape[1], 1), 1)
    return Here([(start, rows[start : start + step]) for start in range(0, max(len(rows), 1), step)])


def _with_gaps(part: tuple[int, Array], gaps: NDArray[np.bool_]) -> Array:
    first, block = part
    return np.where(gaps[first : first + len(block)], np.nan, block)


def picked(blocks: NumberedBlocks, used: Indices) -> NumberedBlocks:
    """Some columns of blocks.

    Args:
        blocks: (b, D), numbered.
        used: numbers of the columns.
    """
    return blocks.map(lambda part: part if len(used) == part[1].shape[1] else (part[0], part[1][:, used]))


def rows_shown(n: int, seed: int, look: FirstLook | None = None) -> Indices:
    """Which rows are drawn: all, or a fair sample of 2,000, those of the first look before others.

    Args:
        n: how many there are.
        seed: of the draw.
        look: rows that were drawn fairly before, so that what is said of rows can be told of their columns too.

    >>> rows_shown(3, 0), len(rows_shown(10**6, 0))
    (array([0, 1, 2]), 2000)
    """
    if n <= ROWS_SHOWN:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    if look is None or look.among_used is None:
        return np.sort(rng.choice(n, ROWS_SHOWN, replace=False))
    first = look.among_used[look.among_used > 0][:ROWS_SHOWN] - 1
    rest = np.setdiff1d(rng.choice(n, ROWS_SHOWN, replace=False), first)
    more = rng.permutation(rest)[: ROWS_SHOWN - len(first)]  # a fair sample of the others
    return np.sort(np.concatenate([first, more]))
