"""Three ways to the top of a spectrum that need products A x only, from the plainest to the strongest.

    power       v <- A v / |A v|, one vector after the other, each kept orthogonal to those found (deflation)
    subspace    the same on a block of vectors, with a Rayleigh-Ritz step
    randomised  a block Krylov space [Y, A Y, ..., A^q Y] of a random Y, a fixed number of passes

All look for the algebraically largest eigenvalues, and report what they reached.
"""

from __future__ import annotations

import numpy as np

from assay.arrays import Array
from assay.errors import ParameterError
from assay.linalg.eigen.krylov import KrylovSpace
from assay.linalg.eigen.operand import Multipliable, Operand, symmetric_operand
from assay.linalg.eigen.ritz import TopEigen, rayleigh_ritz, ritz, warn_unless_converged
from assay.linalg.eigen.spectral import fix_signs
from assay.linalg.validate import RandomState, as_count, as_generator


def power_iteration(
    A: Multipliable,
    k: int = 1,
    *,
    tol: float = 1e-10,
    max_iter: int = 10_000,
    shift: float = 0.0,
    random_state: RandomState = 0,
) -> TopEigen:
    """Find the top k eigenpairs one by one, by repeated multiplication and deflation.

    Converges like `(|lambda_2| / |lambda_1|)^t`: it needs a gap between the two largest moduli among the eigenvalues
    not yet found. Without it (lambda and -lambda, say) it does not converge, warns, and says so in `converged`. A
    positive shift c iterates A + c I instead and breaks such ties. When the eigenvalue of largest modulus turns out
    negative, the shift is set to its modulus, because the algebraically largest are wanted.

    Args:
        A: (n, n), symmetric: dense, SciPy sparse, or a LinearOperator.
        k: how many, 1 <= k <= n.
        tol: residual allowed, relative to the largest modulus of an eigenvalue.
        max_iter: how many products for each vector.
        shift: c in A + c I.
        random_state: seeds the start vectors.

    Returns:
        TopEigen.

    >>> power_iteration(np.diag([1.0, 5.0, -9.0]), 2).values.round(9)
    array([5., 1.])
    """
    operand = symmetric_operand(A)
    n, rng = operand.shape[0], as_generator(random_state)
    k, max_iter, tol = as_count(k, n), _at_least_one(max_iter), _positive(tol)
    found, norm, c = np.empty((n, 0)), 0.0, shift / operand.scale
    for _ in range(k):
        v, value, norm, done = _dominant(operand, found, c, rng, tol, max_iter, norm)
        if done and value + c < 0:
            c = -value
            v, value, norm, done = _dominant(operand, found, c, rng, tol, max_iter, norm)
        found = np.column_stack([found, v])
    result = ritz(operand, found, k, tol=10 * tol, iterations=operand.passes, method="power")
    return warn_unless_converged(
        result, tol, "It needs a gap between the two largest |eigenvalues|: give a shift, or use method='lanczos'."
    )


def _dominant(
    operand: Operand, found: Array, c: float, rng: np.random.Generator, tol: float, max_iter: int, norm: float
) -> tuple[Array, float, float, bool]:
    """Iterate A + c I orthogonally to the columns found, until |A v - value v| <= tol * norm."""
    v = rng.standard_normal(operand.shape[0])
    v -= found @ (found.T @ v)
    v /= np.linalg.norm(v)
    value = 0.0
    for _ in range(max_iter):
        w = operand.apply(v)
        value = float(v @ w)
        norm = max(norm, abs(value))
        # Deflation by projection: exact where A - value v v^T would leave the rounding of value and v behind.
        w -= found @ (found.T @ w)
        if np.linalg.norm(w - value * v) <= tol * norm:
            return v, value, norm, True
        w += c * v
        v = w / np.linalg.norm(w)
        v -= found @ (found.T @ v)
        v /= np.linalg.norm(v)
    return v, value, norm, False


