"""Rows drawn far apart by k-means||, over blocks that workers read: a few passes, whoever makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.sampling import row_keys
from assay.engine.current import map_reduce, mapped_blocks
from assay.optimize.kmeans.passes import Passes
from assay.optimize.team import Team

# first row, rows and their weights
Part: TypeAlias = tuple[int, NDArray[Any], Array | None]

_ROUNDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """How a block of rows is looked at: z = scale x - origin."""

    origin: Array
    scale: float

    def __call__(self, part: Part) -> Passes:
        """The rows of a block, ready for passes."""
        _, block, weights = part
        return Passes(np.ascontiguousarray(block, dtype=np.float64), weights, Team(1), self.origin, self.scale)


def drawn_apart(blocks: Any, look: Look, k: int, seed: int) -> tuple[Array, Array]:
    """Some 10 k rows to condense into a start: five rounds of two passes, 2 k rows drawn in each.

    Every row has a random number of its own in each round, so that it does not matter how blocks are cut.

    Args:
        blocks: first row, rows and weights of each.
        look: at them.
        k: how many centres there will be.
        seed: of the draws.

    Returns:
        (m, d) the rows as looked at, and (m,) the weights of the rows nearest to each.

    References:
        Bahmani et al., Scalable k-means++, 2012.
    """
    points = _any_row(blocks, look, seed)[1][None]
    for turn in range(_ROUNDS):
        # sums of many roundings: only the draw depends on them
        total = map_reduce(blocks, lambda part: float(look(part).grouped(points)[1].sum()), float.__add__)  # noqa: B023

        def draw(part: Part, turn: int = turn, points: Array = points, total: float = total) -> Array:
            rows = look(part)
            mass = rows.grouped(points)[1]
            picked = np.flatnonzero(row_keys(part[0], rows.n, seed + 1 + turn) * total < 2 * k * mass)
            return rows.inside(rows.rows.X[picked])

        points = np.concatenate([points, *mapped_blocks(blocks, draw)])
    distinct = np.unique(points, axis=0)
    return distinct, map_reduce(blocks, lambda part: look(part).grouped(distinct)[2].sizes, np.add)


def _any_row(blocks: Any, look: Look, seed: int) -> tuple[float, Array]:
    """A row drawn by weight: the first to be called, had each a clock that runs at the rate of its weight."""

    def earliest(part: Part) -> tuple[float, Array]:
        first, block, weights = part
        times = -np.log1p(-row_keys(first, len(block), seed))
        if weights is not None:
            times = np.divide(times, weights, out=np.full(len(block), np.inf), where=weights > 0.0)
        row = int(np.argmin(times))
        return float(times[row]), look(part).inside(np.asarray(block[row], dtype=np.float64))

    return map_reduce(blocks, earliest, lambda a, b: a if a[0] <= b[0] else b)
