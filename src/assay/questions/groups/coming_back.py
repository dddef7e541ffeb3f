"""Whether groups come back: on the other half of the rows, on rows drawn again.

Reference: Tibshirani and Walther, JCGS 14 (2005), prediction strength; Hennig, CSDA 52 (2007), stability by Jaccard.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.questions.groups.rules import GroupRule, Way

_RESAMPLES = 20


def prediction_strength(Z: Array, half: NDArray[np.bool_], way: Way, k: int, seed: int) -> float:
    """Of the pairs in a group of one half, the share that the other half's rule joins; the worst group, both ways.

    A group of a single row makes no pair, and predicts nothing; nor does a half without as many groups.
    """
    one, two = way.learnt(Z[half], k, seed), way.learnt(Z[~half], k, seed)
    if one is None or two is None:
        return 0.0
    return (_kept(one, two, Z[half], k) + _kept(two, one, Z[~half], k)) / 2


def _kept(own: GroupRule, other: GroupRule, rows: Array, k: int) -> float:
    table = np.zeros((k, k))
    np.add.at(table, (own.labels(rows), other.labels(rows)), 1.0)
    sizes = table.sum(axis=1)
    pairs = sizes * (sizes - 1)
    together = (table * (table - 1)).sum(axis=1)
    return float(np.min(np.where(pairs > 0, together / np.maximum(pairs, 1.0), 0.0)))


def jaccard(Z: Array, labels: Indices, way: Way, k: int, seed: int, rng: np.random.Generator) -> Array:
    """(k,) how much of each group is found again among rows drawn with replacement: shared rows over rows of either.

    Args:
        Z: (n, d) rows.
        labels: (n,) their groups.
        way: by which they were found.
        k: how many.
        seed: of starts.
        rng: draws the rows.
    """
    found = np.zeros(k)
    for _ in range(_RESAMPLES):
        drawn = np.unique(rng.integers(len(Z), size=len(Z)))
        rule = way.learnt(Z[drawn], k, seed)
        if rule is not None:
            table = np.zeros((k, k))
            np.add.at(table, (labels[drawn], rule.labels(Z[drawn])), 1.0)
            either = table.sum(axis=1)[:, None] + table.sum(axis=0)[None, :] - table
            found += (table / np.maximum(either, 1.0)).max(axis=1)
    return found / _RESAMPLES
