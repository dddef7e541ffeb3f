"""Levels of a category as orthonormal numbers, the rarest levels in the first ones.

With levels in ascending order of their counts c_1 <= c_2 <= ..., and C_t = c_1 + ... + c_t rows in the first t of them,

    h_t = -1 / C_t in the first t levels, 1 / c_(t+1) in the next one, 0 in the others,    scaled to length 1

These contrasts are centred and orthogonal whatever the counts. To leave out the first t is to take the t + 1 rarest
levels as one, by their margins alone, so that what is kept can follow the law of large counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Indices


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """The numbers of one category.

    Attributes:
        table: (L + 1, r) their values for each code; the last row, of code -1, is that of a missing level: 0.
        counts: (r,) rows on the smaller side of each contrast.
    """

    table: Array
    counts: Array


def codes_of(block: Array) -> Indices:
    """The level of each row from its indicators.

    A row without any level that has a column belongs to one more; one that is missing, or was filled with the shares of
    the levels, gets -1.

    Args:
        block: (n, L) indicators.

    >>> codes_of(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.5, 0.5]])).tolist()
    [0, 1, 2, -1]
    """
    codes = np.where(block.any(axis=1), np.argmax(block, axis=1), block.shape[1])
    with np.errstate(invalid="ignore"):
        whole = ((block == 0.0) | (block == 1.0)).all(axis=1)
    return np.asarray(np.where(whole, codes, -1), dtype=np.intp)


def contrasts(codes: Indices) -> Contrasts:
    """Orthonormal contrasts of levels.

    Args:
        codes: (n,) level of each row, -1 where missing.

    >>> found = contrasts(np.array([0, 0, 0, 1, 1, 2]))
    >>> (found.table[[0, 0, 0, 1, 1, 2]].T @ found.table[[0, 0, 0, 1, 1, 2]]).round(12).tolist(), found.counts.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [1.0, 3.0])
    """
    counts = np.bincount(codes + 1)[1:]
    order = np.argsort(counts, kind="stable")
    order = order[counts[order] > 0]
    c = counts[order].astype(np.float64)
    together = np.cumsum(c)[:-1]
    table = np.zeros((len(counts) + 1, max(len(order) - 1, 0)))
    for t in range(len(order) - 1):
        length = np.sqrt(1.0 / together[t] + 1.0 / c[t + 1])
        table[order[: t + 1], t] = -1.0 / together[t] / length
        table[order[t + 1], t] = 1.0 / c[t + 1] / length
    return Contrasts(table, np.minimum(together, c[1:]))
