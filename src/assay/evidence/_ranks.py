"""The place of a neighbour among all others of a point, counted block by block."""

from __future__ import annotations

import numpy as np

from assay.arrays import Whole
from assay.engine.local import in_threads
from assay.linalg.one_thread import one_blas_thread
from assay.summary.distances.pair_fit import CANDIDATES, queries_at_a_time
from assay.summary.distances.pairwise_blocks import Apart


def ranks(space: Apart, rows: Whole, wanted: Whole) -> Whole:
    """The place of some neighbours among all others of a row, nearest first, equally near ones by number.

    Args:
        space: Distances of n points.
        rows: (m,) points.
        wanted: (m, w) neighbours to rank for each; -1 for none, which gets rank 0.

    Returns:
        (m, w) ranks from 1 to n - 1.

    >>> from assay.summary.distances.pairwise_blocks import apart
    >>> ranks(apart([[0.0], [1.0], [3.0]], "euclidean"), np.array([0]), np.array([[2, 1]]))
    array([[2, 1]])
    """
    found = np.zeros(wanted.shape, np.int64)
    step = queries_at_a_time(space.n)

    def rank(start: int) -> None:
        part = slice(start, start + step)
        _rank_block(space, rows[part], wanted[part], found[part])

    with one_blas_thread():
        in_threads(rank, range(0, len(rows), step))
    return found


def _rank_block(space: Apart, rows: Whole, wanted: Whole, found: Whole) -> None:
    """Blocks settle what their error bound allows; rows with a tie within it are measured as a whole."""
    from assay.summary.distances import _fidelity_kernels as kernels

    asked = wanted >= 0
    if not asked.any():
        return
    squares = space.pairs(np.repeat(rows, wanted.shape[1]), np.where(asked, wanted, 0).ravel()) ** 2
    squares = squares.reshape(wanted.shape)
    slack = space.slack(rows)[:, None] + 16 * np.finfo(float).eps * squares  # the roots round too
    low, high = np.sqrt(np.maximum(squares - slack, 0.0)), np.sqrt(squares + slack)
    certain, possible = np.zeros_like(found), np.zeros_like(found)
    for first in range(0, space.n, CANDIDATES):
        block = space.block(rows, first, min(first + CANDIDATES, space.n))
        kernels.count_nearer(block, wanted, low, high, certain, possible)
    # the row itself, at distance 0, is counted in both; the neighbour asked for in `possible` alone
    found[asked] = certain[asked]
    for i in np.flatnonzero((asked & (possible - certain != 1)).any(axis=1)):
        kernels.ranks_in_row(space.row(int(rows[i])), int(rows[i]), wanted[i], found[i])
