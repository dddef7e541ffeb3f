"""Edges as three arrays (from, to, value), from which sparse matrices are made here.

An edge of length zero joins two equal rows, and in SciPy's sparse arithmetic it is lost: sums, maxima and products drop
entries that are zero. So edges are merged, mirrored and cut here as arrays, and zeros stay.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.linalg.validate import as_square, as_symmetric
from assay.summary.distances.known_distances import known_distances, nearest_known, square, within_known
from assay.summary.distances.metrics import Metric, checked_metric, is_precomputed, nearest, within
from assay.summary.distances.neighbours import Neighbours

Edges = tuple[Whole, Whole, Array]

_SORTED = 2**22  # distances put in order at once
_REDUCE = {"min": np.minimum, "max": np.maximum, "sum": np.add}


def edges_of(W: sparse.csr_array) -> Edges:
    """The entries of a matrix, explicit zeros included, by row.

    >>> edges_of(sparse.csr_array(([0.0], ([0], [1])), shape=(2, 2)))
    (array([0]), array([1]), array([0.]))
    """
    rows = np.repeat(np.arange(int(W.shape[0])), np.diff(W.indptr))
    return rows, W.indices.astype(np.int64), np.asarray(W.data, dtype=np.float64)


def matrix_of(edges: Edges, n: int, how: Literal["min", "max", "sum"] = "sum") -> sparse.csr_array:
    """A matrix in canonical form: columns ascending, edges given more than once reduced to one, zeros kept.

    >>> matrix_of((np.array([0, 0]), np.array([1, 1]), np.array([2.0, 0.0])), 2, "min").nnz
    1
    """
    rows, cols, values = edges
    place = rows * n + cols
    if (np.diff(place) <= 0).any():
        order = np.argsort(place, kind="stable")  # merges the sorted runs that most edges come in
        place, values = place[order], values[order]
        rows, cols = np.divmod(place, n)
    new = np.ones(len(rows), np.bool_)
    new[1:] = np.diff(place) > 0
    if not new.all():
        first = np.flatnonzero(new)
        rows, cols, values = rows[first], cols[first], _REDUCE[how].reduceat(values, first)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return sparse.csr_array((values, cols, starts), shape=(n, n))


def mirrored(W: sparse.csr_array, mode: str, *, lengths: bool) -> sparse.csr_array:
    """Make edges hold both ways.

    Args:
        W: (n, n).
        mode: "union" keeps an edge given either way, with the smaller of two lengths or the larger of two similarities;
            "mutual" keeps edges given both ways, with the larger length or smaller similarity; "average" takes the
            mean, where a missing similarity counts as 0 and a missing length is left out.
        lengths: Whether entries are lengths.

    >>> W = sparse.csr_array(([4.0], ([0], [1])), shape=(2, 2))
    >>> mirrored(W, "average", lengths=False).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    if mode not in ("union", "mutual", "average"):
        raise ParameterError(f'symmetrise by "union", "mutual" or "average", not by {mode!r}.')
    n = int(W.shape[0])
    rows, cols, values = edges_of(W)
    back = edges_of(W.T.tocsr())  # the same entries by their other end: two sorted runs merge faster than they sort
    both = (
        np.concatenate([rows, back[0]]),
        np.concatenate([cols, back[1]]),
        np.concatenate([values, back[2]]),
    )
    if mode == "union":
        return matrix_of(both, n, "min" if lengths else "max")
    counts = matrix_of((both[0], both[1], np.ones(len(both[0]))), n).data
    if mode == "mutual":
        r, c, v = edges_of(matrix_of(both, n, "max" if lengths else "min"))
        kept = counts == 2
        return matrix_of((r[kept], c[kept], v[kept]), n)
    halves = (both[0], both[1], both[2] / 2)  # halves, because the sum of two near 1e308 is not a number
    mean = matrix_of(halves, n)
    if lengths:
        mean.data *= 2 / counts
    return mean


def symmetric(W: sparse.csr_array) -> bool:
    """Whether every edge has its mirror image with the same value, to the last bit (canonical form).

    >>> symmetric(sparse.csr_array(([1.0], ([0], [1])), shape=(2, 2)))
    False
    """
    other = W.T.tocsr()  # moves entries without looking at their values, so zeros stay
    return (
        np.array_equal(other.indptr, W.indptr)
        and np.array_equal(other.indices, W.indices)
        and np.array_equal(other.data, W.data)
    )


