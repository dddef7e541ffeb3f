"""The map of a network in plain words."""

from __future__ import annotations

from assay.asking.words import Words, chance
from assay.questions.network_map.answer import NetworkMap
from assay.views.axes.numbers import percent

WORDS = Words(
    "map of the network",
    "maps of the network",
    statistic="Links nearer than pairs with as many links",
    statistic_format=percent,
    unseen="On unseen links",
    held_out="of links nearer than a pair with as many links",
    held_out_format=percent,
    units=("link", "links"),
    stability="Nodes stay in their place",
    stability_format=percent,
    reading="A map is made without some of the links. If it shows who belongs with whom, the ends of those links lie "
    "nearer to each other on it than two nodes with as many links that are not linked. One half does by chance.",
)


def line(drawn: NetworkMap) -> str:
    """How often an unseen link is nearer than another pair, here and by chance."""
    evidence = drawn.evidence
    if evidence.verdict == "not testable here":
        return "A map of the network cannot be told from chance: the numbers of links leave no other network"
    more = {"supported": "shows more than chance", "suggestive": "may show more than chance"}
    near = f"links are nearer in {percent(evidence.statistic)}, {percent(float(drawn.chance.mean()))} by chance"
    return f"A map of the network {more.get(evidence.verdict, 'shows no more than chance')}: {near}"


def sentence(drawn: NetworkMap) -> str:
    """How often an unseen link is nearer than a pair with as many links, here and in random graphs."""
    evidence = drawn.evidence
    size = (
        f"made without some links, it puts the ends of such a link nearer to each other than two nodes with as many "
        f"links that are not linked in {percent(evidence.statistic)}"
    )
    part = ""
    if drawn.share < 1.0:
        part = f" {percent(drawn.share)} of the nodes with links are on it; no path leads to the others."
    if evidence.verdict == "not testable here":
        no_other = "and the numbers of links leave no other network"
        return f"A map of the network cannot be told from chance: {size}, {no_other}.{part}"
    by_chance = (
        f"50% by chance, {percent(float(drawn.chance.mean()))} in random networks with the same numbers of links"
    )
    unseen = ""
    if evidence.held_out is not None and evidence.interval is not None:
        low, high = (percent(end) for end in evidence.interval)
        unseen = f" Over five folds of links it is {percent(evidence.held_out)} (95% interval {low} to {high})."
    said = {
        "supported": "A map of the network shows more than chance",
        "suggestive": "A map of the network may show more than chance",
        "not distinguishable from chance": "A map of the network would show no more than chance",
    }[evidence.verdict]
    return f"{said}: {size} ({by_chance}; {chance(evidence)}).{unseen}{part}"
