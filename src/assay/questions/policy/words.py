"""What is best to do, in plain words."""

from __future__ import annotations

from assay.asking.words import Words, chance
from assay.questions.policy.answer import Policy
from assay.views.axes.numbers import count, counted, number

WORDS = Words(
    "policy",
    "policies",
    statistic="Gain over what was done",
    unseen="On trials not learned from",
    held_out="more than what was done",
    units=("trial", "trials"),
    reading="Gain of a policy: what it is worth more than doing what was done, where trials begin, with later rewards "
    "discounted. It is learned from one half of the trials and measured on the other, in the process that this half "
    "says, and compared with trials whose actions were exchanged within states, so that they cannot matter.",
)


def line(found: Policy) -> str:
    """What the policy is worth more on trials it was not learned from."""
    gain = f"{number(found.evidence.held_out)} more on trials not learned from"
    if found.evidence.verdict == "supported":
        return f"What is done matters: the best actions are worth {gain}"
    if found.evidence.verdict == "suggestive":
        return f"What is done may matter: the best actions are worth {gain}"
    return "No policy is better than what was done, as far as these trials tell"


def sentence(found: Policy) -> str:
    """What the policy is worth more, against chance, and in how many states its choice is clear."""
    evidence, learned = found.evidence, found.learned
    low, high = evidence.interval or (float("nan"), float("nan"))
    gain = f"{number(evidence.held_out)} ({number(low)} to {number(high)})"
    if evidence.verdict == "supported":
        clear, states = int(found.clear.sum()), len(learned.choices.states)
        told = (
            f"What is done matters: policies learned from half of the trials are worth {number(learned.held_out[0])} "
            f"on the other half, {gain} more than what was done there ({chance(evidence)}). In {count(clear)} of "
            f"{counted(states, 'state')} the best action can be told from every other"
        )
        return f"{told}; in the others it may as well be another." if clear < states else f"{told}."
    if evidence.verdict == "suggestive":
        return (
            f"What is done may matter: policies learned from half of the trials are worth {gain} more on the other "
            f"half than what was done there ({chance(evidence)})."
        )
    return (
        f"No policy is better than what was done, as far as these trials tell: those learned from half of them gain "
        f"{gain} on the other half, and as much where actions are exchanged so that they cannot matter "
        f"({chance(evidence)})."
    )
