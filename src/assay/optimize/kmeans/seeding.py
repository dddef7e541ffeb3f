"""Where k-means starts: rows drawn far apart.

k-means++ draws each next centre with chance proportional to a row's squared distance to the centres so far; the greedy
form draws a few and keeps the one that lowers the sum of squares most (Arthur & Vassilvitskii 2007). k-means|| draws
many rows in each of a few rounds, and groups those (Bahmani et al. 2012).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from assay.arrays import Array, Whole
from assay.optimize.kmeans.passes import Passes

_FAR = 2.0**60  # beyond any squared distance in the units of the passes, where coordinates are about 1
_ROUNDS = 5  # of k-means||
_EXACT = np.dtype(np.float64)


class Nearness(ABC):
    """Squared distances of rows to the nearest centre drawn so far; at first all alike.

    Args:
        weights: (n,) of rows.
        d: how many columns they have.
    """

    def __init__(self, weights: Array, d: int) -> None:
        self.weights, self.d = weights, d
        self.near = np.full(len(weights), _FAR)

    @abstractmethod
    def places(self, rows: Whole) -> Array:
        """(m, d) where some rows are."""

    @abstractmethod
    def lowered(self, candidates: Array) -> Array:
        """(m, n) what the squared distances would be with one of (m, d) candidates added to the centres."""

    def add(self, center: Array) -> None:
        """Add a centre that need not be a row."""
        self.keep(self.lowered(center[None]))

    def take(self, rows: Whole) -> Array:
        """Add the one of some rows that lowers the weighted sum most; (d,) where it is."""
        candidates = self.places(rows)
        return np.asarray(candidates[self.keep(self.lowered(candidates))])

    def keep(self, squares: Array) -> int:
        """Which of (m, n) squared distances have the smallest weighted sum; they are those of now on."""
        # not by BLAS, whose threads would change the last bits
        best = int(np.argmin([(row * self.weights).sum() for row in squares]))
        self.near[:] = squares[best]
        return best

    def draw(self, shares: Array) -> Whole:
        """Rows at these shares of the running sum of weighted squared distances."""
        running = np.cumsum(self.near * self.weights)
        if running[-1] <= 0.0:  # every row is a centre already
            return np.zeros(1, dtype=np.int64)
        last = int(np.searchsorted(running, running[-1]))
        return np.asarray(np.minimum(np.searchsorted(running, shares * running[-1], side="right"), last))


def plus_plus(near: Nearness, k: int, rng: np.random.Generator, start: Array | None = None) -> Array:
    """Centres to start from: k rows drawn by greedy k-means++, from 2 + log k candidates each.

    Args:
        near: how far rows are from the centres; further ones are added.
        k: how many to draw.
        rng: draws.
        start: (m, d) centres there are already, in the units of the passes.

    Returns:
        (k, d) in the units of the passes; they repeat where there are fewer distinct rows.
    """
    chosen = np.empty((k, near.d))
    for centre in [] if start is None else start:
        near.add(centre)
    for c in range(k):
        first = c == 0 and start is None
        chosen[c] = near.take(near.draw(rng.random(1 if first else 2 + int(np.log(k)))))
    return chosen


class ArrayNearness(Nearness):
    """Squared distances of the rows of an array to the nearest centre.

    In float64 whatever the rows are: last digits decide which rows are drawn, and equal values have equal starts.

    Args:
        passes: the rows.
    """

    def __init__(self, passes: Passes) -> None:
        from assay.optimize.kmeans import _kernels

        n = passes.n + -passes.n % 4
        weights = np.zeros(n)
        weights[: passes.n] = passes.rows.weights if passes.rows.weights.size else 1.0
        super().__init__(weights, passes.d)
        self._kernels, self._passes, self._pieces = _kernels, passes, passes.pieces(1)
        self._tiles, self._sizes = np.zeros((n, passes.width(_EXACT))), np.zeros(n)
        work = partial(_kernels.lay_out, passes.rows)
        passes.each(self._pieces, lambda _, lo, hi: work(lo, hi, self._tiles, self._sizes))

    def places(self, rows: Whole) -> Array:
        """(m, d) where some rows are."""
        return self._passes.units.inside(self._passes.rows.X[rows])

    def lowered(self, candidates: Array) -> Array:
        """(m, n') what the squared distances would be with one of (m, d) candidates added to the centres."""
        tile = self._passes.tile(candidates, _EXACT)
        squares = np.empty((len(tile), len(self.near)))
        work = partial(self._kernels.lowered, self._tiles, self._sizes, self.near, tile)
        self._passes.each(self._pieces, lambda _, lo, hi: work(lo, hi + -hi % 4, squares))
        return squares[: len(candidates)]


class SeedDraws(Protocol):
    """Rows from which k-means|| draws, wherever they are."""

    def first(self) -> Array:
        """(1, d) a row drawn by weight."""

    def more(self, points: Array, count: int, turn: int) -> Array:
        """About `count` rows, drawn with chances proportional to their squared distance to the nearest point."""

    def sizes(self, points: Array) -> Array:
        """(m,) weights of the rows nearest to each of (m, d) points."""


def scattered(rows: SeedDraws, k: int) -> tuple[Array, Array]:
    """Some 10 k rows to condense into a start, by k-means||: five rounds, 2 k rows drawn in each.

    Args:
        rows: to draw from.
        k: how many centres there will be.

    Returns:
        (m, d) the rows drawn, and (m,) the weights of the rows nearest to each.
    """
    points = rows.first()
    for turn in range(_ROUNDS):
        points = np.concatenate([points, rows.more(points, 2 * k, turn)])
    distinct = np.unique(points, axis=0)
    return distinct, rows.sizes(distinct)


@dataclass(frozen=True, slots=True, eq=False)
class ArrayDraws:
    """Rows of an array to draw from.

    Attributes:
        passes: over the rows.
        rng: draws.
    """

    passes: Passes
    rng: np.random.Generator

    def first(self) -> Array:
        """(1, d) a row drawn by weight."""
        return plus_plus(ArrayNearness(self.passes), 1, self.rng)

    def more(self, points: Array, count: int, turn: int) -> Array:
        """About `count` rows, drawn with chances proportional to their squared distance to the nearest point."""
        mass = self.passes.grouped(points)[1]
        rows = np.flatnonzero(self.rng.random(self.passes.n) * float(mass.sum()) < count * mass)
        return self.passes.units.inside(self.passes.rows.X[rows])

    def sizes(self, points: Array) -> Array:
        """(m,) weights of the rows nearest to each of (m, d) points."""
        return self.passes.grouped(points)[2].sizes
