"""The random walk along similarities, corrected for density, and its slow modes.

    density      q = W 1, (n,);      W_a = W / (q q^T)^alpha, degrees d = W_a 1
    walk         P = D^-1 W_a, (n, n), stationary pi = d / sum(d)
    conjugate    S = D^-1/2 W_a D^-1/2 is symmetric, S v = lambda v;   psi = v / sqrt(pi) solves P psi = lambda psi
    trivial      lambda = 1 with psi = 1 is known, and is moved out of the way before the others are sought

Functions psi_j are orthonormal with weights pi, so sum_j lambda_j^(2t) (psi_j(x) - psi_j(y))^2 over all j is the
squared distance sum_z (p_t(x, z) - p_t(y, z))^2 / pi(z) of the t-step walks from x and from y.

Reference: Coifman and Lafon, Diffusion maps (2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from assay.arrays import Array, Whole
from assay.linalg.eigen.spectral import fix_signs
from assay.linalg.eigen.top import leading_eigen, top_eigen
from assay.linalg.validate import RandomState
from assay.summary.graph.graph import Graph

_APART = 1e-12  # of the walk: links weaker than this are not told from none
_TRIVIAL = -1.5  # where the known eigenvalue 1 is moved to, below all others


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """The slow modes of a random walk.

    Attributes:
        values: (k,) eigenvalues, descending, the trivial 1 left out.
        functions: (n, k) psi, with sum_i stationary_i psi_i^2 = 1 and mean zero under it; sign-fixed.
        stationary: (n,) where the walk is found in the long run.
        density: (n,) q, the sums of similarities before they were corrected.
        residual: Largest |S v - lambda v|.
        parts: (n,) which nodes can reach each other, numbered by first node; all 0 when connected.
    """

    values: Array
    functions: Array
    stationary: Array
    density: Array
    residual: float
    parts: Whole


def random_walk(W: Array | sparse.csr_array, k: int, *, alpha: float = 1.0, random_state: RandomState = 0) -> Walk:
    """Find the k slowest modes of the walk along similarities.

    Args:
        W: (n, n) symmetric, dense or sparse; no row of zeros.
        k: How many, at most n - 1.
        alpha: How much of the density of rows is taken out, 0 to 1.
        random_state: Of the solver's start.

    >>> random_walk(np.array([[1.0, 0.5], [0.5, 1.0]]), 1).values.round(12)
    array([0.33333333])
    """
    density = np.asarray(W.sum(axis=1), dtype=np.float64)
    power = density**-alpha
    degree = power * (W @ power)
    stationary = degree / degree.sum()
    trivial = np.sqrt(stationary)
    scale = power / np.sqrt(degree)
    if sparse.issparse(W):
        # products with a sparse matrix gain little from blocks, and its eigenvalues crowd below 1
        found = top_eigen(_without_trivial(W, scale, trivial), k, random_state=random_state)
    else:
        S = np.multiply.outer(scale, scale) * W
        S += (_TRIVIAL - 1.0) * np.multiply.outer(trivial, trivial)
        found = leading_eigen(S, k, random_state=random_state)
    functions = fix_signs(found.vectors / trivial[:, None])
    together = found.values[0] < 1.0 - 1e-8  # an eigenvalue 1 beside the trivial one: the walk falls into parts
    parts = np.zeros(len(density), np.int64) if together else _parts(W, scale)
    return Walk(found.values, functions, stationary, density, float(found.residuals.max()), parts)


def _without_trivial(W: sparse.csr_array, scale: Array, trivial: Array) -> LinearOperator[Any]:
    def product(V: Array) -> Array:
        block = V.reshape(len(V), -1)
        image = scale[:, None] * (W @ (scale[:, None] * block))
        image += (_TRIVIAL - 1.0) * np.multiply.outer(trivial, trivial @ block)
        return np.asarray(image.reshape(V.shape))

    return LinearOperator(W.shape, matvec=product, matmat=product, dtype=np.dtype(np.float64))


def _parts(W: Array | sparse.csr_array, scale: Array) -> Whole:
    links = sparse.csr_array(W).tocoo()
    linked = links.data * scale[links.row] * scale[links.col] > _APART
    return Graph.of_edges(links.row[linked], links.col[linked], n=len(scale)).components().labels
