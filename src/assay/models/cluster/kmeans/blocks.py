"""Lloyd's iteration on rows that are read block by block, pass after pass: never more than a few blocks are held.

each pass   (k, d) sums, (k,) weights and counts of the rows nearest to each centre, merged in the order of blocks
start       from a fair sample of rows, or by k-means|| over all of them
held        one label for each row, and the centres
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.data.blocks import FloatBlocks
from assay.data.partitions import beside
from assay.data.sampling import row_keys
from assay.engine.current import map_reduce, mapped_blocks, scattered
from assay.errors import ParameterError
from assay.optimize.kmeans import seeding
from assay.optimize.kmeans.lloyd import Lloyd, Settled, condense, lloyd, settle
from assay.optimize.kmeans.passes import CentreSums, KMeansUnits, Passes, Taken, spared, unit
from assay.optimize.team import Team
from assay.summary.incomplete.missing_patterns import Observed
from assay.summary.moments.accumulate import checked_weights, refuse_unusable_rows

# first row, rows and their weights
Part: TypeAlias = tuple[int, NDArray[Any], Array | None]

_FEW_ROWS = 10_000  # up to so many ten starts take no time
_DRAWN = 1 << 24  # numbers that the rows drawn for a start may have at most: 128 MB


def lloyd_of_blocks(
    blocks: FloatBlocks,
    k: int,
    *,
    init: str | Array,
    seed: int,
    n_init: int | Literal["auto"],
    max_iter: int,
    tol: float,
    weights: ArrayLike | None = None,
    dtype: Any = np.float64,
) -> Lloyd:
    """Group rows around k centres, as `lloyd` does, without holding them.

    Args:
        blocks: the rows; read once for each pass.
        k: how many centres.
        init: "k-means++", on rows drawn fairly that fit into 128 MB, "k-means||", or (k, d) centres.
        seed: of the start.
        n_init: how many starts on those rows, of which the best goes on; "k-means||" has one.
        max_iter, tol, weights: as for `lloyd`.
        dtype: of the centres that are handed out.
    """
    table = _Table(blocks, weights)
    refuse_few(k, table.n, table.weights)
    if not isinstance(init, str):
        start = np.asarray(init, dtype=np.float64)
    elif init == "k-means||":
        start = table.units.outside(condense(*seeding.scattered(BlockDraws(table.blocks, table.units, seed), k), k))
    else:
        drawn, w = table.drawn(seed)
        if k > len(drawn):
            raise ParameterError(f"n_clusters={k} centres do not fit into memory; ask for fewer clusters")
        start = lloyd(
            drawn, k, seed=seed, n_init=starts_of(n_init, table.n), max_iter=max_iter, tol=tol, weights=w
        ).centers
    found = settle(table, table.units.inside(start), max_iter=max_iter, bound=tol * table.variance)
    return table.read(found, dtype)


def drawn_rows(blocks: FloatBlocks, seed: int) -> Array:
    """Rows drawn fairly, as many as fit into 128 MB."""
    return _Table(blocks, None).drawn(seed)[0]


def starts_of(n_init: int | Literal["auto"], n: int) -> int:
    """How many starts for n rows."""
    return (10 if n <= _FEW_ROWS else 1) if n_init == "auto" else int(n_init)


def refuse_few(k: int, n: int, weights: Array | None) -> None:
    """Raise where fewer rows count than there are clusters."""
    counted = n if weights is None else int((weights > 0.0).sum())
    if not counted:
        raise ParameterError("the weight of every row is zero, so that none counts; give some a positive weight")
    if k > counted:
        which = "" if weights is None else " of positive weight"
        raise ParameterError(f"n_clusters={k} is more than the n_samples={counted} rows{which}: ask for fewer clusters")


class _Table:
    """Rows of a source, in units fit for sums of squares; workers keep them between passes."""

    def __init__(self, blocks: FloatBlocks, weights: ArrayLike | None) -> None:
        given = None if weights is None else np.asarray(weights, dtype=np.float64)
        self.blocks = scattered(beside(blocks, given))
        seen = Observed.of(self.blocks, columns=blocks.columns)
        if seen.missing.any():
            refuse_unusable_rows(self.blocks, blocks.columns)
        self.n, self.d = seen.rows, seen.d
        self.weights = None if weights is None else checked_weights(weights, seen.rows)
        scale = unit(float((0.5 * seen.high - 0.5 * seen.low).max(initial=0.0)), np.dtype(np.float64))
        self.units = KMeansUnits(seen.mean * scale, scale)
        self.variance = float(np.mean((seen.norm * scale) ** 2)) / seen.rows

    def drawn(self, seed: int) -> tuple[Array, Array | None]:
        """Rows drawn fairly, the same however blocks are cut, and their weights."""
        share = _DRAWN / (self.n * self.d)

        def draw(part: Part) -> tuple[Array, Array | None]:
            first, block, w = part
            kept = np.flatnonzero(row_keys(first, len(block), seed) < share)
            return np.asarray(block[kept], dtype=np.float64), None if w is None else w[kept]

        rows, weights = zip(*mapped_blocks(self.blocks, draw), strict=True)
        return np.ascontiguousarray(np.concatenate(rows)), None if self.weights is None else np.concatenate(weights)

    def assign(self, centers: Array, total: CentreSums) -> None:
        """One pass: what the rows nearest to each centre add up to."""
        units = self.units
        total.clear()
        total.add(map_reduce(self.blocks, lambda part: _passes(part, units).grouped(centers)[2], _merged))

    def farthest(self, centers: Array, total: CentreSums, count: int) -> list[Taken]:
        """Up to `count` rows that add most to the sum of squares, none of them the last row of its centre."""
        units = self.units

        def farthest(part: Part) -> list[Taken]:
            rows = _passes(part, units)
            return rows.farthest(centers, rows.grouped(centers)[0], total, count)

        return spared(map_reduce(self.blocks, farthest, lambda a, b: a + b), total, count)

    def read(self, found: Settled, dtype: Any) -> Lloyd:
        """Labels and indices about the centres as the user sees them, in the precision in which they are kept."""
        centers = self.units.outside(found.centers).astype(dtype)
        units = KMeansUnits.about(centers, self.units.scale)
        exact = units.inside(centers)

        def grouped(part: Part) -> tuple[list[NDArray[np.int32]], float, CentreSums]:
            labels, squares, total = _passes(part, units).grouped(exact)
            return [labels], float(squares.sum()), total

        labels, inertia, total = map_reduce(
            self.blocks, grouped, lambda a, b: (a[0] + b[0], a[1] + b[1], _merged(a[2], b[2]))
        )
        return Lloyd.of(found, centers, units, np.concatenate(labels), inertia, total)


@dataclass(frozen=True, slots=True, eq=False)
class BlockDraws:
    """Rows of blocks to draw from, by k-means||.

    Every row has a random number of its own in each round, so that it does not matter how blocks are cut.

    Attributes:
        blocks: first row, rows and weights of each.
        units: how the rows are seen.
        seed: of the draws.
    """

    blocks: Any
    units: KMeansUnits
    seed: int

    def first(self) -> Array:
        """(1, d) a row drawn by weight: the first to be called, had each a clock running at the rate of its weight."""
        units, seed = self.units, self.seed

        def earliest(part: Part) -> tuple[float, Array]:
            first, block, weights = part
            times = -np.log1p(-row_keys(first, len(block), seed))
            if weights is not None:
                times = np.divide(times, weights, out=np.full(len(block), np.inf), where=weights > 0.0)
            row = int(np.argmin(times))
            return float(times[row]), units.inside(block[row])

        return map_reduce(self.blocks, earliest, lambda a, b: a if a[0] <= b[0] else b)[1][None]

    def more(self, points: Array, count: int, turn: int) -> Array:
        """About `count` rows, drawn with chances proportional to their squared distance to the nearest point."""
        units, seed = self.units, self.seed + 1 + turn
        # sums of many roundings: only the draw depends on them
        total = map_reduce(
            self.blocks, lambda part: float(_passes(part, units).grouped(points)[1].sum()), float.__add__
        )

        def draw(part: Part) -> Array:
            first, block, _ = part
            mass = _passes(part, units).grouped(points)[1]
            return units.inside(block[np.flatnonzero(row_keys(first, len(block), seed) * total < count * mass)])

        return np.concatenate(mapped_blocks(self.blocks, draw))

    def sizes(self, points: Array) -> Array:
        """(m,) weights of the rows nearest to each of (m, d) points."""
        units = self.units
        return map_reduce(self.blocks, lambda part: _passes(part, units).grouped(points)[2].sizes, np.add)


def _passes(part: Part, units: KMeansUnits) -> Passes:
    """The rows of a block, ready for passes."""
    _, block, weights = part
    return Passes(np.ascontiguousarray(block, dtype=np.float64), weights, Team(1), units)


def _merged(a: CentreSums, b: CentreSums) -> CentreSums:
    a.add(b)
    return a
