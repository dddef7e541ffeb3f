"""A matrix on coarser and coarser sets of unknowns, and one cycle through them as an approximate inverse.

    aggregates   every node belongs to one, (n,);  T (n, n_c) carries the null vector b of A, one column for each
    prolongation P = (I - omega D^-1 A) T, smoothed, with P b_c = b     coarse matrix  A_c = P^T A P, A_c b_c = 0
    cycle        relax (Gauss-Seidel), correct what is left from the coarse level, relax backwards: symmetric, positive

Reference: Vanek, Mandel, Brezina, Computing 56, 1996 (smoothed aggregation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from assay.arrays import Array

_GATHERED = 6  # nodes of an aggregate: fewer make more levels, more make each cycle weaker
_DAMPING = 4.0 / 3.0
_FILLED = 2.0  # a coarse matrix with more entries than so many times the finer one's does not pay
_WORK = 60.0  # products of entries for one entry of A, above which a level is not formed
_STALLED = 0.7


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """One set of unknowns.

    Attributes:
        matrix: (n, n) CSR, positive semidefinite.
        diagonal: (n,) of it.
        null: (n,) with matrix @ null = 0.
        prolong: (n, n_c) from the next coarser level; None on the coarsest.
        restrict: (n_c, n) its transpose.
    """

    matrix: sp.csr_array
    diagonal: Array
    null: Array
    prolong: sp.csr_array | None
    restrict: sp.csr_array | None


class Cycle:
    """The V-cycle of a hierarchy: about A^-1 on what is orthogonal to the null vector.

    Args:
        levels: finest first.

    Attributes:
        levels: as given.
        values: (m,) eigenvalues of the coarsest matrix, ascending, the 0 of the null vector left out.
        vectors: (m + 1, m) their vectors.
    """

    def __init__(self, levels: list[Level]) -> None:
        self.levels = levels
        coarsest = levels[-1].matrix.toarray()
        values, vectors = np.linalg.eigh(0.5 * (coarsest + coarsest.T))
        self.values, self.vectors = values[1:], vectors[:, 1:]

    def apply(self, b: Array, at: int = 0) -> Array:
        """(n, m) the correction for residuals b, (n, m) C-contiguous, on the level `at`."""
        level = self.levels[at]
        if level.prolong is None:
            return np.asarray(self.vectors @ ((self.vectors.T @ b) / self.values[:, None]))
        x = np.zeros_like(b)
        relaxed(level, b, x)
        x += level.prolong @ self.apply(level.restrict @ (b - level.matrix @ x), at + 1)
        relaxed(level, b, x, backward=True)
        return x


def relaxed(level: Level, b: Array, x: Array, *, backward: bool = False) -> None:
    """One Gauss-Seidel sweep on the columns of x, in place."""
    from assay.summary.graph._multilevel_kernels import relax

    A = level.matrix
    relax(A.indptr, A.indices, A.data, level.diagonal, b, x, backward)


def hierarchy(A: sp.csr_array, null: Array, coarsest: int, least: int = 2) -> list[Level] | None:
    """Coarsen until at most so many unknowns are left; None where that fills in, stalls or leaves too few at once.

    Args:
        A: (n, n), positive semidefinite with a positive diagonal.
        null: (n,) with A null = 0, no entry zero.
        coarsest: unknowns of the last level, at most.
        least: at least.

    >>> ring = sp.diags_array([2.0, -1, -1, -1, -1], offsets=[0, 1, -1, 49, -49], shape=(50, 50))
    >>> [int(level.matrix.shape[0]) for level in hierarchy(sp.csr_array(ring), np.ones(50), 5)]
    [50, 16, 5]
    """
    levels: list[Level] = []
    while A.shape[0] > coarsest:
        diagonal = np.asarray(A.diagonal())
        step = _coarser(A, diagonal, null)
        if step is None or step[2].shape[0] < least:
            return None
        P, R, coarse, coarse_null = step
        levels.append(Level(A, diagonal, null, P, R))
        A, null = coarse, coarse_null
    return [*levels, Level(A, np.asarray(A.diagonal()), null, None, None)]


def _coarser(
    A: sp.csr_array, diagonal: Array, null: Array
) -> tuple[sp.csr_array, sp.csr_array, sp.csr_array, Array] | None:
    from assay.summary.graph._multilevel_kernels import aggregate

    n = int(A.shape[0])
    found, count = aggregate(A.indptr, A.indices, A.data, _GATHERED)
    if count > _STALLED * n:
        return None
    norms = np.sqrt(np.bincount(found, null * null, count))
    T = _csr(null / norms[found], found, np.arange(n + 1), (n, count))
    radius = float((np.asarray(abs(A).sum(axis=1)) / diagonal).max())  # Gershgorin's, of D^-1 A
    smoothed = sp.csr_array(A @ T)
    smoothed.data *= np.repeat(_DAMPING / radius / diagonal, np.diff(smoothed.indptr))
    P = sp.csr_array(T - smoothed)
    if _work(A, P) > _WORK * A.nnz:
        return None
    image = sp.csr_array(A @ P)
    R = sp.csr_array(P.T)
    if _work(R, image) > _WORK * A.nnz:
        return None
    coarse = sp.csr_array(R @ image)
    if coarse.nnz > _FILLED * A.nnz:
        return None
    return P, R, _csr(coarse.data, coarse.indices, coarse.indptr, (count, count)), norms


def _work(left: sp.csr_array, right: sp.csr_array) -> int:
    """How many products of entries left @ right takes."""
    return int(np.diff(right.indptr)[left.indices].sum())


def _csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> sp.csr_array:
    """With 32-bit indices where they suffice: the kernels are compiled for one kind, and products are faster."""
    kind = np.int32 if len(indices) < 2**31 else np.int64
    return sp.csr_array((data, indices.astype(kind), indptr.astype(kind)), shape=shape)
