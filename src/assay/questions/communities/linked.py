"""A network as the search for communities and its chance take it: both ways, without loops and lone nodes.

Chance puts links and weights at random, and keeps what is no community: how many links each node has that lead to it,
from it, and both ways; the two sides of a network of which no link joins two nodes of one side; small parts by
themselves, which would else be communities for the only reason that nothing links them with the rest; and branches,
what is outside the 2-core of the network, which are whole where a random graph with these degrees would fall to pieces:
of a tree any cut is as good as any other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from assay.arrays import Array, Whole
from assay.models.network.communities.search import Weighted
from assay.summary.graph.edges import edges_of
from assay.summary.graph.graph import Graph
from assay.summary.network.random_graphs import AlikeEnds

_LARGE = 0.1  # of the links: a part with fewer is small
_CYCLES = 5  # with fewer, a network has two sides by chance: each cycle is even as often as odd


@dataclass(frozen=True, slots=True, eq=False)
class LinkedPairs:
    """Links that count both ways, each pair of nodes once.

    Attributes:
        nodes: (n,) numbers of the nodes with links, in the network.
        ends: both ends of the links, with their kinds.
        weights: (m,) of the links; those of two that lead both ways are added, all are halved.
        parts: (n,) the separate part each node is in, the one with most links first.
        regions: (n,) 0 in all parts that are large, otherwise 1 + the part: between regions no link can be.
        branches: links that no cycle reaches.
        part_links: (p,) links of each part.
        part_nodes: (p,) nodes of each part.
        alone: nodes without links.
        loops: links of nodes with themselves, left out.
        directed: whether links lead one way.
        sides: (n,) on which of two sides each node is, where no link joins two nodes of the same side; None elsewhere.
        weighted: whether the links of the network differ in weight.
    """

    nodes: Whole
    ends: AlikeEnds
    weights: Array
    parts: Whole
    regions: Whole
    branches: int
    part_links: Whole
    part_nodes: Whole
    alone: int
    loops: int
    directed: bool
    sides: NDArray[np.bool_] | None
    weighted: bool

    @property
    def n(self) -> int:
        """Nodes with links."""
        return len(self.nodes)

    @property
    def m(self) -> int:
        """Links."""
        return len(self.weights)

    @property
    def two_sided(self) -> bool:
        """Whether no link joins two nodes of the same side."""
        return self.sides is not None

    @property
    def large(self) -> int:
        """How many parts are large enough to exchange links with each other."""
        return int((self.part_links >= _LARGE * self.m).sum())

    @property
    def free_weights(self) -> bool:
        """Whether links of one kind differ in weight, so that chance can put these elsewhere."""
        order = np.lexsort((self.weights, self.ends.kinds))
        kinds, weights = self.ends.kinds[order], self.weights[order]
        return bool(((kinds[1:] == kinds[:-1]) & (weights[1:] > weights[:-1])).any())

    def shuffled_weights(self, rng: np.random.Generator) -> Array:
        """(m,) the weights at random among links of the same kind."""
        if not self.weighted:
            return self.weights
        order, by_chance = (np.lexsort((x, self.ends.kinds)) for x in (np.arange(self.m), rng.permutation(self.m)))
        weights = np.empty(self.m)
        weights[order] = self.weights[by_chance]
        return weights


def linked(graph: Graph) -> LinkedPairs:
    """The links of a network.

    Args:
        graph: of similarities, one way or both.
    """
    rows, cols, values = edges_of(graph.weights)
    loops = rows == cols
    found = int(loops.sum())
    rows, cols, values = rows[~loops], cols[~loops], values[~loops]
    differ = bool(len(values)) and bool(values.max() > values.min())
    if len(values):
        values = values / values.max()
        values = values / values.mean()
    rows, cols, values, one_way = _pairs(rows, cols, values, graph.n, graph.directed)
    nodes, places = np.unique(np.concatenate([rows, cols]), return_inverse=True)
    rows, cols = places[: len(rows)].astype(np.int64), places[len(rows) :].astype(np.int64)
    parts, links, sizes = _parts(rows, cols, len(nodes))
    sides = None if graph.directed else _sides(rows, cols, len(nodes))
    if sides is not None:  # then links lead from one side to the other, and chance keeps them so
        back = sides[rows]
        rows, cols, one_way = np.where(back, cols, rows), np.where(back, rows, cols), np.ones(len(rows), np.bool_)
    small = links < _LARGE * len(rows)
    regions = np.where(small[parts], 1 + parts, 0).astype(np.int64)
    branch = _branches(rows, cols, len(nodes))
    kinds = np.where(branch, -1 - np.arange(len(rows)), regions[rows] * 2 + one_way).astype(np.int64)
    ends = AlikeEnds(rows, cols, kinds, one_way, len(nodes))
    return LinkedPairs(
        nodes, ends, values, parts, regions, int(branch.sum()), links, sizes, graph.n - len(nodes), found,
        graph.directed, sides, differ,
    )  # fmt: skip


def weighted(n: int, first: Whole, second: Whole, weights: Array) -> Weighted:
    """Links as the search needs them.

    Args:
        n: nodes.
        first, second, weights: (m,) ends of each pair, once.
    """
    W = sparse.coo_array((weights, (first, second)), shape=(n, n)).tocsr()
    W = (W + W.T).tocsr()
    strength: Array = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    return Weighted(
        W.indptr.astype(np.int64), W.indices.astype(np.int32), W.data, np.zeros(n), strength, float(strength.sum())
    )


def _pairs(
    rows: Whole, cols: Whole, values: Array, n: int, directed: bool
) -> tuple[Whole, Whole, Array, NDArray[np.bool_]]:
    """Each pair of nodes once: ends, weight, and whether the link leads one way."""
    if not directed:
        once = rows < cols
        return rows[once], cols[once], values[once], np.zeros(int(once.sum()), np.bool_)
    key = np.minimum(rows, cols) * n + np.maximum(rows, cols)
    _, first, pair = np.unique(key, return_index=True, return_inverse=True)
    counts = np.bincount(pair, minlength=len(first))
    return rows[first], cols[first], np.bincount(pair, values, minlength=len(first)) / 2, counts == 1


def _parts(rows: Whole, cols: Whole, n: int) -> tuple[Whole, Whole, Whole]:
    """Separate parts, that with most links first: of each node, and links and nodes of each."""
    if not n:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
    A = sparse.coo_array((np.ones(len(rows)), (rows, cols)), shape=(n, n))
    count, labels = csgraph.connected_components(A, directed=False)
    links = np.bincount(labels[rows], minlength=count)
    order = np.argsort(-links, kind="stable")
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    parts = place[labels]
    return parts, links[order].astype(np.int64), np.bincount(parts, minlength=count).astype(np.int64)


def _branches(rows: Whole, cols: Whole, n: int) -> NDArray[np.bool_]:
    """(m,) links that go when nodes with one link are taken away, again and again: what is left is the 2-core."""
    there = np.ones(len(rows), np.bool_)
    while True:
        degree = np.bincount(rows[there], minlength=n) + np.bincount(cols[there], minlength=n)
        going = there & ((degree[rows] == 1) | (degree[cols] == 1))
        if not going.any():
            return ~there
        there &= ~going


def _sides(rows: Whole, cols: Whole, n: int) -> NDArray[np.bool_] | None:
    """(n,) on which of two sides each node is; None where there are no two sides, or where that may be by chance.

    In the graph of two copies of the nodes in which every link leads from one copy to the other, the copies of a node
    are connected if and only if some cycle through its part is odd.
    """
    if not n:
        return None
    both = (np.concatenate([rows, cols]), np.concatenate([cols + n, rows + n]))
    A = sparse.coo_array((np.ones(2 * len(rows)), both), shape=(2 * n, 2 * n))
    count, labels = csgraph.connected_components(A, directed=False)
    cycles = len(rows) - n + count // 2
    if cycles < _CYCLES or (labels[:n] == labels[n:]).any():
        return None
    return np.asarray(labels[:n] > labels[n:])
