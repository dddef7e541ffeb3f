"""Merging groups that are nearest to each other, without a matrix of distances: each finds its nearest by its centre.

Two groups that are nearest to each other will be merged sooner or later whatever else is merged, for every linkage
here, since a merged group is no nearer to others than its nearer part was (Bruynooghe 1978). So many pairs are merged
in one round, and who lost its nearest looks for it anew, in threads. Where rounds bring few merges fewer groups look,
down to one at a time, which is the nearest-neighbour chain with its bound of 3 n searches.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.arrays import Array, Whole
from assay.optimize.team import Team
from assay.summary.distances.distances import middle
from assay.summary.graph.cells import CELL, boxes_of, by_place, in_cells, out_of_cells, padded

if TYPE_CHECKING:
    from assay.models.cluster.agglomerative._linkage_kernels import LinkageGroups

_PAIRS = 2**24  # centres compared in one task, between which an interrupt is heard
_YIELD = 1 / 8  # merges per search, below which fewer groups look at a time


class MutualNearest:
    """Groups of rows on their way from n to few.

    Args:
        rows: (n, d) in a unit of about their range.
        kind: WARD, COMPLETE or AVERAGE of `_linkage_kernels`.

    Attributes:
        rows: (n, d) the same, those that lie together standing together.
        order: (n,) their numbers in the argument.
    """

    def __init__(self, rows: Array, kind: int) -> None:
        from assay.models.cluster.agglomerative import _linkage_kernels as kernels

        n = len(rows)
        self.order = by_place(rows)
        self.rows = rows[self.order]
        self._kernels, self._kind, self._count = kernels, kind, n
        self._pairs, self._heights = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
        self._following = np.full(n, -1)
        own = np.arange(n)
        w = np.full(n, 1.0 if kind == kernels.WARD else 0.0)
        self._groups = self._gathered(
            self.rows - middle(rows), w, np.ones(n, dtype=np.int64), own, own, np.full(n, -1), np.zeros(n)
        )

    @property
    def pairs(self) -> Whole:
        """(m, 2) merges so far: first items of the two groups, as places in `rows`; the left is that of the whole."""
        return self._pairs[: len(self.rows) - self._count]

    @property
    def heights(self) -> Array:
        """(m,) of the merges so far."""
        return self._heights[: len(self.rows) - self._count]

    def merge_until(self, most: int, least: int = 1) -> None:
        """Merge until there are at most `most` groups, and on to `least` while items need seldom be compared."""
        at_once, seldom = self._count, True
        with Team() as team:
            while self._count > most or (seldom and self._count > least):
                asking = self._kernels.choose(self._groups, at_once)
                seldom = self._search(team, asking) <= len(asking) * self._count
                done = len(self.rows) - self._count
                part = slice(done, len(self.rows) - least)
                merged = self._kernels.merge_round(
                    self._kind, self._groups, self._following, self._pairs[part], self._heights[part]
                )
                self._count -= merged
                at_once = min(2 * at_once, self._count) if merged >= _YIELD * len(asking) else max(1, at_once // 2)
                if self._count < 0.75 * len(self._groups.sizes) - CELL:
                    self._close_up()

    def members(self) -> tuple[Whole, Whole]:
        """The items of each group, group after group, and where each begins, (m + 1,)."""
        keep = np.flatnonzero(self._groups.sizes)
        starts = np.concatenate([[0], np.cumsum(self._groups.sizes[keep])])
        items = np.empty(len(self.rows), dtype=np.int64)
        place, following = self._groups.first[keep], self._following
        at, left = starts[:-1].copy(), np.arange(len(keep))
        while len(left):
            items[at[left]] = place[left]
            place[left] = following[place[left]]
            at[left] += 1
            left = left[place[left] >= 0]
        return items, starts

    def _search(self, team: Team, asking: Whole) -> int:
        """Let some groups find their nearest; how many pairs of items were measured for it."""
        measured: list[int] = []

        def search(part: Whole) -> None:
            measured.append(self._kernels.search(part, self._kind, self._groups, self.rows, self._following))

        block = self._kernels.BLOCK  # whole blocks, so that the work does not depend on the number of threads
        step = min(_PAIRS // len(self._groups.sizes), -(-len(asking) // team.threads))
        step = max(1, -(-step // block)) * block
        team.run([partial(search, asking[lo : lo + step]) for lo in range(0, len(asking), step)])
        return sum(measured)

    def _close_up(self) -> None:
        """Let the groups that are left stand together again."""
        groups = self._groups
        keep = np.flatnonzero(groups.sizes)
        place = np.full(len(groups.sizes) + 1, -1)  # one more, for who does not know its nearest
        place[keep] = np.arange(len(keep))
        rest = (groups.sizes, groups.first, groups.final, place[groups.nearest], groups.near)
        self._groups = self._gathered(
            out_of_cells(groups.cells)[keep], groups.w.ravel()[keep], *(part[keep] for part in rest)
        )

    def _gathered(self, centres: Array, w: Array, *rest: Any) -> LinkageGroups:
        filled = (padded(part, fill) for part, fill in zip(rest, (0, 0, 0, -1, 0.0), strict=True))
        return self._kernels.LinkageGroups(
            in_cells(centres, self._kernels.NOWHERE),
            boxes_of(np.column_stack([centres, w])),
            padded(w, 0.0).reshape(-1, CELL),
            *filled,
        )
