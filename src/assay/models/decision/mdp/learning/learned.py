"""What trials say of a decision process: the process, its best policy, and how sure that is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from assay.arrays import Array, Whole
from assay.errors import ParameterError
from assay.linalg.noise.discoveries import benjamini_hochberg
from assay.models.decision.mdp.layout import Names
from assay.models.decision.mdp.learning.counts import Counts
from assay.models.decision.mdp.learning.draws import Crossed, TrialDraws, crossed, drawn, outcome_draws
from assay.models.decision.mdp.learning.estimates import By
from assay.models.decision.mdp.mdp import MDP
from assay.models.decision.mdp.solution import Solution

ALPHA = 0.05
LEVEL = 0.95
_KEPT = 20_000_000  # numbers of draws held at once
_SURE = 0.5
_FEWEST = 3  # trials of an action, below which nothing is said of it


@dataclass(frozen=True, slots=True, eq=False)
class Probabilities:
    """Where each pair of state and action led, an entry for each outcome.

    Attributes:
        states: names of the states.
        actions: names of the actions.
        next_states: names of the states they led to.
        count: how often.
        probability: share of the pair's steps.
        low, high: ends of the interval.
        level: share of the draws inside.
    """

    states: Names
    actions: Names
    next_states: Names
    count: Whole
    probability: Array
    low: Array
    high: Array
    level: float


@dataclass(frozen=True, slots=True, eq=False)
class ValueIntervals:
    """Values of the policy with intervals.

    Attributes:
        states: n names.
        values: (n,) values.
        low, high: (n,) ends.
        start: value, low and high where trials begin.
        level: share of the draws inside.
    """

    states: Names
    values: Array
    low: Array
    high: Array
    start: tuple[float, float, float]
    level: float


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The action chosen in each state that is no end, and whether it can be told from the others.

    Attributes:
        states: names of the l states that are no ends.
        actions: (l) action chosen in each.
        others: (l) the next best; None where there is no other.
        seen: (l,) how often the chosen action was taken there.
        gain: (l,) how much the chosen action is better than the next best, by the counts.
        best: (l,) share of the draws in which it is the best.
        p: (l,) chance of such a difference from each other action, the largest of them, if they were equally good; 1
            where it cannot be tested: where one of them was taken in fewer than three trials (or steps, where these are
            drawn). Student's t of the draws, and at least what so many trials of one sign can show.
        q: (l,) the same, all states counted (Benjamini and Hochberg).
        distinguishable: (l,) whether q is 5% or less; in states with a single action there is nothing to tell apart.
        why: (l) why it is not, in words; empty where it is.
    """

    states: Names
    actions: Names
    others: Names
    seen: Whole
    gain: Array
    best: Array
    p: Array
    q: Array
    distinguishable: NDArray[np.bool_]
    why: tuple[str, ...]

    @property
    def flagged(self) -> dict[Hashable, str]:
        """The states in which the choice may as well be another, and why."""
        return {state: why for state, why in zip(self.states, self.why, strict=True) if why}


