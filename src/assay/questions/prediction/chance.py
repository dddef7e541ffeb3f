"""What the target reaches, and what targets reach that chance has drawn: the same procedure on the same splits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.evidence.design import Design
from assay.linalg.monte_carlo import Drawn, different, endless, monte_carlo
from assay.linalg.nested_ridge import NestedRidge, nested_ridge
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.regression_sums import RegressionSums
from assay.questions.prediction.plan import Plan

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

_FIRST = 199  # draws of the first stage
_ENOUGH = 100  # draws that did as well, after which p is known to a tenth of itself
_AT_ONCE = 1.2e7  # numbers of a batch of targets
_TIED = 1e-10  # of the share explained: a draw that leaves the target as it is differs by rounding


def measured(Z: Array, Y: Array, plan: Plan, strengths: Array) -> list[NestedRidge]:
    """Nested cross-validation of the target, for each repeat.

    Args:
        Z: (n, p) columns.
        Y: (n, g) the target, one column or one a class.
        plan: the splits.
        strengths: penalties to choose from.
    """
    return [
        nested_ridge(_sums(Z, Y, plan.parts(folds)), strengths, width=Y.shape[1], choice=plan.choice)
        for folds in plan.folds
    ]


def pooled(found: list[NestedRidge]) -> Array:
    """(t,) share explained, over all folds of all repeats."""
    errors, base = (np.sum([getattr(one, name).sum(axis=0) for one in found], axis=0) for name in ("errors", "base"))
    return np.asarray(1.0 - errors / base)


def by_chance(Z: Array, Y: Array, plan: Plan, strengths: Array, design: Design, ours: float, seed: int) -> Drawn[float]:
    """What drawn targets reach; draws end early where many do as well as the target.

    A batch shares every decomposition, so that a draw costs a few products.

    Args:
        Z, Y, plan, strengths: as in `measured`.
        design: draws the targets.
        ours: what the target itself reaches.
        seed: of the draws.
    """
    n, g = Y.shape
    rng = np.random.default_rng(seed)

    def reached(orders: list[Codes]) -> list[float]:
        every = Y[np.stack(orders, axis=1)].reshape(n, -1)
        found = [
            nested_ridge(_sums(Z, every, plan.parts(folds)), strengths, width=g, choice=plan.choice)
            for folds in plan.folds
        ]
        return [float(value) for value in pooled(found)]

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


def _sums(Z: Array, Y: Array, parts: list[Codes]) -> list[RegressionSums]:
    return [RegressionSums.of(Z[rows], Y[rows]) for rows in parts]
