"""A fitted mixture in the columns of the user, and read back from there.

In the frame of the fit z = (x - centre) / scale, S = L L^T. In the columns of the user the covariance is
scale S scale and its inverse U U^T with U = L^-T / scale, (d, d) upper triangular; constant columns have zeros in both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from assay.arrays import Array
from assay.models.cluster.mixture.gaussians import Components, Shape, Whitening
from assay.models.cluster.mixture.responsibilities import MixtureTable
from assay.summary.incomplete.expectation import Frame


def in_units(law: Components, table: MixtureTable) -> tuple[Array, Array, Array]:
    """Means, covariances and Cholesky factors of precisions in the columns of the user, in scikit-learn's shapes."""
    active, scale, d = table.frame.active, table.frame.scale, len(table.mean)
    means = np.tile(table.mean, (len(law.means), 1))
    means[:, active] += scale * law.means
    if law.shape == "spherical":
        return means, law.covariances[:, 0] * scale[0] ** 2, 1.0 / (law.factors[:, 0] * scale[0])
    if law.shape == "diag":
        covariances, factors = np.zeros((2, *means.shape))
        covariances[:, active] = law.covariances * scale**2
        factors[:, active] = 1.0 / (law.factors * scale)
        return means, covariances, factors
    grid = np.ix_(np.arange(len(law.factors)), active, active)
    covariances, factors = np.zeros((2, len(law.factors), d, d))
    covariances[grid] = scale[:, None] * law.covariances * scale
    unit = np.eye(len(active))
    factors[grid] = [solve_triangular(L, unit, lower=True).T / scale[:, None] for L in law.factors]
    return (means, covariances[0], factors[0]) if law.shape == "tied" else (means, covariances, factors)


def reading(shape: Shape, weights: Array, means: Array, factors: Array) -> tuple[Frame, Whitening]:
    """How to look at new rows: a frame, and the whitening in it.

    Args:
        shape: of the covariances.
        weights, means: (k,) and (k, d).
        factors: of the precisions, as `in_units` gives them.
    """
    A = _lower(shape, factors, means.shape)
    sizes = np.diagonal(A, axis1=1, axis2=2) if A.ndim == 3 else A
    active = np.flatnonzero(sizes[0] > 0.0)
    scale = 1.0 / sizes[:, active].max(axis=0)
    centre = (weights @ means)[active]
    inner = A[np.ix_(np.arange(len(A)), active, active)] if A.ndim == 3 else A[:, active]
    frame = Frame(active, centre, scale)
    return frame, Whitening.about(weights, (means[:, active] - centre) / scale, np.ascontiguousarray(inner * scale))


def drawn_from(
    shape: Shape, weights: Array, means: Array, factors: Array, n: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.int64]]:
    """(n, d) rows drawn from a mixture, and (n,) the component of each."""
    frame, whitening = reading(shape, weights, means, factors)
    labels = rng.choice(len(weights), size=n, p=weights)
    noise = rng.standard_normal((n, len(frame.active)))
    rows = means[labels]
    for g, A in enumerate(whitening.A):
        own = np.flatnonzero(labels == g)
        z = solve_triangular(A, noise[own].T, lower=True).T if A.ndim == 2 else noise[own] / A
        rows[np.ix_(own, frame.active)] += z * frame.scale
    return rows, labels


def _lower(shape: Shape, factors: Array, size: tuple[Any, ...]) -> Array:
    """The transposed factors of every component: (k, d, d) lower triangular, or (k, d)."""
    k, d = size
    match shape:
        case "full":
            return factors.swapaxes(1, 2)
        case "tied":
            return np.broadcast_to(factors.T, (k, d, d))
        case "diag":
            return factors
        case "spherical":
            return np.broadcast_to(factors[:, None], (k, d))
