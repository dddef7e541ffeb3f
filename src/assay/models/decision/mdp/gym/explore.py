"""Learning by trying: go where little is known, count, plan, and measure what the plan is worth.

Trials follow the optimistic plan (`tried.py`): towards what was never tried, and what was tried so seldom that it may
be better than it looks. Chance alone (epsilon-greedy) reaches what lies behind many right steps in a row only by as
many lucky ones; docs/guide/learning-decisions.md has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from assay.arrays import Array, Whole
from assay.errors import ParameterError
from assay.linalg.validate import RandomState, seed_of
from assay.models.decision.mdp.gym.environment import Environment, environment, layout_of
from assay.models.decision.mdp.gym.tried import Tried
from assay.models.decision.mdp.learning.learn import learn_mdp
from assay.models.decision.mdp.learning.learned import Learned
from assay.models.decision.mdp.mdp import MDP

Way = Literal["optimistic", "epsilon-greedy"]
_POINTS = 30
_LONGEST = 1000  # steps of a trial where the environment sets no limit


@dataclass(frozen=True, slots=True, eq=False)
class PolicyCurve:
    """What the policy learned so far is worth, after more and more trials.

    Attributes:
        environment: its name.
        discount: of the next step.
        trials: (c,) trials made.
        steps: (c,) steps made.
        value: (c,) of the policy where trials begin.
        low, high: (c,) 95% interval; the value itself where it is exact.
        optimum: the best value there is; None where it is not known.
        measured: how values were measured, in words.
    """

    environment: str
    discount: float
    trials: Whole
    steps: Whole
    value: Array
    low: Array
    high: Array
    optimum: float | None
    measured: str

    def reached(self, share: float = 0.95) -> int | None:
        """The trials after which the value stays within 1 - share of the optimum, relative to its size; None if never.

        Args:
            share: of the optimum.
        """
        if self.optimum is None:
            raise ParameterError(f"the optimum of {self.environment} is not known: it has no table of transitions")
        short = self.value < self.optimum - (1.0 - share) * abs(self.optimum)
        last = int(np.flatnonzero(short)[-1]) + 1 if short.any() else 0
        return None if last == len(short) else int(self.trials[last])


@dataclass(frozen=True, eq=False, repr=False)
class Exploration:
    """What trying out an environment gave.

    Attributes:
        learned: the process learned from all trials, with its evidence.
        curve: what the policy was worth on the way.
        table: the trials, an Arrow table with the columns trial, step, state, action, reward, next_state, terminated.
    """

    learned: Learned
    curve: PolicyCurve
    table: Any

    def __repr__(self) -> str:
        last = f"value {self.curve.value[-1]:.4g}"
        best = "" if self.curve.optimum is None else f" of {self.curve.optimum:.4g}"
        return f"Exploration({self.curve.environment}, {self.learned.n_trials:,} trials, {last}{best})"


def explore(
    env: Any,
    trials: int = 500,
    discount: float = 0.95,
    *,
    way: Way = "optimistic",
    width: float = 5.0,
    epsilon: float = 0.1,
    longest: int | None = None,
    episodes: int = 100,
    draws: int = 200,
    random_state: RandomState = 0,
) -> Exploration:
    """Learn to act in an environment of Gymnasium: explore, count, plan, and measure what the plan is worth.

    A trial that is truncated is cut off and did not end: where its last action led is known, and goes on from there.

    Args:
        env: an environment with discrete states and actions, or its name.
        trials: how many to make.
        discount: of the next step, at least 0 and below 1.
        way: "optimistic", towards what was never tried or may be better than it looks, or "epsilon-greedy", the best
            action so far but for a share of random ones.
        width: how much better an action may be, in standard errors, of "optimistic".
        epsilon: share of random actions, of "epsilon-greedy".
        longest: steps after which a trial is cut off; as the environment does when not given, or 1,000.
        episodes: trials in which the policy is measured, where the environment has no table of transitions.
        draws: behind the evidence of what was learned.
        random_state: of everything random: a whole number from 0 on, None for 0, or a generator of NumPy's.

    >>> found = explore("CliffWalking-v1", trials=30, discount=0.95)
    >>> bool(found.curve.value[-1] >= found.curve.optimum - 1e-9), found.curve.reached() is not None
    (True, True)
    """
    given = environment(env)
    _check(trials, discount, way, width, epsilon, longest, episodes)
    limit = longest or given.longest or _LONGEST
    seed = seed_of(random_state)
    tried, rng = Tried(given.n, given.k, discount), np.random.default_rng(seed)
    actor: _Explorer | _Dicer = _Explorer(tried, width) if way == "optimistic" else _Dicer(tried, epsilon, rng)
    judge = _Judge(given, discount, limit, episodes, seed)
    at = np.unique(np.geomspace(1, trials, min(_POINTS, trials)).round().astype(np.int64))
    rows: list[tuple[int, int, int, int, float, int, bool]] = []
    points: list[tuple[int, int, float, float, float]] = []
    given.env.action_space.seed(seed)
    for trial in range(trials):
        actor.begin()
        # the seed of the first trial makes all; later ones go on from there
        seen, _ = given.env.reset(seed=seed) if trial == 0 else given.env.reset()
        state = int(seen) - given.first
        for step in range(limit):
            action = actor.act(state)
            seen, reward, over, cut, _ = given.env.step(action + given.first_action)
            after = int(seen) - given.first
            tried.add(state, action, float(reward), after, bool(over))
            rows.append((trial, step, state, action, float(reward), after, bool(over)))
            state = after
            if over or cut:
                break
        if trial + 1 in at:
            points.append((trial + 1, tried.steps, *judge.value(tried.greedy(), trial + 1)))
    table = _table(rows, given)
    curve = _curve(given, discount, points, judge)
    return Exploration(learn_mdp(table, discount, draws=draws, random_state=seed), curve, table)


class _Explorer:
    """What to do in a state: the optimistic plan, made anew before each trial and where it has nothing left to try."""

    def __init__(self, tried: Tried, width: float) -> None:
        self._tried, self._width = tried, width

    def begin(self) -> None:
        """Plan before each trial."""
        self._chosen = self._tried.optimistic(self._width)
        self._new = self._tried.seen == 0

    def act(self, state: int) -> int:
        """The action: one never tried here that the plan led to, otherwise that of the plan."""
        tried, k = self._tried, self._tried.k
        pair = state * k + int(self._chosen[state])
        if self._new[pair] and tried.seen[pair]:
            left = np.flatnonzero(tried.seen[state * k : state * k + k] == 0)
            if len(left):
                return int(left[0])
            self.begin()
        return int(self._chosen[state])


class _Dicer:
    """What to do in a state: the best so far, or with probability epsilon anything."""

    def __init__(self, tried: Tried, epsilon: float, rng: np.random.Generator) -> None:
        self._tried, self._epsilon, self._rng = tried, epsilon, rng

    def begin(self) -> None:
        """Plan before each trial."""
        self._chosen = self._tried.greedy()

    def act(self, state: int) -> int:
        """The action."""
        if self._rng.random() < self._epsilon:
            return int(self._rng.integers(self._tried.k))
        return int(self._chosen[state])


class _Judge:
    """What a policy is worth where trials begin: by the table of the environment, or in trials of its own."""

    def __init__(self, env: Environment, discount: float, limit: int, episodes: int, seed: int) -> None:
        self._env, self._discount, self._limit, self._episodes, self._seed = env, discount, limit, episodes, seed
        self._process: MDP | None = None
        self.optimum: float | None = None
        if env.table is not None and env.start is not None:
            self._process = MDP._of(*layout_of(env), discount)
            self.optimum = float(env.start @ self._process.policy_iteration().values[: env.n])
        self.measured = (
            f"in {episodes} trials of the policy at each point, not learned from"
            if self._process is None
            else "exactly, by the environment's own table of transitions"
        )

    def value(self, policy: Whole, point: int) -> tuple[float, float, float]:
        """The value and its interval."""
        if self._process is not None and self._env.start is not None:
            process = self._process
            chosen = {process.states[s]: process.actions[a] for s, a in enumerate(policy.tolist())}
            ends = np.flatnonzero(np.diff(process._layout.first) == 0)
            for s in ends.tolist():
                chosen.pop(process.states[s], None)
            exact = float(self._env.start @ process.value(chosen)[: self._env.n])
            return exact, exact, exact
        returns = np.array([self._return(policy, point, i) for i in range(self._episodes)])
        mean, error = float(returns.mean()), float(returns.std(ddof=1) / np.sqrt(len(returns)))
        return mean, mean - 1.96 * error, mean + 1.96 * error

    def _return(self, policy: Whole, point: int, number: int) -> float:
        env, total, weight = self._env, 0.0, 1.0
        source = np.random.SeedSequence([self._seed, point, number]).generate_state(1)[0]
        seen, _ = env.env.reset(seed=int(source))
        for _ in range(self._limit):
            seen, reward, over, cut, _ = env.env.step(int(policy[int(seen) - env.first]) + env.first_action)
            total, weight = total + weight * float(reward), weight * self._discount
            if over or cut:
                break
        return total


def _curve(env: Environment, discount: float, points: list[tuple[int, int, float, float, float]], judge: _Judge) -> Any:
    trials, steps, value, low, high = zip(*points, strict=True)
    return PolicyCurve(
        env.name, discount, np.array(trials), np.array(steps), np.array(value), np.array(low), np.array(high),
        judge.optimum, judge.measured,
    )  # fmt: skip


def _table(rows: list[tuple[int, int, int, int, float, int, bool]], env: Environment) -> pa.Table:
    names = ("trial", "step", "state", "action", "reward", "next_state", "terminated")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    made = pa.table(columns)
    for name, shift in (("state", env.first), ("next_state", env.first), ("action", env.first_action)):
        moved = pa.array(np.asarray(columns[name], np.int64) + shift)
        made = made.set_column(made.schema.get_field_index(name), name, moved)
    return made


def _check(trials: Any, discount: Any, way: Any, width: Any, epsilon: Any, longest: Any, episodes: Any) -> None:
    whole = (("trials", trials, 1), ("episodes", episodes, 2), ("longest", longest or 1, 1))
    for name, value, least in whole:
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
            raise ParameterError(f"{name} is a whole number, at least {least}; got {value!r}")
    if not (isinstance(discount, int | float | np.floating) and 0.0 <= discount < 1.0):
        raise ParameterError(f"discount must be a number of at least 0 and below 1; got {discount!r}")
    if way not in ("optimistic", "epsilon-greedy"):
        raise ParameterError(f"way is 'optimistic' or 'epsilon-greedy'; got {way!r}")
    if not (isinstance(width, int | float | np.floating) and 0.0 <= width < np.inf):
        raise ParameterError(f"width is a finite number of standard errors, 0 or more; got {width!r}")
    if not (isinstance(epsilon, int | float | np.floating) and 0.0 <= epsilon <= 1.0):
        raise ParameterError(f"epsilon is a share from 0 to 1; got {epsilon!r}")
