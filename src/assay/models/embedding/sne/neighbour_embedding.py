"""What SNE, symmetric SNE and t-SNE share: affinities, a start, new rows."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.source import Source
from assay.errors import DataError, NotConverged, ParameterError
from assay.linalg.validate import as_matrix
from assay.models.embedding.sne.layout_start import principal_start, scaled_start, spectral_start
from assay.models.embedding.sne.new_points import place_gaussian, weighted_median
from assay.models.embedding.sne.sne_layout import sne_layout
from assay.models.sampled import _Sampled
from assay.models.transformer import Transformer
from assay.optimize.layout.layout import Layout
from assay.summary.distances.known_distances import distances_or_rows, nearest_known
from assay.summary.distances.metrics import (
    Metric,
    checked_metric,
    gaps_allowed,
    is_flat,
    is_precomputed,
    nearest,
)
from assay.summary.graph.graph import Graph
from assay.summary.graph.perplexity import (
    ALL_PAIRS,
    Affinities,
    affinities,
    graph_affinities,
    known_neighbours,
    labelled,
    widths,
)
from assay.summary.graph.target_links import as_classes, refuse_weight

Callback: TypeAlias = Callable[[int, float, Array], bool | None]
Init: TypeAlias = Literal["auto", "pca", "spectral", "random"] | ArrayLike

MOST = 5000  # points of which all pairs are summed in every step: 25 million


class _NeighbourEmbedding(ClassNamePrefixFeaturesOutMixin, Transformer, _Sampled):
    """Points in few dimensions whose neighbours are those of the rows. Subclasses give the cost."""

    n_components: int
    perplexity: float | Literal["auto"]
    metric: Metric
    init: Init
    early_exaggeration: float
    learning_rate: float | Literal["auto"]
    max_iter: int
    tol: float
    callback: Callback | None
    random_state: Any
    rows_: Any
    target_weight = 0.0

    @abstractmethod
    def _lay_out(self, found: Affinities, start: Array) -> Layout:
        """The layout of points with these affinities."""

    @abstractmethod
    def _place(self, P: sparse.csr_array, start: Array) -> Array:
        """Places of new rows with (m, n) affinities to the fitted ones."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Lay out (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`, of which a fair sample is laid out where it has very many
                rows; with metric "precomputed" an (n, n) matrix of distances, of which a sparse one need hold only the
                nearest, 3 * perplexity of each row: absent ones are not known, and farther.
            y: (n,) labels where the model has a `target_weight`, None for rows without; else not used.
        """
        self._refuse_options()
        checked = self._checked(X, reset=True, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
        rows = distances_or_rows(checked, self.metric).copy()
        n = int(rows.shape[0])
        self._refuse_size(n)
        self.metric_ = self._resolved(self.metric, rows)
        found = affinities(rows, None if self.perplexity == "auto" else self.perplexity, self.metric_)
        if self.target_weight:
            found = labelled(found, as_classes(self._sampled_labels(y), n), self.target_weight)
        # new rows bring their own distances, and those among the fitted ones are not needed again
        return self._fitted(found, np.empty((0, n)) if isinstance(rows, sparse.csr_array) else rows)

    def fit_graph(self, graph: Graph) -> Self:
        """Lay out the nodes of a graph.

        Args:
            graph: of distances, which become affinities by perplexity along each node's edges; or of similarities,
                which are taken as affinities as they are. New rows cannot be placed then.
        """
        self._refuse_options()
        refuse_weight(self.target_weight)
        self._refuse_size(graph.n)
        found = graph_affinities(graph, None if self.perplexity == "auto" else self.perplexity)
        self._record_columns(None, graph.n)
        self.metric_ = self.metric
        return self._fitted(found, None)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Lay out (n, d) rows: (n, n_components)."""
        self.fit(X, y)
        return self.embedding_ if self.sample_ is None else self.transform(X)

    def transform(self, X: Any) -> Array:
        """Place (m, d) rows among the fitted ones, which stay: (m, n_components).

        A row equal to a fitted one takes its place (the first's, if there are several). Any other begins at the
        weighted median of its neighbours and descends its own divergence; it does not see the other new rows.

        Args:
            X: rows; of a `Source` by the workers of the engine in use; with metric "precomputed" their (m, n) distances
                to the fitted ones.
        """
        check_is_fitted(self)
        if isinstance(X, Source):
            return self._block_by_block(X, type(self)._placed)
        return self._placed(X)

    def _placed(self, X: Any) -> Array:
        if self.rows_ is None:
            raise ParameterError(
                f"this {type(self).__name__} was fitted on a graph, which has no columns to compare new rows by; "
                "fit on rows, or fit the graph with the new nodes in it"
            )
        checked = self._checked(X, reset=False, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
        rows, n = distances_or_rows(checked, self.metric), len(self.embedding_)
        k = n if n <= ALL_PAIRS else min(n, int(np.ceil(3 * self.perplexity_)))
        if isinstance(rows, sparse.csr_array):
            k, _ = known_neighbours(rows, self.perplexity_, n)
        indices, distances = self._neighbours(rows, k)
        p = widths(distances, self.perplexity_).p
        P = sparse.csr_array((p.ravel(), indices.ravel(), np.arange(0, p.size + 1, k)), shape=(len(p), n))
        known = distances[:, 0] == 0
        places: Array = self.embedding_[indices[:, 0]]
        if not known.all() and n > 1:
            new = np.flatnonzero(~known)
            places[new] = self._place(P[new], weighted_median(P[new], self.embedding_))
        return places

    def _fitted(self, found: Affinities, rows: Array | None) -> Self:
        layout = self._lay_out(found, self._start(found.P, rows))
        if not layout.converged and layout.n_iter >= self.max_iter:
            warnings.warn(
                f"after max_iter={self.max_iter} iterations the divergence {layout.kl:.4g} still falls by more than "
                f"tol={self.tol:g} of itself in 50; raise max_iter, or tol if the picture is good enough",
                NotConverged,
                stacklevel=3,
            )
        self.embedding_ = layout.coordinates
        self.kl_divergence_ = layout.kl
        self.kl_history_ = layout.kl_history
        self.n_iter_ = layout.n_iter
        self.converged_ = layout.converged
        self.route_ = layout.route
        self.perplexity_ = found.perplexity
        self.reached_perplexity_ = found.reached
        self.rows_ = rows
        return self

    def _start(self, P: sparse.csr_array, rows: Array | None) -> Array:
        n, q, rng = int(P.shape[0]), self.n_components, np.random.default_rng(self._seed())
        if not isinstance(self.init, str):
            given = as_matrix(self.init, name="init")
            if given.shape != (n, q):
                raise DataError(f"init needs one row of {q} for each of {n} points; it has shape {given.shape}")
            return given
        # principal axes are those of Euclidean distance; codes of categories have none
        by_rows = rows is not None and (is_flat(self.metric) or self.metric in ("manhattan", "chebyshev"))
        init = ("pca" if by_rows else "spectral") if self.init == "auto" else self.init
        if init == "pca" and rows is not None and by_rows:
            return principal_start(rows, q, rng)
        if init == "pca":
            raise ParameterError(
                "init='pca' needs rows of numbers, and there are only distances, codes or a graph; use 'spectral'"
            )
        if init == "spectral":
            return spectral_start(P, q, rng) if n > 2 else scaled_start(rng.standard_normal((n, q)), rng)
        return scaled_start(rng.standard_normal((n, q)), rng)

    def _neighbours(self, rows: Any, k: int) -> tuple[NDArray[np.int64], Array]:
        """Indices and distances of the k fitted rows nearest to each, nearest first."""
        if isinstance(rows, sparse.csr_array):
            return nearest_known(rows, k)
        if is_precomputed(self.metric):
            if rows.min() < 0:
                i, j = np.unravel_index(int(rows.argmin()), rows.shape)
                raise DataError(
                    f"Negative values in data: distances must not be negative: row {i}, column {j} is {rows[i, j]:g}."
                )
            order = np.argsort(rows, axis=1, kind="stable")[:, :k]
            return order, np.take_along_axis(rows, order, axis=1)
        found = nearest(rows, k, self.metric_, among=self.rows_)
        return found.indices, found.distances

    def _metric(self) -> Metric:
        return self.metric

    def _refuse_options(self) -> None:
        checked_metric(self.metric)
        if self.n_components not in (1, 2, 3) or isinstance(self.n_components, bool):
            raise ParameterError(f"n_components is 1, 2 or 3; got {self.n_components!r}. For more, use PCA or MDS")
        if isinstance(self.max_iter, bool) or not isinstance(self.max_iter, int | np.integer) or self.max_iter < 1:
            raise ParameterError(f"max_iter is a whole number of at least 1; got {self.max_iter!r}")
        if not self.early_exaggeration >= 1:
            raise ParameterError(f"early_exaggeration is at least 1; got {self.early_exaggeration!r}")
        if not self.tol >= 0:
            raise ParameterError(f"tol is at least 0; got {self.tol!r}")
        rate: Any = self.learning_rate
        if rate != "auto" and (isinstance(rate, str) or not 0 < rate < np.inf):
            raise ParameterError(f"learning_rate is 'auto' or a positive number; got {rate!r}")
        if isinstance(self.perplexity, str) and self.perplexity != "auto":
            raise ParameterError(f"perplexity is 'auto' or a number; got {self.perplexity!r}")
        if isinstance(self.init, str) and self.init not in ("auto", "pca", "spectral", "random"):
            raise ParameterError(f"init is 'auto', 'pca', 'spectral', 'random' or an array; got {self.init!r}")

    def _refuse_size(self, n: int) -> None:
        """Refuse more points than the method can take."""

    @property
    def _rate(self) -> float | None:
        return None if self.learning_rate == "auto" else float(self.learning_rate)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.metric)
        tags.input_tags.allow_nan = gaps_allowed(self.metric)
        tags.input_tags.positive_only = tags.input_tags.pairwise  # distances
        return tags


class _GaussianEmbedding(_NeighbourEmbedding):
    """Stochastic neighbour embedding with Gaussian tails, every pair summed. Subclasses say of which affinities."""

    _joint: bool
    _most_rows = MOST

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float | Literal["auto"] = "auto",
        metric: Metric = "euclidean",
        init: Init = "auto",
        early_exaggeration: float = 4.0,
        learning_rate: float | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float = 1e-3,
        callback: Callback | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.metric = metric
        self.init = init
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state

    def _lay_out(self, found: Affinities, start: Array) -> Layout:
        return sne_layout(
            found.P if self._joint else found.conditional,
            start,
            joint=self._joint,
            max_iter=self.max_iter,
            early_exaggeration=self.early_exaggeration,
            learning_rate=self._rate,
            tol=self.tol,
            callback=self.callback,
        )

    def _place(self, P: sparse.csr_array, start: Array) -> Array:
        return place_gaussian(P, self.embedding_, start)

    def _refuse_size(self, n: int) -> None:
        if n > MOST:
            raise DataError(
                f"{type(self).__name__} compares all pairs of points in every step, and takes at most {MOST}; there "
                f"are {n}. Use TSNE, which does not, or a sample of the rows"
            )
