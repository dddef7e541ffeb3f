"""Links kept out of a network, pairs that are not linked to compare them with, and how well a score tells them apart.

    folds       every link is in one of K; a fold's links are taken out, but for those without which a node had none
    non-links   uniform: every pair that is not linked alike
                matched: for a link (u, v) a pair (u', v') that is not linked, u' with as many links left as u, v' as v
    won         share of the non-links of a link whose score is below the link's, ties half
    auc         the same over all links and all non-links: Mann and Whitney's, the area under the ROC curve

Degrees are those that are left after the links are taken out, out-degree of u and in-degree of v where links lead one
way. If chance alone linked the ends of links, a link taken out and a pair of like degrees left would be alike: so what
a score wins above one half of the matched pairs is no matter of degrees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from assay.arrays import Array, Whole
from assay.linalg.ranks import average_ranks
from assay.summary.graph.edges import edges_of
from assay.summary.graph.graph import Graph
from assay.summary.network.random_graphs import Ends

_LIKE = 4  # nodes of next smaller and next larger degree that count as like, where few have the same
_ROUNDS = 24  # tries for a pair; the nodes that count as like double with each fourth
_LISTED = 4_000_000  # pairs up to which those that are not linked are listed, where most are linked


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutLinks:
    """A network with some links taken out.

    Attributes:
        training: the links left.
        sources, targets: (k,) the links taken out.
        numbers: (k,) which of all links these are.
    """

    training: Ends
    sources: Whole
    targets: Whole
    numbers: Whole


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Pairs that are not linked, beside links.

    Attributes:
        sources, targets: (k, r) of r pairs for each of k links.
        found: (k,) links for which all of them were found.
    """

    sources: Whole
    targets: Whole
    found: NDArray[np.bool_]


def ends_of(graph: Graph) -> Ends:
    """Both ends of the links of a network, an undirected one once; loops left out.

    Args:
        graph: the network.

    >>> ends_of(Graph.of_edges([0, 1], [1, 2])).sources
    array([0, 1])
    """
    rows, cols, _ = edges_of(graph.weights)
    kept = rows != cols if graph.directed else rows < cols
    return Ends(rows[kept].astype(np.int64), cols[kept].astype(np.int64), graph.n, graph.directed)


def adjacency(ends: Ends) -> sparse.csr_array:
    """(n, n) ones where nodes are linked, columns ascending.

    Args:
        ends: of the links.
    """
    rows, cols = ends.sources, ends.targets
    if not ends.one_way:
        rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    found = sparse.csr_array((np.ones(len(rows)), (rows, cols)), shape=(ends.n, ends.n))
    return sparse.csr_array(found.tocsc().tocsr())  # which sorts columns, in linear time


def degrees(ends: Ends) -> tuple[Whole, Whole]:
    """(n,) links that leave each node and (n,) that arrive; the same where links lead both ways.

    Args:
        ends: of the links.
    """
    out, into = np.bincount(ends.sources, minlength=ends.n), np.bincount(ends.targets, minlength=ends.n)
    return (out, into) if ends.one_way else (out + into, out + into)


def fold_of_links(m: int, folds: int, rng: np.random.Generator) -> Whole:
    """(m,) the fold of each link, sizes as equal as can be.

    Args:
        m: links.
        folds: how many.
        rng: of the order.
    """
    return np.asarray(rng.permutation(m) % folds, dtype=np.int64)


def folds_tested(links: int) -> range:
    """Which of five folds a statistic is made of that is drawn many times: fewer where each has many links.

    Args:
        links: in all.
    """
    return range(5 if links <= 1_000 else 2 if links <= 10_000 else 1)


def same_links(one: Ends, other: Ends) -> bool:
    """Whether two networks have the same links, in whatever order.

    Args:
        one: a network.
        other: one with as many nodes.
    """
    keys = [NonLinks(ends).keys for ends in (one, other)]
    return bool(np.array_equal(keys[0], keys[1]))


def taken_out(ends: Ends, picked: Whole) -> HeldOutLinks:
    """Take links out, one after another, but for those without which a node would have none.

    Args:
        ends: all links.
        picked: numbers of those to take out.

    >>> path = Ends(np.array([0, 1, 2]), np.array([1, 2, 3]), 4, False)
    >>> taken_out(path, np.array([0, 1, 2])).numbers
    array([1])
    """
    left = np.bincount(ends.sources, minlength=ends.n) + np.bincount(ends.targets, minlength=ends.n)
    spare = left - np.bincount(ends.sources[picked], minlength=ends.n)
    spare -= np.bincount(ends.targets[picked], minlength=ends.n)
    # only nodes that would lose every link need the order of the links
    safe = (spare[ends.sources[picked]] > 0) & (spare[ends.targets[picked]] > 0)
    out = picked[safe].tolist()
    left -= np.bincount(ends.sources[out], minlength=ends.n) + np.bincount(ends.targets[out], minlength=ends.n)
    for link in picked[~safe].tolist():
        u, v = ends.sources[link], ends.targets[link]
        if left[u] > 1 and left[v] > 1:
            left[u] -= 1
            left[v] -= 1
            out.append(link)
    numbers = np.sort(np.array(out, dtype=np.int64))
    stays = np.ones(len(ends.sources), dtype=bool)
    stays[numbers] = False
    training = replace(ends, sources=ends.sources[stays], targets=ends.targets[stays])
    return HeldOutLinks(training, ends.sources[numbers], ends.targets[numbers], numbers)


