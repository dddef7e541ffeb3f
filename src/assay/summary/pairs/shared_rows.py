"""The rows that two columns with gaps have in common, and which pairs of columns are judged by these rows alone.

Correlations by these rows, of features that were made from the rows of each column, follow the law of columns without
gaps where the rows in common are a fair sample of both: features that are orthonormal in all rows of a column nearly
are so there. Where gaps go with values they are not: a column that is asked for only where another is extreme, tables
of other columns put one below the other. Such pairs, and those with few rows in common, are judged as if these rows
were all there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices, Mask

FEWEST_SHARED = 12  # rows that two columns with gaps must have in common
_MANY = 100  # rows in common, from which on a fair sample is known to be one
_FAIR = 3.5  # standard errors by which the mean of a fair sample may be off
_ROUNDING = 1e-9  # of the sum of a column of length 1, which is 0


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Which values are missing.

    Attributes:
        seen: (n, d) where there is one, as 0 and 1.
    """

    seen: NDArray[np.float32]

    def shared(self, rows: slice, columns: slice) -> Array:
        """(a, b) rows that columns have in common; fewer than twelve count as none."""
        both = (self.seen[:, rows].T @ self.seen[:, columns]).astype(np.float64)
        return np.where(both >= FEWEST_SHARED, both, 0.0)

    def apart(self, F: Array, starts: Indices) -> Mask:
        """(d, d) pairs that are judged by their rows alone: these are few, or no fair sample of the rows of both.

        Args:
            F: (n, D) features of the columns, of length 1 and centred, 0 where missing.
            starts: (d + 1,) the features of column j are F[:, starts[j]:starts[j + 1]].
        """
        S = self.seen.astype(np.float64)
        both = S.T @ S
        own = np.diag(both)
        share = both / np.maximum(own, 1.0)[:, None]
        # of the sum of a column of length 1 over rows that are drawn fairly from its own
        error = np.sqrt(share * (1.0 - share) * (own / np.maximum(own - 1.0, 1.0))[:, None])
        off = np.maximum.reduceat(np.abs(F.T @ S), starts[:-1], axis=0)
        fair = off <= _FAIR * error + _ROUNDING
        whole = self.seen.all(axis=0)
        return np.asarray(~np.logical_and.outer(whole, whole) & ~(fair & fair.T & (both >= _MANY)))

    def by_rows(self, first: Indices, second: Indices) -> Iterator[tuple[Indices, Indices]]:
        """The rows that pairs have in common, and the numbers of the pairs that have just these.

        Args:
            first, second: (k,) columns.
        """
        if not len(first):
            return
        patterns, own = np.unique(np.packbits(self.seen.astype(bool), axis=0), axis=1, return_inverse=True)
        a, b = own.ravel()[first], own.ravel()[second]
        alike, which = np.unique(np.minimum(a, b) * patterns.shape[1] + np.maximum(a, b), return_inverse=True)
        order = np.argsort(which, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(which))[:-1])
        groups: dict[bytes, list[Indices]] = {}
        for key, part in zip(alike, parts, strict=True):
            common = patterns[:, key // patterns.shape[1]] & patterns[:, key % patterns.shape[1]]
            groups.setdefault(common.tobytes(), []).append(part)
        for common_bytes, found in groups.items():
            bits = np.unpackbits(np.frombuffer(common_bytes, np.uint8), count=len(self.seen))
            yield np.flatnonzero(bits), np.concatenate(found)


def part_of(X: Array, groups: Indices, rows: Indices, columns: Indices) -> tuple[Array, Indices]:
    """Some columns of a table in some rows: their numbers, and the column that each belongs to, from 0.

    Args:
        X: (n, D) numbers.
        groups: (D,) the column of the table that each number belongs to, ascending.
        rows: which rows.
        columns: which columns, ascending.

    >>> part_of(np.arange(6.0).reshape(2, 3), np.array([0, 1, 2]), np.array([1]), np.array([0, 2]))
    (array([[3., 5.]]), array([0, 1]))
    """
    mine = np.isin(groups, columns)
    return X[np.ix_(rows, mine)], np.searchsorted(columns, groups[mine])
