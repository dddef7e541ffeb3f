"""Agglomerative clustering: every row is a group of its own, and the two groups that are least apart become one.

summary  rows X, (n, d), or dissimilarities D, (n, n)
solver   single    min |x - y|       by the minimum spanning tree
         complete  max |x - y|       by nearest groups until about 4000 are left, then by the matrix of these
         average   mean |x - y|      in the same way
         Ward      sqrt(2 |A||B| / (|A|+|B|)) |mean A - mean B|, by nearest groups
reading  the merges, (n - 1, 4), and groups where they are cut
law      Ward: sum of heights^2 / 2 = sum of squares about the mean
"""

from __future__ import annotations

from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from assay.errors import ParameterError
from assay.linalg.validate import as_count
from assay.models.base import Estimator
from assay.summary.dissimilarities import as_dissimilarities
from assay.summary.distances import as_rows
from assay.summary.linkage import Linkage, agglomerate, agglomerate_dissimilarities, from_condensed
from assay.summary.merge_table import as_height, cut

Array: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


class Agglomerative(ClusterMixin, Estimator):
    """Merge what is nearest, step by step: which rows belong together, at every scale?

    Args:
        n_clusters: how many groups `labels_` has. None: two, or as many as `distance_threshold` leaves.
        linkage: how far two groups are apart. "ward": by how much the squares within grow when they are merged;
            compact groups. "complete": their two rows furthest apart. "average": the mean over pairs of rows.
            "single": their two nearest rows; finds groups of any shape, and chains of noise between them.
        distance_threshold: groups further apart than this are not merged; instead of `n_clusters`.
        dissimilarity: "euclidean": X is (n, d) rows. "precomputed": X is their dissimilarities, (n, n) or condensed.

    Attributes:
        labels_: (n,) group of each row, numbered by the first row of each.
        n_clusters_: how many groups.
        merges_: (n - 1, 4) SciPy's linkage table: row i says which two groups become group n + i, at which height,
            and how many rows that has; groups below n are single rows. Heights never fall.
        n_leaves_: n.
        children_: (n - 1, 2) the first two columns of `merges_`, whole numbers.
        distances_: (n - 1,) its heights.

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

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        linkage: Linkage = "ward",
        distance_threshold: float | None = None,
        dissimilarity: Literal["euclidean", "precomputed"] = "euclidean",
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.dissimilarity = dissimilarity

    def fit(self, X: Any, y: None = None) -> Self:
        """Merge all rows into one group, and cut where asked.

        Args:
            X: (n, d) array, data frame, sparse matrix or `Source`; with "precomputed" the dissimilarities, (n, n), or
                condensed as SciPy's `pdist` gives them.
            y: not used.
        """
        if self.dissimilarity not in ("euclidean", "precomputed"):
            raise ParameterError(f"dissimilarity is 'euclidean' or 'precomputed'; got {self.dissimilarity!r}")
        if self.n_clusters is not None and self.distance_threshold is not None:
            raise ParameterError(
                f"give n_clusters or distance_threshold, not both; got {self.n_clusters} and {self.distance_threshold}"
            )
        precomputed = self.dissimilarity == "precomputed"
        if precomputed and getattr(X, "ndim", 2) == 1:
            X = from_condensed(X)
        X = self._checked(X, reset=True, dtype=np.float64, accept_sparse="csr", ensure_all_finite=False)
        where = self._where(X.shape[0])
        merge = agglomerate_dissimilarities if precomputed else agglomerate
        self.merges_ = merge(as_dissimilarities(X) if precomputed else as_rows(X), self.linkage)
        self.n_leaves_ = len(self.merges_) + 1
        self.labels_ = cut(self.merges_, **where)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def cut(self, *, n_clusters: int | None = None, height: float | None = None) -> Ints:
        """Groups of the fitted rows elsewhere in the tree.

        Args:
            n_clusters: how many groups to leave.
            height: merges up to this height are made, itself included.

        Returns:
            (n,) group of each row, numbered by the first row of each.
        """
        check_is_fitted(self)
        return cut(self.merges_, n_clusters=n_clusters, height=height)

    @property
    def children_(self) -> Ints:
        """(n - 1, 2) the groups that each merge joins."""
        return self.merges_[:, :2].astype(np.int64)

    @property
    def distances_(self) -> Array:
        """(n - 1,) the height of each merge."""
        return self.merges_[:, 2]

    def _where(self, n: int) -> dict[str, Any]:
        """Where to cut the tree of n rows."""
        if self.distance_threshold is not None:
            return {"height": as_height(self.distance_threshold, "distance_threshold")}
        k = 2 if self.n_clusters is None else self.n_clusters
        return {"n_clusters": as_count(k, n, name="n_clusters", what=f"n_samples={n}")}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.dissimilarity == "precomputed"
        return tags
