"""Which columns of a table are users, items, ratings and times, and what they hold."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assay.arrays import Array, Whole
from assay.data.formats.edge_lists import EdgeListSource, folded
from assay.data.formats.recognise import format_by_name
from assay.data.read import read
from assay.data.source import ArrowSource, Source, is_numeric
from assay.errors import DataError, ParameterError

Repeated = Literal["mean", "sum", "last"]

_WHO = (
    "user users rater reader viewer listener customer client member reviewer person visitor account consumer buyer "
    "student subscriber player judge"
)
_WHAT = (
    "item items movie film joke product book song track artist album business article game anime show title restaurant "
    "recipe course video show isbn asin sku url page joketext beer wine dish"
)
USER = tuple(word + end for word in [*_WHO.split(), "u"] for end in ("", "id", "name", "number", "no", "key", "code"))
ITEM = tuple(word + end for word in [*_WHAT.split(), "i"] for end in ("", "id", "name", "number", "no", "key", "code"))
RATING = (
    "rating ratings score scores star stars value grade overall preference like liked reviewscore reviewrating "
    "bookrating userrating ratingvalue"
)
COUNT = (
    "count counts plays playcount listens clicks views purchases quantity orders visits events weight n frequency hours"
)
WHEN = "timestamp time date datetime when ratedat createdat unixreviewtime ts day tstamp"
_PLACES = 4  # columns at most of a table whose columns are known by their places


class RatingList(EdgeListSource):
    """A text file of ratings as a table of text: names stay names, whatever they look like."""

    _rows = "ratings"
    _needs = "a rating needs a user and an item"


@dataclass(frozen=True, slots=True)
class RatingRoles:
    """What the columns of a table of ratings are for.

    Attributes:
        user: who.
        item: what.
        rating: how much, or None.
        when: or None.
        counts: whether ratings are counts of something done, rather than a degree of liking.
    """

    user: str
    item: str
    rating: str | None
    when: str | None
    counts: bool


@dataclass(frozen=True, slots=True, eq=False)
class RatingCells:
    """All ratings of a table, in the order of its rows.

    Attributes:
        user: (m,) numbers of users.
        item: (m,) numbers of items.
        value: (m,) ratings.
        when: (m,) times as numbers, NaN where missing, or None.
        users: names, in order of number or text.
        items: names, in order of number or text.
    """

    user: Whole
    item: Whole
    value: Array
    when: Array | None
    users: tuple[str, ...]
    items: tuple[str, ...]


def opened(data: Any) -> Source:
    """A table of ratings: a file of any kind, a frame, or a list of rows."""
    if isinstance(data, str | os.PathLike) and format_by_name(os.fspath(data)) in (None, "csv"):
        return _listed_in(os.fspath(data))
    if isinstance(data, list | tuple):
        return _listed(data)
    return read(data)


def looks_like_ratings(names: list[str]) -> bool:
    """Whether a table has a column of users, one of items and one of ratings, by their names.

    >>> looks_like_ratings(["userId", "movieId", "rating", "timestamp"])
    True
    """
    usual = (USER, ITEM, tuple(f"{RATING} {COUNT}".split()))
    return all(_called(names, words) is not None for words in usual)


def rating_roles(
    table: Source, user: str | None, item: str | None, rating: str | None, when: str | None = None
) -> RatingRoles:
    """Find the columns by what the user says, by their names, or by their places."""
    names = table.arrow_schema.names
    for said in (user, item, rating, when):
        if said is not None and said not in names:
            raise ParameterError(f"there is no column {said!r} in {table.name}; there are {', '.join(names[:20])}")
    taken = {said for said in (user, item, rating, when) if said is not None}
    rest = [name for name in names if name not in taken]
    who = user or _called(rest, USER)
    what = item or _called(rest, ITEM)
    usual = who is not None and what is not None
    if not usual:
        free = [name for name in rest if name not in (who, what)]
        half = (who is None) != (what is None) and user is None and item is None
        if half or len(names) > _PLACES or len(free) < (who is None) + (what is None):
            raise DataError(
                f"{table.name} has no columns called as users and items are; name them with user= and item=; "
                f"there are {', '.join(map(repr, names[:20]))}"
            )
        who = who or free.pop(0)
        what = what or free.pop(0)
    assert who is not None and what is not None
    left = [name for name in rest if name not in (who, what)]
    found = rating or _called(left, tuple(RATING.split())) or _called(left, tuple(COUNT.split()))
    if found is None and not usual and left:
        found = left[0]
    left = [name for name in left if name != found]
    counts = found is None or folded(found) in COUNT.split()
    return RatingRoles(who, what, found, when or _called(left, tuple(WHEN.split())), counts)


def cells_in(table: Source, roles: RatingRoles) -> RatingCells:
    """Read all ratings, in one pass; what is held is users and items as numbers, and values."""
    named: dict[str, list[pa.Array]] = {roles.user: [], roles.item: []}
    values: list[Array] = []
    times: list[Array] = []
    row = 0
    for batch in table.blocks():
        for name, chunks in named.items():
            chunks.append(names_in(table, batch.column(name), name, row))
        if roles.rating is None:
            values.append(np.ones(batch.num_rows))
        else:
            values.append(values_in(table, batch.column(roles.rating), roles.rating, row))
        if roles.when is not None:
            times.append(_times_in(batch.column(roles.when)))
        row += batch.num_rows
    (user, users), (item, items) = (_numbered(chunks) for chunks in named.values())
    when = np.concatenate(times) if times else None
    if when is not None and np.isnan(when).all():
        when = None
    return RatingCells(user, item, np.concatenate(values) if values else np.empty(0), when, users, items)


def _listed_in(path: str) -> Source:
    table = RatingList(path)
    first = None if table.header else next(table.blocks(), None)
    if first is None or not first.num_rows:
        return table
    cells = [str(column[0].as_py()) for column in first.columns]
    named = _called(cells, USER) is not None and _called(cells, ITEM) is not None
    return RatingList(path, header=True) if named else table


def _listed(rows: Any) -> Source:
    sizes = {len(row) if isinstance(row, list | tuple | np.ndarray) else 0 for row in rows}
    if sizes not in ({2}, {3}, {4}):
        raise DataError("a list of ratings must hold (user, item, rating) in each of its rows, all of the same length")
    names = ["user", "item", "rating", "timestamp"][: sizes.pop()]
    # a number survives the way through text, and what is no number is refused with its row
    cells = {name: [None if row[i] is None else _as_text(row[i]) for row in rows] for i, name in enumerate(names)}
    return ArrowSource(pa.table({name: pa.array(column, pa.string()) for name, column in cells.items()}), "the list")


def _as_text(cell: Any) -> str:
    whole = isinstance(cell, (float, np.floating)) and float(cell).is_integer() and abs(float(cell)) < 2.0**53
    return str(int(cell)) if whole else str(cell)


def _called(names: list[str], words: tuple[str, ...]) -> str | None:
    """The first column that is called by one of the words; earlier words come first."""
    known = {folded(name): name for name in reversed(names)}
    return next((known[word] for word in words if word in known), None)


def names_in(table: Source, column: pa.Array, name: str, start: int) -> pa.Array:
    """The names in one block: whole numbers if that is their type, otherwise text."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        whole = column.to_numpy(zero_copy_only=False)
        if (np.isnan(whole) | ((whole == np.rint(whole)) & (np.abs(whole) < 2.0**53))).all():
            column = pc.if_else(pc.is_nan(column), None, column).cast(pa.int64())
    if not pa.types.is_integer(column.type):
        text = pc.utf8_trim_whitespace(column.cast(pa.string()))
        column = pc.if_else(pc.equal(text, ""), None, text)
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(
            f"{table.name}, {table.place_of(start + row)}: {name!r} is empty; a rating needs a user and an item"
        )
    return column


