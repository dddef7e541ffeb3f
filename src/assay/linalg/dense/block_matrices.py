"""Matrices in blocks: centring, Schur complements, the inverse by blocks."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import DataError, ParameterError, SingularError
from assay.linalg.dense.solve import solve
from assay.linalg.validate import as_count, as_matrix, as_square, power_of_two


def centring(n: int) -> Array:
    """Write out E_n = I - 1 1^T / n, the projection that takes the mean away.

    For data use `centre`, which never forms it.

    >>> centring(2)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    if as_count(n, 2**31, name="n", what="what can be stored") == 1:
        return np.zeros((1, 1))
    return np.eye(n) - 1.0 / n


def centre(A: ArrayLike, axis: Literal[0, 1, "both"] = 0) -> Array:
    """Take means away: E A (columns, axis 0), A E (rows, axis 1), or E A E (both, as in classical scaling).

    Args:
        A: (m, n).
        axis: 0, 1 or "both".

    Returns:
        (m, n), a new array. Means are taken twice, so that data far from zero end centred to rounding.

    >>> centre([[1, 5], [3, 9]])
    array([[-1., -2.],
           [ 1.,  2.]])
    """
    if axis not in (0, 1, "both"):
        raise ParameterError(f"axis must be 0, 1 or 'both', is {axis!r}.")
    matrix = as_matrix(A)
    scale = power_of_two(matrix)
    result = matrix / scale
    for _ in range(2):
        for side in (0, 1):
            if axis in (side, "both"):
                result = result - result.mean(axis=side, keepdims=True)
    return np.asarray(result * scale)


def schur_complement(A: ArrayLike, block: int | ArrayLike) -> Array:
    """Eliminate a block of a square matrix: A_oo - A_ob A_bb^-1 A_bo for the others o.

    Of a covariance it is the covariance of the others given the block.

    Args:
        A: (n, n).
        block: how many leading rows and columns to eliminate, or their indices.

    Returns:
        (n - b, n - b), the others in their order.

    >>> schur_complement([[2, 1], [1, 3]], 1)
    array([[2.5]])
    """
    matrix = as_square(A)
    inside, outside = _parts(matrix, block)
    eliminated = _solve_block(matrix, inside, matrix[np.ix_(inside, outside)])
    return np.asarray(matrix[np.ix_(outside, outside)] - matrix[np.ix_(outside, inside)] @ eliminated)


def block_inverse(A: ArrayLike, block: int | ArrayLike) -> Array:
    """Invert a square matrix from the inverse of one block and of its Schur complement S.

        [ A_bb  A_bo ]^-1   [ A_bb^-1 + F S^-1 G   -F S^-1 ]
        [ A_ob  A_oo ]    = [ -S^-1 G               S^-1   ]    F = A_bb^-1 A_bo,  G = A_ob A_bb^-1

    Args:
        A: (n, n), not singular.
        block: how many leading rows and columns, or their indices; that block must not be singular either.

    Returns:
        (n, n), rows and columns in the order of A.

    >>> block_inverse([[2, 0], [0, 4]], 1)
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    matrix = as_square(A)
    inside, outside = _parts(matrix, block)
    corner = _solve_block(matrix, inside, np.eye(inside.size))
    F = _solve_block(matrix, inside, matrix[np.ix_(inside, outside)])
    G = _solve_block(matrix.T, inside, matrix[np.ix_(outside, inside)].T).T
    S = matrix[np.ix_(outside, outside)] - matrix[np.ix_(outside, inside)] @ F
    try:
        S_inverse = solve(S, np.eye(outside.size)).x
    except SingularError as error:
        raise SingularError(f"A is singular, because the Schur complement of the block is: {error}") from None
    inverse = np.empty_like(matrix)
    inverse[np.ix_(inside, inside)] = corner + F @ S_inverse @ G
    inverse[np.ix_(inside, outside)] = -F @ S_inverse
    inverse[np.ix_(outside, inside)] = -S_inverse @ G
    inverse[np.ix_(outside, outside)] = S_inverse
    return inverse


def _solve_block(matrix: Array, inside: NDArray[np.intp], right: Array) -> Array:
    try:
        return solve(matrix[np.ix_(inside, inside)], right).x
    except SingularError as error:
        raise SingularError(f"the block must not be singular. In it, {error}") from None


def _parts(matrix: Array, block: int | ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    n = matrix.shape[0]
    if isinstance(block, (int, np.integer)):
        inside = np.arange(as_count(int(block), n - 1, name="block", what="one less than the size of A"))
    else:
        inside = np.atleast_1d(np.asarray(block))
        if inside.ndim != 1 or not np.issubdtype(inside.dtype, np.integer) or not 0 < inside.size < n:
            raise ParameterError(f"block must be a count or a list of some but not all of the {n} indices.")
        if np.any((inside < 0) | (inside >= n)) or np.unique(inside).size < inside.size:
            raise DataError(f"block must hold different indices from 0 to {n - 1}, holds {inside.tolist()}.")
    return inside, np.setdiff1d(np.arange(n), inside)
