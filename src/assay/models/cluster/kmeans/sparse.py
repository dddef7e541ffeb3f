"""Lloyd's iteration on sparse rows, which stay sparse; only the centres are dense.

|z - c|^2 = |z|^2 - 2 z.c + |c|^2      z = x - origin, the mean of the rows: products with the entries, (n, k)
centres   means of the rows of each    an indicator times the rows, (k, n) (n, d): one pass over the entries

Columns stored whole and far from zero are centred as they are (linalg.centred_sparse), so that nothing cancels.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from assay.arrays import Array, Indices, Whole
from assay.engine.local import in_threads
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.sparse.centred import CentredRows, as_entries, sparse_moments
from assay.linalg.validate import power_of_two
from assay.optimize.kmeans.lloyd import Lloyd, Settled, settle
from assay.optimize.kmeans.passes import CentreSums, KMeansUnits, Taken, spared
from assay.optimize.kmeans.seeding import Nearness, plus_plus

Labels: TypeAlias = NDArray[np.int32]

_SMALL = 2**20  # cells up to which rows made dense are as fast
_CANCELLED = 1e-14  # a squared distance this much smaller than the squares it comes from is rounding


def stays_sparse(X: Any) -> bool:
    """Whether products with the entries are faster than with rows made dense: at most a tenth is stored.

    >>> stays_sparse(sp.csr_array((2000, 1000)))
    True
    """
    n, d = (int(size) for size in X.shape)
    return n * d > _SMALL and 10 * int(X.nnz) <= n * d


class SparseRows:
    """Sparse rows about an origin, in units fit for squares.

    Args:
        X: (n, d) sparse, finite.
        weights: (n,) of rows; None for equal ones.
        units: how the rows are seen; about their mean if not given.

    Attributes:
        n, d: rows and columns.
        units: how they are seen.
        variance: mean variance of a column.
        squares: (n,) squared lengths.
    """

    def __init__(self, X: sp.csr_array, weights: Array | None = None, units: KMeansUnits | None = None) -> None:
        rows = as_entries(X)
        scale = 1.0 / power_of_two(rows.data) if units is None else units.scale
        self.n, self.d = (int(size) for size in rows.shape)
        self.weights = np.ones(self.n) if weights is None else weights
        self._entries = sp.csr_array((rows.data * scale, rows.indices, rows.indptr), shape=rows.shape)
        mean, squares = sparse_moments(self._entries)
        self.units = KMeansUnits(mean, scale) if units is None else units
        self.variance = float(np.mean(squares)) / self.n
        self._rows = CentredRows.of(self._entries, self.units.origin, np.sqrt(squares / self.n))
        near, centre = self._rows.near, self._rows.mean
        self._along: Array = near @ centre - 0.5 * float(centre @ centre)
        own = np.asarray(near.multiply(near).sum(axis=1)).ravel() - 2.0 * self._along
        self.squares = np.maximum(own + np.einsum("ij,ij->i", self._rows.block, self._rows.block), 0.0)

    def squares_to(self, centers: Array) -> Array:
        """(n, m) squared distances to centres; 0 where they are lost in rounding."""
        return _sums_of(self._products(centers), self.squares[:, None] + np.einsum("ij,ij->i", centers, centers))

    def squares_between(self, rows: Whole) -> Array:
        """(m, n) squared distances of some rows to all; 0 where they are lost in rounding.

        Sparse rows have products with the few that share a column with them, found by columns.
        """
        products = np.asarray((self._rows.near[rows] @ self._by_columns).toarray())
        products -= self._along
        products -= self._along[rows, None]
        products += self._rows.block[rows] @ self._rows.block.T
        products *= -2.0
        return _sums_of(products, self.squares[rows, None] + self.squares)

    def places(self, rows: Indices) -> Array:
        """(m, d) where some rows are."""
        return np.asarray(self._entries[rows].toarray() - self.units.origin)

    def grouped(self, centers: Array) -> tuple[Labels, Array, CentreSums]:
        """Labels by nearest centre, the first of equally near ones, weighted squared distances, sums of the groups."""
        k, lengths, away = len(centers), np.einsum("ij,ij->i", centers, centers), self._products(centers)
        away += lengths
        labels = away.argmin(axis=1).astype(np.int32)
        squares = away[np.arange(self.n), labels] + self.squares
        squares[squares <= _CANCELLED * (lengths[labels] + self.squares)] = 0.0
        sizes: Array = np.asarray(np.bincount(labels, self.weights, k), dtype=np.float64)
        picks = sp.csr_array((self.weights, (labels, np.arange(self.n))), shape=(k, self.n))
        sums = np.asarray((picks @ self._entries).toarray())
        sums -= sizes[:, None] * self.units.origin
        return (
            labels,
            squares * self.weights,
            CentreSums(sums, sizes, np.bincount(labels[self.weights > 0.0], minlength=k)),
        )

    def assign(self, centers: Array, total: CentreSums) -> None:
        """One pass: what the rows nearest to each centre add up to."""
        for mine, theirs in zip(total.parts, self.grouped(centers)[2].parts, strict=True):
            mine[...] = theirs

    def farthest(self, centers: Array, total: CentreSums, count: int) -> list[Taken]:
        """Up to `count` rows that add most to the sum of squares, none of them the last row of its centre."""
        labels, squares, _ = self.grouped(centers)
        order = np.argsort(-squares, kind="stable")[: count + len(centers)]
        away = order[squares[order] > 0.0]
        found = zip(squares[away], self.places(away), self.weights[away], labels[away], strict=True)
        return spared([Taken(float(s), z, float(w), int(label)) for s, z, w, label in found], total, count)

    @cached_property
    def _by_columns(self) -> sp.csr_array:
        """(d, n) the entries, but for columns far from zero."""
        turned = self._rows.turned.tocsr()
        turned.eliminate_zeros()
        return turned

    def _products(self, centers: Array) -> Array:
        """(n, m) -2 z.c."""
        products: Array = self._rows.apply(np.ascontiguousarray(centers.T))
        products *= -2.0
        return products


def _sums_of(products: Array, both: Array) -> Array:
    """|z|^2 + |c|^2 - 2 z.c, of the last and of the sum of the others; 0 where it is lost in rounding."""
    products += both
    both *= _CANCELLED
    products[products <= both] = 0.0
    return products


class _SparseNearness(Nearness):
    """Squared distances of sparse rows to the nearest centre."""

    def __init__(self, rows: SparseRows) -> None:
        super().__init__(rows.weights, rows.d)
        self._rows = rows

    def places(self, rows: Indices) -> Array:
        return self._rows.places(rows)

    def lowered(self, candidates: Array) -> Array:
        return np.asarray(np.minimum(self._rows.squares_to(candidates).T, self.near))

    def take(self, rows: Whole) -> Array:
        best = self.keep(np.minimum(self._rows.squares_between(rows), self.near))
        return np.asarray(self.places(rows[best : best + 1])[0])


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
    rows = SparseRows(X, weights)

    def run(start: Array) -> Settled:
        return settle(rows, start, max_iter=max_iter, bound=tol * rows.variance)

    if not isinstance(init, str):
        best = run(rows.units.inside(init))
    else:

        def drawn(number: int) -> Settled:
            return run(plus_plus(_SparseNearness(rows), k, np.random.default_rng([seed, number])))

        with one_blas_thread():  # starts run beside each other, and products with a mean are short
            runs = in_threads(drawn, range(n_init))
        best = min(runs, key=lambda found: found.total.level(found.centers))
    centers = rows.units.outside(best.centers)
    labels, squares, total = rows.grouped(rows.units.inside(centers))
    return Lloyd.of(best, centers, rows.units, labels, float(squares.sum()), total)


def sparse_squares(X: sp.csr_array, centers: Array) -> Array:
    """(n, k) squared distances of sparse rows to centres.

    >>> sparse_squares(sp.csr_array([[3.0, 0.0]]), np.array([[0.0, 4.0]]))
    array([[25.]])
    """
    units = KMeansUnits.about(centers, 1.0 / power_of_two(centers))
    return np.asarray(units.squares_outside(SparseRows(X, units=units).squares_to(units.inside(centers))))


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
