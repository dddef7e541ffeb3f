"""Principal components: the top eigenvectors of the covariance.

summary  C = scatter / (n - 1), (d, d)             solver  C w_j = lambda_j w_j, descending
dual     G = Xc Xc^T / (n - 1), (n, n)             solver  G u_j = lambda_j u_j,  w_j = Xc^T u_j / |Xc^T u_j|
reading  scores Z = (X - mu) W                     chance  Marchenko-Pastur or permuted columns
"""

from __future__ import annotations

from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import block_slices
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.principal import (
    Route,
    axes_of_covariance,
    axes_of_rows,
    axes_of_sparse,
    dense,
    few_of_sparse,
    knee,
)
from assay.linalg.eigen.spectral import Spectrum
from assay.linalg.noise.permutation_test import permutation_plan, permuted_spectrum
from assay.linalg.noise.random_matrix import real_components
from assay.linalg.normal.linear_gaussian import LinearGaussian
from assay.linalg.sparse.centred import CentredRows
from assay.models.axes import _Axes
from assay.models.base import on_engine
from assay.models.incremental import _RowsInParts
from assay.models.transformer import Transformer
from assay.summary.distances.distances import DENSE_LIMIT, refuse_dense
from assay.summary.gram.gram import Gram
from assay.summary.gram.kernels import Linear
from assay.summary.moments.column_moments import column_moments
from assay.summary.moments.moments import Moments

Solver: TypeAlias = Literal["auto"] | Route


