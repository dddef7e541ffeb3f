"""Triangular factors of a matrix, and solving with them. All on LAPACK; what has no such factors is refused.

    LU        A[permutation] = L U      Doolittle: unit L, Crout: unit U
    Cholesky  A = L L^T                 A symmetric positive definite
    QR        A = Q R                   Q^T Q = I, R upper triangular with a diagonal >= 0

A pivot counts as zero when it is no larger than the rounding made in computing it, so badly scaled matrices pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg as sla
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dgetrf, dpotrf

from assay.arrays import Array
from assay.errors import ParameterError, SingularError
from assay.linalg.validate import as_matrix, as_right_side, as_square, as_symmetric, power_of_two

_EPS = float(np.finfo(np.float64).eps)
_NEARLY_DEPENDENT = "The columns of A are dependent, or nearly (condition above 1e8): use method='householder'."


@dataclass(frozen=True, slots=True, eq=False)
class LU:
    """Triangular factors of a square matrix: A[permutation] = lower @ upper.

    Attributes:
        lower: (n, n); its diagonal is one in Doolittle's variant.
        upper: (n, n); its diagonal is one in Crout's variant.
        permutation: (n,), the order in which the rows of A were taken.
    """

    lower: Array
    upper: Array
    permutation: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class QR:
    """Orthonormal columns and a triangle: A = orthogonal @ upper.

    Attributes:
        orthogonal: (m, k), k = min(m, n).
        upper: (k, n), its diagonal >= 0, which makes the factors unique when the columns are independent.
    """

    orthogonal: Array
    upper: Array


def lu(A: ArrayLike, variant: Literal["doolittle", "crout"] = "doolittle") -> LU:
    """Factor a square matrix into triangles, with row exchanges.

    Args:
        A: (n, n), not singular.
        variant: which factor has ones on its diagonal: "doolittle" the lower, "crout" the upper.

    Returns:
        LU.

    Raises:
        SingularError: naming the pivot that vanishes.

    >>> lu([[0, 2], [1, 3]]).permutation
    array([1, 0])
    """
    if variant not in ("doolittle", "crout"):
        raise ParameterError(f"variant must be 'doolittle' or 'crout', is {variant!r}.")
    matrix = as_square(A)
    n = matrix.shape[0]
    # Nothing is squared and |l| <= 1, so entries of 1e300 and 1e-300 may stand side by side.
    packed, exchanges, _ = dgetrf(matrix)
    L, U = np.tril(packed, -1) + np.eye(n), np.triu(packed)
    pivots = np.abs(np.diag(U))
    # u_ii = a_ii - sum l_ik u_ki was formed with a rounding error of about eps (|L| |U|)_ii.
    rounding = n * _EPS * np.einsum("ij,ji->i", np.abs(L), np.abs(U))
    if np.any(pivots <= rounding):
        i = int(np.argmax(pivots <= rounding))
        raise SingularError(
            f"A is singular: pivot {i} (counted from 0) is {U[i, i]:.3g}, no more than the rounding in it. "
            "Drop dependent rows and columns, or use lstsq for a least squares answer."
        )
    if variant == "crout":
        D = np.diag(U).copy()
        L, U = L * D, U / D[:, None]
    return LU(L, U, _permutation(exchanges))


def cholesky(A: ArrayLike) -> Array:
    """Factor a symmetric positive definite matrix: its triangular square root.

    Args:
        A: (n, n), symmetric positive definite.

    Returns:
        (n, n), lower triangular L with A = L L^T and a positive diagonal.

    Raises:
        SingularError: naming the leading minor that is not positive.

    >>> cholesky([[4, 2], [2, 5]])
    array([[2., 0.],
           [1., 2.]])
    """
    return _cholesky(as_symmetric(A), "A", "Add a ridge (A + eps I), or use eigen_symmetric.")


def qr(A: ArrayLike, method: Literal["householder", "gram-schmidt", "cholesky"] = "householder") -> QR:
    """Factor a matrix into orthonormal columns and a triangle.

    Args:
        A: (m, n). The last two methods need independent columns, so m >= n.
        method: "householder" (reflections; always works), "gram-schmidt" (modified, each column orthogonalised
            twice), or "cholesky" (A^T A = R^T R, Q = A R^-1, done twice; fastest for tall matrices, but squares the
            condition number, so it is refused beyond about 1e8).

    Returns:
        QR.

    Raises:
        SingularError: naming the column at which independence fails.

    >>> qr([[3, 1], [4, 2]]).upper.round(12)
    array([[5. , 2.2],
           [0. , 0.4]])
    """
    matrix = as_matrix(A)
    if method == "householder":
        Q, R = (np.asarray(f, dtype=np.float64) for f in sla.qr(matrix, mode="economic", check_finite=False))
    elif method not in ("gram-schmidt", "cholesky"):
        raise ParameterError(f"method must be 'householder', 'gram-schmidt' or 'cholesky', is {method!r}.")
    elif matrix.shape[0] < matrix.shape[1]:
        raise SingularError(
            f"the {matrix.shape[1]} columns of A must be independent, but they have only {matrix.shape[0]} rows. "
            "Use method='householder'."
        )
    else:
        # Column scales by powers of two change no digit, and keep squares from overflowing.
        scales = np.array([power_of_two(column) for column in matrix.T])
        Q, R = (_gram_schmidt if method == "gram-schmidt" else _cholesky_route)(matrix / scales)
        R = R * scales
    signs = np.where(np.diag(R) < 0, -1.0, 1.0)
    Q[:, : signs.size] *= signs
    R[: signs.size] *= signs[:, None]
    return QR(Q, R)


def solve_triangular(T: ArrayLike, b: ArrayLike, *, lower: bool = False, transposed: bool = False) -> Array:
    """Solve T x = b by substitution.

    Args:
        T: (n, n). Only the triangle asked for is read.
        b: (n,) or (n, p).
        lower: read the lower triangle instead of the upper.
        transposed: solve T^T x = b instead.

    Returns:
        x, of the shape of b.

    Raises:
        SingularError: naming the zero on the diagonal.

    >>> solve_triangular([[2, 1], [0, 4]], [4, 8])
    array([1., 2.])
    """
    matrix = as_square(T, name="T")
    right = as_right_side(b, matrix.shape[0])
    zero = np.flatnonzero(np.diag(matrix) == 0)
    if zero.size:
        raise SingularError(
            f"T is singular: row {zero[0]} (counted from 0) has a zero on the diagonal. Use lstsq for a least "
            "squares answer."
        )
    return np.asarray(
        sla.solve_triangular(matrix, right, lower=lower, trans="T" if transposed else "N", check_finite=False)
    )


def _cholesky(matrix: Array, name: str, remedy: str) -> Array:
    n = matrix.shape[0]
    # Symmetric scaling to a diagonal near one, by powers of four so that its root is a power of two.
    diagonal = np.diag(matrix)
    if np.any(diagonal <= 0):
        i = int(np.argmax(diagonal <= 0))
        raise SingularError(
            f"{name} is not positive definite: diagonal entry {i} (counted from 0) is {diagonal[i]:.3g}. {remedy}"
        )
    root = np.ldexp(1.0, np.frexp(diagonal)[1] // 2)
    scaled = matrix / root / root[:, None]
    L, info = dpotrf(scaled, lower=1, clean=1)
    done = n if info == 0 else info - 1
    pivots = np.diag(L)[:done] ** 2
    small = pivots <= n * _EPS * np.diag(scaled)[:done]
    if info or small.any():
        i = int(np.argmax(small)) if small.any() else done
        raise SingularError(
            f"{name} is not positive definite: its leading minor of order {i + 1} is not positive (to rounding). "
            f"{remedy}"
        )
    return np.asarray(L * root[:, None])


def _gram_schmidt(A: Array) -> tuple[Array, Array]:
    m, n = A.shape
    Q, R = np.zeros((m, n)), np.zeros((n, n))
    for j in range(n):
        v = A[:, j].copy()
        length = float(np.linalg.norm(v))
        for _ in range(2):  # the second sweep removes what cancellation left of the first ("twice is enough")
            for i in range(j):
                overlap = float(Q[:, i] @ v)
                R[i, j] += overlap
                v -= overlap * Q[:, i]
        rest = float(np.linalg.norm(v))
        if rest <= max(m, n) * _EPS * length:
            raise SingularError(
                f"column {j} of A (counted from 0) depends on the columns before it. Drop it, or use "
                "method='householder'."
            )
        R[j, j] = rest
        Q[:, j] = v / rest
    return Q, R


def _cholesky_route(A: Array) -> tuple[Array, Array]:
    # Q = A R^-1 of the first pass is orthonormal to eps cond(A)^2 only; a second pass on Q makes it so to eps.
    Q, R = A, np.eye(A.shape[1])
    for _ in range(2):
        factor = _cholesky(Q.T @ Q, "A^T A", _NEARLY_DEPENDENT).T
        Q = np.asarray(sla.solve_triangular(factor, Q.T, trans="T", check_finite=False).T)
        R = factor @ R
        # Where rounding in A^T A made up a pivot, Q is nowhere near orthonormal, and no second pass would mend it.
        if np.abs(Q.T @ Q - np.eye(A.shape[1])).max() > 0.1:
            raise SingularError(f"A^T A is not positive definite to rounding. {_NEARLY_DEPENDENT}")
    return Q, R


def _permutation(exchanges: NDArray[np.int32]) -> NDArray[np.intp]:
    order = np.arange(exchanges.size)
    for i, j in enumerate(exchanges.tolist()):
        order[[i, j]] = order[[j, i]]
    return order
