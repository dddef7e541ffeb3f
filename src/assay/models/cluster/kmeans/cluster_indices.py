"""How well any partition separates rows: what lies between the groups, beside what lies within them.

    T = sum w (x - m)^2 = B + W        B = sum_g w_g (m_g - m)^2 between,  W = sum w (x - m_g)^2 within
    explained variance B / T           Calinski-Harabasz B / W (n - k) / (k - 1)

Descriptions, not evidence: k-means and Ward make both large on rows without any groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import DataError, ParameterError
from assay.summary.distances.distances import unit_scale
from assay.summary.moments.accumulate import checked_weights


@dataclass(frozen=True, slots=True)
class ClusterIndices:
    """Indices of a partition.

    Attributes:
        n_clusters: groups that hold rows.
        weight: sum of the weights; the number of rows without weights.
        separation: sum of squares between the groups over that within them.
    """

    n_clusters: int
    weight: float
    separation: float

    @property
    def explained_variance(self) -> float:
        """Share of the sum of squares that lies between the groups; nan for rows all at one place."""
        return 1.0 if np.isinf(self.separation) else self.separation / (1.0 + self.separation)

    @property
    def calinski_harabasz(self) -> float:
        """B / W (n - k) / (k - 1), larger is better separated; nan for one group, or one for each row."""
        k, n = self.n_clusters, self.weight
        return self.separation * (n - k) / (k - 1) if 1 < k < n else float("nan")


def cluster_indices(X: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> ClusterIndices:
    """Indices of any partition of rows.

    Args:
        X: (n, d) rows.
        labels: (n,) the group of each row, numbers or text.
        weights: (n,) of rows, not negative; None for equal ones.

    Reference: Calinski & Harabasz, Communications in Statistics 3, 1974.

    >>> found = cluster_indices([[0.0], [2.0], [10.0], [12.0]], ["a", "a", "b", "b"])
    >>> found.explained_variance.__round__(4), found.calinski_harabasz
    (0.9615, 50.0)
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise DataError("the rows of a partition are an (n, d) table of finite numbers")
    groups: NDArray[Any] = np.asarray(labels)
    if groups.shape != (len(rows),):
        raise ParameterError(f"there must be one label for each of the {len(rows)} rows; got shape {groups.shape}")
    w = np.ones(len(rows)) if weights is None else checked_weights(weights, len(rows))
    rows, groups, w = rows[w > 0.0], groups[w > 0.0], w[w > 0.0]
    if not len(rows):
        raise DataError("no row has a positive weight, so there is nothing to separate")
    names, numbers = np.unique(groups, return_inverse=True)
    scale = unit_scale(rows)
    z = rows * scale - np.average(rows * scale, axis=0, weights=w)
    sizes = np.bincount(numbers, weights=w)
    means = np.stack([np.bincount(numbers, weights=w * column) for column in z.T], axis=1) / sizes[:, None]
    within = float(w @ ((z - means[numbers]) ** 2).sum(axis=1))
    middle = w @ z / w.sum()
    between = float(sizes @ ((means - middle) ** 2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return ClusterIndices(len(names), float(w.sum()), float(np.divide(between, within)))