def values_in(table: Source, column: pa.Array, name: str, start: int) -> Array:
    """The ratings in one block; what is no finite number is refused with its place."""
    numbers = column.cast(pa.float64(), safe=False) if is_numeric(column.type) else _as_numbers(column)
    if numbers is None:
        texts = column.cast(pa.string())
        row = next(i for i in range(len(texts)) if _as_numbers(texts[i : i + 1]) is None)
        raise _bad(table, start + row, name, repr(texts[row].as_py()))
    values: Array = numbers.to_numpy(zero_copy_only=False)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise _bad(table, start + int(bad[0]), name, "missing" if np.isnan(values[bad[0]]) else f"{values[bad[0]]:g}")
    return values


def _bad(table: Source, row: int, name: str, value: str) -> DataError:
    return DataError(
        f"{table.name}, {table.place_of(row)}: the rating {name!r} is {value}, but ratings are finite numbers; repair "
        "it, or leave the row out: what is missing is not rated"
    )


def _as_numbers(column: pa.Array) -> pa.Array | None:
    if pa.types.is_boolean(column.type):
        return column.cast(pa.float64())
    try:
        text = pc.utf8_trim_whitespace(column.cast(pa.string()))
        return pc.if_else(pc.equal(text, ""), None, text).cast(pa.float64())
    except pa.ArrowInvalid:
        return None


def _times_in(column: pa.Array) -> Array:
    """Times as numbers; what is no time is missing, since nothing depends on it."""
    n = len(column)
    if pa.types.is_temporal(column.type):
        try:
            column = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
        except pa.ArrowInvalid:
            return np.full(n, np.nan)
    numbers = column.cast(pa.float64(), safe=False) if is_numeric(column.type) else _as_numbers(column)
    if numbers is None:
        try:
            numbers = column.cast(pa.string()).cast(pa.timestamp("s")).cast(pa.int64()).cast(pa.float64())
        except pa.ArrowInvalid:
            return np.full(n, np.nan)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), np.float64)


def _numbered(chunks: list[pa.Array]) -> tuple[Whole, tuple[str, ...]]:
    """Names as numbers, whatever the order of the rows: by value where all are whole numbers, else by text."""
    if not chunks:
        return np.empty(0, np.int64), ()
    types = {chunk.type for chunk in chunks}
    if all(pa.types.is_integer(type_) for type_ in types):
        column = pa.chunked_array([chunk.cast(pa.int64()) for chunk in chunks])
    else:
        column = pa.chunked_array([chunk.cast(pa.string()) for chunk in chunks])
    encoded = column.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    encoded = encoded.dictionary_encode()
    names, codes = encoded.dictionary, encoded.indices.to_numpy().astype(np.int64)
    order = order_of(names)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[codes], tuple(names.cast(pa.string()).take(pa.array(order)).to_pylist())


def order_of(names: pa.Array) -> Whole:
    """How different names are put in order: by value where all are whole numbers, else by text."""
    if pa.types.is_string(names.type):
        try:
            numbers = names.cast(pa.int64())
        except pa.ArrowInvalid:
            return np.asarray(pc.sort_indices(names).to_numpy(), np.int64)
        # 7 and 07 are two names of one number
        table = pa.table({"number": numbers, "text": names})
        keys = [("number", "ascending"), ("text", "ascending")]
        return np.asarray(pc.sort_indices(table, sort_keys=keys).to_numpy(), np.int64)
    return np.asarray(pc.sort_indices(names).to_numpy(), np.int64)
