"""Classical scaling: a map whose distances come closest to given dissimilarities, by one eigenproblem.

summary  B = -1/2 H D^2 H, (n, n), H = I - 1 1^T / n     solver  B v_j = lambda_j v_j, the largest k
for rows X, (n, d):  B = Xc Xc^T                        then Xc^T Xc, (d, d), has the same lambda_j
reading  Z = V sqrt(max(lambda, 0)), (n, k)              chance  negative lambda: D is no distance of points
new      z = 1/2 V^T (row means of D^2 - squared dissimilarities) / sqrt(lambda)
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from scipy.linalg import eigvalsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array, Whole
from assay.errors import Caution, ParameterError
from assay.linalg.eigen.classical_scaling import (
    classical_scaling,
    doubly_centred,
    lowest_eigenvalues,
    place_new,
    positive_values,
    scaling_of_rows,
)
from assay.linalg.eigen.top import top_eigen
from assay.linalg.validate import as_generator, power_of_two
from assay.models.base import Estimator
from assay.models.transformer import Transformer
from assay.summary.distances.dissimilarities import as_dissimilarities, farthest_first, new_dissimilarities
from assay.summary.distances.distances import squared_distances, unit_scale
from assay.summary.distances.known_distances import all_given
from assay.summary.distances.metrics import Metric, checked_metric, comparable, distances, gaps_allowed, is_precomputed
from assay.summary.gram.gram import HOLD_LIMIT, Gram

_ALL_VALUES = 2000  # up to so many rows every eigenvalue is found, half a second's work
_LOWEST = 3  # how many of the smallest are found beyond
_MARKS = 1000  # landmarks where their number is left to the model


class ClassicalMDS(ClassNamePrefixFeaturesOutMixin, Transformer, Estimator):
    """Draw a map from dissimilarities: where must points lie to be so far apart?

    Args:
        n_components: dimensions of the map, at most the number of rows.
        metric: how unlike rows are: "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming", "gower"
            (columns of numbers and of categories, with gaps), or a function of two rows. "precomputed": X is the
            (n, n) dissimilarities.
        dissimilarity: the word for `metric` in scikit-learn before 1.8; None: as `metric` says.
        landmarks: how many rows to scale, the others being placed among them. None: all rows. "auto": all, unless
            a precomputed matrix is larger than 1 GiB; then 1000.
        random_state: seed of the choice of landmarks and of start vectors.

    Attributes:
        embedding_: (n, k) the map, by descending eigenvalue; zero in axes whose eigenvalue is not positive.
        eigenvalues_: (k,) of B, in squared units of the dissimilarities.
        n_positive_: how many of these are positive.
        explained_: (k,) shares of the sum of all positive eigenvalues; where these are not all known (see
            `negative_share_`) of the least they can sum to, so that the shares are at most so large.
        strain_: what the map leaves of B: the size of B - Z Z^T as a share of that of B.
        negative_eigenvalues_: the negative ones found, most negative first: all for up to 2000 rows, else up to 3.
        negative_share_: their share of the sizes of all eigenvalues; None where not all were found.
        landmarks_: (m,) rows that were scaled; None when all were.
        metric_: the metric, with what it learned from the rows.
        route_: "rows", "dissimilarities", "landmarks" or "gram".

    >>> square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    >>> ClassicalMDS(2).fit(square).eigenvalues_
    array([1., 1.])
    >>> D = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> Z = ClassicalMDS(2, metric="precomputed").fit_transform(D)
    >>> float(np.linalg.norm(Z[1] - Z[2]).round(9))
    5.0

    References:
        Torgerson, Psychometrika 17, 1952; Gower, Biometrika 53, 1966; de Silva & Tenenbaum, Sparse multidimensional
        scaling using landmark points, 2004.
    """

    gram_: Gram | None
    points_: Array | None
    landmarks_: Whole | None

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Metric = "euclidean",
        dissimilarity: Metric | None = None,
        landmarks: int | Literal["auto"] | None = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.dissimilarity = dissimilarity
        self.landmarks = landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Draw the map.

        Args:
            X: (n, d) rows, or with "precomputed" the (n, n) dissimilarities.
            y: not used.
        """
        checked_metric(self._metric())
        X = self._numbers(X, reset=True, ensure_min_samples=2)
        k = self._components(len(X))
        self._forget()
        self.metric_ = self._resolved(self._metric(), X)
        if is_precomputed(self._metric()):
            return self._fit_dissimilarities(as_dissimilarities(X), k)
        if self._metric() != "euclidean":
            self._fit_dissimilarities(distances(X, self.metric_), k)
            self.points_ = X.copy() if self.landmarks_ is None else X[self.landmarks_]
            return self
        marks = self._marks(len(X), held=True)
        return self._fit_rows(X, k) if marks is None else self._fit_landmarks_of_rows(X, k, marks)

    def fit_gram(self, gram: Gram) -> Self:
        """Draw the map of the feature space behind a Gram matrix: d_ij^2 = K_ii + K_jj - 2 K_ij."""
        k = self._components(gram.n)
        self._forget()
        self._record_columns(None, gram.n if gram.points is None else gram.points.shape[1])
        centred = gram.centred()
        B = centred.as_linear_operator(centred=False) if centred.held is None else centred.values
        found = top_eigen(B, k, random_state=self._rng())
        norm = float(np.sqrt(sum(float(np.vdot(rows, rows)) for _, rows in centred.row_blocks())))
        self.gram_, self.route_, self.unit_ = centred, "gram", 1.0
        self.embedding_ = found.vectors * np.sqrt(
            np.where(positive_values(found.values, gram.n, norm), found.values, 0.0)
        )
        known = gram.n <= _ALL_VALUES and centred.held is not None
        lowest = eigvalsh(centred.values) if known else -top_eigen(-B, min(_LOWEST, gram.n), random_state=0).values
        return self._describe(found.values, centred.trace, norm, np.asarray(lowest, dtype=np.float64), known)

    def transform(self, X: Any) -> Array:
        """Place new rows on the map.

        Args:
            X: (m, d) rows, or with "precomputed" their (m, n) dissimilarities to the n fitted ones; after `fit_gram`
                what `Gram.against` takes.

        Returns:
            (m, k) coordinates; for fitted rows those of the map where it is exact.
        """
        check_is_fitted(self)
        if self.gram_ is not None:
            carried = self.embedding_.any(axis=0)
            weights = self.embedding_ / np.where(carried, self.eigenvalues_, 1.0)
            return np.asarray(self.gram_.against(X, centred=True) @ weights)
        if self.route_ == "rows":
            rows = self._numbers(X, reset=False)
            return np.asarray((rows - self.mean_) @ self.components_.T)
        if self.points_ is not None and self._metric() != "euclidean":
            return self._placed(self._squares(distances(self._numbers(X, reset=False), self.metric_, self.points_)))
        if self.points_ is not None:
            return self._placed(squared_distances(self._numbers(X, reset=False), self.points_, unit=self.unit_))
        given = new_dissimilarities(self._numbers(X, reset=False), self.n_features_in_)
        return self._placed(self._squares(given if self.landmarks_ is None else given[:, self.landmarks_]))

    def _fit_rows(self, X: Array, k: int) -> Self:
        scale = unit_scale(X)
        found = scaling_of_rows(X * scale, k, seed=int(self._rng().integers(2**31)))
        self.unit_, self.route_ = 1.0 / scale, "rows"
        self.mean_, self.components_ = found.mean / scale, np.ascontiguousarray(found.axes.T)
        self.embedding_ = found.coordinates / scale
        return self._describe(found.values, found.trace, found.norm, np.empty(0), True)

    def _fit_dissimilarities(self, D: Array, k: int) -> Self:
        marks = self._marks(len(D), held=False)
        chosen = None if marks is None else farthest_first(len(D), marks, lambda i: D[i], self._rng())
        self.unit_ = power_of_two(D)
        if chosen is None:
            self._scale(self._squares(D), k, "dissimilarities")
        else:
            self._scale(self._squares(D[np.ix_(chosen, chosen)]), k, "landmarks")
            self.landmarks_, self.embedding_ = chosen, self._placed(self._squares(D[:, chosen]))
        if self.n_positive_ < k and len(self.negative_eigenvalues_):
            self._warn_of_zero_axes(k)
        return self

    def _fit_landmarks_of_rows(self, X: Array, k: int, marks: int) -> Self:
        rng = self._rng()
        chosen = farthest_first(len(X), marks, lambda i: squared_distances(X, X[i : i + 1])[:, 0], rng)
        self.unit_ = 1.0 / unit_scale(X)
        self.points_ = X[chosen]
        self._scale(squared_distances(self.points_, unit=self.unit_), k, "landmarks")
        self.landmarks_ = chosen
        self.embedding_ = self._placed(squared_distances(X, self.points_, unit=self.unit_))
        return self

    def _squares(self, D: Array) -> Array:
        squares = D / self.unit_
        squares *= squares
        return squares

    def _placed(self, squares: Array) -> Array:
        return self.unit_ * place_new(squares, self.row_means_, self.unit_values_, self.anchors_)

    def _scale(self, squares: Array, k: int, route: str) -> None:
        """Classical scaling of (m, m) squares in the model's unit."""
        m = len(squares)
        if k > m:
            raise ParameterError(f"n_components must be at most the number of landmarks, {m}; got {k}")
        found = classical_scaling(squares, k, random_state=self._rng())
        self.route_, self.row_means_, self.unit_values_ = route, found.row_means, found.values
        self.anchors_ = found.coordinates
        self.embedding_ = found.coordinates * self.unit_
        if m <= _ALL_VALUES:
            every = eigvalsh(doubly_centred(squares), overwrite_a=True, check_finite=False)
            self._describe(found.values, found.trace, found.norm, np.asarray(every, dtype=np.float64), True)
        else:
            lowest = lowest_eigenvalues(squares, _LOWEST, random_state=self._rng())
            self._describe(found.values, found.trace, found.norm, lowest, False)

    def _describe(self, values: Array, trace: float, norm: float, ascending: Array, every: bool) -> Self:
        """Say what was kept and what was not; all in the model's unit."""
        negative = ascending[positive_values(-ascending, len(self.embedding_), norm)]
        below = -float(negative.sum())
        kept = np.where(positive_values(values, len(self.embedding_), norm), values, 0.0)
        above = trace + below  # the trace is the sum of the positive less that of the negative
        with np.errstate(over="ignore", under="ignore"):
            self.eigenvalues_ = values * self.unit_ * self.unit_
            self.negative_eigenvalues_ = negative * self.unit_ * self.unit_
        self.n_positive_ = int((kept > 0.0).sum())
        self.explained_ = kept / above if above > 0.0 else np.zeros_like(kept)
        self.strain_ = float(np.sqrt(max(0.0, 1.0 - float(kept @ kept) / norm**2))) if norm > 0.0 else 0.0
        self.negative_share_ = below / (above + below) if every and below > 0.0 else (0.0 if every else None)
        return self

    def _warn_of_zero_axes(self, k: int) -> None:
        warnings.warn(
            f"only {self.n_positive_} of the {k} largest eigenvalues are positive: the other axes of the map are zero. "
            f"Ask for {max(self.n_positive_, 1)} components, or use MDS, which has no such limit.",
            Caution,
            stacklevel=4,
        )

    def _marks(self, n: int, *, held: bool) -> int | None:
        """How many landmarks for n rows; None for all rows. `held`: nothing of size (n, n) is needed without them."""
        asked = self.landmarks
        if asked is None:
            return None
        if asked == "auto":
            return None if held or n * n <= HOLD_LIMIT else _MARKS
        if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool) and 2 <= asked <= n:
            return int(asked)
        raise ParameterError(f"landmarks is None, 'auto' or a number from 2 to the {n} rows; got {asked!r}")

    def _components(self, n: int) -> int:
        k = self.n_components
        if isinstance(k, (int, np.integer)) and not isinstance(k, bool) and 1 <= k <= n:
            return int(k)
        raise ParameterError(f"n_components is an integer from 1 to the number of rows, {n}; got {k!r}")

    def _numbers(self, X: Any, **checks: Any) -> Array:
        # what is not finite is found here, which says where
        X = all_given(X, own=bool(checks["reset"])) if is_precomputed(self._metric()) else X
        return comparable(self._checked(X, dtype=np.float64, ensure_all_finite=False, **checks), self._metric())

    def _metric(self) -> Metric:
        return self.metric if self.dissimilarity is None else self.dissimilarity

    def _forget(self) -> None:
        self.gram_ = self.points_ = self.landmarks_ = None

    def _rng(self) -> np.random.Generator:
        return as_generator(self._seed())

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self._metric())
        tags.input_tags.allow_nan = gaps_allowed(self._metric())
        tags.input_tags.positive_only = tags.input_tags.pairwise  # distances
        return tags
