"""How often each action led where, in trials, and what it gave.

outcome j of pair i = (state, action):   c_j times it led to after_j (or nobody knows where), with the mean reward
p(t | s, a) = (c_t + w / n) / (sum c + w)      w the weight of the prior, n states;     1 / n where nothing is known
r(s, a)     = mean of the rewards of the pair;  where there are none that of all steps
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from assay.arrays import Array, Whole
from assay.errors import DataError
from assay.models.decision.mdp.layout import StateLayout, of_rows
from assay.models.decision.mdp.learning.trials import UNKNOWN, Trials

Unseen = Literal["uniform", "left out"]
_MOST = 20_000_000  # transitions that a process may have for what was never seen


@dataclass(frozen=True, eq=False)
class Counts:
    """Pairs of state and action by state, and the outcomes of each.

    Attributes:
        trials: the steps counted.
        first: (n + 1,) the pairs of a state; none in an end.
        state: (m,) the state of each pair.
        action: (m,) its action.
        start: (m + 1,) the outcomes of a pair; none where it was never seen.
        after: (z,) the state each leads to, -1 where nobody knows.
        count: (z,) how often.
        of_step: (steps,) the outcome of each step.
        prior: weight of a uniform next state, in steps.
        unseen: what becomes of actions never taken in a state.
    """

    trials: Trials
    first: Whole
    state: Whole
    action: Whole
    start: Whole
    after: Whole
    count: Whole
    of_step: Whole
    prior: float
    unseen: Unseen = "uniform"

    @property
    def n(self) -> int:
        """How many states there are."""
        return len(self.trials.states)

    @cached_property
    def pair(self) -> Whole:
        """(z,) the pair of each outcome."""
        return np.repeat(np.arange(len(self.state)), np.diff(self.start))

    @cached_property
    def seen(self) -> Whole:
        """(m,) how often each pair was taken."""
        return np.bincount(self.pair, self.count, minlength=len(self.state)).astype(np.int64)

    @cached_property
    def known(self) -> Whole:
        """(m,) how often it is known where a pair led."""
        here = self.after != UNKNOWN
        return np.bincount(self.pair[here], self.count[here], minlength=len(self.state)).astype(np.int64)

    @cached_property
    def trials_with(self) -> Whole:
        """(m,) in how many trials each pair was taken."""
        steps = self.trials
        key = np.unique(self.pair[self.of_step] * steps.n_trials + steps.trial)
        return np.bincount(key // steps.n_trials, minlength=len(self.state)).astype(np.int64)

    @cached_property
    def usual(self) -> float:
        """The mean reward of a step, which stands for rewards never seen."""
        return float(self.trials.reward.mean())

    @cached_property
    def reward(self) -> Array:
        """(m,) the mean reward of each pair."""
        total = np.bincount(self.pair[self.of_step], self.trials.reward, minlength=len(self.state))
        mean = np.full(len(total), self.usual)
        return np.asarray(np.divide(total, self.seen, out=mean, where=self.seen > 0))

    def layout(self) -> StateLayout:
        """The process that the counts say."""
        n, steps = self.n, self.trials
        here = self.after != UNKNOWN
        full = self.known + self.prior
        flat = np.flatnonzero((self.known == 0) | (self.prior > 0.0))
        if len(flat) * n > _MOST:
            raise DataError(
                f"{len(flat):,} pairs of state and action were never seen or have a prior, and each would lead to all "
                f"{n:,} states: too many; learn with unseen='left out' and prior=0"
            )
        weight = np.divide(self.prior, full, out=np.ones(len(full)), where=self.known > 0)
        pair = np.concatenate([self.pair[here], np.repeat(flat, n)])
        after = np.concatenate([self.after[here], np.tile(np.arange(n), len(flat))])
        p = np.concatenate([self.count[here] / full[self.pair[here]], np.repeat(weight[flat] / n, n)])
        reward = np.concatenate([self._rewards()[here], np.repeat(self.reward[flat], n)])
        return of_rows(self.state[pair], self.action[pair], after, p, reward, steps.final, steps.states, steps.actions)

    def _rewards(self) -> Array:
        """(z,) mean reward of each outcome, shifted so that those which are known average to the reward of the pair."""
        each = np.bincount(self.of_step, self.trials.reward, minlength=len(self.after)) / self.count
        here = self.after != UNKNOWN
        total = np.bincount(self.pair[here], (self.count * each)[here], minlength=len(self.state))
        known = np.divide(total, self.known, out=self.reward.copy(), where=self.known > 0)
        return np.asarray(each + np.where(self.known == self.seen, 0.0, self.reward - known)[self.pair])


def counted(trials: Trials, *, unseen: Unseen = "uniform", prior: float = 0.0) -> Counts:
    """Count the outcomes of trials.

    Args:
        trials: the steps.
        unseen: whether an action never taken in a state may lead anywhere, or is left out there. Where no action was
            ever taken, any may lead anywhere.
        prior: weight of a uniform next state, in steps.
    """
    n, k = len(trials.states), len(trials.actions)
    outcome = (trials.state * k + trials.action) * (n + 1) + trials.after + 1
    found, of_step, count = _unique(outcome, n * k * (n + 1))
    key, after = found // (n + 1), found % (n + 1) - 1
    live = ~trials.ends
    acted = np.zeros(n, np.bool_)
    acted[trials.state] = True
    every = np.flatnonzero(live if unseen == "uniform" else live & ~acted)
    keys = np.union1d(key, (every[:, None] * k + np.arange(k)).ravel())
    state = keys // k
    return Counts(
        trials=trials,
        first=np.searchsorted(state, np.arange(n + 1)).astype(np.int64),
        state=state,
        action=keys % k,
        start=np.searchsorted(key, np.append(keys, np.iinfo(np.int64).max)).astype(np.int64),
        after=after,
        count=count,
        of_step=of_step,
        prior=float(prior),
        unseen=unseen,
    )


def _unique(values: Whole, size: int) -> tuple[Whole, Whole, Whole]:
    """The values there are, which of them each is, and how often; by counting where they are few, by sorting else."""
    if size <= 4 * len(values):
        often = np.bincount(values, minlength=size)
        found = np.flatnonzero(often)
        place = np.cumsum(often > 0) - 1
        return found, place[values], often[found]
    sorted_: Any = np.unique(values, return_inverse=True, return_counts=True)
    return sorted_[0], sorted_[1].reshape(-1), sorted_[2].astype(np.int64)
