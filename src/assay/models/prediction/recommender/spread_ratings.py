"""Ratings that workers keep: twice, by user and by item, so that each row of either side can be solved where it lies.

Names come here, cells do not. Cells given twice meet on the worker that keeps their row, and are merged there as they
would be here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.data.partitions import numbered_blocks
from assay.data.source import Source
from assay.engine.current import map_reduce, regrouped
from assay.errors import DataError
from assay.summary.numbering import Numbering, joined, told_apart
from assay.summary.ratings.ratings import Ratings, merged_cells, repeated_note, said_of, size_note
from assay.summary.ratings.ratings_columns import RatingRoles, Repeated, names_in, order_of, values_in

Change = Callable[[Array], Array]

_BLOCK, _BLOCKS = 2**17, 64  # ratings kept together at least, and blocks of them at most


@dataclass(frozen=True, slots=True, eq=False)
class RatedRows:
    """Ratings of consecutive users, or of items.

    Attributes:
        first: number of the first.
        starts: (k + 1,) where the entries of each begin.
        index: (m,) the other side of each entry, ascending within a row.
        value: (m,) ratings.
        rated: (k,) entries of each row, those left out included.
        again: how many were merged into another.
    """

    first: int
    starts: Whole
    index: NDArray[np.int32]
    value: Array
    rated: Whole
    again: int

    @property
    def rows(self) -> slice:
        """Which rows of all these are."""
        return slice(self.first, self.first + len(self.starts) - 1)

    @property
    def own(self) -> Whole:
        """(m,) the row of each entry."""
        return np.repeat(np.arange(self.rows.start, self.rows.stop), np.diff(self.starts))


@dataclass(frozen=True, slots=True, eq=False)
class SpreadRatings:
    """Ratings of items by users, kept by workers.

    Attributes:
        named: names and notes, without cells.
        by_user: blocks of `RatedRows` in order, in parts.
        by_item: the same ratings by item.
        per_user, per_item: (n,) and (d,) how many each has.
        rated_per_item: (d,) the same with those left out.
        change: what is done to values before they are used.
    """

    named: Ratings
    by_user: Any
    by_item: Any
    per_user: Whole
    per_item: Whole
    rated_per_item: Whole
    change: Change | None = None

    def __len__(self) -> int:
        return int(self.per_user.sum())

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return self.named.n_users

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self.named.n_items

    def changed(self, change: Change) -> SpreadRatings:
        """The same with other values.

        Args:
            change: from ratings to what they become; from the ratings as they were read, whatever was changed before.
        """
        return replace(self, change=change)

    def total(self, of: Callable[[RatedRows, Array], Array]) -> Array:
        """The sum over all ratings of something.

        Args:
            of: from rows of users and their values to some numbers.
        """
        change = self.change

        def part(rows: RatedRows) -> Array:
            return of(rows, rows.value if change is None else change(rows.value))

        return np.asarray(map_reduce(self.by_user, part, np.add))

    def extremes(self) -> tuple[float, float]:
        """The least and the largest rating, as read."""

        def part(rows: RatedRows) -> tuple[float, float]:
            return float(rows.value.min(initial=np.inf)), float(rows.value.max(initial=-np.inf))

        return map_reduce(self.by_user, part, lambda a, b: (min(a[0], b[0]), max(a[1], b[1])))


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    users: pa.Array
    items: pa.Array
    rows: int

    def __add__(self, other: _Told) -> _Told:
        return _Told(joined(self.users, other.users), joined(self.items, other.items), self.rows + other.rows)


def spread_ratings(table: Source, roles: RatingRoles, repeated: Repeated | None, *, done: bool) -> SpreadRatings:
    """Ratings of a table, kept by the workers of the engine in use, who read it three times.

    Args:
        table: a row for each rating.
        roles: of its columns.
        repeated: what counts where a user rated an item twice; as in `Ratings.of`.
        done: whether values are counts of something done: none may be negative, and those of 0 are left out.
    """
    how = repeated or ("sum" if roles.counts else "mean")

    def look(block: tuple[int, pa.RecordBatch]) -> _Told:
        users, items, value = _read(table, roles, block)
        if done and (value < 0.0).any():
            at = int(np.flatnonzero(value < 0.0)[0])
            raise DataError(
                f"{table.name}, {table.place_of(block[0] + at)}: the count is {value[at]:g}, but counts are not "
                "negative; feedback='explicit' takes any ratings"
            )
        return _Told(pc.unique(users), pc.unique(items), len(value))

    nothing = pa.array([], pa.int64())
    told = map_reduce(numbered_blocks(table), look, _Told.__add__, empty=_Told(nothing, nothing, 0))
    if not told.rows:
        raise DataError(f"{table.name} holds no ratings; give a row for each")
    users, items = (Numbering.of(names.take(pa.array(order_of(names)))) for names in (told.users, told.items))

    def cells(block: tuple[int, pa.RecordBatch]) -> tuple[Whole, Whole, Array]:
        whom, what, value = _read(table, roles, block)
        return users.numbers(whom), items.numbers(what), value

    blocks = numbered_blocks(table).map(cells)
    by_user, by_item = (_kept(blocks, side, len(who), told.rows, how, done) for side, who in enumerate((users, items)))
    per_user, _, again = _counted(by_user)
    per_item, rated, _ = _counted(by_item)
    notes = [size_note(told.rows - again, len(users), len(items)), said_of(roles)]
    notes += [problem.sentence() for problem in table.problems]
    notes += [repeated_note(again, how)] if again else []
    named = Ratings(
        tuple(users.names.cast(pa.string()).to_pylist()),
        tuple(items.names.cast(pa.string()).to_pylist()),
        np.zeros(len(users) + 1, np.int64),
        np.empty(0, np.int32),
        np.empty(0),
        columns=(roles.user, roles.item, roles.rating),
        counts=roles.counts,
        notes=tuple(notes),
    )
    return SpreadRatings(named, by_user, by_item, per_user, per_item, rated)


def _kept(blocks: Any, side: int, n: int, count: int, how: Repeated, done: bool) -> Any:
    """Ratings sent to those who keep the rows of a side: 0 users, 1 items."""
    many = int(min(max(1, -(-count // _BLOCK)), _BLOCKS, n))
    cuts = n * np.arange(many + 1) // many

    def split(block: tuple[Whole, Whole, Array]) -> list[tuple[Any, ...]]:
        to = np.searchsorted(cuts, block[side], side="right") - 1
        order = np.argsort(to, kind="stable")
        at = np.searchsorted(to[order], np.arange(many + 1))
        parts = (block[side][order].astype(np.int32), block[1 - side][order].astype(np.int32), block[2][order])
        return [(cuts[b], cuts[b + 1], *(part[at[b] : at[b + 1]] for part in parts)) for b in range(many)]

    def join(pieces: list[tuple[Any, ...]]) -> RatedRows:
        lo, hi = int(pieces[0][0]), int(pieces[0][1])
        own, other, value = (np.concatenate([piece[k] for piece in pieces]) for k in (2, 3, 4))
        own, other, value, _, again = merged_cells(own.astype(np.int64) - lo, other.astype(np.int64), value, None, how)
        rated = np.bincount(own, minlength=hi - lo)
        if done:
            own, other, value = own[value > 0.0], other[value > 0.0], value[value > 0.0]
        starts = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=hi - lo))]).astype(np.int64)
        return RatedRows(lo, starts, other.astype(np.int32), value, rated.astype(np.int64), again)

    return regrouped(blocks, split, join, many)


def _counted(side: Any) -> tuple[Whole, Whole, int]:
    """Entries of each row, the same with those left out, and how many were merged."""

    def look(part: RatedRows) -> tuple[list[Whole], list[Whole], int]:
        return [np.diff(part.starts)], [part.rated], part.again

    kept, rated, again = map_reduce(side, look, lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]))
    return np.concatenate(kept), np.concatenate(rated), again


def _read(table: Source, roles: RatingRoles, block: tuple[int, pa.RecordBatch]) -> tuple[pa.Array, pa.Array, Array]:
    row, batch = block
    users, items = (told_apart(names_in(table, batch.column(name), name, row)) for name in (roles.user, roles.item))
    if roles.rating is None:
        return users, items, np.ones(batch.num_rows)
    return users, items, values_in(table, batch.column(roles.rating), roles.rating, row)
