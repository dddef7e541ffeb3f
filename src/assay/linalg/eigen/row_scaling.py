"""Classical scaling of rows by their Euclidean distances, for which no matrix of distances is needed.

Xc the rows less their mean, (n, d)     B = -1/2 H D^2 H = Xc Xc^T, (n, n)
B and Xc^T Xc, (d, d), have the same positive eigenvalues: the smaller one is decomposed
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array
from assay.linalg.eigen.classical_scaling import positive_values
from assay.linalg.eigen.spectral import column_signs
from assay.linalg.eigen.top import top_eigen


@dataclass(frozen=True, slots=True, eq=False)
class RowScaling:
    """Classical scaling of the Euclidean distances of rows, without any matrix of distances.

    Attributes:
        values: (k,) eigenvalues of B = Xc Xc^T, descending; zero beyond its rank.
        coordinates: (n, k).
        axes: (d, k) with coordinates = (X - mean) axes; zero columns beyond the rank.
        mean: (d,) of the rows.
        trace: of B, the sum of all its eigenvalues.
        norm: of B (Frobenius).
    """

    values: Array
    coordinates: Array
    axes: Array
    mean: Array
    trace: float
    norm: float


def scaling_of_rows(X: Array, k: int, *, seed: int = 0) -> RowScaling:
    """Scale rows by the distances between them: their principal component scores (Gower 1966).

    Args:
        X: (n, d) rows, of a size whose squares are within floats.
        k: how many axes, at most n.
        seed: of random starts.

    >>> scaling_of_rows(np.array([[0.0, 1.0], [0.0, 3.0]]), 2).coordinates
    array([[ 1.,  0.],
           [-1.,  0.]])
    """
    n, d = X.shape
    # clipped into the range, so that a constant column is centred to exact zeros
    mean = np.clip(X.mean(axis=0), X.min(axis=0), X.max(axis=0))
    centred = X - mean
    inner = centred.T @ centred if d <= n else centred @ centred.T
    norm = float(np.linalg.norm(inner))
    found = top_eigen(inner, min(k, len(inner)), random_state=seed)
    kept = positive_values(found.values, max(n, d), norm)
    rank = int(kept.sum())  # values descend: the first ones
    used = found.vectors[:, :rank]
    if d > n:
        used = centred.T @ (used / np.sqrt(found.values[:rank]))
    values, axes = np.zeros(k), np.zeros((d, k))
    values[:rank], axes[:, :rank] = found.values[:rank], used
    coordinates = centred @ axes
    signs = column_signs(coordinates)
    return RowScaling(values, coordinates * signs, axes * signs, mean, float(np.trace(inner)), norm)
