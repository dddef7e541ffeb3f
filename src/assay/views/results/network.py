"""Networks as they are: on a ring, as a chord plot, as an ordered matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assay.summary.graph.seriation import node_order
from assay.views.figures import Panel
from assay.views.network.drawn_links import DrawnLinks
from assay.views.network.matrix import ordered_matrix
from assay.views.network.ring import LINKS, ring

_NAMED = 9  # communities with a colour of their own


def graph(
    found: Any,
    *,
    groups: Sequence[Any] | None = None,
    order: ArrayLike | None = None,
    power: float = 2.0,
    most: int = LINKS,
) -> list[Panel]:
    """Links across a ring of nodes, straight and as curves, and as a matrix.

    Args:
        found: a `Graph`.
        groups: (n,) labels that colour nodes, and keep nodes of a group together.
        order: (n,) of the nodes; by default strong links are short.
        power: of the curves x_i t^p + x_j (1 - t)^p.
        most: links drawn on a ring: the heaviest.
    """
    links = DrawnLinks.of(found, node_order(found) if order is None else order, groups)
    degree = np.asarray(found.unweighted().degree)
    look: dict[str, Any] = {"names": found.names, "groups": groups, "size": degree, "size_label": "links", "most": most}
    return [
        Panel("On a ring", ring(links, **look), "Nodes by the number of their links."),
        Panel("Chords", ring(links, power=power, **look), f"Curves of power {power:g}."),
        Panel("As a matrix", ordered_matrix(links, names=found.names, groups=groups, directed=found.directed)),
    ]


def communities(found: Any, *, power: float = 2.0, most: int = LINKS) -> list[Panel]:
    """The network with its communities together: on a ring, as chords and as a matrix.

    Args:
        found: from `assay.communities`.
        power: of the curves x_i t^p + x_j (1 - t)^p.
        most: links drawn on a ring: the heaviest.
    """
    groups = [f"{label + 1}" if label < _NAMED else "" for label in found.labels]
    return graph(found.graph, groups=groups, power=power, most=most)
