"""Scores when every node draws its out-links anew among those it has: what of an order depends on single links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Whole
from assay.engine.local import in_threads
from assay.models.network.pagerank.links import Links, TurnedLinks, rounding, turned_places
from assay.models.network.pagerank.power import solve


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """Scores and ranks in each resample.

    Attributes:
        scores: (resamples, k) of the nodes followed.
        first: (resamples, k) the best rank each can have within the error of the scores.
        last: (resamples, k) the worst.
        bounds: (resamples,) on the error of the scores.
    """

    scores: Array
    first: Whole
    last: Whole
    bounds: Array


def resampled(links: Links, damping: float, v: Array, start: Array, nodes: Whole, count: int, seed: int) -> Resampled:
    """Scores of some nodes in `count` resamples, each node drawing as many of its out-links as it has.

    Args:
        links: the graph.
        damping: of the walk.
        v: (n,) where jumps go.
        start: (n,) scores of the graph itself.
        nodes: (k,) the nodes to follow.
        count: how many resamples.
        seed: of the draws.
    """
    from assay.models.network.pagerank._kernels import pick, share

    by_end, origins, place = turned_places(links)
    m = len(origins)
    weights = np.ones(m) if links.weights is None else links.weights
    out = (links.leaving > 0).astype(np.float64)
    units = rounding(by_end, links.leaving)
    tol = 1e-4 / links.n

    def one(number: int) -> tuple[Array, Whole, Whole, float]:
        counts, shares = np.empty(m, np.int32), np.empty(m)
        pick(links.starts, np.random.default_rng([seed, number]).random(m), counts)
        share(links.starts, weights, counts, place, shares)
        found = solve(TurnedLinks(by_end, origins, shares, out, units), damping, v, start, tol, threads=False)
        return found.scores[nodes], *ranks(found.scores, nodes, found.bound), found.bound

    drawn = in_threads(one, range(count))
    scores, first, last, bounds = (np.array([part[k] for part in drawn]) for k in range(4))
    return Resampled(scores, first, last, bounds)


def ranks(scores: Array, nodes: Whole, error: float) -> tuple[Whole, Whole]:
    """The best and the worst rank of some nodes, where scores closer than the error are not told apart."""
    n, ordered = len(scores), np.sort(scores)
    first = n - np.searchsorted(ordered, scores[nodes] + error, side="right") + 1
    last = n - np.searchsorted(ordered, scores[nodes] - error, side="left")
    return np.minimum(first, last), last
