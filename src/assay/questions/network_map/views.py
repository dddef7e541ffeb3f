"""The map of a network: drawn where it shows more than chance, with what can and cannot be read from it."""

from __future__ import annotations

import numpy as np

from assay.asking.page import Page
from assay.asking.words import SURVIVED
from assay.questions.network_map.answer import NetworkMap
from assay.views.axes.numbers import count, percent
from assay.views.html.elements import table
from assay.views.html.view import View
from assay.views.network.node_map import DRAWN_LINKS, node_map


def views(drawn: NetworkMap, page: Page) -> list[View]:
    """The nodes on the map with their links; a remark where random graphs give as good a map.

    Args:
        drawn: the numbers behind the finding.
        page: what figures share: communities of the nodes.
    """
    if drawn.evidence.verdict not in SURVIVED:
        told = (
            "No map of the network is drawn: random networks with the same numbers of links give one that is as good."
        )
        return [View("no-network-map", caption=told, about="rows")]
    names = drawn.names or tuple(str(node) for node in range(len(drawn.degrees)))
    figure = node_map(
        drawn.places, drawn.links, drawn.degrees, names=names, groups=page.node_groups,
        faint=np.nan_to_num(drawn.doubt, nan=1.0, posinf=1.0),
    )  # fmt: skip
    grey = " Grey nodes are in no community that comes back." if "" in (page.node_groups or ()) else ""
    some = ""
    if len(drawn.links) > DRAWN_LINKS:
        some = f" {count(DRAWN_LINKS)} of {count(len(drawn.links))} links are drawn, by chance."
    key = [("dot soft", "a node, larger the more links it has"), ("dot faint", "moves when links are taken out")]
    return [
        View(
            "network-map", "A map of the network", figure, tuple(key),
            "Nodes that are linked, directly and by many short paths, lie close together. Links are the faint lines."
            f"{grey}{some} The best-connected nodes are named where there is "
            "room; the pointer names all. Every strip of the map, across or upward, has as many nodes, so how large a "
            "group is can be read from it and how far apart groups are cannot. The axes mean nothing by themselves.",
            _table(drawn), "rows",
        )
    ]  # fmt: skip


def _table(drawn: NetworkMap) -> str:
    evidence = drawn.evidence
    doubt = drawn.doubt[drawn.on_map]
    rows = [
        ["Nodes on the map", count(int(drawn.on_map.sum()))],
        ["Share of the nodes with links that is on it", percent(drawn.share)],
        ["Unseen links nearer than a pair with as many links", percent(evidence.held_out)],
        ["The same in random networks with the same numbers of links", percent(float(drawn.chance.mean()))],
        ["In the best of these networks", percent(float(drawn.chance.max()))],
        ["Nodes that move less than half as far as two nodes lie apart", percent(float(np.mean(doubt < 0.5)))],
    ]
    return table("How far the map can be believed", ["", "Value"], rows, numeric=(1,))
