"""Communities in plain words."""

from __future__ import annotations

from collections.abc import Callable

from assay.asking.words import SURVIVED, Words, chance, listed, one_line
from assay.questions.communities.answer import Clustered
from assay.views.axes.numbers import count, counted, fraction, percent

WORDS = Words(
    "community",
    "communities",
    statistic="Modularity",
    statistic_format=fraction,
    unseen="Of unseen links",
    held_out="more stay inside than the numbers of links alone give",
    held_out_format=percent,
    units=("link", "links"),
    stability="Borders come back",
    stability_format=fraction,
    reading="Modularity is the share of links inside communities less what the numbers of links of the nodes alone "
    "would give. Random networks have communities of high modularity too, so the search is repeated in random "
    "networks in which every node has as many links as here, and weights are on any of them. Unseen links: a fifth of "
    "the links is left out, communities are found among the rest, and the links left out are counted inside them. "
    "Borders come back: adjusted Rand index of these communities with those of all links; 1 is the same, 0 is nothing "
    "in common.",
)
_NAMED = 4


def subject(found: Clustered) -> str:
    """The best linked nodes of the communities that come back."""
    return listed([found.central(c, 1)[0] for c in found.firm]) if found.firm else "the links"


def headline(found: Clustered) -> str:
    """How many communities, where that is known."""
    if found.firm:
        return WORDS.several(len(found.firm), None if len(found.firm) == found.k else found.k)
    return "clustering of links without borders"


def line(found: Clustered) -> str:
    """How many communities come back, or why there are none."""
    verdict, firm = found.evidence.verdict, found.firm
    if verdict == "not testable here":
        return "Communities cannot be told from chance: the numbers of links leave no other network"
    if verdict not in SURVIVED:
        return "No communities beyond what the numbers of links of the nodes make of them"
    if not firm:
        return "Links cluster beyond chance, but no community comes back as a whole"
    fall = "fall" if verdict == "supported" else "may fall"
    heads = [found.central(c, 1)[0] for c in firm[:2]]
    more = f" and {count(len(firm) - 2)} more" if len(firm) > 2 else ""
    of = "" if len(firm) == found.k else f" of {count(found.k)}"
    several = f"{count(len(firm))}{of} communities" if len(firm) > 1 or of else "1 community"

    def said(short: Callable[[str], str]) -> str:
        around = f"{', '.join(map(short, heads))}{more}" if more else listed([short(name) for name in heads])
        return f"The links {fall} into {several} that come back, around {around}"

    return one_line(said)


def sentence(found: Clustered) -> str:
    """Separate parts first; then whether there are communities, which, on unseen links, and what is not known."""
    evidence = found.evidence
    if evidence.verdict == "not testable here":
        said = _untested(found)
    elif evidence.verdict in SURVIVED:
        said = f"{_opening(found)} {_size(found)}{_unsure(found)}"
    else:
        said = _none(found)
    return " ".join(filter(None, (_parts(found), said, _less(found))))


def _parts(found: Clustered) -> str:
    """Separate parts of the network."""
    sizes = found.links.part_nodes
    if len(sizes) < 2:
        return ""
    large = found.links.large
    each = listed([count(int(size)) for size in sizes[: max(large, 1)]])
    if large == len(sizes):
        return f"The network has {count(len(sizes))} separate parts, of {each} nodes: no link joins them."
    whose = "the largest" if large < 2 else f"the {count(large)} largest"
    said = f"The network has {count(len(sizes))} separate parts, {whose} of {each} nodes"
    return f"{said}; that small ones are separate counts for nothing here."


def _opening(found: Clustered) -> str:
    fall = "fall" if found.evidence.verdict == "supported" else "may fall"
    of = f"The links of {found.name}"
    firm, k = found.firm, found.k
    if not firm:
        return (
            f"{of} cluster beyond chance: near nodes are linked. But borders are arbitrary: no community comes back "
            "as a whole when a fifth of the links is left out."
        )
    named = "; ".join(_community(found, c) for c in firm[:_NAMED])
    more = f"; and {count(len(firm) - _NAMED)} more" if len(firm) > _NAMED else ""
    if len(firm) == k and found.number_known:
        return f"{of} {fall} into {count(k)} communities beyond chance: {named}{more}."
    if len(firm) == k:
        return f"{of} {fall} into communities beyond chance: {named}{more}.{_number(found)}"
    comes = "comes" if len(firm) == 1 else "come"
    return (
        f"{of} {fall} into communities beyond chance. {count(len(firm))} of {count(k)} found {comes} back: "
        f"{named}{more}. Where the others end depends on the sample.{_number(found)}"
    )


def _number(found: Clustered) -> str:
    left = found.left
    if left is None or found.number_known:
        return ""
    fewest, most = min(left.fewest, found.k), max(left.most, found.k)
    return f" How many there are is not sure: {count(fewest)} to {count(most)}."


def _community(found: Clustered, c: int) -> str:
    return f"{listed(found.central(c))} ({counted(int(found.sizes[c]), 'node')})"


def _size(found: Clustered) -> str:
    evidence, left = found.evidence, found.left
    if left is None or evidence.null is None or evidence.interval is None:
        return ""
    low, high = (percent(end) for end in evidence.interval)
    links = "weight of unseen links stays" if found.links.weighted else "unseen links stay"
    shares = (
        f"{percent(left.inside)} of the {links} inside communities found without them, where the numbers of links "
        f"alone give {percent(left.expected)} (95% interval of the difference {low} to {high})"
    )
    if not found.holds:
        shares = f"This is not borne out by unseen links: {shares[0].lower()}{shares[1:]}"
    theirs = f"modularity {fraction(evidence.statistic)}, theirs {fraction(evidence.null.median)}"
    weaker = f"communities of random networks with the same numbers of links are weaker ({theirs}; {chance(evidence)})"
    return f"{shares}; {weaker}."


def _unsure(found: Clustered) -> str:
    if not found.firm or not found.unsure:
        return ""
    whose = counted(found.unsure, "node of these has", "nodes of these have")
    return f" {whose} no sure place, and would be elsewhere without some of the links."


def _none(found: Clustered) -> str:
    evidence, left = found.evidence, found.left
    if evidence.null is None or left is None:
        return ""
    few = (
        f"No communities beyond chance: the best found have modularity {fraction(evidence.statistic)}, and those of "
        f"random networks with the same numbers of links {fraction(evidence.null.median)} ({chance(evidence)})."
    )
    if evidence.held_out is None:
        return few
    return (
        f"{few} Of unseen links {percent(left.inside)} stay inside communities found without them; the numbers of "
        f"links alone give {percent(left.expected)}."
    )


def _untested(found: Clustered) -> str:
    if found.links.branches == found.links.m:
        return (
            "The network has no cycle: it is made of trees, which can be cut anywhere, so nothing tells its "
            "communities from chance."
        )
    return "These numbers of links leave no other network: there is no chance to compare the communities with."


def _less(found: Clustered) -> str:
    """What was drawn less often than usual, for the size of the network."""
    null = found.evidence.null
    if null is None or null.draws < found.most_draws or found.most_draws >= 99:
        return ""
    return f"For its size only {count(null.draws)} random networks were drawn."


def back(found: Clustered, c: int) -> str:
    """Whether a community comes back, in a cell."""
    if found.left is None:
        return ""
    share = percent(float(found.left.jaccard[c]))
    return share if c in found.firm else f"{share}, border not sure"
