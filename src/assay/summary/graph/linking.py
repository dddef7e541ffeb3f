"""How many nearest rows to link where nobody has said: as few as keep the rows together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.arrays import Array
from assay.summary.graph.graph import Graph
from assay.summary.graph.options import Nearest

USUAL = (10, 20, 40)


@dataclass(frozen=True, slots=True, eq=False)
class Linked:
    """Rows and how they were linked.

    Attributes:
        option: the option taken.
        graph: undirected, weights are distances.
    """

    option: Nearest
    graph: Graph


def link(rows: Array, tried: Sequence[int] = USUAL) -> Linked:
    """Link each row with its 10 nearest; with 20 or 40 where it takes so many to leave no row apart.

    Args:
        rows: (n, d), at least two.
        tried: numbers of neighbours, ascending; all other rows where there are fewer.

    Returns:
        The first that links all rows, or else the one that links most.

    >>> import numpy as np
    >>> link(np.arange(30.0)[:, None]).option.n_neighbors
    10
    """
    best, most = None, 0
    for k in tried:
        option = Nearest(min(k, len(rows) - 1))
        graph = option.graph(rows)
        parts = graph.components()
        if best is None or int(parts.sizes.max()) > most:
            best, most = Linked(option, graph), int(parts.sizes.max())
        if parts.count == 1:
            break
    assert best is not None
    return best
