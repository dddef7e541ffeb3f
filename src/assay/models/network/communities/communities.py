"""Communities: parts of a network inside which there are more links than the degrees of the nodes would give.

    Q = sum_c [ W_cc / 2m - resolution (K_c / 2m)^2 ]

    weights w, (n, n) symmetric, w_ii counted twice     K_c  weights of the nodes of c together
    W_cc  weights inside community c, from both ends    2m   all weights, from both ends

Q, the modularity (Newman and Girvan 2004), is at most 1; 0 is what one community for all gives. To find the largest Q
is hard, and what is found is a good one (`search.py`, the moves of Traag, Waltman and van Eck 2019). Random graphs have
communities of high modularity, too: what of them is more than chance is asked by a study.

References: Newman and Girvan, Finding and evaluating community structure in networks, Physical Review E 69, 2004;
Traag, Waltman and van Eck, From Louvain to Leiden, Scientific Reports 9, 2019; Reichardt and Bornholdt, Statistical
mechanics of community detection, Physical Review E 74, 2006 (the resolution).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from assay.arrays import Whole
from assay.errors import DataError, NotConverged, ParameterError
from assay.linalg.validate import RandomState, seed_of
from assay.models.network.communities.search import Weighted, search
from assay.summary.graph.graph import Graph
from assay.summary.network.networks import read_network


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Communities:
    """Communities of the nodes of a network.

    Attributes:
        labels: (n,) the community of each node, from 0; the first is the largest.
        names: of the nodes, if they have any.
        sizes: (k,) nodes in each community.
        modularity: of these communities, at the resolution asked for.
        resolution: as asked for.
        converged: whether searching on from the communities gained nothing.
        notes: what was decided on the way.
        graph: the network, its links both ways.
    """

    labels: Whole
    names: tuple[str, ...] | None
    sizes: Whole
    modularity: float
    resolution: float
    converged: bool
    notes: tuple[str, ...]
    graph: Graph

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size:,}" for size in self.sizes[:3]) + (", ..." if len(self.sizes) > 3 else "")
        return f"Communities({len(self.sizes):,} of {sizes} nodes; modularity {self.modularity:.4f})"

    @property
    def k(self) -> int:
        """How many communities there are; a node without links is one by itself."""
        return len(self.sizes)

    def members(self, community: int) -> list[str]:
        """Names of the nodes of a community; their numbers where they have no names.

        Args:
            community: its number, from 0.
        """
        if not 0 <= community < self.k:
            raise ParameterError(f"communities are 0 to {self.k - 1}; asked for {community}")
        nodes = np.flatnonzero(self.labels == community)
        return [str(i) if self.names is None else self.names[i] for i in nodes]


def communities(
    data: Any, *, resolution: float = 1.0, directed: bool | None = None, runs: int = 10, random_state: RandomState = 0
) -> Communities:
    """Find communities of large modularity.

    Links that lead one way count as links both ways with half the weight. Weights are similarities; those of links
    given several times are added.

    Args:
        data: whatever `assay.read_network` takes, or a `Graph`.
        resolution: 1 for modularity; larger for smaller communities, smaller for larger ones.
        directed: whether links lead one way, for data that are read here.
        runs: searches, of which the best is taken.
        random_state: of the searches: a whole number from 0 on, None for 0, or a generator of NumPy's.

    Returns:
        The communities, largest first, with their modularity.

    >>> found = communities([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("d", "f")])
    >>> found
    Communities(2 of 3, 3 nodes; modularity 0.3571)
    >>> found.members(0)
    ['a', 'b', 'c']
    """
    if not 0.0 < resolution < math.inf:
        raise ParameterError(f"resolution is a number larger than 0; got {resolution!r}")
    for name, value, least in (("runs", runs, 1),):
        if value != int(value) or value < least:
            raise ParameterError(f"{name} is a whole number, at least {least}; got {value!r}")
    graph, notes = _undirected(data, directed)
    found = search(Weighted.of(graph.weights), float(resolution), int(runs), seed_of(random_state))
    if not found.converged:
        warnings.warn(
            "the search for communities still gained something when it ended; take them as good ones, not as the best",
            NotConverged,
            stacklevel=2,
        )
    labels = by_size(found.labels)
    return Communities(
        labels, graph.names, np.bincount(labels), found.modularity, float(resolution), found.converged, notes, graph
    )


def modularity(data: Any, labels: ArrayLike, *, resolution: float = 1.0, directed: bool | None = None) -> float:
    """The modularity of any communities.

    Args:
        data: whatever `assay.read_network` takes, or a `Graph`; links that lead one way as in `communities`.
        labels: (n,) the community of each node: numbers or names.
        resolution: 1 for modularity.
        directed: whether links lead one way, for data that are read here.

    >>> round(modularity([("a", "b"), ("c", "d")], [0, 0, 1, 1]), 3)
    0.5
    """
    graph, _ = _undirected(data, directed)
    given = np.asarray(labels)
    if given.shape != (graph.n,):
        raise ParameterError(f"labels needs one for each of {graph.n:,} nodes; got shape {given.shape}")
    _, numbers = np.unique(given, return_inverse=True)
    return Weighted.of(graph.weights).modularity(numbers.astype(np.int64), resolution)


def by_size(labels: Whole) -> Whole:
    """The same communities, numbered from the largest; equally large ones by their first node."""
    _, first, numbers, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[numbers]


def _undirected(data: Any, directed: bool | None) -> tuple[Graph, tuple[str, ...]]:
    if isinstance(data, list | tuple) and not data:
        raise DataError("there are no links: give (from, to) of each link")
    graph = data if isinstance(data, Graph) else read_network(data, directed=directed)
    if graph.meaning != "similarity":
        raise DataError(
            "the weights of this graph are distances, and communities need similarities: use weighted() or unweighted()"
        )
    if not graph.directed:
        return graph, graph.notes
    W = graph.weights / max(float(graph.weights.max()), 1.0) if graph.weights.nnz else graph.weights
    both = Graph.of_adjacency(sparse.csr_array((W + W.T) / 2), names=graph.names, directed=False)
    return both, (*graph.notes, "Links lead one way; communities take them both ways, with half the weight.")
