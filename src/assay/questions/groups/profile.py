"""What is to be said of each group: the categories it coincides with, its anomalies, the columns that set it apart.

coincide  a level of a category and a group that hold the same rows, four fifths of either and more; chance that as many
          are shared (hypergeometric), times all pairs of a group and a level that were compared
anomalies rows farther from the middle of their group than one in all its rows would be, were it normal
name      its highest and lowest columns, of those that tell the groups apart
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, gammaln

from assay.arrays import Array, Indices
from assay.asking.table import Table
from assay.evidence.measured import distinct_values
from assay.linalg.normal.shrinkage import rao_blackwell

_ALIKE = 0.8
_CHANCE = 0.01
_FAR = 0.01  # chance that the farthest row of a normal group is called an anomaly
_HIGH = 0.5  # standard deviations from the mean of all rows
_NAMED = 2
_MOST_LEVELS = 30


@dataclass(frozen=True, slots=True, eq=False)
class Category:
    """A column of levels, for the rows grouped.

    Attributes:
        name: of the column.
        levels: their names.
        codes: (m,) level of each row, -1 where missing or unknown.
    """

    name: str
    levels: tuple[str, ...]
    codes: Indices


@dataclass(frozen=True, slots=True)
class Coincidence:
    """A group and a level that hold the same rows.

    Attributes:
        group: its number, from 0.
        column, level: what it coincides with.
        shared: rows in both.
        in_group, in_level: rows in either, of those whose level is known.
        p: chance of as many shared rows, times all pairs compared.
    """

    group: int
    column: str
    level: str
    shared: int
    in_group: int
    in_level: int
    p: float

    def said(self) -> str:
        """In a sentence, "Channel 2 (121 of 124; 130 in all)"."""
        whole = "" if self.in_level == self.shared else f"; {self.in_level:,} in all"
        return f"{self.column} {self.level} ({self.shared:,} of {self.in_group:,}{whole})"


def categories_of(table: Table, measured: set[str]) -> tuple[Category, ...]:
    """Columns of the data that name levels, for the rows of the sample; an outcome too, since no group knows it.

    Args:
        table: that is asked.
        measured: columns that the rows are grouped by.
    """
    look = table.look
    rows = table.numbers if table.in_use is None else table.in_use[table.numbers]
    place = np.clip(np.searchsorted(look.rows, rows + 1), 0, max(len(look.rows) - 1, 0))
    known = look.rows[place] == rows + 1 if len(look.rows) else np.zeros(len(rows), dtype=bool)
    found = []
    for j in _few_values(look.values[place[known]]):
        name = look.columns[j]
        if name in measured:
            continue
        values = np.where(known, look.values[place, j], np.nan)
        there = np.unique(values[~np.isnan(values)])
        codes = np.where(np.isnan(values), -1, np.searchsorted(there, values)).astype(np.intp)
        found.append(Category(name, tuple(_level(look.levels.get(name), x) for x in there), codes))
    return tuple(found)


def _few_values(rows: Array) -> Indices:
    """Columns of two values or a few more."""
    many = distinct_values(rows)
    return np.flatnonzero((many >= 2) & (many <= _MOST_LEVELS))


def _level(names: tuple[str, ...] | None, value: float) -> str:
    return f"{value:g}" if names is None or not 0 <= value < len(names) else names[int(value)]


def coinciding(labels: Indices, k: int, categories: Sequence[Category], apart: Indices) -> tuple[Coincidence, ...]:
    """Levels that hold the same rows as a group, for each group the best of every column.

    Args:
        labels: (m,) group of each row.
        k: how many groups.
        categories: of the same rows.
        apart: numbers of those that are nearly independent, by which chance is judged.
    """
    compared = max(k * sum(len(category.levels) for category in categories), 1)
    found = []
    for category in categories:
        shared, judged = (
            _shared(labels[rows], category.codes[rows], k, len(category.levels))
            for rows in (np.arange(len(labels)), apart)
        )
        for g in range(k):
            of, to = shared.sum(axis=1)[g], np.maximum(shared.sum(axis=0), 1)
            both = np.minimum(shared[g] / max(of, 1), shared[g] / to)
            level = int(both.argmax())
            hits, ours, theirs = judged[g, level], judged[g].sum(), judged[:, level].sum()
            p = min(1.0, compared * _at_least(int(hits), int(judged.sum()), int(theirs), int(ours)))
            if both[level] >= _ALIKE and p <= _CHANCE:
                name, same = category.levels[level], int(shared[g, level])
                found.append(Coincidence(g, category.name, name, same, int(of), int(to[level]), p))
    return tuple(found)


def _at_least(hits: int, total: int, marked: int, drawn: int) -> float:
    """Chance of so many marked ones or more among those drawn without putting back.

    >>> round(_at_least(2, 4, 2, 2), 12)  # one of six
    0.166666666667
    """
    x = np.arange(max(hits, marked + drawn - total), min(marked, drawn) + 1)
    ways = _log_choices(marked, x) + _log_choices(total - marked, drawn - x) - _log_choices(total, drawn)
    return min(float(np.exp(ways).sum()), 1.0)


def _log_choices(n: int, k: Any) -> Any:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def _shared(labels: Indices, codes: Indices, k: int, levels: int) -> NDArray[np.int64]:
    table = np.zeros((k, levels), dtype=np.int64)
    known = codes >= 0
    np.add.at(table, (labels[known], codes[known]), 1)
    return table


def anomalies(Z: Array, labels: Indices, k: int) -> tuple[Indices, ...]:
    """For each group the rows far from its middle, the farthest first.

    Args:
        Z: (m, d) comparable rows.
        labels: (m,) their groups.
        k: how many.
    """
    found = []
    for g in range(k):
        rows = np.flatnonzero(labels == g)
        if len(rows) < 3:
            found.append(rows[:0])
            continue
        own = Z[rows] - np.median(Z[rows], axis=0)
        squares = _squared_distances(own)
        far = np.flatnonzero(squares > chdtri(Z.shape[1], _FAR / len(rows)))
        found.append(rows[far[np.argsort(-squares[far], kind="stable")]])
    return tuple(found)


def _squared_distances(own: Array) -> Array:
    """(m,) squared Mahalanobis distances from 0 of (m, d) rows, by their own shrunk covariance.

    Rows lie in the space of the r <= min(m, d) eigenvectors that they span; where columns are more than rows these are
    known by the (m, m) products of the rows, and the other eigenvalues are 0.
    """
    m, d = own.shape
    if d <= m:
        values, vectors = np.linalg.eigh(own.T @ own / m)
        projected = (own @ vectors) ** 2
    else:
        values, vectors = np.linalg.eigh(own @ own.T / m)
        values = np.maximum(values, 0.0)
        projected = vectors**2 * (m * values)
    share = max(rao_blackwell(values, d, float(m)), 1e-3)
    shrunk = (1 - share) * values + share * values.sum() / d
    return np.asarray((projected / np.maximum(shrunk, np.finfo(float).tiny)).sum(axis=1))


def named(means: Array, columns: Sequence[str], telling: Sequence[int]) -> str:
    """What a group is called: "high Grocery, low Fresh"; empty where no column that tells is far from the mean.

    Args:
        means: (d,) of the group, in standard deviations from the mean of all rows.
        columns: names.
        telling: numbers of the columns that tell the groups apart.

    >>> named(np.array([2.0, -1.0, 0.1]), ["x", "y", "z"], [0, 1, 2])
    'high x, low y'
    """
    far = [j for j in sorted(telling, key=lambda j: -abs(means[j])) if abs(means[j]) >= _HIGH][:_NAMED]
    high, low = ([columns[j] for j in far if (means[j] > 0) == up] for up in (True, False))
    return ", ".join(f"{word} {' and '.join(some)}" for word, some in (("high", high), ("low", low)) if some)
