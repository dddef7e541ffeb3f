"""The ball that leaves some points outside, at a price by their squared distance, or by their distance.

    hinge    min over c, R of  R^2 + C sum_i max(0, |x_i - c|^2 - R^2)     dual  max sum a_i |x_i - c_a|^2
    linear   min over c, R of  R   + C sum_i max(0, |x_i - c| - R)         dual  max sum p_i.x_i,  sum p = 0

with weights 0 <= a_i <= C of sum 1, c_a = sum a_i x_i, and pulls p_i of length at most a_i. Both are convex. The first
is support vector data description; in the second a point outside pulls with force C, however far it is.

The way is a sequence of smoothed problems (`smoothed_ball`). Every candidate is judged by its duality gap, from weights
made feasible, so the gap is a proof whatever the way was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.models.anomaly.robust_svdd.smoothed_ball import stages
from assay.optimize.enclosing_ball import BallUnits, enclosing_ball
from assay.optimize.validate import finite

Loss: TypeAlias = Literal["linear", "hinge"]
Route: TypeAlias = Literal["interior", "window", "enclosing", "mean"]

_EXACT = 4e-15  # relative gap that only rounding is left of
_ROUGH = 1e-10  # smoothing, relative to the distances, that leaves a gap not worth measuring
_MORE = 2  # problems without a smaller gap, once it is within the tolerance, after which rounding is all that is left


@dataclass(frozen=True, slots=True, eq=False)
class RobustBall:
    """A ball with points outside, and how far it can be from the best.

    Attributes:
        center: (d,).
        radius: of the ball; at most 1 / C points lie outside.
        support: (m,) indices of points on the sphere, ascending.
        outside: indices of points outside, ascending.
        weights: (n,) between 0 and C, 0 inside, C outside; of sum 1, or less where the radius is 0. At the linear loss
            they are the lengths of the pulls.
        objective: the value at this centre and radius.
        gap: objective less a lower bound for every ball.
        kkt_residual: largest violation of stationarity (the pulls sum to zero) and of slackness (weights between the
            bounds on the sphere alone), relative to the sizes of pulls and objective.
        n_iter: steps of Newton's method.
        converged: whether the gap is within the tolerance.
        route: "interior"; "window" where points far inside were left out; "enclosing" where none may be outside; "mean"
            where the mean proved best at once.
    """

    center: Array
    radius: float
    support: NDArray[np.intp]
    outside: NDArray[np.intp]
    weights: Array
    objective: float
    gap: float
    kkt_residual: float
    n_iter: int
    converged: bool
    route: Route


def robust_ball(
    points: ArrayLike, C: float, *, loss: Loss = "linear", tol: float = 1e-8, max_iter: int = 100
) -> RobustBall:
    """Find the ball that balances its radius with the distances of what lies outside.

    Args:
        points: (n, d), finite.
        C: price of a unit of distance (or squared distance) outside. With C = 1 / (nu n) at most a share nu of the
            points lies outside. C >= 1 gives the smallest enclosing ball, C <= 1 / n radius zero about the mean
            (hinge) or the geometric median (linear).
        loss: "linear" in the distance, or "hinge", linear in the squared distance.
        tol: largest duality gap, relative to the objective.
        max_iter: most steps of Newton's method.

    Returns:
        RobustBall.

    References:
        Tax & Duin, Machine Learning 54, 2004; Chen & Mangasarian, Computational Optimization and Applications 5, 1996.

    >>> ball = robust_ball([[-1.0], [0.0], [1.0], [2.0], [90.0]], 0.4)
    >>> ball.center.round(6), round(ball.radius, 6), ball.outside
    (array([1.]), 1.0, array([0, 4]))
    """
    X = finite(points, "points", 2)
    if loss not in get_args(Loss):
        raise ParameterError(f"loss is one of {', '.join(get_args(Loss))}; got {loss!r}")
    if not (np.isfinite(C) and C > 0.0):
        raise ParameterError(f"C is a price above zero; got {C!r}")
    if not X.size:
        raise DataError(f"a ball needs points: give at least one row and one column; got shape {X.shape}.")
    units = BallUnits.of(X, origin="median")
    rows, basis = _coordinates(units.points)
    task = _Points(rows, float(C), squared=loss == "hinge")
    best, steps, route = _search(task, tol, max_iter)
    return _described(best, task, units, basis, tol, steps, route)


def _search(points: _Points, tol: float, max_iter: int) -> tuple[_Candidate, int, Route]:
    rows, C, n = points.rows, points.C, points.rows.shape[1]
    best = points.judge(rows.mean(axis=1), np.full(n, 1.0 / n))
    if best.gap == 0.0 or (points.squared and C * n <= 1.0):
        return best, 0, "mean"
    if C >= 1.0:
        ball = enclosing_ball(rows.T)
        a = np.zeros(n)
        a[ball.support] = ball.weights
        return points.judge(ball.center, a), ball.n_iter, "enclosing"
    best, steps, part = _along_stages(points, best, tol, max_iter, part=True)
    if part and best.gap > tol * best.value and steps < max_iter:  # a row was left out that mattered
        best, more, _ = _along_stages(points, best, tol, max_iter - steps, part=False)
        return best, steps + more, "interior"
    return best, steps, "window" if part else "interior"


def _along_stages(
    points: _Points, best: _Candidate, tol: float, max_iter: int, *, part: bool
) -> tuple[_Candidate, int, bool]:
    """The best candidate, the steps taken, and whether rows were left out."""
    rows, more, steps, left_out = points.rows, _MORE, 0, False
    rough = _ROUGH * float(best.f.mean())
    start = best.c if points.squared else np.median(rows, axis=1)
    for stage in stages(rows, points.C, points.squared, start, max_iter, part=part):
        steps, left_out = stage.steps, stage.part
        if stage.mu > rough and steps < max_iter:
            continue
        now = points.judge(stage.c, stage.a)
        if not points.squared and now.f.min() <= 1e-2 * now.value:
            now = now.better(_at_nearest(points, now))
        more -= best.gap <= min(tol * best.value, 2.0 * now.gap)
        best = best.better(now)
        if best.gap <= _EXACT * best.value or more == 0:
            break
    return best, steps, left_out


def _at_nearest(points: _Points, near: _Candidate) -> _Candidate:
    """The ball about the point nearest to the centre: where nothing has a slope the best may be a point of many."""
    c = points.rows[:, int(np.argmin(near.f))]
    away = (points.rows != c[:, None]).any(axis=0)
    rest = max(1.0 - points.C * int(away.sum()), 0.0) / max(int((~away).sum()), 1)
    return points.judge(c, np.where(away, points.C, rest))


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A centre with its best radius, and weights made feasible with their bound.

    Attributes:
        c: (d,) centre.
        f: (n,) distances to it, squared for the hinge loss; r, value and bound are in that measure too.
        r: the best radius.
        value: the objective.
        a: (n,) weights.
        bound: no objective is below.
        pull: how far the weights were from balance, before they were made feasible; relative.
    """

    c: Array
    f: Array
    r: float
    value: float
    a: Array
    bound: float
    pull: float

    @property
    def gap(self) -> float:
        """How far the value can be above the smallest."""
        return max(self.value - self.bound, 0.0)

    def better(self, other: _Candidate) -> _Candidate:
        """The one of smaller gap."""
        return other if other.gap < self.gap else self


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """The problem.

    Attributes:
        rows: (d, n), one point in each column.
        C: price of a unit outside.
        squared: whether it is paid for squared distances, at the hinge loss, or for distances, at the linear one.
    """

    rows: Array
    C: float
    squared: bool

    @property
    def leaving(self) -> int:
        """How many points k at least have weight: k C >= 1."""
        return int(np.ceil((1.0 - 1e-12) / self.C))  # 1 / C is often a whole number but for rounding

    def lengths(self, c: Array) -> Array:
        """(n,) distances to a centre, squared for the hinge loss."""
        off = self.rows - c[:, None]
        squares = np.einsum("dn,dn->n", off, off)
        return np.asarray(squares if self.squared else np.sqrt(squares))

    def radius(self, f: Array) -> float:
        """The best radius for distances: the k-th largest; zero where there are not so many."""
        k = self.leaving
        return float(np.partition(f, f.size - k)[f.size - k]) if k <= f.size else 0.0

    def objective(self, f: Array, r: float) -> float:
        """What is minimised, for distances and a radius."""
        return r + self.C * float(np.maximum(f - r, 0.0).sum())

    def judge(self, c: Array, a: Array) -> _Candidate:
        """Judge a centre by weights (n,)."""
        off = self.rows - c[:, None]
        f = np.einsum("dn,dn->n", off, off)
        f = f if self.squared else np.sqrt(f)
        bound, pull, a = _hinge_bound(off, f, a, self.C) if self.squared else _linear_bound(off, f, a, self.C)
        r = self.radius(f)
        return _Candidate(c, f, r, self.objective(f, r), a, bound, pull)


