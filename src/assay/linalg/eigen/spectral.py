"""Eigen and singular value decompositions: always descending, paired, with signs fixed.

    symmetric    A = V diag(values) V^T               V^T V = I
    general      A v_j = values_j v_j                 possibly complex
    generalised  A v_j = values_j B v_j               V^T B V = I
    singular     A = left diag(values) right^T        both with orthonormal columns

Nobody sorts again: column j of the vectors belongs to value j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scipy.linalg as sla
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import DataError, SingularError
from assay.linalg.validate import ComplexArray, as_matrix, as_square, as_symmetric, power_of_two

_T = TypeVar("_T", np.float64, np.complex128)

# Entries this close to the largest count as tied, so that rounding does not choose between v and -v.
_TIE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """Eigenvalues and eigenvectors, descending and paired.

    Attributes:
        values: (k,), descending.
        vectors: (n, k), column j belongs to values[j]; its entry of largest modulus is positive.
    """

    values: Array
    vectors: Array


@dataclass(frozen=True, slots=True, eq=False)
class GeneralSpectrum:
    """Eigenvalues and right eigenvectors of a matrix that need not be symmetric.

    Attributes:
        values: (n,) complex, by descending modulus; of a conjugate pair the positive imaginary part comes first.
        vectors: (n, n) complex, column j belongs to values[j], of length one; its entry of largest modulus is
            real and positive.
    """

    values: ComplexArray
    vectors: ComplexArray


@dataclass(frozen=True, slots=True, eq=False)
class SVD:
    """Singular values and vectors, descending and paired: A = left @ diag(values) @ right.T.

    Attributes:
        left: (m, k), orthonormal columns.
        values: (k,), descending, non-negative.
        right: (n, k), orthonormal columns (not rows, so that column j of both sides belongs to values[j]). In each
            the entry of largest modulus is positive; the left column has the sign that goes with it.
    """

    left: Array
    values: Array
    right: Array


def column_signs(vectors: NDArray[_T]) -> NDArray[_T]:
    """Find the factor of modulus one for each column that makes its entry of largest modulus positive.

    Ties (to a relative 1e-6) go to the first index, so that rounding cannot flip a sign. A zero column gets 1.

    Args:
        vectors: (n, k), real or complex.

    Returns:
        (k,), of modulus one.

    >>> column_signs(np.array([[0.6, 0.1], [-0.8, 0.9]]))
    array([-1.,  1.])
    """
    if vectors.shape[0] == 0:
        return np.ones(vectors.shape[1], dtype=vectors.dtype)
    size = np.abs(vectors)
    first = np.argmax(size >= (1.0 - _TIE) * size.max(axis=0), axis=0)
    column = np.arange(vectors.shape[1])
    lead, modulus = vectors[first, column], size[first, column]
    return np.where(modulus > 0, lead.conj() / np.where(modulus > 0, modulus, 1.0), 1.0).astype(vectors.dtype)


def part_of_spectrum(S: Array, first: int, last: int) -> tuple[Array, Array]:
    """Eigenvalues number first to last of a symmetric matrix, ascending and counted from 0, and their vectors.

    LAPACK's evr finds a part without the rest, except that of eigenvalues that repeat very often it may find fewer, or
    none, and say nothing (those of I - 1 1^T / n for n = 40, say): then all are found. For a large part divide and
    conquer is faster anyway.

    >>> part_of_spectrum(np.eye(40) - 1 / 40, 38, 39)[0].round(9)
    array([1., 1.])
    """
    wanted = last - first + 1
    if 2 * wanted <= len(S):
        values, vectors = sla.eigh(S, driver="evr", subset_by_index=[first, last], check_finite=False)
        if len(values) == wanted:
            return values, vectors
    values, vectors = sla.eigh(S, driver="evd", check_finite=False)
    return values[first : last + 1], vectors[:, first : last + 1]


def fix_signs(vectors: NDArray[_T]) -> NDArray[_T]:
    """Flip columns so that in each the entry of largest modulus is positive.

    Args:
        vectors: (n, k), real or complex (then the entry becomes real and positive).

    Returns:
        (n, k), a new array.

    >>> fix_signs(np.array([[0.6, 0.1], [-0.8, 0.9]]))
    array([[-0.6,  0.1],
           [ 0.8,  0.9]])
    """
    return np.asarray(vectors * column_signs(vectors))


def eigen_symmetric(A: ArrayLike) -> Spectrum:
    """Decompose a symmetric matrix: the orthogonal axes along which it only stretches, and by how much.

    Args:
        A: (n, n), symmetric.

    Returns:
        Spectrum with all n pairs.

    >>> eigen_symmetric([[2, 1], [1, 2]]).values.round(12)
    array([3., 1.])
    """
    # Divide and conquer: the fastest driver when all vectors are wanted, and it rescales extreme entries itself.
    values, vectors = sla.eigh(as_symmetric(A), driver="evd", check_finite=False)
    return Spectrum(values[::-1].copy(), fix_signs(vectors[:, ::-1]))


def eigen(A: ArrayLike) -> GeneralSpectrum:
    """Decompose a square matrix that need not be symmetric.

    Args:
        A: (n, n). Use `eigen_symmetric` for symmetric ones: faster, real, orthogonal.

    Returns:
        GeneralSpectrum with all n pairs, by descending modulus.

    >>> eigen([[0, -1], [1, 0]]).values
    array([0.+1.j, 0.-1.j])
    """
    matrix = as_square(A)
    # Scaled here, exactly: LAPACK's geev (OpenBLAS 0.3.31) returns values 1e162 off for entries near 1e300.
    scale = power_of_two(matrix)
    values, vectors = _eig(matrix / scale)
    # Moduli that differ by rounding only (conjugate pairs) count as equal; then the larger real part comes first.
    modulus, real = np.round(np.abs(values), 12), np.round(values.real, 12)
    order = np.lexsort((-values.imag, -real, -modulus))
    return GeneralSpectrum(values[order] * scale, fix_signs(vectors[:, order]))


def _eig(matrix: Array) -> tuple[ComplexArray, ComplexArray]:
    values, vectors = sla.eig(matrix, check_finite=False)
    rounding = 1e-13 * matrix.shape[0]
    if np.abs(matrix @ vectors - vectors * values).max() > rounding:
        # LAPACK balances the matrix first, and entries such as 1e-200 beside 1 lead it to scales that spoil the
        # vectors (residuals of 0.3 were seen). Far below rounding, they may as well be zero.
        values, vectors = sla.eig(np.where(np.abs(matrix) < 1e-18, 0.0, matrix), check_finite=False)
    return np.asarray(values, dtype=np.complex128), np.asarray(vectors, dtype=np.complex128)


def svd(A: ArrayLike) -> SVD:
    """Decompose any matrix into rotations and stretches.

    Args:
        A: (m, n).

    Returns:
        SVD with min(m, n) triples.

    >>> svd([[5, 4, 1], [5, 5, 0], [0, 0, 5], [1, 0, 4]]).values.round(7)
    array([9.6438109, 6.3638909, 0.7055523])
    """
    matrix = as_matrix(A)
    try:
        left, values, right = sla.svd(matrix, full_matrices=False, lapack_driver="gesdd", check_finite=False)
    except sla.LinAlgError:  # divide and conquer fails on rare matrices that plain QR iteration decomposes
        left, values, right = sla.svd(matrix, full_matrices=False, lapack_driver="gesvd", check_finite=False)
    signs = column_signs(right.T)
    return SVD(left * signs, values, right.T * signs)


def generalized_eigen(A: ArrayLike, B: ArrayLike) -> Spectrum:
    """Solve A v = value B v: the axes along which A is largest when length is measured by B.

    Args:
        A: (n, n), symmetric.
        B: (n, n), symmetric positive definite.

    Returns:
        Spectrum with V^T B V = I (B-orthonormal, so columns do not have length one).

    >>> generalized_eigen([[2, 0], [0, 3]], [[1, 0], [0, 3]]).values
    array([2., 1.])
    """
    a, b = as_symmetric(A), as_symmetric(B, name="B")
    if a.shape != b.shape:
        raise DataError(f"A and B must have the same shape, have {a.shape} and {b.shape}.")
    # sygvd, unlike syevd, does not guard against overflow: scale both, exactly. B by an even power, for its root.
    scale_a, scale_b = power_of_two(a), power_of_two(b)
    if np.log2(scale_b) % 2:
        scale_b = scale_b / 2
    try:
        values, vectors = sla.eigh(a / scale_a, b / scale_b, driver="gvd", check_finite=False)
    except sla.LinAlgError:
        lowest = float(part_of_spectrum(b / scale_b, 0, 0)[0][0] * scale_b)
        raise SingularError(
            f"B must be positive definite, its smallest eigenvalue is {lowest:.3g}. "
            "Add a ridge (B + eps I) or drop dependent columns."
        ) from None
    with np.errstate(over="ignore"):
        values = values[::-1] * (scale_a / scale_b)
    return Spectrum(values, fix_signs(vectors[:, ::-1] / np.sqrt(scale_b)))
