"""How a model shall link rows, as options that can be compared and printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from assay.summary.distances.metrics import Metric
from assay.summary.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class Nearest:
    """As an option of a model: link each row with its nearest.

    Args:
        n_neighbors: Neighbours of each row.
        metric: "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming", "gower", "precomputed", or a
            function of two rows.
        symmetry: "union", "mutual" or "average" makes it undirected; None leaves it directed.

    >>> Nearest(1).graph([[0.0], [1.0], [3.0]]).links
    array([1, 2, 1])
    """

    n_neighbors: int = 10
    metric: Metric = "euclidean"
    symmetry: Literal["union", "mutual", "average"] | None = "union"

    def graph(self, X: Any) -> Graph:
        """The graph of these rows, weights are distances."""
        graph = Graph.nearest(X, self.n_neighbors, self.metric)
        return graph if self.symmetry is None else graph.symmetrised(self.symmetry)


@dataclass(frozen=True, slots=True)
class Within:
    """As an option of a model: link rows no further apart than a radius.

    Args:
        radius: The largest distance, itself included.
        metric: "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming", "gower", "precomputed", or a
            function of two rows.

    >>> Within(1.5).graph([[0.0], [1.0], [3.0]]).links
    array([1, 1, 0])
    """

    radius: float
    metric: Metric = "euclidean"

    def graph(self, X: Any) -> Graph:
        """The graph of these rows, weights are distances."""
        return Graph.within(X, self.radius, self.metric)
