"""Least squares with as many right digits as the data allow.

    min |A x - b|       columns scaled by powers of two, QR with column pivoting, then refinement of

        [ I   A ] [ r ]   [ b ]
        [ A^T 0 ] [ x ] = [ 0 ]     with residuals of twice the precision (Björck)

Where columns depend on each other, the shortest of all solutions is taken.

Reference: Björck, Iterative refinement of linear least squares solutions, BIT 1967; Golub, Van Loan, Matrix
Computations, section 5.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import scipy.linalg as sla
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.linalg.double_double import CAREFUL, residual
from assay.linalg.validate import as_matrix, as_right_side, power_of_two

Exponents: TypeAlias = NDArray[np.int32]

_EPS = float(np.finfo(np.float64).eps)
_STEPS = 10


@dataclass(frozen=True, slots=True, eq=False)
class LeastSquaresFit:
    """A least squares solution, with its certificate.

    Attributes:
        x: (n,) or (n, p).
        residual_norm: `|A x - b|` (over all columns of b).
        condition: 2-norm condition number of A with its columns scaled to about equal length, within its rank;
            infinite for rank 0.
        backward_error: a relative change in A (columns so scaled) and b of this size makes x exact; of several columns
            of b the largest.
        rank: how many columns are independent, at the tolerance asked for.
    """

    x: Array
    residual_norm: float
    condition: float
    backward_error: float
    rank: int


def lstsq(A: ArrayLike, b: ArrayLike, rcond: float | None = None) -> LeastSquaresFit:
    """Find x that makes A x closest to b; the shortest such x when there are many.

    Args:
        A: (m, n), of any shape and rank.
        b: (m,) or (m, p).
        rcond: columns count as dependent when what a column adds to those before it (the diagonal of R, columns
            scaled to about equal length) is at most rcond of the largest. Default: eps max(m, n).

    Returns:
        LeastSquares. Refinement uses doubled precision up to a million entries of A, float64 beyond.

    >>> lstsq([[1, 0], [1, 1], [1, 2]], [1, 3, 5]).x.round(12)
    array([1., 2.])
    """
    matrix = as_matrix(A)
    right = as_right_side(b, matrix.shape[0])
    m, n = matrix.shape
    if rcond is None:
        rcond = _EPS * max(m, n)
    elif not 0 <= rcond < 1:
        raise ParameterError(f"rcond must be at least 0 and below 1, is {rcond!r}.")
    exponents, S = _scaled_columns(matrix)
    scale = power_of_two(right)
    c = right / scale
    factors = sla.qr(S, mode="economic", pivoting=True, check_finite=False)
    Q, R = (np.asarray(f, dtype=np.float64) for f in factors[:2])
    order = np.asarray(factors[2], dtype=np.intp)
    diagonal = np.abs(np.diag(R))
    rank = int(np.count_nonzero(diagonal > rcond * diagonal[0])) if diagonal[0] > 0 else 0
    if rank == n:
        y, r = _full_rank(S, c, Q, R, order)
        x = np.ldexp(y, -_as_column(exponents, y))
    else:
        x, r = _shortest(S, c, Q[:, :rank], R[:rank], order, exponents)
        y = np.ldexp(x, _as_column(exponents, x))
    kept = sla.svdvals(R[:rank]) if rank else np.array([np.inf])
    return LeastSquaresFit(
        x=x * scale,
        residual_norm=float(np.linalg.norm(r)) * scale,
        condition=float(kept[0] / kept[-1]) if rank else float("inf"),
        backward_error=backward_error(S, y, c, r, Q[:, :rank], float(kept[0]) if rank else 0.0),
        rank=rank,
    )


def _scaled_columns(matrix: Array) -> tuple[Exponents, Array]:
    """Bring every column to a length between 1/2 and 1 by a power of two; a zero column stays."""
    rough = np.frexp(np.abs(matrix).max(axis=0))[1]
    lengths = np.linalg.norm(np.ldexp(matrix, -rough), axis=0)
    exponents = np.asarray(rough + np.frexp(lengths)[1], dtype=np.int32)
    return exponents, np.ldexp(matrix, -exponents)


def _full_rank(S: Array, c: Array, Q: Array, R: Array, order: NDArray[np.intp]) -> tuple[Array, Array]:
    """Solve and refine when all columns are independent; returns y and the residual c - S y."""

    def correct(f: Array, g: Array) -> tuple[Array, Array]:
        # [I S; S^T 0] [dr; dy] = [f; g] with S[:, order] = Q R:  h = R^-T g,  dy = R^-1 (Q^T f - h)
        h = sla.solve_triangular(R, g[order], trans="T", check_finite=False)
        inside = Q.T @ f
        dy = np.empty_like(g)
        dy[order] = sla.solve_triangular(R, inside - h, check_finite=False)
        return dy, f - Q @ (inside - h)

    careful = S.size <= CAREFUL
    product: Callable[..., Array] = residual if careful else _plain
    y, r = correct(c, np.zeros((S.shape[1], *c.shape[1:])))
    last = np.inf
    for _ in range(_STEPS if careful else 1):
        # c - r stays two terms: rounded to one, its error would come back multiplied by the condition number.
        dy, dr = correct(product(S, y, c, -r), product(S.T, r))
        size = float(np.linalg.norm(dy))
        if not size < 0.5 * last:
            break
        before, last = y, size
        y, r = y + dy, r + dr
        if np.array_equal(y, before):  # every entry, the small ones too
            break
    return y, r


def _shortest(
    S: Array, c: Array, Q: Array, R: Array, order: NDArray[np.intp], exponents: Exponents
) -> tuple[Array, Array]:
    """Find the shortest solution when the rank is below n; returns x (not y) and the residual c - S y.

    S = Q M with M (rank, n) of full row rank. The length of x is what counts, so the column scales are put back into
    M; its rows are scaled instead. M^T = Z T gives the shortest solution x = Z T^-T Q^T c.
    """
    n, rank = S.shape[1], R.shape[0]
    if rank == 0:
        return np.zeros((n, *c.shape[1:])), c
    M = np.empty_like(R)
    M[:, order] = R
    powers = np.where(M != 0, np.frexp(M)[1] + exponents, np.iinfo(np.int32).min)
    rows = powers.max(axis=1).astype(np.int32)
    Z, T = sla.qr(np.ldexp(M, exponents - rows[:, None]).T, mode="economic", check_finite=False)

    def shortest(f: Array) -> Array:
        inside = Q.T @ f
        scaled = np.ldexp(inside, -_as_column(rows, inside))
        return np.asarray(Z @ sla.solve_triangular(T, scaled, trans="T", check_finite=False))

    product: Callable[..., Array] = residual if S.size <= CAREFUL else _plain
    x = shortest(c)
    for _ in range(2):
        x = x + shortest(product(S, np.ldexp(x, _as_column(exponents, x)), c))
    return x, product(S, np.ldexp(x, _as_column(exponents, x)), c)


def backward_error(S: Array, y: Array, c: Array, r: Array, Q: Array, norm: float) -> float:
    """Bound the relative change in S and c that makes y a least squares solution, by the sum of two known changes.

    Args:
        S: (m, n) of norm `norm`.
        y: (n,) or (n, p).
        c: (m,) or (m, p).
        r: c - S y.
        Q: (m, rank) orthonormal basis of the columns of S.
        norm: 2-norm of S.

    What of r lies along the columns, Q Q^T r, is a change of c, or of S y. What is left, s, should be orthogonal to the
    columns: S changes by s s^T S / |s|^2 (Stewart), or s is a change of c as well. Stewart's change for all of r would
    bound it too, but by eps |S| |y| / |r|: the rounding of y alone looks large beside a small residual.

    Returns:
        The largest of the p bounds.
    """
    if norm == 0:
        return 0.0
    lengths = partial(np.linalg.norm, axis=0)
    inside = Q.T @ r
    outside = r - Q @ inside
    reach, size = norm * lengths(y) + lengths(c), lengths(outside)
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0: a column of zeros, solved exactly
        left = np.fmin(size / reach, lengths(S.T @ outside) / (norm * size))
        return float(np.max(np.nan_to_num(lengths(inside) / reach + left)))


def _plain(A: Array, x: Array, *terms: Array) -> Array:
    return np.asarray(sum(terms) - A @ x)


def _as_column(exponents: Exponents, like: Array) -> Exponents:
    return exponents if like.ndim == 1 else exponents[:, None]
