"""What a statistic is in random graphs with the same degrees: draws until the answer is clear."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np

from assay.arrays import Array
from assay.engine.local import in_threads
from assay.linalg.noise.monte_carlo import monte_carlo, student_p
from assay.summary.graph.graph import Graph
from assay.summary.network.held_out_links import same_links
from assay.summary.network.random_graphs import Ends, same_degrees, state_of

METHOD = "links exchanged so that every node keeps its number of links"
_DRAWS = 39
_FIRST = 9  # draws of the first stage
_MANY = 50_000  # links beyond which fewer draws are made
_FEWER = 19
_HOPELESS = 0.25  # p after the first draws, beyond which the rest are not made


def in_random_graphs(
    graph: Graph,
    ends: Ends,
    statistic: Callable[[Ends], float],
    found: float,
    seed: int,
    progress: Callable[[float], object],
) -> Array:
    """The statistic in random graphs; none where these degrees leave no other graph.

    Args:
        graph: the network.
        ends: of its links.
        statistic: of the ends of links; NaN where it has none.
        found: the statistic of the network.
        seed: of the draws.
        progress: told which share of the draws is made.
    """
    hub = same_degrees(graph, seed).hub
    draws = _DRAWS if len(ends.sources) <= _MANY else _FEWER

    def drawn(number: int) -> Ends:
        return hub.mixed(state_of(1000 * seed + number, 1))[0]

    def hopeless(values: list[float]) -> bool:
        p = student_p(found, np.array(values))
        return p is None or p > _HOPELESS

    if same_links(ends, drawn(0)):
        return np.empty(0)
    made = count(1)
    progress(0.0)
    values = monte_carlo(
        range(draws),
        lambda some: in_threads(lambda number: statistic(drawn(number)), some, lambda *_: progress(next(made) / draws)),
        (_FIRST, draws - _FIRST),
        clear=hopeless,
    ).values
    return np.array([value for value in values if np.isfinite(value)])
