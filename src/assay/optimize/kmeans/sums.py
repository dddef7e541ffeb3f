"""What the rows of each centre add up to: the small summary that a pass of k-means makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What the rows of each centre add up to.

    Attributes:
        sums: (k, d) weighted sums, in the units of the passes.
        sizes: (k,) weights.
        counts: (k,) rows of positive weight.
    """

    sums: Array
    sizes: Array
    counts: NDArray[np.int64]

    @classmethod
    def zero(cls, k: int, d: int) -> Sums:
        """Of no rows."""
        return cls(np.zeros((k, d)), np.zeros(k), np.zeros(k, dtype=np.int64))

    def add(self, other: Sums) -> None:
        """Add what other rows add up to."""
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            mine += theirs

    def hand_over(self, z: Array, weight: float, donor: int, to: int) -> None:
        """Count one row for another centre."""
        for centre, sign in ((donor, -1), (to, 1)):
            self.sums[centre] += sign * weight * z
            self.sizes[centre] += sign * weight
            self.counts[centre] += sign

    def means(self, centers: Array) -> Array:
        """(k, d) means of the rows; of a centre without rows where it is."""
        held = self.counts > 0
        return np.where(held[:, None], self.sums / np.where(held, self.sizes, 1.0)[:, None], centers)

    def level(self, centers: Array) -> float:
        """Sum of squared distances to the centres, less what does not depend on them."""
        # not by BLAS, whose threads would change the last bits
        return float((centers * (self.sizes[:, None] * centers - 2.0 * self.sums)).sum())

    def separation(self, centers: Array, inertia: float) -> float:
        """Sum of squares between the groups over that within them, both about the means of the groups.

        Args:
            centers: (k, d) centres that the rows were given to.
            inertia: weighted sum of squared distances to them, in the same units.

        Returns:
            inf where all rows are at their means, nan where there is only one place for all.
        """
        means = self.means(centers)
        within = inertia - float(self.sizes @ ((means - centers) ** 2).sum(axis=1))
        middle = self.sums.sum(axis=0) / self.sizes.sum()
        between = float(self.sizes @ ((means - middle) ** 2).sum(axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.divide(between, max(within, 0.0)))

    def clear(self) -> None:
        """Forget all rows."""
        for part in self.parts:
            part[...] = 0

    @property
    def parts(self) -> tuple[NDArray[Any], ...]:
        """The three arrays."""
        return self.sums, self.sizes, self.counts


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """A row that a centre without rows may take.

    Attributes:
        square: its weighted squared distance.
        z: (d,) where it is.
        weight: its own.
        donor: the centre it is taken from.
    """

    square: float
    z: Array
    weight: float
    donor: int


def spared(rows: list[Taken], total: Sums, count: int) -> list[Taken]:
    """The first `count` of the farthest rows that leave their centre at least one row."""
    left = total.counts.copy()
    kept: list[Taken] = []
    for row in sorted(rows, key=lambda row: -row.square):
        if len(kept) < count and left[row.donor] > 1:
            left[row.donor] -= 1
            kept.append(row)
    return kept
