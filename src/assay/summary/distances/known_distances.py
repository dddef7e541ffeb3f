"""Distances of which only some are given, in a sparse matrix: others are unknown, and farther than those of their row.

This is what `sklearn.neighbors.kneighbors_graph(X, k, mode="distance")` means. An entry that is stored counts as it is,
a zero among them: it joins copies. What needs only the nearest takes them from here; what needs all must refuse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.linalg.sparse.structure import as_sparse
from assay.summary.distances.metrics import Metric, comparable, is_precomputed

_SAME = 1e-10  # how far the two ways between a pair may differ, relative to the largest distance


def distances_or_rows(X: Any, metric: Metric) -> Any:
    """What a graph is made of: sparse distances stay sparse, everything else becomes rows that the metric can compare.

    >>> distances_or_rows(sparse.csr_array((2, 2)), "precomputed").nnz
    0
    """
    return known_distances(X) if is_precomputed(metric) and sparse.issparse(X) else comparable(X, metric)


def known_distances(D: Any, *, name: str = "the distance matrix") -> sparse.csr_array:
    """Take sparse distances: finite, not negative, each given once; stored zeros stay.

    Args:
        D: (m, n) sparse, of any format.
        name: what to call it in an error.

    Returns:
        (m, n) with columns ascending.
    """
    known = sparse.csr_array(as_sparse(D, name=name), dtype=np.float64, copy=True)
    known.sum_duplicates()  # sorts, and drops no zeros
    wrong = np.flatnonzero(~(np.isfinite(known.data) & (known.data >= 0.0)))
    if len(wrong):
        i = int(np.searchsorted(known.indptr, wrong[0], side="right")) - 1
        raise DataError(
            f"{name} must be finite and nowhere negative: row {i}, column {known.indices[wrong[0]]} (counted from 0) "
            f"is {known.data[wrong[0]]:g} ({len(wrong)} such in all). What is not known is left out of a sparse matrix."
        )
    return known


def all_given(D: Any, *, name: str = "the dissimilarities", own: bool = True) -> Any:
    """Dissimilarities where all are needed: a sparse matrix that lacks none as an array, everything else as it is.

    Args:
        D: (m, n), dense or sparse.
        name: what to call it in an error.
        own: whether rows are compared among themselves, so that the diagonal may be absent.

    >>> all_given(sparse.csr_array([[0.0, 2.0], [2.0, 0.0]]))
    array([[0., 2.],
           [2., 0.]])
    """
    if not hasattr(D, "toarray"):
        return D
    known = known_distances(D, name=name)
    n, columns = (int(size) for size in known.shape)
    own = own and n == columns
    pairs, there = (n * (n - 1), square(known).nnz) if own else (n * columns, known.nnz)
    if there < pairs:
        raise DataError(
            f"{name} are sparse, and {pairs - there} of {pairs} pairs are absent: these are not known, not 0, and "
            "all are needed here. Give a dense matrix of all; or, for methods that take the nearest alone, "
            'graph=Nearest(k, "precomputed") of Isomap, SpectralClustering and NetworkEmbedding.'
        )
    return known.toarray()


def square(known: sparse.csr_array) -> sparse.csr_array:
    """The distances of rows among themselves: without the diagonal, which says nothing.

    >>> square(sparse.csr_array([[0.0, 2.0], [2.0, 0.0]])).nnz
    2
    """
    n, columns = (int(size) for size in known.shape)
    if n != columns:
        raise DataError(f"the distance matrix must be square, has shape {(n, columns)}.")
    rows = np.repeat(np.arange(n), np.diff(known.indptr))
    others = rows != known.indices
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[others], minlength=n))])
    return sparse.csr_array((known.data[others], known.indices[others], starts), shape=(n, n))


def fewest(known: sparse.csr_array) -> tuple[int, int]:
    """The row with the fewest known distances, and how many these are.

    >>> fewest(sparse.csr_array([[0.0, 2.0], [0.0, 0.0]]))
    (1, 0)
    """
    counts = np.diff(known.indptr)
    row = int(counts.argmin())
    return row, int(counts[row])


def nearest_known(known: sparse.csr_array, k: int) -> tuple[Whole, Array]:
    """The k nearest of each row among those known.

    Args:
        known: (m, n), canonical; of rows among themselves without the diagonal (`square`).
        k: how many; every row must know as many.

    Returns:
        (m, k) columns, nearest first, equally near ones by number, and (m, k) distances.

    >>> nearest_known(sparse.csr_array([[0.0, 3.0, 2.0]]), 2)[0]
    array([[2, 1]])
    """
    n = int(known.shape[1])
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n:
        raise ParameterError(f"k must be a whole number of at least 1 and at most {n}, is {k!r}.")
    row, least = fewest(known)
    if least < k:
        lacking = int((np.diff(known.indptr) < k).sum())
        raise DataError(
            f"{k} neighbours of each row are asked for, but row {row} (counted from 0) has {least} known distances to "
            f"others ({lacking} rows have too few). Absent entries of a sparse matrix are not known, not 0: give the "
            f"distances to at least {k} others of each row" + (f", or ask for at most {least}." if least else ".")
        )
    rows = np.repeat(np.arange(int(known.shape[0])), np.diff(known.indptr))
    order = np.lexsort((known.indices, known.data, rows))
    places = order[known.indptr[:-1][:, None] + np.arange(int(k))]
    return known.indices[places].astype(np.int64), known.data[places]


def within_known(known: sparse.csr_array, radius: float) -> tuple[Whole, Whole, Array]:
    """Pairs known to be no further apart than the radius, both ways; one given one way only is mirrored.

    Args:
        known: (n, n), canonical, without the diagonal.
        radius: the largest distance, itself included.

    Returns:
        Row, column and distance of each, by row.
    """
    n = int(known.shape[0])
    rows = np.repeat(np.arange(n), np.diff(known.indptr))
    cols = known.indices.astype(np.int64)
    place = np.concatenate([rows * n + cols, cols * n + rows])
    order = np.argsort(place, kind="stable")
    place, lengths = place[order], np.concatenate([known.data, known.data])[order]
    first = np.flatnonzero(np.diff(place, prepend=-1))
    if not len(first):
        return rows, cols, known.data
    low, high = np.minimum.reduceat(lengths, first), np.maximum.reduceat(lengths, first)
    gap = int((high - low).argmax())
    if high[gap] - low[gap] > _SAME * known.data.max():
        i, j = divmod(int(place[first[gap]]), n)
        raise DataError(
            f"distances must be the same both ways: between rows {i} and {j} (counted from 0) {low[gap]:.6g} and "
            f"{high[gap]:.6g} are given. Give one of them, or Nearest(k), which takes each row by itself."
        )
    kept = low <= radius
    start, end = np.divmod(place[first[kept]], n)
    return start, end, low[kept]
