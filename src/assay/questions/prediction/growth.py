"""What more rows would bring: the share explained by the procedure on an eighth, a quarter and a half of the rows.

law       E / B = a + b / n in the rows n learned from, by least squares weighted with the rows judged; b not negative
twice     b / 2n more of the variance; its error is that of the slope, from the scatter of the parts of one size and
          of the points about the law

A rule that is straight where the truth is not, or chosen anew with more rows, may gain more than that.

Reference: Hestness et al., Deep learning scaling is predictable (2017), for other powers of n; 1 / n is that of a
fixed number of parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.arrays import Array
from assay.evidence.design import Design
from assay.questions.prediction.chance import measured, pooled
from assay.questions.prediction.machines import RidgeInput
from assay.questions.prediction.plan import planned

_PARTS = (8, 4, 2)
_MOST_PARTS = 4  # of one size
_FEWEST_ROWS = 30  # of a part
_DOUBT = 2.0  # standard errors


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """What was explained from how many rows.

    Attributes:
        rows: (k,) learned from, ascending, those of the whole table last.
        share: (k,) explained on unseen rows.
        error: (k,) its standard error.
        twice: share more that twice the rows would bring.
        low, high: its interval.
    """

    rows: Array
    share: Array
    error: Array
    twice: float
    low: float
    high: float


def growth(
    machines: list[RidgeInput], Y: Array, design: Design, whole: tuple[float, float, float], seed: int
) -> Growth | None:
    """Learn from parts of the rows; None where these would be too few.

    Args:
        machines: of the kind that was named.
        Y: (n, g) target.
        design: how rows depend on each other.
        whole: rows learned from in the whole table, the share explained, and its standard error.
        seed: of the parts.
    """
    rows, share, error = [], [], []
    for parts in _PARTS:
        found = _of_parts(machines, Y, design, parts, seed)
        if len(found) >= 2:
            values = np.array([one[1] for one in found])
            rows.append(float(np.mean([one[0] for one in found])))
            share.append(float(values.mean()))
            # parts of few rows may be alike by luck: never less sure of them than their rows allow
            least = whole[2] * np.sqrt(parts / len(found))
            error.append(max(float(values.std(ddof=1) / np.sqrt(len(found))), float(least)))
    if not rows:
        return None
    x, v, e = (np.array([*part, last]) for part, last in zip((rows, share, error), whole, strict=True))
    slope, sure = _slope(1.0 / x, 1.0 - v, np.maximum(e, 1e-9))
    twice, reach = max(slope, 0.0) / (2.0 * x[-1]), _DOUBT * sure / (2.0 * x[-1])
    most = 1.0 - v[-1]
    low, high = max(slope / (2.0 * x[-1]) - reach, 0.0), slope / (2.0 * x[-1]) + reach
    return Growth(x, v, e, min(twice, most), min(low, most), min(max(high, 0.0), most))


def _of_parts(machines: list[RidgeInput], Y: Array, design: Design, parts: int, seed: int) -> list[tuple[float, float]]:
    """For parts of the rows, how many were learned from and what was explained."""
    if design.n < parts * _FEWEST_ROWS:
        return []
    label = design.folds(parts, seed)
    found = []
    for part in range(min(int(label.max()) + 1, _MOST_PARTS)):
        own = np.flatnonzero(label == part)
        few = [replace(one, rows=one.rows[own], known={}, sums={}) for one in machines]
        plan = planned(design.among(own), [one.size for one in few], Y.shape[1], seed, once=True)
        if plan is None or len(own) < _FEWEST_ROWS or not np.ptp(Y[own], axis=0).any():
            continue
        judged = measured(few, Y[own], plan, Y.shape[1])
        if judged[0].base.sum() > 0.0:
            found.append((float(judged[0].each[0].rows.mean()), float(pooled(judged)[0])))
    return found


def _slope(x: Array, y: Array, error: Array) -> tuple[float, float]:
    """Of a line weighted by 1 / error^2, and its standard error, wider where points lie off the line."""
    w = 1.0 / error**2
    centre = float(w @ x / w.sum())
    spread = float(w @ (x - centre) ** 2)
    slope = float(w @ ((x - centre) * y) / spread)
    off = y - float(w @ y / w.sum()) - slope * (x - centre)
    wider = max(1.0, float(w @ off**2) / (len(x) - 2)) if len(x) > 2 else 1.0
    return slope, float(np.sqrt(wider / spread))