def nearest_edges(X: Any, k: int, metric: Metric) -> tuple[Edges, int]:
    """An edge from each row to each of its k nearest others, and the number of rows.

    >>> nearest_edges([[0.0], [1.0], [3.0]], 1, "euclidean")[0][1]
    array([1, 0, 1])
    """
    found = _nearest_given(X, k) if is_precomputed(checked_metric(metric)) else nearest(X, k, metric)
    rows = np.repeat(np.arange(len(found.indices)), found.indices.shape[1])
    return (rows, found.indices.ravel(), found.distances.ravel()), len(found.indices)


def within_edges(X: Any, radius: float, metric: Metric) -> tuple[Edges, int]:
    """An edge both ways between rows no further apart than the radius, and the number of rows.

    >>> within_edges([[0.0], [1.0], [3.0]], 1.0, "euclidean")[0][2]
    array([1., 1.])
    """
    if is_precomputed(checked_metric(metric)):
        if hasattr(X, "toarray"):
            return within_known(square(known_distances(X)), radius), int(X.shape[0])
        D = as_symmetric(_given(X), name="the distance matrix")
        rows, cols = np.nonzero((radius >= D) & ~np.eye(len(D), dtype=bool))
        return (rows, cols, D[rows, cols]), len(D)
    found = within(X, radius, metric)
    return (found.rows, found.cols, found.distances), len(X) if not hasattr(X, "shape") else int(X.shape[0])


def _given(matrix: Any) -> Array:
    D = as_square(matrix, name="the distance matrix")
    if D.min() < 0:
        i, j = np.unravel_index(int(D.argmin()), D.shape)
        raise DataError(f"Negative values in data: distances must not be negative: row {i}, column {j} is {D[i, j]:g}.")
    return D


def _nearest_given(D: Any, k: int) -> Neighbours:
    """From a matrix of distances; its diagonal is not looked at, and what a sparse one lacks is not known."""
    if hasattr(D, "toarray"):
        return Neighbours(*nearest_known(square(known_distances(D)), k), "precomputed")
    D = _given(D)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < len(D):
        raise ParameterError(f"k must be between 1 and {len(D) - 1}, one less than the rows, is {k!r}.")
    indices = np.empty((len(D), int(k)), np.int64)
    step = max(1, _SORTED // len(D))
    for start in range(0, len(D), step):
        part = D[start : start + step].copy()
        np.fill_diagonal(part[:, start:], np.inf)
        indices[start : start + step] = np.argsort(part, axis=1, kind="stable")[:, :k]
    return Neighbours(indices, np.take_along_axis(D, indices, axis=1), "precomputed")


def refuse_unusable(values: Array, rows: Whole, cols: Whole) -> None:
    """Refuse weights that are negative or not finite, with the first edge that has one."""
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        first = bad[0]
        raise DataError(
            f"weights must be finite and not negative: the edge from node {rows[first]} to node {cols[first]} has "
            f"{values[first]}. Leave out edges that are not there."
        )


def numbered(
    rows: npt.ArrayLike, cols: npt.ArrayLike, n: int | None, names: tuple[str, ...] | None
) -> tuple[Whole, Whole, int, tuple[str, ...] | None]:
    """Ends of edges as node numbers; ends given by name are numbered by first appearance, or as `names` says.

    >>> numbered(["b", "a"], ["a", "c"], None, None)
    (array([0, 1]), array([1, 2]), 3, ('b', 'a', 'c'))
    """
    ends = [np.asarray(rows), np.asarray(cols)]
    if ends[0].ndim != 1 or ends[0].shape != ends[1].shape:
        raise DataError(f"edges need as many rows as columns, got shapes {ends[0].shape} and {ends[1].shape}.")
    if ends[0].size and (ends[0].dtype.kind not in "iu" or ends[1].dtype.kind not in "iu"):
        return _named(np.stack([ends[0].astype(str), ends[1].astype(str)], axis=1), names)
    both = np.stack(ends).astype(np.int64)
    n = (int(both.max()) + 1 if both.size else 0) if n is None and names is None else n or len(names or ())
    outside = np.argwhere((both < 0) | (both >= n))
    if len(outside):
        place = int(outside[:, 1].min())
        raise DataError(f"edge {place} joins nodes {both[0, place]} and {both[1, place]}, but nodes are 0 to {n - 1}.")
    return both[0], both[1], n, names


def _named(ends: npt.NDArray[np.str_], names: tuple[str, ...] | None) -> tuple[Whole, Whole, int, tuple[str, ...]]:
    number = {name: i for i, name in enumerate(names or dict.fromkeys(ends.ravel().tolist()))}
    unknown = next((str(end) for end in ends.ravel() if end not in number), None)
    if unknown is not None:
        raise DataError(f"an edge ends at {unknown!r}, which is not among the names.")
    flat = np.array([number[end] for end in ends.ravel().tolist()], dtype=np.int64).reshape(-1, 2)
    return flat[:, 0], flat[:, 1], len(number), tuple(number)
