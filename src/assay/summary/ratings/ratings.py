"""Who rated what, and how: the cells of a (users, items) matrix that are known. A missing cell is not a zero.

by user   starts (n + 1,), item (m,), value (m,)      row u: entries starts[u] to starts[u + 1], items ascending
by item   turned.starts (d + 1,), turned.user (m,), turned.place (m,)      place: of the entry in the order by user
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.linalg.sparse.structure import as_sparse
from assay.linalg.validate import RandomState, seed_of
from assay.summary.ratings.ratings_columns import RatingRoles, Repeated, cells_in, opened, rating_roles

_NEAR = 3  # names told that are like an unknown one


class TurnedRatings(NamedTuple):
    """The same cells, item by item.

    Attributes:
        starts: (d + 1,) where the entries of each item begin.
        user: (m,) users, ascending within an item.
        place: (m,) of each entry in the order by user.
    """

    starts: Whole
    user: NDArray[np.int32]
    place: Whole


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of items by users; make them with `of` (a table of triples) or `of_matrix`.

    Attributes:
        users: names of the n users; in order of number where all are whole numbers, else of text.
        items: names of the d items, in the same order.
        starts: (n + 1,) where the entries of each user begin.
        item: (m,) the item of each entry, ascending within a user.
        value: (m,) its rating.
        when: (m,) when it was given, as a number, or None.
        columns: how user, item and rating are called in the data; the last is None where each row counts 1.
        counts: whether values say how often something was done, rather than how much it was liked.
        notes: what was decided while reading, in sentences.

    >>> seen = Ratings.of([("Ann", "Alien", 5), ("Ann", "Brazil", 3), ("Bob", "Alien", 4)])
    >>> seen.users, seen.items, len(seen)
    (('Ann', 'Bob'), ('Alien', 'Brazil'), 3)
    >>> seen.matrix.toarray()
    array([[5., 3.],
           [4., 0.]])
    """

    users: tuple[str, ...]
    items: tuple[str, ...]
    starts: Whole
    item: NDArray[np.int32]
    value: Array
    when: Array | None = None
    columns: tuple[str, str, str | None] = ("user", "item", "rating")
    counts: bool = False
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(
        data: Any,
        user: str | None = None,
        item: str | None = None,
        rating: str | None = None,
        *,
        when: str | None = None,
        repeated: Repeated | None = None,
    ) -> Ratings:
        """From a table with a row for each rating: (user, item, rating).

        Columns are found by their usual names (user, userId, customer; item, movieId, product; rating, stars, plays;
        timestamp), in a table without them by their places. Without a column of ratings each row counts 1.

        Args:
            data: path of a file, a data frame, Arrow table, `Source`, array (m, 3) or list of (user, item, rating); a
                sparse matrix (users, items), whose stored entries are the ratings, stored zeros among them; `Ratings`.
            user: column of the users.
            item: column of the items.
            rating: column of the ratings.
            when: column of the times.
            repeated: what counts where a user rated an item twice: "mean", "sum" or "last" (in the order of the rows).
                Default: the mean of ratings, the sum of counts (no column of ratings, or one called count, plays or
                the like).
        """
        if isinstance(data, Ratings):
            return data
        if repeated not in (None, "mean", "sum", "last"):
            raise ParameterError(f'repeated is "mean", "sum" or "last"; got {repeated!r}')
        if sparse.issparse(data):
            return Ratings.of_matrix(data)
        table = opened(data)
        roles = rating_roles(table, user, item, rating, when)
        cells = cells_in(table, roles)
        if not len(cells.value):
            raise DataError(f"{table.name} holds no ratings; give a row for each")
        notes = (said_of(roles), *(problem.sentence() for problem in table.problems))
        how = repeated or ("sum" if roles.counts else "mean")
        made = _of_cells(cells.users, cells.items, cells.user, cells.item, cells.value, cells.when, how, notes)
        return replace(made, columns=(roles.user, roles.item, roles.rating), counts=roles.counts)

    @staticmethod
    def of_matrix(X: Any, users: Sequence[object] | None = None, items: Sequence[object] | None = None) -> Ratings:
        """From a matrix (n, d) of users and items.

        Args:
            X: an array in which NaN is missing, or a sparse matrix whose stored entries are the ratings: what is not
                stored is missing, a stored zero is a rating of zero. Entries stored twice are averaged.
            users: n names; numbers from 0 when not given.
            items: d names; numbers from 0 when not given.

        >>> Ratings.of_matrix([[5.0, float("nan")], [0.0, 1.0]]).value
        array([5., 0., 1.])
        """
        if sparse.issparse(X):
            M = sparse.coo_array(as_sparse(X, name="the sparse matrix of ratings"))
            row, col = (np.asarray(cells, np.int32) for cells in M.coords)
            value = np.asarray(M.data, np.float64)
            shape = M.shape
            if (bad := np.isnan(value)).any():
                at = int(np.flatnonzero(bad)[0])
                raise DataError(
                    f"the rating stored in row {row[at]}, column {col[at]} is NaN; leave what is missing out of the "
                    "sparse matrix"
                )
        else:
            dense = np.asarray(X, np.float64)
            if dense.ndim != 2:
                raise DataError(f"a matrix of ratings has two dimensions, users and items; got {dense.ndim}")
            row, col = (cells.astype(np.int32) for cells in np.nonzero(~np.isnan(dense)))
            value, shape = dense[row, col], dense.shape
        if (bad := np.isinf(value)).any():
            at = int(np.flatnonzero(bad)[0])
            raise DataError(
                f"the rating in row {row[at]}, column {col[at]} is {value[at]:g}, but ratings are finite numbers; "
                "repair it or leave it out"
            )
        named = (_named(users, int(shape[0]), "users"), _named(items, int(shape[1]), "items"))
        return _of_cells(*named, np.asarray(row, np.int64), np.asarray(col, np.int64), value, None, "mean", ())

    def __len__(self) -> int:
        """How many ratings there are."""
        return len(self.value)

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.items)

    @property
    def density(self) -> float:
        """Share of the cells that are known."""
        cells = self.n_users * self.n_items
        return len(self) / cells if cells else 0.0

    @property
    def mean(self) -> float:
        """Of all ratings."""
        return float(self.value.mean())

    @cached_property
    def user(self) -> NDArray[np.int32]:
        """(m,) the user of each entry."""
        return np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.starts))

    @cached_property
    def turned(self) -> TurnedRatings:
        """The same entries, item by item."""
        place = np.argsort(self.item, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.item, minlength=self.n_items))])
        return TurnedRatings(starts.astype(np.int64), self.user[place], place.astype(np.int64))

    @property
    def per_user(self) -> Whole:
        """(n,) ratings of each user."""
        return np.diff(self.starts)

    @property
    def per_item(self) -> Whole:
        """(d,) ratings of each item."""
        return np.diff(self.turned.starts)

    @property
    def matrix(self) -> sparse.csr_array:
        """(n, d) sparse, a stored entry for each rating."""
        return sparse.csr_array((self.value, self.item, self.starts), shape=(self.n_users, self.n_items))

    def subset(self, kept: Any) -> Ratings:
        """Some of the entries, with all users and items still named.

        Args:
            kept: (m,) which entries, as true or false.
        """
        chosen = np.asarray(kept, np.bool_)
        starts = np.concatenate([[0], np.cumsum(chosen)])[self.starts].astype(np.int64)
        when = None if self.when is None else self.when[chosen]
        return replace(self, starts=starts, item=self.item[chosen], value=self.value[chosen], when=when)

    def with_values(self, value: Array) -> Ratings:
        """Other ratings in the same cells.

        Args:
            value: (m,) in the order of the entries.
        """
        made = replace(self, value=np.ascontiguousarray(value, dtype=np.float64))
        for known in ("user", "turned"):  # the cells are the same: nothing to sort anew
            if known in self.__dict__:
                made.__dict__[known] = self.__dict__[known]
        return made

    def folds(self, n_splits: int, random_state: RandomState = 0) -> Whole:
        """(m,) the fold of each entry, from 0, dealt out user by user; -1 for that of a user with one rating.

        So every user keeps ratings outside of each fold. That of a user with a single one is never held out.

        Args:
            n_splits: folds, at least 2.
            random_state: of the dealing: a whole number from 0 on, None for 0, or a generator of NumPy's.
        """
        rng = np.random.default_rng(seed_of(random_state))
        order = np.lexsort((rng.random(len(self)), self.user))
        dealt = np.arange(len(self)) - np.repeat(self.starts[:-1], self.per_user)
        turn = np.repeat(rng.integers(n_splits, size=self.n_users), self.per_user)
        fold = np.empty(len(self), np.int64)
        fold[order] = (dealt + turn) % n_splits
        fold[np.repeat(self.per_user == 1, self.per_user)] = -1
        return fold

    def user_number(self, name: object) -> int:
        """The number of a user; an unknown name is refused with those that are like it."""
        return _number(self.user_numbers, name, "user")

    def item_number(self, name: object) -> int:
        """The number of an item; an unknown name is refused with those that are like it."""
        return _number(self.item_numbers, name, "item")

    @cached_property
    def user_numbers(self) -> dict[str, int]:
        """The number of each user, by name."""
        return {name: i for i, name in enumerate(self.users)}

    @cached_property
    def item_numbers(self) -> dict[str, int]:
        """The number of each item, by name."""
        return {name: i for i, name in enumerate(self.items)}


