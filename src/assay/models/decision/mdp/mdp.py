"""Decision processes: what is the best to do in each state, when what comes next is chance?

    v(s)   = max_a q(s, a)                                          values, (n,)
    q(s,a) = r(s, a) + discount sum_t p(t | s, a) v(t)              action values, (n, k)
    r(s,a) = sum_t p(t | s, a) r(s, a, t)                           expected rewards
    v_pi   = (I - discount P_pi)^-1 r_pi                            of a policy pi, P_pi (n, n)

Transitions are held as sparse rows, one for each action that can be taken in a state. A state without any is an end.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from assay.arrays import Array, Whole
from assay.errors import DataError, NotConverged, ParameterError
from assay.models.decision.mdp.bellman import (
    Process,
    Solved,
    endless,
    modified_policy_iteration,
    never_ending,
    policy_iteration,
    policy_values,
    scaled,
    unscaled,
    value_iteration,
)
from assay.models.decision.mdp.layout import Names, StateLayout, of_matrices, of_rows, some
from assay.models.decision.mdp.solution import Solution
from assay.models.decision.mdp.table import opened, rows_of, write
from assay.models.shares import may_be_off


class MDP:
    """A decision process with finitely many states and actions.

    Args:
        transitions: a matrix (n, n) of probabilities for each action, dense or sparse, or an array (k, n, n). A row of
            zeros: the action cannot be taken in that state. A state without any action is an end.
        rewards: (n,) of states, (n, k) of actions in states, or a matrix (n, n) for each action, of transitions. With
            rewards of states an end is worth its reward, otherwise 0.
        discount: of the next step, from 0 to 1; with 1 every policy must come to an end.
        states: n names; numbers from 0 when not given.
        actions: k names; numbers from 0 when not given.

    Attributes:
        states: n names.
        actions: k names.
        discount: of the next step.
        notes: what was found on the way: ends, transitions added up or left out.

    >>> wait, go = [[1.0, 0.0], [0.0, 1.0]], [[0.2, 0.8], [0.0, 1.0]]
    >>> process = MDP([wait, go], [[0.0, -1.0], [1.0, 1.0]], 0.5, states=["here", "there"], actions=["wait", "go"])
    >>> found = process.policy_iteration()
    >>> found.values, found.policy
    (array([0., 2.]), {'here': 'wait', 'there': 'wait'})
    >>> found.ties
    {'there': ('wait', 'go')}
    """

    def __init__(
        self,
        transitions: Any,
        rewards: Any,
        discount: float,
        *,
        states: Names | None = None,
        actions: Names | None = None,
    ) -> None:
        layout, states, actions = of_matrices(transitions, rewards, states, actions)
        self._set(layout, states, actions, discount)

    @classmethod
    def read(cls, data: Any, discount: float) -> MDP:
        """From a table with the columns state, action, next, probability and reward, a row for each transition.

        Names are text, in the order in which they appear. Rows of the same transition are added up. A row with a state
        and no action, next and probability is an end, and its reward what that is worth. Without a column of rewards
        all are 0.

        Args:
            data: a path, a frame, an Arrow table, a `Source`, or a list of rows.
            discount: of the next step, from 0 to 1.

        >>> MDP.read([("a", "go", "b", 0.5, 1), ("a", "go", "a", 0.5, 0)], 0.5).policy_iteration().values.round(3)
        array([0.667, 0.   ])
        """
        rows = rows_of(opened(data))
        if not len(rows.p):
            raise DataError("no state has an action: there is nothing to decide; give a row for each transition")
        layout = of_rows(
            rows.state, rows.action, rows.after, rows.p, rows.reward, rows.final, rows.states, rows.actions
        )
        return cls._of(layout, rows.states, rows.actions, discount)

    @classmethod
    def from_triples(cls, rows: Any, discount: float) -> MDP:
        """From rows of (state, action, next, probability, reward): `read` by another name.

        Args:
            rows: whatever `read` takes.
            discount: of the next step, from 0 to 1.
        """
        return cls.read(rows, discount)

    @classmethod
    def from_gym(cls, env: Any, discount: float) -> MDP:
        """From the table of transitions `P` of an environment of Gymnasium, such as FrozenLake or Taxi.

        Args:
            env: the environment, or its name. Its states and actions must be numbered.
            discount: of the next step, from 0 to 1.
        """
        from assay.models.decision.mdp.gym.environment import environment, layout_of

        return cls._of(*layout_of(environment(env)), discount)

    @classmethod
    def _of(cls, layout: StateLayout, states: Names, actions: Names, discount: float) -> MDP:
        made = cls.__new__(cls)
        made._set(layout, states, actions, discount)
        return made

    def _set(self, layout: StateLayout, states: Names, actions: Names, discount: float) -> None:
        self._layout, self.states, self.actions = layout, states, actions
        self.discount = _as_discount(discount)
        ends = [states[s] for s in np.flatnonzero(np.diff(layout.first) == 0).tolist()]
        found = (
            (f"States without an action, where the process ends ({some(ends)})", len(ends)),
            ("Rows that repeat a transition of another row, added up", layout.merged),
            ("Transitions of probability 0, left out", layout.dropped),
        )
        self.notes = tuple(f"{what}: {count:,}." for what, count in found if count)

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return len(self.states)

    @property
    def n_actions(self) -> int:
        """How many actions there are."""
        return len(self.actions)

    def with_discount(self, discount: float) -> MDP:
        """The same process with another discount."""
        return MDP._of(self._layout, self.states, self.actions, discount)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table that `read` reads, whole or not at all."""
        write(path, self._layout, self.states, self.actions)

    def value(self, policy: Any) -> Array:
        """(n,) values of a policy, by a sparse linear solution.

        Args:
            policy: a mapping from states to actions, or to mappings from actions to probabilities; n actions in the
                order of the states; (n, k) probabilities; or what a solver found. Ends need none.
        """
        weights = self._weights(policy)
        m, n = self._layout, self.n_states
        pairs = sparse.csr_array((m.p, m.after, m.start), shape=(len(m.r), n))
        P = sparse.csr_array(weights @ pairs)
        unit, process = scaled(self._process)
        rewards = np.asarray(weights @ process.r) + process.final
        if self.discount == 1.0:
            resting = (P.diagonal() == 1.0) & (rewards == 0.0)
            P = sparse.csr_array(sparse.diags_array((~resting).astype(np.float64)) @ P)
            P.eliminate_zeros()
            lost = never_ending(P, resting | (np.diff(m.first) == 0))
            if len(lost):
                raise ParameterError(
                    f"with discount 1 the policy has no values: from {self._some(lost)} it never comes to an end; take "
                    "a discount below 1, or another policy"
                )
        return unscaled(policy_values(process, P, rewards), unit)

    def value_iteration(self, *, tol: float = 1e-9, max_iter: int = 100_000) -> Solution:
        """Apply Bellman's equation until the span of the change bounds the distance from the optimum.

        Args:
            tol: largest distance from the optimum, as a share of the largest reward.
            max_iter: most iterations.
        """
        _check(tol, max_iter)
        return self._solved("value iteration", lambda process: value_iteration(process, tol=tol, max_iter=max_iter))

    def policy_iteration(
        self, *, start: Any = None, max_iter: int = 1000, callback: Callable[[int, Array], object] | None = None
    ) -> Solution:
        """Solve for the values of a policy and take the best actions, until none is better.

        Args:
            start: the policy to begin with, without chance; the best at once when not given.
            max_iter: most policies.
            callback: called with the number of each policy and its values (n,).
        """
        _check(0.0, max_iter)
        chosen = None if start is None else self._one_each(start)

        def run(process: Process) -> Solved:
            first = None if chosen is None else self._reduced[1](chosen)
            return policy_iteration(process, chosen=first, max_iter=max_iter, callback=callback)

        return self._solved("policy iteration", run)

    def modified_policy_iteration(self, *, tol: float = 1e-9, max_iter: int = 100_000, sweeps: int = 50) -> Solution:
        """Value iteration with sweeps of the policy found in between: the fastest for many states.

        Args:
            tol: largest distance from the optimum, as a share of the largest reward.
            max_iter: most iterations.
            sweeps: most sweeps in each.
        """
        _check(tol, max_iter)
        if not (isinstance(sweeps, int | np.integer) and sweeps >= 1):
            raise ParameterError(f"sweeps must be a whole number of at least 1; got {sweeps!r}")
        return self._solved(
            "modified policy iteration",
            lambda process: modified_policy_iteration(process, tol=tol, max_iter=max_iter, sweeps=sweeps),
        )

    def unreachable(self, start: Hashable | Sequence[Hashable]) -> tuple[Hashable, ...]:
        """The states to which no policy leads from a start.

        Args:
            start: the name of a state, or a list of names.
        """
        begin = np.zeros(self.n_states, np.bool_)
        for name in start if isinstance(start, list) else [start]:
            begin[self._state(name)] = True
        m = self._layout
        leads = sparse.csr_array((m.p, m.after, m.start[m.first]), shape=(self.n_states, self.n_states))
        return tuple(self.states[s] for s in never_ending(sparse.csr_array(leads.T), begin))

    @cached_property
    def _process(self) -> Process:
        m = self._layout
        return Process(m.first, m.start, m.after, m.p, m.r, m.final, self.discount)

    @cached_property
    def _reduced(self) -> tuple[Process, Callable[[Whole], Whole], Whole]:
        """The process to solve, how pairs are numbered in it, and which are in it.

        With discount 1 states that are never left and give nothing are ends.
        """
        process = self._process
        if self.discount < 1.0:
            return process, lambda chosen: chosen, np.arange(len(process.r))
        owner, sizes = process.owner, np.diff(process.start)
        resting = (sizes == 1) & (process.after[process.start[:-1]] == owner) & (process.r == 0.0)
        still = np.bincount(owner[~resting], minlength=process.n) == 0
        stays = ~still[owner]
        numbers = np.flatnonzero(stays)
        place = np.full(len(owner) + 1, -1)
        place[numbers] = np.arange(len(numbers))
        rows = np.repeat(stays, sizes)
        less = replace(
            process,
            first=np.searchsorted(owner[stays], np.arange(process.n + 1)),
            start=np.concatenate([[0], np.cumsum(sizes[stays])]),
            after=process.after[rows],
            p=process.p[rows],
            r=process.r[stays],
        )
        return less, lambda chosen: place[chosen], numbers

    def _solved(self, method: str, solve: Callable[[Process], Solved]) -> Solution:
        m = self._layout
        process, _, numbers = self._reduced
        lost = endless(process) if self.discount == 1.0 else np.empty(0, np.int64)
        if len(lost):
            raise ParameterError(
                f"with discount 1 every policy must come to an end, but from {self._some(lost)} one exists that never "
                "does; take a discount below 1, or leave out the actions that stay there"
            )
        found = solve(process)
        q, chosen = found.pair_values, found.chosen
        if process is not self._process:
            q = np.zeros(len(m.r))
            q[numbers] = found.pair_values
            chosen = np.where(np.diff(m.first) > 0, m.first[:-1], -1)
            going = found.chosen >= 0
            chosen[going] = numbers[found.chosen[going]]
        if not found.converged:
            warnings.warn(
                f"{method} stopped after {found.n_iter} iterations: values may be {found.distance:.3g} from the "
                "optimum; raise max_iter, or use policy_iteration",
                NotConverged,
                stacklevel=3,
            )
        owner = np.repeat(np.arange(self.n_states, dtype=np.int32), np.diff(m.first))
        best = np.zeros(self.n_states)
        best[chosen >= 0] = q[chosen[chosen >= 0]]
        close = 2.0 * (self.discount * found.distance + found.rounding)
        return Solution(
            method=method,
            discount=self.discount,
            states=self.states,
            actions=self.actions,
            values=found.values,
            chosen=np.where(chosen >= 0, m.action[chosen], -1).astype(np.int64),
            residual=found.residual,
            distance=found.distance,
            n_iter=found.n_iter,
            converged=found.converged,
            pairs=np.stack([owner, m.action], axis=1),
            pair_values=q,
            tied=q >= best[owner] - close,
            layout=m,
            entering=self._entering,
        )

    @cached_property
    def _entering(self) -> Array:
        m = self._layout
        reward = np.repeat(m.r, np.diff(m.start)) if m.each is None else m.each
        weight = np.bincount(m.after, m.p, minlength=self.n_states)
        total = np.bincount(m.after, m.p * reward, minlength=self.n_states)
        return np.asarray(np.divide(total, weight, out=np.zeros(self.n_states), where=weight > 0.0) + m.final)

    def _one_each(self, policy: Any) -> Whole:
        weights = self._weights(policy)
        if not (weights.data == 1.0).all():
            raise ParameterError("policy iteration begins with one action in each state, not with probabilities")
        chosen = np.full(self.n_states, -1)
        chosen[np.repeat(np.arange(self.n_states), np.diff(weights.indptr))] = weights.indices
        return chosen

    def _weights(self, policy: Any) -> sparse.csr_array:
        """(n, m) how probable a policy makes each pair."""
        m, n = self._layout, self.n_states
        state: Whole
        if isinstance(policy, Solution):
            if policy.states != self.states or policy.actions != self.actions:
                raise ParameterError("the solution is of a process with other states or actions; solve this one")
            state = np.flatnonzero(policy.chosen >= 0)
            return self._paired(state, policy.chosen[state], np.ones(len(state)))
        if isinstance(policy, np.ndarray) and policy.dtype.kind == "f" and policy.shape == (n, self.n_actions):
            policy = np.where(np.repeat(np.diff(m.first) == 0, self.n_actions).reshape(policy.shape), 0.0, policy)
            state, action = np.nonzero(policy)
            return self._paired(state, action, policy[state, action])
        if isinstance(policy, Mapping):
            given = {self._state(name): told for name, told in policy.items()}
        elif isinstance(policy, list | tuple | np.ndarray) and len(policy) == n and np.ndim(policy) == 1:
            given = dict(enumerate(policy.tolist() if isinstance(policy, np.ndarray) else policy))
        else:
            raise ParameterError(
                f"a policy is a mapping from states to actions, {n} actions, or an array ({n}, {self.n_actions}) of "
                f"probabilities; got {type(policy).__name__}"
            )
        rows = [
            (s, self._action(action), p)
            for s, told in given.items()
            if told is not None
            for action, p in (told.items() if isinstance(told, Mapping) else ((told, 1.0),))
        ]
        found = np.array(rows, np.float64).reshape(-1, 3)
        return self._paired(found[:, 0].astype(np.int64), found[:, 1].astype(np.int64), found[:, 2])

    def _paired(self, state: Whole, action: Whole, p: Array) -> sparse.csr_array:
        m, k = self._layout, self.n_actions
        keys = np.repeat(np.arange(self.n_states), np.diff(m.first)) * k + m.action
        at = np.minimum(np.searchsorted(keys, state * k + action), len(keys) - 1)
        off = np.flatnonzero(keys[at] != state * k + action)
        if len(off):
            s = int(state[off[0]])
            there = [self.actions[a] for a in m.action[m.first[s] : m.first[s + 1]]]
            known = f"there are {some(there)}" if there else "the process ends there"
            raise ParameterError(
                f"the policy takes action {self.actions[action[off[0]]]!r} in state {self.states[s]!r}, where it "
                f"cannot be taken; {known}"
            )
        bad = np.flatnonzero(~(np.isfinite(p) & (p >= 0.0)))
        if len(bad):
            raise ParameterError(
                f"the policy takes action {self.actions[action[bad[0]]]!r} in state {self.states[state[bad[0]]]!r} "
                f"with probability {p[bad[0]]:g}; probabilities are finite and not negative"
            )
        sums = np.bincount(state, p, minlength=self.n_states)
        sizes = np.bincount(state, minlength=self.n_states)
        off = np.flatnonzero((np.abs(sums - 1.0) > may_be_off(p.dtype, sizes)) & (np.diff(m.first) > 0))
        if len(off):
            s = int(off[0])
            said = (
                "has no action" if sums[s] == 0.0 else f"has actions whose probabilities sum to {sums[s]:.10g}, not 1,"
            )
            raise ParameterError(f"the policy {said} in state {self.states[s]!r}; give every state that is no end one")
        p = p / sums[state] if p.dtype != np.float64 else p
        return sparse.csr_array((p, (state, at)), shape=(self.n_states, len(m.r)))

    @cached_property
    def _numbers(self) -> tuple[dict[Hashable, int], dict[Hashable, int]]:
        return {s: i for i, s in enumerate(self.states)}, {a: i for i, a in enumerate(self.actions)}

    def _state(self, name: Hashable) -> int:
        if name not in self._numbers[0]:
            raise ParameterError(f"there is no state {name!r}; there are {some(self.states)}")
        return self._numbers[0][name]

    def _action(self, name: Hashable) -> int:
        if name not in self._numbers[1]:
            raise ParameterError(f"there is no action {name!r}; there are {some(self.actions)}")
        return self._numbers[1][name]

    def _some(self, lost: Whole) -> str:
        many = f" ({len(lost):,} states)" if len(lost) > 1 else ""
        return f"{some([self.states[s] for s in lost[:20]])}{many}"

    def __repr__(self) -> str:
        return (
            f"MDP({self.n_states:,} states, {self.n_actions} actions, {len(self._layout.p):,} transitions, "
            f"discount {self.discount:g})"
        )


def _as_discount(discount: Any) -> float:
    real = isinstance(discount, int | float | np.integer | np.floating) and not isinstance(discount, bool)
    if not (real and 0.0 <= discount <= 1.0):
        raise ParameterError(f"discount must be a number from 0 to 1, how much the next step counts; got {discount!r}")
    return float(discount)


def _check(tol: Any, max_iter: Any) -> None:
    if not (isinstance(tol, int | float | np.floating) and 0.0 <= tol < np.inf):
        raise ParameterError(f"tol must be a finite number, not negative; got {tol!r}")
    if not (isinstance(max_iter, int | np.integer) and max_iter >= 1):
        raise ParameterError(f"max_iter must be a whole number of at least 1; got {max_iter!r}")
