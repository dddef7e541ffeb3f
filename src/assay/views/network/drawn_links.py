"""The links of a network as figures take them, and which of many are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array, Indices
from assay.errors import ParameterError

UNGROUPED = "in no group"  # what is said of nodes that belong to nothing


class DrawnLinks:
    """Links between n nodes, each once, and the order in which nodes are drawn.

    Args:
        sources: (m,) nodes where they begin.
        targets: (m,) nodes where they end.
        weights: (m,) not negative.
        order: (n,) every node once, in the order in which they are drawn.

    Attributes:
        n: nodes.

    >>> DrawnLinks([0], [1], [2.0], [1, 0]).n
    2
    """

    def __init__(self, sources: ArrayLike, targets: ArrayLike, weights: ArrayLike, order: ArrayLike) -> None:
        self.sources: Indices = np.asarray(sources, dtype=np.intp)
        self.targets: Indices = np.asarray(targets, dtype=np.intp)
        self.weights: Array = np.asarray(weights, dtype=np.float64)
        self.order: Indices = np.asarray(order, dtype=np.intp)
        self.n = len(self.order)
        if not np.array_equal(np.sort(self.order), np.arange(self.n)):
            raise ParameterError(f"order has every one of {self.n} nodes once")

    @staticmethod
    def of(graph: Any, order: ArrayLike, groups: Sequence[Any] | None = None) -> DrawnLinks:
        """Those of a `Graph`, loops left out; an undirected link is here once.

        Args:
            graph: the graph.
            order: (n,) of the nodes.
            groups: (n,) labels: nodes of a group come together, groups by size, each in the order given.
        """
        W = graph.weights.tocoo()
        rows, cols = W.coords
        kept = rows != cols if graph.directed else rows < cols
        order = np.asarray(order, dtype=np.intp)
        if groups is not None:
            names, code, sizes = np.unique([str(one) for one in groups], return_inverse=True, return_counts=True)
            place = np.empty(len(names), dtype=np.intp)
            place[np.lexsort((names, -sizes, names == ""))] = np.arange(len(names))
            order = order[np.argsort(place[code[order]], kind="stable")]
        return DrawnLinks(rows[kept], cols[kept], W.data[kept], order)


def heaviest(links: DrawnLinks, there: NDArray[np.bool_], most: int) -> tuple[Indices, float]:
    """Which links are drawn, the heaviest last so that they lie on top, and the least weight drawn.

    Args:
        links: all of them.
        there: (n,) which nodes are drawn.
        most: how many links; where all weigh the same, every so manieth.
    """
    among = np.flatnonzero(there[links.sources] & there[links.targets])
    weight = links.weights[among]
    if len(among) > most:
        if (weight == weight[0]).all():
            among = among[np.linspace(0, len(among) - 1, most).astype(np.intp)]
        else:
            least = np.partition(weight, -most)[-most]
            chosen = weight >= least
            if chosen.sum() > 1.5 * most and (weight > least).any():  # too many weigh as much as the lightest
                chosen = weight > least
            among = among[chosen]
        weight = links.weights[among]
    by_weight = among[np.argsort(weight, kind="stable")]
    return by_weight, float(weight.min(initial=np.inf))
