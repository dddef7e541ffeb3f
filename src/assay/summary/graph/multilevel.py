"""The bottom of a Laplacian's spectrum by levels: solved on few unknowns, carried to more, improved on each.

A graph of neighbours has eigenvalues a ten-thousandth of its width apart, where methods of products alone need
thousands of them. A vector that is smooth along the graph can be told by far fewer unknowns: nodes are gathered into
aggregates, these again, until a dense solver is instant; its vectors are the start one level up, and the cycle through
all coarser levels, an approximate inverse, makes each step of the search there divide the error by about five. Work
and memory grow with the number of edges.

Where coarse matrices would fill in (a social network, many hubs) `bottom_eigen` is asked instead: there the gaps are
wide, and products are enough. So it is where the residual wanted is not reached.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import DataError
from assay.linalg.eigen.bottom import BottomEigen, bottom_eigen
from assay.linalg.eigen.spectral import fix_signs
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import RandomState, as_count, as_vector, power_of_two
from assay.summary.graph.multilevel_grid import Cycle, hierarchy, relaxed
from assay.summary.graph.multilevel_search import FoundCut, davidson

_SMALL = 700  # up to here LAPACK is as fast
_COARSEST = 200
_GUARDS = 2
_ROUNDS = 100
_COARSE_ROUNDS, _COARSE_TOL = 4, 1e-2  # a better start than that saves no round above
_NULL = 1e-8


def multilevel_eigen(
    A: sp.sparray | sp.spmatrix,
    k: int,
    *,
    null: ArrayLike,
    tol: float = 1e-6,
    random_state: RandomState = 0,
) -> BottomEigen:
    """Find the k smallest eigenvalues above the known 0 of a Laplacian of a connected graph, and their vectors.

    Args:
        A: (n, n) sparse, symmetric, positive semidefinite: D - W or I - D^-1/2 W D^-1/2.
        k: how many, 1 <= k <= n - 1.
        null: (n,) with A null = 0: ones, or the roots of the degrees. No entry may be 0.
        tol: residuals at most so many times the k-th value. The values are then right to about the square of it.
        random_state: seeds `bottom_eigen` where that is used; the levels need no chance.

    Returns:
        BottomEigen, method "multilevel", or what `bottom_eigen` found.

    >>> path = sp.diags_array([[1.0, 2, 1], [-1.0, -1], [-1.0, -1]], offsets=[0, 1, -1])
    >>> multilevel_eigen(path, 2, null=np.ones(3)).values.round(12)
    array([1., 3.])
    """
    matrix = sp.csr_array(cast("Any", A))
    n = int(matrix.shape[0])
    k = as_count(k, n - 1, what="one less than the size of the matrix")
    b = as_vector(null, name="null", size=n)
    if (b == 0).any():
        raise DataError(f"null must have no entry 0: entry {int(np.argmin(np.abs(b)))} is. Leave out what is apart.")
    if n > _SMALL and 5 * k <= n:
        scale = power_of_two(np.asarray(matrix.diagonal()))
        matrix = _scaled(matrix, scale)
        if np.abs(matrix @ b).max() > _NULL * np.abs(b).max():
            raise DataError("null must solve A null = 0; it does not. For other matrices use bottom_eigen.")
        with one_blas_thread():
            found = _by_levels(matrix, b, k, tol)
        if found is not None:
            return BottomEigen(
                found.values[:k] * scale,
                fix_signs(np.ascontiguousarray(found.vectors[:, :k])),
                found.residuals[:k] * scale,
                found.rounds,
                True,
                "multilevel",
            )
    return bottom_eigen(A, k, null=b[:, None], random_state=random_state)


def _scaled(A: sp.csr_array, scale: float) -> sp.csr_array:
    """The matrix over the size of its largest diagonal entry, which for a Laplacian bounds all others."""
    kind = np.int32 if A.nnz < 2**31 else np.int64
    data: Array = np.asarray(A.data, dtype=np.float64) / scale
    return sp.csr_array((data, A.indices.astype(kind), A.indptr.astype(kind)), shape=A.shape)


def _by_levels(A: sp.csr_array, null: Array, k: int, tol: float) -> FoundCut | None:
    """None where the graph does not coarsen or the residual is not reached."""
    block = k + _GUARDS
    levels = hierarchy(A, null, max(_COARSEST, 16 * block), block + 1)
    if levels is None or len(levels) == 1:
        return None
    cycle = Cycle(levels)
    X = cycle.vectors[:, :block]
    for at in range(len(levels) - 2, -1, -1):
        found = _improved(cycle, at, X, k, tol)
        X = found.vectors
    return None if (found.residuals[:k] > tol * found.values[k - 1]).any() else found


def _improved(cycle: Cycle, at: int, X: Array, k: int, tol: float) -> FoundCut:
    """Vectors of the level below, carried to this one and improved: to the tolerance on the finest only."""
    level = cycle.levels[at]
    assert level.prolong is not None
    start = np.ascontiguousarray(level.prolong @ X)
    relaxed(level, np.zeros_like(start), start)
    return davidson(
        level.matrix,
        level.null,
        start,
        k,
        precondition=lambda r: cycle.apply(r, at),
        tol=tol if at == 0 else max(tol, _COARSE_TOL),
        rounds=_ROUNDS if at == 0 else _COARSE_ROUNDS,
    )
