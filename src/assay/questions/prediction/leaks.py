"""Columns that alone give all of the target: probably made from it, or known only with it.

number, from a number     1 - sum of squared steps of y along the order of x / 2 sum of its squared deviations: the
                          share that any curve of x explains, without fitting one; a line is asked apart, for its name
number, from a category   share of the variance between its levels, corrected for their number
class, from a number      rows on the wrong side where the order of x is cut into one piece a class; rows of one value
                          come in any order
class, from a category    rows that are not of the commonest class of their level
                          both as a share of the rows that are not of the largest class, taken from 1

A description and no test: nothing is called supported by it.

Reference: von Neumann, Distribution of the ratio of the mean square successive difference to the variance (1941).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.arrays import Array, Indices
from assay.questions.prediction.asked import Asked

_ALL = 0.99  # of the variance, or of the rows that are not of the largest class
_UNITS = 0.99999  # squared correlation of a column with itself in other units, as it was rounded
_MOST_ROWS = 20_000  # a sample of more
_ROWS_EACH = 5  # for each level of a category or distinct value


@dataclass(frozen=True, slots=True)
class Leak:
    """A column that alone gives all.

    Attributes:
        name: of the column.
        how: the target in other units, or another function of the column.
        share: of the variance, or of the rows that are not of the largest class, that it gives alone.
    """

    name: str
    how: Literal["units", "all"]
    share: float


def alone(what: Asked) -> Array:
    """(columns,) how much each column of the data gives alone, as a share of what there is to know.

    Args:
        what: the target and the columns.
    """
    classes, found = len(what.classes), np.zeros(len(what.names))
    rows = np.sort(np.random.default_rng(what.seed).permutation(len(what.y))[:_MOST_ROWS])
    y = what.y[rows]
    if not np.ptp(y) > 0:
        return found
    ties = np.random.default_rng(0).permutation(len(y))
    for c, places in enumerate(_places(what)):
        own = what.X[np.ix_(rows, places)]
        levels = own @ np.arange(1.0, own.shape[1] + 1.0) if own.shape[1] > 1 else own[:, 0]
        distinct, codes = np.unique(levels, return_inverse=True)
        if len(distinct) < 2:
            continue
        found[c] = _by_levels(codes, y, classes)
        if own.shape[1] == 1:
            found[c] = max(found[c], _by_order(levels, y, classes, ties))
    return found


def leaks(what: Asked, told: Array) -> tuple[Leak, ...]:
    """The columns that alone give all, those in other units first.

    Args:
        what: the target and the columns.
        told: (columns,) what each gives alone.
    """
    found = []
    for c, (name, places) in enumerate(zip(what.names, _places(what), strict=True)):
        own = what.X[:, places]
        number = not what.classes and own.shape[1] == 1
        if number and (r := _squared_correlation(own[:, 0], what.y)) >= _UNITS:
            found.append(Leak(name, "units", r))
        elif told[c] >= _ALL:
            found.append(Leak(name, "all", float(told[c])))
    return tuple(sorted(found, key=lambda leak: leak.how == "all"))


def _places(what: Asked) -> list[Indices]:
    """For each column of the data, which numbers are its own."""
    order = np.argsort(what.of, kind="stable")
    return np.split(order, np.cumsum(np.bincount(what.of, minlength=len(what.names)))[:-1])


def _by_levels(codes: Indices, y: Array, classes: int) -> float:
    n, counts = len(y), np.bincount(codes)
    if len(counts) * _ROWS_EACH > n:
        return 0.0
    if classes:
        table = np.zeros((len(counts), classes))
        np.add.at(table, (codes, y.astype(np.intp)), 1.0)
        return _of_others(n - float(table.max(axis=1).sum()), y)
    within = y - (np.bincount(codes, y) / counts)[codes]
    left = float(within @ within) / (n - len(counts))
    return 1.0 - left / float(y.var(ddof=1))


def _by_order(x: Array, y: Array, classes: int, ties: Indices) -> float:
    n = len(y)
    along = y[np.lexsort((ties, x))]
    if classes:
        changes = int(np.count_nonzero(np.diff(along)))
        return _of_others(max(changes - (classes - 1), 0) / 2.0, y)
    steps = np.diff(along)
    return 1.0 - float(steps @ steps) * n / (2.0 * (n - 1) * float(((y - y.mean()) ** 2).sum()))


def _of_others(wrong: float, y: Array) -> float:
    """1 less the rows that are wrong as a share of those that always calling the largest class has wrong."""
    return 1.0 - wrong / float(len(y) - np.bincount(y.astype(np.intp)).max())


def _squared_correlation(x: Array, y: Array) -> float:
    a, b = x - x.mean(), y - y.mean()
    size = float(a @ a) * float(b @ b)
    return float(a @ b) ** 2 / size if size > 0.0 else 0.0