@dataclass(frozen=True, slots=True)
class MoreTrials:
    """Whether more trials would change the policy.

    Attributes:
        changes: share of the draws whose best policy is another.
        states: states in which it takes another action, on average.
        loss: what keeping the policy would lose where trials begin, on average over the draws.
        value: of policies learned from half of the trials, there, on the other half.
        interval: of this value.
        never_seen: pairs of state and action that no trial tells of.
        sentence: the same in words.
    """

    changes: float
    states: float
    loss: float
    value: float
    interval: tuple[float, float]
    never_seen: int
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class Learned:
    """A decision process learned from trials; what draws say is computed when first asked for.

    Attributes:
        mdp: the process.
        solution: its best policy.
        n_trials: how many trials.
        n_steps: how many steps.
        notes: what was decided on the way, counted.
        by: what is drawn anew, "trials" or "steps".
        draws: how often.
        seed: of the draws.
    """

    mdp: MDP
    solution: Solution
    notes: tuple[str, ...]
    by: By
    draws: int
    seed: int
    _counts: Counts = field(repr=False)

    @property
    def n_trials(self) -> int:
        """How many trials were counted."""
        return self._counts.trials.n_trials

    @property
    def n_steps(self) -> int:
        """How many steps were counted."""
        return len(self._counts.trials.state)

    @property
    def policy(self) -> dict[Hashable, Hashable]:
        """The action of each state; None where the process ends."""
        return self.solution.policy

    @property
    def values(self) -> Array:
        """(n,) values of the states."""
        return self.solution.values

    @cached_property
    def counts(self) -> Whole:
        """(n, k) how often each action was taken in each state."""
        c = self._counts
        table = np.zeros((self.mdp.n_states, self.mdp.n_actions), np.int64)
        table[c.state, c.action] = c.seen
        return table

    @property
    def start(self) -> Array:
        """(n,) in which states trials begin, as shares."""
        steps = self._counts.trials
        return np.asarray(np.bincount(steps.begin, minlength=self.mdp.n_states) / steps.n_trials)

    @property
    def never_seen(self) -> tuple[tuple[Hashable, Hashable], ...]:
        """Pairs of state and action of which no trial tells, in states that are no ends."""
        rows = np.argwhere((self.counts == 0) & ~self._counts.trials.ends[:, None])
        return tuple((self.mdp.states[s], self.mdp.actions[a]) for s, a in rows.tolist())

    def outcomes(self, state: Hashable, action: Hashable) -> dict[Hashable, int]:
        """How often an action led where; None stands for where nobody knows.

        Args:
            state: its name.
            action: its name.
        """
        c = self._counts
        s, a = self.mdp._state(state), self.mdp._action(action)
        pairs = np.flatnonzero((c.state == s) & (c.action == a))
        inside = np.flatnonzero(np.isin(c.pair, pairs))
        return {None if c.after[j] < 0 else self.mdp.states[c.after[j]]: int(c.count[j]) for j in inside}

    def probabilities(self, level: float = LEVEL) -> Probabilities:
        """Intervals of the transition probabilities, of outcomes that were seen.

        Args:
            level: share of the draws inside.
        """
        c, ends = self._counts, _ends(level)
        z = len(c.after)
        low, high = np.empty(z), np.empty(z)
        chunk = max(_KEPT // self.draws, 1)
        for part, kept in outcome_draws(c, by=self.by, draws=self.draws, seed=self.seed, chunk=chunk):
            low[part], high[part] = np.quantile(kept, ends, axis=0)
        here = np.flatnonzero(c.after >= 0)
        pair = c.pair[here]
        share = c.count[here] / (c.known[pair] + c.prior)
        states, actions = self.mdp.states, self.mdp.actions
        return Probabilities(
            tuple(states[s] for s in c.state[pair].tolist()),
            tuple(actions[a] for a in c.action[pair].tolist()),
            tuple(states[s] for s in c.after[here].tolist()),
            c.count[here], share, low[here], high[here], level,
        )  # fmt: skip

    def intervals(self, level: float = LEVEL) -> ValueIntervals:
        """Intervals of the values of the policy.

        The same trials chose the policy and say what it is worth, which flatters it. So the lower ends are lowered by
        as much as policies learned from one half of the trials fall short of these values on the other half.

        Args:
            level: share of the draws inside.
        """
        ends, found = _ends(level), self._draws
        low, high = np.quantile(found.values, ends, axis=0)
        before, after = np.quantile(found.start, ends)
        steps = self._counts.trials
        lowest = min(float(steps.reward.min()), 0.0) / (1.0 - self.mdp.discount) + min(float(steps.final.min()), 0.0)
        flattered = np.maximum(self.values - self._crossed.values, 0.0)
        short = max(self._start_value - self.held_out[0], 0.0)
        start = (self._start_value, max(float(before) - short, lowest), float(after))
        return ValueIntervals(self.mdp.states, self.values, np.maximum(low - flattered, lowest), high, start, level)

    @cached_property
    def held_out(self) -> tuple[float, float, float]:
        """What policies of half of the trials are worth on the other half, where trials begin, with its interval."""
        return _with_ends(self._crossed.learned)

    @cached_property
    def gain(self) -> tuple[float, float, float]:
        """What they are worth more there than doing what is done in the trials, with its interval."""
        return _with_ends(self._crossed.learned - self._crossed.usual)

    @cached_property
    def choices(self) -> Choices:
        """The choice in each state, and whether it can be told from the others."""
        c, found = self._counts, self._draws
        live = np.flatnonzero(np.diff(c.first) > 0)
        picked, taken = self._chosen[live], self._chosen[c.state]
        ahead = self.solution.pair_values - self.solution.pair_values[taken]
        other = np.arange(len(c.state)) != taken
        held = c.trials_with if found.by == "trials" else c.seen
        support = np.minimum(held, held[taken])
        p = _two_sided(ahead, found.spread, support)
        worst, gain, second = np.zeros(c.n), np.full(c.n, np.inf), np.full(c.n, -1)
        np.maximum.at(worst, c.state[other], p[other])
        np.minimum.at(gain, c.state[other], -ahead[other])
        order = np.flatnonzero(other)
        order = order[np.argsort(ahead[order], kind="stable")]
        second[c.state[order]] = order
        alone, rare = second[live] < 0, np.zeros(c.n, np.bool_)
        np.logical_or.at(rare, c.state[other], support[other] < _FEWEST)
        tested = worst[live][~alone]
        q = np.ones(len(live))
        q[~alone] = benjamini_hochberg(tested) if len(tested) else tested
        clear = (q <= ALPHA) & ~alone
        actions = self.mdp.actions
        why = [
            "" if yes or one else _why(int(c.seen[i]), bool(rare[s]), float(found.best[i]))
            for yes, one, s, i in zip(clear, alone, live.tolist(), picked.tolist(), strict=True)
        ]
        return Choices(
            tuple(self.mdp.states[s] for s in live.tolist()),
            tuple(actions[a] for a in c.action[picked].tolist()),
            tuple(None if i < 0 else actions[c.action[i]] for i in second[live].tolist()),
            c.seen[picked], gain[live], found.best[picked], np.where(alone, 1.0, worst[live]), q, clear, tuple(why),
        )  # fmt: skip

    @cached_property
    def more_trials(self) -> MoreTrials:
        """Whether more trials would change the policy."""
        found, held = self._draws, self.held_out
        changes, states = float((found.changed > 0).mean()), float(found.changed.mean())
        loss, lost = float(found.loss.mean()), len(self.never_seen)
        sentence = _sentence(self, changes, states, loss, held, lost)
        return MoreTrials(changes, states, loss, held[0], held[1:], lost, sentence)

    @cached_property
    def _chosen(self) -> Whole:
        """(n,) the pair chosen in each state."""
        c = self._counts
        keys = c.state * self.mdp.n_actions + c.action
        states = np.arange(c.n)
        at = np.searchsorted(keys, states * self.mdp.n_actions + self.solution.chosen)
        return np.where(self.solution.chosen >= 0, at, -1)

    @cached_property
    def _draws(self) -> TrialDraws:
        return drawn(
            self._counts, self.mdp.discount, self.values, self._chosen, by=self.by, draws=self.draws, seed=self.seed
        )

    @cached_property
    def _crossed(self) -> Crossed:
        return crossed(
            self._counts, self.mdp.discount, self.values, by=self.by, draws=max(self.draws // 4, 20), seed=self.seed
        )

    @property
    def _start_value(self) -> float:
        return float(self.start @ self.values)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: names as text, with what draws say."""
        choices, inside, more = self.choices, self.intervals(), self.more_trials
        at = {state: i for i, state in enumerate(choices.states)}
        told = self.solution.as_dict()
        for s, entry in enumerate(told["states"]):
            entry["interval"] = [float(inside.low[s]), float(inside.high[s])]
            entry["seen"] = {str(a): int(n) for a, n in zip(self.mdp.actions, self.counts[s], strict=True) if n}
            i = at.get(self.mdp.states[s])
            if i is not None:
                entry["best_in_draws"] = float(choices.best[i])
                entry["q"] = float(choices.q[i])
                entry["distinguishable"] = bool(choices.distinguishable[i])
                entry["why_not"] = choices.why[i]
        return {
            **told,
            "trials": self.n_trials,
            "steps": self.n_steps,
            "draws": {"of": self.by, "number": self.draws, "seed": self.seed},
            "never_seen": [[str(s), str(a)] for s, a in self.never_seen],
            "start": {"value": inside.start[0], "interval": list(inside.start[1:])},
            "held_out": {"value": self.held_out[0], "interval": list(self.held_out[1:])},
            "gain": {"value": self.gain[0], "interval": list(self.gain[1:])},
            "more_trials": {
                "policy_changes": more.changes, "states": more.states, "loss": more.loss, "sentence": more.sentence,
            },
            "notes": list(self.notes),
        }  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"Learned({self.n_trials:,} trials, {self.n_steps:,} steps: {self.mdp.n_states:,} states, "
            f"{self.mdp.n_actions} actions, discount {self.mdp.discount:g})"
        )


def _ends(level: float) -> tuple[float, float]:
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level is a share between 0 and 1; got {level!r}")
    return (1.0 - level) / 2.0, (1.0 + level) / 2.0


def _with_ends(draws: Array) -> tuple[float, float, float]:
    middle = float(draws.mean())
    low, high = np.quantile(draws, _ends(LEVEL))
    return middle, min(float(low), middle), max(float(high), middle)


def _two_sided(ahead: Array, spread: Array, support: Whole) -> Array:
    """(m,) p of each difference by Student's t, but never less than so many trials of one sign can show."""
    moved = spread > 0.0
    t = np.divide(np.abs(ahead), spread, out=np.where(ahead == 0.0, 0.0, np.inf), where=moved)
    p = 2.0 * stdtr(np.maximum(support - 1, 1), -t)
    # draws of a few outcomes that happen to be alike do not vary, however uncertain the next one is
    return np.asarray(np.where(support < _FEWEST, 1.0, np.maximum(p, 2.0 * 0.5 ** support.astype(np.float64))))


def _why(seen: int, rare: bool, best: float) -> str:
    if not seen:
        return "it was never tried there"
    if rare:
        return "an action was taken in fewer than three trials"
    return f"the best in {best:.0%} of the draws"


def _sentence(
    learned: Learned, changes: float, states: float, loss: float, held: tuple[float, float, float], lost: int
) -> str:
    likely = "would probably change" if changes > _SURE else "would probably not change"
    often = f"{states:.0f}" if states >= 10 else f"{states:.2g}"
    many = learned.mdp.n_states - int(learned._counts.trials.ends.sum())
    said = (
        f"More trials {likely} the policy: it is another in {changes:.0%} of {learned.draws} draws, in {often} of "
        f"{many:,} states on average. To keep this one would lose {loss:.2g} on average, beside a value of "
        f"{held[0]:.3g} ({held[1]:.3g} to {held[2]:.3g}) where trials begin, on trials not learned from"
    )
    unknown = [f"{s!r} in state {t!r}" for t, s in learned.never_seen[:2]]
    if not lost:
        return f"{said}."
    named = ", ".join(unknown) + (", ..." if lost > len(unknown) else "")
    return f"{said}; of {lost:,} actions never tried in a state ({named}) nothing is known."
