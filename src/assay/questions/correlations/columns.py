"""One block of numbers for each column of the data, as pairs of columns need them.

number, count, ordered, boolean    itself
category                           an indicator of each level, of all of them where the table has merged the rare ones
date                               its day
text                               how long it is

What stands in where a value is missing is taken out again: such rows tell nothing of their column. Of very many columns
some are drawn fairly, whatever they hold: all pairs of these are tested, and stand for those of all columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices, column_strips
from assay.asking.table import Table
from assay.summary.pairs.rank_shapes import resting_on

_LEVELS = 200  # with an indicator of their own, at most
_FEWEST = 20  # that have one, however many rows
_INDICATORS = 20_000_000  # values of these, for all columns
_NUMBERS = 1 << 20  # looked at at a time
MOST_COLUMNS = 15_000  # whose pairs are tested, 112 million
MOST_EXACT = 5_000  # where each pair has a law of its own: levels that are rare, ties, rows that depend on each other


@dataclass(frozen=True, slots=True, eq=False)
class NumberColumns:
    """Columns as numbers.

    Attributes:
        X: (n, D) NaN where missing.
        groups: (D,) the column that each number belongs to.
        names: (d,) of the columns; of a text with what of it is meant.
        categories: (d,) whether each is one, also where it has two levels and so is one number.
    """

    X: Array
    groups: Indices
    names: tuple[str, ...]
    categories: NDArray[np.bool_]


def drawn_fairly(table: Table, labels: list[int], seed: int) -> Indices | None:
    """Which of very many columns are looked at, ascending; None for all.

    Args:
        table: the data; what they hold says how many are looked at, never which.
        labels: of the columns, as in its groups.
        seed: of the draw.
    """
    d = len(labels)
    if d <= MOST_EXACT:
        return None
    most = MOST_EXACT if _with_laws_of_their_own(table) else MOST_COLUMNS
    return np.sort(np.random.default_rng(seed).choice(d, most, replace=False)) if d > most else None


def _with_laws_of_their_own(table: Table) -> bool:
    """Whether one law does not hold for all pairs of columns: see `MOST_EXACT`."""
    if not table.measured.all() or table.gaps is not None or table.design.kind != "independent":
        return True
    X = table.at_hand
    return any(np.isfinite(resting_on(X[:, strip].T)).any() for strip in column_strips(X.shape, _NUMBERS))


def columns_of(table: Table, labels: list[int]) -> NumberColumns:
    """Some columns of a table.

    Args:
        table: the data.
        labels: of the columns, as in its groups.
    """
    merged = sum(table.origins[label][1] == "category" and table.origins[label][0] in table.beside for label in labels)
    most = min(_LEVELS, max(_INDICATORS // max(merged * len(table.at_hand), 1), _FEWEST))
    order = np.argsort(table.groups, kind="stable")
    starts, stops = (np.searchsorted(table.groups[order], labels, side=side) for side in ("left", "right"))
    blocks = [
        _block(table, label, order[start:stop], most) for label, start, stop in zip(labels, starts, stops, strict=True)
    ]
    names = [table.origins[label][0] for label in labels]
    told = [
        f"length of {name}" if table.origins[label][1] == "text" else name
        for label, name in zip(labels, names, strict=True)
    ]
    widths = [block.shape[1] for block in blocks]
    categories = np.array([table.origins[label][1] == "category" for label in labels])
    return NumberColumns(
        np.concatenate(blocks, axis=1), np.repeat(np.arange(len(blocks)), widths), tuple(told), categories
    )


def _block(table: Table, label: int, places: Indices, most: int) -> Array:
    name, kind = table.origins[label]
    beside = None if table.rows is None else table.beside.get(name)
    if beside is not None:
        return beside[:, None] if kind == "text" else _indicators(beside.astype(np.intp), most)
    places = places[:1] if kind == "time" else places
    block = table.at_hand[:, places]
    return block if table.gaps is None else np.where(table.gaps[:, places], np.nan, block)


def _indicators(codes: Indices, most: int) -> Array:
    """Of the most frequent levels; the others are one more."""
    counts = np.bincount(codes[codes >= 0])
    order = np.argsort(-counts, kind="stable")
    place = np.full(len(counts) + 1, min(most, len(counts)), dtype=np.intp)
    place[order[:most]] = np.arange(min(most, len(counts)))
    width = len(counts) if len(counts) <= most else most + 1
    rows = np.equal.outer(place[codes], np.arange(width)).astype(np.float64)
    rows[codes < 0] = np.nan
    return rows
