"""The top of a spectrum: the solver that finds the k largest eigenpairs of this matrix soonest, and exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from assay.errors import ParameterError
from assay.linalg.eigen.iterate import power_iteration, randomised, subspace_iteration
from assay.linalg.eigen.krylov import KrylovSpace
from assay.linalg.eigen.lanczos import lanczos, lanczos_operand
from assay.linalg.eigen.operand import Multipliable, Operand, symmetric_operand
from assay.linalg.eigen.ritz import EXACT, TopEigen, lapack
from assay.linalg.eigen.spectral import fix_signs
from assay.linalg.validate import RandomState, as_count, as_generator

Method: TypeAlias = Literal["auto", "lapack", "lanczos", "power", "subspace", "randomised"]

_BY_PRODUCTS: dict[str, Callable[..., TopEigen]] = {
    "lanczos": lanczos,
    "power": power_iteration,
    "subspace": subspace_iteration,
    "randomised": randomised,
}

_DIRECT = 1_000  # rows: up to here LAPACK is as fast, and needs no convergence
_WRITTEN = 2_000  # rows: up to here LAPACK (0.5 s) is the better answer to a block that gets nowhere
_DEPTH = 10  # blocks in the space before it is restarted
_PASSES = 40  # products after which another solver is asked


def top_eigen(A: Multipliable, k: int, *, random_state: RandomState = 0, method: Method = "auto") -> TopEigen:
    """Find the k algebraically largest eigenvalues of a symmetric matrix and their vectors.

    Args:
        A: (n, n), symmetric: dense, SciPy sparse, or a LinearOperator.
        k: how many, 1 <= k <= n.
        random_state: seeds the start vectors, so that results repeat.
        method: "auto" chooses "lapack" or "lanczos" by size; both are exact. The others may stop short and then
            warn (NotConverged) and say so in `converged`.

    Returns:
        TopEigen: descending, paired, sign-fixed, with the residuals the norm of A v - value v.

    >>> top_eigen(np.diag([1.0, 5.0, -9.0]), 2).values.round(12)
    array([5., 1.])
    """
    if method in _BY_PRODUCTS:
        return _BY_PRODUCTS[method](A, k, random_state=random_state)
    if method not in ("auto", "lapack"):
        raise ParameterError(f"method must be one of auto, lapack, {', '.join(_BY_PRODUCTS)}; is {method!r}.")
    operand = symmetric_operand(A)
    k = as_count(k, operand.shape[0])
    if method == "lapack" or lapack_is_better(operand, k):
        return lapack(operand, k)
    return lanczos_operand(operand, k, as_generator(random_state))


def lapack_is_better(operand: Operand, k: int) -> bool:
    """Whether writing the matrix out and decomposing it is sooner done than an iteration."""
    # Measured on 2 cores (OpenBLAS 0.3.31), covariances with and without decay, k = 1, 5, 20, 50. LAPACK's subset
    # against ARPACK in ms: n = 500: 10-30 against 2-50; n = 1000: 40-150 against 40-180; n = 2000: 320-500 against
    # 100-210 for k <= 20, but 420 against 500 for k = 50 without decay. LAPACK's time depends on n alone, and it
    # cannot overlook a repeated eigenvalue, so it gets the ties.
    n = operand.shape[0]
    if operand.dense is None:
        return n <= 500 or 5 * k > n
    return n <= 1000 or 50 * k > n


def leading_eigen(A: Multipliable, k: int, *, random_state: RandomState = 0) -> TopEigen:
    """Find the k algebraically largest eigenpairs of a symmetric matrix that is cheap to apply to many columns at once.

    Block Lanczos, restarted with the leading Ritz vectors. For a dense matrix of 10,000 rows a product with 20 columns
    costs as much as 5 with one: 7 to 10 such products end where ARPACK takes 160. A block also sees an eigenvalue as
    often as it repeats, up to as many times as it has columns.

    Args:
        A: (n, n), symmetric: dense, SciPy sparse, or a LinearOperator with `matmat`.
        k: how many, 1 <= k <= n.
        random_state: seeds the block, so that results repeat.

    Returns:
        TopEigen with residuals of at most 1e-10 of the largest |value|; where the spectrum has no gap that a block
        can use, what LAPACK or, for large n, ARPACK finds.

    >>> leading_eigen(np.diag(0.5 ** np.arange(1100.0)), 2).values.round(9)
    array([1. , 0.5])
    """
    operand = symmetric_operand(A)
    n = operand.shape[0]
    k = as_count(k, n)
    width = max(2 * k, k + 8)
    if n <= _DIRECT:
        return lapack(operand, k)
    rng = as_generator(random_state)
    found = _block_lanczos(operand, k, width, rng) if _DEPTH * width <= n else None
    if found is not None:
        return found
    return lapack(operand, k) if n <= _WRITTEN else lanczos_operand(operand, k, rng)


def _block_lanczos(operand: Operand, k: int, width: int, rng: np.random.Generator) -> TopEigen | None:
    """The pairs, or None as soon as the residual falls too slowly to be done in `_PASSES` products."""
    space = KrylovSpace(operand.apply, rng.standard_normal((operand.shape[0], width)), _DEPTH * width, rng)
    before, passes = 1.0, 0
    while passes < _PASSES:
        while not space.full:
            space.grow()
            passes += 1
            pairs = space.pairs()
            if (pairs.residuals[:k] <= EXACT * pairs.norm).all():
                return TopEigen(
                    values=pairs.values[:k] * operand.scale,
                    vectors=fix_signs(space.vectors(pairs, k)),
                    residuals=pairs.residuals[:k] * operand.scale,
                    iterations=passes,
                    converged=True,
                    method="lanczos",
                )
        worst = float(pairs.residuals[:k].max() / (abs(pairs.values[0]) or 1.0))
        if worst * min(worst / before, 1.0) ** ((_PASSES - passes) / _DEPTH) > EXACT:
            return None
        before = worst
        space.restart(pairs, width)
    return None
