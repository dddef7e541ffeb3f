"""A pass of k-means: every row to its nearest centre, and what the rows of each centre add up to.

Rows are cut into pieces that do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.optimize.team import Team

if TYPE_CHECKING:
    from assay.optimize.kmeans._kernels import CentreBounds, Centres, RowsByCentre

Floats: TypeAlias = NDArray[Any]

_PIECE_WORK = 2.0**25  # products of a piece at most: some 2 ms, so that an interrupt is noticed
_PIECE_ROWS = 4096
_ROUNDING = 1e-14  # a row so near its centre, in units of the farthest coordinate, is at it
_HELD = 32  # pieces whose sums are held at a time


@dataclass(frozen=True, slots=True, eq=False)
class KMeansUnits:
    """Rows seen as z = scale x - origin, so that neither a far offset nor huge values cost digits.

    Attributes:
        origin: (d,) in scaled units.
        scale: a power of two.
    """

    origin: Array
    scale: float

    @classmethod
    def about(cls, centers: Floats, scale: float) -> KMeansUnits:
        """With the mean of centres as origin: rows are judged alike whatever other rows there are."""
        return cls((centers.astype(np.float64) * scale).mean(axis=0), scale)

    def inside(self, places: Floats) -> Array:
        """Places of the user's units in these."""
        # row by row in memory, so that loops over them are compiled for one layout
        z: Array = np.asarray(places, dtype=np.float64, order="C") * self.scale - self.origin
        return z

    def outside(self, z: Array) -> Array:
        """The reverse."""
        return (z + self.origin) / self.scale

    def squares_outside(self, squares: Any) -> Any:
        """Squared distances in the user's units; inf where those have no number for them."""
        with np.errstate(over="ignore"):
            return squares / self.scale / self.scale


@dataclass(frozen=True, slots=True, eq=False)
class CentreSums:
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
    def zero(cls, k: int, d: int) -> CentreSums:
        """Of no rows."""
        return cls(np.zeros((k, d)), np.zeros(k), np.zeros(k, dtype=np.int64))

    def add(self, other: CentreSums) -> None:
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


def spared(rows: list[Taken], total: CentreSums, count: int) -> list[Taken]:
    """The first `count` of the farthest rows that leave their centre at least one row."""
    left = total.counts.copy()
    kept: list[Taken] = []
    for row in sorted(rows, key=lambda row: -row.square):
        if len(kept) < count and left[row.donor] > 1:
            left[row.donor] -= 1
            kept.append(row)
    return kept


