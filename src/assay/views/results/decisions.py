"""What is best to do, what that is worth, and what was learned on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.views.decisions.policy_curve import policy_curve_view
from assay.views.decisions.policy_graph import policy_graph
from assay.views.decisions.policy_grid import CELLS, grid_of, policy_grid
from assay.views.figures import Panel
from assay.views.prediction.coefficients import SHOWN, coefficient_view

Shape = tuple[int, int] | None


def solution(found: Any, *, shape: Shape = None) -> list[Panel]:
    """The policy on its grid where states lie on one, otherwise as a graph.

    Args:
        found: what a solver of `MDP` gives.
        shape: rows and columns of the grid, where names do not tell.
    """
    return [policy_panel(found, shape, None)]


def learned(found: Any, *, shape: Shape = None) -> list[Panel]:
    """The policy with what cannot be told apart in it, and the values with their intervals.

    Args:
        found: from `assay.learn_mdp`.
        shape: rows and columns of the grid, where names do not tell.
    """
    flagged = found.choices.flagged
    drawn = policy_panel(found.solution, shape, [state in flagged for state in found.mdp.states])
    inside = found.intervals()
    live = np.flatnonzero(found.solution.chosen >= 0)
    live = live[np.argsort(-found.values[live], kind="stable")][:SHOWN]
    values = coefficient_view(
        found.values[live], [str(found.mdp.states[i]) for i in live], low=inside.low[live], high=inside.high[live],
        x_label="value of the policy learned", in_order=True,
    )  # fmt: skip
    words = f"{inside.level:.0%} of {found.draws} draws of {found.by}; lower ends heed that they chose the policy, too."
    return [drawn, Panel("Values", values, f"{words} {found.more_trials.sentence}")]


def curve(found: Any) -> list[Panel]:
    """What the policy was worth after more and more trials.

    Args:
        found: `curve` of what `assay.explore` gives.
    """
    exact = bool(np.array_equal(found.low, found.high))
    drawn = policy_curve_view(
        found.trials, found.value, low=None if exact else found.low, high=None if exact else found.high,
        level=found.optimum,
    )  # fmt: skip
    band = "" if exact else " Band: 95% intervals."
    words = (
        f"{found.environment}, {int(found.steps[-1]):,} steps, discount {found.discount:g}; measured {found.measured}."
    )
    return [Panel("What the policy learned is worth", drawn, words + band)]


def exploration(found: Any, *, shape: Shape = None) -> list[Panel]:
    """The learning curve and the policy learned.

    Args:
        found: from `assay.explore`.
        shape: rows and columns of the grid, where names do not tell.
    """
    return [*curve(found.curve), policy_panel(found.learned.solution, shape, None)]


def policy_panel(found: Any, shape: Shape = None, faint: Any = None) -> Panel:
    """The policy on its grid where states lie on one, otherwise as a graph.

    Args:
        found: what a solver of `MDP` gives.
        shape: rows and columns of the grid, where names do not tell.
        faint: n, whether the action of a state cannot be told from another.
    """
    actions = [None if a < 0 else found.actions[a] for a in found.chosen.tolist()]
    leads = found.leads
    grid = grid_of(found.states, leads, shape, len(found.actions))
    if grid is not None and grid.shape[0] * grid.shape[1] <= CELLS:
        drawn = policy_grid(
            grid, found.states, found.values, actions,
            moves={action: found.leads_by(a) for a, action in enumerate(found.actions)},
            entering=found.entering, faint=faint,
        )  # fmt: skip
        rows, columns = grid.shape
        words = "Arrows: the best action; numbers: what the state is worth."
        if grid.guessed:
            words += f" Actions lead to neighbours on a grid of {rows} x {columns}, so it is drawn as one."
        return Panel("The best action in each state", drawn, words)
    graph = policy_graph(found.states, found.values, actions, leads, faint=faint)
    return Panel("The best action in each state", graph, "Where the best action of each state leads.")
