"""Bellman's equation of a finite decision process, solved with a bound on the distance from the optimum.

    v(s) = max_a q(s, a)      q(s, a) = r(s, a) + discount sum_t p(t | s, a) v(t)      v (n,), q (m,) for m pairs

A state without actions ends the process: its value is given. Let T v be the right side and d = T v - v, with the change
0 of ends counted. Then (MacQueen 1966; Puterman 1994, 6.6)

    T v + discount/(1 - discount) min d  <=  v*  <=  T v + discount/(1 - discount) max d,

so that a small span of d is enough to stop. With discount 1, where every choice of actions ends, |v* - v| <= max|d| w
for any w >= 1 + max_a sum_t p(t) w(t), the longest expected time to the end. The bound counts what floating point adds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import bicgstab, splu

from assay.arrays import Array, Whole
from assay.errors import DataError
from assay.optimize.team import Team

Called: TypeAlias = Callable[[int, Array], object]

_EPS = float(np.finfo(np.float64).eps)
_DIRECT = 2000  # up to so many states a factorisation costs nothing
_THREADED = 20_000  # below so many transitions threads cost more than they gain
_REFINED = 5  # Krylov solutions of what is left
_CLOSE = 1e-12  # a violation of so much of the values is taken, otherwise factors are made
_SHARE = 4096  # states of a task at least
_FEW = 1.3  # pairs for each state: so few need no sieve
_STAY = 0.8  # share of the pairs that may stay for a sieve to be worth its copy
_GAIN = 0.3  # sweeps of one policy end once they have made the span so much smaller


@dataclass(frozen=True, slots=True, eq=False)
class Process:
    """A finite decision process as arrays.

    Attributes:
        first: (n + 1,) the pairs of state s are first[s] .. first[s + 1] - 1; none where the process ends.
        start: (m + 1,) the transitions of pair i are start[i] .. start[i + 1] - 1.
        after: (z,) the state that each leads to.
        p: (z,) its probability, above 0; those of a pair sum to 1.
        r: (m,) expected reward of each pair.
        final: (n,) value of each state in which the process ends; 0 elsewhere.
        discount: from 0 to 1.
    """

    first: Whole
    start: Whole
    after: NDArray[np.int32]
    p: Array
    r: Array
    final: Array
    discount: float

    @property
    def n(self) -> int:
        """How many states there are."""
        return len(self.final)

    @property
    def ends(self) -> NDArray[np.bool_]:
        """(n,) whether the process ends in a state."""
        return np.asarray(np.diff(self.first) == 0)

    @property
    def owner(self) -> Whole:
        """(m,) the state of each pair."""
        return np.repeat(np.arange(self.n), np.diff(self.first))


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """Values of a process, and how far they may be from the best.

    Attributes:
        values: (n,) of the states.
        pair_values: (m,) of the pairs.
        chosen: (n,) the pair chosen in each state, the first of equally good ones; -1 where the process ends.
        residual: largest violation of Bellman's equation.
        distance: bound on the distance of any value from the optimum.
        rounding: what floating point may have added to a value of a pair.
        n_iter: iterations.
        converged: whether the tolerance was met.
    """

    values: Array
    pair_values: Array
    chosen: Whole
    residual: float
    distance: float
    rounding: float
    n_iter: int
    converged: bool


def value_iteration(process: Process, *, tol: float = 1e-9, max_iter: int = 100_000) -> Solved:
    """Apply T until the span of the change shows that the values are near the best.

    Args:
        process: what is to be solved.
        tol: largest distance from the optimum, as a share of the largest reward.
        max_iter: most applications.

    >>> one, p, r, end = np.array([0, 1]), np.array([1.0]), np.array([3.0]), np.array([0.0])
    >>> stay = Process(one, one, np.array([0], np.int32), p, r, end, 0.5)
    >>> value_iteration(stay).values
    array([6.])
    """
    return _iterate(process, tol, max_iter, sweeps=0)


def modified_policy_iteration(
    process: Process, *, tol: float = 1e-9, max_iter: int = 100_000, sweeps: int = 50
) -> Solved:
    """Value iteration with sweeps of the policy found in between, which cost a share of T.

    Args:
        process: what is to be solved.
        tol: largest distance from the optimum, as a share of the largest reward.
        max_iter: most applications of T.
        sweeps: most sweeps between two of them; fewer once they have done their work.
    """
    return _iterate(process, tol, max_iter, sweeps)


def policy_iteration(
    process: Process, *, chosen: Whole | None = None, max_iter: int = 1000, callback: Called | None = None
) -> Solved:
    """Solve for the values of a policy, take the best actions, until none is better.

    Args:
        process: what is to be solved.
        chosen: (n,) the pair to begin with in each state; the best at once when not given.
        max_iter: most policies.
        callback: called with the number of each policy and its values.
    """
    unit, process = scaled(process)
    bound = _Bound.of(process)
    with _Backups(process) as backups:
        if chosen is None:
            chosen = backups.best(process.final, np.zeros(process.n, np.int64), 0.0, keep=False)[1]
        v, converged, n_iter = process.final, False, 0
        while not converged and n_iter < max_iter:
            n_iter += 1
            v = policy_values(process, *policy_rows(process, chosen), guess=v)
            if callback is not None:
                callback(n_iter, unscaled(v, unit))
            old = chosen
            # what rounding may add to the solution is multiplied by the condition of its equations
            slack = bound.rounding(v) * bound.steps
            _, chosen, _ = backups.best(v, old.copy(), slack, keep=True)
            converged = bool(np.array_equal(old, chosen))
        return _judged(backups, bound, v, np.inf, n_iter, converged, unit)


def policy_rows(process: Process, chosen: Whole) -> tuple[sparse.csr_array, Array]:
    """The transitions (n, n) and rewards (n,) of the chosen pairs; an end has no transitions and its final value."""
    going = np.flatnonzero(chosen >= 0)
    pairs = chosen[going]
    sizes = np.zeros(process.n, np.int64)
    sizes[going] = process.start[pairs + 1] - process.start[pairs]
    begin = np.concatenate([[0], np.cumsum(sizes)])
    at = np.repeat(process.start[pairs] - begin[going], sizes[going]) + np.arange(begin[-1])
    rewards = process.final.copy()
    rewards[going] = process.r[pairs]
    P = sparse.csr_array((process.p[at], process.after[at], begin), shape=(process.n, process.n))
    return P, rewards


def policy_values(process: Process, P: sparse.csr_array, rewards: Array, *, guess: Array | None = None) -> Array:
    """Solve v = rewards + discount P v, by factors where the process is small, by iteration with refinement else.

    Args:
        process: whose discount counts.
        P: (n, n) transitions of a policy; rows of ends are empty.
        rewards: (n,) of it.
        guess: (n,) values to begin with.
    """
    n = process.n
    A = sparse.csr_array(sparse.eye_array(n, format="csr") - process.discount * P)
    scale = float(np.abs(rewards).max())
    if scale == 0.0:
        return np.zeros(n)
    if n > _DIRECT:
        v, off = _refined(A, rewards, np.zeros(n) if guess is None else guess)
        if off <= _CLOSE * (scale + float(np.abs(v).max())):
            return v
    factors = splu(sparse.csc_array(A))
    v = factors.solve(rewards)
    return np.asarray(v + factors.solve(rewards - A @ v))


def _refined(A: sparse.csr_array, b: Array, v: Array) -> tuple[Array, float]:
    """Solve A v = b by a Krylov method, again for what is left while that helps; also the largest violation."""
    left = b - A @ v
    off = float(np.abs(left).max())
    for _ in range(_REFINED):
        step, _ = bicgstab(A, left, rtol=1e-7, atol=0.0, maxiter=500)
        less = b - A @ (v + step)
        now = float(np.abs(less).max())
        if not now < 0.5 * off:
            break
        v, left, off = v + step, less, now
    return v, off


def endless(process: Process) -> Whole:
    """The states from which some choice of actions never ends; every choice ends where there are none."""
    from assay.models.decision.mdp._bellman_kernels import leave

    order = np.argsort(process.after, kind="stable")
    coming = np.repeat(np.arange(len(process.r)), np.diff(process.start))[order]
    into = np.searchsorted(process.after[order], np.arange(process.n + 1))
    inside = np.empty(process.n, np.bool_)
    leave(process.first, process.owner, into, coming, process.ends, inside)
    return np.flatnonzero(inside)


def never_ending(P: sparse.csr_array, ends: NDArray[np.bool_]) -> Whole:
    """The states from which a policy with transitions P (n, n) cannot come to an end."""
    back = sparse.csr_array(P.T)
    reached = ends.copy()
    front = np.flatnonzero(ends)
    while len(front):
        hit = np.zeros(len(ends), np.bool_)
        sizes = back.indptr[front + 1] - back.indptr[front]
        offset = np.cumsum(sizes) - sizes
        hit[back.indices[np.repeat(back.indptr[front] - offset, sizes) + np.arange(sizes.sum())]] = True
        front = np.flatnonzero(hit & ~reached)
        reached[front] = True
    return np.flatnonzero(~reached)


@dataclass(frozen=True, slots=True)
class _Bound:
    """What a change of values says about their distance from the best.

    Attributes:
        discount: of the process.
        steps: how many steps the future counts for at most.
        terms: of the longest sum.
    """

    discount: float
    steps: float
    terms: int

    @classmethod
    def of(cls, process: Process) -> _Bound:
        terms = int(np.diff(process.start).max(initial=0)) + 4
        if process.discount < 1.0:
            return cls(process.discount, 1.0 / (1.0 - process.discount), terms)
        return cls(1.0, _longest(process), terms)

    def rounding(self, v: Array) -> float:
        """What floating point may add to one backup."""
        return self.terms * _EPS * (float(np.abs(v).max()) + 1.0)

    def after_backup(self, low: float, high: float) -> tuple[float, float]:
        """By how much T v is to be shifted, and how far it may then be from the optimum."""
        if self.discount < 1.0:
            far = self.discount * self.steps
            return far * (low + high) / 2.0, far * (high - low) / 2.0
        return 0.0, max(-low, high) * self.steps

    def of_residual(self, residual: float) -> float:
        return residual * self.steps


def _longest(process: Process) -> float:
    """The longest expected number of steps to the end, from above."""
    ones = replace(process, r=np.ones(len(process.r)), final=np.zeros(process.n))
    bound = _Bound(1.0, 1.0, 4)
    with _Backups(ones) as backups:
        chosen = backups.best(ones.final, np.zeros(ones.n, np.int64), 0.0, keep=False)[1]
        w = ones.final
        for _ in range(1000):
            w = policy_values(ones, *policy_rows(ones, chosen), guess=w)
            old = chosen
            _, chosen, (_, high) = backups.best(w, old.copy(), 1e-9 * float(w.max()), keep=True)
            # w + high is at least T w, and w / (1 - high) is at least 1 + max P w / (1 - high)
            if np.array_equal(old, chosen) or high <= 1e-6:
                break
    if high >= 0.5:
        raise DataError(
            f"with discount 1 the process may take {w.max():.3g} steps to its end, too many to be solved in floating "
            "point; take a discount below 1"
        )
    return float((w.max() + bound.rounding(w)) / (1.0 - max(high, 0.0)))


def _iterate(process: Process, tol: float, max_iter: int, sweeps: int) -> Solved:
    unit, process = scaled(process)
    bound = _Bound.of(process)
    v = process.final
    n_iter, converged, radius = 0, False, np.inf
    going = ~process.ends
    goal = tol * max(np.abs(process.r).max(initial=0.0), np.abs(process.final).max(initial=0.0))
    with _Backups(process) as backups:
        while n_iter < max_iter:
            n_iter += 1
            new, chosen, (low, high), q = backups.weigh(v, bound.rounding(v))
            shift, radius = bound.after_backup(low, high)
            floor = bound.rounding(new) * bound.steps
            if radius <= max(goal, floor):
                converged = True
                v = np.where(going, new + shift, new)
                break
            v = new
            if process.discount < 1.0 and backups.narrow(q, new, 2.0 * (radius + floor)):
                continue
            for _ in range(sweeps):
                v, (less, more) = backups.follow(v, chosen)
                if more - less <= _GAIN * (high - low):
                    break
        backups.process = process
        return _judged(backups, bound, v, radius if converged else np.inf, n_iter, converged, unit)


def _judged(
    backups: _Backups, bound: _Bound, v: Array, radius: float, n_iter: int, converged: bool, unit: int
) -> Solved:
    rounding = bound.rounding(v)
    _, chosen, (low, high), q = backups.weigh(v, rounding)
    residual = max(abs(low), abs(high))
    distance = min(radius, bound.of_residual(residual)) + rounding * bound.steps
    return Solved(
        values=unscaled(v, unit),
        pair_values=unscaled(q, unit),
        chosen=chosen,
        residual=float(np.ldexp(residual, unit)),
        distance=float(np.ldexp(distance, unit)),
        rounding=float(np.ldexp(rounding, unit)),
        n_iter=n_iter,
        converged=converged,
    )


def scaled(process: Process) -> tuple[int, Process]:
    """The process with its largest reward between 1/2 and 1, by a power of two, which rounds nothing."""
    largest = max(np.abs(process.r).max(initial=0.0), np.abs(process.final).max(initial=0.0))
    unit = int(np.frexp(largest)[1])
    return unit, replace(process, r=np.ldexp(process.r, -unit), final=np.ldexp(process.final, -unit))


def unscaled(values: Array, unit: int) -> Array:
    """Values of a scaled process in units of its rewards; refused where they leave the range of numbers."""
    with np.errstate(over="ignore", under="ignore"):
        back = np.ldexp(values, unit)
    if not np.isfinite(back).all():
        raise DataError(
            f"the values leave the range of floating point numbers: rewards of about 1e{unit * 0.30103:.0f} add up to "
            "more than 1.8e308; give them in a larger unit"
        )
    return np.asarray(back)


class _Backups:
    """The backups of a process, shared out to threads; their number changes no bit."""

    def __init__(self, process: Process) -> None:
        from assay.models.decision.mdp import _bellman_kernels as kernels

        self._kernels: Any = kernels
        self.process = process
        self._team = Team(None if len(process.p) > _THREADED else 1)

    def best(self, v: Array, chosen: Whole, slack: float, *, keep: bool) -> tuple[Array, Whole, tuple[float, float]]:
        """T v, the pairs chosen, and the least and largest change."""
        a, new = self.process, np.empty_like(v)

        def work(lo: int, hi: int, span: Array) -> None:
            self._kernels.backup(
                lo, hi, a.first, a.start, a.after, a.p, a.r, a.discount, v, slack, new, chosen, keep, span
            )

        return new, chosen, self._spans(work)

    def follow(self, v: Array, chosen: Whole) -> tuple[Array, tuple[float, float]]:
        """One step of the chosen pairs, and the least and largest change."""
        a, new = self.process, np.empty_like(v)

        def work(lo: int, hi: int, span: Array) -> None:
            self._kernels.follow(lo, hi, a.start, a.after, a.p, a.r, a.discount, v, chosen, new, span)

        return new, self._spans(work)

    def weigh(self, v: Array, slack: float) -> tuple[Array, Whole, tuple[float, float], Array]:
        """T v, the pairs chosen, the least and largest change, and the values of all pairs."""
        a, new, chosen, q = self.process, np.empty_like(v), np.empty(len(v), np.int64), np.empty(len(self.process.r))

        def work(lo: int, hi: int, span: Array) -> None:
            self._kernels.weigh(lo, hi, a.first, a.start, a.after, a.p, a.r, a.discount, v, slack, new, chosen, q, span)

        return new, chosen, self._spans(work), q

    def narrow(self, q: Array, best: Array, margin: float) -> bool:
        """Go on without the pairs that cannot be the best, if they are many; whether they were left out.

        With v* in T v + shift +- radius, no value of a pair rises by more than shift + radius, and the best of a state
        by shift - radius at least: a pair more than 2 radius below the best of its state is not best (MacQueen 1967).
        """
        a = self.process
        if margin > 1.0 or len(a.r) <= _FEW * a.n:  # rewards are at most 1: few pairs are so far below
            return False
        first, start, after, p, r = self._kernels.narrow(a.first, a.start, a.after, a.p, a.r, q, best, margin, _STAY)
        if not len(first):
            return False
        self.process = replace(a, first=first, start=start, after=after, p=p, r=r)
        return True

    def _spans(self, work: Callable[[int, int, Array], None]) -> tuple[float, float]:
        found: list[Array] = []

        def share(lo: int, hi: int) -> None:
            span = np.empty(2)
            work(lo, hi, span)
            found.append(span)

        # many small shares: on a busy machine a thread may be kept waiting, and the others take its part
        n, step = self.process.n, max(_SHARE, -(-self.process.n // 64)) if self._team.threads > 1 else self.process.n
        self._team.run([partial(share, lo, min(lo + step, n)) for lo in range(0, n, step)])
        spans = np.array(found)
        return float(spans[:, 0].min()), float(spans[:, 1].max())

    def __enter__(self) -> _Backups:
        self._team.__enter__()
        return self

    def __exit__(self, *why: Any) -> None:
        self._team.__exit__(*why)
