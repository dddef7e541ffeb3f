"""Groups of rows around centres, their numbers, and what lies between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.optimize.kmeans.lloyd import Grouping, group_few_rows
from assay.summary.distances.distances import squared_distances

_STARTS = 3


def grouped(S: Array, k: int, seed: int, starts: int = _STARTS) -> Grouping:
    """(m, r) rows in k groups, always in the same way: what is compared with chance is the whole procedure."""
    return group_few_rows(S, k, seed=seed, n_init=starts)


def labelled(S: Array, centres: Array) -> Indices:
    """(m,) the nearest centre of each row."""
    return np.asarray(squared_distances(S, centres).argmin(axis=1))


def by_size(labels: Indices, k: int) -> Indices:
    """(k,) new number of each group, the largest first; groups without rows come last.

    >>> by_size(np.array([2, 2, 0, 2, 0, 1]), 3)
    array([1, 2, 0])
    """
    return np.asarray(np.argsort(np.argsort(-np.bincount(labels, minlength=k), kind="stable")))


def shares_between(Z: Array, labels: NDArray[np.integer], k: int) -> Array:
    """(d,) share of each column's variance that lies between groups.

    >>> shares_between(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 0, 1, 1]), 2)
    array([1., 0.])
    """
    sizes = np.bincount(labels, minlength=k).astype(np.float64)
    centred = Z - Z.mean(axis=0)
    member = np.zeros((k, len(Z)))
    member[labels, np.arange(len(Z))] = 1.0
    sums = member @ centred
    between = (sums**2 / np.maximum(sizes, 1.0)[:, None]).sum(axis=0)
    return np.asarray(between / np.maximum((centred**2).sum(axis=0), np.finfo(float).tiny))
