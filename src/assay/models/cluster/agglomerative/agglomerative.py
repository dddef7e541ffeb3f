"""Agglomerative clustering: every row is a group of its own, and the two groups that are least apart become one.

summary  rows X, (n, d), or dissimilarities D, (n, n); with connectivity, a graph beside
solver   single    min |x - y|       by the minimum spanning tree
         complete  max |x - y|       by nearest groups until about 4000 are left, then by the matrix of these
         average   mean |x - y|      in the same way
         Ward      sqrt(2 |A||B| / (|A|+|B|)) |mean A - mean B|, by nearest groups
         centroid  |mean A - mean B|; median the same, with half-way centres: by the matrix of all, heights may fall
         with connectivity by a heap of links; Ward's heights may fall too
reading  the merges, (n - 1, 4), and groups where they are cut
law      Ward: sum of heights^2 / 2 = sum of squares about the mean
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array, Whole
from assay.data.source import Source
from assay.errors import Caution, ParameterError
from assay.linalg.validate import as_count
from assay.models.cluster.agglomerative.connectivity import agglomerate_linked, as_links
from assay.models.cluster.agglomerative.linkage import (
    BY_CENTRES,
    Linkage,
    agglomerate,
    agglomerate_dissimilarities,
    from_condensed,
    refuse_centres,
)
from assay.models.sampled import _Sampled
from assay.summary.distances.dissimilarities import as_dissimilarities
from assay.summary.distances.distances import squared_distances, unit_scale
from assay.summary.distances.metrics import (
    Metric,
    checked_metric,
    comparable,
    distances,
    gaps_allowed,
    is_precomputed,
    nearest,
)
from assay.summary.graph.merge_table import as_height, cut, inversions
from assay.summary.graph.options import Nearest, Within

_PAIRS = 1 << 22  # distances held at a time


def _of_rows(model: Any) -> bool:
    if model.__sklearn_tags__().input_tags.pairwise:
        raise AttributeError("fitted on dissimilarities, which say nothing about new rows; fit on rows to place others")
    return True


class Agglomerative(ClusterMixin, _Sampled):
    """Merge what is nearest, step by step: which rows belong together, at every scale?

    Args:
        n_clusters: how many groups `labels_` has. None: two, or as many as `distance_threshold` leaves.
        linkage: how far two groups are apart. "ward": by how much the squares within grow when they are merged;
            compact groups. "complete": their two rows furthest apart. "average": the mean over pairs of rows.
            "single": their two nearest rows; finds groups of any shape, and chains of noise between them. "centroid":
            their means; "median": their centres, that of a merged group half-way between those of its parts. Ward,
            centroid and median compare centres, which only Euclidean rows have.
        distance_threshold: groups further apart than this are not merged; instead of `n_clusters`.
        metric: how far rows are apart: "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming",
            "gower" (columns of numbers and of categories, with gaps), or a function of two rows. "precomputed": X is
            their dissimilarities, (n, n) or condensed.
        connectivity: which groups may be merged: those with a link between them. An (n, n) matrix, sparse or not, a
            `Graph`, `Nearest(k)` or `Within(radius)`, or a function from X to a matrix. Single, complete and average
            linkage then go over links alone, as in scikit-learn.

    Attributes:
        labels_: (n,) group of each row, numbered by the first row of each.
        n_clusters_: how many groups.
        merges_: (n - 1, 4) SciPy's linkage table: row i says which two groups become group n + i, at which height,
            and how many rows that has; groups below n are single rows. Heights never fall, but for inversions.
        inversions_: which merges are lower than one of their parts: by centroid and median linkage, and by Ward's with
            connectivity. A cut by number is then by the order of merges; a cut by height leaves a group whole if none
            of its merges is higher.
        n_connected_components_: parts of `connectivity`, 1 without one.
        n_leaves_: n.
        children_: (n - 1, 2) the first two columns of `merges_`, whole numbers.
        distances_: (n - 1,) its heights.
        metric_: the metric, with what it learned from the rows.
        rows_: (n, d) the fitted rows, for `predict`; None for dissimilarities.
        sample_: (n,) which rows of a `Source` of more than 20,000 were merged, a fair sample; None: all. 11,585 by
            centroid and median linkage and by other metrics, which hold all distances.

    >>> X = np.array([[0.0], [1.0], [5.0], [7.0], [30.0]])
    >>> model = Agglomerative(3, linkage="complete").fit(X)
    >>> model.labels_, model.distances_
    (array([0, 0, 1, 1, 2]), array([ 1.,  2.,  7., 30.]))
    >>> model.cut(height=10)
    array([0, 0, 0, 0, 1])

    References:
        Murtagh & Contreras, Algorithms for hierarchical clustering, WIREs Data Mining and Knowledge Discovery 2, 2012;
        Müllner, Modern hierarchical, agglomerative clustering algorithms, 2011; Ward, JASA 58, 1963.
    """

    rows_: Any

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        linkage: Linkage = "ward",
        distance_threshold: float | None = None,
        metric: Metric = "euclidean",
        connectivity: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.metric = metric
        self.connectivity = connectivity

    @property
    def _most_rows(self) -> int:  # type: ignore[override]
        """How many rows of a source are merged: fewer where all their distances are held."""
        by_search = self.linkage not in ("centroid", "median") and self.metric == "euclidean"
        return 20_000 if by_search else 11_585

    def fit(self, X: Any, y: None = None) -> Self:
        """Merge all rows into one group, and cut where asked.

        Args:
            X: (n, d) array, data frame, sparse matrix or `Source`, of which a fair sample is merged where it has very
                many rows; with "precomputed" the dissimilarities, (n, n), or condensed as SciPy's `pdist` gives them.
            y: not used.
        """
        refuse_centres(self.linkage, checked_metric(self.metric))
        if self.n_clusters is not None and self.distance_threshold is not None:
            raise ParameterError(
                f"give n_clusters or distance_threshold, not both; got {self.n_clusters} and {self.distance_threshold}"
            )
        precomputed = is_precomputed(self.metric)
        if precomputed and getattr(X, "ndim", 2) == 1:
            X = from_condensed(X)
        X = self._checked(X, reset=True, dtype=np.float64, accept_sparse="csr", ensure_all_finite=False)
        where = self._where(X.shape[0])
        self.rows_ = None if precomputed else comparable(X, self.metric).copy()
        self.metric_ = self.metric if precomputed else self._resolved(self.metric, self.rows_)
        self.merges_, self.n_connected_components_ = self._merged(as_dissimilarities(X) if precomputed else self.rows_)
        self.inversions_ = inversions(self.merges_)
        self.n_leaves_ = len(self.merges_) + 1
        self.labels_ = cut(self.merges_, **where)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def fit_predict(self, X: Any, y: None = None, **options: Any) -> Whole:
        """Merge rows: the group of each, also of those outside of the sample of a large source."""
        self.fit(X)
        return np.asarray(self.labels_ if self.sample_ is None else self.predict(X))

    @available_if(_of_rows)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Whole:
        """(m,) the group that each of (m, d) rows would be merged into next, the tree held: the least linkage to it.

        A row that was fitted keeps its group. Rows of a `Source` are grouped by the workers of the engine in use.
        """
        check_is_fitted(self)
        if isinstance(X, Source):
            return self._block_by_block(X, type(self)._predicted)
        return self._predicted(X)

    def cut(self, *, n_clusters: int | None = None, height: float | None = None) -> Whole:
        """Groups of the fitted rows elsewhere in the tree.

        Args:
            n_clusters: how many groups to leave.
            height: merges up to this height are made, itself included.

        Returns:
            (n,) group of each row, numbered by the first row of each.
        """
        check_is_fitted(self)
        return cut(self.merges_, n_clusters=n_clusters, height=height)

    def _merged(self, X: Array) -> tuple[Array, int]:
        """The merge table, and the parts of the connectivity."""
        if self.connectivity is None:
            if is_precomputed(self.metric):
                return agglomerate_dissimilarities(X, self.linkage), 1
            return agglomerate(X, self.linkage, self.metric_), 1
        given = self.connectivity
        if isinstance(given, Nearest | Within):
            if is_precomputed(given.metric) != is_precomputed(self.metric):
                raise ParameterError(
                    f"with metric {self.metric!r} connectivity cannot be {given!r}: X is rows, or it is distances"
                )
            given = replace(given, metric=self._resolved(given.metric, X)).graph(X)
        elif callable(given):
            given = given(X)
        table, parts = agglomerate_linked(X, as_links(given, len(X)), self.linkage, self.metric_)
        if parts > 1:
            warnings.warn(
                f"the connectivity falls into {parts} parts (n_connected_components_); the nearest rows of every two "
                "were linked, so that there is one tree. Link more rows, or cluster the parts one by one.",
                Caution,
                stacklevel=3,
            )
        return table, parts

    def _predicted(self, X: Any) -> Whole:
        checked = self._checked(X, reset=False, dtype=np.float64, accept_sparse="csr", ensure_all_finite=False)
        rows = comparable(checked, self.metric)
        near = nearest(rows, 1, self.metric_, among=self.rows_)
        known = self.labels_[near.indices[:, 0]]
        if self.linkage == "single" or self.n_clusters_ == 1 or self.connectivity is not None:
            return known
        order = np.argsort(self.labels_, kind="stable")
        starts = np.searchsorted(self.labels_[order], np.arange(self.n_clusters_))
        sizes = np.diff(np.append(starts, len(order)))
        unit = 1.0 / unit_scale(self.rows_) if self.metric == "euclidean" else 1.0
        among = self.rows_[order]
        if self.linkage in BY_CENTRES:
            among = np.add.reduceat(among * self._shares()[order, None], starts)
        found = np.empty(len(rows), np.int64)
        step = max(1, _PAIRS // len(among))
        for at in range(0, len(rows), step):
            if self.metric == "euclidean":
                D = squared_distances(rows[at : at + step], among, unit=unit)
            else:
                D = distances(rows[at : at + step], self.metric_, among) ** 2
            if self.linkage in BY_CENTRES:
                apart = D * (sizes / (sizes + 1.0)) if self.linkage == "ward" else D
            elif self.linkage == "complete":
                apart = np.maximum.reduceat(D, starts, axis=1)
            else:
                apart = np.add.reduceat(np.sqrt(D), starts, axis=1) / sizes
            found[at : at + step] = apart.argmin(axis=1)
        return np.where(near.distances[:, 0] == 0.0, known, found)

    def _shares(self) -> Array:
        """(n,) how much each row counts in the centre of its group: alike, or halved by every merge for "median"."""
        if self.linkage != "median":
            return np.asarray(1.0 / np.bincount(self.labels_)[self.labels_])
        n, pairs = self.n_leaves_, self.children_.tolist()
        label = self.labels_.tolist()  # of items, then of the groups that merges make; -1 where they join two
        for a, b in pairs:
            label.append(label[a] if label[a] == label[b] else -1)
        share = np.ones(2 * n - 1)
        for i in range(n - 2, -1, -1):
            if label[n + i] >= 0:
                share[pairs[i]] = share[n + i] / 2.0
        return share[:n]

    @property
    def children_(self) -> Whole:
        """(n - 1, 2) the groups that each merge joins."""
        return self.merges_[:, :2].astype(np.int64)

    @property
    def distances_(self) -> Array:
        """(n - 1,) the height of each merge."""
        return self.merges_[:, 2]

    def _metric(self) -> Metric:
        return self.metric

    def _where(self, n: int) -> dict[str, Any]:
        """Where to cut the tree of n rows."""
        if self.distance_threshold is not None:
            return {"height": as_height(self.distance_threshold, "distance_threshold")}
        k = 2 if self.n_clusters is None else self.n_clusters
        return {"n_clusters": as_count(k, n, name="n_clusters", what=f"n_samples={n}")}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not is_precomputed(self.metric)  # of distances all are needed
        tags.input_tags.pairwise = is_precomputed(self.metric)
        tags.input_tags.allow_nan = gaps_allowed(self.metric)
        tags.input_tags.positive_only = tags.input_tags.pairwise  # distances
        return tags
