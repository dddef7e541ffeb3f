"""What the trials might have been: counts drawn anew, and the policies and values that follow.

    fixed     values of the policy of all trials, in each draw: right if the policy was there before the trials
    crossed   values of policies learned from one half of the trials, in draws of the other half: right although the
              policy was chosen by the values that it was learned from

Each draw is solved from the solution of the counts themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Whole
from assay.models.decision.mdp.learning.counts import Counts
from assay.models.decision.mdp.learning.estimates import By, Estimates, Solver


@dataclass(frozen=True, slots=True, eq=False)
class TrialDraws:
    """What solving the draws gave.

    Attributes:
        by: what was drawn, "trials" or "steps".
        values: (draws, n) of the policy of the counts.
        best: (m,) in which share of the draws a pair is the best of its state.
        spread: (m,) standard deviation of how much a pair is better than the one chosen in its state.
        start: (draws,) value of the policy of the counts where trials begin.
        loss: (draws,) what the best policy of a draw is worth more, where trials begin.
        changed: (draws,) states in which it takes another action, that is better by more than the accuracy.
    """

    by: By
    values: Array
    best: Array
    spread: Array
    start: Array
    loss: Array
    changed: Whole


@dataclass(frozen=True, slots=True, eq=False)
class Crossed:
    """Values on trials that a policy was not learned from.

    Attributes:
        values: (n,) of policies learned from a half, on the other half, averaged over the draws.
        learned: (draws,) the same where trials begin.
        usual: (draws,) there, of doing what is done in the trials of the other half.
    """

    values: Array
    learned: Array
    usual: Array


def drawn(
    counts: Counts, discount: float, values: Array, chosen: Whole, *, by: By, draws: int, seed: int
) -> TrialDraws:
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
    solver, given = Solver(counts, discount), Estimates(counts, by, np.random.default_rng(seed))
    live = np.flatnonzero(chosen >= 0)
    picked, taken = chosen[live], chosen[counts.state]
    begin = starts(counts)
    kept = np.empty((draws, counts.n))
    best, total, square = (np.zeros(len(counts.state)) for _ in range(3))
    start, loss, changed = np.empty(draws), np.empty(draws), np.empty(draws, np.int64)
    for b in range(draws):
        given.draw()
        kept[b] = solver.follow(given, values, chosen)
        v, q, now = solver.best(given, kept[b])
        ahead = q - q[taken]
        better = q[now[live]] > q[picked] + 2.0 * solver.tol
        best[np.where(better, now[live], picked)] += 1.0
        total += ahead
        square += ahead**2
        start[b] = begin @ kept[b]
        loss[b] = max(float(begin @ (v - kept[b])), 0.0)
        changed[b] = int(better.sum())
    spread = np.sqrt(np.maximum(square / draws - (total / draws) ** 2, 0.0) * draws / (draws - 1))
    return TrialDraws(by, kept, best / draws, spread, start, loss, changed)


def crossed(
    counts: Counts, discount: float, values: Array, *, by: By, draws: int, seed: int, weighted: bool = True
) -> Crossed:
    """Learn from a half, measure on the other half, and the other way round, many times.

    Args:
        counts: of the trials.
        discount: below 1.
        values: (n,) to begin from.
        by: what halves are of.
        draws: how many pairs of halves.
        seed: of the draws.
        weighted: whether the half that measures is drawn anew, so that draws vary as other trials would.
    """
    rng = np.random.default_rng(seed)
    solver, given = Solver(counts, discount), Estimates(counts, by, rng)
    begin, total = starts(counts), np.zeros(counts.n)
    learned, usual = np.zeros(draws), np.zeros(draws)
    for b in range(draws):
        halves = given.halves()
        for one, other in (halves, halves[::-1]):
            given.as_counted(one)
            chosen = solver.best(given, values)[2]
            if weighted:
                given.draw(other)
            else:
                given.as_counted(other)
            held = solver.follow(given, values, chosen)
            total += held
            learned[b] += begin @ held / 2.0
            usual[b] += begin @ solver.usual(given, held) / 2.0
    return Crossed(total / (2 * draws), learned, usual)


def starts(counts: Counts) -> Array:
    """(n,) in which states trials begin, as shares."""
    return np.asarray(np.bincount(counts.trials.begin, minlength=counts.n) / counts.trials.n_trials)


def outcome_draws(counts: Counts, *, by: By, draws: int, seed: int, chunk: int) -> Iterator[tuple[slice, Array]]:
    """Probabilities (draws, c) of outcomes, a part of them at a time; the same draws for each part."""
    for begin in range(0, len(counts.after), chunk):
        part = slice(begin, begin + chunk)
        given = Estimates(counts, by, np.random.default_rng(seed))
        kept = np.empty((draws, len(counts.after[part])))
        for b in range(draws):
            given.draw()
            kept[b] = given.p[part]
        yield part, kept
