"""How good is a ball with points outside: its objective, and a bound below every objective, from weights made feasible.

hinge    R^2 + C sum_i max(0, |x_i - c|^2 - R^2)  >=  sum a_i |x_i - c_a|^2,   0 <= a_i <= C of sum 1
linear   R + C sum_i max(0, |x_i - c| - R)        >=  sum p_i.(x_i - c),       |p_i| <= C, sum |p_i| <= 1, sum p = 0
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
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

    def better(self, other: Candidate) -> Candidate:
        """The one of smaller gap."""
        return other if other.gap < self.gap else self


@dataclass(frozen=True, slots=True, eq=False)
class Points:
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

    def judge(self, c: Array, a: Array, p: Array | None = None) -> Candidate:
        """Judge a centre by weights (n,), and by pulls (d, n) where they are known; else these point to the rows."""
        f = self.lengths(c)
        off = self.rows - c[:, None]
        bound, pull, a = _hinge_bound(off, f, a, self.C) if self.squared else _linear_bound(off, f, a, self.C, p)
        r = self.radius(f)
        return Candidate(c, f, r, self.objective(f, r), a, bound, pull)


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


def _linear_bound(off: Array, f: Array, a: Array, C: float, p: Array | None) -> tuple[float, float, Array]:
    """Sum p_i.(x_i - c) of pulls made to sum to zero and keep to their lengths, what their sum was, and the lengths."""
    a = np.clip(a, 0.0, C)
    if p is None:
        p = off * np.divide(a, f, out=np.zeros_like(f), where=f > 0.0)
        here = np.flatnonzero(f == 0.0)  # rows at the centre pull any way, and balance the others as far as they can
        rest = p.sum(axis=1)
        p[:, here] = -(rest / max(here.size, 1.0, float(np.linalg.norm(rest)) / C))[:, None]
    rest = p.sum(axis=1)
    p = p - np.outer(rest, a / a.sum())
    lengths = np.sqrt(np.einsum("dn,dn->n", p, p))
    excess = max(float(lengths.max()) / C, float(lengths.sum()))
    if excess == 0.0:
        return 0.0, 0.0, lengths
    return float(np.einsum("dn,dn->", p, off)) / excess, float(np.linalg.norm(rest)), lengths / excess
