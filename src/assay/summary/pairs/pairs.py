"""Pairs of columns that were tested, with what is known of each."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices

RANK_CORRELATION, CORRELATION_RATIO, V, CURVES = "rank correlation", "correlation ratio", "V", "correlation of curves"


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of columns, the least likely by chance first unless they were ordered otherwise.

    Attributes:
        first, second: (k,) numbers of the columns.
        pearson, rank: (k,) strengths; see `Dependence`.
        low, high: (k,) 95% interval of the strength that was tested, for two numbers; NaN for others.
        p: (k,) probability of as much by chance.
        q: (k,) p corrected for all pairs: the share of false ones among all up to this one.
        n: (k,) rows behind each.
        strength: (k,) the size by which a pair is called strong: at its lag, and of curves where it is not monotone.
        strength_name: (k,) what that is: "rank correlation", "correlation ratio" (of ranks), "V" or "correlation of
            curves".
        unseen: (k,) the same on rows that did not choose; NaN where it was not asked.
        again: (k,) share of halves of the rows in which the pair is found; NaN where it was not asked.
        lag: (k,) rows by which the first column leads the second, negative where it follows; 0 but for series.
        monotone: (k,) False where one column is highest, lowest or most spread out at middling values of the other,
            or the like.
        curves: (k, 2, 6) for pairs that are not monotone the weights of cosines of ranks, cos(pi j u), whose sums go
            together most, of the first and of the second column; NaN for others.
        effective: (k,) independent rows that would tell as much.
    """

    first: Indices
    second: Indices
    pearson: Array
    rank: Array
    low: Array
    high: Array
    p: Array
    q: Array
    n: NDArray[np.int64]
    strength: Array
    strength_name: NDArray[Any]  # the documentation takes np.str_ for a link
    unseen: Array
    again: Array
    lag: Indices
    monotone: NDArray[np.bool_]
    curves: Array
    effective: Array

    def __len__(self) -> int:
        return len(self.p)

    def taken(self, order: Indices) -> Pairs:
        """Some of them, in this order."""
        return replace(self, **{f.name: getattr(self, f.name)[order] for f in fields(self)})