def _feasible(a: Array, C: float) -> Array:
    """Weights within 0 and C of sum 1, or all C where that is less."""
    a = np.clip(a, 0.0, C)
    total, room = float(a.sum()), C * a.size - float(a.sum())
    if total >= 1.0:
        return np.asarray(a / total)
    return np.asarray(a + (C - a) * min(1.0, (1.0 - total) / room)) if room > 0.0 else a


def _hinge_bound(off: Array, f: Array, a: Array, C: float) -> tuple[float, float, Array]:
    """Sum a_i |x_i - c_a|^2, how far c_a is from c relative to the distances, and the weights, made feasible."""
    a = _feasible(a, C)
    shift, size = off @ a, float(a @ np.sqrt(f))
    bound = float(a @ f) - float(shift @ shift) / float(a.sum())
    return bound, float(np.linalg.norm(shift)) / size if size > 0.0 else 0.0, a


def _linear_bound(off: Array, f: Array, a: Array, C: float) -> tuple[float, float, Array]:
    """Sum p_i.(x_i - c) of pulls made to sum to zero and keep to their lengths, what their sum was, and the lengths."""
    held = np.flatnonzero((a > 0.0) | (f == 0.0))
    off, f, pulling = off[:, held], f[held], np.minimum(a[held], C)
    p = off * np.divide(pulling, f, out=np.zeros_like(f), where=f > 0.0)
    here = np.flatnonzero(f == 0.0)  # rows at the centre pull any way, and balance the others as far as they can
    if here.size:
        rest = p.sum(axis=1)
        p[:, here] = -(rest / max(here.size, float(np.linalg.norm(rest)) / C))[:, None]
    rest = p.sum(axis=1)
    p -= rest[:, None] * (pulling / pulling.sum())
    lengths = np.sqrt(np.einsum("dn,dn->n", p, p))
    excess = max(float(lengths.max()) / C, float(lengths.sum())) or 1.0  # nothing pulls: the bound is zero
    a = np.zeros_like(a)
    a[held] = lengths / excess
    return float(np.einsum("dn,dn->", p, off)) / excess, float(np.linalg.norm(rest)), a


