"""Divisive clustering: all rows are one group, which is split in two, again and again.

rows X, (n, d)   SS(G) = sum of squares about the mean of group G
split   G = A + B by two-means, height = sqrt(2 gain), Ward's distance of A and B,
        gain = SS(G) - SS(A) - SS(B) = |A| |B| / |G| |mean A - mean B|^2
        or by the sparsest cut of the part of a neighbour graph, height = 1 - conductance
solver  of all groups the one whose split is highest is split next
reading groups are nested; SS of all rows = SS within groups + sum of gains
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Whole
from assay.data.blocks import block_slices
from assay.data.source import Source
from assay.errors import NotConverged, ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import as_count
from assay.models.cluster.divisive.divisive_tree import Bisection, bisect, gains_of, means_of, merges_of, nodes_of
from assay.models.cluster.divisive.splits import SweepSplits, TwoMeans, placed, placing_of
from assay.models.sampled import _Sampled
from assay.optimize.kmeans.lloyd import nearest
from assay.summary.distances.distances import as_rows
from assay.summary.graph.merge_table import first_appearance
from assay.summary.graph.options import Nearest, Within

FULL_LIMIT = 20_000  # rows of a tree grown down to single rows: minutes beyond
_NEIGHBOURS = 10


class Divisive(ClusterMixin, _Sampled):
    """Split the rows in two, then the parts: which divisions matter most, from the coarsest on?

    Groups are nested: those of fewer clusters are unions of those of more. Where Agglomerative must look at pairs of
    rows, this looks at means, so that millions of rows can be split.

    Args:
        n_clusters: how many groups; None for as many as `distance_threshold` leaves.
        distance_threshold: only splits of a greater height are made.
        full: grow the tree down to single rows whatever the groups (up to 20,000 rows), for a dendrogram of all.
        min_size: fewest rows of a group; a split that makes a smaller one is not made.
        splitter: "kmeans": by two-means, for round groups. "sweep": where a neighbour graph is cut best, for groups of
            any shape; new rows cannot be placed then.
        graph: `Nearest` or `Within` for "sweep", each link counting as 1; None for the 10 nearest.
        n_init: starts of each split: the first along the direction in which the group spreads most, the others random.
        max_iter: most iterations of each start.
        tol: Lloyd's iteration stops where the centres move less, as a share of the mean variance of the columns.
        random_state: seed of the random starts.

    Attributes:
        labels_: (n,) group of each row, numbered by the first row of each.
        n_clusters_: how many groups, k.
        cluster_centers_: (k, d) their means.
        inertia_: sum of squared distances of rows to the mean of their group.
        inertias_: (k,) the same with 1 to k groups.
        gains_: (k - 1,) what each split took off it.
        merges_: (s, 4) the splits from the last to the first as SciPy's merge table. Its leaves are the groups, or with
            `full` the rows. Heights fall with every split: where one gains more than an earlier one, it has the height
            of that one, so that a cut at any height gives the groups of that `distance_threshold`.
        n_leaves_: s + 1.
        leaf_sizes_: (s + 1,) rows in each leaf.
        sample_: (n,) which rows of a `Source` of more than 100,000 were split, a fair sample; None: all.
        n_iter_: most iterations that any split took.
        converged_: whether every split came to rest.

    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [30.0]])
    >>> model = Divisive(3).fit(X)
    >>> model.labels_, model.inertia_
    (array([0, 0, 1, 1, 2]), 1.0)
    >>> model.merges_[:, 2].round(2)
    array([14.14, 30.99])

    References:
        Steinbach, Karypis & Kumar, A comparison of document clustering techniques, 2000; Boley, Principal direction
        divisive partitioning, Data Mining and Knowledge Discovery 2, 1998.
    """

    _most_rows = 100_000

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        distance_threshold: float | None = None,
        full: bool = False,
        min_size: int = 1,
        splitter: Literal["kmeans", "sweep"] = "kmeans",
        graph: Nearest | Within | None = None,
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.full = full
        self.min_size = min_size
        self.splitter = splitter
        self.graph = graph
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Split (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`, of which a fair sample is split where it has very many
                rows.
            y: not used.
        """
        X = self._rows(X, reset=True)
        n, (most, threshold) = len(X), self._limits(len(X))
        self._unit, self._shift = placing_of(X)
        Z = placed(X, self._unit, self._shift)
        splits = self._splitter(Z)
        unit = self._unit if isinstance(splits, TwoMeans) else 1.0  # conductance has none
        with one_blas_thread():  # the number of threads would change the bits
            grown = bisect(n, splits, most=n if self.full else most, above=-1.0 if self.full else threshold * unit)
        levels = np.minimum.accumulate(grown.heights)
        k = min(most, int(np.count_nonzero(levels > threshold * unit)) + 1)
        self.merges_, self.leaf_sizes_ = merges_of(grown, levels / unit)
        self.n_leaves_ = len(self.leaf_sizes_)
        self._describe(Z, grown, k)
        self.n_iter_, self.converged_, centers = 1, True, {}
        if isinstance(splits, TwoMeans):
            self.n_iter_, self.converged_, centers = splits.n_iter, splits.converged, splits.centers
        self._split_centers = np.array([centers[node] for node in self._parents.tolist() if node in centers])
        self._warn()
        return self

    @available_if(lambda self: self.splitter == "kmeans")  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Whole:
        """The group of each of (m, d) rows: at every split the part whose centre is nearer.

        Rows of a `Source` are grouped by the workers of the engine in use.
        """
        check_is_fitted(self)
        if isinstance(X, Source):
            return self._block_by_block(X, type(self)._predicted)
        return self._predicted(X)

    def fit_predict(self, X: Any, y: None = None, **options: Any) -> Whole:
        """Split rows: the group of each, also of those outside of the sample of a large source."""
        self.fit(X)
        return np.asarray(self.labels_ if self.sample_ is None else self.predict(X))

    def _predicted(self, X: Any) -> Whole:
        X = self._rows(X, reset=False)
        node = np.zeros(len(X), dtype=np.int64)
        for block in block_slices(*X.shape):
            Z, at = placed(X[block], self._unit, self._shift), node[block]
            for split, (parent, centers) in enumerate(zip(self._parents, self._split_centers, strict=True)):
                if len(here := np.flatnonzero(at == parent)):
                    at[here] = 2 * split + 1 + nearest(Z[here], centers.astype(Z.dtype))[0]
        return np.asarray(self._node_labels[node])

    def _rows(self, X: Any, *, reset: bool) -> NDArray[Any]:
        X = self._checked(X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])
        return np.ascontiguousarray(as_rows(X) if issparse(X) else X)

    def _limits(self, n: int) -> tuple[int, float]:
        """The most groups there may be, and the height that splits must exceed."""
        if self.n_clusters is None and self.distance_threshold is None:
            raise ParameterError("give n_clusters, distance_threshold or both; without them nothing says where to stop")
        threshold = 0.0 if self.distance_threshold is None else self.distance_threshold
        if not 0.0 <= threshold < np.inf:
            raise ParameterError(f"distance_threshold is a number of at least 0; got {self.distance_threshold!r}")
        if self.full and n > FULL_LIMIT:
            raise ParameterError(f"a full tree has at most {FULL_LIMIT:,} rows; got {n:,}, so leave full=False")
        if self.full and self.min_size > 1:
            raise ParameterError(f"a full tree ends in single rows, so min_size is 1 with it; got {self.min_size}")
        for name in ("min_size", "n_init", "max_iter"):
            as_count(getattr(self, name), np.iinfo(np.int64).max, name=name, what="no limit")
        most = n if self.n_clusters is None else as_count(self.n_clusters, n, name="n_clusters", what=f"n_samples={n}")
        return most, float(threshold)

    def _splitter(self, Z: NDArray[Any]) -> TwoMeans | SweepSplits:
        least, seed = self.min_size, self._seed()
        if self.splitter == "kmeans":
            options: dict[str, Any] = {"n_init": self.n_init, "max_iter": self.max_iter, "tol": self.tol, "seed": seed}
            return TwoMeans(Z, least=least, alike=self.full, **options)
        if self.splitter != "sweep":
            raise ParameterError(f"splitter is 'kmeans' or 'sweep'; got {self.splitter!r}")
        if len(Z) == 1:
            return SweepSplits(csr_array((1, 1)))
        graph = (self.graph or Nearest(min(_NEIGHBOURS, len(Z) - 1))).graph(Z)
        return SweepSplits(graph.unweighted().weights, least=least, seed=seed)

    def _warn(self) -> None:
        if self.n_clusters is not None and self.distance_threshold is None and self.n_clusters_ < self.n_clusters:
            warnings.warn(
                f"only {self.n_clusters_} groups were made of the {self.n_clusters} asked for: the rows in each are "
                "alike, or a part would have fewer than min_size",
                NotConverged,
                stacklevel=3,
            )
        if not self.converged_:
            warnings.warn(
                f"a split had not come to rest after {self.max_iter} iterations; raise max_iter or tol",
                NotConverged,
                stacklevel=3,
            )

    def _describe(self, Z: NDArray[Any], grown: Bisection, k: int) -> None:
        node = nodes_of(grown, k)
        self.labels_, self.n_clusters_ = first_appearance(node), k
        self._parents, self._node_labels = grown.parents[: k - 1], np.full(2 * k - 1, -1)
        self._node_labels[node] = self.labels_
        means, squares = means_of(Z, self.labels_, k)
        self.cluster_centers_ = ((means + self._shift) / self._unit).astype(Z.dtype)
        sizes = np.bincount(self.labels_)
        gains = gains_of(self._parents, means[self._node_labels], sizes[self._node_labels])
        with np.errstate(over="ignore"):  # squares of 1e300 are beyond floats; heights are not
            self.gains_ = gains / self._unit / self._unit
            self.inertias_ = (squares + np.append(np.cumsum(gains[::-1])[::-1], 0.0)) / self._unit / self._unit
        self.inertia_ = float(self.inertias_[-1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
