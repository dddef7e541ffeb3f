"""One run of Lloyd's iteration, from given centres until they rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from assay.arrays import Array
from assay.optimize.kmeans.passes import Passes
from assay.optimize.kmeans.sums import Sums, Taken

if TYPE_CHECKING:
    from assay.optimize.kmeans._lloyd_kernels import Bounds

_BOUNDED = 4  # centres from which on bounds save more than they cost


class Assignment(Protocol):
    """Rows that can be given to their nearest centres again and again."""

    def assign(self, centers: Array, total: Sums) -> None:
        """Give every row to its nearest centre, and bring up to date what the rows of each add up to."""

    def farthest(self, centers: Array, total: Sums, count: int) -> list[Taken]:
        """Up to `count` rows that add most to the sum of squares, none of them the last row of its centre."""


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """Where one run ended, in the units of its passes.

    Attributes:
        centers: (k, d) means of the rows that were nearest to the centres before.
        n_iter: passes made.
        converged: whether the last one moved the centres by no more than the bound.
    """

    centers: Array
    n_iter: int
    converged: bool


def settle(
    rows: Assignment, start: Array, *, max_iter: int, bound: float, refill: bool = True, ahead: bool = False
) -> Settled:
    """Repeat: rows to their nearest centre, centres to the mean of their rows.

    Args:
        rows: what is grouped.
        start: (k, d) centres.
        max_iter: most passes.
        bound: stop when the squared moves of the centres sum to at most this.
        refill: give a centre without rows the row that adds most to the sum of squares; else it stays where it is.
        ahead: go on beyond the means in the direction they have been moving (Nesterov's momentum), as long as that
            lowers the sum of squares by at least what the plain step is sure to.
    """
    total, speed = Sums.zero(*start.shape), _Momentum(ahead)
    centers, moved, sure = start, start, np.inf
    n_iter, converged = 0, False
    while n_iter < max_iter and not converged:
        n_iter += 1
        rows.assign(centers, total)
        if ahead and total.level(centers) > sure:  # too far: take the plain step instead
            if n_iter == max_iter:
                break
            n_iter += 1
            speed, centers = _Momentum(ahead), moved
            rows.assign(centers, total)
        refilled = refill and not total.counts.all() and _refill(rows, centers, total)
        moved = total.means(centers)
        step = ((moved - centers) ** 2).sum(axis=1)
        converged = not refilled and float(step.sum()) <= bound
        if refilled:
            speed, sure = _Momentum(ahead), np.inf
        else:
            sure = total.level(centers) - float(total.sizes @ step)
        centers = speed.beyond(moved)
    return Settled(moved, n_iter, converged)


class _Momentum:
    """How far to go beyond the means: further the longer all goes well (Nesterov 1983)."""

    def __init__(self, ahead: bool) -> None:
        self._ahead, self._t = ahead, 1.0
        self._before: Array | None = None

    def beyond(self, moved: Array) -> Array:
        """Where to look next."""
        before, self._before = self._before, moved
        if before is None or not self._ahead:
            return moved
        t, self._t = self._t, 0.5 + np.sqrt(0.25 + self._t**2)
        return moved + (t - 1.0) / self._t * (moved - before)


def _refill(rows: Assignment, centers: Array, total: Sums) -> bool:
    """Hand rows to centres that have none; says whether any were found."""
    empty = np.flatnonzero(total.counts == 0)
    taken = rows.farthest(centers, total, len(empty))
    for centre, row in zip(empty, taken, strict=False):
        total.hand_over(row.z, row.weight, row.donor, int(centre))
    return bool(taken)


class ArrayAssignment:
    """Rows of an array, with bounds kept from pass to pass that spare most searches.

    Args:
        passes: the rows.
    """

    def __init__(self, passes: Passes) -> None:
        self.passes = passes
        self.bounds: Bounds = passes.unknown()
        self._before: Array | None = None

    def assign(self, centers: Array, total: Sums) -> None:
        """Give every row to its nearest centre, the first of equally near ones."""
        prepared = self.passes.prepare(centers, self._before)
        self.passes.reassign(prepared, self.bounds, total, fresh=self._before is None)
        self._before = centers if len(centers) >= _BOUNDED else None

    def farthest(self, centers: Array, total: Sums, count: int) -> list[Taken]:
        """Up to `count` rows that add most to the sum of squares, none of them the last row of its centre."""
        self._before = None  # they change centre without the bounds knowing
        return self.passes.farthest(centers, self.bounds.labels, total, count)
