"""Subspaces: how many directions a matrix has, what it annihilates, bases and coordinates.

Everything is decided by singular values: those at most rcond times the largest count as zero. The default rcond is
eps max(m, n), the size of rounding.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import DataError, ParameterError, SingularError
from assay.linalg.eigen.spectral import fix_signs
from assay.linalg.regression.least_squares import lstsq
from assay.linalg.validate import as_matrix, as_right_side, power_of_two

_EPS = float(np.finfo(np.float64).eps)


def rank(A: ArrayLike, rcond: float | None = None) -> int:
    """Count the independent directions of a matrix: its singular values above rcond times the largest.

    >>> rank([[1, 2], [2, 4]])
    1
    """
    matrix = as_matrix(A)
    return _rank(sla.svdvals(matrix, check_finite=False), matrix.shape, rcond)


def null_space(A: ArrayLike, rcond: float | None = None) -> Array:
    """Find an orthonormal basis of the vectors x with A x = 0.

    Returns:
        (n, n - rank), orthonormal columns, sign-fixed.

    >>> null_space([[1, 1]]).round(7)
    array([[ 0.7071068],
           [-0.7071068]])
    """
    matrix = as_matrix(A)
    _, values, right = sla.svd(matrix, full_matrices=True, check_finite=False)
    return fix_signs(np.asarray(right[_rank(values, matrix.shape, rcond) :].T))


def basis(A: ArrayLike, rcond: float | None = None) -> Array:
    """Find an orthonormal basis of the space that the columns span.

    Returns:
        (m, rank), orthonormal columns, sign-fixed.

    >>> basis([[3, 6], [4, 8]]).round(12)
    array([[0.6],
           [0.8]])
    """
    matrix = as_matrix(A)
    left, values, _ = sla.svd(matrix, full_matrices=False, check_finite=False)
    return fix_signs(np.asarray(left[:, : _rank(values, matrix.shape, rcond)]))


def independent(A: ArrayLike, rcond: float | None = None) -> bool:
    """Tell whether the columns are linearly independent.

    >>> independent([[1, 1], [0, 1]]), independent([[1, 2], [2, 4]])
    (True, False)
    """
    matrix = as_matrix(A)
    return bool(rank(matrix, rcond) == matrix.shape[1])


def independent_columns(A: ArrayLike, rcond: float | None = None) -> NDArray[np.intp]:
    """Choose columns that are independent and span all others.

    Returns:
        (rank,), their indices, ascending. QR with column pivoting chooses, so they are well apart.

    >>> independent_columns([[1, 2, 0], [1, 2, 1]])
    array([1, 2])
    """
    matrix = as_matrix(A)
    count = rank(matrix, rcond)
    order = sla.qr(matrix, mode="r", pivoting=True, check_finite=False)[1]
    return np.sort(np.asarray(order[:count], dtype=np.intp))


def coordinates(x: ArrayLike, basis: ArrayLike, tol: float = 1e-10) -> Array:
    """Express vectors in a basis: basis @ coordinates = x.

    Args:
        x: (m,) or (m, p), in the span of the basis.
        basis: (m, r), independent columns; they need not be orthonormal.
        tol: how far x may lie outside the span, relative to its length.

    Returns:
        (r,) or (r, p).

    >>> coordinates([3, 1], [[1, 1], [0, 1]]).round(12)
    array([2., 1.])
    """
    columns = as_matrix(basis, name="basis")
    right = as_right_side(x, columns.shape[0], name="x")
    solution = lstsq(columns, right)
    if solution.rank < columns.shape[1]:
        raise SingularError(
            f"the {columns.shape[1]} columns of a basis must be independent, only {solution.rank} are. "
            "Take basis[:, independent_columns(basis)]."
        )
    length = float(np.linalg.norm(right / power_of_two(right))) * power_of_two(right)
    if solution.residual_norm > tol * length:
        raise DataError(
            f"x must lie in the span of the basis, but is {solution.residual_norm / length:.2g} of its length away "
            "from it. Use lstsq for the nearest vector in the span."
        )
    return solution.x


def change_of_basis(old: ArrayLike, new: ArrayLike, tol: float = 1e-10) -> Array:
    """Find the matrix that turns coordinates in one basis into coordinates in another.

    Args:
        old: (m, r), independent columns.
        new: (m, r), independent columns with the same span.
        tol: how far the old basis may lie outside the span of the new.

    Returns:
        (r, r), P with coordinates_new = P @ coordinates_old; new @ P = old.

    >>> change_of_basis([[2, 0], [0, 1]], [[1, 0], [0, 1]]).round(12)
    array([[2., 0.],
           [0., 1.]])
    """
    a, b = as_matrix(old, name="old"), as_matrix(new, name="new")
    if a.shape != b.shape:
        raise DataError(f"both bases must have the same shape, have {a.shape} and {b.shape}.")
    if not independent(a):
        raise SingularError(f"the {a.shape[1]} columns of old must be independent, only {rank(a)} are.")
    return coordinates(a, b, tol)


def _rank(values: Array, shape: tuple[int, ...], rcond: float | None) -> int:
    if rcond is None:
        rcond = _EPS * max(shape)
    elif not 0 <= rcond < 1:
        raise ParameterError(f"rcond must be at least 0 and below 1, is {rcond!r}.")
    return int(np.count_nonzero(values > rcond * values[0]))
