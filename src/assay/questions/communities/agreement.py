"""How far two groupings of the same nodes agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """One grouping beside another.

    Attributes:
        rand: adjusted Rand index: 1 for the same groups, about 0 for groups that have nothing to do with each other.
        nearest: (k,) for each group of the first, the group of the other that has most in common with it.
        jaccard: (k,) of each group with that one: nodes in both, of those in either.
        kept: (n,) whether a node is in the group nearest to its own, as 1 or 0; NaN where it is not compared.
    """

    rand: float
    nearest: Whole
    jaccard: Array
    kept: Array


def agreement(labels: Whole, other: Whole, compared: NDArray[np.bool_]) -> Agreement:
    """Compare two groupings.

    Args:
        labels: (n,) groups, from 0.
        other: (n,) groups of the other, from 0.
        compared: (n,) the nodes that are compared.

    >>> found = agreement(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 2]), np.ones(4, np.bool_))
    >>> found.jaccard, found.kept
    (array([1. , 0.5]), array([1., 1., 1., 0.]))
    """
    k, size = int(labels.max()) + 1, int(other.max()) + 1
    cells, both = np.unique(labels[compared] * size + other[compared], return_counts=True)
    mine, theirs = cells // size, cells % size
    a = np.bincount(labels[compared], minlength=k)
    b = np.bincount(other[compared], minlength=size)
    shared = both / (a[mine] + b[theirs] - both)
    jaccard, nearest = np.zeros(k), np.zeros(k, np.int64)
    order = np.lexsort((-theirs, shared))  # the largest of each group is written last, of equal ones the first
    jaccard[mine[order]], nearest[mine[order]] = shared[order], theirs[order]
    kept = np.where(compared, (other == nearest[labels]).astype(np.float64), np.nan)
    return Agreement(_rand(both, a, b), nearest, jaccard, kept)


def _rand(both: Whole, a: Whole, b: Whole) -> float:
    def pairs(counts: Whole) -> float:
        return float((counts * (counts - 1.0)).sum() / 2)

    n = int(a.sum())
    all_pairs = n * (n - 1.0) / 2
    if not all_pairs:
        return 1.0
    by_chance = pairs(a) * pairs(b) / all_pairs
    most = (pairs(a) + pairs(b)) / 2
    return 1.0 if most == by_chance else (pairs(both) - by_chance) / (most - by_chance)