def _on_sphere(f: Array, r: float, a: Array, C: float) -> NDArray[np.bool_]:
    """Which rows lie on the sphere: those whose weight is farther from its bounds than they are from the sphere.

    Args:
        f: (n,) distances, or squared.
        r: of the sphere, in the same measure.
        a: (n,) weights.
        C: the largest weight.

    >>> _on_sphere(np.array([1.0, 2.0, 3.0]), 2.0, np.array([0.0, 0.3, 0.5]), 0.5)
    array([False,  True, False])
    """
    size = max(r, float(np.abs(f - r).max()) * np.finfo(np.float64).eps)
    weight = np.where(f < r, a, C - a) / C
    return np.asarray(np.abs(f - r) <= np.maximum(weight, 0.0) * size)


def _coordinates(Y: Array) -> tuple[Array, Array | None]:
    """(d, n) coordinates of the points, and the basis they refer to where there are more columns than points."""
    if Y.shape[1] <= Y.shape[0]:
        return np.ascontiguousarray(Y.T), None
    basis, rows = qr(Y.T, mode="economic", check_finite=False)
    return np.asarray(rows, dtype=np.float64), np.asarray(basis, dtype=np.float64)


def _described(
    best: _Candidate, points: _Points, units: BallUnits, basis: Array | None, tol: float, steps: int, route: Route
) -> RobustBall:
    C, squared = points.C, points.squared
    support = _on_sphere(best.f, best.r, best.a, C)
    # rounding leaves no point of the sphere outside, unless that costs more than rounding
    r = max(best.r, float(best.f[support].max(initial=0.0)))
    r = r if points.objective(best.f, r) - best.bound <= max(2.0 * best.gap, _EXACT * best.value) else best.r
    value = points.objective(best.f, r)
    gap = max(value - best.bound, 0.0)
    slackness = np.maximum(best.a * np.maximum(r - best.f, 0.0), (C - best.a) * np.maximum(best.f - r, 0.0)).max()
    unit = units.length(1.0)
    square = unit if squared else 1.0  # in two factors: the square of a unit may overflow
    return RobustBall(
        units.place(best.c if basis is None else basis @ best.c),
        units.length(float(np.sqrt(r)) if squared else r),
        np.flatnonzero(support),
        np.flatnonzero(best.f > r),
        best.a,
        value * unit * square,
        gap * unit * square,
        max(best.pull, float(slackness) / value if value > 0.0 else 0.0),
        steps,
        gap <= tol * value,
        route,
    )
