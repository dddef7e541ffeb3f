"""Nodes on a map: their order along the two directions in which linked nodes differ least.

Those are the coordinates of a Laplacian eigenmap (`NetworkEmbedding`), regularised, since a few nodes that hang by a
link or two would take all of it otherwise. Each is turned to ranks, from 0 to 1, which leaves who is beside whom and
lets crowds be seen. Weights of links are not used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.ranks import average_ranks
from assay.models.network.embedding import NetworkEmbedding
from assay.summary.graph.graph import Graph
from assay.summary.network.random_graphs import Ends


def placed(ends: Ends, seed: int) -> Array:
    """(n, 2) places of the nodes of the largest component, from 0 to 1; NaN for the others.

    Args:
        ends: of the links.
        seed: of the solver's start.
    """
    graph = Graph.of_edges(ends.sources, ends.targets, n=ends.n, directed=ends.one_way).symmetrised().unweighted()
    part = graph.largest_component()
    places = np.full((ends.n, 2), np.nan)
    if part.graph.n < 3:
        return places
    found = NetworkEmbedding(2, regularise=1.0, random_state=seed).fit_graph(part.graph).embedding_
    for j in range(2):
        # what differs by rounding only, as twins do, has one rank
        value = np.round(found[:, j] / np.abs(found[:, j]).max(), 9)
        places[part.nodes, j] = (average_ranks(value) - 0.5) / len(value)
    return places


def apart(places: Array, us: NDArray[np.int64], vs: NDArray[np.int64]) -> Array:
    """Distances between nodes on the map.

    Args:
        places: (n, 2).
        us: nodes.
        vs: as many, of the same shape.
    """
    return np.asarray(np.sqrt(((places[us] - places[vs]) ** 2).sum(axis=-1)))
