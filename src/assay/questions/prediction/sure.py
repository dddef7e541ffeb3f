"""How sure the prediction of a single new row is: conformal intervals and sets, from rows that were not used.

number    the least width that holds the residuals of so many unseen rows
classes   the classes whose probability is at least a threshold, and the likeliest one in any case; the threshold is the
          largest that holds the true class of so many unseen rows

Both hold their share of new rows for any law, as long as rows are exchangeable and fits of nearly all rows are like
those of all.

References: Barber et al., Predictive inference with the jackknife+, Annals of Statistics 49 (2021); Sadinle, Lei,
Wasserman, Least ambiguous set-valued classifiers, JASA 114 (2019).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Indices

COVERED = 0.9  # share of new rows within the interval or the set of their prediction


@dataclass(frozen=True, slots=True)
class Sets:
    """Sets of classes that hold the true one.

    Attributes:
        threshold: probability from which on a class is in the set.
        size: classes of a set, on average.
        single: share of the rows whose set is one class.
        covered: share of the unseen rows whose set holds the true class.
    """

    threshold: float
    size: float
    single: float
    covered: float


def half_width(residuals: Array) -> float:
    """The least width that holds a new row's residual with the chance wanted; infinite where rows are too few."""
    return _level(np.abs(residuals))


def class_sets(probability: Array, codes: Indices) -> Sets:
    """Sets of classes by one threshold.

    Args:
        probability: (m, g) of the classes, for rows that were not used.
        codes: (m,) their classes.
    """
    threshold = 1.0 - _level(1.0 - probability[np.arange(len(codes)), codes])
    held = probability >= threshold
    held[np.arange(len(codes)), probability.argmax(axis=1)] = True
    size = held.sum(axis=1)
    covered = float(held[np.arange(len(codes)), codes].mean())
    return Sets(max(threshold, 0.0), float(size.mean()), float((size == 1).mean()), covered)


def _level(scores: Array) -> float:
    n = len(scores)
    rank = int(np.ceil(COVERED * (n + 1)))
    return float(np.sort(scores)[rank - 1]) if rank <= n else float("inf")
