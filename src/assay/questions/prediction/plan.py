"""How rows are split to be judged by others, how often, and how many draws of chance there is time for.

Rows that depend on each other stay together, by the design of the table; in time those before teach those after.
Splits are drawn several times and what they say is averaged, in the data and in every draw of chance alike, so that the
answer hardly depends on one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.evidence.design import Design
from assay.linalg.nested_ridge import Choice

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

_REPEATS = 5
_WORK = 8e9  # products of the null distribution
_DRAWS = (99, 1999)
_WANTED = 499  # draws that are worth more than a further repeat
_FEWEST_FOLDS = 3  # one to judge, one to choose by, one to learn from


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How a prediction is judged.

    Attributes:
        folds: for each repeat (n,) the fold of each row.
        choice: how penalties are chosen among the rows learned from.
        draws: of chance, at most.
    """

    folds: tuple[Codes, ...]
    choice: Choice
    draws: int

    def parts(self, folds: Codes) -> list[Codes]:
        """The rows of each fold."""
        return [np.flatnonzero(folds == f) for f in range(int(folds.max()) + 1)]


def planned(design: Design, p: int, width: int, strengths: int, seed: int) -> Plan | None:
    """The splits of a table; None where its rows are in fewer than three parts that do not know each other.

    Args:
        design: how rows depend on each other.
        p: columns.
        width: columns of the target.
        strengths: penalties tried.
        seed: of the splits.
    """
    n = design.n
    # near as many columns as rows generalised cross-validation may take a fit to noise for a good one
    rows = design.kind == "independent" and 2 * p <= n
    choice: Choice = "forward" if design.forward else "rows" if rows else "blocks"
    count = 10 if choice != "blocks" and p <= 100 else 5
    fits = {"rows": 2.0 * p + strengths, "forward": strengths * p, "blocks": count * strengths * p}[choice]
    each = 2.0 * width * p * (n + count * fits)
    repeats = int(np.clip(_WORK / (_WANTED * each), 1, _REPEATS))
    folds = _different([design.folds(count, _REPEATS * seed + r) for r in range(repeats)])
    if folds[0].max() + 1 < _FEWEST_FOLDS:
        return None
    return Plan(folds, choice, int(np.clip(_WORK / (len(folds) * each), *_DRAWS)))


def _different(folds: list[Codes]) -> tuple[Codes, ...]:
    """Each assignment once: runs of rows in time are the same for every seed."""
    kept: list[Codes] = []
    for one in folds:
        if not any(np.array_equal(one, other) for other in kept):
            kept.append(one)
    return tuple(kept)
