"""The order of rows and columns in plain words."""

from __future__ import annotations

from assay.asking.words import Words, chance
from assay.questions.stringing.answer import Axis, ReorderedTable
from assay.views.axes.numbers import percent

_OTHERS = {"rows": "in columns", "columns": "on rows"}
WORDS = {
    what: Words(
        f"order of the {what}",
        f"orders of the {what}",
        statistic="Smoothness",
        statistic_format=percent,
        unseen=f"{_OTHERS[what].capitalize()} not used for the order",
        held_out="(by chance none)",
        held_out_format=percent,
        reading="Smoothness of an order: by how much less neighbours differ than two at random do. Noise looks smooth "
        "too once it is ordered, so it is compared with the orders of shuffled columns.",
    )
    for what in _OTHERS
}


def line(found: ReorderedTable, what: Axis) -> str:
    """How much less neighbours differ, here and by chance."""
    axis = found.by_row if what == "rows" else found.by_column
    size, usual = percent(axis.evidence.statistic), percent(1.0 - float(axis.chance.mean()))
    have = {"supported": "have an order", "suggestive": "may have an order"}
    said = have.get(axis.evidence.verdict, "have no order that shows")
    return f"The {what} {said}: neighbours differ by {size} less than others, {usual} by chance"


def sentence(found: ReorderedTable, what: Axis) -> str:
    """How much less neighbours differ than two at random, in what the order was not made of, and by chance."""
    axis = found.by_row if what == "rows" else found.by_column
    evidence = axis.evidence
    size = f"neighbouring {what} differ by {percent(evidence.statistic)} less than two at random"
    usual = percent(1.0 - float(axis.chance.mean()))
    by_chance = f"with shuffled columns they differ by {usual} less ({chance(evidence)})"
    unseen = ""
    if evidence.held_out is not None:
        unseen = (
            f" {_OTHERS[what].capitalize()} that were not used to find the order they still differ by "
            f"{percent(evidence.held_out)} less, where chance gives none."
        )
    if evidence.verdict == "supported":
        return f"The {what} have an order: reordered so that like stands beside like, {size}; {by_chance}.{unseen}"
    if evidence.verdict == "suggestive":
        return f"The {what} may have an order: reordered so that like stands beside like, {size}; {by_chance}.{unseen}"
    return f"The {what} have no order that shows: reordered, {size}; {by_chance}."
