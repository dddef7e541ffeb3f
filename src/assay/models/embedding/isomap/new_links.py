"""How rows that come later are linked to those a graph was made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from assay.arrays import Array
from assay.errors import DataError
from assay.summary.distances.known_distances import distances_or_rows, nearest_known
from assay.summary.distances.metrics import is_precomputed, nearest, within
from assay.summary.graph.edges import Edges
from assay.summary.graph.options import Nearest, Within


def new_links(option: Nearest | Within, X: Any, known: Array | None) -> Edges:
    """An edge from each new row to its nearest known ones, or to those within a radius.

    A new row that equals a known one is linked to it alone (at length zero), whatever the graph: it is that row, and
    so has the same paths to all others.

    Args:
        option: The option the graph was made by.
        X: (m, d) new rows; with metric "precomputed" their (m, n) distances to the known ones.
        known: (n, d) the rows of the graph; not needed for "precomputed".

    Returns:
        New row, known row and length of each edge, by new row.

    >>> new_links(Nearest(2), [[0.9]], np.array([[0.0], [1.0], [3.0]]))[1]
    array([1, 0])
    """
    if is_precomputed(option.metric):
        rows, cols, lengths = _given(option, distances_or_rows(X, option.metric))
    else:
        rows, cols, lengths = _measured(option, X, known)
    same = np.zeros(rows.max(initial=-1) + 1, dtype=bool)
    same[rows[lengths == 0.0]] = True
    kept = (lengths == 0.0) | ~same[rows]
    return rows[kept], cols[kept], lengths[kept]


def _measured(option: Nearest | Within, X: Any, known: Any) -> Edges:
    if isinstance(option, Nearest):
        near = nearest(X, min(option.n_neighbors, len(known)), option.metric, known)
        rows = np.repeat(np.arange(len(near.indices)), near.indices.shape[1])
        return rows, near.indices.ravel(), near.distances.ravel()
    found = within(X, option.radius, option.metric, known)
    return found.rows, found.cols, found.distances


def _given(option: Nearest | Within, D: Any) -> Edges:
    if isinstance(D, sparse.csr_array):
        return _known(option, D)
    if D.min() < 0:
        i, j = np.unravel_index(int(D.argmin()), D.shape)
        raise DataError(f"Negative values in data: distances must not be negative: row {i}, column {j} is {D[i, j]:g}.")
    if isinstance(option, Within):
        rows, cols = np.nonzero(option.radius >= D)
    else:
        k = min(option.n_neighbors, D.shape[1])
        rows, cols = np.repeat(np.arange(len(D)), k), np.argsort(D, axis=1, kind="stable")[:, :k].ravel()
    return rows, cols, D[rows, cols]


def _known(option: Nearest | Within, D: sparse.csr_array) -> Edges:
    if isinstance(option, Within):
        rows = np.repeat(np.arange(int(D.shape[0])), np.diff(D.indptr))
        kept = option.radius >= D.data
        return rows[kept], D.indices[kept].astype(np.int64), D.data[kept]
    indices, distances = nearest_known(D, min(option.n_neighbors, int(D.shape[1])))
    return np.repeat(np.arange(len(indices)), indices.shape[1]), indices.ravel(), distances.ravel()