def as_name(name: object) -> str:
    """How a user or item is called: text as it is, whole numbers without a point.

    >>> as_name(3.0), as_name("007")
    ('3', '007')
    """
    if isinstance(name, (float, np.floating)) and float(name).is_integer() and abs(float(name)) < 2.0**53:
        return str(int(name))
    return str(name).strip()


def _number(numbers: dict[str, int], name: object, what: str) -> int:
    found = numbers.get(as_name(name))
    if found is not None:
        return found
    near = difflib.get_close_matches(as_name(name), numbers, _NEAR, 0.5)
    told = f"; there are {', '.join(map(repr, near))}" if near else ""
    raise ParameterError(f"there is no {what} {as_name(name)!r} among {len(numbers):,} {what}s{told}")


def _named(names: Sequence[object] | None, n: int, what: str) -> tuple[str, ...]:
    if names is None:
        return tuple(map(str, range(n)))
    given = tuple(map(as_name, names))
    if len(given) != n:
        raise ParameterError(f"{what} holds {len(given)} names, but there are {n}")
    if len(set(given)) < n:
        twice = next(name for i, name in enumerate(given) if name in given[:i])
        raise DataError(f"{what} holds {twice!r} twice; give each a name of its own")
    return given


def said_of(roles: RatingRoles) -> str:
    """What the columns are for, in a sentence."""
    rated = f"ratings in {roles.rating!r}" if roles.rating else "no column of ratings: each row counts 1"
    return f"Users are in {roles.user!r}, items in {roles.item!r}, {rated}."


