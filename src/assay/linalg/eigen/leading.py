"""The leading eigenpairs of a large matrix known by its products with blocks: restarted block Lanczos.

    space     [Y, A Y, ..., A^(p-1) Y] of a block Y (n, b), orthonormalised as it grows
    pairs     Rayleigh-Ritz in it; the images A Q are kept, so values and residuals cost no product of their own
    restart   Y becomes the leading b Ritz vectors: their images hold the one block of residuals that all of them share

For a dense matrix of 10,000 rows a product with 20 columns costs as much as 5 with one: 7 to 10 such products end where
ARPACK takes 160. A block also sees an eigenvalue as often as it repeats, up to b times.

Reference: Golub and Underwood, The block Lanczos method (1977); Wu and Simon, Thick-restart Lanczos (2000).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.arrays import Array
from assay.linalg.eigen.lanczos import lanczos_operand
from assay.linalg.eigen.operand import Multipliable, Operand, symmetric_operand
from assay.linalg.eigen.ritz import EXACT, TopEigen, lapack
from assay.linalg.eigen.spectral import fix_signs
from assay.linalg.validate import RandomState, as_count, as_generator

_DIRECT = 1_000  # rows: up to here LAPACK is as fast, and needs no convergence
_WRITTEN = 2_000  # rows: up to here LAPACK (0.5 s) is the better answer to a block that gets nowhere
_DEPTH = 10  # blocks in the space before it is restarted
_PASSES = 40  # products after which another solver is asked


def leading_eigen(A: Multipliable, k: int, *, random_state: RandomState = 0) -> TopEigen:
    """Find the k algebraically largest eigenpairs of a symmetric matrix that is cheap to apply to many columns at once.

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
    start = np.linalg.qr(rng.standard_normal((operand.shape[0], width)))[0]
    before, passes = 1.0, 0
    while passes < _PASSES:
        found, start = _one_space(operand, start, k)
        passes += found.iterations
        if found.converged:
            return replace(found, iterations=passes)
        worst = float(found.residuals.max() / (abs(found.values[0]) or 1.0))
        if worst * min(worst / before, 1.0) ** ((_PASSES - passes) / _DEPTH) > EXACT:
            return None
        before = worst
    return None


def _one_space(operand: Operand, block: Array, k: int) -> tuple[TopEigen, Array]:
    """Grow one space until its first k pairs are exact or it is full; its best block to go on with."""
    n, width = block.shape
    basis, images = np.empty((n, _DEPTH * width)), np.empty((n, _DEPTH * width))
    H = np.empty((_DEPTH * width, _DEPTH * width))
    for step in range(1, _DEPTH + 1):
        new, end = slice((step - 1) * width, step * width), step * width
        basis[:, new] = block
        images[:, new] = operand.apply(block)
        H[:end, new] = basis[:, :end].T @ images[:, new]
        H[new, :end] = H[:end, new].T
        values, W = np.linalg.eigh(H[:end, :end])
        scale = float(np.abs(values).max())
        values, W = values[::-1][:width], W[:, ::-1][:, :width]
        residuals = np.linalg.norm(images[:, :end] @ W[:, :k] - (basis[:, :end] @ W[:, :k]) * values[:k], axis=0)
        converged = bool((residuals <= EXACT * scale).all())
        if converged or step == _DEPTH:
            break
        block = _orthonormal(images[:, new], basis[:, :end])
    vectors = basis[:, :end] @ W
    pairs = TopEigen(
        values=values[:k] * operand.scale,
        vectors=fix_signs(vectors[:, :k]),
        residuals=residuals * operand.scale,
        iterations=step,
        converged=converged,
        method="lanczos",
    )
    return pairs, np.linalg.qr(vectors)[0]


def _orthonormal(block: Array, basis: Array) -> Array:
    for _ in range(2):  # once is not enough to be orthogonal to working precision
        block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
    return block
