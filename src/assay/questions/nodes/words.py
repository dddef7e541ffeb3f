"""Which nodes matter, in plain words."""

from __future__ import annotations

from assay.asking.words import SURVIVED, Words, chance, listed, one_line
from assay.questions.nodes.answer import Nodes
from assay.views.axes.numbers import count, counted, fraction, number, percent


def _times(value: float | None) -> str:
    return "unknown" if value is None else f"{number(value)} times"


WORDS = Words(
    "node",
    "nodes",
    statistic="PageRank as a multiple of what the number of links gives",
    statistic_format=_times,
    unseen="On unseen links",
    held_out="what the numbers of links give, for nodes that the other half of the links names",
    held_out_format=_times,
    units=("node", "nodes"),
    reading="PageRank is how often a walk along links is at a node. It grows with the number of links, so it is "
    "compared with random networks in which every node has as many links as here: a rank is said to be more than the "
    "number of links only where it is otherwise than in nearly all of them, and where one half of the links says so "
    "of the other.",
)
_NAMED = 3


def subject(found: Nodes) -> str:
    """The nodes that stand out, or the first."""
    some = found.clear
    if found.evidence.verdict in SURVIVED and len(some):
        return listed([found.names[int(found.tested[i])] for i in some])
    return str(found.names[int(found.top[0])])


def line(found: Nodes) -> str:
    """How many nodes rank otherwise than their numbers of links make them, and the clearest."""
    some = found.clear
    if found.evidence.verdict not in SURVIVED:
        return "The ranks of the nodes repeat the numbers of their links"
    may = "" if found.evidence.verdict == "supported" else " perhaps"
    if not len(some):
        return f"The order of the nodes is{may} not what their numbers of links give"
    name = str(found.names[int(found.tested[some[0]])])
    way = "high" if found.ratio[some[0]] > 1.0 else "low"
    many = f"{count(len(some))} of {counted(len(found.tested), 'node')}"
    rank = "ranks" if len(some) == 1 else "rank"
    return one_line(
        lambda short: f"{many}{may} {rank} otherwise than the number of links gives, most of all {short(name)} ({way})"
    )


def sentence(found: Nodes) -> str:
    """Whether ranks are more than degrees, for whom, and who is first."""
    evidence, some = found.evidence, found.clear
    like = (
        f"the rank correlation with the number of links is {fraction(found.agreement)}, "
        f"{fraction(found.expected[1])} in random networks with the same numbers of links"
    )
    if evidence.verdict in SURVIVED:
        said = f"The order of the nodes is not what their numbers of links give: {like} ({chance(evidence)})."
        said = _standing_out(found) if len(some) else said
        if evidence.held_out is not None:
            said += (
                f" Nodes that half of the links names have {number(evidence.held_out)} times the score that their "
                "numbers of links give in the other half, in the same direction."
            )
    else:
        said = f"The ranks of the nodes repeat the numbers of their links ({chance(evidence)}): {like}."
    return f"{said} {_first(found)}"


def _standing_out(found: Nodes) -> str:
    some = found.clear
    high = [i for i in some if found.ratio[i] > 1.0]
    low = [i for i in some if found.ratio[i] <= 1.0]
    parts = [
        f"{way} {listed([f'{found.names[int(found.tested[i])]} ({_times(found.ratio[i])})' for i in which])}"
        for which, way in ((high, "higher for"), (low, "lower for"))
        if which
    ]
    verb = "has" if len(some) == 1 else "have"
    return (
        f"{count(len(some))} of {counted(len(found.tested), 'node')} {verb} another PageRank than the number of links "
        f"gives in random networks with the same numbers of links: {'; '.join(parts)} ({chance(found.evidence)})."
    )


def _first(found: Nodes) -> str:
    one = found.names[found.top[0]]
    if len(found.top) < 2 or found.ahead is None:
        return f"{one} has the highest score; no node has two links that lead away, so nothing can be drawn anew."
    two = found.names[found.top[1]]
    if found.is_first:
        return f"{one} is first: ahead of {two} in {percent(found.ahead)} of draws of every node's links."
    often = f"{one} is ahead of {two} in {percent(found.ahead)} of draws of every node's links"
    return f"Who is first is not sure: {often}."
