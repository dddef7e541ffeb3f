"""Descent of a layout of points: momentum with restarts, gains, stages of exaggeration, and a record of how it went.

    step_t = momentum step_{t-1} - rate gains * gradient(Y_t)        Y_{t+1} = Y_t + step_t, then centred

A gain grows while the gradient keeps pointing along the way and shrinks when it turns (Jacobs, Neural Networks 1988).
When the last step led uphill as a whole, momentum is dropped (O'Donoghue, Candes, Foundations of Computational
Mathematics 2015): without that, a momentum that brings 10,000 points home throws 100 apart.
The cost is a divergence KL(P || Q(Y)); an exaggerated stage multiplies P by a factor, so that groups gather first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.optimize.validate import finite

Callback: TypeAlias = Callable[[int, float, Array], bool | None]

LONGEST = 2.0  # a step of one point; the kernels are of width 1, so a longer one has left what its gradient knew


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where the descent of a layout ended.

    Attributes:
        coordinates: (n, q), centred.
        kl: the divergence there, in nats, against P as it was given.
        kl_history: (m, 2) iteration and divergence, where it was looked at.
        n_iter: how many steps were taken.
        converged: whether a tolerance ended it, rather than the number of steps or the callback.
        route: how repulsion was summed: "exact" or "grid".
    """

    coordinates: Array
    kl: float
    kl_history: Array
    n_iter: int
    converged: bool
    route: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the way.

    Attributes:
        until: the iteration at which it ends.
        exaggeration: factor of P.
        momentum: share of the last step added to the next.
        rate: step per unit of gradient.
    """

    until: int
    exaggeration: float
    momentum: float
    rate: float


class Objective(Protocol):
    """What is descended."""

    route: str

    def gradient(self, Y: Array, exaggeration: float) -> Array:
        """The gradient of the cost at (n, q) positions with P multiplied; overwritten by the next call."""

    def cost(self, Y: Array) -> float:
        """The divergence at the positions the gradient was taken at last, with P as it is."""


def descend(
    objective: Objective,
    start: Array,
    stages: Sequence[Stage],
    *,
    tol: float,
    look_every: int,
    callback: Callback | None = None,
    judge: Objective | None = None,
) -> Layout:
    """Walk downhill from a start through the stages.

    Args:
        objective: the cost.
        start: (n, q) positions; not changed.
        stages: in order.
        tol: in the last stage, stop when the divergence changed by no more than this share of itself (or of .1, if that
            is more) since the last look.
        look_every: iterations between looks at the divergence.
        callback: called at each look as callback(iteration, divergence, positions); True stops.
        judge: tells the divergence at the end, where it can do so better than the objective descended.

    Returns:
        Layout.
    """
    from assay.optimize.layout import _layout_kernels as kernels

    Y = np.array(start, dtype=np.float64, order="C")
    kernels.centre(Y)
    step, gains = np.zeros_like(Y), np.ones_like(Y)
    history: list[tuple[int, float]] = []
    iteration, converged, stopped = 0, False, False
    for stage in stages:
        last, begun = stage is stages[-1], iteration
        while iteration < stage.until and not (converged or stopped):
            gradient = objective.gradient(Y, stage.exaggeration)
            if iteration and iteration % look_every == 0:
                cost = _finite(objective.cost(Y), iteration)
                history.append((iteration, cost))
                stopped = callback is not None and bool(callback(iteration, cost, Y.copy()))
                # the look before must be of this stage too
                converged = last and not stopped and iteration - begun >= 2 * look_every and _settled(history, tol)
                if converged or stopped:
                    break
            kernels.advance(Y, gradient, step, gains, stage.rate, stage.momentum, LONGEST)
            kernels.centre(Y)
            iteration += 1
    judge = objective if judge is None else judge
    judge.gradient(Y, 1.0)
    history = [look for look in history if look[0] != iteration]
    history.append((iteration, _finite(judge.cost(Y), iteration)))
    return Layout(Y, history[-1][1], np.array(history), iteration, converged, objective.route)


def _settled(history: list[tuple[int, float]], tol: float) -> bool:
    if len(history) < 2:
        return False
    before, now = history[-2][1], history[-1][1]
    return abs(before - now) <= tol * max(now, 0.1)


def _finite(cost: float, iteration: int) -> float:
    if not np.isfinite(cost):
        raise DataError(f"the layout left the numbers at iteration {iteration}; lower learning_rate")
    return cost


def checked_start(start: ArrayLike) -> Array:
    """(n, q) positions with q = 1, 2 or 3.

    >>> checked_start([[0.0, 1.0]]).shape
    (1, 2)
    """
    positions = finite(start, "start", 2)
    if positions.shape[1] not in (1, 2, 3):
        raise ParameterError(f"a layout has 1, 2 or 3 dimensions; got {positions.shape[1]}")
    return positions


def nothing_to_learn(positions: Array) -> Layout:
    """The layout of one or two points, which any positions fit.

    >>> nothing_to_learn(np.array([[0.0], [2.0]])).coordinates.ravel()
    array([-1.,  1.])
    """
    return Layout(positions - positions.mean(axis=0), 0.0, np.zeros((1, 2)), 0, True, "exact")


def checked_affinities(P: Any, n: int, total: float = 1.0) -> None:
    """Refuse what is not a sparse (n, n) matrix of affinities.

    >>> checked_affinities(sparse.csr_array([[0.0, 0.5], [0.5, 0.0]]), 2)
    """
    if getattr(P, "format", None) != "csr" or P.shape != (n, n):
        raise DataError(f"affinities of {n} points are a CSR matrix of shape ({n}, {n}); got {getattr(P, 'shape', P)}")
    values: Array = P.data
    if len(values) and not (np.isfinite(values).all() and values.min() >= 0):
        raise DataError("affinities must be finite and not negative")
    if n > 1 and not abs(float(values.sum()) - total) < 1e-6 * total:
        raise DataError(f"affinities must sum to {total:g}; they sum to {float(values.sum()):g}. Divide by their sum")


def sparse_parts(P: sparse.csr_array) -> tuple[Any, Any, Any]:
    """Row starts, columns and values as the kernels take them; values in single precision, half the traffic."""
    return P.indptr.astype(np.int64), P.indices.astype(np.int32), P.data.astype(np.float32)


def plogp(P: sparse.csr_array) -> float:
    """The sum of p log p over the entries.

    >>> plogp(sparse.csr_array([[0.0, 1.0]]))
    0.0
    """
    p = P.data[P.data > 0]
    return float(np.sum(p * np.log(p)))


def by_axis(Y: Array) -> Array:
    """(3, n) coordinates by axis, zeros where there are fewer than three.

    >>> by_axis(np.array([[1.0], [2.0]]))[:2]
    array([[1., 2.],
           [0., 0.]])
    """
    axes = np.zeros((3, len(Y)))
    axes[: Y.shape[1]] = Y.T
    return axes
