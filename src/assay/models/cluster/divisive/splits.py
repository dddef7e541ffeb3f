"""The best split of a part in two: of rows about their means, or of a graph where least leaves.

A split of rows into A and B lowers the sum of squares about the means by

    gain = |A| |B| / (|A| + |B|) |mean A - mean B|^2,

at most the sum of squares itself. The height of a split is sqrt(2 gain), Ward's distance of A and B. A graph is split
along the second eigenvector of its Laplacian; the height is 1 - conductance.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from assay.arrays import Array, Whole
from assay.models.cluster.divisive.divisive_tree import Split
from assay.optimize.kmeans.lloyd import lloyd
from assay.summary.distances.distances import unit_scale
from assay.summary.graph.conductance import cuts_of
from assay.summary.graph.cuts import refine_cut, sweep_cut
from assay.summary.graph.laplacian import degree_of
from assay.summary.graph.laplacian_modes import lowest_modes

Floats: TypeAlias = NDArray[Any]

_SAMPLE = 2048  # rows that starts are tried on
_FEW = 16  # up to so many rows the first start is the only one
_STEPS = 20  # of the power iteration: a start need not be exact
_BLOCK = 65_536


class TwoMeans:
    """Splits parts of a table by two-means: from the principal direction, and from random starts beside it.

    Starts compete on at most 2,048 evenly chosen rows; the best goes on with all rows. Up to 16 rows have one start.

    Args:
        X: (n, d) float32 or float64, centred and of moderate size.
        least: fewest rows of a part; a split that makes a smaller one is not made.
        alike: split rows that are all alike too, in halves, for nothing.
        n_init: starts; beyond the first they are random.
        max_iter: most iterations of each.
        tol: of Lloyd's iteration.
        seed: of the random starts.

    Attributes:
        centers: by node, the (2, d) centres that its rows were split by.
        converged: whether every split was.
        n_iter: most iterations that the final run of a split took.

    >>> splits = TwoMeans(np.array([[0.0], [1.0], [10.0], [11.0]]))
    >>> found = splits(0, np.arange(4))
    >>> found.second.tolist(), found.height, splits.centers[0].ravel().tolist()
    ([False, False, True, True], 14.142135623730951, [0.5, 10.5])
    """

    def __init__(
        self,
        X: Floats,
        *,
        least: int = 1,
        alike: bool = False,
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        seed: int = 0,
    ) -> None:
        self.centers: dict[int, Array] = {}
        self.converged = True
        self.n_iter = 1
        self._X, self._least, self._alike = X, least, alike
        self._n_init, self._max_iter, self._tol, self._seed = n_init, max_iter, tol, seed

    def __call__(self, node: int, rows: Whole) -> Split | None:
        """The split of these rows."""
        if len(rows) < 2 * self._least:
            return None
        part = self._X[rows]
        across = _across(part)
        if across is None:
            return Split(np.arange(len(rows)) >= (len(rows) + 1) // 2, 0.0, (0.0, 0.0)) if self._alike else None
        second, centers = self._halves(node, part, across)
        count = int(np.count_nonzero(second))
        if not self._least <= count <= len(rows) - self._least:
            return None
        means, (first, other) = _sums(part, second)
        self.centers[node] = means if centers is None else centers
        gain = count / len(rows) * (len(rows) - count) * float(np.sum((means[0] - means[1]) ** 2))
        return Split(second, math.sqrt(2.0 * gain), (_bound(first), _bound(other)))

    def _halves(self, node: int, part: Floats, across: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Array | None]:
        """Which rows leave the first one, and the centres they were told apart by unless these are the means."""
        if len(part) > 2:
            centers, labels = self._lloyd(node, part)
            if (second := labels != labels[0]).any():
                return second, centers[[labels[0], 1 - labels[0]]].astype(np.float64)
        # two rows, or rows so near each other that no start tells them apart
        return across != across[0], None

    def _lloyd(self, node: int, part: Floats) -> tuple[Floats, NDArray[np.int32]]:
        few = part[:: -(-len(part) // _SAMPLE)]
        random = self._n_init - 1 if len(part) > _FEW else 0
        seeds = np.random.default_rng([self._seed, node]).integers(2**31, size=random + 1)
        starts: list[Any] = [principal_halves(few), *["k-means++"] * random]
        options: dict[str, Any] = {"max_iter": self._max_iter, "tol": self._tol}
        tried = [lloyd(few, 2, init=init, seed=int(seed), **options) for init, seed in zip(starts, seeds, strict=True)]
        best = min(tried, key=lambda found: found.inertia)
        if len(few) < len(part):
            best = lloyd(part, 2, init=best.centers, **options)
        self.converged &= best.converged
        self.n_iter = max(self.n_iter, best.n_iter)
        return best.centers, best.labels


def principal_halves(part: Floats) -> Floats:
    """Means of the rows on either side of the middle of the direction in which they spread most.

    Args:
        part: (m, d) rows.

    Returns:
        (2, d) of the rows' type; the same twice where all rows are alike.

    >>> principal_halves(np.array([[0.0], [1.0], [10.0], [11.0]])).ravel().tolist()
    [0.5, 10.5]
    """
    centred = part - part.mean(axis=0)
    along = centred[int(np.argmax(np.einsum("ij,ij->i", centred, centred)))]
    for _ in range(_STEPS):
        along = (centred @ along) @ centred
        along = along / (np.abs(along).max() or 1.0)
    beyond = centred @ along > 0
    if not beyond.any() or beyond.all():  # rounding ate the direction
        across = _across(part)
        if across is None:
            return part[[0, -1]]
        beyond = across
    return np.stack([part[beyond].mean(axis=0), part[~beyond].mean(axis=0)])


def placing_of(X: Floats) -> tuple[float, Array]:
    """The power of two and the shift that bring rows near zero and to a moderate size."""
    unit = unit_scale(X)
    if X.dtype == np.float32:
        unit = float(np.clip(unit, 2.0**-100, 2.0**100))
    return unit, np.asarray((X * unit).mean(axis=0, dtype=np.float64))


def placed(X: Floats, unit: float, shift: Array) -> Floats:
    """Rows brought there, of the same precision."""
    Z = X * unit
    np.subtract(Z, shift, out=Z, casting="same_kind")
    return Z


class SweepSplits:
    """Splits parts of a graph where least leaves: the height of a split is 1 - conductance within the part.

    A part that falls apart is split into its largest component and the rest, at height 1. Components with fewer than
    the least number of nodes, too few for a part together, stay with the side that has most nodes.

    Args:
        W: (n, n) symmetric similarities.
        least: fewest nodes of a part; a split that makes a smaller one is not made.
        seed: of the eigen-solver.

    >>> W = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3))))
    >>> found = SweepSplits(W)(0, np.arange(6))
    >>> found.second.tolist(), found.height
    ([False, False, False, True, True, True], 1.0)
    """

    def __init__(self, W: sparse.csr_array, *, least: int = 1, seed: int = 0) -> None:
        self._W, self._least, self._seed = W, least, seed

    def __call__(self, node: int, rows: Whole) -> Split | None:
        """The split of these nodes."""
        if len(rows) < 2 * self._least or len(rows) < 2:
            return None
        W = sparse.csr_array(self._W[rows][:, rows])
        _, component = csgraph.connected_components(W, directed=False)
        sizes = np.bincount(component)
        main = np.flatnonzero(component == np.argmax(sizes))
        side = np.ones(len(rows), dtype=np.int64)
        if len(rows) - len(main) >= self._least:
            side[main] = 0
        elif len(main) > 1:
            cut = self._cut(sparse.csr_array(W[main][:, main]))
            side[:] = np.argmax(np.bincount(cut, minlength=2))
            side[main] = cut
        count = int(side.sum())
        if not max(self._least, 1) <= count <= len(rows) - max(self._least, 1):
            return None
        return Split(side != side[0], 1.0 - float(cuts_of(W, side, 2).conductance.max()))

    def _cut(self, W: sparse.csr_array) -> Whole:
        root = np.sqrt(degree_of(W))
        along = lowest_modes(W, 1, seed=self._seed).vectors[:, 0] / root
        return refine_cut(W, sweep_cut(W, along).above.astype(np.int64), 2)


def _across(part: Floats) -> NDArray[np.bool_] | None:
    """Which rows lie beyond the middle of the widest column; None where all are alike."""
    low, high = part.min(axis=0), part.max(axis=0)
    wide = int(np.argmax(high - low))
    if low[wide] == high[wide]:
        return None
    return np.asarray(part[:, wide] > low[wide] + (high[wide] - low[wide]) / 2)


def _bound(squares: float) -> float:
    return math.sqrt(2.0 * squares) * (1.0 + 1e-9)  # a hair more than rounding takes off


def _sums(part: Floats, second: NDArray[np.bool_]) -> tuple[Array, tuple[float, float]]:
    """Means of the two parts and their sums of squares about them, in blocks so that nothing large is copied."""
    counts = np.array([[len(part) - np.count_nonzero(second)], [np.count_nonzero(second)]])
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(part), _BLOCK)]
    totals, squares = np.zeros((2, part.shape[1])), np.zeros(2)
    for block in blocks:
        for side in (0, 1):
            totals[side] += part[block][second[block] == side].sum(axis=0, dtype=np.float64)
    means = totals / counts
    for block in blocks:
        apart = part[block] - means[second[block].astype(np.int64)]
        squares += np.bincount(second[block], weights=np.einsum("ij,ij->i", apart, apart), minlength=2)
    return means, (float(squares[0]), float(squares[1]))
