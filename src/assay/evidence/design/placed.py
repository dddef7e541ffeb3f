"""Rows at places: what lies near is alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from assay.evidence.design.design import Array, Design, Kind, Numbers, with_ends

_WAVES = 8  # along a side of the map, at most


@dataclass(frozen=True, slots=True, eq=False)
class Placed(Design):
    """Rows at places of a map: those nearer than `reach` depend on each other.

    A draw shifts a column over the map, around its edges, and gives each place the values of the nearest one. So a
    column keeps what it has in common with its neighbourhood, but for the seams.

    Attributes:
        at: (n, 2) coordinates.
        reach: distance over which dependence fades, in their unit.
    """

    at: Array
    reach: float

    kind: ClassVar[Kind] = "place"

    @property
    def _map(self) -> tuple[Array, Array]:
        """Places from 0 on, and the sides of a map that repeats itself: a grid is continued by one step."""
        low, span = self.at.min(axis=0), np.ptp(self.at, axis=0)
        steps = np.maximum(np.sqrt(self.n) - 1.0, 1.0)
        return self.at - low, np.where(span > 0.0, span * (1.0 + 1.0 / steps), 1.0)

    def drawn(self, rng: np.random.Generator) -> Numbers:
        """A shift over the map."""
        at, sides = self._map
        least = np.minimum(self.reach / sides, 0.25)
        far = rng.integers(2)  # along one side the shift is long, along the other it is anything
        shift = rng.random(2)
        shift[far] = least[far] + shift[far] * (1.0 - 2.0 * least[far])
        moved = np.mod(at + shift * sides, sides)
        return np.asarray(cKDTree(np.mod(at, sides), boxsize=sides).query(moved)[1], dtype=np.intp)

    def folds(self, k: int, seed: int = 0) -> Numbers:
        """Cells of the map."""
        return _cells(self.at, min(k, self.n))

    def half(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """One side of a line through the map."""
        angle = rng.random() * 2.0 * np.pi
        at, sides = self._map
        along = (at / sides) @ np.array([np.cos(angle), np.sin(angle)])
        return np.asarray(np.argsort(np.argsort(along, kind="stable"), kind="stable") < self.n // 2)

    def signature(self, Z: Array) -> Array:
        """Power in waves over the map, and what is left in none of them."""
        at, sides = self._map
        most = int(min(_WAVES, max(1.0, np.sqrt(self.n) / 2 - 1)))
        waves = [(a, b) for a in range(most + 1) for b in range(-most, most + 1) if a > 0 or b > 0]
        phase = 2.0 * np.pi * (at / sides) @ np.array(waves, dtype=np.float64).T
        # cosine and sine of each wave: the power of a column of length 1 over all waves is at most about 1
        power = ((np.cos(phase).T @ Z) ** 2 + (np.sin(phase).T @ Z) ** 2) / self.n
        power = np.minimum(power / np.maximum(2.0 * power.sum(axis=0), 1.0), 0.5)
        rest = np.maximum(1.0 - 2.0 * power.sum(axis=0), 0.0)
        free = max(self.n - 1 - 2 * len(waves), 1)
        return with_ends(np.concatenate([np.sqrt(2.0) * power, rest[None] / np.sqrt(free)]))

    def among(self, numbers: Numbers) -> Placed:
        """The same for some rows."""
        return Placed(len(numbers), self.at[numbers], self.reach, limit=self.limit)

    def thinned(self, rng: np.random.Generator) -> Numbers:
        """Rows that lie farther apart than the reach."""
        near = cKDTree(self.at).query_ball_point(self.at, self.reach)
        kept, covered = [], np.zeros(self.n, dtype=bool)
        for row in rng.permutation(self.n):
            if not covered[row]:
                kept.append(int(row))
                covered[near[row]] = True
        return np.sort(np.array(kept, dtype=np.intp))


def _cells(at: Array, k: int) -> Numbers:
    """(n,) cells of about as many places each, cut one after another across the longer side."""
    cell = np.zeros(len(at), dtype=np.intp)
    if k < 2:
        return cell
    side = int(np.ptp(at, axis=0).argmax())
    first = np.argsort(np.argsort(at[:, side], kind="stable"), kind="stable") < len(at) * (k // 2) / k
    cell[first] = _cells(at[first], k // 2)
    cell[~first] = k // 2 + _cells(at[~first], k - k // 2)
    return cell
