"""Lloyd's iteration on sparse rows, which stay sparse; only the centres are dense.

|z - c|^2 = |z|^2 - 2 z.c + |c|^2      z = x - origin, the mean of the rows: products with the entries, (n, k)
centres   means of the rows of each    an indicator times the rows, (k, n) (n, d): one pass over the entries

Columns stored whole and far from zero are centred as they are (linalg.centred_sparse), so that nothing cancels.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.sparse.centred import CentredRows, as_entries, sparse_moments
from assay.linalg.validate import power_of_two
from assay.optimize.kmeans.lloyd import Lloyd

Labels: TypeAlias = NDArray[np.int32]


_SMALL = 2**20  # cells up to which rows made dense are as fast


def stays_sparse(X: Any) -> bool:
    """Whether products with the entries are faster than with rows made dense: at most a tenth is stored.

    >>> stays_sparse(sp.csr_array((2000, 1000)))
    True
    """
    n, d = (int(size) for size in X.shape)
    return n * d > _SMALL and 10 * int(X.nnz) <= n * d


class SparseRows:
    """Sparse rows about an origin, in units fit for squares.

    Attributes:
        n, d: rows and columns.
        unit: power of two that values were divided by.
        squares: (n,) squared lengths.
    """

    def __init__(self, X: sp.csr_array, origin: Array | None = None, unit: float | None = None) -> None:
        rows = as_entries(X)
        self.unit = power_of_two(rows.data) if unit is None else unit
        self.entries = sp.csr_array((rows.data / self.unit, rows.indices, rows.indptr), shape=rows.shape)
        self.n, self.d = (int(size) for size in rows.shape)
        mean, squares = sparse_moments(self.entries)
        self.origin = mean if origin is None else origin / self.unit
        self.variance = float(np.mean(squares)) / self.n
        self.rows = CentredRows.of(self.entries, self.origin, np.sqrt(squares / self.n))
        near, centre = self.rows.near, self.rows.mean
        own = np.asarray(near.multiply(near).sum(axis=1)).ravel() - 2.0 * (near @ centre) + float(centre @ centre)
        self.squares = np.maximum(own + np.einsum("ij,ij->i", self.rows.block, self.rows.block), 0.0)

    def to(self, centers: Array) -> Array:
        """(n, m) squared distances to centres about the origin, less the squared length of the row."""
        away: Array = self.rows.apply(np.ascontiguousarray(centers.T))
        away *= -2.0
        away += np.einsum("ij,ij->i", centers, centers)
        return away

    def dense(self, rows: NDArray[np.intp]) -> Array:
        """(m, d) some rows, about the origin."""
        return np.asarray(self.entries[rows].toarray() - self.origin)

    def nearest(self, centers: Array) -> tuple[Labels, Array]:
        """The nearest centre of each row, the first of equally near ones, and the squared distance to it."""
        away = self.to(centers)
        labels = away.argmin(axis=1).astype(np.int32)
        return labels, np.maximum(away[np.arange(self.n), labels] + self.squares, 0.0)

    def means(self, labels: Labels, weights: Array, k: int) -> tuple[Array, Array]:
        """(k, d) means of the rows with each label, about the origin, and (k,) their weights."""
        sizes: Array = np.asarray(np.bincount(labels, weights, k), dtype=np.float64)
        picks = sp.csr_array((weights, (labels, np.arange(self.n))), shape=(k, self.n))
        total = np.asarray((picks @ self.entries).toarray())
        held = sizes > 0.0
        total[held] = total[held] / sizes[held, None] - self.origin
        total[~held] = 0.0
        return total, sizes


def sparse_lloyd(
    X: sp.csr_array,
    k: int,
    *,
    seed: int,
    n_init: int,
    init: str | Array,
    max_iter: int,
    tol: float,
    weights: Array | None = None,
) -> Lloyd:
    """Group sparse rows around k centres, as `lloyd` does.

    Args:
        X: (n, d) sparse, finite.
        k: how many centres.
        seed: of the starts.
        n_init: how many starts; the best is kept.
        init: "k-means++", also for "k-means||", which would save nothing here; or (k, d) centres to start from.
        max_iter, tol, weights: as for `lloyd`.

    >>> X = sp.csr_array([[0.0, 1.0], [0.0, 2.0], [9.0, 0.0], [8.0, 0.0]])
    >>> found = sparse_lloyd(X, 2, seed=0, n_init=1, init="k-means++", max_iter=9, tol=0.0)
    >>> found.labels[0] == found.labels[1] != found.labels[2], found.inertia
    (np.True_, 1.0)
    """
    rows = SparseRows(X)
    w = np.ones(rows.n) if weights is None else weights
    best: tuple[float, Array, int, bool] | None = None
    starts = n_init if isinstance(init, str) else 1
    for number in range(starts):
        rng = np.random.default_rng([seed, number])
        start = _plus_plus(rows, k, w, rng) if isinstance(init, str) else np.asarray(init) / rows.unit - rows.origin
        found = _settled(rows, start, w, max_iter, tol * rows.variance)
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    _, centers, n_iter, converged = best
    return _read(rows, centers, w, n_iter, converged)


def _plus_plus(rows: SparseRows, k: int, w: Array, rng: np.random.Generator) -> Array:
    """(k, d) rows drawn by greedy k-means++, each the best of 2 + log k; they repeat where too few are distinct."""
    near = np.where(w > 0.0, 1.0, 0.0)  # at first all rows are alike
    chosen = np.empty((k, rows.d))
    for c in range(k):
        running = np.cumsum(near * w)
        if running[-1] <= 0.0:
            chosen[c] = chosen[rng.integers(c)]
            continue
        shares = rng.random(1 if c == 0 else 2 + int(np.log(k))) * running[-1]
        drawn = np.minimum(np.searchsorted(running, shares, side="right"), int(np.searchsorted(running, running[-1])))
        candidates = rows.dense(drawn)
        away = np.maximum(rows.to(candidates) + rows.squares[:, None], 0.0)
        away[drawn, np.arange(len(drawn))] = 0.0
        away = away if c == 0 else np.minimum(away, near[:, None])
        best = int(np.argmin(w @ away))
        chosen[c], near = candidates[best], away[:, best]
    return chosen


def _settled(rows: SparseRows, centers: Array, w: Array, most: int, bound: float) -> tuple[float, Array, int, bool]:
    labels, squares = rows.nearest(centers)
    for step in range(1, most + 1):
        means, sizes = rows.means(labels, w, len(centers))
        _refill(rows, means, sizes, centers, squares * w, labels)
        moved = float(np.sum((means - centers) ** 2))
        before, centers = labels, means
        labels, squares = rows.nearest(centers)
        if moved <= bound or np.array_equal(before, labels):
            return float(w @ squares), centers, step, True
    return float(w @ squares), centers, most, False


def _refill(rows: SparseRows, means: Array, sizes: Array, centers: Array, loss: Array, labels: Labels) -> None:
    """A centre without rows takes one that adds most to the inertia; where none is away from its centre it stays."""
    empty = np.flatnonzero(sizes == 0.0)
    if not len(empty):
        return
    farthest = np.argsort(-loss, kind="stable")[: len(empty)]
    for c, row in zip(empty, farthest, strict=False):
        means[c] = rows.dense(np.array([row]))[0] if loss[row] > 0.0 else centers[c]
    means[empty[len(farthest) :]] = centers[empty[len(farthest) :]]


def _read(rows: SparseRows, centers: Array, w: Array, n_iter: int, converged: bool) -> Lloyd:
    labels, squares = rows.nearest(centers)
    means, sizes = rows.means(labels, w, len(centers))
    inertia = float(w @ squares)
    middle = sizes @ means / sizes.sum()
    between = float(sizes @ np.sum((means - middle) ** 2, axis=1))
    held = sizes > 0.0
    within = inertia - float(sizes[held] @ np.sum((means[held] - centers[held]) ** 2, axis=1))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        outside = float(np.float64(inertia) * rows.unit * rows.unit)
        separation = float(np.float64(between) / max(within, 0.0))
    return Lloyd((centers + rows.origin) * rows.unit, labels, outside, n_iter, converged, sizes, separation)


def sparse_squares(X: sp.csr_array, centers: Array) -> Array:
    """(n, k) squared distances of sparse rows to centres.

    >>> sparse_squares(sp.csr_array([[3.0, 0.0]]), np.array([[0.0, 4.0]]))
    array([[25.]])
    """
    unit = power_of_two(centers)
    rows = SparseRows(X, centers.mean(axis=0), unit)
    away = np.maximum(rows.to(centers / unit - rows.origin) + rows.squares[:, None], 0.0)
    with np.errstate(over="ignore"):
        return np.asarray(away * unit * unit)


def sparse_moves(X: sp.csr_array, centers: Array, weights: Array) -> tuple[Labels, Array, Array]:
    """The nearest centre of each row, the squared distance to it, and (k, d) weighted sums of rows less their centre.

    >>> sparse_moves(sp.csr_array([[3.0, 0.0]]), np.array([[0.0, 4.0]]), np.ones(1))[2]
    array([[ 3., -4.]])
    """
    away = sparse_squares(X, centers)
    labels = away.argmin(axis=1).astype(np.int32)
    picks = sp.csr_array((weights, (labels, np.arange(len(labels)))), shape=(len(centers), len(labels)))
    gained = np.bincount(labels, weights, len(centers))
    return labels, away[np.arange(len(labels)), labels], np.asarray((picks @ X).toarray() - gained[:, None] * centers)
