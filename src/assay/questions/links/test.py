"""Can links be told by the other links, beyond degrees? Links taken out, against random graphs with the same degrees.

statistic  how often a link that was taken out scores above a pair of like degrees that is not linked, by the score that
           was chosen without it (`models.network.link_prediction.held_out`)
chance     the same, choice included, in random graphs in which every node has as many links
unseen     the same beyond what degrees alone do, over five folds, with its interval

All links taken out are counted in one mean, which is nearly normal from one random graph to the next; so one more draw,
which the data are if chance made them, follows Student's t about the others. Where links can be told, each of them is
also compared with links of random graphs (`surprising.py`).
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from assay.arrays import Array
from assay.asking.telling import Telling, untold
from assay.errors import DataError
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.evidence.random_networks import METHOD, in_random_graphs
from assay.linalg.noise.monte_carlo import student_p
from assay.models.network.link_prediction.held_out import told
from assay.models.network.link_prediction.predict import predict_links
from assay.models.network.link_prediction.prediction import LinkPrediction
from assay.questions.links.answer import LinksTold
from assay.questions.links.surprising import surprising
from assay.summary.graph.graph import Graph
from assay.summary.network.held_out_links import ends_of, folds_tested
from assay.summary.network.random_graphs import Ends

SMALLEST = 0.02  # of the comparisons, beyond what degrees win: less is of no use, however sure it is


def links_told(
    graph: Graph,
    *,
    name: str = "the network",
    level: float = 0.05,
    seed: int = 0,
    progress: Telling | None = None,
) -> LinksTold | None:
    """Say whether links can be told, which pairs look like links, and which links are surprising; None for too few.

    Args:
        graph: the network.
        name: what it is called.
        level: chance of claiming anything where only the numbers of links of each node are at work.
        seed: of everything random.
        progress: told what is being done.
    """
    tell = progress or untold
    tell("taking links out")
    try:
        found = predict_links(graph, random_state=seed)
    except DataError:
        return None
    ends = ends_of(graph)
    which = folds_tested(len(ends.sources))
    statistic = _value(ends, which, seed)
    chance = in_random_graphs(
        graph, ends, lambda drawn: _value(drawn, which, seed), statistic, seed,
        lambda share: tell("what chance does", share),
    )  # fmt: skip
    p = student_p(statistic, chance) if len(chance) else None
    evidence = _evidence(found, statistic, chance, p, level, len(ends.sources))
    holds = effect_holds(found)
    odd = None
    if evidence.verdict == "supported":
        odd = surprising(graph, seed=seed, progress=tell)
    return LinksTold(name, found, tuple(found.top_missing()), chance, evidence, holds, odd, graph.directed)


def effect_holds(found: LinkPrediction) -> bool:
    """Whether links are told beyond degrees by more than the standard error of that, and by a size that matters."""
    return bool(found.beyond[0] > max(found.error, SMALLEST))


def _value(ends: Ends, which: range, seed: int) -> float:
    folds = told(ends, seed=seed, which=which)
    if not folds:
        return float("nan")
    return float(np.average([fold.value for fold in folds], weights=[fold.links for fold in folds]))


def _evidence(
    found: LinkPrediction, statistic: float, chance: Array, p: float | None, level: float, links: int
) -> Evidence:
    value, interval = found.beyond
    null = None
    if p is not None:
        spread = float(chance.std(ddof=1)) * np.sqrt(1 + 1 / len(chance))
        upper = float(chance.mean() + spread * -stdtrit(len(chance) - 1, level))
        null = Null(METHOD, float(np.median(chance)), upper)
    return Evidence(
        statistic=statistic,
        p=p,
        q=p,
        held_out=value,
        interval=interval,
        n=links,
        looks=len(found.by_score()),
        method=f"{METHOD}, {len(chance)} random networks with a Student tail, the choice of the score in each",
        verdict=verdict_of(p, effect_holds=effect_holds(found), level=level),
        null=null,
    )
