"""The ball that holds most points, by descent over its centre.

    min over c, s of  P = s + C sum_i max(0, |x_i - c|^2 - s)                    s the squared radius

The hinge is smoothed over a width w: max(0, t) becomes (t + w)^2 / 4w for |t| < w. For any c the best s is where the
weights a_i = C clip((t_i + w) / 2w, 0, 1) sum to 1, and the slope in c is then 2 (c - sum_i a_i x_i). These weights are
a point of the dual too, so that each c comes with a proof of how good it is:

    D = sum_i a_i |x_i|^2 - |sum_i a_i x_i|^2 <= least P <= P(c)

The width shrinks until the gap P - D is within the tolerance.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from assay.errors import NotConverged
from assay.optimize.descent import gradient_descent
from assay.optimize.smo_start import feasible
from assay.optimize.validate import Array

_MOMENTUM = 0.9
_NARROWER = 0.25  # width of each stage as a share of the last one's
_STAGES = 30
_SETTLED = 1e-2  # share of the width that the slope must fall to before the width shrinks


@dataclass(frozen=True, slots=True, eq=False)
class BallDescent:
    """Where descent ended.

    Attributes:
        center: (d,).
        weights: (n,) a: of sum 1, from 0 to C.
        gap: P at the best radius for this centre less D, in squared units of the points.
        iterations: steps of descent.
        converged: whether the gap is within the tolerance.
    """

    center: Array
    weights: Array
    gap: float
    iterations: int
    converged: bool


def ball_by_descent(X: Array, C: float, *, tol: float = 1e-6, max_iter: int = 20_000) -> BallDescent:
    """Find the centre by gradient descent with momentum.

    Args:
        X: (n, d) points.
        C: price of a unit of squared distance outside, at least 1 / n.
        tol: largest duality gap, as a share of the mean squared distance to the mean.
        max_iter: most steps; beyond them a NotConverged warning is given.

    >>> ball = ball_by_descent(np.array([[0.0], [1.0], [4.0]]), 1.0)
    >>> ball.center.round(3)
    array([2.])
    """
    mean = X.mean(axis=0)
    unit = float(np.sqrt(np.mean(np.sum((X - mean) ** 2, axis=1)))) or 1.0
    points = _Points((X - mean) / unit, C)
    width, steps = 1.0, 0
    for _ in range(_STAGES):
        points.width = width
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)  # a stage that ends early is judged by the gap
            found = gradient_descent(
                points.value,
                points.slope,
                points.center,
                momentum=_MOMENTUM,
                tol=_SETTLED * width,
                max_iter=max(1, max_iter - steps),
            )
        points.center = found.x
        steps += found.iterations
        gap = points.gap()
        if gap <= tol or steps >= max_iter:
            break
        width *= _NARROWER
    if gap > tol:
        warnings.warn(
            f"descent stopped after {steps} steps with a duality gap of {gap:.2g} of the mean squared distance, "
            f"allowed was {tol:.2g}: raise max_iter or tol, or use the dual.",
            NotConverged,
            stacklevel=2,
        )
    weights = points.weights(points.center)
    return BallDescent(points.center * unit + mean, weights, gap * unit**2, steps, gap <= tol)


class _Points:
    """The smoothed problem at one width."""

    def __init__(self, Z: Array, C: float) -> None:
        self._Z, self._C = Z, C
        self._lengths = np.einsum("ij,ij->i", Z, Z)
        self.center = np.zeros(Z.shape[1])
        self.width = 1.0

    def value(self, c: Array) -> float:
        squares = self._squares(c)
        s = self._level(squares)
        t, w = squares - s, self.width
        near = np.clip(t + w, 0.0, 2.0 * w) ** 2 / (4.0 * w)
        return float(s + self._C * np.sum(np.where(t > w, t, near)))

    def slope(self, c: Array) -> Array:
        return 2.0 * (c - self.weights(c) @ self._Z)

    def weights(self, c: Array) -> Array:
        """(n,) feasible for the dual: of sum 1, from 0 to C."""
        squares = self._squares(c)
        rough = self._C * self._share(squares, self._level(squares))
        bound = np.full(len(rough), self._C)
        return feasible(rough, np.zeros(len(rough)), bound, 1.0)  # off by the rounding of the level only

    def gap(self) -> float:
        a, squares = self.weights(self.center), self._squares(self.center)
        image = a @ self._Z
        order = np.sort(squares)[::-1]
        s = order[min(int(1.0 / self._C), len(order) - 1)]  # as many rows outside as may be: the best level is a row's
        primal = s + self._C * float(np.maximum(squares - s, 0.0).sum())
        return float(primal - (a @ self._lengths - image @ image))

    def _squares(self, c: Array) -> Array:
        squares: Array = self._lengths - 2.0 * (self._Z @ c) + c @ c
        return squares

    def _share(self, squares: Array, s: float) -> Array:
        return np.clip((squares - s + self.width) / (2.0 * self.width), 0.0, 1.0)

    def _level(self, squares: Array) -> float:
        """The s at which the weights sum to 1: between two corners of a piecewise linear, falling function."""
        corners = np.sort(np.concatenate([squares - self.width, squares + self.width]))
        low, high = 0, len(corners) - 1
        while high - low > 1:
            half = (low + high) // 2
            if self._C * self._share(squares, corners[half]).sum() >= 1.0:
                low = half
            else:
                high = half
        left, right = (self._C * float(self._share(squares, corners[end]).sum()) for end in (low, high))
        if left <= right:
            return float(corners[low])
        return float(corners[low] + (corners[high] - corners[low]) * np.clip((left - 1.0) / (left - right), 0.0, 1.0))
