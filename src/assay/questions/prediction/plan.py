"""How rows are split to be judged by others, how often, and how many draws of chance there is time for.

Rows that depend on each other stay together, by the design of the table; in time those before teach those after.
Splits are drawn several times and what they say is averaged, in the data and in every draw of chance alike, so that the
answer hardly depends on one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Indices
from assay.evidence.design import Design
from assay.questions.prediction.machines import STRENGTHS
from assay.questions.prediction.nested_ridge import Choice

_MOST_REPEATS = 5
_WORK = 3e9  # products of the null distribution
_DRAWS = (99, 1999)
_WANTED = 499  # draws that are worth more than a further repeat
_FEWEST_FOLDS = 3  # one to judge, one to choose by, one to learn from


@dataclass(frozen=True, slots=True, eq=False)
class JudgingPlan:
    """How a prediction is judged.

    Attributes:
        folds: for each repeat (n,) the fold of each row.
        choice: how penalties are chosen among the rows learned from.
        draws: of chance, at most.
    """

    folds: tuple[Indices, ...]
    choice: Choice
    draws: int

    def parts(self, repeat: int) -> list[Indices]:
        """The rows of each fold of a repeat."""
        folds = self.folds[repeat]
        return [np.flatnonzero(folds == f) for f in range(int(folds.max()) + 1)]


def planned(
    design: Design, sizes: list[int], width: int, seed: int, *, times: float = 1.0, once: bool = False
) -> JudgingPlan | None:
    """The splits of a table; None where its rows are in fewer than three parts that do not know each other.

    Args:
        design: how rows depend on each other.
        sizes: numbers that each machine predicts from.
        width: columns of the target.
        seed: of the splits.
        times: how many times as many draws as usual.
        once: whether there is one repeat only.
    """
    n = design.n
    # near as many columns as rows generalised cross-validation may take a fit to noise for a good one
    rows = design.kind == "independent" and 2 * max(sizes) <= n
    choice: Choice = "forward" if design.forward else "rows" if rows else "blocks"
    count = 10 if choice != "blocks" and max(sizes) <= 100 else 5
    each = sum(_products(n, p, count, choice) for p in sizes) * width
    repeats = int(np.clip(times * _WORK / (_WANTED * each), 1, 1 if once else _MOST_REPEATS))
    folds = _different([design.folds(count, _MOST_REPEATS * seed + r) for r in range(repeats)])
    if folds[0].max() + 1 < _FEWEST_FOLDS:
        return None
    fewest, most = _DRAWS[0], max(_DRAWS[0], times * (_DRAWS[1] + 1) - 1)
    return JudgingPlan(folds, choice, int(np.clip(times * _WORK / (len(folds) * each), fewest, most)))


def _products(n: int, p: int, count: int, choice: Choice) -> float:
    """Of a draw of chance with one machine, decompositions being known."""
    fits = {"rows": 2.0 * p + STRENGTHS, "forward": STRENGTHS * p, "blocks": count * STRENGTHS * p}[choice]
    return 2.0 * p * (n + count * fits)


def _different(folds: list[Indices]) -> tuple[Indices, ...]:
    """Each assignment once: runs of rows in time are the same for every seed."""
    kept: list[Indices] = []
    for one in folds:
        if not any(np.array_equal(one, other) for other in kept):
            kept.append(one)
    return tuple(kept)
