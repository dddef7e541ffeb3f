"""Levels and tastes in plain words."""

from __future__ import annotations

from assay.asking.words import Words, chance
from assay.evidence.ratings import WHATS, What
from assay.questions.tastes.answer import Tastes
from assay.views.axes.numbers import count, number, percent

HEADS: dict[What, str] = {"users": "levels of users", "items": "levels of items", "tastes": "tastes"}
_OVER: dict[What, str] = {
    "users": "levels of items alone leave",
    "items": "levels of users alone leave",
    "tastes": "levels of users and items leave",
}
_READING: dict[What, str] = {
    "users": "Some users rate everything higher than others do. The level of a user with few ratings is drawn to the "
    "mean of all.",
    "items": "Some items are liked more by all. The level of an item with few ratings is drawn to the mean of all.",
    "tastes": "Factors say that users who like the one like the other too. They must predict held-out ratings better "
    "than levels do, even if each user is allowed a spread of his or her own and the scale may have ends.",
}
WORDS: dict[What, Words] = {
    what: Words(
        HEADS[what],
        HEADS[what],
        statistic="Share of the squared error taken away",
        statistic_format=percent,
        unseen="On held-out ratings",
        held_out=f"of the squared error that {_OVER[what]} is taken away",
        held_out_format=percent,
        units=("rating", "ratings"),
        reading=_READING[what],
    )
    for what in WHATS
}


def subject(what: What) -> str:
    """What a finding is about."""
    return "users and items" if what == "tastes" else what


def line(answer: Tastes, what: What) -> str:
    """Whether they differ, and how much of the error that explains."""
    evidence = answer.found.evidence(what)
    said = {
        "users": {"supported": "Users rate on different levels", "suggestive": "Users may rate on different levels"},
        "items": {"supported": "Some items are liked more by all", "suggestive": "Some items may be liked more by all"},
        "tastes": {"supported": "Tastes differ beyond levels", "suggestive": "Tastes may differ beyond levels"},
    }[what].get(evidence.verdict)
    if said is None:
        none = {"users": "Levels of users", "items": "Levels of items", "tastes": "Tastes"}[what]
        return f"{none} are not distinguishable from chance"
    return f"{said}: {percent(evidence.held_out)} less squared error on held-out ratings"


def sentence(answer: Tastes, what: What) -> str:
    """How much better held-out ratings are predicted, in which units, and what chance reaches."""
    evidence = answer.found.evidence(what)
    low, high = (percent(end) for end in evidence.interval or (None, None))
    gain, p = percent(evidence.held_out), chance(evidence)
    size = f"{gain} of the squared error that {_OVER[what]} on held-out ratings (95% interval {low} to {high}; {p})"
    if what == "tastes":
        return _of_tastes(answer, size, f"{p}, gain on held-out ratings {gain}")
    known = "user" if what == "users" else "item"
    if evidence.verdict == "supported":
        said = {"users": "Users rate on different levels", "items": "Some items are liked more, whoever rates"}[what]
        return f"{said}: knowing the {known} takes away {size}."
    if evidence.verdict == "suggestive":
        return f"There may be levels of {what}: knowing the {known} takes away {size}."
    many = answer.found.ratings.n_users if what == "users" else answer.found.ratings.n_items
    missed = f"{p}, gain on held-out ratings {gain}"
    return f"Levels of the {count(many)} {what} are not distinguishable from chance ({missed})."


def _of_tastes(answer: Tastes, size: str, missed: str) -> str:
    found = answer.found
    before, after = (number(found.error(name)[0]) for name in ("scales", "factors"))
    if found.tastes.verdict == "supported":
        return f"Tastes differ beyond levels: factors take away {size}; a prediction misses by {after}, not {before}."
    if found.tastes.verdict == "suggestive":
        return f"Tastes may differ beyond levels: factors take away {size}."
    return (
        "Tastes are not seen to differ: factors predict what levels leave no better than chance allows "
        f"({missed}). Recommend by the levels of the items."
    )
