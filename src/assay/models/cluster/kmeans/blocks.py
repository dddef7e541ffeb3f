"""Lloyd's iteration on rows that are read block by block, pass after pass: never more than a few blocks are held.

each pass   (k, d) sums, (k,) weights and counts of the rows nearest to each centre, merged in the order of blocks
start       from a fair sample of rows, or by k-means|| over all of them
held        one label for each row, and the centres
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.data.blocks import FloatBlocks
from assay.data.partitions import beside
from assay.data.sampling import row_keys
from assay.engine.current import map_reduce, mapped_blocks, scattered
from assay.errors import ParameterError
from assay.models.cluster.kmeans.apart import Look, Part, drawn_apart
from assay.optimize.kmeans.lloyd import Lloyd, condense, lloyd
from assay.optimize.kmeans.passes import unit
from assay.optimize.kmeans.settle import Settled, settle
from assay.optimize.kmeans.sums import Sums, Taken, spared
from assay.summary.incomplete.missing_patterns import Observed
from assay.summary.moments.accumulate import checked_weights, refuse_unusable_rows

Floats: TypeAlias = NDArray[Any]

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
        start = table.outside(condense(*drawn_apart(table.blocks, table.look, k, seed), k))
    else:
        drawn, w = table.drawn(seed)
        if k > len(drawn):
            raise ParameterError(f"n_clusters={k} centres do not fit into memory; ask for fewer clusters")
        start = lloyd(
            drawn, k, seed=seed, n_init=starts_of(n_init, table.n), max_iter=max_iter, tol=tol, weights=w
        ).centers
    found = settle(table, table.inside(start), max_iter=max_iter, bound=tol * table.variance)
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
        self.scale = unit(float((0.5 * seen.high - 0.5 * seen.low).max(initial=0.0)), np.dtype(np.float64))
        self.origin = seen.mean * self.scale
        self.variance = float(np.mean((seen.norm * self.scale) ** 2)) / seen.rows

    def inside(self, centers: Floats) -> Array:
        z: Array = np.asarray(centers, dtype=np.float64) * self.scale - self.origin
        return z

    def outside(self, centers: Array) -> Array:
        return (centers + self.origin) / self.scale

    @property
    def look(self) -> Look:
        return Look(self.origin, self.scale)

    def drawn(self, seed: int) -> tuple[Array, Array | None]:
        """Rows drawn fairly, the same however blocks are cut, and their weights."""
        share = _DRAWN / (self.n * self.d)

        def draw(part: Part) -> tuple[Array, Array | None]:
            first, block, w = part
            kept = np.flatnonzero(row_keys(first, len(block), seed) < share)
            return np.asarray(block[kept], dtype=np.float64), None if w is None else w[kept]

        rows, weights = zip(*mapped_blocks(self.blocks, draw), strict=True)
        return np.ascontiguousarray(np.concatenate(rows)), None if self.weights is None else np.concatenate(weights)

    def assign(self, centers: Array, total: Sums) -> None:
        """One pass: what the rows nearest to each centre add up to."""
        look = self.look
        total.clear()
        total.add(map_reduce(self.blocks, lambda part: look(part).grouped(centers)[2], _merged))

    def farthest(self, centers: Array, total: Sums, count: int) -> list[Taken]:
        """Up to `count` rows that add most to the sum of squares, none of them the last row of its centre."""
        look = self.look

        def farthest(part: Part) -> list[Taken]:
            rows = look(part)
            return rows.farthest(centers, rows.grouped(centers)[0], total, count)

        return spared(map_reduce(self.blocks, farthest, lambda a, b: a + b), total, count)

    def read(self, found: Settled, dtype: Any) -> Lloyd:
        """Labels and indices about the centres as the user sees them, in the precision in which they are kept."""
        kept = self.outside(found.centers).astype(dtype)
        centers = kept.astype(np.float64)
        origin = (centers * self.scale).mean(axis=0)
        exact, look = centers * self.scale - origin, Look(origin, self.scale)

        def grouped(part: Part) -> tuple[list[NDArray[np.int32]], float, Sums]:
            labels, squares, total = look(part).grouped(exact)
            return [labels], float(squares.sum()), total

        labels, inertia, total = map_reduce(
            self.blocks, grouped, lambda a, b: (a[0] + b[0], a[1] + b[1], _merged(a[2], b[2]))
        )
        with np.errstate(over="ignore"):
            outside = float(np.float64(inertia) / self.scale / self.scale)
        return Lloyd(
            kept,
            np.concatenate(labels),
            outside,
            found.n_iter,
            found.converged,
            total.sizes,
            total.separation(exact, inertia),
        )


def _merged(a: Sums, b: Sums) -> Sums:
    a.add(b)
    return a
