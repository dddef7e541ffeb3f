"""Mean and variance of each column alone, for tables too wide for a scatter matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assay.arrays import Array
from assay.linalg.eigen.principal import dense
from assay.linalg.sparse.centred import as_entries, sparse_moments
from assay.summary.moments.accumulate import TINY, refuse_unusable

_WIDTH = 1024


class ColumnMoments(NamedTuple):
    """Mean and variance, (d,) each; the variance of a constant column is exactly zero."""

    mean: Array
    variance: Array


def column_moments(X: Any, names: tuple[str, ...] | None = None) -> ColumnMoments:
    """Mean and variance of each column of (n, d) rows, in two passes over a strip of columns or over sparse entries.

    >>> column_moments(np.array([[1.0, 7.0], [3.0, 7.0]]))
    ColumnMoments(mean=array([2., 7.]), variance=array([2., 0.]))
    """
    if hasattr(X, "toarray"):
        return _of_entries(X, names)
    n, d = X.shape
    mean, variance = np.empty(d), np.empty(d)
    with np.errstate(all="ignore"):  # what overflows or is not finite is found and named below
        for start in range(0, d, _WIDTH):
            part = slice(start, start + _WIDTH)
            block = dense(X[:, part]).astype(np.float64)
            # clipped into the range, so that a constant column is centred to exact zeros
            mean[part] = np.clip(block.mean(axis=0), block.min(axis=0), block.max(axis=0))
            block -= mean[part]
            offset = block.mean(axis=0)
            mean[part] += offset
            variance[part] = (np.einsum("ij,ij->j", block, block) - n * offset**2) / max(n - 1, 1)
            fine = np.isfinite(variance[part]) & (variance[part] > TINY**2)
            if not fine.all():
                refuse_unusable(dense(X[:, part]), 0, names and names[part], first_column=start)
    return ColumnMoments(mean, np.maximum(variance, 0.0))


def _of_entries(X: Any, names: tuple[str, ...] | None) -> ColumnMoments:
    rows = as_entries(X)
    n = rows.shape[0]
    wrong = np.flatnonzero(~np.isfinite(rows.data))
    if len(wrong):
        _refuse_column(rows, int(rows.indices[wrong[0]]), names)
    with np.errstate(all="ignore"):  # what overflows is found and named below
        mean, squares = sparse_moments(rows)
    variance = squares / max(n - 1, 1)
    flat = variance <= TINY**2
    doubted = ~np.isfinite(variance)
    if flat.any():  # zeros alone are no reason
        doubted[rows.indices[np.take(flat, rows.indices, mode="clip") & (rows.data != 0.0)]] = True
    for j in np.flatnonzero(doubted):
        _refuse_column(rows, int(j), names)
    return ColumnMoments(mean, variance)


def _refuse_column(rows: Any, j: int, names: tuple[str, ...] | None) -> None:
    refuse_unusable(rows[:, [j]].toarray(), 0, names and names[j : j + 1], first_column=j)
