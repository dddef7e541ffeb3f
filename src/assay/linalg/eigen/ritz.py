"""The Rayleigh-Ritz step and the certificate of every top-k eigen-solver: how well pairs solve A v = value v."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from assay.arrays import Array
from assay.errors import NotConverged
from assay.linalg.eigen.operand import Operand
from assay.linalg.eigen.spectral import Spectrum, fix_signs, part_of_spectrum

# Residual, relative to the largest |eigenvalue|, at which the exact solvers count as converged.
EXACT = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class TopEigen(Spectrum):
    """The k algebraically largest eigenpairs, and how well they solve the problem.

    Attributes:
        values: (k,), descending.
        vectors: (n, k), orthonormal columns, sign-fixed.
        residuals: (k,), the norm of A v - value v; some eigenvalue lies within this distance of each value.
        iterations: how often the matrix was applied by an iterative method; 0 for a direct one.
        converged: whether every residual is within the tolerance.
        method: "lapack", "lanczos", "power", "subspace" or "randomised".
    """

    residuals: Array
    iterations: int
    converged: bool
    method: str


def orthonormal(basis: Array) -> Array:
    """Span the same with orthonormal columns: by Cholesky where they are nearly so, by Householder where not.

    Cholesky loses the square of the condition, which is 1 for columns that are nearly orthonormal, and takes a quarter
    of the time.

    >>> np.abs(orthonormal(np.array([[2.0, 1.0], [0.0, 3.0]]))).round(12)
    array([[1., 0.],
           [0., 1.]])
    """
    gram = basis.T @ basis
    if np.abs(gram - np.eye(len(gram))).max(initial=0.0) > 1e-6:  # also where it is NaN, as no comparison with it holds
        return np.asarray(np.linalg.qr(basis)[0])
    lower = sla.cholesky(gram, lower=True, check_finite=False)
    return np.asarray(sla.solve_triangular(lower, basis.T, lower=True, check_finite=False).T)


def descending(H: Array) -> tuple[Array, Array]:
    """Eigenvalues of a small symmetric matrix, descending, and their vectors, of no particular sign.

    >>> descending(np.diag([1.0, 3.0]))[0]
    array([3., 1.])
    """
    values, vectors = np.linalg.eigh(H)
    return values[::-1], vectors[:, ::-1]


def rayleigh_ritz(Q: Array, images: Array, k: int) -> tuple[Array, Array, Array]:
    """The best approximations of eigenpairs of A in a subspace (Rayleigh-Ritz).

    Args:
        Q: (n, p), orthonormal columns that span it.
        images: (n, p), A Q.
        k: how many vectors.

    Returns:
        All p values, descending; the first k vectors, and (k,) the norms of A v - value v.

    >>> rayleigh_ritz(np.eye(3)[:, :2], np.diag([1.0, 2.0, 3.0])[:, :2], 1)[0]
    array([2., 1.])
    """
    H = Q.T @ images
    values, W = descending(0.5 * (H + H.T))
    vectors = Q @ W[:, :k]
    return values, vectors, np.linalg.norm(images @ W[:, :k] - vectors * values[:k], axis=0)


def ritz(operand: Operand, basis: Array, k: int, *, tol: float, iterations: int, method: str) -> TopEigen:
    """Read the top k eigenpairs off a subspace (Rayleigh-Ritz) and measure their residuals.

    Args:
        operand: the symmetric matrix.
        basis: (n, p), p >= k, columns that span the subspace.
        k: how many pairs to keep.
        tol: residual allowed, relative to the largest |value| seen.
        iterations: to be reported.
        method: to be reported.

    Returns:
        TopEigen in the units of the matrix before scaling.

    >>> from assay.linalg.eigen.operand import symmetric_operand
    >>> A = symmetric_operand(np.diag([3.0, 2.0, 1.0]))
    >>> ritz(A, np.eye(3)[:, :2], 1, tol=1e-9, iterations=0, method="lapack").values
    array([3.])
    """
    Q = orthonormal(basis)
    values, vectors, residuals = rayleigh_ritz(Q, operand.apply(Q), k)
    return TopEigen(
        values=values[:k] * operand.scale,
        vectors=fix_signs(vectors),
        residuals=residuals * operand.scale,
        iterations=iterations,
        converged=bool(np.all(residuals <= tol * np.abs(values).max())),
        method=method,
    )


def lapack(operand: Operand, k: int) -> TopEigen:
    """Take the top k pairs from LAPACK's decomposition of the matrix written out.

    >>> from assay.linalg.eigen.operand import symmetric_operand
    >>> lapack(symmetric_operand(np.diag([3.0, 2.0, 1.0])), 2).values
    array([3., 2.])
    """
    n, matrix = operand.shape[0], operand.toarray()
    vectors = part_of_spectrum(matrix, n - k, n - 1)[1]
    return ritz(operand, vectors, k, tol=EXACT, iterations=0, method="lapack")


def warn_unless_converged(result: TopEigen, tol: float, remedy: str) -> TopEigen:
    """Pass a result on, with a NotConverged warning when it stopped short.

    >>> done = TopEigen(np.ones(1), np.ones((1, 1)), np.zeros(1), 1, True, "power")
    >>> warn_unless_converged(done, 1e-9, "") is done
    True
    """
    if not result.converged:
        worst = int(np.argmax(result.residuals))
        warnings.warn(
            f"{result.method} stopped after {result.iterations} passes with residual {result.residuals[worst]:.2g} "
            f"for eigenvalue {worst} (counted from 0; {result.values[worst]:.6g}), allowed was {tol:.2g} of the "
            f"largest |eigenvalue|. {remedy}",
            NotConverged,
            stacklevel=3,
        )
    return result
