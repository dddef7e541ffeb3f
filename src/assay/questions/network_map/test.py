"""Does a map of the network show more than chance? Links taken out, told by distances on a map of the others.

statistic  how often the ends of a link that was taken out lie nearer to each other, on a map made without it, than
           those of a pair of like degrees that is not linked
chance     the same in random graphs in which every node has as many links
unseen     the same over five folds of links, with its interval
movement   how far each node moves when a fifth of the links is taken out, maps laid over each other (Procrustes)

All links taken out are counted in one mean, nearly normal from one random graph to the next: Student's t, as for other
maps. Nodes that no path links with the largest component have no place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from assay.arrays import Array
from assay.asking.telling import Telling, untold
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.evidence.random_networks import METHOD, in_random_graphs
from assay.linalg.dense.procrustes import procrustes
from assay.linalg.noise.fold_error import fold_error, fold_mean
from assay.linalg.noise.monte_carlo import student_p
from assay.questions.network_map.answer import NetworkMap
from assay.questions.network_map.placed import apart, placed
from assay.summary.graph.graph import Graph
from assay.summary.network.held_out_links import (
    NonLinks,
    degrees,
    ends_of,
    fold_of_links,
    folds_tested,
    taken_out,
    won,
)
from assay.summary.network.random_graphs import Ends

FEWEST_LINKS = 20
FEWEST_NODES = 10
FEWEST_COMPARED = 10  # links in all folds
FOLDS = 5
SMALLEST = 0.05  # beyond chance: a map on which fewer links are nearer tells a reader nothing, however sure that is
_SCORED = 2_000  # links of a fold that are compared
_TOGETHER = 2_000_000  # comparisons of one map at most, to know how far nodes lie apart


@dataclass(frozen=True, slots=True, eq=False)
class _Fold:
    """A map made without some links: how many of them were compared, how often they were nearer, and the map."""

    links: int
    nearer: float
    places: Array


def cannot_map(graph: Graph) -> str:
    """Why there is no map of a network to be tested, in words; empty where there is.

    Args:
        graph: the network.
    """
    ends = ends_of(graph)
    if len(ends.sources) < FEWEST_LINKS:
        return f"it takes {FEWEST_LINKS} links between different nodes, there are {len(ends.sources)}"
    if not NonLinks(ends).count:
        return "all nodes are linked with each other"
    largest = int(graph.components().sizes.max())
    return "" if largest >= FEWEST_NODES else f"it takes {FEWEST_NODES} nodes linked with each other by paths"


def network_map(
    graph: Graph, *, level: float = 0.05, seed: int = 0, progress: Telling | None = None
) -> NetworkMap | None:
    """Draw a map of the nodes and say whether it shows more than chance; None where nothing can be compared.

    Args:
        graph: the network.
        level: chance of supporting a map of a network that chance made of its degrees.
        seed: of the links taken out, the pairs and the random graphs.
        progress: told what is being done.
    """
    tell = progress or untold
    ends = ends_of(graph)
    tell("drawing")
    which = folds_tested(len(ends.sources))
    folds = _folds(ends, range(FOLDS), seed)
    if len(folds) < 2 or sum(fold.links for fold in folds) < FEWEST_COMPARED:
        return None
    tested = folds if len(which) == FOLDS else _folds(ends, which, seed)
    statistic = _mean(tested)
    chance = in_random_graphs(
        graph, ends, lambda drawn: _mean(_folds(drawn, which, seed)), statistic, seed,
        lambda share: tell("what chance does", share),
    )  # fmt: skip
    p = student_p(statistic, chance) if len(chance) > 2 else None
    places = placed(ends, seed)
    moved, scale = _moved(places, folds)
    value, interval = fold_mean([fold.nearer for fold in folds], within=(0.0, 1.0))
    error = float(fold_error(np.array([fold.nearer for fold in folds])))
    beyond = value - (float(chance.mean()) if len(chance) else 0.5)
    holds = beyond > max(error, SMALLEST)
    shift = float(np.nanmedian(moved)) / scale if scale > 0 else 1.0
    null = None
    if p is not None:
        spread = float(chance.std(ddof=1)) * np.sqrt(1 + 1 / len(chance))
        upper = float(chance.mean() + spread * -stdtrit(len(chance) - 1, level))
        null = Null(METHOD, float(np.median(chance)), upper)
    evidence = Evidence(
        statistic=statistic,
        p=p,
        q=p,
        held_out=value,
        interval=interval,
        stability=float(np.clip(1.0 - shift, 0.0, 1.0)),
        n=len(ends.sources),
        method=f"{METHOD}, {len(chance)} random networks with a Student tail",
        verdict=verdict_of(p, effect_holds=holds, level=level),
        null=null,
    )
    out, into = degrees(ends)
    links = out + into if ends.one_way else out
    doubt = np.clip(moved / scale, 0.0, 1.0) if scale > 0 else np.ones(len(moved))
    return NetworkMap(
        places, doubt, np.stack([ends.sources, ends.targets], axis=1), links, graph.names, chance, evidence, holds
    )  # fmt: skip


def _folds(ends: Ends, which: range, seed: int) -> list[_Fold]:
    """A map without each fold of links, and how these lie on it."""
    fold = fold_of_links(len(ends.sources), FOLDS, np.random.default_rng(seed))
    every = NonLinks(ends)
    found = []
    for number in which:
        rng = np.random.default_rng([seed, number])
        held = taken_out(ends, np.flatnonzero(fold == number))
        places = placed(held.training, seed)
        pairs = every.matched(held, int(np.clip(_SCORED // max(len(held.sources), 1), 1, 10)), rng)
        links = apart(places, held.sources, held.targets)
        others = apart(places, pairs.sources, pairs.targets)
        there = pairs.found & np.isfinite(links) & np.isfinite(others).all(axis=1)
        if there.any():
            # nearer is larger, for won
            found.append(_Fold(int(there.sum()), float(won(-links[there], -others[there]).mean()), places))
    return found


def _mean(folds: list[_Fold]) -> float:
    if not folds:
        return float("nan")
    return float(np.average([fold.nearer for fold in folds], weights=[fold.links for fold in folds]))


def _moved(places: Array, folds: list[_Fold]) -> tuple[Array, float]:
    """(n,) how far each node moves on maps without a fold, and how far two nodes are apart; both medians."""
    moves = np.full((len(folds), len(places)), np.nan)
    for number, fold in enumerate(folds):
        there = np.isfinite(places).all(axis=1) & np.isfinite(fold.places).all(axis=1)
        if there.sum() > 2:
            laid = procrustes(fold.places[there], places[there]).apply(fold.places[there])
            moves[number, there] = np.sqrt(((laid - places[there]) ** 2).sum(axis=1))
    moved = np.full(len(places), np.nan)
    some = np.isfinite(moves).any(axis=0)
    moved[some] = np.nanmedian(moves[:, some], axis=0)
    on_map = np.flatnonzero(np.isfinite(places).all(axis=1))
    # a node that is on no map without a fold hangs by single links
    moved[on_map] = np.where(np.isfinite(moved[on_map]), moved[on_map], np.inf)
    rng = np.random.default_rng(0)
    us, vs = (rng.choice(on_map, min(20_000, _TOGETHER)) for _ in range(2))
    return moved, float(np.median(apart(places, us, vs)))
