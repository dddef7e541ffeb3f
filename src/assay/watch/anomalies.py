"""Which rows do not belong, at a controlled share of false alerts, as rows arrive.

score    s_t, by a law that no later row took part in
rank     R_t of s_t among the scores of the rows before it without alert, ties put in order by a number drawn for the
         row; p_t = R_t / (n + 1), n the number of those rows
alerts   p_t <= a_t, a_t by LORD++ in stretches of `horizon` rows:
         a_t = (level / 2) / horizon + (level / 2) g(t - t_1) + level sum_(j > 1) g(t - t_j),  g(k) = 1 / (k H)
         t_j the alerts of the stretch, H = 1 + 1/2 + ... + 1/horizon, so that sums of g stay below 1

If rows are exchangeable, the ranks of rows among those before them are independent and uniform (Renyi 1962), so that
each p_t is uniform whatever was seen before, and no alert is given in a stretch of clean rows but with chance level.
With anomalies, the share of false ones among the alerts of a stretch is at most level on average: exactly for ranks
among clean rows, nearly so here, since alerts leave the ranks and false ones among them are few.

Only the largest scores are kept. A row among them has its exact rank among all rows before it, however many these were;
another one has a p that no level comes near, and counts as 1. So memory is bounded while the smallest p falls as
1 / (n + 1). It is below level / (2 horizon) once n is 2 horizon / level: before, ranks alone say nothing of a single
row. Until then the tail beyond all earlier rows is extrapolated (`_kernels.extrapolated`), which is no conformal p:
such an alert is at most suggestive.

References: Ramdas, Yang, Wainwright & Jordan, Online control of the false discovery rate with decaying memory, NeurIPS
2017 (LORD++); Vovk, Gammerman & Shafer, Algorithmic Learning in a Random World, 2005; Renyi, Colloquium on
combinatorial methods in probability theory, Aarhus 1962; Hill, Annals of Statistics 3, 1975.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.sampling import row_keys
from assay.watch._kernels import COUNTERS, NEW, NEW_KEPT, OLD, judge

KEPT = 16_384  # largest scores
_REWARDED = 1024  # latest alerts of a stretch that raise the level

BY_RANK, BY_TAIL = 1, 2


@dataclass(slots=True, eq=False)
class JudgedRows:
    """What was said of rows.

    Attributes:
        p: (n,) conformal, or extrapolated where `flags` says so; 1 where it is only known not to be small.
        level: (n,) what it was compared with; 0 where it was far from small.
        among: (n,) rows that each was ranked among.
        flags: (n,) 0, BY_RANK or BY_TAIL.
    """

    p: Array
    level: Array
    among: NDArray[np.int64]
    flags: NDArray[np.int8]


@dataclass(slots=True, eq=False)
class Ranks:
    """The largest scores so far, and what was spent. It is changed by every row.

    Attributes:
        level: share of false alerts in a stretch.
        horizon: rows of a stretch.
        renewed: rows after which scores are forgotten, between once and twice as many are remembered; 0 for never.
        tail: whether the tail is extrapolated.
        seed: of the numbers that put ties in order.
        old, new: largest scores, ascending.
        counters, found: see `_kernels.judge`.
    """

    level: float
    horizon: int
    renewed: int = 0
    tail: bool = True
    seed: int = 0
    old: Array = field(default_factory=lambda: np.zeros(KEPT))
    new: Array = field(default_factory=lambda: np.zeros(KEPT))
    counters: NDArray[np.int64] = field(default_factory=lambda: np.zeros(COUNTERS, dtype=np.int64))
    found: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_REWARDED, dtype=np.int64))

    def begin(self, scores: Array) -> None:
        """Take in the scores of reference rows, which are not judged."""
        largest = np.sort(scores)[-len(self.new) :]
        self.new[: len(largest)] = largest
        self.counters[NEW], self.counters[NEW_KEPT] = len(scores), len(largest)

    @property
    def count(self) -> int:
        """Rows among which the next one is ranked."""
        return int(self.counters[OLD] + self.counters[NEW])

    def judge(self, scores: Array, first_row: int) -> JudgedRows:
        """Rank rows, give alerts, and take those without alert in.

        Args:
            scores: (n,) in order of arrival.
            first_row: number of the first one.
        """
        n = len(scores)
        result = JudgedRows(np.empty(n), np.empty(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int8))
        keys = row_keys(first_row, n, self.seed)
        judge(
            scores, keys, self.old, self.new, self.counters, self.found, self.level, self.horizon, self.renewed,
            self.tail, result.p, result.level, result.among, result.flags,
        )  # fmt: skip
        return result
