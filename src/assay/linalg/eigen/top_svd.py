"""The top k singular triples of a matrix of any shape, from its smaller Gram matrix, without the loss of squaring.

Eigenvalues of G = A A^T carry an absolute error of about eps sigma_1^2, so sigma_j read off G has the relative error
eps (sigma_1 / sigma_j)^2: 1e-10 is lost for sigma_j < 1e-3 sigma_1, everything below 1e-8 sigma_1. Two steps mend it:

    stages   of G only values above 1e-4 of its largest are believed; the rest is found from G of the matrix
             A - U U^T A, in which the large ones are gone
    Ritz     U^T A = W diag(sigma) V^T is decomposed itself: an error e in the span of U costs e^2 in sigma

What remains is the error of a full decomposition, eps sigma_1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from scipy.sparse.linalg import LinearOperator

from assay.arrays import Array
from assay.linalg.eigen.krylov import thick_restart
from assay.linalg.eigen.lanczos import completed, lanczos, lanczos_operand
from assay.linalg.eigen.operand import Multipliable, Operand, any_operand, symmetric_operand
from assay.linalg.eigen.ritz import EXACT, TopEigen, lapack, orthonormal
from assay.linalg.eigen.spectral import SVD, column_signs, svd
from assay.linalg.eigen.top import lapack_is_better, top_eigen
from assay.linalg.validate import RandomState, as_count, as_generator

_BELIEVED = 1e-4
_ENOUGH = 0.5 * EXACT
_NEAR = 1e-3
_OVER = 16 * float(np.finfo(np.float64).eps)  # of the largest value: what is below was made by rounding
_PRICE = 32
_FORMED = 8_192  # a Gram matrix of this side takes 512 MB


class _SpentError(Exception):
    """The products allowed are used up."""


@dataclass(frozen=True, slots=True, eq=False)
class TopSVD(SVD):
    """The k largest singular triples, and how well they solve the problem.

    Attributes:
        left: (m, k), orthonormal columns.
        values: (k,), descending.
        right: (n, k), orthonormal columns, sign-fixed.
        residuals: (k,), `|A v - value u|`; A^T u = value v holds to rounding.
        iterations: how often the matrix was applied; 0 for a full decomposition.
        converged: whether every residual is at most 1e-10 of the largest value.
        method: "svd" (full decomposition), "gram" (formed) or "lanczos" (Gram matrix applied, never formed).
    """

    residuals: Array
    iterations: int
    converged: bool
    method: str


def top_svd(A: Multipliable, k: int, *, random_state: RandomState = 0) -> TopSVD:
    """Find the k largest singular values of any matrix and their vectors.

    Args:
        A: (m, n): dense, SciPy sparse, or a LinearOperator that knows its adjoint.
        k: how many, 1 <= k <= min(m, n).
        random_state: seeds the start vectors, so that results repeat.

    Returns:
        TopSVD: descending, paired, sign-fixed. Errors in the values are of the order of 1e-15 times the largest.

    >>> top_svd([[5, 4, 1], [5, 5, 0], [0, 0, 5], [1, 0, 4]], 2).values.round(7)
    array([9.6438109, 6.3638909])
    """
    operand = any_operand(A)
    m, n = operand.shape
    k = as_count(k, min(m, n), what="the smaller side of the matrix")
    if operand.dense is not None and (m * n <= 40_000 or 3 * k > min(m, n)):
        return _full(operand, k)
    # Left is the smaller side, so that the Gram matrix A A^T is the small one.
    wide = operand if m <= n else operand.transposed()
    U, method = _left_basis(wide, k, as_generator(random_state))
    V, values, W = _svd_of_near(wide.adjoint(U))
    U = U @ W.T
    residuals = np.linalg.norm(wide.apply(V) - U * values, axis=0)
    left, right = (U, V) if m <= n else (V, U)
    signs = column_signs(right)
    return TopSVD(
        left=left * signs,
        values=values * operand.scale,
        right=right * signs,
        residuals=residuals * operand.scale,
        iterations=wide.passes,
        converged=bool(np.all(residuals <= EXACT * values[0])),
        method=method,
    )


def _full(operand: Operand, k: int) -> TopSVD:
    whole = svd(operand.toarray())
    left, values, right = whole.left[:, :k], whole.values[:k], whole.right[:, :k]
    residuals = np.linalg.norm(operand.apply(right) - left * values, axis=0)
    return TopSVD(left, values * operand.scale, right, residuals * operand.scale, 0, True, "svd")


def _left_basis(wide: Operand, k: int, rng: np.random.Generator) -> tuple[Array, str]:
    """Span the top k left singular vectors, in stages of which each believes four orders of magnitude."""
    m = wide.shape[0]
    formed = wide.dense is not None and m <= _FORMED
    U, largest, method = np.empty((m, 0)), 0.0, "lanczos"
    while U.shape[1] < k:
        top = _tried(wide, U, k, rng) if formed else None
        if top is None:
            top = _formed(wide, U, k, rng) if formed else _by_products(wide, U, k, rng, (_OVER * largest) ** 2)
            method = "gram" if formed or top.method == "lapack" else "lanczos"
        sigma = np.sqrt(np.maximum(top.values, 0.0))
        largest = largest or float(sigma[0])
        # Once only rounding is left, every orthonormal completion is as good as another.
        over = sigma[0] <= _OVER * largest
        keep = over | (sigma >= _BELIEVED * sigma[0])
        U = orthonormal(np.column_stack([U, top.vectors[:, keep]]))
    return U, method


def _tried(wide: Operand, U: Array, k: int, rng: np.random.Generator) -> TopEigen | None:
    """Look whether ARPACK converges before it has cost twice what forming the Gram matrix costs.

    Forming costs m^2 n operations in large blocks, a product with it 4 m n bound by memory: as much as m / 32 products
    (measured for 2000 x 20000: 1.9 s against 0.03 s). ARPACK takes at least 2 k + 1 products, and 14 more to see that
    nothing was overlooked; a few hundred where the spectrum has no gaps.
    """
    m = wide.shape[0]
    price = m // _PRICE
    if price < 2 * (max(2 * k + 1, 20) + 14):
        return None
    left = 2 * price
    applied = _applied_gram(wide, U)

    def gram(x: Array) -> Array:
        nonlocal left
        left -= 1
        if left < 0:
            raise _SpentError
        return np.asarray(applied @ x)

    try:
        return lanczos(
            LinearOperator((m, m), matvec=gram, matmat=gram, dtype=np.float64), k - U.shape[1], random_state=rng
        )
    except _SpentError:
        return None


def _by_products(wide: Operand, U: Array, k: int, rng: np.random.Generator, rounding: float) -> TopEigen:
    """Of a sparse matrix: products only, which take no more memory than its entries and the vectors found do.

    A residual of half of what is allowed in a vector costs its square in the value read off it at the end.
    """
    operand, asked = symmetric_operand(_applied_gram(wide, U)), k - U.shape[1]
    if lapack_is_better(operand, asked):
        return lapack(operand, asked)
    found = thick_restart(_gram_of(wide, U), wide.shape[0], asked, rng, tol=_ENOUGH, rounding=rounding)
    if found is None:
        return lanczos_operand(operand, asked, rng, tol=_ENOUGH)
    if found.agree:
        return completed(operand, found.vectors, asked, rng)
    return TopEigen(found.values, found.vectors, found.residuals, wide.passes, True, "lanczos")


def _formed(wide: Operand, U: Array, k: int, rng: np.random.Generator) -> TopEigen:
    return top_eigen(_formed_gram(wide, U), k - U.shape[1], random_state=rng)


def _svd_of_near(M: Array) -> tuple[Array, Array, Array]:
    """The decomposition of a matrix whose columns are nearly orthogonal, as A^T U is: V, values and W^T.

    With its columns at length one the matrix is as good as orthonormal, M = Q R diag(lengths), and only a small one is
    left to decompose. Columns that rounding has made are left to LAPACK.
    """
    lengths = np.linalg.norm(M, axis=0)
    unit = M / np.where(lengths > 0.0, lengths, 1.0)
    gram = unit.T @ unit
    apart = float(np.abs(gram - np.eye(len(gram))).max())
    if M.shape[0] <= 2 * M.shape[1] or lengths.min() <= _BELIEVED * lengths.max() or apart > _NEAR:
        V, values, W = sla.svd(M, full_matrices=False, check_finite=False)
        return V, values, W
    lower = sla.cholesky(gram, lower=True, check_finite=False)
    V, values, W = sla.svd(lower.T * lengths, check_finite=False)
    return unit @ sla.solve_triangular(lower, V, lower=True, trans="T", check_finite=False), values, W


def _formed_gram(wide: Operand, U: Array) -> Array:
    A = wide.toarray()
    if U.shape[1]:
        A = A - U @ (U.T @ A)
    wide.passes += 1
    return np.asarray(A @ A.T)


def _applied_gram(wide: Operand, U: Array) -> LinearOperator:
    m, gram = wide.shape[0], _gram_of(wide, U)
    return LinearOperator((m, m), matvec=gram, matmat=gram, dtype=np.float64)


def _gram_of(wide: Operand, U: Array) -> Callable[[Array], Array]:
    """From x to the Gram matrix times it, without what U spans."""

    def outside(x: Array) -> Array:
        return x - U @ (U.T @ x) if U.shape[1] else x

    return lambda x: outside(wide.apply(wide.adjoint(outside(x))))