class PCA(ClassNamePrefixFeaturesOutMixin, Transformer, _RowsInParts, _Axes):
    """Rotate data to uncorrelated axes of decreasing variance: which directions carry the spread?

    Args:
        n_components: how many axes to keep. None: all. An integer: so many. A share in (0, 1): as few as explain that
            share of the variance. "real": those above what independent columns give, possibly none; judged by
            permuted columns where rows are at hand and few enough, by the random-matrix law otherwise.
        scale: divide each column by its standard deviation first.
        whiten: give the scores unit variance.
        solver: "auto" chooses by shape. "moments": eigenvectors of the covariance. "gram": the dual, for more columns
            than rows. "svd": LAPACK's singular values. "power": power iteration with deflation. "randomised": a
            random sketch, not exact.
        random_state: seed of the permutations and of random starts.

    Attributes:
        components_: (k, d) orthonormal axes, by descending variance; the largest entry of each is positive.
        explained_variance_: (k,) variance of the scores.
        explained_variance_ratio_: (k,) as shares of the total.
        singular_values_: (k,) of the centred (and scaled) data.
        mean_: (d,) column means.
        scale_: (d,) what columns are divided by.
        noise_variance_: mean of the variances left out.
        eigenvalues_: all eigenvalues the route gave, at least k.
        n_components_: k.
        n_samples_, weight_: rows fitted and the sum of their weights.
        column_variance_, total_variance_: variance of each (scaled) column, and their sum.
        encoding_: how the columns of a source became numbers, where it was fitted on one.
        summary_: moments of all rows so far, after `partial_fit`.
        route_: the way taken: "moments", "gram", "svd", "power" or "randomised"; "products" for few axes of many sparse
            rows and columns, which are never made dense.

    >>> X = np.array([[2.5, 2.4], [.5, .7], [2.2, 2.9], [1.9, 2.2], [3.1, 3.0],
    ...               [2.3, 2.7], [2, 1.6], [1, 1.1], [1.5, 1.6], [1.1, .9]])
    >>> pca = PCA().fit(X)
    >>> pca.explained_variance_.round(7)
    array([1.2840277, 0.0490834])
    >>> pca.components_[0].round(7)
    array([0.6778734, 0.7351787])

    References:
        Jolliffe, Principal Component Analysis, 2002; Johnstone, Annals of Statistics 29, 2001.
    """

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        scale: bool = False,
        whiten: bool = False,
        solver: Solver = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.whiten = whiten
        self.solver = solver
        self.random_state = random_state

    @on_engine
    def fit(self, X: Any, y: None = None, *, engine: Any = None) -> Self:
        """Find the axes of (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`; a source is encoded first, by the kinds of its columns.
            y: not used.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        if isinstance(X, Source):
            numbers = self._as_numbers(X, reset=True)
            self._refuse_groups()
            return self.fit_moments(Moments.of(numbers))
        # the moments find what is not finite and say where; a pass before them would only cost time
        X = self._checked(X, reset=True, accept_sparse="csr", ensure_min_samples=2, ensure_all_finite=False)
        n, d = X.shape
        route = self._route("moments" if d <= n else "gram")
        names = tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        if issparse(X) and self._fit_sparse(X, route, names):
            return self
        if route != "svd" and d <= n and self.solver != "gram":
            return self._fit_covariance(Moments.of(X, columns=names), route, X)
        return self._fit_rows(X, route, names)

    def fit_moments(self, moments: Moments) -> Self:
        """Fit from a summary, however gathered: an array, a file, a cluster, three hospitals."""
        route = self._route("moments")
        if route in ("gram", "svd"):
            raise ParameterError(f"solver {route!r} needs the rows; a summary is fitted by 'moments' or 'power'")
        self._record_columns(moments.columns, moments.d)
        return self._fit_covariance(moments, route, None)

    def fit_gram(self, gram: Gram) -> Self:
        """Fit from the exact linear Gram matrix of rows; for other kernels there is no axis in the columns."""
        if not isinstance(gram.kernel, Linear) or gram.points is None or gram.approximate:
            raise ParameterError("PCA needs Gram.of(X, Linear()), exact and with its rows; got another Gram matrix")
        self._record_columns(None, gram.points.shape[1])
        inner = None if self.scale or gram.held is None else gram.centred().values
        return self._fit_rows(gram.points, self._route("gram"), None, inner)

    def transform(self, X: Any) -> Array:
        """Scores of (n, d) rows: (n, k)."""
        check_is_fitted(self)
        return self._scores(self._checked(X, reset=False, accept_sparse="csr"))

    def inverse_transform(self, Z: ArrayLike) -> Array:
        """Rows in the user's columns from (n, k) scores; what the dropped axes carried is lost."""
        check_is_fitted(self)
        scores = np.asarray(Z, dtype=np.float64)
        if scores.ndim != 2 or scores.shape[1] != self.n_components_:
            raise ParameterError(f"scores have shape (n, {self.n_components_}); got {scores.shape}")
        if self.whiten:
            scores = scores * np.sqrt(self.explained_variance_)
        return scores @ self.components_ * self.scale_ + self.mean_

    def remove_leading(self, X: Any, n: int) -> Array:
        """Rows without what the first n axes carry, for artefacts that dominate the variance.

        Args:
            X: (m, d) rows.
            n: how many axes to take out.
        """
        check_is_fitted(self)
        axes = self.components_[: self._at_most(n)]
        return self._rebuilt(X, lambda centred: centred - (centred @ axes.T) @ axes)

    def denoise(self, X: Any, n: int | None = None) -> Array:
        """Rows rebuilt from the first n axes alone, all fitted ones by default."""
        check_is_fitted(self)
        axes = self.components_[: self._at_most(self.n_components_ if n is None else n)]
        return self._rebuilt(X, lambda centred: (centred @ axes.T) @ axes)

    def score_samples(self, X: Any) -> Array:
        """(n,) log-likelihood of each row under probabilistic PCA: normal, with the kept variances along the axes and
        `noise_variance_` in every other direction. On rows not fitted it says how many axes are worth keeping.

        Args:
            X: (n, d) rows.
        """
        law = self._law()
        rows = self._checked(X, reset=False, accept_sparse="csr")
        found = np.empty(rows.shape[0])
        for part in block_slices(*rows.shape):
            found[part] = law.log_density(self._centred(rows[part]))
        return found - float(np.log(self.scale_).sum())

    def score(self, X: Any, y: None = None) -> float:
        """Mean of `score_samples`, as scikit-learn's `PCA.score`.

        Args:
            X: (n, d) rows.
            y: not used.
        """
        return float(np.mean(self.score_samples(X)))

    def get_covariance(self) -> Array:
        """(d, d) covariance of probabilistic PCA, in the units of the columns."""
        check_is_fitted(self)
        return self._gaussian().covariance * np.multiply.outer(self.scale_, self.scale_)

    def get_precision(self) -> Array:
        """(d, d) inverse of `get_covariance`, without inverting it."""
        return self._law().precision / np.multiply.outer(self.scale_, self.scale_)

    @property
    def reconstruction_error_(self) -> float:
        """Sum of squares of what the dropped axes carried on the training rows, in scaled units."""
        check_is_fitted(self)
        kept = float(np.sum(self.singular_values_**2))
        return max(0.0, self.total_variance_ * (self.weight_ - 1.0) - kept)

    @property
    def knee_(self) -> int:
        """How many eigenvalues stand before the bend of the scree: the point farthest below the chord of its ends."""
        check_is_fitted(self)
        return knee(self.eigenvalues_)

    def _gaussian(self) -> LinearGaussian:
        """Probabilistic PCA of the scaled rows: the kept variances, and the noise in all other directions."""
        noise = self.noise_variance_ if self.n_components_ < len(self.mean_) else 0.0
        variances = np.maximum(self.explained_variance_, noise)
        return LinearGaussian(np.zeros_like(self.mean_), self.components_.T, variances, noise)

    def _law(self) -> LinearGaussian:
        check_is_fitted(self)
        law = self._gaussian()
        # rounding leaves so much of a variance that is zero
        least = float(np.append(law.variances, law.noise if self.n_components_ < len(self.mean_) else np.inf).min())
        if least <= 8.0 * len(self.mean_) * np.finfo(np.float64).eps * float(self.eigenvalues_.max(initial=0.0)):
            raise DataError(
                f"the rows fitted do not spread in every direction that {self.n_components_} axes leave: there is no "
                "density; keep fewer axes, so that some variance is left for the others"
            )
        return law

    @property
    def _freedom(self) -> float:
        return self.weight_ - 1.0

    def _needs_rows(self) -> str | None:
        return f"solver={self.solver!r}" if self.solver in ("gram", "svd") else None

    def _route(self, by_shape: Route) -> Route:
        if self.solver not in ("auto", *get_args(Route)):
            raise ParameterError(f"solver is one of auto, {', '.join(get_args(Route))}; got {self.solver!r}")
        return by_shape if self.solver == "auto" else self.solver

    def _fit_covariance(self, moments: Moments, route: Route, X: Any) -> Self:
        self._describe(moments.mean, moments.variance, weight=moments.weight, count=moments.count)
        covariance = (moments.standardised() if self.scale else moments).covariance
        return self._keep(axes_of_covariance(covariance, self._asked(), route, self._seed()), route, X)

    def _fit_rows(self, X: Any, route: Route, names: tuple[str, ...] | None, inner: Array | None = None) -> Self:
        self._describe(*column_moments(X, names), weight=float(X.shape[0]), count=X.shape[0])
        spectrum = axes_of_rows(X, self.mean_, self.scale_, self._asked(), route, self._seed(), inner)
        return self._keep(spectrum, route, X)

    def _fit_sparse(self, X: Any, route: Route, names: tuple[str, ...] | None) -> bool:
        """Fit from products with sparse rows where few axes are asked for; refuse what takes too much without them."""
        n, d = X.shape
        if min(n, d) * d <= DENSE_LIMIT and not few_of_sparse(X, self._number):
            return False
        self._describe(*column_moments(X, names), weight=float(n), count=n)
        k = self._asked()
        if k is not None and self.solver == "auto" and few_of_sparse(X, k):
            self._keep(axes_of_sparse(self._entries(X, own=True), k, self._seed()), "products", X)
            return True
        if route == "svd":
            refuse_dense(X, remedy="Use solver='auto' with a number for n_components.")
        side = n if d > n or self.solver == "gram" else d
        if side**2 > DENSE_LIMIT or (k or min(n, d)) * d > DENSE_LIMIT:
            raise DataError(
                f"X is sparse, {n} x {d}, and {k or min(n, d)} axes by solver {route!r} would take more than 1 GiB. "
                f"Ask for fewer by a number, such as n_components={min(50, min(n, d) // 10)}, with solver='auto'."
            )
        return False

    def _entries(self, X: Any, *, own: bool = False) -> CentredRows:
        spread = np.sqrt(self.column_variance_) * self.scale_
        return CentredRows.of(X, self.mean_, spread, scale=self.scale_, own=own)

    @property
    def _number(self) -> int | None:
        """How many axes are asked for, where that is a number."""
        asked = self.n_components
        return int(asked) if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool) else None

    def _describe(self, mean: Array, variance: Array, *, weight: float, count: int) -> None:
        spread = np.sqrt(variance)
        self.mean_ = mean
        self.scale_ = np.where(spread > 0.0, spread, 1.0) if self.scale else np.ones_like(mean)
        self.column_variance_ = variance / self.scale_**2
        self.total_variance_ = float(self.column_variance_.sum())
        self.n_samples_ = count
        self.weight_ = weight

    def _keep(self, spectrum: Spectrum, route: str, X: Any) -> Self:
        values = np.maximum(spectrum.values[: self._limit], 0.0)  # rounding may leave a zero a hair below
        k = self._count(values, spectrum.vectors, X)
        total = self.total_variance_
        self.eigenvalues_ = values
        self.n_components_ = k
        self.components_ = np.ascontiguousarray(spectrum.vectors[:, :k].T)
        self.explained_variance_ = values[:k].copy()
        self.explained_variance_ratio_ = values[:k] / total if total > 0.0 else np.zeros(k)
        self.singular_values_ = np.sqrt(values[:k] * (self.weight_ - 1.0))
        left = max(total - float(values[:k].sum()), 0.0) if k < self._limit else 0.0  # all axes leave but rounding
        self.noise_variance_ = left / max(self._limit - k, 1)
        self.route_ = route
        return self

    @property
    def _limit(self) -> int:
        return min(self.n_samples_, len(self.mean_))

    def _asked(self) -> int | None:
        """How many eigenpairs the solver must give; None for all."""
        asked = self.n_components
        if asked is None or asked == "real" or (isinstance(asked, float) and 0.0 < asked < 1.0):
            return None
        if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool) and 0 < asked <= self._limit:
            return int(asked)
        raise ParameterError(
            f"n_components is None, 'real', a share between 0 and 1, or an integer from 1 to {self._limit} "
            f"(the smaller of rows and columns); got {asked!r}"
        )

    def _count(self, values: Array, vectors: Array, X: Any) -> int:
        asked = self._asked()
        if asked is not None:
            return asked
        if self.n_components is None:
            return self._limit
        if self.n_components == "real":
            return self._count_real(values, vectors, X)
        share = np.cumsum(values) / self.total_variance_ if self.total_variance_ > 0.0 else np.ones(len(values))
        # a hair of tolerance, so that rounding does not add an axis
        return min(int(np.searchsorted(share, float(self.n_components) - 1e-12)) + 1, len(values))

    def _count_real(self, values: Array, vectors: Array, X: Any) -> int:
        n, d = self.n_samples_, len(self.mean_)
        plan = permutation_plan(n, d)
        found = 0
        if X is not None and plan.draws > 0:
            rng, most = np.random.default_rng(self._seed()), plan.components
            found = permuted_spectrum(self._centred(X), rng=rng, n_max=plan.draws, max_components=most).n_real
            if found < most:
                return found
        # without rows, or beyond what permutation can afford, the law counts
        return max(found, real_components(values, n, d, vectors=vectors[:, : len(values)]).n_real)

    def _refuse_groups(self) -> None:
        """Numbers made from one column depend on each other by making, which "real" would take for a finding."""
        several = [column.name for column in self.encoding_.columns if column.outputs > 1 and column.kind != "text"]
        if self.n_components == "real" and several:
            raise ParameterError(
                f"'real' cannot judge numbers made from one column, such as the levels of {several[0]!r}; "
                "assay.study and assay.MixedPCA can, or leave the column out: assay.encode(source, drop=[...])"
            )

    def _at_most(self, n: int) -> int:
        if not 0 <= n <= self.n_components_:
            raise ParameterError(f"{self.n_components_} axes were fitted; got {n}")
        return n

    def _centred(self, X: Any) -> Array:
        centred: Array = (dense(X) - self.mean_) / self.scale_
        return centred

    def _scores(self, X: Any) -> Array:
        if issparse(X):
            scores = self._entries(X).apply(self.components_.T)
        else:
            scores = np.empty((X.shape[0], self.n_components_))
            for part in block_slices(*X.shape):
                scores[part] = self._centred(X[part]) @ self.components_.T
        if self.whiten:
            spread = np.sqrt(self.explained_variance_)
            scores *= np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
        return scores

    def _rebuilt(self, X: Any, change: Any) -> Array:
        rows = self._checked(X, reset=False, accept_sparse="csr")
        rebuilt: Array = change(self._centred(rows)) * self.scale_ + self.mean_
        return rebuilt

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
