"""Whether one rule does better than another on the same unseen rows, and the simplest that no other beats.

gain      mean of (e_i - f_i) / mean of b_i: the fall of squared errors, as a share of the deviations from the mean
error     of the mean over blocks of rows that depend on each other; the interval takes Student's 97.5% point
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from assay.arrays import Array, Indices
from assay.questions.prediction.machines import KINDS, Kind

LEAST = 0.01  # of the variance: what is less than that is no reason for a rule that is harder to read


@dataclass(frozen=True, slots=True)
class Gain:
    """How much better a rule does than another.

    Attributes:
        value: share of the squared deviations.
        low, high: 95% interval.
    """

    value: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether it is surely there, and worth speaking of."""
        return self.low > 0.0 and self.value >= LEAST


def gain(errors: Array, others: Array, base: Array, blocks: Indices) -> Gain:
    """What others save of squared errors.

    Args:
        errors: (m,) of one rule.
        others: (m,) of the other.
        base: (m,) of the mean.
        blocks: (m,) number of the block of each row, from 0: rows of one depend on each other.
    """
    m, count, whole = len(errors), int(blocks.max()) + 1, float(base.mean())
    if whole == 0.0 or count < 2:
        return Gain(0.0, -np.inf, np.inf)
    saved = (errors - others) / whole
    value = float(saved.mean())
    spread = float(np.sqrt(count / (count - 1.0) * (np.bincount(blocks, saved - value, count) ** 2).sum()) / m)
    reach = float(stdtrit(count - 1, 0.975)) * spread
    return Gain(value, value - reach, value + reach)


@dataclass(frozen=True, slots=True, eq=False)
class ByKind:
    """Rows as each kind of machine predicts them, had it been the only one; of classes their probabilities.

    Attributes:
        errors: by kind (m,) squared error.
        base: (m,) squared deviation from the mean, or the shares of classes.
        reached: by kind the share of the squared deviations explained; of classes the share of the rows called right.
    """

    errors: dict[Kind, Array]
    base: Array
    reached: dict[Kind, float]


def by_kind(guess: dict[Kind, Array], Y: Array, base: Array, *, classes: bool) -> ByKind:
    """Compare kinds of machines.

    Args:
        guess: by kind (m, q) what unseen rows are predicted to be.
        Y: (m, q) what they are.
        base: (m,) squared deviation from the mean of the rows learned from.
        classes: whether the target has classes.
    """
    if classes:
        truth = np.eye(Y.shape[1])[Y.argmax(axis=1)]
        errors = {kind: ((truth - new) ** 2).sum(axis=1) for kind, new in guess.items()}
        right = {kind: float((new.argmax(axis=1) == Y.argmax(axis=1)).mean()) for kind, new in guess.items()}
        return ByKind(errors, ((truth - truth.mean(axis=0)) ** 2).sum(axis=1), right)
    errors = {kind: ((Y - new) ** 2).sum(axis=1) for kind, new in guess.items()}
    whole = float(base.sum())
    return ByKind(
        errors, base, {kind: 1.0 - float(off.sum()) / whole if whole else 0.0 for kind, off in errors.items()}
    )


def simplest(found: ByKind, blocks: Indices) -> Kind:
    """The simplest kind of machine that no less simple one surely beats.

    Args:
        found: errors of the rows judged.
        blocks: (m,) number of the block of each row.
    """
    asked = [kind for kind in KINDS if kind in found.errors]
    for place, kind in enumerate(asked):
        after = asked[place + 1 :]
        if not any(gain(found.errors[kind], found.errors[other], found.base, blocks).sure for other in after):
            return kind
    return asked[-1]
