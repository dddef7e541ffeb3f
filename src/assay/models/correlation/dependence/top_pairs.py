"""The pairs with the smallest p among very many, and Benjamini and Hochberg's q over all of them, tile by tile.

Kept are the smallest p exactly; of the others, only how many lie in each of narrow classes of log p. A q is the least
of p m / rank over this and all larger p; among those not kept it is taken at the upper ends of classes, so it is never
too small, and too large by 1% at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from assay.arrays import Array, Indices

_CLASSES = 231  # to a decade: a class is 1% wide
_DECADES = 330  # float64 ends at 1e-324


@dataclass(frozen=True, slots=True, eq=False)
class FoundPairs:
    """Pairs in order of p.

    Attributes:
        first, second: (k,) their columns.
        p, q: (k,) ascending.
        tested: pairs that were tested, kept or not.
        others: (2, c) of those not kept, upper ends of classes of p, ascending, and the ranks reached there.
    """

    first: Indices
    second: Indices
    p: Array
    q: Array
    tested: int
    others: Array

    def called(self, level: float) -> int:
        """How many pairs have q at most level, kept or not; of those not kept never too many."""
        kept = int(np.count_nonzero(self.q <= level))
        upper, ranks = self.others
        stand = upper * self.tested <= level * ranks
        return kept if kept < len(self.q) or not stand.any() else int(ranks[stand][-1])


class Strongest:
    """Collects the pairs with the smallest p.

    Args:
        keep: how many; those as small as the last are kept too.

    >>> strongest = Strongest(1)
    >>> strongest.add(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([.5, .01, np.nan]))
    >>> found = strongest.found()
    >>> found.second, found.q, found.tested
    (array([2]), array([0.02]), 2)
    """

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._bound = 1.0
        self._parts: list[tuple[Indices, Indices, Array]] = []
        self._held = 0
        self._classes = np.zeros(_CLASSES * _DECADES + 1, dtype=np.int64)
        self._tested = 0

    def count(self, large: int) -> None:
        """Take note of pairs that were tested and have a p of 1, as far as q goes."""
        self._tested += large
        self._classes[0] += large

    def add(self, first: Indices, second: Indices, p: Array) -> None:
        """Take in (b,) pairs with their p; NaN for those that cannot be tested."""
        tested = ~np.isnan(p)
        first, second, p = first[tested], second[tested], p[tested]
        self._tested += len(p)
        self._classes += np.bincount(_class_of(p), minlength=len(self._classes))
        small = p <= self._bound
        self._parts.append((first[small], second[small], p[small]))
        self._held += int(small.sum())
        if self._held > 4 * self._keep + 100_000:
            self._cut()

    def found(self, exactly: Callable[[Indices, Indices], Array] | None = None) -> FoundPairs:
        """What was collected.

        Args:
            exactly: gives the p of pairs anew, where those added were nearly right and in the right order.
        """
        self._cut()
        first, second, p = self._parts[0]
        if exactly is not None:
            self._classes -= np.bincount(_class_of(p), minlength=len(self._classes))
            p = exactly(first, second)
            self._classes += np.bincount(_class_of(p), minlength=len(self._classes))
        order = np.lexsort((second, first, p))
        first, second, p = first[order], second[order], p[order]
        others = self._others(p)
        return FoundPairs(first, second, p, _q(p, others, self._tested), self._tested, others)

    def _cut(self) -> None:
        if not self._parts:
            self._parts = [(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))]
        first, second, p = (np.concatenate(x) for x in zip(*self._parts, strict=True))
        if len(p) > self._keep:
            self._bound = float(np.partition(p, self._keep - 1)[self._keep - 1])
            small = p <= self._bound
            first, second, p = first[small], second[small], p[small]
        self._parts, self._held = [(first, second, p)], len(p)

    def _others(self, p: Array) -> Array:
        """Those not kept, from the smallest class to the largest; their ranks come after all that are."""
        left = (self._classes - np.bincount(_class_of(p), minlength=len(self._classes)))[::-1]
        some = left > 0
        return np.stack([_upper(len(left))[some], (len(p) + np.cumsum(left))[some]])


@cache
def _upper(classes: int) -> Array:
    """Where the classes end above, from the smallest to the largest."""
    return np.asarray(10.0 ** (-np.arange(classes)[::-1] / _CLASSES))


def _q(p: Array, others: Array, tested: int) -> Array:
    least = float((others[0] * tested / others[1]).min(initial=1.0))
    own = p * tested / np.arange(1, len(p) + 1)
    return np.asarray(np.minimum(np.minimum.accumulate(np.append(own, least)[::-1])[::-1][:-1], 1.0))


def _class_of(p: Array) -> Indices:
    """Class 0 holds p near 1, the last the smallest; a class ends above at 10^(-number / 231)."""
    with np.errstate(divide="ignore"):
        decades = np.minimum(-np.log10(p), _DECADES)
    return np.asarray(np.floor(decades * _CLASSES), dtype=np.intp)
