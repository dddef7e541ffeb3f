"""The bottom of a spectrum: the k smallest eigenpairs of a large sparse matrix from products alone, with certificates.

Lanczos finds the ends of a spectrum in about sqrt(width / gap) products, and at the bottom of a Laplacian the gap may
be a millionth of the width. Where plain Lanczos is not soon done, it is run on a Chebyshev polynomial of the matrix,

    T_m(M),  M = (2 A - (upper + cut) I) / (upper - cut),

which stays within [-1, 1] on [cut, upper] and grows like cosh(2 m sqrt((cut - lambda) / width)) below the cut: gaps
there widen m^2-fold. Nothing is factored, so a graph that would fill in (a web, a social network) costs its edges and
no more; one that is long as a chain costs a higher degree.

Reference: Zhou, Saad, Tiago, Chelikowsky, Journal of Computational Physics 219, 2006 (the filter); Lehoucq, Sorensen,
Yang, ARPACK Users' Guide, SIAM 1998.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from assay.arrays import Array
from assay.errors import DataError, NotConverged
from assay.linalg.eigen.krylov import KrylovSpace
from assay.linalg.eigen.lanczos import lanczos
from assay.linalg.eigen.operand import Operand, symmetric_operand
from assay.linalg.eigen.ritz import rayleigh_ritz
from assay.linalg.eigen.spectral import fix_signs, part_of_spectrum
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import RandomState, as_count, as_generator, as_matrix

_SMALL = 700  # up to here LAPACK, on one thread, is as fast as Lanczos on ten entries per row
_WRITTEN_OUT = 5_000  # up to here (200 MB) it is the better answer to an iteration that fails
_AMPLIFIED = 100.0  # by how much the filter lifts the lowest value above those beyond the cut
_PLAIN_PRODUCTS, _FILTERED_PRODUCTS = 2_000, 300
_SHARPER = 8
_NARROWEST = 1e-8  # share of the width below the cut, which keeps the degree below 30,000
_BASIS = 80
_TOLERANCE = 1e-8
_ROUNDING = 256 * np.finfo(np.float64).eps


class _SpentError(Exception):
    """The products allowed are used up."""


@dataclass(frozen=True, slots=True, eq=False)
class BottomEigen:
    """The k algebraically smallest eigenpairs, and how well they solve the problem.

    Attributes:
        values: (k,), ascending.
        vectors: (n, k), orthonormal columns, sign-fixed, column j belongs to values[j].
        residuals: (k,), the norm of A v - value v; some eigenvalue lies within this distance of each value.
        products: how often the matrix was applied to a vector; 0 for a direct method.
        converged: whether every residual is at most 1e-8 of the largest value found, or at rounding.
        method: "lapack", "lanczos" or "filtered".
    """

    values: Array
    vectors: Array
    residuals: Array
    products: int
    converged: bool
    method: str


def bottom_eigen(
    A: ArrayLike | sp.sparray | sp.spmatrix,
    k: int,
    *,
    null: ArrayLike | None = None,
    random_state: RandomState = 0,
) -> BottomEigen:
    """Find the k algebraically smallest eigenvalues of a symmetric matrix and their vectors, without factoring it.

    Args:
        A: (n, n), symmetric: dense or SciPy sparse.
        k: how many, 1 <= k <= n less the columns of null.
        null: (n, m) eigenvectors that are known, such as a Laplacian's of eigenvalue 0: left out of the answer.
        random_state: seeds the start vectors, so that results repeat.

    Returns:
        BottomEigen.

    >>> path = sp.diags_array([[1.0, 2, 1], [-1.0, -1], [-1.0, -1]], offsets=[0, 1, -1])
    >>> bottom_eigen(path, 2, null=np.ones((3, 1))).values.round(12)
    array([1., 3.])
    """
    if isinstance(A, LinearOperator):
        raise DataError("A must be a dense or sparse matrix here, is known by its products only.")
    operand = symmetric_operand(A)
    n = operand.shape[0]
    known = _orthonormal(null, n)
    k = as_count(k, n - known.shape[1], what="the size of the matrix less the vectors known")
    scaled: Any = operand.dense if operand.dense is not None else sp.csr_array(cast("Any", A)) / operand.scale
    bound = float(abs(scaled).sum(axis=1).max()) or 1.0  # Gershgorin: no eigenvalue has a larger modulus
    if n <= _SMALL:
        with one_blas_thread():  # two threads on a busy machine took a hundred times as long
            vectors, method = _by_lapack(operand.toarray(), known, bound, k), "lapack"
    elif 5 * k > n:
        vectors, method = _by_lapack(operand.toarray(), known, bound, k), "lapack"
    else:
        vectors, method = _by_products(operand, known, bound, k, as_generator(random_state))
    return _certified(operand, vectors, bound, method)


def _orthonormal(null: ArrayLike | None, n: int) -> Array:
    if null is None:
        return np.empty((n, 0))
    columns = as_matrix(null, name="null")
    if columns.shape[0] != n or columns.shape[1] >= n:
        raise DataError(f"null must have {n} rows like the matrix and fewer columns, has shape {columns.shape}.")
    return np.asarray(np.linalg.qr(columns)[0])


def _by_lapack(matrix: Array, known: Array, bound: float, k: int) -> Array:
    moved = matrix + 3 * bound * (known @ known.T)  # what is known goes above all the rest
    return part_of_spectrum(moved, 0, k - 1)[1]


def _by_products(operand: Operand, known: Array, bound: float, k: int, rng: np.random.Generator) -> tuple[Array, str]:
    """Plain Lanczos, then filters of rising degree, until a higher one would be no sharper."""

    def plain(x: Array) -> Array:
        return np.asarray(bound * x - operand.apply(x))

    try:
        return _lanczos(plain, known, k, rng, _PLAIN_PRODUCTS), "lanczos"
    except _SpentError:
        pass
    apply: Callable[[Array], Array] = plain
    degree, basis = 1, rng.standard_normal((operand.shape[0], k + 2))
    for _ in range(_SHARPER):
        values, basis = _ritz(operand, apply, known, basis, rng)
        cut = max(values[-1], values[0] + _NARROWEST * bound)  # all alike where the lowest value comes often
        before, degree = degree, _degree(values[0], cut, bound)
        apply = _chebyshev(operand, degree, cut, bound)
        last = degree < 2 * before
        try:
            return _lanczos(apply, known, k, rng, _PLAIN_PRODUCTS if last else _FILTERED_PRODUCTS), "filtered"
        except _SpentError:
            if last:
                break
    if operand.shape[0] <= _WRITTEN_OUT:
        return _by_lapack(operand.toarray(), known, bound, k), "lapack"
    return basis[:, :k], "filtered"


def _ritz(
    operand: Operand, apply: Callable[[Array], Array], known: Array, block: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The smallest Ritz values in the Krylov space of a block, as many as it has columns, ascending, and their vectors.

    The j-th is never below the j-th smallest eigenvalue (Cauchy): so many eigenvalues do lie below the last of them,
    and a filter that is cut there keeps the order of those before.
    """
    width = block.shape[1]
    blocks = max(4, _BASIS // width)
    space = KrylovSpace(apply, block, blocks * width, rng, outside=known)
    for _ in range(blocks - 1):
        space.grow()
    basis = space.basis
    values, vectors, _ = rayleigh_ritz(basis, -operand.apply(basis), width)
    return -values[:width], vectors


def _degree(low: float, cut: float, upper: float) -> int:
    """The even degree at which the filter lifts the lowest value so far above those beyond the cut."""
    beyond = (upper + cut - 2 * low) / (upper - cut)
    return 2 * int(np.ceil(np.arccosh(_AMPLIFIED) / np.arccosh(beyond) / 2))


def _chebyshev(operand: Operand, degree: int, cut: float, upper: float) -> Callable[[Array], Array]:
    """T_degree of the matrix with [cut, upper] moved to [-1, 1]; the degree is even, so that it grows upward below."""
    centre, half = (upper + cut) / 2, (upper - cut) / 2

    def apply(x: Array) -> Array:
        before, now = x, (operand.apply(x) - centre * x) / half
        for _ in range(degree - 1):
            after = operand.apply(now)
            after -= centre * now
            after *= 2 / half
            after -= before
            before, now = now, after
        return now

    return apply


def _lanczos(apply: Callable[[Array], Array], known: Array, k: int, rng: np.random.Generator, most: int) -> Array:
    """Top k eigenvectors of apply outside what is known, in at most so many products."""
    n, used = len(known), 0

    def outside(x: Array) -> Array:
        nonlocal used
        used += 1 if x.ndim == 1 else x.shape[1]
        if used > most:
            raise _SpentError
        y = apply(x - known @ (known.T @ x))
        return np.asarray(y - known @ (known.T @ y))

    linear = LinearOperator((n, n), matvec=outside, matmat=outside, dtype=np.float64)
    vectors = lanczos(linear, k, random_state=rng).vectors
    return np.asarray(np.linalg.qr(vectors - known @ (known.T @ vectors))[0])


def _certified(operand: Operand, basis: Array, bound: float, method: str) -> BottomEigen:
    products = operand.passes
    lowered, vectors, residuals = rayleigh_ritz(basis, -operand.apply(basis), basis.shape[1])
    values = -lowered
    allowed = max(_TOLERANCE * float(np.abs(values).max()), _ROUNDING * bound)
    converged = bool(residuals.max() <= allowed)
    if not converged:
        warnings.warn(
            f"the smallest eigenvalues were found to a residual of {residuals.max() * operand.scale:.2g}, allowed was "
            f"{allowed * operand.scale:.2g}. They are close together: ask for fewer.",
            NotConverged,
            stacklevel=3,
        )
    return BottomEigen(
        values * operand.scale, fix_signs(vectors), residuals * operand.scale, products, converged, method
    )