def subspace_iteration(
    A: Multipliable,
    k: int,
    *,
    oversampling: int = 8,
    tol: float = 1e-10,
    max_iter: int = 2_000,
    random_state: RandomState = 0,
) -> TopEigen:
    """Find the top k eigenpairs by multiplying a block of vectors and re-orthonormalising it.

    Pair j converges like `(|lambda_p+1| / |lambda_j|)^t`, p = k + oversampling: only the gap behind the block counts,
    so repeated eigenvalues do no harm. Negative eigenvalues seen on the way shift the matrix by their modulus,
    because the algebraically largest are wanted.

    Args:
        A: (n, n), symmetric: dense, SciPy sparse, or a LinearOperator.
        k: how many, 1 <= k <= n.
        oversampling: columns carried along beyond k.
        tol: residual allowed, relative to the largest modulus of an eigenvalue.
        max_iter: how many products with the block.
        random_state: seeds the start block.

    Returns:
        TopEigen.

    Reference: Golub, Van Loan, Matrix Computations, section 8.2.4.

    >>> subspace_iteration(np.diag([1.0, 5.0, 5.0, -9.0]), 2).values.round(9)
    array([5., 5.])
    """
    operand = symmetric_operand(A)
    n = operand.shape[0]
    k, max_iter, tol = as_count(k, n), _at_least_one(max_iter), _positive(tol)
    width = min(n, k + _at_least_one(oversampling, "oversampling", 0))
    Q = np.linalg.qr(as_generator(random_state).standard_normal((n, width)))[0]
    c = 0.0
    for _ in range(max_iter):
        Z = operand.apply(Q)
        values, _, residuals = rayleigh_ritz(Q, Z, k)
        if residuals.max() <= tol * np.abs(values).max():
            break
        c = max(c, -float(values[-1]))  # a Ritz value is never below the smallest eigenvalue
        Q = np.linalg.qr(Z + c * Q)[0]
    result = ritz(operand, Q, k, tol=10 * tol, iterations=operand.passes, method="subspace")
    return warn_unless_converged(result, tol, "Raise oversampling or max_iter, or use method='lanczos'.")


def randomised(
    A: Multipliable,
    k: int,
    *,
    oversampling: int = 10,
    passes: int = 8,
    tol: float = 1e-2,
    random_state: RandomState = 0,
) -> TopEigen:
    """Approximate the top k eigenpairs from a fixed number of passes over the matrix.

    The best approximation in the block Krylov space of a random block. Values are never above the true ones, and
    off by about residual^2 / gap: look at `residuals` before trusting the last of them.

    Args:
        A: (n, n), symmetric: dense, SciPy sparse, or a LinearOperator.
        k: how many, 1 <= k <= n.
        oversampling: columns of the block beyond k.
        passes: products with the block; memory is (passes + 1) blocks.
        tol: residual, relative to the largest modulus of an eigenvalue, up to which the answer counts as converged.
        random_state: seeds the block.

    Returns:
        TopEigen.

    Reference: Musco, Musco, Randomized block Krylov methods, NeurIPS 2015; Halko, Martinsson, Tropp, SIAM Review 2011.

    >>> randomised(np.diag(0.5 ** np.arange(60.0)), 3).values.round(9)
    array([1.  , 0.5 , 0.25])
    """
    operand = symmetric_operand(A)
    k, passes, tol = as_count(k, operand.shape[0]), _at_least_one(passes, "passes"), _positive(tol)
    extra = _at_least_one(oversampling, "oversampling", 0)
    result = block_space(operand, k, k + extra, passes, as_generator(random_state), tol)
    return warn_unless_converged(result, tol, "Raise passes or oversampling, or use method='lanczos'.")


def block_space(operand: Operand, k: int, width: int, passes: int, rng: np.random.Generator, tol: float) -> TopEigen:
    """The top k pairs in [Y, A Y, ..., A^passes Y] of a random block Y, of at most n columns.

    >>> A = symmetric_operand(np.diag([3.0, 2.0, 1.0]))
    >>> block_space(A, 1, 1, 2, np.random.default_rng(0), 1e-9).values.round(9)
    array([3.])
    """
    n, width = operand.shape[0], min(operand.shape[0], width)
    space = KrylovSpace(operand.apply, rng.standard_normal((n, width)), min(n, (passes + 1) * width), rng)
    while not space.full:
        space.grow()
    pairs = space.pairs()
    residuals = pairs.residuals[:k]
    return TopEigen(
        values=pairs.values[:k] * operand.scale,
        vectors=fix_signs(space.vectors(pairs, k)),
        residuals=residuals * operand.scale,
        iterations=operand.passes,
        converged=bool((residuals <= tol * pairs.norm).all()),
        method="randomised",
    )


def _at_least_one(value: int, name: str = "max_iter", least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, is {value!r}.")
    return int(value)


def _positive(tol: float) -> float:
    if not 0 < tol < 1:
        raise ParameterError(f"tol must lie between 0 and 1, is {tol!r}.")
    return float(tol)
