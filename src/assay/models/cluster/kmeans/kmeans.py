"""k-means: rows in k groups, each around its mean.

minimise  sum_i w_i min_c (x_i - c)^2,   X (n, d), centres (k, d)
solver    k-means++ or k-means|| draws the start, Lloyd's iteration descends    (optimize.kmeans.lloyd)
summary   weight and sum of the rows of each centre, (k, d), one pass for each step
reading   the cell of a centre is convex: all points nearer to it than to any other (Voronoi)
chance    k centres are found in any cloud; whether it has groups is a question for evidence
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import FloatBlocks, float_blocks
from assay.data.source import Source
from assay.engine.current import mapped_blocks
from assay.errors import NotConverged, ParameterError
from assay.linalg.sparse.centred import as_entries
from assay.models.base import Estimator, on_engine
from assay.models.cluster.kmeans.blocks import drawn_rows, lloyd_of_blocks, refuse_few, starts_of
from assay.models.cluster.kmeans.cluster_indices import ClusterIndices
from assay.models.cluster.kmeans.sparse import sparse_lloyd, sparse_moves, sparse_squares, stays_sparse
from assay.models.transformer import Transformer
from assay.optimize.kmeans.lloyd import Lloyd, lloyd, nearest
from assay.summary.distances.distances import unit_scale
from assay.summary.moments.accumulate import checked_weights

Floats: TypeAlias = NDArray[Any]


class KMeans(ClassNamePrefixFeaturesOutMixin, ClusterMixin, Transformer, Estimator):
    """Put rows in k groups around centres: which rows lie close together?

    Args:
        n_clusters: how many groups, at most the number of rows.
        init: "k-means++" draws rows far apart, one after another, the best of a few each time; "k-means||" draws many
            at once, in a few passes, and groups those (of rows that stay sparse it draws as "k-means++"); or (k, d)
            centres to start from.
        n_init: how many starts; the one with the least inertia is kept. "auto": 10 for up to 10,000 rows, else 1. With
            so many rows that the iteration begins on a sample of them, starts are compared there.
        max_iter: most passes over all rows; ending there warns (NotConverged).
        tol: stop when a pass moves the centres by a sum of squares of at most this share of the mean variance of a
            column, as in scikit-learn; 0 goes on until no row changes its group.
        random_state: seed of the starts. The same seed gives the same groups, on any number of threads, and
            the same starts for the same values in float32 and float64.

    Attributes:
        cluster_centers_: (k, d), largest group first (by weight; equal ones by their coordinates), or in the order of
            the centres given. float32 for float32 rows, dense or sparse.
        labels_: (n,) the nearest centre of each row, the first of equally near ones.
        inertia_: weighted sum of squared distances of rows to their centre; inf where it exceeds floating point.
        sizes_: (k,) weight of each group.
        n_clusters_: groups that hold rows: fewer than asked for only where there are fewer distinct rows; the other
            centres repeat, and their sizes are 0.
        explained_variance_: share of the sum of squares that lies between the groups; nan for rows all at one place.
        calinski_harabasz_: between over within, times (n - k) / (k - 1); nan for one group or one for each row.
        n_iter_: passes over all rows.
        converged_: whether the last one stayed within tol.

    >>> X = np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [10.0, 2.0], [10.0, 4.0]])
    >>> means = KMeans(2, random_state=0).fit(X)
    >>> means.labels_, means.cluster_centers_.tolist(), means.inertia_
    (array([0, 0, 0, 1, 1], dtype=int32), [[1.0, 2.0], [10.0, 3.0]], 10.0)

    References:
        Lloyd 1982; Arthur & Vassilvitskii 2007; Bahmani et al. 2012; Hamerly 2010.
    """

    cluster_centers_: Floats
    sizes_: Array
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Literal["k-means++", "k-means||"] | ArrayLike = "k-means++",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @on_engine
    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None, *, engine: Any = None) -> Self:
        """Find the groups of (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`. A source is encoded first, by the kinds of its columns,
                and read once for each pass, so it may be larger than memory. Sparse rows with few entries stay sparse.
            y: not used.
            sample_weight: (n,) weights of rows, not negative: a row of weight 2 counts as two rows.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        self._check_options()
        rows = self._rows(X, reset=True)
        if isinstance(rows, csr_array):
            w = None if sample_weight is None else checked_weights(sample_weight, int(rows.shape[0]))
            refuse_few(self.n_clusters, int(rows.shape[0]), w)
            starts = starts_of(self.n_init, int(rows.shape[0]))
            found = sparse_lloyd(rows, self.n_clusters, n_init=starts, weights=w, **self._options())
            if getattr(X, "dtype", None) == np.float32:
                found = replace(found, centers=found.centers.astype(np.float32))
        elif isinstance(rows, FloatBlocks):
            kept = np.float32 if issparse(X) and getattr(X, "dtype", None) == np.float32 else np.float64
            options: dict[str, Any] = self._options() | {"dtype": kept}
            found = lloyd_of_blocks(rows, self.n_clusters, n_init=self.n_init, weights=sample_weight, **options)
        else:
            w = None if sample_weight is None else checked_weights(sample_weight, len(rows))
            refuse_few(self.n_clusters, len(rows), w)
            starts = starts_of(self.n_init, len(rows))
            found = lloyd(rows, self.n_clusters, n_init=starts, weights=w, **self._options())
        return self._keep(found if not isinstance(self.init, str) else _by_size(found))

    def partial_fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Move the centres by further rows: each becomes the mean of all rows that were ever nearest to it.

        The first part is grouped as by `fit`, and needs at least `n_clusters` rows; a fitted or loaded model goes on
        where it was. Rows keep the centre that was nearest when they came, so this is `fit` on all rows where groups
        are apart, and close to it elsewhere. Afterwards `labels_` and `inertia_` are those of the last part, and what
        would take all rows (`explained_variance_`, `calinski_harabasz_`) is nan.

        Args:
            X, y, sample_weight: as for `fit`.

        References:
            Sculley, Web-scale k-means clustering, 2010.
        """
        if not hasattr(self, "cluster_centers_"):
            return self.fit(X, sample_weight=sample_weight)
        self._check_options()
        rows, centers = self._rows(X, reset=False), self.cluster_centers_
        if isinstance(rows, csr_array):
            n = int(rows.shape[0])
            w = np.ones(n) if sample_weight is None else checked_weights(sample_weight, n)
            labels, squares, moves = sparse_moves(rows, centers, w)
        else:
            found = self._each(X, lambda block, centers: np.stack(nearest(block, centers)))
            numbers, squares = np.concatenate(found, axis=1)
            labels, moves = numbers.astype(np.int32), np.zeros(centers.shape)
            w = np.ones(len(labels)) if sample_weight is None else checked_weights(sample_weight, len(labels))
            for first, block in rows if isinstance(rows, FloatBlocks) else float_blocks(rows):
                own = slice(first, first + len(block))
                # by deviations from the centres: sums of rows far from zero would lose the digits of small moves
                np.add.at(moves, labels[own], w[own, None] * (block - centers[labels[own]]))
        sizes = self.sizes_ + np.bincount(labels, w, minlength=len(centers))
        share = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
        self.cluster_centers_ = (centers + share[:, None] * moves).astype(centers.dtype)
        self.labels_, self.inertia_, self.sizes_ = labels, float(w @ squares), sizes
        self.n_clusters_, self.n_iter_ = int((sizes > 0.0).sum()), self.n_iter_ + 1
        self.explained_variance_ = self.calinski_harabasz_ = float("nan")
        return self

    def fit_predict(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int32]:
        """Fit, and give the group of each row."""
        labels: NDArray[np.int32] = self.fit(X, sample_weight=sample_weight).labels_
        return labels

    def predict(self, X: Any) -> NDArray[np.int32]:
        """(m,) the nearest centre of each row, the first of equally near ones."""
        if (squares := self._sparse_squares(X)) is not None:
            return np.asarray(squares.argmin(axis=1), dtype=np.int32)
        return np.concatenate(self._each(X, lambda block, centers: nearest(block, centers)[0]))

    def transform(self, X: Any) -> Floats:
        """(m, k) distance of each row to each centre."""
        if (squares := self._sparse_squares(X)) is not None:
            return np.sqrt(squares)
        return np.concatenate(self._each(X, _distances))

    def score(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Minus the sum of squared distances of rows to their nearest centre: higher is better."""
        away = self._sparse_squares(X)
        each = self._each(X, lambda block, centers: nearest(block, centers)[1]) if away is None else [away.min(axis=1)]
        squares = np.concatenate(each)
        return -float(
            squares.sum() if sample_weight is None else checked_weights(sample_weight, len(squares)) @ squares
        )

    def _rows_to_group(self, X: Any) -> tuple[Floats, int]:
        """Rows as `fit` would take them, of a source or of sparse rows what fits into 128 MB, and the seed."""
        self._check_options()
        rows, seed = self._rows(X, reset=True), self._seed()
        rows = float_blocks(rows) if isinstance(rows, csr_array) else rows
        return (drawn_rows(rows, seed) if isinstance(rows, FloatBlocks) else rows), seed

    def _keep(self, found: Lloyd) -> Self:
        self.cluster_centers_, self.labels_, self.sizes_ = found.centers, found.labels, found.sizes
        self.inertia_, self.n_iter_, self.converged_ = found.inertia, found.n_iter, found.converged
        self.n_clusters_ = int((found.sizes > 0.0).sum())
        indices = ClusterIndices(self.n_clusters_, float(found.sizes.sum()), found.separation)
        self.explained_variance_ = indices.explained_variance
        self.calinski_harabasz_ = indices.calinski_harabasz
        if not found.converged:
            warnings.warn(
                f"k-means stopped after {found.n_iter} passes with centres still moving by more than tol={self.tol:g}: "
                "raise max_iter or tol",
                NotConverged,
                stacklevel=4,
            )
        return self

    def _sparse_squares(self, X: Any) -> Array | None:
        """(m, k) squared distances of rows that stay sparse to the centres; None for others."""
        check_is_fitted(self)
        if not issparse(X):
            return None
        rows = self._rows(X, reset=False)
        return sparse_squares(rows, self.cluster_centers_) if isinstance(rows, csr_array) else None

    def _rows(self, X: Any, *, reset: bool) -> Floats | FloatBlocks | csr_array:
        """Rows as an array, as blocks where they come from a source or are small and sparse, or sparse as they are."""
        if isinstance(X, Source):
            return float_blocks(self._as_numbers(X, reset=reset))
        rows = self._checked(X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        if not issparse(rows):
            return np.asarray(rows)
        return as_entries(rows) if stays_sparse(rows) else float_blocks(rows)

    def _each(self, X: Any, work: Callable[[Floats, Floats], NDArray[Any]]) -> list[NDArray[Any]]:
        """work(rows, centres) of each block of rows, in the precision of the centres."""
        check_is_fitted(self)
        rows, centers = self._rows(X, reset=False), self.cluster_centers_
        if isinstance(rows, csr_array):
            rows = float_blocks(rows)
        if not isinstance(rows, FloatBlocks):
            return [work(np.ascontiguousarray(rows, dtype=centers.dtype), centers)]
        return mapped_blocks(rows, lambda part: work(np.ascontiguousarray(part[1], dtype=centers.dtype), centers))

    def _options(self) -> dict[str, Any]:
        """What every solver takes."""
        init = self.init if isinstance(self.init, str) else self._centres_given()
        return {"init": init, "max_iter": self.max_iter, "tol": float(self.tol), "seed": self._seed()}

    def _centres_given(self) -> Array:
        centres = np.asarray(self.init, dtype=np.float64)
        shape = (self.n_clusters, self.n_features_in_)
        if centres.shape != shape or not np.isfinite(centres).all():
            raise ParameterError(
                f"init is 'k-means++', 'k-means||' or {shape} finite centres, one row for each cluster; "
                f"got shape {centres.shape}"
            )
        return centres

    def _check_options(self) -> None:
        for name in ("n_clusters", "max_iter"):
            value = getattr(self, name)
            if not (_is_whole(value) and value >= 1):
                raise ParameterError(f"{name} is a whole number from 1 on; got {value!r}")
        if self.n_init != "auto" and not (_is_whole(self.n_init) and self.n_init >= 1):
            raise ParameterError(f"n_init is 'auto' or a whole number from 1 on; got {self.n_init!r}")
        if not 0.0 <= self.tol < np.inf:
            raise ParameterError(f"tol is a share of the variance, 0 or more; got {self.tol!r}")
        if isinstance(self.init, str) and self.init not in ("k-means++", "k-means||"):
            raise ParameterError(f"init is 'k-means++', 'k-means||' or (k, d) centres; got {self.init!r}")

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]  # which ClusterMixin takes away
        return tags


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _by_size(found: Lloyd) -> Lloyd:
    """The same groups, numbered by weight, largest first; equal ones by their coordinates."""
    # coordinates as lists, since a key of its own for each of very many columns takes longer
    places = found.centers.tolist() if len(np.unique(found.sizes)) < len(found.sizes) else [[]] * len(found.sizes)
    order = np.array(sorted(range(len(places)), key=lambda c: (-found.sizes[c], places[c])))
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order))
    return replace(found, centers=found.centers[order], labels=number[found.labels], sizes=found.sizes[order])


def _distances(rows: Floats, centers: Floats) -> Floats:
    scale = unit_scale(np.concatenate([rows, centers]))
    distances: Floats = (cdist(rows * scale, centers * scale) / scale).astype(rows.dtype)
    return distances
