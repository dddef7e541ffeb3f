"""Scores in graphs in which only the numbers of links of each node are as they were: what a rank owes to its in-degree.

Graphs are drawn by `summary.network.random_graphs`. With z the log scores standardised over all graphs together, M_bc
the largest z, or the largest -z, of graph b among nodes of like in-degree (class c: 1, 2, 3 to 4, 5 to 8, ...; few
links have longer tails), and as one class more |z| of the rank correlation with the in-degrees,

    s_bi = (z_bi - mean_b M_bc) / sd_b M_bc,      T_b = max_i s_bi,      p_i = share of graphs with T_b >= s_0i,

the observed graph among them, so that anything is called otherwise than the degrees with probability 5% at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from assay.arrays import Array, Whole
from assay.engine.local import in_threads
from assay.models.network.pagerank.links import Links, turned
from assay.models.network.pagerank.power import solve
from assay.summary.network.random_graphs import Ends

_ENTRIES = 2**25  # scores kept of all graphs
_SAME = 1e-6  # relative differences below are of the solver


@dataclass(frozen=True, slots=True, eq=False)
class Exchanged:
    """The observed graph beside those with the same degrees.

    Attributes:
        nodes: (k,) the nodes that have in-links; of very many those with most.
        ratio: (k,) their score, as a multiple of what graphs with these degrees typically give.
        z: (k,) the logarithm of it in standard deviations; 0 where graphs do not differ.
        p: (k,) of each node, all nodes counted.
        agreement: rank correlation of the scores with the in-degrees.
        p_agreement: of it, all nodes counted.
        expected: the same in graphs with these degrees: 5%, median, 95%.
        graphs: how many were drawn.
        exchanges: pairs of links exchanged for each of them, on average.
    """

    nodes: Whole
    ratio: Array
    z: Array
    p: Array
    agreement: float
    p_agreement: float
    expected: tuple[float, float, float]
    graphs: int
    exchanges: float


def exchanged(
    links: Links,
    damping: float,
    v: Array,
    scores: Array,
    graphs: int,
    seed: int,
    progress: Callable[[float], object] | None = None,
) -> Exchanged:
    """Scores beside those of random graphs with the same degrees.

    Args:
        links: the graph.
        damping: of the walk.
        v: (n,) where jumps go.
        scores: (n,) of the graph.
        graphs: how many to draw.
        seed: of the draws.
        progress: told which share of them is made.
    """
    one_way = links.one_way
    seeds = np.random.SeedSequence([seed, 1]).generate_state(graphs + 1, np.uint64) >> np.uint64(1)
    kept = _Kept.of(links, one_way)
    hub, _ = kept.ends.mixed(int(seeds[0]))
    arriving = links.arriving
    nodes = np.flatnonzero(arriving > 0)
    if len(nodes) * (graphs + 1) > _ENTRIES:
        most = np.argsort(-arriving[nodes], kind="stable")[: _ENTRIES // (graphs + 1)]
        nodes = np.sort(nodes[most])
    tol = 1e-4 / links.n

    def one(number: int) -> tuple[Array, int]:
        ends, done = hub.mixed(int(seeds[number]))
        found = solve(turned(kept.links(ends, links)), damping, v, scores, tol, threads=False)
        return found.scores[nodes], done

    tell = progress or (lambda share: None)
    drawn = in_threads(one, range(1, graphs + 1), lambda done, whole: tell(done / whole))
    every = np.array([scores[nodes], *(part[0] for part in drawn)])
    agreed = _agreement(every, arriving[nodes])
    every = np.log(np.maximum(every, np.finfo(np.float64).tiny))
    mean, spread = every.mean(axis=0), every.std(axis=0)
    z = np.where(spread > _SAME, (every - mean) / np.where(spread > _SAME, spread, 1.0), 0.0)
    p, p_agreement = _chances(z, arriving[nodes], agreed)
    low, middle, high = np.quantile(agreed[1:], [0.05, 0.5, 0.95])
    exchanges = float(np.mean([part[1] for part in drawn]))
    ratio = np.exp(every[0] - mean)
    expected = (float(low), float(middle), float(high))
    return Exchanged(nodes, ratio, z[0], p, float(agreed[0]), p_agreement, expected, graphs, exchanges)


def _chances(z: Array, arriving: Whole, agreed: Array) -> tuple[Array, float]:
    """P of every node and of the agreement with the in-degrees, in the first of several graphs."""
    columns = [_beyond_largest(np.abs(_standard(agreed))[:, None])]
    classes = np.ceil(np.log2(np.maximum(arriving, 1))).astype(np.int64)
    of_node = np.full(z.shape[1], -np.inf)
    for sign in (1.0, -1.0):
        for which in np.unique(classes):
            here = np.flatnonzero(classes == which)
            columns.append(_beyond_largest(sign * z[:, here]))
            of_node[here] = np.maximum(of_node[here], columns[-1][0])
    largest = np.array([column.max(axis=1) for column in columns]).max(axis=0)

    def p(value: float) -> float:
        return float((largest >= value).mean())

    return np.array([p(value) if moved else 1.0 for value, moved in zip(of_node, z[0] != 0.0, strict=True)]), (
        p(float(columns[0][0, 0]))
    )


def _beyond_largest(z: Array) -> Array:
    """How far values of a graph are beyond the largest that a graph usually has, in its standard deviations."""
    largest = z.max(axis=1)
    spread = largest.std()
    return (z - largest.mean()) / spread if spread > _SAME else np.full(z.shape, -np.inf)


def _standard(values: Array) -> Array:
    spread = values.std()
    return (values - values.mean()) / spread if spread > _SAME else np.zeros(len(values))


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """What stays where it is while ends are exchanged: the weights of links, and loops."""

    ends: Ends
    weights: Array | None
    loops: Whole
    loop_weights: Array | None

    @staticmethod
    def of(links: Links, one_way: bool) -> _Kept:
        sources = np.repeat(np.arange(links.n), links.leaving)
        targets = links.ends.astype(np.int64)
        loop = sources == targets
        kept = ~loop if one_way else sources < targets
        some = None if links.weights is None else links.weights
        return _Kept(
            Ends(sources[kept], targets[kept], links.n, one_way),
            None if some is None else some[kept],
            sources[loop],
            None if some is None else some[loop],
        )

    def links(self, ends: Ends, like: Links) -> Links:
        back = () if ends.one_way else (ends.targets,)
        forth = () if ends.one_way else (ends.sources,)
        sources = np.concatenate([ends.sources, *back, self.loops])
        targets = np.concatenate([ends.targets, *forth, self.loops])
        order = np.argsort(sources, kind="stable")
        weights = None
        if self.weights is not None and self.loop_weights is not None:
            twice = () if ends.one_way else (self.weights,)
            weights = np.concatenate([self.weights, *twice, self.loop_weights])[order]
        starts = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=ends.n))]).astype(np.int64)
        return replace(like, starts=starts, ends=targets[order].astype(np.int32), weights=weights)


def _agreement(scores: Array, arriving: Whole) -> Array:
    """Rank correlation of each row of scores with the in-degrees, 0 where these are all the same."""
    degree = rankdata(arriving)
    if len(degree) < 2 or np.ptp(degree) == 0.0:
        return np.zeros(len(scores))
    degree = degree - degree.mean()
    found = np.zeros(len(scores))
    for row, values in enumerate(scores):
        # scores that differ in their last digits only are the same
        ranked = rankdata(np.round(np.log(np.maximum(values, 1e-300)) / _SAME))
        ranked = ranked - ranked.mean()
        size = float(np.sqrt((ranked @ ranked) * (degree @ degree)))
        found[row] = ranked @ degree / size if size else 0.0
    return found
