"""The policy on its grid or as a graph, a table of the states, and what more trials would give."""

from __future__ import annotations

import numpy as np

from assay.asking.words import SURVIVED
from assay.questions.policy.answer import Policy
from assay.views.axes.numbers import count, number, percent, probability
from assay.views.decisions.policy_curve import policy_curve_view
from assay.views.html.escape import visible
from assay.views.html.searchable import searchable
from assay.views.html.view import View
from assay.views.results.decisions import policy_panel

_NAME = 40


def views(found: Policy) -> list[View]:
    """The policy where it stood up, and the curve in any case.

    Args:
        found: the numbers behind the finding.
    """
    drawn = [_map(found)] if found.evidence.verdict in SURVIVED else []
    return [*drawn, _growth(found)]


def _map(found: Policy) -> View:
    learned = found.learned
    unclear = {s for s, yes in zip(learned.choices.states, found.clear.tolist(), strict=True) if not yes}
    panel = policy_panel(learned.solution, faint=[state in unclear for state in learned.mdp.states])
    caption = (
        f"{panel.caption} Choices that cannot be told from another action, all states counted, are faint, or have a "
        "question mark."
    )
    return View("policy", panel.title, panel.figure, (), caption, _states(found))


def _states(found: Policy) -> str:
    learned, choices = found.learned, found.learned.choices
    inside = learned.intervals()
    at = {state: i for i, state in enumerate(learned.mdp.states)}
    rows = []
    for i, state in enumerate(choices.states):
        s = at[state]
        other = choices.others[i]
        rows.append(
            [
                visible(str(state), _NAME),
                visible(str(choices.actions[i]), _NAME),
                number(float(learned.values[s])),
                f"{number(float(inside.low[s]))} to {number(float(inside.high[s]))}",
                "" if other is None else visible(str(other), _NAME),
                "" if other is None else number(float(choices.gain[i])),
                percent(float(choices.best[i])),
                count(int(choices.seen[i])),
                "" if other is None else probability(float(choices.q[i])).removeprefix("= "),
                "yes" if found.clear[i] else "only action" if other is None else "no",
            ]
        )
    heads = ["State", "Best action", "Worth", "95% interval", "Next best", "Better by", "Best in draws", "Times taken",
             "q, all states", "Clear"]  # fmt: skip
    return searchable(
        "policy-states",
        "The best action in each state",
        heads,
        rows,
        numeric=(2, 5, 6, 7, 8),
        of="a state",
        first=_NAME,
    )


def _growth(found: Policy) -> View:
    learned = found.learned
    usual = float(learned._crossed.usual.mean())
    low, high = np.quantile(found.curve, (0.025, 0.975), axis=0)
    drawn = policy_curve_view(
        found.sizes, found.curve.mean(axis=0), low=low, high=high, level=usual, level_words="what was done",
        y_label="value on trials not learned from",
    )  # fmt: skip
    caption = (
        f"What policies of so many trials are worth on the other half of the trials; the band holds {len(found.curve)} "
        f"choices of them. {learned.more_trials.sentence}"
    )
    return View("policy-growth", "Would more trials help?", drawn, (), caption)
