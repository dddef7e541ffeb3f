"""The map of the rows in plain words."""

from __future__ import annotations

from assay.asking.words import Words, chance
from assay.questions.map.answer import RowMap
from assay.views.axes.numbers import percent

WORDS = Words(
    "map of the rows",
    "maps of the rows",
    statistic="Share of nearest rows kept",
    statistic_format=percent,
    held_out="of nearest rows kept",
    held_out_format=percent,
    stability="Neighbours kept from one start to another",
    stability_format=percent,
)


def line(drawn: RowMap) -> str:
    """How much of the neighbourhoods the map keeps, here and by chance."""
    evidence = drawn.evidence
    if evidence.verdict == "not testable here":
        return "A map of the rows cannot be told from chance: maps of shuffled columns keep as much"
    size = f"keeps {percent(evidence.statistic)} of nearest rows, shuffled ones {percent(float(drawn.chance.mean()))}"
    more = {"supported": "shows more than chance", "suggestive": "may show more than chance"}
    return f"A map of the rows {more.get(evidence.verdict, 'shows no more than chance')}: it {size}"


def sentence(drawn: RowMap) -> str:
    """How much of the neighbourhoods in the data the map keeps, for rows on it and kept out, and what chance keeps."""
    evidence = drawn.evidence
    size = f"of the {drawn.k} rows nearest to a row it keeps {percent(evidence.statistic)} on average"
    by_chance = f"maps of shuffled columns keep {percent(float(drawn.chance.mean()))} ({chance(evidence)})"
    unseen = ""
    if evidence.held_out is not None and evidence.interval is not None:
        low, high = evidence.interval
        unseen = (
            f" Rows that were kept out and then placed on it keep {percent(evidence.held_out)} "
            f"(95% interval {percent(low)} to {percent(high)})."
        )
    if evidence.verdict == "supported":
        return f"A map of the rows shows more than chance: {size}; {by_chance}.{unseen}"
    if evidence.verdict == "suggestive":
        return f"A map of the rows may show more than chance: {size}; {by_chance}.{unseen}"
    if evidence.verdict == "not testable here":
        return f"A map of the rows cannot be told from chance: {size}, and so does every map of shuffled columns."
    return f"A map of the rows would show no more than chance: {size}; {by_chance}.{unseen}"
