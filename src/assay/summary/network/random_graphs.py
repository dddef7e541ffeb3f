"""Graphs in which only the numbers of links of each node are as they were: what chance alone makes of the degrees.

Ends of links are exchanged pair by pair, so that every node keeps its in-degree and its out-degree, no loop and no
parallel link arises, and all such graphs are equally likely in the end. Links carry their weights along; loops stay.
All graphs are drawn from one, the hub, that was itself drawn from the observed one: then the observed graph is
exchangeable with the others if it is of their kind, however few exchanges there were (Besag and Clifford 1989).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.summary.graph.edges import edges_of
from assay.summary.graph.graph import Graph, Meaning

_TRIES = 3  # pairs looked at for each link


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Both ends of links, loops apart; an undirected link is here once.

    Attributes:
        sources, targets: (m,) of the links.
        n: nodes.
        one_way: whether links lead one way.
    """

    sources: Whole
    targets: Whole
    n: int
    one_way: bool

    def mixed(self, seed: int) -> tuple[Ends, int]:
        """The same with ends exchanged, link by link in their places, and how many pairs were.

        Args:
            seed: of the exchanges, at least 0 and below 2^63.
        """
        from assay.summary.network._exchange_kernels import exchange

        sources, targets = self.sources.copy(), self.targets.copy()
        done = exchange(sources, targets, self.n, self.one_way, _TRIES * len(sources), seed)
        return replace(self, sources=sources, targets=targets), done


@dataclass(frozen=True, slots=True, eq=False)
class SameDegrees:
    """Random graphs with the degrees of one.

    Attributes:
        hub: the ends of links from which all of them are drawn.
        weights: (m,) that the links carry along.
        loops: (k,) nodes that are linked with themselves.
        loop_weights: (k,) of these links.
        names: of the nodes, if they have any.
        meaning: of the weights.

    >>> graph = Graph.of_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> drawn = same_degrees(graph, seed=1).draw(2)
    >>> drawn.degree
    array([2., 2., 2., 2.])
    """

    hub: Ends
    weights: Array
    loops: Whole
    loop_weights: Array
    names: tuple[str, ...] | None
    meaning: Meaning

    def draw(self, seed: int) -> Graph:
        """One of them.

        Args:
            seed: of the draw; each seed gives another graph.
        """
        ends, _ = self.hub.mixed(state_of(seed, 1))
        return Graph.of_edges(
            np.concatenate([ends.sources, self.loops]),
            np.concatenate([ends.targets, self.loops]),
            np.concatenate([self.weights, self.loop_weights]),
            n=ends.n,
            names=self.names,
            directed=ends.one_way,
            meaning=self.meaning,
        )


def same_degrees(graph: Graph, seed: int = 0) -> SameDegrees:
    """Random graphs with the degrees of this one.

    Args:
        graph: the graph.
        seed: of the hub.
    """
    rows, cols, values = edges_of(graph.weights)
    loop = rows == cols
    kept = ~loop if graph.directed else rows < cols
    ends = Ends(rows[kept].astype(np.int64), cols[kept].astype(np.int64), int(graph.weights.shape[0]), graph.directed)
    hub, _ = ends.mixed(state_of(seed, 0))
    return SameDegrees(hub, values[kept], rows[loop].astype(np.int64), values[loop], graph.names, graph.meaning)


@dataclass(frozen=True, slots=True, eq=False)
class AlikeEnds:
    """Links that are exchanged only with links of their kind; no two nodes are linked twice, whichever way.

    Attributes:
        sources, targets: (m,) of the links, no loops, each pair of nodes once.
        kinds: (m,) such as the part of the graph they are in; every node keeps how many it has of each kind.
        one_way: (m,) whether a link leads one way, the same for all of a kind; of others either end may be the far one.
        n: nodes.
    """

    sources: Whole
    targets: Whole
    kinds: Whole
    one_way: NDArray[np.bool_]
    n: int

    def mixed(self, seed: int, tries: int = _TRIES) -> tuple[AlikeEnds, int]:
        """The same with ends exchanged, link by link in their places, and how many pairs were.

        Args:
            seed: of the exchanges, at least 0 and below 2^63; see `state_of`.
            tries: pairs looked at for each link.
        """
        from assay.summary.network._exchange_kernels import exchange_alike

        sources, targets = self.sources.copy(), self.targets.copy()
        done = exchange_alike(sources, targets, self.kinds, self.one_way, self.n, tries * len(sources), seed)
        return replace(self, sources=sources, targets=targets), done


def state_of(seed: int, stream: int) -> int:
    """A seed for exchanges from a small number, far from those of its neighbours.

    Args:
        seed: at least 0.
        stream: 0 for the hub, 1 for draws.
    """
    return int(np.random.SeedSequence([seed, stream]).generate_state(1, np.uint64)[0] >> np.uint64(1))
