"""The nearest matrix of low rank, the nearest non-negative definite one, and what they capture.

    best rank k             sum of the k largest singular triples       Eckart, Young, Mirsky
    best definite, rank k   sum of the k largest positive eigenpairs
    Ky Fan                  sums of the k largest eigenvalues or singular values

Only the top of the spectrum is computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.linalg.dense.measures import norm
from assay.linalg.eigen.top import top_eigen
from assay.linalg.eigen.top_svd import top_svd
from assay.linalg.validate import RandomState, as_matrix, as_symmetric, power_of_two


@dataclass(frozen=True, slots=True, eq=False)
class Approximation:
    """A matrix near another.

    Attributes:
        matrix: (m, n), the approximation.
        error: Frobenius norm of the difference, the smallest that is possible.
        rank: the rank of the approximation; below k when the matrix has no more to give.
    """

    matrix: Array
    error: float
    rank: int


def best_rank(A: ArrayLike, k: int, *, random_state: RandomState = 0) -> Approximation:
    """Find the matrix of rank at most k nearest to A, in every unitarily invariant norm at once.

    Args:
        A: (m, n).
        k: 1 <= k <= min(m, n).
        random_state: seeds the start vectors of the solver.

    Reference: Eckart, Young, Psychometrika 1936; Mirsky 1960.

    >>> best_rank([[2, 0], [0, 1]], 1).error
    1.0
    """
    matrix = as_matrix(A)
    scale = power_of_two(matrix)
    top = top_svd(matrix / scale, k, random_state=random_state)
    return _approximation(matrix / scale, top.left * top.values, top.right, top.values, scale)


def best_definite(A: ArrayLike, k: int, *, random_state: RandomState = 0) -> Approximation:
    """Find the non-negative definite matrix of rank at most k nearest to a symmetric A, in Frobenius norm.

    Args:
        A: (n, n), symmetric.
        k: 1 <= k <= n.
        random_state: seeds the start vectors of the solver.

    Reference: Higham, Computing a nearest symmetric positive semidefinite matrix, 1988.

    >>> best_definite([[2, 0], [0, -1]], 2).matrix
    array([[2., 0.],
           [0., 0.]])
    """
    matrix = as_symmetric(A)
    scale = power_of_two(matrix)
    top = top_eigen(matrix / scale, k, random_state=random_state)
    values = np.maximum(top.values, 0.0)
    return _approximation(matrix / scale, top.vectors * values, top.vectors, values, scale)


def ky_fan_eigenvalues(A: ArrayLike, k: int, *, random_state: RandomState = 0) -> float:
    """Add up the k largest eigenvalues of a symmetric matrix: the maximum of trace(V^T A V) over V^T V = I.

    Reference: Fan, On a theorem of Weyl concerning eigenvalues, 1949.

    >>> ky_fan_eigenvalues([[3, 0], [0, -5]], 2)
    -2.0
    """
    return _sum(top_eigen(as_symmetric(A), k, random_state=random_state).values)


def ky_fan_norm(A: ArrayLike, k: int, *, random_state: RandomState = 0) -> float:
    """Add up the k largest singular values of a matrix: a norm, spectral for k = 1, nuclear for k = min(m, n).

    >>> ky_fan_norm([[3, 0], [0, -5]], 2)
    8.0
    """
    return _sum(top_svd(as_matrix(A), k, random_state=random_state).values)


def _approximation(scaled: Array, left: Array, right: Array, values: Array, scale: float) -> Approximation:
    nearest = left @ right.T
    # Formed from the difference: |A|^2 minus the squares kept would cancel when the approximation is good.
    error = norm(scaled - nearest, "frobenius") * scale
    significant = values > max(scaled.shape) * np.finfo(np.float64).eps * max(float(values[0]), 0.0)
    return Approximation(nearest * scale, error, int(np.count_nonzero(significant)))


def _sum(values: Array) -> float:
    scale = power_of_two(values)
    return float((values / scale).sum()) * scale
