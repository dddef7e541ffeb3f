"""What is best to do in a decision process, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

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
        yield 1, "", f"... and {len(found.states) - _SHOWN:,} states more; --json prints all"
    how = f"By {found.method}, {found.n_iter} iterations"
    off = f"Bellman's equation is violated by at most {found.residual:.1g}"
    yield 0, "", f"{how}; {off}, no value is further than {found.distance:.1g} from the optimum."
