"""A network as points: three readings of who is linked with whom.

summary    W, (n, n) sparse similarities, symmetric; D = diag(W 1)
laplacian  L y = lambda D y, L = D - W, the smallest lambda above 0      y_j, (n, k): linked nodes lie close together
           regularised: W y = mu (D + t) y, the largest mu but one       the same, few nodes hanging by a link apart
adjacency  (I - 1 1^T / n) W = U diag(s) V^T                             U s, (n, k): nodes with the same links do
factor     W = V diag(lambda) V^T, the largest |lambda|                  F = V sqrt|lambda|, (n, k): W ~ F sign F^T
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple, Self, TypeAlias, get_args

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from assay.arrays import Array
from assay.errors import Caution, ParameterError
from assay.linalg.eigen.bottom import bottom_eigen
from assay.linalg.eigen.spectral import fix_signs
from assay.linalg.eigen.top import top_eigen
from assay.linalg.eigen.top_svd import top_svd
from assay.linalg.validate import as_count, as_generator
from assay.models.base import Estimator
from assay.summary.distances.known_distances import distances_or_rows
from assay.summary.gram.kernels import Gaussian
from assay.summary.graph.graph import Graph
from assay.summary.graph.laplacian import Kind
from assay.summary.graph.linking import link
from assay.summary.graph.options import Nearest, Within

Method: TypeAlias = Literal["laplacian", "adjacency", "factor"]

_NAMED = 5


class _Pairs(NamedTuple):
    values: Array
    vectors: Array
    residuals: Array


class NetworkEmbedding(Estimator):
    """Give each node of a network coordinates: which nodes are close, or alike, in whom they are linked with?

    A node that no path links with the largest component has no place relative to it: eigenvalue 0 then comes once for
    each component, and its vectors only tell components apart. So "laplacian" embeds the largest component; the other
    nodes get NaN, are listed in `left_out_` and named in a warning. "adjacency" and "factor" place every node.

    Args:
        n_components: dimensions.
        method: "laplacian": Laplacian eigenmaps, linked nodes lie close together. "adjacency": principal components of
            the rows of W, nodes with the same links lie close together, be they linked or not; edges keep their
            direction. "factor": rows of F, whose products (signed by the eigenvalues) approximate W best.
        graph: `Nearest(k)` or `Within(radius)`: which rows are linked when `fit` is given rows. "auto": the 10
            nearest; 20 or 40 where it takes so many to link all rows, and if none does, what links most.
        kernel: `Gaussian(sigma)` turns lengths of edges into similarities; None counts each edge as 1. Not used for
            graphs of similarities.
        laplacian: "random-walk": y as above. "symmetric": D^1/2 y, orthonormal, in which a node's distance from the
            origin grows with its degree. "plain": eigenvectors of D - W, orthonormal, which single nodes hanging by an
            edge may dominate.
        regularise: t above, in units of the mean degree; 1 is usual where a few nodes that hang by a link or two take
            all of a dimension. Not for laplacian "plain".
        random_state: seed of the solver's start.

    Attributes:
        embedding_: (n, k) coordinates, NaN in the nodes left out; the largest entry of each column is positive.
        eigenvalues_: (k,) of the Laplacian, ascending, the zero left out, 1 - mu where regularised; of the covariance
            of the rows of W; or of W itself, by modulus, the sign kept: where it is negative, nodes alike in that
            coordinate are linked less.
        residuals_: (k,) how far each pair is from solving its equation; the length of W v - s u for "adjacency".
        names_: of the nodes, None where they have none.
        left_out_: (m,) numbers of the nodes without a place.
        notes_: what was decided on the way, in sentences.
        graph_: the option used to link rows, None after `fit_graph`.
        n_components_: k.

    >>> ring = Graph.of_edges(range(12), [*range(1, 12), 0])
    >>> model = NetworkEmbedding(2).fit_graph(ring)
    >>> model.eigenvalues_.round(6)  # 1 - cos(2 pi / 12), twice
    array([0.133975, 0.133975])
    >>> bool(np.ptp(np.hypot(*model.embedding_.T)) < 1e-12)
    True

    References:
        Belkin and Niyogi, Neural Computation 15, 2003; Luxburg, Statistics and Computing 17, 2007; Scheinerman and
        Tucker, Computational Statistics 25, 2010 (the factor).
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: Method = "laplacian",
        graph: Nearest | Within | Literal["auto"] = "auto",
        kernel: Gaussian | None = None,
        laplacian: Kind = "random-walk",
        regularise: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.graph = graph
        self.kernel = kernel
        self.laplacian = laplacian
        self.regularise = regularise
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Embed the nodes of a `Graph`, or rows that are linked first.

        Args:
            X: `Graph`; or (n, d) rows: array, data frame, sparse matrix or `Source`.
            y: not used.
        """
        if isinstance(X, Graph):
            return self.fit_graph(X)
        # distances_or_rows finds what is not finite and says where
        given = self._checked(X, reset=True, accept_sparse="csr", ensure_min_samples=2, ensure_all_finite=False)
        rows = distances_or_rows(given, getattr(self.graph, "metric", "euclidean"))
        option, graph = self._linked(rows)
        self._embed(graph, f"at {option!r}")
        self.graph_: Nearest | Within | None = option
        return self

    def fit_graph(self, graph: Graph) -> Self:
        """Embed the nodes of a network, as `assay.read_network` gives it; `graph` of the model is not used."""
        self._embed(graph, "in this network")
        self.graph_ = None
        return self

    def fit_transform(self, X: Any, y: None = None) -> Array:
        """(n, k) the coordinates of these nodes or rows."""
        return self.fit(X, y).embedding_

    def _linked(self, rows: Any) -> tuple[Nearest | Within, Graph]:
        if isinstance(self.graph, Nearest | Within):
            return self.graph, self.graph.graph(rows)
        if not isinstance(self.graph, str) or self.graph != "auto":
            raise ParameterError(f'graph must be Nearest(k), Within(radius) or "auto", is {self.graph!r}.')
        linked = link(rows)
        return linked.option, linked.graph

    def _embed(self, given: Graph, where: str) -> None:
        if self.method not in get_args(Method):
            raise ParameterError(f"method must be one of {', '.join(get_args(Method))}; is {self.method!r}.")
        notes: list[str] = []
        graph = self._similarities(given, notes)
        self.left_out_ = np.empty(0, dtype=np.int64)
        if self.method == "laplacian":
            self._eigenmap(graph, where, notes)
        elif self.method == "adjacency":
            self._rows_of_weights(graph)
        else:
            self._factor(graph, notes)
        self.names_ = given.names
        self.notes_ = tuple(notes)
        self.n_components_ = self.embedding_.shape[1]

    def _similarities(self, graph: Graph, notes: list[str]) -> Graph:
        if graph.directed and self.method == "adjacency":
            notes.append("Edges lead one way: a node's row holds the edges that leave it.")
        elif graph.directed:
            notes.append("Edges lead one way and were taken both ways, the stronger of two.")
            graph = graph.symmetrised()
        if graph.meaning == "distance" and self.kernel is None:
            notes.append(
                "Lengths of edges were not used: each counts as 1. kernel=Gaussian() makes near ones stronger."
            )
            return graph.unweighted()
        return graph.weighted(self.kernel) if graph.meaning == "distance" and self.kernel is not None else graph

    def _eigenmap(self, whole: Graph, where: str, notes: list[str]) -> None:
        part = whole.largest_component()
        graph, n = part.graph, part.graph.n
        if self.laplacian not in get_args(Kind):
            raise ParameterError(f"laplacian must be one of {', '.join(get_args(Kind))}; is {self.laplacian!r}.")
        what = "one less than the nodes linked with each other, directly or by a path, " + where
        if n < 2:
            raise ParameterError(f"no two nodes are linked {where}: there is nothing to embed. Link more rows.")
        k = as_count(self.n_components, n - 1, name="n_components", what=what)
        plain = self.laplacian == "plain"
        more = self._more_links()
        root = np.ones(n) if plain else np.sqrt(graph.degree + more * graph.degree.mean())
        kind: Kind = "plain" if plain else "symmetric"
        found = (
            self._regularised(graph, root, k)
            if more
            else bottom_eigen(graph.laplacian(kind), k, null=root[:, None], random_state=self._rng())
        )
        vectors = found.vectors / root[:, None] if self.laplacian == "random-walk" else found.vectors
        self.embedding_ = np.full((whole.n, k), np.nan)
        self.embedding_[part.nodes] = fix_signs(vectors)
        self.eigenvalues_, self.residuals_ = found.values, found.residuals
        self.left_out_ = np.setdiff1d(np.arange(whole.n), part.nodes)
        if len(self.left_out_):
            named = ", ".join(whole.names[i] if whole.names else str(i) for i in self.left_out_[:_NAMED])
            notes.append(
                f"{len(self.left_out_)} of {whole.n} nodes ({named}{', ...' if len(self.left_out_) > _NAMED else ''}) "
                f"have no path to the {n} embedded {where}; their coordinates are NaN. Link more, embed the "
                'components one by one, or use method="adjacency".'
            )
            warnings.warn(notes[-1], Caution, stacklevel=4)

    def _more_links(self) -> float:
        t = self.regularise
        if isinstance(t, bool) or not isinstance(t, int | float | np.number) or not 0.0 <= float(t) < np.inf:
            raise ParameterError(f"regularise must be a number from 0 on, is {t!r}.")
        if t and self.laplacian == "plain":
            raise ParameterError('the plain Laplacian has no degrees to add to. Use laplacian="random-walk".')
        return float(t)

    def _regularised(self, graph: Graph, root: Array, k: int) -> _Pairs:
        W = graph.weights
        scaled = W.data / (np.repeat(root, np.diff(W.indptr)) * root[W.indices])
        matrix = sparse.csr_array((scaled, W.indices, W.indptr), shape=W.shape)
        found = top_eigen(matrix, k + 1, random_state=self._rng())
        # the first has one sign: it only says which nodes have many links
        return _Pairs(1.0 - found.values[1:], found.vectors[:, 1:], found.residuals[1:])

    def _rows_of_weights(self, graph: Graph) -> None:
        W, n = graph.weights, graph.n
        k = as_count(self.n_components, n - 1, name="n_components", what="one less than the nodes")
        mean = np.asarray(W.mean(axis=0))

        def centred(x: Array) -> Array:
            return np.asarray(W @ x - mean @ x)

        def adjoint(y: Array) -> Array:
            total = y.sum(axis=0)
            return np.asarray(W.T @ y - (mean * total if y.ndim == 1 else np.outer(mean, total)))

        # centred without being written out: the mean of each column is taken off the product
        linear = LinearOperator(
            (n, n), matvec=centred, matmat=centred, rmatvec=adjoint, rmatmat=adjoint, dtype=np.float64
        )
        found = top_svd(linear, k, random_state=self._rng())
        self.embedding_ = fix_signs(found.left * found.values)
        self.eigenvalues_ = found.values**2 / (n - 1)
        self.residuals_ = found.residuals

    def _factor(self, graph: Graph, notes: list[str]) -> None:
        W = graph.weights
        k = as_count(self.n_components, graph.n, name="n_components", what="the nodes")
        high = top_eigen(W, k, random_state=self._rng())
        low = top_eigen(sparse.csr_array(-W), k, random_state=self._rng())
        values = np.concatenate([high.values, -low.values])
        vectors = np.column_stack([high.vectors, low.vectors])
        residuals = np.concatenate([high.residuals, low.residuals])
        # where k exceeds half of n, the two ends overlap: each may only bring the values on its side of zero
        mine = np.concatenate([high.values >= 0.0, low.values > 0.0])
        order = np.flatnonzero(mine)[np.argsort(-np.abs(values[mine]), kind="stable")][:k]
        self.eigenvalues_ = values[order]
        self.embedding_ = fix_signs(vectors[:, order] * np.sqrt(np.abs(values[order])))
        self.residuals_ = residuals[order]
        negative = int((self.eigenvalues_ < 0).sum())
        if negative:
            notes.append(
                f"{negative} of {k} eigenvalues are negative: in those coordinates nodes are linked with their "
                "opposites (eigenvalues_ has the signs)."
            )

    def _rng(self) -> np.random.Generator:
        return as_generator(self._seed())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
