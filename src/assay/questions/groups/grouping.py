"""Groups of rows around centres, and whether they come back: on the other half of the rows, on rows drawn again."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.optimize.few_rows import Few, group_few_rows
from assay.summary.distances import squared_distances

Array: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]

_STARTS = 3
_RESAMPLES = 20


def grouped(S: Array, k: int, seed: int, starts: int = _STARTS) -> Few:
    """(m, r) rows in k groups, always in the same way: what is compared with chance is the whole procedure."""
    return group_few_rows(S, k, seed=seed, n_init=starts)


def labelled(S: Array, centres: Array) -> Numbers:
    """(m,) the nearest centre of each row."""
    return np.asarray(squared_distances(S, centres).argmin(axis=1))


def by_size(labels: Numbers) -> Numbers:
    """The same groups, numbered so that the largest comes first; groups without rows come last.

    >>> by_size(np.array([2, 2, 0, 2, 0, 1]))
    array([0, 0, 1, 0, 1, 2])
    """
    order = np.argsort(-np.bincount(labels), kind="stable")
    return np.asarray(np.argsort(order)[labels])


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


def prediction_strength(S: Array, k: int, seed: int, rng: np.random.Generator) -> float:
    """Halve the rows; of the pairs in a group of one half, the share that the other half's centres join; the worst.

    A group of a single row makes no pair, and predicts nothing.
    """
    order = rng.permutation(len(S))
    here, there = S[order[: len(S) // 2]], S[order[len(S) // 2 :]]
    own, centres = grouped(here, k, seed).labels, grouped(there, k, seed).centers
    table = np.zeros((k, k))
    np.add.at(table, (own, labelled(here, centres)), 1.0)
    sizes = table.sum(axis=1)
    pairs = sizes * (sizes - 1)
    together = (table * (table - 1)).sum(axis=1)
    return float(np.min(np.where(pairs > 0, together / np.maximum(pairs, 1.0), 0.0)))


def jaccard(S: Array, labels: Numbers, k: int, seed: int, rng: np.random.Generator) -> Array:
    """(k,) how much of each group is found again among rows drawn with replacement: shared rows over rows of either."""
    found = np.zeros(k)
    for _ in range(_RESAMPLES):
        drawn = np.unique(rng.integers(len(S), size=len(S)))
        again = grouped(S[drawn], k, seed).labels
        table = np.zeros((k, k))
        np.add.at(table, (labels[drawn], again), 1.0)
        either = table.sum(axis=1)[:, None] + table.sum(axis=0)[None, :] - table
        found += (table / np.maximum(either, 1.0)).max(axis=1)
    return found / _RESAMPLES
