"""A difference measured on rows that had no part in saying which way it goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Indices, Mask
from assay.linalg.noise.fold_error import fold_error, fold_interval


@dataclass(frozen=True, slots=True)
class HeldOutDifference:
    """A difference on unseen rows.

    Attributes:
        value: positive where the rows not looked at differ the way the others do; None where folds leave nothing.
        interval: of 95%.
        nothing: what it would be without a difference.
    """

    value: float | None = None
    interval: tuple[float, float] | None = None
    nothing: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether it is there on unseen rows."""
        return self.value is not None and self.value > self.nothing


def held_out_difference(scores: Array, second: Mask, folds: Indices) -> HeldOutDifference:
    """The difference of means in each fold, its sign by the other folds.

    Args:
        scores: (n,) NaN where there is none.
        second: (n,) rows of the second table.
        folds: (n,) of each row.

    >>> x = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    >>> held_out_difference(x, x > 0, np.array([0, 1, 0, 1, 0, 1, 0, 1])).value
    1.0
    """
    known = np.isfinite(scores)
    x, label = np.where(known, scores, 0.0), second.astype(np.intp)
    k = int(folds.max()) + 1
    sums, counts = np.zeros((k, 2)), np.zeros((k, 2))
    np.add.at(sums, (folds[known], label[known]), x[known])
    np.add.at(counts, (folds[known], label[known]), 1.0)
    others, others_count = sums.sum(axis=0) - sums, counts.sum(axis=0) - counts
    usable = (counts > 0).all(axis=1) & (others_count > 0).all(axis=1)
    here = sums[usable] / counts[usable]
    there = others[usable] / others_count[usable]
    return held_out_mean((here[:, 1] - here[:, 0]) * np.sign(there[:, 1] - there[:, 0]), overlap=0.0)


def held_out_mean(
    values: Array,
    *,
    within: tuple[float, float] = (-np.inf, np.inf),
    nothing: float = 0.0,
    overlap: float | None = None,
) -> HeldOutDifference:
    """The mean over folds and its interval; without a value where there are fewer than two.

    Args:
        values: (k,) of the folds.
        within: what the measure can be.
        nothing: what it is without a difference.
        overlap: see `fold_error`; 0 where other folds give a direction and nothing else.
    """
    if len(values) < 2:
        return HeldOutDifference()
    mean = float(values.mean())
    low, high = fold_interval(mean, fold_error(values, overlap), len(values), within=within)
    return HeldOutDifference(mean, (float(low), float(high)), nothing)
