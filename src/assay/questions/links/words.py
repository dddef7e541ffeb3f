"""Links told by the others, in plain words."""

from __future__ import annotations

from assay.asking.words import Words, chance, listed, one_line
from assay.models.network.link_prediction.prediction import CALLED
from assay.questions.links.answer import LinksTold
from assay.views.axes.numbers import count, counted, percent

WORDS = Words(
    "network whose links can be told",
    "networks whose links can be told",
    statistic="Links above pairs with as many links",
    statistic_format=percent,
    unseen="On unseen links",
    held_out="more of the comparisons won than by numbers of links alone",
    held_out_format=percent,
    units=("link", "links"),
    reading="Some links are taken out, and a score made of the others is to tell them from pairs that are not linked "
    "but have ends with as many links. One half is right by chance. The score is chosen without the links it is "
    "measured on.",
)


def _whole(value: float | None) -> str:
    return "none" if value is None else count(int(value))


ODD = Words(
    "surprising link",
    "surprising links",
    statistic="Surprising links",
    statistic_format=_whole,
    unseen="In the half of the nodes not used",
    held_out="of the neighbours in common that chance would give",
    held_out_format=percent,
    units=("link", "links"),
    reading="A link is surprising where its ends have so many links that chance would let them share neighbours, and "
    "they share hardly any: nothing else in the network leads one to expect it.",
)


def line(told: LinksTold) -> str:
    """Whether links can be told, and how often."""
    evidence = told.evidence
    if evidence.verdict == "not testable here":
        return "Whether links can be told cannot be tested: the numbers of links leave no other network"
    won = f"right in {percent(evidence.statistic)} of comparisons, {percent(float(told.chance.mean()))} by chance"
    can = {"supported": "can be told", "suggestive": "can perhaps be told"}.get(evidence.verdict, "cannot be told")
    return f"Who is linked {can} from the other links: {won}"


def odd_line(told: LinksTold) -> str:
    """How many links are surprising, and the first."""
    assert told.odd is not None
    odd, many = told.odd, told.surprising
    ends = told.found.name(int(odd.sources[0])), told.found.name(int(odd.targets[0]))
    said = f"{count(many)} of {counted(odd.judged, 'link')} {'is' if many == 1 else 'are'} surprising"
    arrow = "→" if told.directed else "–"
    first = ":" if many == 1 else ", most"
    return one_line(lambda short: f"{said}{first} {short(ends[0])} {arrow} {short(ends[1])}")


def sentence(told: LinksTold) -> str:
    """How often an unseen link is above a pair of like degrees, by chance and in random graphs; what it is told by."""
    evidence = told.evidence
    if evidence.verdict == "not testable here":
        return (
            f"Whether links of {told.name} can be told beyond the numbers of links of each node cannot be tested: "
            "these numbers leave no other network, or too little to compare."
        )
    by_chance = percent(float(told.chance.mean()))
    size = (
        f"of an unseen link and a pair that is not linked but has as many links, the link scores higher in "
        f"{percent(evidence.statistic)} (50% by chance, {by_chance} in random networks with the same numbers of links; "
        f"{chance(evidence)})"
    )
    if evidence.verdict not in ("supported", "suggestive"):
        return (
            f"Links of {told.name} cannot be told beyond the numbers of links of each node: {size}. So no link is "
            "called missing, and none surprising."
        )
    verb = "can" if evidence.verdict == "supported" else "may be such that they can"
    said = f"Links of {told.name} {verb} be told beyond the numbers of links of each node: {size}, by {_called(told)}."
    return said + (missing_sentence(told) if told.told else " No link is called missing.")


def missing_sentence(told: LinksTold) -> str:
    """How many of the pairs listed would be links."""
    if not told.missing:
        return ""
    many = len(told.missing)
    right = sum(one.chance for one in told.missing)
    pairs = [f"{one.source} {'→' if told.directed else '–'} {one.target}" for one in told.missing[:3]]
    return (
        f" Of the {counted(many, 'pair')} that look most like links ({listed(pairs)} first) about {right:.0f} would be "
        f"links if as many were missing as were hidden in the test, {percent(told.found.hidden)} of all."
    )


def odd_sentence(told: LinksTold) -> str:
    """Which links are surprising, and by what."""
    assert told.odd is not None
    odd, many = told.odd, told.surprising
    pairs = [
        f"{told.found.name(int(odd.sources[i]))} {'→' if told.directed else '–'} {told.found.name(int(odd.targets[i]))}"
        for i in range(min(many, 3))
    ]
    more = f" and {count(many - 3)} more" if many > 3 else ""
    verb, noun = ("is", "its") if many == 1 else ("are", "their")
    they = "they" if many == 1 else "the first"
    first = f"{they} share {int(odd.common[0])}, where chance would give {odd.expected[0]:.0f}"
    return (
        f"{', '.join(pairs)}{more} {verb} surprising, of {counted(odd.judged, 'link')} that could be judged: {noun} "
        f"ends share fewer neighbours than nodes with as many links do in random networks ({first}; "
        f"{chance(told.odd_evidence)}, all links counted)."
    )


def _called(told: LinksTold) -> str:
    return CALLED[told.found.score]
