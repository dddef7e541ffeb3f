"""The top eigenpairs of a large symmetric operator from few products with a block, given up early where it pays not.

The space [Y, G Y, ..., G^p Y] of a random block Y holds the leading eigenvectors to within a factor that shrinks with
every product, by how far the wanted eigenvalues stand above the rest (Musco & Musco 2015). The images G Q of the basis
are kept, so that values and residuals cost no product of their own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from assay.arrays import Array
from assay.linalg.eigen.ritz import EXACT, TopEigen
from assay.linalg.eigen.spectral import fix_signs


def block_krylov(apply: Callable[[Array], Array], n: int, k: int, *, passes: int = 8, seed: int = 0) -> TopEigen | None:
    """The top k eigenpairs to a residual of 1e-10, or None as soon as `passes` products are not going to be enough.

    Args:
        apply: from a block (n, b) to G times it; G symmetric, not negative.
        n: size of G.
        k: how many pairs; the block has 2 k columns.
        passes: most products with the block.
        seed: of the block.

    >>> weights = 0.5 ** np.arange(60.0)[:, None]
    >>> found = block_krylov(lambda Q: weights * Q, 60, 2)
    >>> found.values.round(9), found.converged
    (array([1. , 0.5]), True)
    """
    block = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, min(2 * k, n))))[0]
    basis, images = np.empty((n, 0)), np.empty((n, 0))
    worst = np.inf
    for step in range(1, passes + 1):
        basis = np.column_stack([basis, block])
        image = apply(block)
        images = np.column_stack([images, image])
        found = _ritz(basis, images, k, step)
        before, worst = worst, float(found.residuals.max() / max(found.values[0], np.finfo(float).tiny))
        if found.converged:
            return found
        if basis.shape[1] + block.shape[1] > n or _out_of_reach(before, worst, passes - step):
            return None
        block = image
        for _ in range(2):  # once is not enough to be orthogonal to working precision
            block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
    return None


def _out_of_reach(before: float, worst: float, left: int) -> bool:
    """Whether the residual, falling by the factor it last fell by, stays above the tolerance."""
    return bool(np.isfinite(before) and worst * min(worst / before, 1.0) ** left > EXACT)


def _ritz(basis: Array, images: Array, k: int, step: int) -> TopEigen:
    H = basis.T @ images
    values, W = np.linalg.eigh((H + H.T) / 2.0)
    values, W = values[::-1][:k], W[:, ::-1][:, :k]
    vectors = basis @ W
    residuals = np.linalg.norm(images @ W - vectors * values, axis=0)
    converged = bool((residuals <= EXACT * max(values[0], 0.0)).all())
    return TopEigen(values, fix_signs(vectors), residuals, step, converged, "randomised")
