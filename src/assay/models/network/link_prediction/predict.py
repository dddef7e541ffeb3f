"""Link prediction: which pairs of nodes are linked, told by the other links.

    score     one number for each pair, from the links alone (`scores.py`)
    choice    the score that tells links best which were taken out, made without those that it is measured on
    value     how often a link that was taken out scores above a pair that is not linked, of like degrees, or any

Nodes with many links are linked more often, with anybody; a score that only counts links tells most links from most
pairs, and says nothing about who is linked with whom. So pairs of like degrees are what a score is measured on.
Reference: Liben-Nowell and Kleinberg, The link-prediction problem for social networks, JASIST 58, 2007.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.errors import DataError, ParameterError
from assay.linalg.validate import RandomState, seed_of
from assay.models.network.link_prediction.held_out import FOLDS, told
from assay.models.network.link_prediction.prediction import LinkPrediction
from assay.models.network.link_prediction.scores import PairScores, names_of
from assay.summary.graph.graph import Graph
from assay.summary.network.held_out_links import NonLinks, ends_of, taken_out
from assay.summary.network.networks import read_network
from assay.summary.network.random_graphs import Ends

FEWEST = 20  # links, and links that can be taken out


def predict_links(links: Any, *, score: str = "auto", random_state: RandomState = 0) -> LinkPrediction:
    """Tell which pairs of nodes are linked by the other links, and which pairs look as if a link were missing.

    Args:
        links: a `Graph`, or what `read_network` takes. Weights and loops are not used.
        score: "auto" chooses by links that are taken out; or one of "degrees", "common", "adamic_adar", "resource",
            "low_rank_4" and "low_rank_16", and for links that lead one way "back" and "either", see
            docs/guide/links.md.
        random_state: of the links taken out and the pairs they are compared with: a whole number from 0 on, None for
            0, or a generator of NumPy's.

    >>> ring = Graph.of_edges([*range(30)] * 2, [(i + step) % 30 for step in (1, 2) for i in range(30)])
    >>> found = predict_links(ring)  # everybody is linked with the two next on either side
    >>> found.auc > 0.8 > 0.6 > found.auc_degrees
    True
    >>> found.top_missing(3)[0].common >= 1
    True
    """
    graph = links if isinstance(links, Graph) else read_network(links)
    seed = seed_of(random_state)
    ends = ends_of(graph)
    names = names_of(ends.one_way)
    if score != "auto" and score not in names:
        raise ParameterError(f"score must be 'auto' or one of {', '.join(names)}; is {score!r}.")
    why = cannot_tell(ends)
    if why:
        raise DataError(f"links of this network cannot be told: {why}.")
    folds = tuple(told(ends, seed=seed, only=None if score == "auto" else score, listed=True))
    if len(folds) < 2:
        raise DataError("links of this network cannot be told: no pairs of like degrees are without a link.")
    chosen = score if score != "auto" else _best(folds, names)
    return LinkPrediction(chosen, folds, graph.names, PairScores(ends, seed), tuple(graph.notes))


def cannot_tell(ends: Ends) -> str:
    """Why links of a network cannot be told, in words; empty where they can.

    Args:
        ends: of its links.
    """
    m = len(ends.sources)
    if m < FEWEST:
        return f"it takes {FEWEST} links between different nodes, there are {m}"
    if not NonLinks(ends).count:
        return "all nodes are linked with each other"
    order = np.random.default_rng(0).permutation(m)
    spare = sum(len(taken_out(ends, order[fold::FOLDS]).numbers) for fold in range(FOLDS))
    if spare < FEWEST:
        return f"only {spare} links can be taken out without leaving a node with none; it takes {FEWEST}"
    return ""


def _best(folds: Any, names: tuple[str, ...]) -> str:
    links = np.array([fold.links for fold in folds])
    values = {name: float(np.average([fold.matched[name] for fold in folds], weights=links)) for name in names}
    return max(names, key=lambda name: round(values[name], 9))
