"""The ranking with its intervals, and the network on a ring."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.asking.page import Page
from assay.questions.nodes.answer import Nodes
from assay.views.axes.numbers import count, number, probability
from assay.views.html.elements import name_cell, table
from assay.views.html.escape import visible
from assay.views.html.view import View
from assay.views.network.drawn_links import DrawnLinks
from assay.views.network.ring import ring
from assay.views.prediction.coefficients import coefficient_view

_NAME = 40
_POWER = 2.0


def views(found: Nodes, page: Page | None) -> list[View]:
    """The first nodes, then who is linked with whom.

    Args:
        found: the numbers behind the finding.
        page: which may know communities of the nodes.
    """
    return [_ranking(found), *_rings(found, None if page is None else page.node_groups)]


def _ranking(found: Nodes) -> View:
    called = [visible(found.names[node], _NAME) for node in found.top]
    ends: dict[str, Any] = {}
    if found.score_ends is not None:
        ends = {"low": found.score_ends[:, 0], "high": found.score_ends[:, 1]}
    drawn = coefficient_view(found.scores[found.top], called, x_label="PageRank", in_order=True, **ends)
    factor = dict(zip(found.tested.tolist(), zip(found.ratio.tolist(), found.p.tolist(), strict=True), strict=True))
    rows = []
    for place, node in enumerate(found.top.tolist()):
        ratio, p = factor.get(node, (None, None))
        rank = "" if found.ranks is None else "{} to {}".format(*map(count, found.ranks[place].tolist()))
        links = count(int(found.in_links[node]))
        chance = probability(p).removeprefix("= ") if p is not None else ""
        rows.append([name_cell(found.names[node]), number(found.scores[node]), rank, links, number(ratio), chance])
    heads = ["Node", "PageRank", "95% of ranks", "Links to it", "Times what its links give", "p, all nodes counted"]
    caption = (
        "PageRank of the first nodes, with the range of 95% of draws in which every node draws its links anew among "
        "those it has. Nodes whose ranges overlap may change places."
    )
    numbers = table("The first nodes", heads, rows, numeric=range(1, len(heads)))
    return View("ranking", "Who is ranked first", drawn, (), caption, numbers)


def _rings(found: Nodes, groups: list[str] | None) -> list[View]:
    links = DrawnLinks.of(found.graph, found.order, groups)
    names = [visible(name, _NAME) for name in found.names]
    size = found.scores * len(names)
    look: dict[str, Any] = {"names": names, "groups": groups, "size": size, "size_label": "PageRank, of the mean"}
    tint = "" if groups is None else " Colours are communities that come back; links inside one have its colour."
    tint += " Grey: in none of them." if "" in (groups or ()) else ""
    order = "by community" if groups is not None else "so that linked ones are near"
    weighted = bool(np.ptp(found.graph.weights.data) > 0) if found.graph.weights.nnz else False
    heavy = " Wide lines weigh more." if weighted else ""
    straight = f"Nodes on a ring, {order}; larger ones have a higher PageRank.{tint}{heavy}"
    curved = (
        "The same links as curves that bend towards the middle: bundles join parts of the ring that have many links "
        "with each other."
    )
    return [
        View("ring", "The network on a ring", ring(links, **look), (), straight, about="rows"),
        View("chords", "The same as chords", ring(links, power=_POWER, **look), (), curved, about="rows"),
    ]