def _of_cells(
    users: tuple[str, ...],
    items: tuple[str, ...],
    user: Whole,
    item: Whole,
    value: Array,
    when: Array | None,
    repeated: Repeated,
    notes: tuple[str, ...],
) -> Ratings:
    """Sort cells by user and item, merge those given twice, and say what was."""
    user, item, value, when, again = merged_cells(user, item, value, when, repeated)
    if again:
        notes = (*notes, repeated_note(again, repeated))
    starts = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=len(users)))]).astype(np.int64)
    size = size_note(len(value), len(users), len(items))
    return Ratings(users, items, starts, item.astype(np.int32), value, when, notes=(size, *notes))


def merged_cells(
    user: Whole, item: Whole, value: Array, when: Array | None, repeated: Repeated
) -> tuple[Whole, Whole, Array, Array | None, int]:
    """Cells by user and item, those given twice as one, and how many were merged.

    Args:
        user, item, value, when: (m,) of each.
        repeated: what counts of those given twice.
    """
    # values of one cell in order, so that their sum does not depend on that of the rows
    keys = (item, user) if repeated == "last" else (value, item, user)
    order = np.lexsort(keys)
    user, item, value = user[order], item[order], value[order]
    when = None if when is None else when[order]
    fresh = np.ones(len(user), np.bool_)
    fresh[1:] = (user[1:] != user[:-1]) | (item[1:] != item[:-1])
    again = len(user) - int(fresh.sum())
    if again:
        first = np.flatnonzero(fresh)
        last = np.append(first[1:], len(user)) - 1
        if repeated == "last":
            merged = value[last]
        else:
            # each divided before they are added: the sum of large ratings may be no number though their mean is
            sizes = last - first + 1
            parts = value / np.repeat(sizes, sizes) if repeated == "mean" else value
            with np.errstate(over="ignore"):
                merged = np.add.reduceat(parts, first)
        alone = last == first
        value = np.where(alone, value[first], merged)
        user, item = user[first], item[first]
        when = None if when is None else np.maximum.reduceat(when, first)
    if not np.isfinite(value).all():
        raise DataError("ratings of one cell add up to more than a number can hold; scale them down")
    return user, item, value, when, again


def repeated_note(again: int, repeated: Repeated) -> str:
    """What was done with ratings given twice, in a sentence."""
    said = {"mean": "their mean counts", "sum": "their sum counts", "last": "the last counts"}[repeated]
    return f"Ratings of an item that its user had rated before: {again:,}; {said}."


def size_note(count: int, users: int, items: int) -> str:
    """How many ratings there are, in a sentence."""
    size = f"{count:,} ratings of {items:,} items by {users:,} users"
    return f"{size}, {count / max(users * items, 1):.2%} of all pairs; the others are missing, not zero."
