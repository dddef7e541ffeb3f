"""Rows as numbers, and the distances between them, safe where the textbook formula is not.

|x - y|^2 = |x|^2 + |y|^2 - 2 x.y costs one matrix product but loses everything when rows are close together and
far from zero. Here rows are shifted to their middle first, and each entry whose error bound is not small against
its value is measured again from the differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.arrays import Array, Whole
from assay.errors import DataError
from assay.linalg.sparse.structure import as_sparse
from assay.linalg.validate import as_matrix

DENSE_LIMIT = 2**27  # entries: sparse rows up to 1 GiB as float64 are made dense, larger ones refused
RELATIVE_ERROR = 1e-9  # of a squared distance taken from the product
_CHUNK = 2**18  # numbers held at a time while pairs are measured


def as_rows(X: Any, name: str = "X", columns: int | None = None) -> Array:
    """Rows of finite float64 numbers, or the reason why not.

    Sparse rows are made dense up to `DENSE_LIMIT` entries (1 GiB); float32, integers and frames are converted.

    Args:
        X: n rows of d numbers.
        name: What to call it in an error.
        columns: The number of columns it must have.

    Returns:
        An (n, d) C-ordered array; the argument itself when it is one already.

    >>> as_rows([[1, 2]]).dtype
    dtype('float64')
    """
    if hasattr(X, "toarray"):  # SciPy's sparse matrices and arrays
        refuse_dense(X, name)
        X = as_sparse(X, name=name).toarray()
    rows = np.ascontiguousarray(as_matrix(X, name=name))
    if columns is not None and rows.shape[1] != columns:
        raise DataError(f"{name} must have {columns} columns, as the rows it is compared with, has {rows.shape[1]}.")
    return rows


def refuse_dense(
    X: Any, name: str = "X", remedy: str = "Reduce its columns first, for example with LSI or PCA(n_components=100)."
) -> None:
    """Refuse to make a sparse matrix dense that would take more than `DENSE_LIMIT` entries.

    Args:
        X: (n, d); nothing is said of what is dense already.
        name: What to call it in an error.
        remedy: What to do instead.
    """
    n, d = (int(size) for size in X.shape)
    if hasattr(X, "toarray") and n * d > DENSE_LIMIT:
        raise DataError(
            f"{name} is sparse, {n} x {d}, and would take {n * d / 2**27:.1f} GiB when dense (the limit is 1 GiB). "
            + remedy
        )


def refuse_axes(X: Any, remedy: str) -> None:
    """Refuse a sparse matrix whose axes, or whose covariance, would take more than `DENSE_LIMIT` entries.

    Args:
        X: (n, d); nothing is said of what is dense already.
        remedy: What to do instead.
    """
    if hasattr(X, "toarray"):
        n, d = (int(size) for size in X.shape)
        if min(n, d) * d > DENSE_LIMIT:
            raise DataError(
                f"X is sparse, {n} x {d}, and its axes would take {min(n, d) * d / 2**27:.1f} GiB (the limit is 1 "
                "GiB). " + remedy
            )


def both_rows(X: Any, Y: Any = None) -> tuple[Array, Array]:
    """Checked rows of two tables; the second is the first itself when there is only one.

    >>> first, second = both_rows([[1, 2]])
    >>> first is second
    True
    """
    first = as_rows(X)
    return first, first if Y is None or Y is X else as_rows(Y, "Y", first.shape[1])


def unit_scale(*tables: Array) -> float:
    """The power of two that brings the widest column to a range near 1, for squares that stay within floats.

    Multiplying with it changes no bits. Without it squares of 1e300 overflow and squares of 1e-300 vanish; with it
    differences below 1e-154 of the widest range still do.

    >>> unit_scale(np.array([[0.0], [7.0]]))
    0.125
    """
    high = np.max([t.max(axis=0) for t in tables], axis=0)
    low = np.min([t.min(axis=0) for t in tables], axis=0)
    spread = (high / 2 - low / 2).max()  # halves, because the range of +-1e308 is not a number
    if spread == 0:
        return 1.0
    largest = int(np.frexp(max(abs(high.max()), abs(low.min())))[1])
    # a constant column may be huge beside the widest range: it must stay finite
    return float(np.ldexp(1.0, min(-int(np.frexp(spread)[1]) - 1, 1000 - largest, 1000)))


def pair_squares(X: Array, Y: Array, rows: Whole, cols: Whole) -> Array:
    """|X[rows] - Y[cols]|^2, measured from the differences: zero for equal rows, whatever their size.

    Four partial sums over every fourth column, added as (0+1) + (2+3): the compiled kernel of the neighbour search
    does the same, so that both give the same bits.

    Args:
        X: (n, d) rows.
        Y: (m, d) rows.
        rows: Positions in X.
        cols: Positions in Y, as many.

    Returns:
        One squared distance per pair.

    >>> pair_squares(np.array([[1e8]]), np.array([[1e8 + 1], [1e8]]), np.array([0, 0]), np.array([0, 1]))
    array([1., 0.])
    """
    d = X.shape[1]
    whole = d - d % 4
    squares = np.empty(len(rows))
    step = max(1, _CHUNK // d)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        terms = X[rows[part]] - Y[cols[part]]
        terms *= terms
        sums = np.zeros((len(terms), 4))
        for t in range(0, whole, 4):
            sums += terms[:, t : t + 4]
        sums[:, : d - whole] += terms[:, whole:]
        squares[part] = (sums[:, 0] + sums[:, 1]) + (sums[:, 2] + sums[:, 3])
    return squares


def middle(X: Array) -> Array:
    """The median of each column over at most 1000 evenly spaced rows; outliers cannot drag it from the bulk.

    >>> middle(np.array([[0.0], [1.0], [1e300]]))
    array([1.])
    """
    step = -(-len(X) // 1000)
    sample = np.sort(X[::step], axis=0)
    return np.asarray(sample[len(sample) // 2], dtype=np.float64)


def squared_distances(X: Array, Y: Array | None = None, unit: float = 1.0) -> Array:
    """|x - y|^2 / unit^2 for all pairs of rows, to a relative error of 1e-9, and exactly zero for equal rows.

    Args:
        X: (n, d) rows.
        Y: (m, d) rows; X itself when not given, and then the result is symmetric to the last bit.
        unit: Divided by before squaring, so that neither 1e300 nor 1e-300 is lost when the unit is of that size.

    Returns:
        (n, m) squared distances; infinite where they exceed the largest float.

    >>> squared_distances(np.array([[1e8, 0.0], [1e8, 2.0]]))
    array([[0., 4.],
           [4., 0.]])
    """
    same = Y is None or Y is X
    second = X if Y is None else Y
    scale = unit_scale(X, second)
    X = X * scale
    second = X if same else second * scale
    centre = middle(X)
    A = X - centre
    B = A if same else second - centre
    a = np.einsum("ij,ij->i", A, A)
    b = a if same else np.einsum("ij,ij->i", B, B)
    squares: Array = A @ B.T  # A @ A.T is symmetric to the last bit: BLAS syrk, or the same sums in the same order
    # |error| <= (d + 4) eps (|x|^2 + |y|^2), Higham, Accuracy and Stability, section 3.1
    bound = (X.shape[1] + 4) * np.finfo(float).eps / RELATIVE_ERROR
    step = max(1, _CHUNK // len(second))
    for start in range(0, len(X), step):
        part = slice(start, start + step)
        norms = a[part, None] + b
        squares[part] *= -2
        squares[part] += norms
        norms *= bound
        i, j = np.nonzero(squares[part] <= norms)
        squares[i + start, j] = pair_squares(X, second, i + start, j)
    divisor = max(scale * unit, float(np.finfo(float).tiny))  # not 0: 0 / 0 is not 0
    with np.errstate(over="ignore", under="ignore"):
        squares /= divisor
        squares /= divisor
    return squares
