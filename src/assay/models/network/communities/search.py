"""The search for communities of largest modularity: moves, pieces, graphs of pieces, until nothing is gained.

Nodes move to where they gain most; communities are taken apart into pieces that hang together; the pieces are the
nodes of the next, smaller graph, in which whole pieces move (Traag, Waltman and van Eck 2019). All of it begins anew
from what was found until that gains nothing, so that no node by itself, and no piece, would gain by moving.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from assay.arrays import Array, Whole
from assay.summary.graph.edges import edges_of

ROUNDS = 50  # times that all begins anew at most
_PATIENCE = 2  # times in a row that it gains nothing; pieces are made by chance, and others may gain
_HEAT = 0.01  # of the mean weight of a link: gains that differ by less are nearly equally likely
_SAME = 1e-12  # of modularity, which is at most 1


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """An undirected graph as the search needs it; weights add up to about twice the number of links.

    Attributes:
        starts: (n + 1,) where the links of each node begin.
        ends: (e,) of the links, each from both of its ends; loops are in `own`.
        weights: (e,) larger than 0.
        own: (n,) weight of loops, counted from both ends.
        strength: (n,) weights of each node with `own`.
        total: of all strengths.
    """

    starts: Whole
    ends: NDArray[np.int32]
    weights: Array
    own: Array
    strength: Array
    total: float

    @staticmethod
    def of(W: sparse.csr_array) -> Weighted:
        """From symmetric weights, loops given once."""
        n = int(W.shape[0])
        rows, cols, values = edges_of(W)
        if len(values):  # so that no product of weights is too large, and a gain means the same at any scale
            values = values / values.max()
            values = values / values.mean()
        loop = rows == cols
        own = np.zeros(n)
        own[rows[loop]] = 2.0 * values[loop]
        rows, cols, values = rows[~loop], cols[~loop], values[~loop]
        return Weighted.of_links(rows, cols, values, own)

    @staticmethod
    def of_links(rows: Whole, cols: Whole, values: Array, own: Array) -> Weighted:
        """From links given from both ends, by their first.

        Args:
            rows, cols, values: (e,) of the links.
            own: (n,) loops, counted from both ends.
        """
        n = len(own)
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
        strength = np.bincount(rows, values, minlength=n) + own
        return Weighted(starts, cols.astype(np.int32), values, own, strength, float(strength.sum()))

    def modularity(self, labels: Whole, resolution: float = 1.0) -> float:
        """Share of the weights inside communities, less what strengths alone would give."""
        if self.total == 0.0:
            return 0.0
        rows = np.repeat(np.arange(len(self.own)), np.diff(self.starts))
        inside = self.weights[labels[rows] == labels[self.ends]].sum() + self.own.sum()
        held = np.bincount(labels, self.strength) / self.total
        return float(inside / self.total - resolution * (held @ held))


@dataclass(frozen=True, slots=True, eq=False)
class FoundCommunities:
    """What the search found.

    Attributes:
        labels: (n,) the community of each node, from 0, by first appearance.
        modularity: of these.
        converged: whether beginning anew gained nothing.
    """

    labels: Whole
    modularity: float
    converged: bool


def search(graph: Weighted, resolution: float, runs: int, seed: int, rounds: int = ROUNDS) -> FoundCommunities:
    """The best of several searches.

    Args:
        graph: the graph.
        resolution: of modularity.
        runs: how many searches.
        seed: of the first; each takes another.
        rounds: of each at most.
    """
    seeds = np.random.SeedSequence(seed).generate_state(runs, np.uint64)
    found = (_once(graph, resolution, state, rounds) for state in seeds)
    return max(found, key=lambda one: one.modularity)


def _once(graph: Weighted, resolution: float, seed: np.uint64, rounds: int) -> FoundCommunities:
    state = np.array([seed], np.uint64)
    labels: Whole = np.arange(len(graph.own))
    best = graph.modularity(labels, resolution)
    if graph.total == 0.0:
        return FoundCommunities(labels, best, True)
    missed = 0
    for _ in range(rounds):
        fresh = _round(graph, resolution, labels, state)
        value = graph.modularity(fresh, resolution)
        missed = 0 if value > best + _SAME else missed + 1
        if value > best:
            labels, best = fresh, value
        if missed == _PATIENCE:
            return FoundCommunities(labels, best, True)
    return FoundCommunities(labels, best, False)


def _round(graph: Weighted, resolution: float, labels: Whole, state: NDArray[np.uint64]) -> Whole:
    """Better communities, from those given: on the nodes, then on pieces of them, then on pieces of these."""
    from assay.models.network.communities._kernels import gathered, move, numbered, refine

    labels = labels.copy()
    whole, place = graph, np.arange(len(labels))  # of each node among the pieces
    while True:
        links = (whole.starts, whole.ends, whole.weights, whole.strength, graph.total, resolution)
        move(*links, labels, state)
        labels, k = numbered(labels)
        pieces, r = numbered(refine(*links, labels, _HEAT, state))
        if r == len(labels):  # nothing hangs together but single ones: whole communities move instead
            pieces, r = labels, k
        if r == len(labels):
            found: Whole = numbered(labels[place])[0]
            return found
        above = np.empty(r, np.int64)
        above[pieces] = labels
        starts, ends, weights, own = gathered(whole.starts, whole.ends, whole.weights, whole.own, pieces, r)
        strength = np.bincount(pieces, whole.strength, minlength=r).astype(np.float64)
        whole = Weighted(starts, ends, weights, own, strength, graph.total)
        place, labels = pieces[place], above
