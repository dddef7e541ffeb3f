"""Links that the others do not lead one to expect: their ends share fewer neighbours than chance gives such degrees.

With z of every link from `models.network.link_prediction.surprise`, whose scale is taken from random graphs that are
used for nothing else, and T_b the smallest z of all links of random graph b,

    p of a link = (1 + number of T_b <= z) / (1 + B)

so that any link of a graph that chance made is called surprising with probability level at most, however many there
are. Where links as a whole share no more neighbours than chance, as in a network of two kinds of nodes, none is
surprising. Size on what was not used: nodes are halved, links chosen by the neighbours in one half, and the neighbours
that the same links share in the other half are compared with those expected there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.arrays import Array, Whole
from assay.asking.telling import Telling, counting, untold
from assay.engine.local import in_threads
from assay.models.network.link_prediction.surprise import LinksByChance, Shared, shared_neighbours
from assay.summary.graph.graph import Graph
from assay.summary.network.held_out_links import NonLinks, ends_of
from assay.summary.network.random_graphs import Ends, same_degrees, state_of

_SCALE = 9  # random graphs that give the scale
_WORK = 5_000_000  # links of all random graphs together
_FEWEST, _MOST = 39, 199
_STREAM = 500_000  # seeds away from those of the test of the whole


@dataclass(frozen=True, slots=True, eq=False)
class Surprising:
    """Links by how few neighbours their ends share.

    Attributes:
        sources, targets: (k,) nodes of the links, the most surprising first; those with a p up to .2.
        common: (k,) neighbours they share.
        expected: (k,) neighbours that random graphs give two nodes of such degrees.
        p: (k,) of each, all links counted.
        judged: how many links could be judged: those whose ends are expected to share something.
        draws: random graphs.
        unseen: neighbours shared in the half of the nodes not used, as a share of those expected there; NaN where none
            is surprising.
    """

    sources: Whole
    targets: Whole
    common: Array
    expected: Array
    p: Array
    judged: int
    draws: int
    unseen: float


def surprising(graph: Graph, *, seed: int = 0, progress: Telling | None = None) -> Surprising:
    """Compare every link with those of random graphs.

    Args:
        graph: the network.
        seed: of the random graphs.
        progress: told what is being done.
    """
    ends = ends_of(graph)
    hub = same_degrees(graph, seed).hub
    draws = int(np.clip(_WORK // max(len(ends.sources), 1), _FEWEST, _MOST))

    def drawn(number: int) -> Shared:
        return shared_neighbours(hub.mixed(state_of(_STREAM + 1000 * seed + number, 1))[0])

    made = counting(progress or untold, "surprising links", _SCALE + draws)
    by_chance = LinksByChance.of(in_threads(drawn, range(_SCALE), made))
    least = np.array(
        in_threads(lambda b: float(by_chance.z(drawn(b)).min(initial=np.inf)), range(_SCALE, _SCALE + draws), made)
    )
    half = np.random.default_rng(seed).permutation(ends.n) % 2 == 0
    own = shared_neighbours(ends, half)
    z = by_chance.z(own)
    judged = np.isfinite(z)
    if not judged.any() or float(np.median(z[judged])) <= 0.0:
        none = np.empty(0, dtype=np.int64)
        return Surprising(none, none, np.empty(0), np.empty(0), np.empty(0), int(judged.sum()), draws, float("nan"))
    p = (1.0 + np.searchsorted(np.sort(least), z, "right")) / (1.0 + draws)
    order = np.argsort(z, kind="stable")
    order = order[p[order] <= 0.2]
    expected = own.expected * by_chance.factor(own)
    count = int((p <= 0.05).sum())
    return Surprising(
        *_as_linked(ends, own.sources[order], own.targets[order]),
        own.common[order],
        expected[order],
        np.asarray(p[order], dtype=np.float64),
        int(judged.sum()),
        draws,
        _unseen(own, by_chance, expected, count),
    )


def _as_linked(ends: Ends, sources: Whole, targets: Whole) -> tuple[Whole, Whole]:
    """Pairs the way the link leads; where it leads both ways the first."""
    turned = ends.one_way & ~NonLinks(ends).linked(sources, targets)
    return np.where(turned, targets, sources), np.where(turned, sources, targets)


def _unseen(own: Shared, by_chance: LinksByChance, expected: Array, count: int) -> float:
    if not count:
        return float("nan")
    first = replace(own, common=own.half / max(own.share, 1e-9))
    picked = np.argsort(by_chance.z(first), kind="stable")[:count]
    there = float(expected[picked].sum()) * (1.0 - own.share)
    return float((own.common - own.half)[picked].sum()) / there if there > 0 else float("nan")
