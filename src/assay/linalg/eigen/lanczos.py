"""ARPACK's implicitly restarted Lanczos method, made safe against repeated eigenvalues and zero matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from assay.arrays import Array
from assay.linalg.eigen.iterate import block_space
from assay.linalg.eigen.operand import Multipliable, Operand, symmetric_operand
from assay.linalg.eigen.ritz import EXACT, TopEigen, lapack, orthonormal, rayleigh_ritz, ritz, warn_unless_converged
from assay.linalg.validate import RandomState, as_count, as_generator

_RESTARTS = 5_000
_NCV = 12  # of the second look: it costs 14 products where there is a gap behind the k-th value, 22 with 20
_SMALL = 5_000  # up to here a matrix written out (200 MB) is the better answer to an iteration that fails


def lanczos(A: Multipliable, k: int, *, random_state: RandomState = 0) -> TopEigen:
    """Find the k algebraically largest eigenpairs from products A x, to working precision.

    The Krylov space of one start vector holds one copy of a repeated eigenvalue, and ARPACK then may return smaller
    eigenvalues in place of the other copies. So the matrix is deflated by what was found and asked again; what shows
    up above the k-th value is added.

    Args:
        A: (n, n), symmetric: dense, SciPy sparse, or a LinearOperator.
        k: how many, 1 <= k <= n.
        random_state: seeds the start vectors.

    Returns:
        TopEigen.

    Reference: Lehoucq, Sorensen, Yang, ARPACK Users' Guide, SIAM 1998.

    >>> lanczos(np.diag(np.arange(50.0)), 2).values.round(10)
    array([49., 48.])
    """
    operand = symmetric_operand(A)
    return lanczos_operand(operand, as_count(k, operand.shape[0]), as_generator(random_state))


def lanczos_operand(operand: Operand, k: int, rng: np.random.Generator, *, tol: float = 0.0) -> TopEigen:
    """Do the work of `lanczos` on what has been validated.

    Args:
        operand: the matrix.
        k: how many.
        rng: of the start vectors.
        tol: residual allowed for each pair, relative to its value; 0 for working precision.

    >>> lanczos_operand(symmetric_operand(np.eye(9)), 2, np.random.default_rng(0)).values.round(10)
    array([1., 1.])
    """
    n = operand.shape[0]
    if k >= n - 1:  # ARPACK needs k < n, and room for more than one restart
        return lapack(operand, k)
    start = rng.standard_normal(n)
    if not operand.apply(start).any():  # ARPACK refuses a start that is annihilated: then, surely, A = 0
        return ritz(operand, rng.standard_normal((n, k)), k, tol=EXACT, iterations=1, method="lanczos")
    found = _arpack(operand, k, start, tol)
    if found is None and n <= _SMALL:
        return lapack(operand, k)
    if found is None:
        result = replace(block_space(operand, k, k + 10, 20, rng, EXACT), method="lanczos")
        return warn_unless_converged(
            result, EXACT, "Its largest eigenvalues are close together: ask for fewer, or use method='lapack'."
        )
    return completed(operand, found, k, rng)


def completed(operand: Operand, found: Array, k: int, rng: np.random.Generator) -> TopEigen:
    """The top k pairs of what was found and of what was overlooked, for which the deflated matrix is asked.

    Args:
        operand: the matrix.
        found: (n, k) eigenvectors.
        k: how many.
        rng: of the start vectors.

    >>> some = np.eye(30)[:, [29, 27]]
    >>> completed(symmetric_operand(np.diag(np.arange(30.0))), some, 2, np.random.default_rng(0)).values.round(9)
    array([29., 28.])
    """
    for _ in range(k):
        missed = _overlooked(operand, found, k, rng)
        if missed is None:
            break
        found = np.column_stack([found, missed])
    return ritz(operand, found, k, tol=EXACT, iterations=operand.passes, method="lanczos")


def _arpack(operand: Operand, k: int, start: Array, tol: float) -> Array | None:
    n = operand.shape[0]
    # with 2 k + 1 vectors, the default, orthogonalising costs more than it saves in products
    ncv = min(n, max(20, 3 * k // 2 + 20))
    linear = LinearOperator((n, n), matvec=operand.apply, dtype=np.float64)
    try:
        return np.asarray(eigsh(linear, k=k, which="LA", v0=start, maxiter=_RESTARTS, tol=tol, ncv=ncv)[1])
    except ArpackError:
        return None


def _overlooked(operand: Operand, found: Array, k: int, rng: np.random.Generator) -> Array | None:
    """Look for an eigenvalue above the k-th found, in the matrix deflated by the columns found.

    A Ritz value is a lower bound on the largest eigenvalue, so one above the k-th value proves an oversight at any
    tolerance; and one that stays below by more than its tolerance ends the search. A coarse look decides where there
    is a gap, a finer one where there is not.
    """
    n = operand.shape[0]
    Q = orthonormal(found)
    values, Q, _ = rayleigh_ritz(Q, operand.apply(Q), Q.shape[1])
    spread = float(np.abs(values).max()) or 1.0
    last = float(values[k - 1])
    # What was found moves below the k-th value. ARPACK's tolerance is relative to the value it finds, so unless the
    # k-th is positive the whole is shifted up.
    shift = 0.0 if last > 0 else spread - last
    unit = last + shift

    def deflated(x: Array) -> Array:
        return np.asarray(operand.apply(x) + shift * x - Q @ ((values - last + unit) * (Q.T @ x)))

    linear = LinearOperator((n, n), matvec=deflated, dtype=np.float64)
    start: Array = rng.standard_normal(n)
    for tol in (1e-2, 1e-5, 0.0):
        try:
            value, vector = eigsh(linear, k=1, which="LA", tol=tol, v0=start, maxiter=_RESTARTS, ncv=min(n, _NCV))
        except ArpackError:  # the rest is zero, or too hard for a second look
            return None
        above = float(value[0]) / unit - 1.0
        if above < -tol or (tol == 1e-5 and above < 1e-9):
            return None
        start = np.asarray(vector, dtype=np.float64)[:, 0]
    return start if above > 1e-9 else None
