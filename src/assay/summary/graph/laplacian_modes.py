"""The lowest modes of a connected graph's Laplacian, by the solver that suits its size and density.

plain        (D - W) v = lambda v                        null vector 1
symmetric    (I - D^-1/2 W D^-1/2) v = lambda v          null vector D^1/2 1
random-walk  (I - D^-1 W) y = lambda y, y = D^-1/2 v of the symmetric one
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from assay.arrays import Array
from assay.linalg.eigen.bottom import bottom_eigen
from assay.linalg.eigen.top import leading_eigen
from assay.summary.graph.laplacian import Kind, degree_of, laplacian_of
from assay.summary.graph.multilevel import multilevel_eigen

_DENSE = 0.1  # share of all pairs that are linked, above which products with the full matrix are faster
_SMALL = 700  # nodes: up to here one LAPACK call


@dataclass(frozen=True, slots=True, eq=False)
class Modes:
    """The smallest eigenpairs above 0.

    Attributes:
        values: (k,) ascending.
        vectors: (n, k) orthonormal eigenvectors of the plain or the symmetric Laplacian.
        residuals: (k,) how far each pair is from solving its equation.
        solver: which was used: "lapack", "dense", "multilevel", "lanczos" or "filtered".
    """

    values: Array
    vectors: Array
    residuals: Array
    solver: str


def lowest_modes(W: sparse.csr_array, k: int, kind: Kind = "symmetric", *, tol: float = 1e-6, seed: int = 0) -> Modes:
    """Find the k smallest eigenvalues above 0 of the Laplacian of a connected graph.

    Args:
        W: (n, n) symmetric similarities, every node linked with every other by some path.
        k: how many, at most n - 1.
        kind: "plain", or one of the others, which share their eigenvalues; vectors are those of "symmetric" then.
        tol: residuals at most so many times the k-th value, where the multilevel solver is used; others are exact.
        seed: of the solvers that draw a start.

    >>> ring = sparse.csr_array(np.roll(np.eye(4), 1, axis=0) + np.roll(np.eye(4), -1, axis=0))
    >>> lowest_modes(ring, 2).values.round(12)
    array([1., 1.])
    """
    n = int(W.shape[0])
    plain = kind == "plain"
    L = laplacian_of(W, "plain" if plain else "symmetric")
    null = np.ones(n) if plain else np.sqrt(degree_of(W))
    if n > _SMALL and W.nnz > _DENSE * n * n:
        return _dense(L, null, k, seed)
    if n > _SMALL:
        found = multilevel_eigen(L, k, null=null, tol=tol, random_state=seed)
    else:
        found = bottom_eigen(L, k, null=null[:, None], random_state=seed)
    return Modes(np.maximum(found.values, 0.0), found.vectors, found.residuals, found.method)


def _dense(L: sparse.csr_array, null: Array, k: int, seed: int) -> Modes:
    bound = 2.0 * float(L.diagonal().max())  # no eigenvalue of a Laplacian is larger
    q = null / np.linalg.norm(null)
    turned = -L.toarray()
    turned[np.diag_indices(len(null))] += bound
    turned -= 3.0 * bound * np.multiply.outer(q, q)  # the known vector goes below all the rest
    found = leading_eigen(turned, k, random_state=seed)
    return Modes(np.maximum(bound - found.values, 0.0), found.vectors, found.residuals, "dense")
