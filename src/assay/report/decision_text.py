"""What is best to do in a decision process, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from assay.models.decision.mdp.learning.learned import Learned
from assay.models.decision.mdp.solution import Solution
from assay.report.text import Line, say

_SHOWN = 100


def show(found: Solution, notes: tuple[str, ...], console: Console) -> None:
    """Print the best action and the value of each state, of the first hundred at most.

    Args:
        found: what solving the process gave.
        notes: of the process.
        console: a rich console.
    """
    say(_lines(found, notes), console)


def show_learned(found: Learned, console: Console) -> None:
    """Print the best action of each state, with what cannot be told from it, and whether more trials would change it.

    Args:
        found: what was learned from trials.
        console: a rich console.
    """
    say(_learned(found), console)


def _learned(found: Learned) -> Iterator[Line]:
    size = f"{found.n_trials:,} trials, {found.n_steps:,} steps: {found.mdp.n_states:,} states"
    yield 0, "bold", f"{size}, {found.mdp.n_actions:,} actions, discount {found.mdp.discount:g}"
    for note in found.notes:
        yield 0, "yellow", f"Note: {note}"
    choices, inside = found.choices, found.intervals()
    flagged, at = choices.flagged, {state: i for i, state in enumerate(choices.states)}
    for s, state in enumerate(found.mdp.states[:_SHOWN]):
        if state not in at:
            yield 1, "", f"{state}: the process ends"
            continue
        i = at[state]
        worth = f"worth {found.values[s]:.4g} ({inside.low[s]:.4g} to {inside.high[s]:.4g})"
        may = f" - or {choices.others[i]}: {flagged[state]}" if state in flagged else ""
        yield 1, "", f"{state}: {choices.actions[i]}, {worth}{may}"
    if found.mdp.n_states > _SHOWN:
        yield 1, "", f"... and {found.mdp.n_states - _SHOWN:,} states more; --json FILE has all"
    clear, tested = int(choices.distinguishable.sum()), sum(other is not None for other in choices.others)
    yield 0, "", f"In {clear:,} of {tested:,} states with a choice it can be told from every other, all states counted."
    yield 0, "", found.more_trials.sentence


def _lines(found: Solution, notes: tuple[str, ...]) -> Iterator[Line]:
    yield 0, "bold", f"{len(found.states):,} states, {len(found.actions):,} actions, discount {found.discount:g}"
    for note in notes:
        yield 0, "yellow", f"Note: {note}"
    ties = found.ties
    for state, a, value in zip(found.states[:_SHOWN], found.chosen.tolist(), found.values.tolist(), strict=False):
        others = [str(action) for action in ties.get(state, ()) if action != found.actions[a]]
        does = "the process ends" if a < 0 else f"{found.actions[a]}"
        yield 1, "", f"{state}: {does}, worth {value:.6g}" + (f" (as good: {', '.join(others)})" if others else "")
    if len(found.states) > _SHOWN:
        yield 1, "", f"... and {len(found.states) - _SHOWN:,} states more; --json FILE has all"
    how = f"By {found.method}, {found.n_iter} iterations"
    off = f"Bellman's equation is violated by at most {found.residual:.1g}"
    yield 0, "", f"{how}; {off}, no value is further than {found.distance:.1g} from the optimum."
