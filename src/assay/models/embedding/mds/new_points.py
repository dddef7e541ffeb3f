"""New points placed among fixed ones, each by majorising its own stress: sum over j of (t_j - |z - x_j|)^2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array

_TOL = 1e-7  # step at which a point has arrived, relative to the size of the configuration
_MAX_ITER = 2000


def place_among(coordinates: Array, targets: Array, known: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_]]:
    """Put points at wanted distances from fixed ones; the better of two starts is kept.

    The starts are the nearest fixed point, and the least-squares solution of the linear equations that squared
    distances give. A point at distance zero from a fixed one is put on it.

    Args:
        coordinates: (n, k) of the fixed points.
        targets: (m, n) distances wanted, of any value where not known.
        known: (m, n), at least one in each row.

    Returns:
        (m, k) places, and (m,) whether each arrived.

    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> place_among(corners, np.array([[2.0, 1.0, 1.0]]) ** 0.5, np.ones((1, 3), bool))[0].round(6)
    array([[1., 1.]])
    """
    size = float(np.sqrt(np.mean((coordinates - coordinates.mean(axis=0)) ** 2))) or 1.0
    weights = known.astype(np.float64)
    wanted = np.where(known, targets, np.inf)
    nearest = wanted.argmin(axis=1)
    wanted[~known] = 0.0
    near, arrived_near = _majorised(coordinates, wanted, weights, coordinates[nearest].copy(), _TOL * size)
    far, arrived_far = _majorised(coordinates, wanted, weights, _trilateration(coordinates, wanted, known), _TOL * size)
    better = placing_stress(coordinates, wanted, weights, far) < placing_stress(coordinates, wanted, weights, near)
    places, arrived = np.where(better[:, None], far, near), np.where(better, arrived_far, arrived_near)
    on = (known & (targets == 0.0)).any(axis=1)
    places[on] = coordinates[nearest[on]]
    return places, arrived | on


def placing_stress(coordinates: Array, targets: Array, weights: Array, places: Array) -> Array:
    """(m,) sum over j of w_j (t_j - |z - x_j|)^2.

    >>> placing_stress(np.zeros((1, 2)), np.array([[5.0]]), np.ones((1, 1)), np.array([[3.0, 0.0]]))
    array([4.])
    """
    distances = np.linalg.norm(places[:, None, :] - coordinates, axis=2)
    return np.asarray((weights * (targets - distances) ** 2).sum(axis=1))


def _majorised(
    coordinates: Array, targets: Array, weights: Array, starts: Array, tol: float
) -> tuple[Array, NDArray[np.bool_]]:
    from assay.models.embedding.mds._stress_kernels import place_points

    moves = np.full(len(starts), np.inf)
    place_points(coordinates, targets, weights, starts, tol, _MAX_ITER, moves)
    return starts, moves <= tol


def _trilateration(coordinates: Array, targets: Array, known: NDArray[np.bool_]) -> Array:
    """From |z - x_j|^2 = t_j^2: 2 x_j.z = |x_j|^2 - t_j^2 + const, in least squares; unknown ones say nothing."""
    centre = coordinates.mean(axis=0)
    centred = coordinates - centre
    right = np.sum(centred**2, axis=1) - targets**2
    means = np.sum(right * known, axis=1, keepdims=True) / known.sum(axis=1, keepdims=True)
    right = np.where(known, right - means, 0.0)
    return np.asarray(0.5 * right @ np.linalg.pinv(centred).T + centre)
