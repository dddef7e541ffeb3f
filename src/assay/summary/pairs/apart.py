"""Pairs of columns with gaps, judged as if the rows where both have a value were all there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices, Mask
from assay.summary.pairs.association import Standard, standardised
from assay.summary.pairs.shared_rows import FEWEST_SHARED, Gaps, part_of

if TYPE_CHECKING:  # who judges needs this
    from assay.summary.pairs.pair_chance import DependentRows

_ALL = 1000  # pairs with gaps up to which each is judged by its rows alone
_MOST = 20_000  # beyond, those that may be beyond chance, so many at most
_MAY_BE = 0.1  # p up to which that is so

Judged: TypeAlias = tuple[Array, NDArray[np.int8], Array]  # p, what has it, independent rows that would tell as much
Judge: TypeAlias = "Callable[[Array, Indices, Standard, DependentRows | None], Judged]"


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Pairs of columns with gaps, judged as if the rows where both have a value were all there are.

    Attributes:
        X: (n, D) numbers, NaN where missing.
        groups: (D,) the column of the table that each number belongs to.
        gaps: which values are missing.
        rows: how they depend on each other.
    """

    X: Array
    groups: Indices
    gaps: Gaps
    rows: DependentRows | None

    def judge(self, which: Mask, found: Judged, judged: Judge, tile: tuple[slice, slice]) -> None:
        """Judge pairs anew, in place; where they are many, those that may be beyond chance, the least likely first.

        What is left of those is not called.

        Args:
            which: (a, b) pairs.
            found: what is known of them, (a, b) each.
            judged: the same of columns without gaps.
            tile: the columns on both sides.
        """
        p, by, effective = found
        i, j = np.nonzero(np.triu(which, 1) if tile[0] == tile[1] else which)
        few = _worth_judging(p[i, j])
        left = np.ones(len(i), dtype=bool)
        left[few] = False
        left &= p[i, j] <= _MAY_BE
        p[i[left], j[left]] = 1.0
        i, j = i[few], j[few]
        for rows, pairs in self.gaps.by_rows(i + tile[0].start, j + tile[1].start):
            first, second = i[pairs] + tile[0].start, j[pairs] + tile[1].start
            a, b = i[pairs], j[pairs]
            if len(rows) < FEWEST_SHARED:
                p[a, b] = np.nan
                continue
            columns, place = np.unique(np.concatenate([first, second]), return_inverse=True)
            at = place[: len(first)], place[len(first) :]
            new = self._part(rows, columns, judged)
            p[a, b], by[a, b], effective[a, b] = (each[at] for each in new)
        if tile[0] == tile[1]:
            for each in found:
                each[j, i] = each[i, j]
            p[np.tril_indices(len(p), -1)] = p.T[np.tril_indices(len(p), -1)]

    def _part(self, rows: Indices, columns: Indices, judged: Judge) -> Judged:
        """Some columns in rows where they have values."""
        X, groups = part_of(self.X, self.groups, rows, columns)
        standard = standardised(X, groups, ranks=True, counted=True)
        return judged(X, groups, standard, None if self.rows is None else self.rows.among(rows))


def _worth_judging(p: Array) -> Indices:
    """Which pairs are judged by their rows alone: all where they are not many."""
    if len(p) <= _ALL:
        return np.arange(len(p))
    may = np.flatnonzero(p <= _MAY_BE)
    return may[np.argsort(p[may], kind="stable")[:_MOST]]
