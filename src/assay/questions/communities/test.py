"""Are the links of a network more clustered than its degrees make them?

Statistic: the modularity of the communities found, at resolution 1. Chance: random graphs in which every node has as
many links, weights are at random on the links, and what is no community stays as it is (`linked.py`); communities are
searched in each of them, since those of random graphs have high modularity too. Size: the share of links left out that
is inside communities found among the rest, less what degrees alone give (`held_out.py`). What comes back: the adjusted
Rand index of these with those of all links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Whole
from assay.asking.telling import Telling, counting, untold
from assay.engine.local import in_threads
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.noise.monte_carlo import Drawn, monte_carlo, student_p
from assay.models.network.communities.communities import by_size
from assay.models.network.communities.search import FoundCommunities, search
from assay.questions.communities.answer import Clustered
from assay.questions.communities.held_out import UnseenLinks, unseen
from assay.questions.communities.linked import LinkedPairs, linked, weighted
from assay.summary.graph.graph import Graph
from assay.summary.network.random_graphs import AlikeEnds, state_of

FEWEST_LINKS = 10
_LEAST = 0.01  # of the links left out: an excess below is none that matters
_ENOUGH = 10  # draws that reach the data, after which it is clear
_DRAWS, _FEW = 199, 19
_REPEATS = 4
_WORK = 4_000_000  # links looked at by all draws together
_ROUNDS = 3  # of each search; more gain little
_RANKED = 99  # with fewer draws p is that of Student's law


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done for a network of so many links.

    Attributes:
        runs: searches for communities, of which the best is taken, in the network and in every random graph.
        draws: random graphs at most.
        repeats: times that every link is left out once.
    """

    runs: int
    draws: int
    repeats: int

    @staticmethod
    def of(m: int, times: float = 1.0) -> Effort:
        """For m links, or so many times as much."""
        runs = int(np.clip(3_000 // m, 1, 5))
        draws = int(np.clip(times * _WORK // (m * runs), _FEW, times * (_DRAWS + 1) - 1))
        return Effort(runs, draws, int(np.clip(_WORK // (10 * m * runs), 1, _REPEATS)))


def clustered(
    graph: Graph,
    name: str,
    *,
    level: float = 0.05,
    seed: int = 0,
    times: float = 1.0,
    progress: Telling | None = None,
) -> Clustered:
    """Communities of a network, with their evidence.

    Args:
        graph: of similarities.
        name: of the network.
        level: level of the study.
        seed: of everything random.
        times: how many times as many random graphs as usual.
        progress: told what is being done.
    """
    tell = progress or untold
    links = linked(graph)
    effort = Effort.of(links.m, times)

    def find(first: Whole, second: Whole, weights: Array, number: int) -> Whole:
        return search(weighted(links.n, first, second, weights), 1.0, effort.runs, number, _ROUNDS).labels

    tell("communities")
    whole = weighted(links.n, links.ends.sources, links.ends.targets, links.weights)
    found = search(whole, 1.0, effort.runs, seed, _ROUNDS)  # as in the random graphs
    best = max(found, search(whole, 1.0, 2 * effort.runs, seed), key=lambda one: one.modularity)
    labels = by_size(best.labels)
    hub, exchanged = links.ends.mixed(state_of(seed, 0))
    if not exchanged and not links.free_weights:
        evidence = Evidence(found.modularity, n=links.m, method="no other network has these numbers of links")
        return Clustered(name, graph, links, labels, best.modularity, None, evidence, False, effort.draws)
    left = unseen(links, labels, find, effort.repeats, seed, tell)
    drawn = chance(links, hub, found, effort, seed, tell)
    evidence, holds = _judged(links, found, left, drawn, effort, level)
    return Clustered(name, graph, links, labels, best.modularity, left, evidence, holds, effort.draws)


def chance(
    links: LinkedPairs,
    hub: AlikeEnds,
    found: FoundCommunities,
    effort: Effort,
    seed: int,
    tell: Telling,
) -> Drawn[float]:
    """Modularity of the communities of random graphs, until the answer is clear.

    Args:
        links: of the network.
        hub: the ends of links from which random graphs are drawn.
        found: in it.
        effort: how many to draw.
        seed: of the draws.
        tell: told how far it is.
    """

    def one(number: int) -> float:
        ends, _ = hub.mixed(state_of(seed + number, 1))
        weights = links.shuffled_weights(np.random.default_rng([seed + number, 3]))
        graph = weighted(links.n, ends.sources, ends.targets, weights)
        return search(graph, 1.0, effort.runs, seed + number, _ROUNDS).modularity

    stages = [_FEW]
    while sum(stages) < effort.draws:
        stages.append(min(sum(stages) + 1, effort.draws - sum(stages)))
    made = counting(tell, "random networks", effort.draws)
    return monte_carlo(
        range(1, effort.draws + 1), lambda some: in_threads(one, some, made), stages,
        reaches=lambda value: value >= found.modularity - 1e-12, enough=_ENOUGH,
    )  # fmt: skip


def p_of(value: float, drawn: Drawn[float], effort: Effort) -> float:
    """The chance that a random graph does as well; by Student's law where few were drawn, since more take too long."""
    if effort.draws >= _RANKED or sum(drawn.reached):
        return drawn.p
    return student_p(value, np.array(drawn.values)) or drawn.p


def _judged(
    links: LinkedPairs, found: FoundCommunities, left: UnseenLinks, drawn: Drawn[float], effort: Effort, level: float
) -> tuple[Evidence, bool]:
    """The evidence, and whether links left out bear the communities out."""
    p = p_of(found.modularity, drawn, effort)
    known = np.isfinite(left.excess)
    holds = bool(known and left.interval[0] > 0.0 and left.excess >= _LEAST)
    values = np.array(drawn.values)
    upper = float(np.quantile(values, 1 - level))
    by_law = "" if effort.draws >= _RANKED or sum(drawn.reached) else ", by Student's law"
    evidence = Evidence(
        found.modularity,
        Null("random networks with the same numbers of links", float(np.median(values)), upper, len(values)),
        p,
        p,
        left.excess if known else None,
        left.interval if known else None,
        left.alike,
        links.m,
        1,
        f"the same search in {len(values)} random networks with the same numbers of links{by_law}{_kept(links)}",
        verdict_of(p, effect_holds=holds, level=level),
    )
    return evidence, holds


def _kept(links: LinkedPairs) -> str:
    """What else chance keeps, and how links count."""
    if links.directed:
        return "; links count both ways, and nodes keep how many lead to them and from them"
    return "; the two sides between which all links are stay as they are" if links.two_sided else ""
