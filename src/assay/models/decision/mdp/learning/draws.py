"""What the trials might have been: counts drawn anew, and the policies and values that follow.

    trials   every trial gets a weight, exponential with mean 1, and counts with it (Rubin's bootstrap of whole trials);
             what happens in one trial stays together, and no pair that was seen is lost in a draw
    steps    every outcome gets a weight, gamma with its count as shape: draws from the Dirichlet posterior of each pair

A prior has a gamma weight of its own. Each draw is solved from the solution of the counts themselves.

Reference: Rubin, The Bayesian bootstrap, Annals of Statistics 9 (1981).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.models.decision.mdp.layout import Array, Indices
from assay.models.decision.mdp.learning.counts import Counts

By = Literal["trials", "steps"]
FEWEST_TRIALS = 20  # below, whole trials are too few to be drawn
_TOL = 1e-7  # distance from the optimum of a draw, as a share of the range of the values
_MOST = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """What solving the draws gave.

    Attributes:
        by: what was drawn, "trials" or "steps".
        values: (draws, n) of the policy of the counts.
        best: (m,) in which share of the draws a pair is the best of its state.
        ahead: (m,) mean over the draws of how much a pair is better than the one chosen in its state.
        spread: (m,) its standard deviation.
        start: (draws,) value of the policy of the counts where trials begin.
        loss: (draws,) what the best policy of a draw is worth more, where trials begin.
        changed: (draws,) states in which it takes another action, that is better by more than the accuracy.
    """

    by: By
    values: Array
    best: Array
    ahead: Array
    spread: Array
    start: Array
    loss: Array
    changed: Indices


class Estimates:
    """Transitions and rewards of one draw after another, in the same memory."""

    def __init__(self, counts: Counts, by: By, seed: int) -> None:
        self.counts, self.by = counts, by
        self._rng = np.random.default_rng(seed)
        z, m = len(counts.after), len(counts.state)
        self.p, self.r, self.loose = np.empty(z), np.empty(m), np.empty(m)
        self._w, self._g = np.empty(z), np.empty(z)
        steps = counts.trials
        self._trial, self._of_step = steps.trial.astype(np.int32), counts.of_step.astype(np.int32)
        self._mean = np.bincount(counts.of_step, steps.reward, minlength=z) / counts.count
        square = np.bincount(counts.of_step, (steps.reward - self._mean[counts.of_step]) ** 2, minlength=z)
        # of a mean of c rewards; one reward alone says nothing of its spread
        self._error = np.sqrt(square / np.maximum(counts.count - 1, 1) / counts.count)

    def as_counted(self) -> None:
        """The estimates of the counts themselves."""
        c = self.counts
        self._estimate(c.count.astype(np.float64), self._mean * c.count, np.full(len(c.state), c.prior))

    def draw(self) -> None:
        """The next draw."""
        from assay.models.decision.mdp.learning import _kernels as kernels

        c, rng = self.counts, self._rng
        if self.by == "trials":
            by_trial = rng.standard_exponential(c.trials.n_trials)
            kernels.weigh(self._of_step, self._trial, c.trials.reward, by_trial, self._w, self._g)
        else:
            self._w[:] = rng.standard_gamma(c.count.astype(np.float64))
            self._g[:] = self._w * (self._mean + self._error * rng.standard_normal(len(self._w)))
        self._estimate(self._w, self._g, rng.standard_gamma(np.full(len(c.state), c.prior)))

    def _estimate(self, w: Array, g: Array, prior: Array) -> None:
        from assay.models.decision.mdp.learning import _kernels as kernels

        c = self.counts
        kernels.estimate(c.start, c.after, w, g, c.usual, prior, self.p, self.r, self.loose)


class Solver:
    """Values and policies of estimates, each begun where the counts themselves ended."""

    def __init__(self, counts: Counts, discount: float) -> None:
        from assay.models.decision.mdp.learning import _kernels as kernels

        self._kernels: Any = kernels
        self.counts, self.discount = counts, discount
        self._after = counts.after
        reach = float(np.abs(counts.trials.reward).max(initial=0.0)) / (1.0 - discount)
        self.tol = _TOL * max(reach, float(np.abs(counts.trials.final).max(initial=0.0)), np.finfo(np.float64).tiny)

    def best(self, given: Estimates, v: Array, chosen: Indices) -> tuple[Array, Array, Indices]:
        """The best values, those of pairs, and the pairs chosen."""
        return self._run(given, v, chosen, free=True)

    def follow(self, given: Estimates, v: Array, chosen: Indices) -> tuple[Array, Array, Indices]:
        """The same of a policy."""
        return self._run(given, v, chosen, free=False)

    def _run(self, given: Estimates, v: Array, chosen: Indices, *, free: bool) -> tuple[Array, Array, Indices]:
        c = self.counts
        v, chosen, q = v.copy(), chosen.copy(), np.empty(len(c.state))
        self._kernels.solve(
            c.first, c.start, self._after, given.p, given.r, given.loose, self.discount, chosen, free, self.tol, _MOST,
            v, q,
        )  # fmt: skip
        return v, q, chosen


def drawn(counts: Counts, discount: float, values: Array, chosen: Indices, *, by: By, draws: int, seed: int) -> Draws:
    """Draw counts anew and solve what they say.

    Args:
        counts: of the trials.
        discount: below 1.
        values: (n,) of the best policy of the counts.
        chosen: (n,) the pair it takes in each state, -1 in an end.
        by: what is drawn.
        draws: how often.
        seed: of the draws.
    """
    solver, given = Solver(counts, discount), Estimates(counts, by, seed)
    live = np.flatnonzero(chosen >= 0)
    picked = chosen[live]
    taken = np.zeros(len(counts.state), np.int64)
    taken[:] = chosen[counts.state]
    begin = np.bincount(counts.trials.begin, minlength=counts.n) / counts.trials.n_trials
    kept = np.empty((draws, counts.n))
    best, total, square = (np.zeros(len(counts.state)) for _ in range(3))
    start, loss, changed = np.empty(draws), np.empty(draws), np.empty(draws, np.int64)
    for b in range(draws):
        given.draw()
        kept[b], _, _ = solver.follow(given, values, chosen)
        v, q, now = solver.best(given, kept[b], chosen)
        ahead = q - q[taken]
        better = q[now[live]] > q[picked] + 2.0 * solver.tol
        best[np.where(better, now[live], picked)] += 1.0
        total += ahead
        square += ahead**2
        start[b] = begin @ kept[b]
        loss[b] = max(float(begin @ (v - kept[b])), 0.0)
        changed[b] = int(better.sum())
    mean = total / draws
    spread = np.sqrt(np.maximum(square / draws - mean**2, 0.0) * draws / max(draws - 1, 1))
    return Draws(by, kept, best / draws, mean, spread, start, loss, changed)


def outcome_draws(counts: Counts, *, by: By, draws: int, seed: int, chunk: int) -> Iterator[tuple[slice, Array]]:
    """Probabilities (draws, c) of outcomes, a part of them at a time; the same draws for each part."""
    for begin in range(0, len(counts.after), chunk):
        part = slice(begin, begin + chunk)
        given = Estimates(counts, by, seed)
        kept = np.empty((draws, len(counts.after[part])))
        for b in range(draws):
            given.draw()
            kept[b] = given.p[part]
        yield part, kept
