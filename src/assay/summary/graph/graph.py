"""A sparse graph: who is linked with whom, how far apart or how alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.linalg.sparse.structure import as_sparse
from assay.summary.distances.metrics import Metric
from assay.summary.gram.kernels import Gaussian
from assay.summary.graph.edges import (
    edges_of,
    matrix_of,
    mirrored,
    nearest_edges,
    numbered,
    refuse_unusable,
    symmetric,
    within_edges,
)
from assay.summary.graph.laplacian import Kind, degree_of, laplacian_of, transition_of
from assay.summary.graph.paths import shortest_paths

Meaning = Literal["distance", "similarity"]


@dataclass(frozen=True, slots=True, eq=False)
class ConnectedComponents:
    """Which nodes can reach each other.

    Attributes:
        count: Number of components.
        labels: (n,) the component of each node, numbered by its first node.
        sizes: (count,) nodes in each.
    """

    count: int
    labels: Whole
    sizes: Whole


@dataclass(frozen=True, slots=True, eq=False)
class Subgraph:
    """Some nodes of a graph with the edges among them.

    Attributes:
        graph: The smaller graph.
        nodes: (m,) the nodes it kept, by their numbers in the larger one.
    """

    graph: Graph
    nodes: Whole


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Nodes and weighted edges; make one with `nearest`, `within`, `of_edges` or `of_adjacency`.

    Attributes:
        weights: (n, n) sparse, one entry per edge from row to column, columns ascending. In a graph of distances an
            entry of zero is an edge of length zero (two equal rows); in one of similarities it is no edge and dropped.
        meaning: "distance" (lengths, larger is further) or "similarity" (larger is closer).
        directed: Whether edges lead one way; if not, weights are symmetric to the last bit.
        names: Of the nodes, if they have any.
        notes: What was decided while the graph was read, in sentences; those made from it have none.

    >>> graph = Graph.of_edges([0, 1], [1, 2])
    >>> graph.degree
    array([1., 2., 1.])
    """

    weights: sparse.csr_array
    meaning: Meaning = "similarity"
    directed: bool = False
    names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.meaning not in ("distance", "similarity"):
            raise ParameterError(f'meaning must be "distance" or "similarity", is {self.meaning!r}.')
        n, m = (int(size) for size in as_sparse(self.weights, name="the matrix of weights").shape)
        if n != m or n == 0:
            raise DataError(f"a graph needs as many rows as columns, and at least one, has shape {(n, m)}.")
        if self.names is not None and len(self.names) != n:
            raise DataError(f"a graph of {n} nodes needs {n} names, has {len(self.names)}.")
        edges = edges_of(sparse.csr_array(self.weights, copy=True))
        refuse_unusable(edges[2], edges[0], edges[1])
        if self.meaning == "similarity":
            linked = edges[2] > 0
            edges = (edges[0][linked], edges[1][linked], edges[2][linked])
        weights = matrix_of(edges, n, "min" if self.meaning == "distance" else "sum")
        if not self.directed and not symmetric(weights):
            raise DataError("an undirected graph needs symmetric weights. Say directed=True, or use symmetrised().")
        object.__setattr__(self, "weights", weights)

    @staticmethod
    def nearest(X: Any, n_neighbors: int, metric: Metric = "euclidean") -> Graph:
        """An edge from each row to its nearest others: exact, directed, weights are distances.

        Args:
            X: (n, d) rows; with metric "precomputed" their (n, n) distances.
            n_neighbors: Neighbours of each row; equally near ones by row number.
            metric: a name of `summary.metrics`, or a function of two rows.
        """
        edges, n = nearest_edges(X, n_neighbors, metric)
        return Graph(matrix_of(edges, n), "distance", directed=True)

    @staticmethod
    def within(X: Any, radius: float, metric: Metric = "euclidean") -> Graph:
        """An edge between rows no further apart than a radius: undirected, weights are distances.

        Args:
            X: (n, d) rows; with metric "precomputed" their (n, n) distances.
            radius: The largest distance, itself included.
            metric: a name of `summary.metrics`, or a function of two rows.
        """
        edges, n = within_edges(X, radius, metric)
        return Graph(matrix_of(edges, n), "distance")

    @staticmethod
    def of_edges(
        rows: npt.ArrayLike,
        cols: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        n: int | None = None,
        names: Sequence[str] | None = None,
        directed: bool = False,
        meaning: Meaning = "similarity",
    ) -> Graph:
        """A graph from a list of edges.

        An edge given several times counts with the sum of its similarities or the least of its lengths; an undirected
        edge may be given one way or both.

        Args:
            rows: Where edges begin: node numbers or names.
            cols: Where they end.
            weights: One for each edge, 1 when not given.
            n: Number of nodes; the largest number plus one when not given.
            names: Of the nodes; those found in the edges, by first appearance, when not given.
            directed: Whether edges lead one way.
            meaning: Of the weights.
        """
        start, end, n, labels = numbered(rows, cols, n, None if names is None else tuple(names))
        values = np.ones(len(start)) if weights is None else np.asarray(weights, dtype=np.float64)
        if values.shape != start.shape:
            raise DataError(f"{len(start)} edges need as many weights, got shape {values.shape}.")
        refuse_unusable(values, start, end)
        lengths = meaning == "distance"
        W = matrix_of((start, end, values), n, "min" if lengths else "sum")
        return Graph(W if directed else mirrored(W, "union", lengths=lengths), meaning, directed, labels)

    @staticmethod
    def of_adjacency(
        W: Any, names: Sequence[str] | None = None, directed: bool | None = None, meaning: Meaning = "similarity"
    ) -> Graph:
        """A graph from its (n, n) matrix of weights.

        Args:
            W: Sparse or dense. In a dense one zeros are no edges, and neither are infinite distances; an edge of length
                zero can only be given sparse.
            names: Of the nodes.
            directed: Whether edges lead one way; when not given, whether W is not symmetric.
            meaning: Of the weights.
        """
        if not sparse.issparse(W):
            dense: Array = np.asarray(W, dtype=np.float64)
            if dense.ndim != 2:
                raise DataError(f"an adjacency matrix has rows and columns, got shape {dense.shape}.")
            W = np.where(np.isinf(dense), 0, dense) if meaning == "distance" else dense
        whole = as_sparse(W, name="the adjacency matrix")
        canonical = Graph(sparse.csr_array(whole, dtype=np.float64), meaning, directed=True).weights
        directed = not symmetric(canonical) if directed is None else directed
        return Graph(canonical, meaning, directed, None if names is None else tuple(names))

    def __repr__(self) -> str:
        ways = "directed" if self.directed else "undirected"
        return f"Graph({self.n:,} nodes, {self.edge_count:,} edges, {ways} {self.meaning})"

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.weights.shape[0])

    @property
    def edge_count(self) -> int:
        """Number of edges; an undirected one counts once."""
        rows, cols, _ = edges_of(self.weights)
        return len(rows) if self.directed else (len(rows) + int((rows == cols).sum())) // 2

    @property
    def links(self) -> Whole:
        """(n,) number of edges leaving each node."""
        return np.diff(self.weights.indptr).astype(np.int64)

    @property
    def degree(self) -> Array:
        """(n,) sum of the similarities of the edges leaving each node."""
        self._need_similarity("a degree")
        return degree_of(self.weights)

    def symmetrised(self, by: Literal["union", "mutual", "average"] = "union") -> Graph:
        """The undirected graph: edges given either way, both ways, or their mean; see `edges.mirrored`."""
        W = mirrored(self.weights, by, lengths=self.meaning == "distance")
        return Graph(W, self.meaning, False, self.names)

    def weighted(self, kernel: Gaussian | Callable[[Array], npt.ArrayLike]) -> Graph:
        """Turn distances into similarities, with Gaussian(sigma) or any function of the array of lengths.

        Gaussian() takes the median length of the edges above zero as sigma.
        """
        if self.meaning != "distance":
            raise ParameterError("weights are similarities already. Only distances can be turned into them.")
        of = kernel.of_distances if isinstance(kernel, Gaussian) else kernel
        values = np.asarray(of(self.weights.data.copy()), dtype=np.float64)
        if values.shape != self.weights.data.shape:
            raise DataError(f"one similarity is needed for each of {self.weights.nnz} lengths, got {values.shape}.")
        return Graph(self._with(values), "similarity", self.directed, self.names)

    def unweighted(self) -> Graph:
        """The same edges, each with similarity 1."""
        return Graph(self._with(np.ones(self.weights.nnz)), "similarity", self.directed, self.names)

    def laplacian(self, kind: Kind = "plain") -> sparse.csr_array:
        """D - W, I - D^-1/2 W D^-1/2 or I - D^-1 W, for similarities that hold both ways.

        A node without edges has a row of zeros in each: it is a component of its own, and eigenvalue 0 comes as often
        as there are components.
        """
        if self.directed:
            raise ParameterError("the Laplacian is of an undirected graph. Use symmetrised() first.")
        self._need_similarity("the Laplacian")
        return laplacian_of(self.weights, kind)

    @property
    def transition(self) -> sparse.csr_array:
        """(n, n) D^-1 W, the steps of a random walk: rows sum to one; who has no edge stays."""
        self._need_similarity("a random walk")
        return transition_of(self.weights)

    def components(self, connection: Literal["weak", "strong"] = "weak") -> ConnectedComponents:
        """Which nodes can reach each other; of a directed graph weakly (edges both ways) or strongly (along edges)."""
        if connection not in ("weak", "strong"):
            raise ParameterError(f'connection must be "weak" or "strong", is {connection!r}.')
        linked = self._with(np.ones(self.weights.nnz))  # lengths of zero must not be taken for missing edges
        count, found = csgraph.connected_components(linked, directed=self.directed, connection=connection)
        _, first, labels = np.unique(found, return_index=True, return_inverse=True)
        labels = np.argsort(np.argsort(first))[labels].astype(np.int64)
        return ConnectedComponents(int(count), labels, np.bincount(labels, minlength=count))

    def subgraph(self, nodes: npt.ArrayLike) -> Subgraph:
        """Some nodes, each named once, with the edges among them."""
        kept = np.asarray(nodes)
        if kept.ndim != 1 or kept.dtype.kind not in "iu" or len(np.unique(kept)) < len(kept) or not len(kept):
            raise ParameterError("a part of a graph needs a list of different node numbers, at least one.")
        if kept.min() < 0 or kept.max() >= self.n:
            raise ParameterError(f"nodes are 0 to {self.n - 1}, asked for {kept.min()} to {kept.max()}.")
        number = np.full(self.n, -1)
        number[kept] = np.arange(len(kept))
        rows, cols, values = edges_of(self.weights)
        inside = (number[rows] >= 0) & (number[cols] >= 0)
        W = matrix_of((number[rows[inside]], number[cols[inside]], values[inside]), len(kept))
        names = None if self.names is None else tuple(self.names[i] for i in kept)
        return Subgraph(Graph(W, self.meaning, self.directed, names), kept.astype(np.int64))

    def largest_component(self) -> Subgraph:
        """The component with most nodes, of equal ones the first, with its nodes."""
        components = self.components()
        return self.subgraph(np.flatnonzero(components.labels == components.sizes.argmax()))

    def shortest_paths(
        self,
        sources: npt.ArrayLike | None = None,
        by: Literal["length", "hops"] = "length",
        progress: Callable[[int, int], None] | None = None,
    ) -> Array:
        """(sources, n) how far every node is along edges, infinite where it cannot be reached.

        Args:
            sources: Nodes to start from, all when not given.
            by: "length" adds up distances, "hops" counts edges.
            progress: Called as progress(done, total) in sources.
        """
        if by == "length" and self.meaning != "distance":
            raise ParameterError('similarities have no length. Use by="hops", or a graph of distances.')
        return shortest_paths(self.weights, sources, by=by, progress=progress)

    def _with(self, values: Array) -> sparse.csr_array:
        return sparse.csr_array((values, self.weights.indices, self.weights.indptr), shape=self.weights.shape)

    def _need_similarity(self, what: str) -> None:
        if self.meaning != "similarity":
            raise ParameterError(
                f"{what} is of similarities, these are distances. Use weighted(Gaussian()) or unweighted() first."
            )
