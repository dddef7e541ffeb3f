"""Kernel canonical correlations: CCA of the rows' images in the feature spaces of two kernels, regularised.

summary  K_x, K_y, (n, n), centred in feature space; or factors F F^T of them by landmarks, F (n, r)
solver   K_x = U diag(lambda) U^T; with t = trace(K_x), weights sqrt(lambda / (lambda + r_x t)) on the directions U:
         rho = singular values of diag(.) U_x^T U_y diag(.), descending
reading  u = K_x A, (n, k): a curve u(x) = sum_i A_i (k(x, x_i) - means) for new rows

Without a ridge, directions U span all of R^(n-1) for a kernel such as the Gaussian, on both sides: rho = 1, always.

Reference: Hardoon, Szedmak and Shawe-Taylor, Canonical correlation analysis: an overview with application to learning
methods, Neural Computation 16, 2004; Bach and Jordan, Kernel independent component analysis, JMLR 3, 2002.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_consistent_length

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.linalg.canonical.canonical import CanonicalPairs, Coupling, canonical_pairs, coupled_grams
from assay.linalg.canonical.held_out import CanonicalFold, choose_ridge, gram_folds
from assay.linalg.eigen.spectral import column_signs
from assay.linalg.validate import as_count
from assay.models.canonical import HeldOutRidge, RidgeOption, _Paired, gathered
from assay.summary.distances.distances import as_rows
from assay.summary.gram.gram import BLOCK, Gram
from assay.summary.gram.kernels import Gaussian, Kernel, Precomputed, as_kernel
from assay.summary.moments.paired import Paired, couple, moment_folds

_EXACT = 1_000  # rows up to which both kernel matrices are decomposed: 0.5 s on one core; 2,000 would take 3.3 s
_LANDMARKS = 500  # stand for the rows beyond
_USUAL = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # candidates for a ridge


class KernelCCA(_Paired):
    """Find curves, of any shape a kernel knows, that correlate most: are two sides related in any way at all?

    Args:
        n_components: how many pairs, at most the smaller rank of the two kernel matrices.
        kernel: `Gaussian()`, `Polynomial()`, `Linear()`, one of their names, or a function of two sets of rows; a pair
            of them for one on each side. `Gaussian()` takes the median distance between rows as its sigma.
        ridge: added to the variances of each side, as a share of its whole variance in feature space: a number, a pair,
            "held-out" or `HeldOutRidge(...)`. 0 is refused: any two sides would correlate perfectly.
        landmarks: None computes with all rows. A number: so many rows, drawn by randomly pivoted Cholesky, stand for
            all. "auto": None up to 1000 rows, 500 beyond.
        random_state: seed of the landmarks.

    Attributes:
        canonical_correlations_: (k,) descending, of the regularised problem.
        variate_correlations_: (k,) correlation of the paired scores on the rows fitted.
        held_out_correlations_: (k,) of pairs found on the other folds, where the ridge was chosen so; None otherwise.
        held_out_table_: (m, m) held-out first correlation by left and right candidate; None where none was chosen.
        x_coefficients_, y_coefficients_: (b, k) of each curve as a sum of kernels at the rows, or at the landmarks.
        x_points_, y_points_: those rows; None where kernel values were given.
        x_kernel_, y_kernel_: the kernels with their defaults filled in.
        ridge_: the ridges used, as shares, a pair.
        rank_: how many directions each kernel matrix has.
        left_out_: share of each kernel matrix's trace that landmarks leave out; 0 when all rows were used.
        n_components_, n_samples_: k, and the rows fitted.
        n_targets_, y_names_, encoding_, y_encoding_: as in `CCA`.
        route_: "exact" or "landmarks".

    >>> angle = 2 * np.pi * np.arange(100) / 100
    >>> circle = KernelCCA(1).fit(np.cos(angle)[:, None], np.sin(angle))
    >>> bool(circle.canonical_correlations_[0] > 0.95)
    True

    References:
        Hardoon, Szedmak and Shawe-Taylor, Neural Computation 16, 2004; Bach and Jordan, JMLR 3, 2002.
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = Gaussian(),  # noqa: B008  frozen, so that sharing it is harmless
        ridge: RidgeOption = 1e-3,
        landmarks: int | Literal["auto"] | None = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.ridge = ridge
        self.landmarks = landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the pairs of (n, p) and (n, q) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`.
            y: the other side, or the names of its columns where X is a source.
        """
        self._positive_ridge()
        X, Y = self._sides(X, y, reset=True)
        sides = [as_rows(gathered(side)) for side in (X, Y)]
        check_consistent_length(*sides)
        given = self.kernel if isinstance(self.kernel, (tuple, list)) else (self.kernel, self.kernel)
        if len(given) != 2:
            raise ParameterError(f"kernel is one kernel or a pair, one for each side; got {len(given)}")
        kernels = [as_kernel(kernel) for kernel in given]
        if any(isinstance(kernel, Precomputed) for kernel in kernels):
            raise ParameterError("kernel values go to fit_gram(Gram.precomputed(Kx), Gram.precomputed(Ky)), not to fit")
        marks = self._landmark_count(len(sides[0]))
        if marks is None:
            grams = [Gram.of(side, kernel, hold=True) for side, kernel in zip(sides, kernels, strict=True)]
        else:
            grams = [
                Gram.landmarks(side, marks, kernel, self._seed()) for side, kernel in zip(sides, kernels, strict=True)
            ]
        return self._fit(grams[0], grams[1])

    def fit_gram(self, x: Gram, y: Gram) -> Self:
        """Fit from two kernel matrices of the same rows, both exact or both by landmarks.

        Args:
            x: of the left side.
            y: of the right side.
        """
        self._positive_ridge()
        if x.n != y.n or x.n < 2:
            raise DataError(f"two kernel matrices of the same rows, at least 2, are needed; got {x.n} and {y.n} rows")
        if x.approximate != y.approximate:
            raise ParameterError("both kernel matrices are exact, or both by landmarks; got one of each")
        self._record_columns(None, x.n if x.points is None else x.points.shape[1])
        self.n_targets_, self.y_names_ = y.n if y.points is None else y.points.shape[1], None
        return self._fit(x, y)

    def _fit(self, x: Gram, y: Gram) -> Self:
        self.n_samples_, self.x_kernel_, self.y_kernel_ = x.n, x.kernel, y.kernel
        return self._fit_factors(x, y) if x.approximate else self._fit_values(x, y)

    def _fit_values(self, x: Gram, y: Gram) -> Self:
        n = x.n
        centred = [_with_values(gram).centred() for gram in (x, y)]
        Kx, Ky = (gram.values for gram in centred)
        coupling = coupled_grams(Kx, Ky, n - 1.0, (n, n))
        option = self._ridge_option()
        folds = None
        if isinstance(option, HeldOutRidge):
            option.check_rows(n)
            folds = gram_folds(Kx, Ky, option.folds(n), (n, n))
        pairs = self._settle(coupling, folds)
        # sums of centred images are sums of images with centred coefficients; rounding leaves these a little off
        alpha, beta = (v - v.mean(axis=0) for v in (coupling.x.vectors @ pairs.x, coupling.y.vectors @ pairs.y))
        signs = column_signs(Kx @ alpha)
        self.x_coefficients_, self.y_coefficients_ = alpha * signs, beta * signs
        means = [gram.centring.row_means for gram in centred if gram.centring is not None]
        self._x_offset, self._y_offset = means[0] @ self.x_coefficients_, means[1] @ self.y_coefficients_
        self.x_points_, self.y_points_ = x.points, y.points
        self.left_out_ = (0.0, 0.0)
        self.route_ = "exact"
        return self

    def _fit_factors(self, x: Gram, y: Gram) -> Self:
        """Fit from low-rank factors: linear pairs of their columns."""
        assert x.factor is not None and y.factor is not None and x.marks is not None and y.marks is not None
        p, d = x.factor.shape[1], x.factor.shape[1] + y.factor.shape[1]
        names = tuple(f"x{i}" for i in range(p)), tuple(f"y{i}" for i in range(d - p))
        paired, ones, option = Paired(x.factor, y.factor, names), np.ones(d), self._ridge_option()
        folds = None
        if isinstance(option, HeldOutRidge):
            option.check_rows(x.n)
            parts = paired.fold_moments(option.cv).parts
            total, folds = sum(parts[1:], start=parts[0]), moment_folds(parts, p, ones)
        else:
            total = paired.moments()
        coupling = couple(total, p, ones)
        pairs = self._settle(coupling, folds)
        a, b = coupling.x.vectors @ pairs.x, coupling.y.vectors @ pairs.y
        signs = column_signs((x.factor - total.mean[:p]) @ a)
        a, b = a * signs, b * signs
        self._x_offset, self._y_offset = total.mean[:p] @ a, total.mean[p:] @ b
        self.x_coefficients_ = solve_triangular(x.marks.triangle, a, lower=True, trans="T")
        self.y_coefficients_ = solve_triangular(y.marks.triangle, b, lower=True, trans="T")
        self.x_points_, self.y_points_ = x.marks.points, y.marks.points
        self.left_out_ = (x.marks.trace_error / x.marks.trace, y.marks.trace_error / y.marks.trace)
        self.route_ = "landmarks"
        return self

    def _settle(self, coupling: Coupling, folds: list[CanonicalFold] | None) -> CanonicalPairs:
        n = self.n_samples_
        k = self._count(coupling, (n, n))
        option = self._ridge_option()
        # shares of the whole variance, so that neither the number of rows nor the kernel's height matters
        whole = float(coupling.x.values.sum()), float(coupling.y.values.sum())
        self.held_out_table_: Any = None
        if isinstance(option, HeldOutRidge):
            assert folds is not None  # made wherever a ridge is to be chosen
            left, right = ([share * unit for share in option.candidates(_USUAL)] for unit in whole)
            choice = choose_ridge(folds, left, right)
            ridge, self.held_out_table_ = choice.ridge, choice.table
        else:
            ridge = option[0] * whole[0], option[1] * whole[1]
        self.ridge_ = ridge[0] / whole[0], ridge[1] / whole[1]
        pairs = canonical_pairs(coupling, ridge, k)
        self._keep(pairs, coupling, ridge, folds)
        return pairs

    def _x_scores(self, rows: Any) -> Array:
        return _curves(rows, self.x_kernel_, self.x_points_, self.x_coefficients_, self._x_offset)

    def _y_scores(self, rows: Any) -> Array:
        return _curves(rows, self.y_kernel_, self.y_points_, self.y_coefficients_, self._y_offset)

    def _positive_ridge(self) -> None:
        option = self._ridge_option()
        ridges = option.ridges or (1.0,) if isinstance(option, HeldOutRidge) else option
        if min(ridges) <= 0.0:
            raise ParameterError(
                "without a ridge, kernel CCA finds a correlation of 1 between any two sides, related or not: ridge is "
                f"a share above 0, such as 0.001; got {self.ridge!r}"
            )

    def _landmark_count(self, n: int) -> int | None:
        if self.landmarks == "auto":
            return None if n <= _EXACT else _LANDMARKS
        return None if self.landmarks is None else as_count(self.landmarks, n, name="landmarks", what="the rows")


def _with_values(gram: Gram) -> Gram:
    """An exact kernel matrix whose values are held."""
    if gram.held is not None:
        return gram
    return replace(gram, held=np.concatenate([rows for _, rows in gram.row_blocks()]))


def _curves(rows: Any, kernel: Kernel, points: Array | None, coefficients: Array, offset: Array) -> Array:
    """Scores of rows: sums of kernels at the points; with kernel values given, sums of these."""
    rows = as_rows(rows)
    base = np.empty((len(coefficients), 0)) if points is None else points
    scores = np.empty((len(rows), coefficients.shape[1]))
    step = max(1, BLOCK // len(coefficients))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        scores[part] = kernel(rows[part], base) @ coefficients - offset
    return scores
