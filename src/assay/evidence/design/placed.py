"""Rows at places: what lies near is alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from assay.arrays import Array, Indices
from assay.evidence.design.design import Design, Kind

_ASKED = 1000  # rows whose distances are compared
_CLASSES = 30  # of distances, the nearer the narrower


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

    def drawn(self, rng: np.random.Generator) -> Indices:
        """A shift over the map."""
        at, sides = self._map
        least = np.minimum(self.reach / sides, 0.25)
        far = rng.integers(2)  # along one side the shift is long, along the other it is anything
        shift = rng.random(2)
        shift[far] = least[far] + shift[far] * (1.0 - 2.0 * least[far])
        moved = np.mod(at + shift * sides, sides)
        return np.asarray(cKDTree(np.mod(at, sides), boxsize=sides).query(moved)[1], dtype=np.intp)

    def folds(self, k: int, seed: int = 0) -> Indices:
        """Cells of the map."""
        return _cells(self.at, min(k, self.n))

    def half(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """One side of a line through the map."""
        angle = rng.random() * 2.0 * np.pi
        at, sides = self._map
        along = (at / sides) @ np.array([np.cos(angle), np.sin(angle)])
        return np.asarray(np.argsort(np.argsort(along, kind="stable"), kind="stable") < self.n // 2)

    def signature(self, Z: Array) -> Array:
        """Correlations of places by their distance, weighted by how many pairs of places have it.

        The variance of a product of two columns is the sum of their covariances over all pairs of places; that of
        places at one distance is the same wherever they lie.
        """
        found = correlogram(self.at, Z * np.sqrt(self.n))
        return np.concatenate([np.full((1, Z.shape[1]), self.n**-0.5), np.sqrt(found.pairs)[:, None] * found.alike])

    def among(self, numbers: Indices) -> Placed:
        """The same for some rows."""
        return Placed(len(numbers), self.at[numbers], self.reach, limit=self.limit)

    def thinned(self, rng: np.random.Generator) -> Indices:
        """Rows that lie farther apart than the reach."""
        near = cKDTree(self.at).query_ball_point(self.at, self.reach)
        kept, covered = [], np.zeros(self.n, dtype=bool)
        for row in rng.permutation(self.n):
            if not covered[row]:
                kept.append(int(row))
                covered[near[row]] = True
        return np.sort(np.array(kept, dtype=np.intp))


@dataclass(frozen=True, slots=True, eq=False)
class Correlogram:
    """How alike places are by their distance.

    Attributes:
        edges: (k,) upper ends of the classes of distance, ascending.
        pairs: (k,) share of all ordered pairs of places in each class.
        alike: (k, D) correlation of the values of these; 0 where there are none.
    """

    edges: Array
    pairs: Array
    alike: Array


def correlogram(at: Array, Z: Array) -> Correlogram:
    """Correlations by distance, from all pairs of places, or of 1,000 of them.

    Args:
        at: (n, 2) coordinates.
        Z: (n, D) columns of mean 0 and variance 1.
    """
    n = len(at)
    some = np.sort(np.random.default_rng(0).permutation(n)[:_ASKED])
    gaps, z = np.linalg.norm(at[some][:, None] - at[some], axis=2), Z[some]
    edges = float(gaps.max()) * (np.arange(1, _CLASSES + 1) / _CLASSES) ** 2
    place = np.digitize(gaps, edges[:-1])
    np.fill_diagonal(place, _CLASSES)  # a place and itself
    counts = np.bincount(place.ravel(), minlength=_CLASSES + 1)[:_CLASSES]
    sums = np.stack([np.einsum("ij,ij->j", z, (place == k).astype(np.float64) @ z) for k in range(_CLASSES)])
    variance = np.maximum((z**2).mean(axis=0), 1e-300)
    return Correlogram(edges, counts / float(len(some) ** 2), sums / np.maximum(counts, 1)[:, None] / variance)


def _cells(at: Array, k: int) -> Indices:
    """(n,) cells of about as many places each, cut one after another across the longer side."""
    cell = np.zeros(len(at), dtype=np.intp)
    if k < 2:
        return cell
    side = int(np.ptp(at, axis=0).argmax())
    first = np.argsort(np.argsort(at[:, side], kind="stable"), kind="stable") < len(at) * (k // 2) / k
    cell[first] = _cells(at[first], k // 2)
    cell[~first] = k // 2 + _cells(at[~first], k - k // 2)
    return cell
