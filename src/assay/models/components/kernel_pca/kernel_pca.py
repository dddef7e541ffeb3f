"""Kernel PCA: principal components of the rows' images in the feature space of a kernel.

summary  K_ij = <phi(x_i), phi(x_j)>, (n, n), centred: K_c = H K H with H = I - 1 1^T / n
solver   K_c u_j = lambda_j u_j, the leading k; H is applied to the blocks, K_c is never formed
reading  direction w_j = sum_i A_ij phi(x_i) with A = U / sqrt(lambda), (n, k), so that |w_j| = 1 in feature space
         scores Z = K_c A, (n, k), of training rows U sqrt(lambda)

A kernel matrix with a factor, K = F F^T with F (n, r), needs none of its n^2 values: with the singular values of the
centred factor, F_c = U S V^T, lambda = S^2 and scores are F_c V. That is the linear kernel with F = X, and any kernel
by landmarks.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigvalsh, solve_triangular
from scipy.sparse.linalg import LinearOperator
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.errors import Caution, ParameterError
from assay.linalg.eigen.spectral import column_signs
from assay.linalg.eigen.top import leading_eigen
from assay.linalg.eigen.top_svd import top_svd
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import as_count, as_matrix
from assay.models.base import Estimator
from assay.models.components.kernel_pca.preimage import gaussian_preimages
from assay.models.components.kernel_pca.tiles import SymmetricTiles
from assay.models.transformer import Transformer
from assay.summary.distances.distances import as_rows, squared_distances
from assay.summary.gram.gram import BLOCK, HOLD_LIMIT, Gram
from assay.summary.gram.kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed, as_kernel

_LANDMARKS = 1_000  # stand for the rows when there are too many to hold K
_ALL_VALUES = 2_000  # up to so many rows every eigenvalue is found where some may be negative, half a second's work
_LOWEST = 3  # how many of the smallest are found beyond
_NOTABLE = 1e-5  # of the largest eigenvalue: values that were rounded to float32 have negative ones up to there
_NONE: Array = np.empty(0)


class KernelPCA(ClassNamePrefixFeaturesOutMixin, Transformer, Estimator):
    """Find the directions of largest variance among images of rows under a kernel: which curved structure is there?

    Args:
        n_components: how many directions.
        kernel: `Linear()`, `Polynomial()`, `Gaussian()`, one of their names, "precomputed", or a function of two sets
            of rows. `Gaussian()` takes the median distance between rows as its sigma.
        landmarks: None computes with all rows. A number: so many rows, drawn by randomly pivoted Cholesky, stand for
            all. "auto": None as long as the kernel matrix stays below 1 GiB (11,585 rows), 1000 beyond. The linear
            kernel needs none.
        random_state: seed of the landmarks and of the solver's start.

    Attributes:
        eigenvalues_: (k,) of the centred kernel matrix, descending; those that are rounding are zero.
        explained_variance_ratio_: (k,) as shares of the sum of its positive eigenvalues, which for a kernel is its
            trace, the variance in feature space. Where not all are known (see `negative_eigenvalues_`) of the least
            they can sum to, so that the shares are at most so large.
        negative_eigenvalues_: those of values that are no inner products, most negative first: all for up to 2000
            rows, else up to 3. Empty for `Linear()`, `Polynomial()` and `Gaussian()`, which have none. Beyond a share
            of 1e-5 of the largest eigenvalue there is a warning (Caution).
        embedding_: (n, k) scores of the training rows; a direction of zero variance has zero scores.
        coefficients_: (b, k) of each direction as a sum of images of the training rows, or of the landmarks.
        mean_weights_: (b,) of the mean in feature space, as a sum of the same images.
        points_: (b, d) those rows; None with a precomputed kernel.
        components_: (k, d) directions in the columns, with the linear kernel; None with any other.
        mean_: (d,) column means, with the linear kernel; None with any other.
        kernel_: the kernel with its defaults filled in.
        landmarks_: (b,) row numbers of the landmarks; None when all rows were used.
        left_out_: share of the trace that landmarks leave out; 0 when all rows were used.
        residual_: largest length of K_c u - lambda u, as a share of the largest eigenvalue.
        route_: "exact" (all of K), "factor" (linear kernel) or "landmarks".

    >>> angle = 2 * np.pi * np.arange(100) / 100
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> KernelPCA(4, kernel=Gaussian(sigma=0.5)).fit(circle).eigenvalues_.round(7)
    array([17.875084 , 17.875084 , 11.7626501, 11.7626501])

    References:
        Schoelkopf, Smola and Mueller, Nonlinear component analysis as a kernel eigenvalue problem, 1998.
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "linear",
        landmarks: int | Literal["auto"] | None = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.landmarks = landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the directions of (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`; (n, n) kernel values with kernel "precomputed".
            y: not used.
        """
        X = self._checked(X, reset=True, accept_sparse="csr", ensure_min_samples=2)
        kernel, n = as_kernel(self.kernel), int(X.shape[0])
        marks = self._landmark_count(n, kernel)
        if isinstance(kernel, Precomputed):
            return self._fit(Gram.precomputed(as_rows(X)))
        if isinstance(kernel, Linear):
            return self._fit(Gram.of(X, kernel, hold=False))
        if marks is not None:
            return self._fit(Gram.landmarks(X, marks, kernel, self._seed()))
        if isinstance(kernel, Gaussian | Polynomial) and n**2 <= HOLD_LIMIT:
            return self._fit_tiles(as_rows(X).copy(), kernel)
        return self._fit(Gram.of(X, kernel))

    def fit_gram(self, gram: Gram) -> Self:
        """Fit from a kernel matrix, held or not, exact or by landmarks; its kernel and landmarks are used."""
        if gram.n < 2:
            raise ParameterError(f"kernel PCA needs at least 2 rows; got {gram.n}")
        self._record_columns(None, gram.n if gram.points is None else gram.points.shape[1])
        return self._fit(gram)

    def fit_transform(self, X: Any, y: None = None) -> Array:
        """Fit, and give the scores of the same rows: (n, k)."""
        embedding: Array = self.fit(X).embedding_
        return embedding

    def transform(self, X: Any) -> Array:
        """Scores of (m, d) rows, (m, k); with a precomputed kernel of (m, n) values with the training rows."""
        check_is_fitted(self)
        rows = as_rows(self._checked(X, reset=False, accept_sparse="csr"))
        if self.components_ is not None:
            linear: Array = (rows - self.mean_) @ self.components_.T
            return linear
        scores = np.empty((len(rows), len(self.eigenvalues_)))
        base = np.empty((len(self.coefficients_), 0)) if self.points_ is None else self.points_
        step = max(1, BLOCK // len(base))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            scores[part] = self.kernel_(rows[part], base) @ self.coefficients_ - self._offset
        return scores

    def inverse_transform(self, Z: ArrayLike) -> Array:
        """Rows whose scores come nearest to (m, k) scores: (m, d). For display: few images have an exact pre-image.

        Exact for the linear kernel; for the Gaussian one an iteration that starts at the training row (or landmark)
        with the nearest scores. Other kernels have no pre-image here.
        """
        check_is_fitted(self)
        scores = as_matrix(Z, name="the scores")
        if scores.shape[1] != len(self.eigenvalues_):
            raise ParameterError(f"scores have shape (m, {len(self.eigenvalues_)}); got {scores.shape}")
        if self.components_ is not None:
            return np.asarray(scores @ self.components_ + self.mean_)
        if not isinstance(self.kernel_, Gaussian):
            raise ParameterError(f"pre-images are found for Linear() and Gaussian() kernels; this is {self.kernel_!r}")
        known = self.embedding_ if self.landmarks_ is None else self.embedding_[self.landmarks_]
        rows = np.empty((len(scores), self.points_.shape[1]))
        step = max(1, BLOCK // len(known))
        for first in range(0, len(scores), step):
            part = slice(first, first + step)
            nearest = squared_distances(scores[part], known).argmin(axis=1)
            weights = scores[part] @ self.coefficients_.T + self.mean_weights_
            rows[part] = gaussian_preimages(self.points_, weights, self.kernel_, self.points_[nearest])
        return rows

    def _landmark_count(self, n: int, kernel: Kernel) -> int | None:
        if self.landmarks == "auto":
            return None if n**2 <= HOLD_LIMIT else _LANDMARKS
        if self.landmarks is not None and isinstance(kernel, Precomputed):
            raise ParameterError("landmarks save computing kernel values, and precomputed ones are there already")
        return None if self.landmarks is None else as_count(self.landmarks, n, name="landmarks", what="the rows")

    def _fit_tiles(self, rows: Array, kernel: Gaussian | Polynomial) -> Self:
        """Fit from half of the kernel values, which is all of a symmetric matrix."""
        ready = kernel.resolve(rows)
        with one_blas_thread():  # tiles run in threads of their own, and what is left is small
            tiles = SymmetricTiles.of(len(rows), lambda i, j: ready(rows[i], rows[j] if j != i else None))
            return self._fit_values(Gram(ready, len(rows), rows, None), tiles)

    def _fit(self, gram: Gram) -> Self:
        if gram.factor is None:
            return self._fit_values(gram, gram)
        return self._fit_factor(replace(gram, held=None).centred())

    def _fit_values(self, gram: Gram, values: Gram | SymmetricTiles) -> Self:
        """Fit from products with the kernel values, centred or not."""
        n, k = gram.n, self._count(gram)
        found = leading_eigen(_centred(values, n), k, random_state=self._seed())
        raw = gram.diagonal
        row_means = values @ np.full(n, 1.0 / n) if gram.centring is None else gram.centring.row_means
        trace = float(raw.sum() - row_means.sum()) if gram.centring is None else float(raw.sum())
        scale = max(float(found.values[0]), float(np.abs(raw).max()))
        negative = _negative(gram, values, 8.0 * np.finfo(float).eps * n * scale)
        self._describe(found.values, trace, float(found.residuals.max()), n * scale, negative)
        self.embedding_ = found.vectors * np.sqrt(self.eigenvalues_)
        self.coefficients_ = found.vectors * self._inverse_roots()
        self.mean_weights_ = np.full(n, 1.0 / n)
        self._offset = row_means @ self.coefficients_
        self.points_: Any = gram.points
        self.left_out_ = 0.0
        self.route_ = "exact"
        return self

    def _count(self, gram: Gram) -> int:
        """How many directions, once that is known to be possible; what depends on the kind of kernel begins anew."""
        self.kernel_ = gram.kernel
        self.landmarks_ = None if gram.marks is None else gram.marks.indices
        self.components_: Any = None
        self.mean_: Any = None
        return as_count(self.n_components, gram.n, name="n_components", what="the number of rows")

    def _fit_factor(self, gram: Gram) -> Self:
        """Fit from the centred factor: singular values instead of eigenvalues, so nothing is lost by squaring."""
        factor, marks = gram.factor, gram.marks
        assert factor is not None and gram.centring is not None
        origin = gram.centring.origin
        assert origin is not None  # set whenever there is a factor
        k, (n, r) = self._count(gram), factor.shape
        found = top_svd(factor, min(k, n, r), random_state=self._seed())
        absent = k - len(found.values)  # directions beyond the rank that a factor of r columns can have
        values = np.pad(found.values, (0, absent)) ** 2
        out = gram.trace_error
        residual = float(found.residuals.max() * found.values[0])
        self._describe(values, gram.trace + out, residual, n * float(values[0]))
        axes = np.where(self.eigenvalues_ > 0.0, np.pad(found.right, ((0, 0), (0, absent))), 0.0)
        self.embedding_ = factor @ axes
        self.left_out_ = out / (gram.trace + out) if out > 0.0 else 0.0
        if marks is None:
            self.components_, self.mean_ = np.ascontiguousarray(axes.T), origin
            self.coefficients_ = self.embedding_ * self._inverse_roots() ** 2
            self.mean_weights_ = np.full(n, 1.0 / n)
            self.points_ = gram.points
            self.route_ = "factor"
            return self
        signs = column_signs(self.embedding_)  # as those of the exact way: the largest score is positive
        axes = axes * signs
        self.embedding_ = self.embedding_ * signs
        self.coefficients_ = solve_triangular(marks.triangle, axes, lower=True, trans="T")
        self.mean_weights_ = solve_triangular(marks.triangle, origin, lower=True, trans="T")
        self._offset = origin @ axes
        self.points_ = marks.points
        self.route_ = "landmarks"
        return self

    def _describe(self, values: Array, trace: float, residual: float, scale: float, negative: Array = _NONE) -> None:
        # what rounding in the kernel values can make of an eigenvalue that is zero; negative ones go with it
        floor = 8.0 * np.finfo(float).eps * scale
        self.eigenvalues_ = np.where(values > floor, values, 0.0)
        # the trace is the sum of the positive less that of the negative; of these not all may be known
        whole = max(trace - float(negative.sum()), float(self.eigenvalues_.sum()))
        self.explained_variance_ratio_ = self.eigenvalues_ / whole if whole > floor else np.zeros(len(values))
        self.negative_eigenvalues_ = negative
        self.residual_ = residual / values[0] if values[0] > 0.0 else 0.0
        if len(negative) and -negative[0] > _NOTABLE * max(float(values[0]), 0.0):
            warnings.warn(
                f"the kernel values are no inner products: centred they have eigenvalues down to {negative[0]:.3g} "
                f"beside a largest of {values[0]:.3g}, and {-negative.sum() / (whole - negative.sum()):.1%} of their "
                "sizes is negative. Directions of the positive ones are found, and shares are of these; see "
                "assay.mercer_check, or take another kernel",
                Caution,
                stacklevel=5,
            )

    def _inverse_roots(self) -> Array:
        roots = np.sqrt(self.eigenvalues_)
        return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        return tags


def _negative(gram: Gram, values: Gram | SymmetricTiles, floor: float) -> Array:
    """Negative eigenvalues of the centred matrix, ascending, beyond rounding: all, or of many rows the least few."""
    if isinstance(gram.kernel, Linear | Polynomial | Gaussian):
        return _NONE
    if gram.n <= _ALL_VALUES and gram.held is not None:
        lowest = eigvalsh(gram.centred().values, check_finite=False)
    else:
        lowest = -leading_eigen(-_centred(values, gram.n), min(_LOWEST, gram.n)).values
    return np.asarray(lowest[lowest < -floor], dtype=np.float64)


def _centred(values: Gram | SymmetricTiles, n: int) -> LinearOperator[Any]:
    """H K H by its products."""

    def product(V: Array) -> Array:
        image = values @ (V - V.mean(axis=0))
        return np.asarray(image - image.mean(axis=0))

    return LinearOperator((n, n), matvec=product, matmat=product, dtype=np.dtype(np.float64))