class NonLinks:
    """Draws pairs of a network that are not linked.

    Args:
        ends: all links of the network.

    Attributes:
        count: how many such pairs there are.
        keys: (m,) the links, each as one number, ascending.
    """

    def __init__(self, ends: Ends) -> None:
        self.ends = ends
        self.keys = np.sort(self._key(ends.sources, ends.targets))
        pairs = ends.n * (ends.n - 1)
        self.count = (pairs if ends.one_way else pairs // 2) - len(self.keys)

    def linked(self, sources: Whole, targets: Whole) -> NDArray[np.bool_]:
        """Which pairs are linked, or one node twice.

        Args:
            sources: nodes.
            targets: as many.
        """
        keys = self._key(sources, targets)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found: NDArray[np.bool_] = (sources == targets) | (self.keys[at] == keys)
        return found

    def uniform(self, count: int, rng: np.random.Generator) -> tuple[Whole, Whole]:
        """Pairs drawn from all that are not linked, each as likely, one perhaps several times.

        Args:
            count: how many.
            rng: of the draws.
        """
        n = self.ends.n
        if not self.count or not count:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        if n * n <= _LISTED and self.count < n * n / 8:
            every = np.stack(np.divmod(np.arange(n * n), n))
            every = every[:, ~self.linked(every[0], every[1])]
            picked = rng.integers(0, every.shape[1], count)
            return every[0, picked], every[1, picked]
        found = np.empty((2, 0), dtype=np.int64)
        while found.shape[1] < count:
            drawn = rng.integers(0, n, (2, 2 * count))
            found = np.concatenate([found, drawn[:, ~self.linked(drawn[0], drawn[1])]], axis=1)
        return found[0, :count], found[1, :count]

    def matched(self, held: HeldOutLinks, each: int, rng: np.random.Generator) -> Matched:
        """For each link taken out, pairs that are not linked, whose ends have like numbers of links left.

        Args:
            held: the links.
            each: pairs for each of them.
            rng: of the draws.
        """
        out, into = degrees(held.training)
        starts, stops = (_Like.of(d, rng) for d in (out, into))
        shape = (len(held.sources), each)
        sources, targets = (np.broadcast_to(end[:, None], shape).ravel().copy() for end in (held.sources, held.targets))
        given = sources.copy(), targets.copy()
        open_ = np.arange(len(sources))
        for tried in range(_ROUNDS):
            if not len(open_):
                break
            u = starts.drawn(given[0][open_], tried, rng)
            v = stops.drawn(given[1][open_], tried, rng)
            good = ~self.linked(u, v)
            sources[open_[good]], targets[open_[good]] = u[good], v[good]
            open_ = open_[~good]
        found = np.ones(shape, dtype=bool)
        found.ravel()[open_] = False
        return Matched(sources.reshape(shape), targets.reshape(shape), np.asarray(found.all(axis=1)))

    def _key(self, sources: Whole, targets: Whole) -> Whole:
        if self.ends.one_way:
            return sources * self.ends.n + targets
        return np.minimum(sources, targets) * self.ends.n + np.maximum(sources, targets)


@dataclass(frozen=True, slots=True, eq=False)
class _Like:
    """Nodes by degree: order, the place of each, and where those of the same degree begin and end."""

    order: Whole
    place: Whole
    first: Whole
    last: Whole

    @staticmethod
    def of(degree: Whole, rng: np.random.Generator) -> _Like:
        mixed = rng.permutation(len(degree))  # or neighbours in the order would be those of the numbering
        order = mixed[np.argsort(degree[mixed], kind="stable")]
        place = np.empty(len(degree), dtype=np.int64)
        place[order] = np.arange(len(degree))
        ascending = degree[order]
        first = np.searchsorted(ascending, degree, "left")
        last = np.searchsorted(ascending, degree, "right")
        return _Like(order, place, first, last)

    def drawn(self, nodes: Whole, tried: int, rng: np.random.Generator) -> Whole:
        """A node of like degree for each; the more tries, the wider."""
        reach = _LIKE * 2 ** (tried // 4)
        few = self.last[nodes] - self.first[nodes] <= reach
        low = np.where(few, np.maximum(self.place[nodes] - reach, 0), self.first[nodes])
        high = np.where(few, np.minimum(self.place[nodes] + reach + 1, len(self.order)), self.last[nodes])
        return np.asarray(self.order[low + (rng.random(len(nodes)) * (high - low)).astype(np.int64)])


def won(links: Array, others: Array) -> Array:
    """(k,) share of the r scores beside each link's that are below it, ties half.

    Args:
        links: (k,) scores of links.
        others: (k, r) scores of the pairs that each is compared with.

    >>> won(np.array([1.0, 2.0]), np.array([[0.0, 1.0], [3.0, 3.0]]))
    array([0.75, 0.  ])
    """
    return np.asarray(((others < links[:, None]) + 0.5 * (others == links[:, None])).mean(axis=1))


def auc(links: Array, others: Array) -> float:
    """How often a link's score is above that of another pair, ties half; over all of both.

    Args:
        links: (k,) scores of links.
        others: (r,) scores of pairs that are not linked.

    >>> auc(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    0.875
    """
    k, r = len(links), len(others)
    ranks = average_ranks(np.concatenate([links, others]))[:k]
    return float((ranks.sum() - k * (k + 1) / 2) / (k * r))
