"""Solve square equations, and say how far the answer can be trusted.

Rows and columns are scaled by powers of two (no digit changes), LAPACK factors the matrix, and the answer is refined
with residuals of twice the precision: for condition numbers below 1e15 or so nearly every digit of x is then right.

Reference: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., chapters 7 and 12.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy.linalg as sla
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs, dpocon, dpotrs, dtrcon

from assay.arrays import Array
from assay.errors import DataError, ParameterError, SingularError
from assay.linalg.dense.factor import cholesky, lu
from assay.linalg.double_double import CAREFUL, residual
from assay.linalg.validate import as_right_side, as_square, as_symmetric

Exponents: TypeAlias = NDArray[np.int32]

_EPS = float(np.finfo(np.float64).eps)
_STEPS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The solution of square equations, with its certificate.

    Attributes:
        x: (n,) or (n, p).
        condition: estimated condition number (1-norm) of the matrix after scaling. Relative errors in the data may
            grow by this factor in x.
        backward_error: the smallest relative change in the entries of A and b that makes x exact (Oettli-Prager).
        rank: n; a singular matrix is refused.
    """

    x: Array
    condition: float
    backward_error: float
    rank: int


def solve(A: ArrayLike, b: ArrayLike, assume: Literal["general", "positive", "triangular"] = "general") -> Solution:
    """Solve A x = b for a square matrix that is not singular.

    Args:
        A: (n, n).
        b: (n,) or (n, p).
        assume: "general" (LU), "positive" (symmetric positive definite, Cholesky) or "triangular" (substitution;
            which triangle is seen from the zeros).

    Returns:
        Solution.

    Raises:
        SingularError: when A is singular, or its condition number after scaling exceeds 1e15 so that no digit of x
            would mean anything.

    >>> solve([[2, 1], [1, 3]], [3, 5]).x.round(12)
    array([0.8, 1.4])
    """
    if assume not in ("general", "positive", "triangular"):
        raise ParameterError(f"assume must be 'general', 'positive' or 'triangular', is {assume!r}.")
    matrix = as_symmetric(A) if assume == "positive" else as_square(A)
    right = as_right_side(b, matrix.shape[0])
    rows, columns = _scales(matrix, symmetric=assume == "positive")
    S = np.ldexp(matrix, -(rows[:, None] + columns))
    step, reciprocal = {"general": _general, "positive": _positive, "triangular": _triangular}[assume](S)
    if reciprocal < 4 * _EPS:
        raise SingularError(
            f"A is singular to working precision: its condition number is about {1 / max(reciprocal, 1e-300):.1e}, "
            "so no digit of a solution would mean anything. Drop dependent columns, or use lstsq."
        )
    # The right side of the scaled equations is brought to one as well; sums of exponents cannot overflow.
    powers = np.frexp(right)[1] - _as_column(rows, right)
    exponent = int(np.max(powers, where=right != 0, initial=-3000)) if right.any() else 0
    c = np.ldexp(right, -(_as_column(rows, right) + exponent))
    y = refine(S, c, step)
    rest = residual(S, y, c) if S.size <= CAREFUL else c - S @ y
    size = np.abs(S) @ np.abs(y) + np.abs(c)
    error = float(np.max(np.abs(rest) / np.where(size > 0, size, 1.0)))
    return Solution(np.ldexp(y, exponent - _as_column(columns, right)), 1 / reciprocal, error, matrix.shape[0])


def refine(S: Array, c: Array, step: Callable[[Array], Array]) -> Array:
    """Improve the solution of S y = c by corrections until they stop shrinking.

    Args:
        S: (n, n), of scale one.
        c: (n,) or (n, p).
        step: solves with the factors of S.

    >>> refine(np.array([[4.0]]), np.array([8.0]), lambda r: 0.249 * r)
    array([2.])
    """
    y, last = step(c), np.inf
    for _ in range(_STEPS if S.size <= CAREFUL else 1):
        correction = step(residual(S, y, c) if S.size <= CAREFUL else c - S @ y)
        size = float(np.linalg.norm(correction))
        if not size < 0.5 * last:
            break
        before, last = y, size
        y = y + correction
        if np.array_equal(y, before):  # every entry, the small ones too
            break
    return y


def _general(S: Array) -> tuple[Callable[[Array], Array], float]:
    lu(S)  # refuses a singular matrix by name
    packed, exchanges, _ = dgetrf(S)
    reciprocal, _ = dgecon(packed, _norm1(S), norm="1")
    return (lambda r: np.asarray(dgetrs(packed, exchanges, r)[0])), float(reciprocal)


def _positive(S: Array) -> tuple[Callable[[Array], Array], float]:
    L = cholesky(S)
    reciprocal, _ = dpocon(L, _norm1(S), uplo="L")
    return (lambda r: np.asarray(dpotrs(L, r, lower=1)[0])), float(reciprocal)


def _triangular(S: Array) -> tuple[Callable[[Array], Array], float]:
    lower = not np.triu(S, 1).any()
    if not lower and np.tril(S, -1).any():
        i, j = (int(p[0]) for p in np.nonzero(np.tril(S, -1)))
        raise DataError(
            f"A must be triangular, but has entries on both sides of its diagonal, one in row {i}, column {j} "
            "(counted from 0). Use assume='general'."
        )
    zero = np.flatnonzero(np.diag(S) == 0)
    if zero.size:
        raise SingularError(
            f"A is singular: row {zero[0]} (counted from 0) has a zero on the diagonal. Use lstsq for a least "
            "squares answer."
        )
    reciprocal, _ = dtrcon(S, norm="1", uplo="L" if lower else "U")
    return (lambda r: np.asarray(sla.solve_triangular(S, r, lower=lower, check_finite=False))), float(reciprocal)


def _scales(matrix: Array, *, symmetric: bool) -> tuple[Exponents, Exponents]:
    """Find exponents of two that bring every row and column near one."""
    size = np.abs(matrix)
    if symmetric:
        half = _exponent(np.maximum(np.diag(matrix), 0.0)[None, :], axis=0) // 2
        return half, half
    for axis, what in ((1, "row"), (0, "column")):
        empty = np.flatnonzero(size.max(axis=axis) == 0)
        if empty.size:
            raise SingularError(
                f"A is singular: {what} {empty[0]} (counted from 0) is zero. Drop it, or use lstsq for a least "
                "squares answer."
            )
    rows = _exponent(size, axis=1)
    return rows, _exponent(np.ldexp(size, -rows[:, None]), axis=0)


def _exponent(size: Array, *, axis: int) -> Exponents:
    return np.asarray(np.frexp(size.max(axis=axis))[1], dtype=np.int32)


def _as_column(exponents: Exponents, like: Array) -> Exponents:
    return exponents if like.ndim == 1 else exponents[:, None]


def _norm1(S: Array) -> float:
    return float(np.abs(S).sum(axis=0).max())
