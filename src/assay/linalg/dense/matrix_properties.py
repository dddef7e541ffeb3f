"""Kinds of matrices: projections, isometries, definite ones, and which of two is larger.

Each question is answered up to a tolerance relative to the size of the matrix.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import DataError
from assay.linalg.validate import as_matrix, as_square, as_symmetric, power_of_two

Definiteness: TypeAlias = Literal[
    "positive definite", "positive semidefinite", "zero", "negative semidefinite", "negative definite", "indefinite"
]
Order: TypeAlias = Literal[">", ">=", "==", "<=", "<", "incomparable"]

_TOL = 1e-10


def is_projection(P: ArrayLike, tol: float = _TOL) -> bool:
    """Tell whether applying a matrix twice is the same as once: P P = P.

    >>> is_projection([[1, 1], [0, 0]])
    True
    """
    matrix = as_square(P, name="P")
    size = float(np.abs(matrix).max())
    if size > 1e100:  # P P = P with |P| = s needs entries known to 1 / s; and squares would overflow
        return False
    return bool(np.abs(matrix @ matrix - matrix).max() <= tol * max(1.0, size) ** 2)


def is_orthogonal_projection(P: ArrayLike, tol: float = _TOL) -> bool:
    """Tell whether a matrix projects at right angles: P P = P = P^T.

    >>> is_orthogonal_projection([[1, 1], [0, 0]]), is_orthogonal_projection([[1, 0], [0, 0]])
    (False, True)
    """
    matrix = as_square(P, name="P")
    return is_projection(matrix, tol) and bool(np.abs(matrix - matrix.T).max() <= tol)


def is_isometry(Q: ArrayLike, tol: float = _TOL) -> bool:
    """Tell whether a matrix keeps all lengths: Q^T Q = I.

    >>> is_isometry([[0.6], [0.8]])
    True
    """
    matrix = as_matrix(Q, name="Q")
    m, n = matrix.shape
    if m < n or float(np.abs(matrix).max()) > 2.0:
        return False
    return bool(np.abs(matrix.T @ matrix - np.eye(n)).max() <= tol)


def definiteness(A: ArrayLike, tol: float | None = None) -> Definiteness:
    """Tell which signs x^T A x takes.

    Args:
        A: (n, n), symmetric.
        tol: eigenvalues of at most tol times the largest modulus count as zero. Default: n eps.

    >>> definiteness([[2, 1], [1, 2]]), definiteness([[1, 2], [2, 1]])
    ('positive definite', 'indefinite')
    """
    matrix = as_symmetric(A)
    values = np.asarray(np.linalg.eigvalsh(matrix / power_of_two(matrix)), dtype=np.float64)
    return _definiteness(values, float(np.abs(values).max()), tol)


def loewner_order(A: ArrayLike, B: ArrayLike, tol: float | None = None) -> Order:
    """Compare two symmetric matrices: A >= B when A - B is non-negative definite.

    Args:
        A: (n, n), symmetric.
        B: (n, n), symmetric.
        tol: eigenvalues of A - B of at most tol times the larger of the two norms count as zero. Default: n eps.

    Returns:
        ">" (A - B positive definite), ">=", "==", "<=", "<" or "incomparable".

    >>> loewner_order([[2, 0], [0, 2]], [[1, 0], [0, 1]])
    '>'
    """
    a, b = as_symmetric(A), as_symmetric(B, name="B")
    if a.shape != b.shape:
        raise DataError(f"A and B must have the same shape, have {a.shape} and {b.shape}.")
    scale = max(power_of_two(a), power_of_two(b))  # the difference of two entries near 1e308 would overflow
    a, b = a / scale, b / scale
    values = np.asarray(np.linalg.eigvalsh(a - b), dtype=np.float64)
    size = max(float(np.linalg.norm(a)), float(np.linalg.norm(b)))
    names: dict[Definiteness, Order] = {
        "positive definite": ">",
        "positive semidefinite": ">=",
        "zero": "==",
        "negative semidefinite": "<=",
        "negative definite": "<",
        "indefinite": "incomparable",
    }
    return names[_definiteness(values, size, tol)]


def _definiteness(values: Array, size: float, tol: float | None) -> Definiteness:
    zero = (values.size * float(np.finfo(np.float64).eps) if tol is None else tol) * size
    low, high = float(values.min()), float(values.max())
    if low > zero:
        return "positive definite"
    if high < -zero:
        return "negative definite"
    if low < -zero and high > zero:
        return "indefinite"
    if high > zero:
        return "positive semidefinite"
    return "negative semidefinite" if low < -zero else "zero"
