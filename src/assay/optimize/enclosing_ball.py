"""The smallest ball around points, with its proof.

    primal   min over c of  max_i |x_i - c|^2
    dual     max over weights a >= 0, sum a = 1, of  sum_i a_i |x_i - c_a|^2  with  c_a = sum_i a_i x_i

Any weights give a lower bound for every enclosing ball, any centre an upper one; where both meet, the ball is the
smallest. Points enter one by one, the farthest first, and the weights move to those of the sphere through the points
that carry them; a weight that falls to zero on the way leaves. The lower bound rises in every step, so no support comes
twice. At most d + 1 points carry weight, and only the search for the farthest touches all n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr, qr_delete, qr_insert, solve_triangular

from assay.arrays import Array
from assay.errors import DataError
from assay.optimize.validate import finite

_EPS = float(np.finfo(np.float64).eps)
_DEPENDENT = 1e-12  # a point nearer to the flat of the others than this share of its length lies in it
_PATIENCE = 10  # steps without progress, beyond the dimension, after which rounding is all that is left
_FRESH = 50  # updates after which the factor is made anew, before rounding adds up


@dataclass(frozen=True, slots=True, eq=False)
class Ball:
    """A ball and the proof that none smaller holds all points.

    Attributes:
        center: (d,), sum of weights times support points.
        radius: distance of the farthest point, so that no point lies outside.
        support: (m,) indices of the points that hold the ball, m <= d + 1, ascending.
        weights: (m,) not negative, of sum 1.
        lower_bound: no ball of smaller radius holds the support points; from the weights alone.
        gap: radius less lower bound.
        n_iter: points that entered the support.
        converged: whether the gap is down to rounding.
    """

    center: Array
    radius: float
    support: NDArray[np.intp]
    weights: Array
    lower_bound: float
    gap: float
    n_iter: int
    converged: bool


@dataclass(frozen=True, slots=True, eq=False)
class BallUnits:
    """Points moved and scaled so that squares can be formed: x = (y * spread + middle) * scale.

    Attributes:
        points: (n, d), every entry within -2 and 2.
        middle: (d,).
        spread: a power of two.
        scale: a power of two.
    """

    points: Array
    middle: Array
    spread: float
    scale: float

    @classmethod
    def of(cls, X: Array, *, origin: Literal["mean", "median"] = "mean") -> BallUnits:
        """Choose the power of two below the largest coordinate for the unit.

        Args:
            X: (n, d) points.
            origin: about the median a few far points take no digits from the others.

        >>> BallUnits.of(np.array([[1e8], [1e8 + 2.0]])).points.ravel()
        array([-1.,  1.])
        """
        scale = _power_of_two(X)
        Y = X / scale
        middle = Y.mean(axis=0) if origin == "mean" else np.median(Y, axis=0)
        Y -= middle
        spread = _power_of_two(Y)
        Y /= spread
        return cls(Y, middle, spread, scale)

    def place(self, y: Array) -> Array:
        """Where a point of these units lies in those of the data."""
        return (y * self.spread + self.middle) * self.scale

    def length(self, y: float) -> float:
        """A length of these units in those of the data."""
        return y * self.spread * self.scale


def enclosing_ball(points: ArrayLike, *, max_iter: int = 100_000) -> Ball:
    """Find the smallest ball that holds all points.

    Args:
        points: (n, d), finite, in any dimension.
        max_iter: most points that may enter the support.

    Returns:
        Ball, exact up to rounding.

    References:
        Wolfe, Finding the nearest point in a polytope, 1976; Fischer, Gaertner, Kutz, Fast smallest-enclosing-ball
        computation in high dimensions, 2003.

    >>> ball = enclosing_ball([[0.0, 0.0], [4.0, 0.0], [1.0, 1.0]])
    >>> ball.center.round(9), round(ball.radius, 9), ball.support
    (array([2., 0.]), 2.0, array([0, 1]))
    """
    X = finite(points, "points", 2)
    if not len(X):
        raise DataError("no points have no smallest ball: give at least one row.")
    units = BallUnits.of(X)
    Y = units.points
    squares = np.einsum("ij,ij->i", Y, Y)
    support = _Support(Y, int(np.argmax(squares)))
    noise = 8.0 * _EPS * np.sqrt(Y.shape[1] + 1.0) * float(squares.max())
    best, entered, patience = _Step(np.inf, *support.state), 0, len(support.center) + _PATIENCE
    while True:
        center, lower, weights, indices = support.state
        reach = squares - 2.0 * (Y @ center)
        farthest = int(np.argmax(reach))
        above = float(reach[farthest] + center @ center) - lower
        # near the end a step moves the centre by more than it visibly raises the bound
        patience = len(center) + _PATIENCE if above < best.above or lower > best.lower else patience - 1
        best = min(best, _Step(above, center, lower, weights, indices), key=_above)
        if above <= noise or farthest in indices or patience == 0 or entered == max_iter:
            break
        support.admit(farthest)
        entered += 1
    # rounding hides differences below the noise: among the points within it the farthest is found exactly
    reach = squares - 2.0 * (Y @ best.center)
    near = Y[reach >= reach.max() - 4.0 * noise] - best.center
    low = float(np.sqrt(best.lower))
    radius = max(float(np.sqrt(np.einsum("ij,ij->i", near, near).max())), low)
    order = np.argsort(best.indices)
    return Ball(
        units.place(best.center),
        units.length(radius),
        np.asarray(best.indices, dtype=np.intp)[order],
        best.weights[order],
        units.length(low),
        units.length(radius - low),
        entered,
        best.above <= 8.0 * noise,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """Where the search stood, and by how much the square of the farthest distance was above the bound."""

    above: float
    center: Array
    lower: float
    weights: Array
    indices: tuple[int, ...]


def _above(step: _Step) -> float:
    return step.above


class _Support:
    """The points that carry weight, and the factor of their lifted coordinates (1, x): independent, however placed."""

    _Q: Array
    _R: Array
    _updates: int

    def __init__(self, points: Array, first: int) -> None:
        self._points = points
        self.indices = [first]
        self.weights = np.ones(1)
        self._refresh()
        self._balance()

    @property
    def state(self) -> tuple[Array, float, Array, tuple[int, ...]]:
        """Centre, lower bound, weights and indices."""
        return self.center, self.lower, self.weights, tuple(self.indices)

    def admit(self, entering: int) -> None:
        """Let a point carry weight, and go to the ball of the support."""
        self._insert(entering)
        target = self._on_sphere()
        while target.min() < 0.0:
            shrinking = target < 0.0
            share = self.weights[shrinking] / (self.weights - target)[shrinking]
            leaving = np.flatnonzero(shrinking)[int(np.argmin(share))]
            self.weights = self.weights + float(share.min()) * (target - self.weights)
            self._drop(leaving)
            target = self._on_sphere()
        self.weights = target
        self._balance()

    def _insert(self, entering: int) -> None:
        column = self._lifted([entering])[:, 0]
        along, off = self._split(column)
        if float(np.linalg.norm(off)) <= _DEPENDENT * float(np.linalg.norm(column)):
            # a combination of the others: weight can pass to it at no curvature until one of them has none left
            mix = np.asarray(solve_triangular(self._R, along))
            giving = np.flatnonzero(mix > 0.0)
            share = self.weights[giving] / mix[giving]
            moved = float(share.min())
            self.weights = self.weights - moved * mix
            self._drop(int(giving[int(np.argmin(share))]))
            self.weights = np.append(np.maximum(self.weights, 0.0), moved)
        else:
            self.weights = np.append(self.weights, 0.0)
        self.indices.append(entering)
        if self._updates >= _FRESH:
            self._refresh()
            return
        self._keep(qr_insert(self._Q, self._R, column, self._R.shape[1], which="col", check_finite=False))

    def _drop(self, k: int) -> None:
        del self.indices[k]
        self.weights = np.delete(self.weights, k)
        self._keep(qr_delete(self._Q, self._R, k, which="col", check_finite=False))

    def _split(self, column: Array) -> tuple[Array, Array]:
        """Coordinates within the span of the support, and what is left outside; twice, for rounding's sake."""
        along = self._Q.T @ column
        off = column - self._Q @ along
        more = self._Q.T @ off
        return along + more, off - self._Q @ more

    def _on_sphere(self) -> Array:
        """Affine weights b of the centre of the sphere through the support, in its flat.

        With A the lifted columns, A^T A b = |x|^2 / 2 + s 1, and s is such that b has sum 1.
        """
        X = self._points[self.indices]
        u, v = self._normal(np.einsum("ij,ij->i", X, X) / 2.0), self._normal(np.ones(len(X)))
        return u + v * ((1.0 - float(u.sum())) / float(v.sum()))

    def _normal(self, side: Array) -> Array:
        """Solve A^T A x = side; one side at a time, for LAPACK starts threads for two, however small they are."""
        half = solve_triangular(self._R, side, trans="T", check_finite=False)
        return np.asarray(solve_triangular(self._R, half, check_finite=False))

    def _balance(self) -> None:
        """Centre and lower bound of the weights."""
        self.weights = self.weights / self.weights.sum()
        X = self._points[self.indices]
        self.center = self.weights @ X
        off = X - self.center
        self.lower = float(self.weights @ np.einsum("ij,ij->i", off, off))

    def _lifted(self, indices: list[int]) -> Array:
        X = self._points[indices]
        return np.vstack([np.ones(len(X)), X.T])

    def _refresh(self) -> None:
        self._updates = 0
        self._keep(qr(self._lifted(self.indices), mode="economic", check_finite=False))

    def _keep(self, factor: tuple[NDArray[Any], NDArray[Any]]) -> None:
        m = len(self.indices)  # a square factor stays square when a column leaves it
        self._Q, self._R = factor[0][:, :m], factor[1][:m]
        self._updates += 1


def _power_of_two(array: Array) -> float:
    """The power of two just below the largest modulus: dividing by it rounds nothing."""
    largest = max(float(array.max(initial=0.0)), -float(array.min(initial=0.0)))
    return float(np.ldexp(1.0, int(np.clip(np.frexp(largest)[1] - 1, -1022, 1023)))) if largest > 0.0 else 1.0
