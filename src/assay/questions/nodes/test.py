"""PageRank against random graphs with the same degrees, and on links that were not used to find who stands out.

Half of the links, drawn at random, say which nodes are ranked most otherwise than their degrees explain, and which way;
the other half says by which factor its own ranks are otherwise, the same way. Then the halves change places.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import stdtrit

from assay.asking.telling import Telling
from assay.evidence.evidence import Evidence, Null
from assay.models.network.pagerank.pagerank import pagerank
from assay.models.network.pagerank.ranking import BeyondDegree, Ranking
from assay.questions.nodes.answer import Nodes
from assay.summary.graph.edges import edges_of
from assay.summary.graph.graph import Graph
from assay.summary.graph.seriation import node_order

FEWEST_LINKS = 20
SHOWN = 25
_GRAPHS, _HALF_GRAPHS = 99, 49
_MANY_LINKS = 2_000_000  # fewer random graphs beyond
_FOUND = 10  # nodes that each half names
_LEAST = 1.05  # times what degrees give: less is no size to speak of


def nodes(graph: Graph, level: float, seed: int, tell: Telling) -> Nodes | None:
    """Rank the nodes and say which ranks are not what the degrees make them.

    Args:
        graph: of similarities.
        level: level of the study.
        seed: of everything random.
        tell: told what is being done.
    """
    tell("ranking")
    graphs = max(19, min(_GRAPHS, _GRAPHS * _MANY_LINKS // max(graph.weights.nnz, 1)))
    what = "random networks with the same numbers of links"
    ranking = pagerank(graph, graphs=graphs, random_state=seed, progress=lambda share: tell(what, share))
    tell(what, 0.0)
    beyond = ranking.beyond_degree
    if not len(beyond.nodes):
        return None
    factors = _unseen(graph, seed, tell)
    held_out, interval = _mean_factor(factors)
    largest = np.exp(np.abs(np.log(beyond.ratio)))
    evidence = Evidence(
        float(largest[beyond.p_nodes.argmin()]),
        Null("random networks with the same numbers of links", 1.0, float("nan"), beyond.graphs),
        beyond.p,
        beyond.p,
        held_out=held_out,
        interval=interval,
        n=graph.n,
        looks=len(beyond.nodes) + 1,
        method=f"{beyond.graphs} random networks with the same numbers of links",
    )
    holds = effect_holds(evidence)
    evidence = evidence.stricter(1.0, level, effect_holds=holds)
    tell("drawing links anew")
    return _answer(ranking, beyond, evidence, graph, level)


def effect_holds(evidence: Evidence) -> bool:
    """Whether nodes found in one half of the links are ranked otherwise in the other, beyond doubt and by enough."""
    low = 0.0 if evidence.interval is None else evidence.interval[0]
    return evidence.held_out is not None and evidence.held_out > _LEAST and low > 1.0


def _unseen(graph: Graph, seed: int, tell: Telling) -> list[float]:
    """Log factors by which nodes that one half names are ranked otherwise in the other, the same way."""
    rows, cols, values = edges_of(graph.weights)
    kept = np.ones(len(rows), dtype=bool) if graph.directed else rows <= cols
    rows, cols, values = rows[kept], cols[kept], values[kept]
    first = np.random.default_rng([seed, 7]).permutation(len(rows)) % 2 == 0
    halves = [
        pagerank(
            Graph.of_edges(rows[half], cols[half], values[half], n=graph.n, directed=graph.directed),
            graphs=_HALF_GRAPHS, random_state=seed,
            progress=partial(_half_told, tell, before),
        ).beyond_degree
        for before, half in enumerate((first, ~first))
    ]  # fmt: skip
    factors = []
    for here, there in ((halves[0], halves[1]), (halves[1], halves[0])):
        ratio = dict(zip(there.nodes.tolist(), np.log(there.ratio).tolist(), strict=True))
        named = [i for i in np.argsort(-np.abs(here.z), kind="stable")[:_FOUND] if here.z[i] != 0.0]
        factors += [float(np.sign(here.z[i])) * ratio[node] for i in named if (node := int(here.nodes[i])) in ratio]
    return factors


def _half_told(tell: Telling, before: int, share: float) -> None:
    tell("halves of the links", (before + share) / 2)


def _mean_factor(logs: list[float]) -> tuple[float | None, tuple[float, float] | None]:
    if len(logs) < 4:
        return None, None
    mean, error = float(np.mean(logs)), float(np.std(logs, ddof=1) / np.sqrt(len(logs)))
    reach = float(stdtrit(len(logs) - 1, 0.975)) * error
    return float(np.exp(mean)), (float(np.exp(mean - reach)), float(np.exp(mean + reach)))


def _answer(ranking: Ranking, beyond: BeyondDegree, evidence: Evidence, graph: Graph, level: float) -> Nodes:
    top = ranking.order[:SHOWN]
    varies = bool((np.diff(graph.weights.indptr) > 1).any())
    drawn = ranking.intervals if varies else None
    ahead = ranking.outranks(_called(ranking, top[0]), _called(ranking, top[1])) if varies and len(top) > 1 else None
    clear = np.argsort(beyond.p_nodes - 1e-9 * np.abs(beyond.z), kind="stable")
    arriving = np.bincount(graph.weights.indices, minlength=graph.n)
    return Nodes(
        evidence=evidence,
        names=tuple(ranking.name(node) for node in range(graph.n)),
        scores=ranking.scores,
        top=top,
        ranks=None if drawn is None else np.stack([drawn.rank_low[: len(top)], drawn.rank_high[: len(top)]], axis=1),
        score_ends=None if drawn is None else np.stack([drawn.score_low[: len(top)], drawn.score_high[: len(top)]], 1),
        in_links=arriving,
        tested=beyond.nodes[clear],
        ratio=beyond.ratio[clear],
        p=beyond.p_nodes[clear],
        level=level,
        agreement=beyond.agreement,
        expected=beyond.expected,
        ahead=None if ahead is None else ahead.share,
        is_first=bool(ahead),
        graph=graph,
        order=node_order(graph),
    )


def _called(ranking: Ranking, node: int) -> object:
    return int(node) if ranking.names is None else ranking.name(int(node))
