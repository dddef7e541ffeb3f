"""What the target reaches, and what targets reach that chance has drawn: the same procedure on the same splits.

The procedure: in each fold the penalty of each machine is chosen among the rows learned from, and so is the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Indices
from assay.asking.telling import Telling, untold
from assay.evidence.design import Design
from assay.linalg.noise.monte_carlo import Drawn, different, endless, monte_carlo
from assay.linalg.one_thread import one_blas_thread
from assay.questions.prediction.machines import RidgeInput
from assay.questions.prediction.nested_ridge import NestedRidge, nested_ridge, simplest_least
from assay.questions.prediction.plan import JudgingPlan

_FIRST = 199  # draws of the first stage
_ENOUGH = 100  # draws that did as well, after which p is known to a tenth of itself
_AT_ONCE = 2e7  # numbers of a batch of targets
_TIED = 1e-10  # of the share explained: a draw that leaves the target as it is differs by rounding


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRepeat:
    """One repeat of the folds, for t targets.

    Attributes:
        each: of every machine.
        machine: (folds, t) number of the one chosen.
    """

    each: list[NestedRidge]
    machine: Indices

    @property
    def errors(self) -> Array:
        """(folds, t) squared errors of the machines chosen."""
        stacked = np.stack([one.errors for one in self.each])
        return np.asarray(np.take_along_axis(stacked, self.machine[None], axis=0)[0])

    @property
    def base(self) -> Array:
        """(folds, t) those of the mean of the rows learned from."""
        return self.each[0].base

    def best_of(self, numbers: list[int]) -> Indices:
        """(folds, t) the number of the machine chosen among some of them."""
        return np.asarray(numbers, dtype=np.intp)[simplest_least([self.each[k] for k in numbers])]


def measured(machines: list[RidgeInput], Y: Array, plan: JudgingPlan, width: int) -> list[JudgedRepeat]:
    """Nested cross-validation of targets, for each repeat.

    Args:
        machines: what they are predicted with, the simplest first.
        Y: (n, t width) the targets.
        plan: the splits.
        width: columns of one target, one or as many as classes.
    """
    found = []
    for repeat in range(len(plan.folds)):
        parts = plan.parts(repeat)
        each = [
            nested_ridge(
                one.sums_of(Y, parts, repeat), one.strengths, width, choice=plan.choice, known=one.known_of(repeat)
            )
            for one in machines
        ]
        found.append(JudgedRepeat(each, simplest_least(each)))
    return found


def pooled(found: list[JudgedRepeat]) -> Array:
    """(t,) share explained, over all folds of all repeats."""
    errors, base = (np.sum([getattr(one, name).sum(axis=0) for one in found], axis=0) for name in ("errors", "base"))
    # a target that does not vary leaves nothing to explain
    return np.asarray(1.0 - np.divide(errors, base, out=np.ones_like(base), where=base > 0.0))


def explained_by(found: list[JudgedRepeat], numbers: list[int]) -> float:
    """Share of the first target explained by some of the machines alone."""
    chosen = [
        JudgedRepeat([one.each[k] for k in numbers], simplest_least([one.each[k] for k in numbers])) for one in found
    ]
    return float(pooled(chosen)[0])


def by_chance(
    machines: list[RidgeInput],
    Y: Array,
    plan: JudgingPlan,
    design: Design,
    ours: float,
    seed: int,
    tell: Telling = untold,
) -> Drawn[float]:
    """What drawn targets reach; draws end early where many do as well as the target.

    A batch shares every decomposition, so that a draw costs a few products.

    Args:
        machines: as in `measured`.
        Y: (n, g) the target, one column or one a class.
        plan: the splits.
        design: draws the targets.
        ours: what the target itself reaches.
        seed: of the draws.
        tell: told which share of them is made.
    """
    n, g = Y.shape
    rng = np.random.default_rng(seed)

    def reached(orders: list[Indices]) -> list[float]:
        every = Y[np.stack(orders, axis=1)].reshape(n, -1)
        values = [float(value) for value in pooled(measured(machines, every, plan, g))]
        nonlocal made
        made += len(values)
        tell("what chance does", made / plan.draws)
        return values

    made = 0
    tell("what chance does", 0.0)
    orders = endless(lambda: design.drawn(rng))
    source = orders if design.kind == "independent" else different(orders)
    with one_blas_thread():  # many small products, which threads only hinder
        return monte_carlo(
            source,
            reached,
            _stages(plan.draws, int(_AT_ONCE / (n * g))),
            reaches=lambda value: value >= ours - _TIED,
            enough=_ENOUGH,
        )


def _stages(draws: int, most: int) -> Iterator[int]:
    size = max(1, min(_FIRST, most))
    while draws > 0:
        yield min(size, draws)
        draws -= size
        size = max(1, min(2 * size, most))