class Passes:
    """Passes over the rows of an array.

    Args:
        X: (n, d) float32 or float64, C-contiguous, finite.
        weights: (n,) or None.
        team: threads to use.
        units: how the rows are seen.
    """

    def __init__(self, X: Floats, weights: Array | None, team: Team, units: KMeansUnits) -> None:
        from assay.optimize.kmeans import _kernels

        self._kernels = _kernels
        self.units = units
        self.n, self.d = int(X.shape[0]), int(X.shape[1])
        self.team = team
        self.dtype = X.dtype
        self.rows: RowsByCentre = _kernels.RowsByCentre(
            X, np.empty(0) if weights is None else weights, units.origin, units.scale
        )

    @classmethod
    def centred(cls, X: Floats, weights: Array | None, team: Team) -> tuple[Passes, float]:
        """Passes where the mean is 0 and the farthest coordinate about 1, and the mean variance of a column."""
        around = cls(X, weights, team, cls._middle(X, team))
        pieces = around.pieces(1)
        parts = np.zeros((2, len(pieces), X.shape[1]))
        around.each(pieces, lambda p, lo, hi: around._kernels.spread(around.rows, lo, hi, *parts[:, p]))
        mean, square = parts.sum(axis=1) / (len(X) if weights is None else weights.sum())
        variance = float(np.maximum(square - mean * mean, 0.0).mean())
        return cls(X, weights, team, KMeansUnits(around.units.origin + mean, around.units.scale)), variance

    def on(self, index: NDArray[np.int64]) -> Passes:
        """The same units for some of the rows."""
        X, weights = self.rows.X, self.rows.weights
        return Passes(X[index], weights[index] if weights.size else None, self.team, self.units)

    @classmethod
    def _middle(cls, X: Floats, team: Team) -> KMeansUnits:
        """Units with the middle of each column as origin, and the value farthest from it about 1."""
        plain = cls(X, None, team, KMeansUnits(np.zeros(X.shape[1]), 1.0))
        pieces = plain.pieces(1)
        low, high = np.full((len(pieces), plain.d), np.inf), np.full((len(pieces), plain.d), -np.inf)
        plain.each(pieces, lambda p, lo, hi: plain._kernels.ranges(X, lo, hi, low[p], high[p]))
        bottom, top = 0.5 * low.min(axis=0), 0.5 * high.max(axis=0)
        scale = unit(float((top - bottom).max()), X.dtype)
        return KMeansUnits((top + bottom) * scale, scale)

    def pieces(self, k: int) -> list[tuple[int, int]]:
        """Where the rows are cut for k centres."""
        size = int(np.clip(_PIECE_WORK // (k * self.d) // 64 * 64, 64, _PIECE_ROWS))
        return [(lo, min(lo + size, self.n)) for lo in range(0, self.n, size)]

    def each(self, pieces: list[tuple[int, int]], work: Callable[[int, int, int], object]) -> None:
        """work(number of the piece, lo, hi) for each piece."""
        self.team.run([partial(work, p, lo, hi) for p, (lo, hi) in enumerate(pieces)])

    def outside(self, centers: Array) -> Floats:
        """Centres in the user's units, in the precision of the data."""
        x: Floats = self.units.outside(centers).astype(self.dtype)
        return x

    def prepare(self, exact: Array, before: Array | None) -> Centres:
        """Centres ready for `reassign`; `before` is where they were, when bounds are to be used."""
        k, d = exact.shape
        eps = float(np.finfo(self.dtype).eps)
        tile = self.tile(exact, self.dtype)
        half = np.full(len(tile) + 1, np.finfo(self.dtype).max / 8, dtype=self.dtype)
        squares = np.einsum("kd,kd->k", exact, exact)
        half[:k] = 0.5 * squares
        gaps, moves = np.zeros(k), np.zeros(k)
        if before is not None:
            shares = self.team.over_rows(k, lambda lo, hi: self._kernels.half_gaps(exact, lo, hi, gaps))
            self.team.run(shares)
            moves = np.sqrt(((exact - before) ** 2).sum(axis=1))
        reach, slop = float(np.sqrt(squares.max())), eps * (d + 8)
        return self._kernels.Centres(exact, tile, half, reach, slop, gaps, moves, _largest_other(moves))

    def unknown(self) -> CentreBounds:
        """Bounds of rows of which nothing is known yet."""
        return self._kernels.CentreBounds(
            np.full(self.n, -1, dtype=np.int32), np.empty(self.n, self.dtype), np.empty(self.n, self.dtype)
        )

    def reassign(self, centres: Centres, bounds: CentreBounds, total: CentreSums, *, fresh: bool) -> None:
        """Move every row to its nearest centre; total is brought up to date."""
        if fresh:
            total.clear()
        k = len(centres.exact)
        pieces = self.pieces(k)
        held = int(np.clip(2**22 // (k * self.d), 2, _HELD))
        parts = [CentreSums.zero(k, self.d) for _ in range(min(held, len(pieces)))]
        changed = np.zeros(len(parts), dtype=np.int64)

        def work(p: int, lo: int, hi: int) -> None:
            changed[p] = self._kernels.reassign(self.rows, centres, bounds, lo, hi, fresh, *parts[p].parts)

        for first in range(0, len(pieces), held):
            group = pieces[first : first + held]
            self.each(group, work)
            for p in range(len(group)):
                if fresh or changed[p]:
                    total.add(parts[p])
                    parts[p].clear()

    def grouped(self, exact: Array) -> tuple[NDArray[np.int32], Array, CentreSums]:
        """Labels by nearest centre, weighted squared distances and the sums of the groups."""
        bounds, total = self.unknown(), CentreSums.zero(*exact.shape)
        self.reassign(self.prepare(exact, None), bounds, total, fresh=True)
        return bounds.labels, self.squares(exact, bounds.labels), total

    def squares(self, exact: Array, labels: NDArray[np.int32]) -> Array:
        """(n,) squared distances of rows to their centres, times their weights, in the units of the passes."""
        squares = np.empty(self.n)
        work = partial(self._kernels.squares_to_own, self.rows, exact, labels)
        self.each(self.pieces(1), lambda p, lo, hi: work(lo, hi, squares))
        if self.rows.weights.size:
            squares *= self.rows.weights
        return squares

    def farthest(self, exact: Array, labels: NDArray[np.int32], total: CentreSums, count: int) -> list[Taken]:
        """Up to `count` rows that add most to the sum of squares, leaving every centre at least one of its rows."""
        squares = self.squares(exact, labels)
        order = np.argsort(-squares, kind="stable")[: count + len(exact)]
        away = order[squares[order] > self.d * _ROUNDING**2]
        return spared([Taken(float(squares[i]), *self.row(int(i)), int(labels[i])) for i in away], total, count)

    def favouring(self, count: int, rng: np.random.Generator) -> Passes:
        """A sample of about `count` rows with weights that make up for how it was drawn.

        Half of it is drawn fairly, half in proportion to the squared distance from the origin, so that a few rows far
        away are not missed (Bachem, Lucic & Krause, Scalable k-means clustering via lightweight coresets, 2018).
        """
        weights = self.rows.weights if self.rows.weights.size else np.ones(self.n)
        squares = self.squares(np.zeros((1, self.d)), np.zeros(self.n, dtype=np.int32))
        share = 0.5 * weights / weights.sum() + 0.5 * squares / max(float(squares.sum()), np.finfo(np.float64).tiny)
        chance = np.minimum(1.0, count * share)
        index = np.flatnonzero(rng.random(self.n) < chance)
        return Passes(self.rows.X[index], weights[index] / chance[index], self.team, self.units)

    def row(self, row: int) -> tuple[Array, float]:
        """Z and weight of one row."""
        X, weights = self.rows.X, self.rows.weights
        return self.units.inside(X[row]), float(weights[row]) if weights.size else 1.0

    def tile(self, exact: Array, dtype: np.dtype[Any]) -> Floats:
        """In some precision, filled up to an even number of rows and whole registers of columns."""
        tile = np.zeros((len(exact) + len(exact) % 2, self.width(dtype)), dtype=dtype)
        tile[: len(exact), : self.d] = exact
        return tile

    def width(self, dtype: np.dtype[Any]) -> int:
        """Columns of a tile."""
        lanes = 32 // int(dtype.itemsize)
        return self.d + -self.d % lanes


def unit(size: float, dtype: np.dtype[Any]) -> float:
    """The power of two that brings a size to about 1, as far as the precision has one."""
    most = np.finfo(dtype).maxexp - 2
    return float(np.ldexp(1.0, int(np.clip(-np.frexp(size)[1], -most, most)))) if size > 0.0 else 1.0


def _largest_other(moves: Array) -> Array:
    others = np.full(len(moves), moves.max())
    at = int(moves.argmax())
    others[at] = np.delete(moves, at).max(initial=0.0)
    return others
