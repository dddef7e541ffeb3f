"""Where k-means starts: rows drawn far apart.

k-means++ draws each next centre with chance proportional to a row's squared distance to the centres so far; the greedy
form draws a few and keeps the one that lowers the sum of squares most (Arthur & Vassilvitskii 2007). k-means|| draws
many rows in each of a few rounds, and groups those (Bahmani et al. 2012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.optimize.kmeans.passes import Passes

_FAR = 2.0**60  # beyond any squared distance in the units of the passes, where coordinates are about 1
_ROUNDS = 5  # of k-means||
_EXACT = np.dtype(np.float64)


def plus_plus(passes: Passes, k: int, rng: np.random.Generator, start: Array | None = None) -> Array:
    """Centres to start from: k rows drawn by greedy k-means++, from 2 + log k candidates each.

    Args:
        passes: the rows.
        k: how many to draw.
        rng: draws.
        start: (m, d) centres there are already, in the units of the passes.

    Returns:
        (k, d) in the units of the passes; they repeat where there are fewer distinct rows.
    """
    near = _Nearness(passes)
    for centre in [] if start is None else start:
        near.add(centre[None])
    chosen = np.empty((k, passes.d))
    for c in range(k):
        first = c == 0 and start is None
        rows = near.draw(rng.random(1 if first else 2 + int(np.log(k))))
        candidates = passes.inside(passes.rows.X[rows])
        chosen[c] = candidates[near.add(candidates)]
    return chosen


class _Nearness:
    """Squared distances of rows to the nearest centre drawn so far; at first all alike.

    In float64 whatever the rows are: last digits decide which rows are drawn, and equal values have equal starts.
    """

    def __init__(self, passes: Passes) -> None:
        from assay.optimize.kmeans import _seeding_kernels

        self._kernels = _seeding_kernels
        n = passes.n + -passes.n % 4
        self._passes, self._pieces = passes, passes.pieces(1)
        self._weights = np.zeros(n)
        self._weights[: passes.n] = passes.rows.weights if passes.rows.weights.size else 1.0
        self._near = np.full(n, _FAR)
        self._tiles, self._sizes = np.zeros((n, passes.width(_EXACT))), np.zeros(n)
        work = partial(self._kernels.lay_out, passes.rows)
        passes.each(self._pieces, lambda _, lo, hi: work(lo, hi, self._tiles, self._sizes))

    def add(self, candidates: Array) -> int:
        """Add the one of (m, d) candidates that lowers the weighted sum most; which one."""
        tile = self._passes.tile(candidates, _EXACT)
        squares = np.empty((len(tile), len(self._near)))
        work = partial(self._kernels.lowered, self._tiles, self._sizes, self._near, tile)
        self._passes.each(self._pieces, lambda _, lo, hi: work(lo, hi + -hi % 4, squares))
        # not by BLAS, whose threads would change the last bits
        best = int(np.argmin([(row * self._weights).sum() for row in squares[: len(candidates)]]))
        self._near[:] = squares[best]
        return best

    def draw(self, shares: Array) -> NDArray[np.int64]:
        """Rows at these shares of the running sum of weighted squared distances."""
        running = np.cumsum(self._near * self._weights)
        if running[-1] <= 0.0:  # every row is a centre already
            return np.zeros(1, dtype=np.int64)
        last = int(np.searchsorted(running, running[-1]))
        rows: NDArray[np.int64] = np.searchsorted(running, shares * running[-1], side="right")
        return np.minimum(rows, last)


def scattered(blocks: Callable[[], Iterable[Passes]], k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Some 10 k rows to condense into a start, by k-means||: five rounds, 2 k rows drawn in each.

    Args:
        blocks: starts a pass over the rows, block by block, all in the same units.
        k: how many centres there will be.
        rng: draws.

    Returns:
        (m, d) the rows, in the units of the blocks, and (m,) the weights of the rows nearest to each.
    """
    first = next(block for block in blocks() if not block.rows.weights.size or block.rows.weights.any())
    points = [plus_plus(first, 1, rng)]
    for _ in range(_ROUNDS):
        drawn = np.concatenate(points)
        masses = [block.grouped(drawn)[1] for block in blocks()]
        total = sum(float(mass.sum()) for mass in masses)
        for block, mass in zip(blocks(), masses, strict=True):
            rows = np.flatnonzero(rng.random(block.n) * total < 2 * k * mass)
            points.append(block.inside(block.rows.X[rows]))
    distinct = np.unique(np.concatenate(points), axis=0)
    return distinct, np.sum([block.grouped(distinct)[2].sizes for block in blocks()], axis=0)
