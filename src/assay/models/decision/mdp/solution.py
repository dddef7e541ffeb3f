"""What solving a decision process gives."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from assay.arrays import Array, Whole
from assay.models.decision.mdp.layout import Names, StateLayout


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Values of a decision process and the actions that reach them.

    Attributes:
        method: "value iteration", "policy iteration" or "modified policy iteration".
        discount: of the process.
        states: n names.
        actions: k names.
        values: (n,) of the states.
        chosen: (n,) number of the best action, the first of equal ones; -1 where the process ends.
        residual: largest violation of Bellman's equation by the values.
        distance: no value is further than this from the optimum.
        n_iter: iterations.
        converged: whether the tolerance was met.
        pairs: (m, 2) numbers of state and action of each pair there is.
        pair_values: (m,) their values.
        tied: (m,) whether a pair is the best or, within the accuracy, as good.
        layout: all transitions.
        entering: (n,) mean reward of steps that lead to a state, and what it is worth if it is an end.
    """

    method: str
    discount: float
    states: Names
    actions: Names
    values: Array
    chosen: Whole
    residual: float
    distance: float
    n_iter: int
    converged: bool
    pairs: Whole
    pair_values: Array
    tied: Any
    layout: StateLayout
    entering: Array

    @property
    def policy(self) -> dict[Hashable, Hashable]:
        """The action of each state; None where the process ends."""
        return {
            state: None if a < 0 else self.actions[a]
            for state, a in zip(self.states, self.chosen.tolist(), strict=True)
        }

    @property
    def leads(self) -> sparse.csr_array:
        """(n, n) where the chosen actions lead, with which probability."""
        keys = self.pairs[:, 0] * len(self.actions) + self.pairs[:, 1]
        live = np.flatnonzero(self.chosen >= 0)
        return self._rows(live, np.searchsorted(keys, live * len(self.actions) + self.chosen[live]))

    def leads_by(self, action: int) -> sparse.csr_array:
        """(n, n) where one action leads, from all states in which it can be taken.

        Args:
            action: its number.
        """
        pairs = np.flatnonzero(self.pairs[:, 1] == action)
        return self._rows(self.pairs[pairs, 0], pairs)

    def _rows(self, states: Whole, pairs: Whole) -> sparse.csr_array:
        m, n = self.layout, len(self.states)
        every = sparse.csr_array((m.p, m.after, m.start), shape=(len(m.r), n))
        pick = sparse.csr_array((np.ones(len(pairs)), (states, pairs)), shape=(n, len(m.r)))
        return sparse.csr_array(pick @ every)

    @property
    def action_values(self) -> Array:
        """(n, k) value of each action in each state, NaN where it cannot be taken."""
        table = np.full((len(self.states), len(self.actions)), np.nan)
        table[self.pairs[:, 0], self.pairs[:, 1]] = self.pair_values
        return table

    @property
    def ties(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The actions of each state that has several which the accuracy of the values does not tell apart."""
        owner = self.pairs[self.tied, 0]
        several = np.bincount(owner, minlength=len(self.states)) > 1
        found: dict[Hashable, list[Hashable]] = {}
        for s, a in self.pairs[self.tied][several[owner]].tolist():
            found.setdefault(self.states[s], []).append(self.actions[a])
        return {state: tuple(actions) for state, actions in found.items()}

    def as_dict(self) -> dict[str, Any]:
        """For JSON: names as text."""
        ties = self.ties
        table = self.action_values
        return {
            "method": self.method,
            "discount": self.discount,
            "residual": self.residual,
            "distance": self.distance,
            "iterations": self.n_iter,
            "converged": self.converged,
            "states": [
                {
                    "state": str(state),
                    "value": float(self.values[s]),
                    "action": None if a < 0 else str(self.actions[a]),
                    "ties": [str(action) for action in ties.get(state, ())],
                    "action_values": {
                        str(action): float(table[s, i])
                        for i, action in enumerate(self.actions)
                        if not np.isnan(table[s, i])
                    },
                }
                for s, (state, a) in enumerate(zip(self.states, self.chosen.tolist(), strict=True))
            ],
        }

    def __repr__(self) -> str:
        return (
            f"Solution({self.method}, {len(self.states):,} states, {self.n_iter} iterations, "
            f"residual {self.residual:.2g}, distance {self.distance:.2g})"
        )
