"""Ridge regression of a large sparse table, and what is refused of one because it would have to be made dense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from assay.arrays import Array
from assay.errors import DataError
from assay.linalg.regression.sparse_ridge import SparseRidge, sparse_ridge
from assay.linalg.sparse.centred import CentredRows, sparse_moments
from assay.summary.distances.distances import DENSE_LIMIT
from assay.summary.moments.column_moments import column_moments
from assay.summary.regression.regression import Squares, Table

_SPECTRUM = 1_000  # rows or columns up to which a whole spectrum takes less than a second


@dataclass(frozen=True, slots=True, eq=False)
class LargeRidge:
    """Ridge regression by products.

    Attributes:
        solution: coefficients with their certificate.
        centre: (d + p,) means of columns and targets; zeros without an intercept.
        squares: sums of squares.
        weight: sum of the weights.
    """

    solution: SparseRidge
    centre: Array
    squares: Squares
    weight: float


def takes_products(table: Table, alpha: Any) -> bool:
    """Whether a table is sparse and so large that its spectrum costs more than one solution by products."""
    X, n, d = table.data, table.n, table.d
    if not hasattr(X, "toarray") or isinstance(alpha, str) or np.ndim(alpha) or not alpha > 0.0:
        return False
    return 4 * int(X.nnz) <= n * d and (min(n, d) > _SPECTRUM or (d > n and n * d > DENSE_LIMIT))


def refuse_large(table: Table, remedy: str) -> None:
    """Refuse a sparse table whose spectrum needs more memory than 1 GiB."""
    n, d = table.n, table.d
    if issparse(table.data) and max(n if d > n else d, 1) * d > DENSE_LIMIT:
        raise DataError(
            f"X is sparse, {n} x {d}, and its spectrum would take {min(n, d) * d / 2**27:.1f} GiB (the limit is 1 "
            "GiB). " + remedy
        )


def large_ridge(table: Table, alpha: float, *, intercept: bool) -> LargeRidge:
    """Solve from a sparse table in memory for its entries.

    Args:
        table: the rows.
        alpha: price, above 0.
        intercept: whether there is one.
    """
    near = column_moments(table.data, table.names)  # refuses what has no finite square, with its place
    weights = np.ones(table.n) if table.weights is None else table.weights
    weight = float(weights.sum())
    centre = np.zeros(table.d + table.p)
    spread = np.full(table.d, np.inf)  # nothing is far where nothing is taken off
    if intercept:
        mean = near.mean if table.weights is None else sparse_moments(table.data, weights)[0]
        centre, spread = np.concatenate([mean, weights @ table.targets / weight]), np.sqrt(near.variance)
    root = np.sqrt(weights)
    given = None if table.weights is None else root
    rows = CentredRows.of(table.data, centre[: table.d], spread, root=given, own=intercept)
    Y = root[:, None] * (table.targets - centre[table.d :])
    known = near.variance * (table.n - 1) if intercept and table.weights is None else None
    found = sparse_ridge(rows, Y, alpha, squares=known)
    fitted = found.fitted
    squares = Squares(np.sum(Y**2, axis=0), np.sum(fitted**2, axis=0), np.sum((Y - fitted) ** 2, axis=0))
    return LargeRidge(found, centre, squares, weight)
