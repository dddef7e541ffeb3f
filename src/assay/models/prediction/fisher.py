"""Fisher's discriminant: along which directions do classes differ most, for how much rows differ within them?

summary   within W = sum_k S_k, (d, d), between B = n sum_k p_k (m_k - m)(m_k - m)^T, p_k the priors, m = sum p_k m_k
solver    B v = lambda W v, by the singular values of (g, d) whitened means; at most g - 1 are not zero
reading   variates (X - m) V, (n, k), of unit variance within classes: V^T S V = I,  S = W / n
rule      log p_k - (x - m_k)^T S^-1 (x - m_k) / 2 is largest: linear in x, normal classes of equal covariance
wide      d > n: the same in the axes that the rows span, summary.group_frame
sparse    S^-1 (m_k - m) by conjugate gradients, summary.group_products: V and the rule need no more of S
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from assay.arrays import Array
from assay.errors import DataError, NotConverged, ParameterError, SingularError
from assay.linalg.eigen.spectral import column_signs, eigen_symmetric
from assay.linalg.normal.shrinkage import ledoit_wolf_of
from assay.models.discriminant import SINGULAR, Priors, Shrinkage, Whitener, _Directions, _Discriminant
from assay.summary.classes.group_frame import GroupFrame
from assay.summary.classes.group_products import GroupProducts, takes_products, too_large


class Fisher(_Discriminant, _Directions):
    """Tell classes apart by the directions in which they differ most.

    Args:
        n_components: how many canonical variates `transform` gives; None: as many as there are, the smaller of
            classes - 1 and columns. Predictions use all.
        priors: probability of each class before its row is seen. None: their shares of the rows. "equal", or (g,)
            positive shares in the order of `classes_`.
        shrinkage: how far the covariance within classes is drawn towards a multiple of the identity, in units of each
            column's standard deviation. None: not at all, which needs more rows than columns and classes. "auto": as
            far as Ledoit and Wolf's formula says. A share from 0 to 1.

    Attributes:
        classes_: (g,) the classes, sorted.
        priors_: (g,) their probabilities.
        means_: (g, d) their means.
        xbar_: (d,) mean of the means, weighted by the priors.
        eigenvalues_: (k,) lambda, between over within scatter along each variate, descending.
        explained_variance_ratio_: (k,) shares of the sum of all eigenvalues.
        singular_values_: (k,) ratio of the standard deviations between and within classes, with g - 1 and n - g
            degrees of freedom: R's `svd`.
        scalings_: (d, k) V; the entry of largest modulus of each column, in units of the columns, is positive.
        coef_: (1, d) for two classes, (g, d) for more: weights of the linear scores.
        intercept_: (1,) or (g,).
        shrinkage_: share of the identity taken in, 0 to 1.
        rank_: number of directions in which rows vary within classes, after shrinkage.
        n_samples_, weight_: rows fitted, and the sum of their weights.
        encoding_: how the columns of a source became numbers, where it was fitted on one.
        summary_: moments of all rows so far, after `partial_fit`.
        target_: the column of a source that holds the classes.
        route_: "moments", or "gram" where there are more columns than rows; "products" for large sparse rows with
            shrinkage, which are never made dense.

    >>> X = [[1, 2], [2, 3], [3, 3], [4, 5], [5, 5], [4, 2], [5, 0], [5, 2], [3, 2], [5, 3], [6, 3]]
    >>> found = Fisher().fit(X, ["a"] * 5 + ["b"] * 6)
    >>> found.eigenvalues_.round(7)
    array([2.783885])
    >>> (found.scalings_ / np.linalg.norm(found.scalings_)).round(7).ravel()
    array([-0.6773521,  0.735659 ])
    >>> found.predict([[2, 2], [4, 1]])
    array(['a', 'b'], dtype='<U1')

    References:
        Fisher, Annals of Eugenics 7, 1936; Rao, Journal of the Royal Statistical Society B 10, 1948; shrinkage: Ledoit
        & Wolf, Journal of Multivariate Analysis 88, 2004.
    """

    def __init__(self, n_components: int | None = None, *, priors: Priors = None, shrinkage: Shrinkage = None) -> None:
        self.n_components = n_components
        self.priors = priors
        self.shrinkage = shrinkage

    def _fit_told(self) -> tuple[list[str], dict[str, float]]:
        lines, measures = super()._fit_told()
        shares = ", ".join(f"{100 * share:.1f}%" for share in self.explained_variance_ratio_[:6].tolist())
        lines.append(f"share of each direction in what lies between classes: {shares}")
        lines.append(f"shrinkage {float(np.max(self.shrinkage_)):.4g}, rank {self.rank_}")
        return lines, {**measures, "shrinkage": float(np.max(self.shrinkage_)), "rank": float(self.rank_)}

    def _fit_frame(self, frame: GroupFrame, fourth: Array | None) -> Self:
        weights = frame.weights
        n, g = float(weights.sum()), len(weights)
        self.priors_ = self._shares(weights)
        self.means_ = frame.means
        self.xbar_ = self.priors_ @ self.means_
        self.n_samples_ = sum(part.count for part in frame.parts)
        self.weight_ = n
        self.route_ = "moments" if frame.axes is None else "gram"
        left = n - g
        if not frame.d:
            raise DataError("every column is constant: there is nothing to tell classes apart by")
        if left <= 0.0:
            raise DataError(
                f"{n:g} rows in {g} classes leave no spread within classes; at least {g + 1} rows are needed"
            )
        M = frame.centres - self.priors_ @ frame.centres
        S = frame.within() / n
        made = self._whitener(frame, S, n, left, None if fourth is None else float(fourth.sum()))
        self.shrinkage_ = made.shrinkage
        A = self._whitening(frame, S, made, M)
        self.rank_ = A.shape[1] if made.ridge == 0.0 else frame.d
        self._read(frame, A, M @ A)
        return self

    def _by_products(self, X: Any) -> bool:
        return too_large(X) or (self.shrinkage is not None and takes_products(X))

    def _fit_products(self, X: Any, codes: NDArray[np.intp]) -> Self:
        """The same from products with sparse rows: V and the scores need S^-1 (m_k - m), and nothing else of S."""
        found = GroupProducts.of(X, codes, self._column_names())
        n, g = float(found.n), len(found.means)
        self.priors_, self.means_ = self._shares(found.weights), found.means
        self.xbar_ = self.priors_ @ self.means_
        self.n_samples_, self.weight_, self.route_, self.rank_ = found.n, n, "products", found.d
        if not found.d:
            raise DataError("every column is constant: there is nothing to tell classes apart by")
        if n <= g:
            raise DataError(
                f"{n:g} rows in {g} classes leave no spread within classes; at least {g + 1} rows are needed"
            )
        trace, share = float(found.squares.sum()) / n, self.shrinkage
        if isinstance(share, str):
            square, fourth = found.second_and_fourth()
            share = ledoit_wolf_of(trace, square, found.d, n, fourth)
        self.shrinkage_ = 0.0 if share is None else float(share)
        ridge = self.shrinkage_ * trace / found.d
        if ridge <= 0.0 and not too_large(X):
            return self._fit_frames(X, codes, None)
        if ridge <= 0.0:
            raise SingularError(
                f"X is sparse, {found.n} x {len(found.scale)}, and without shrinkage its covariance would have to be "
                "made dense: give shrinkage='auto' (or a share above 0), or fewer columns by LSI"
            )
        M = found.gaps - self.priors_ @ found.gaps
        T, residual = found.solve(M, 1.0 - self.shrinkage_, ridge)
        if residual > 1e-8:
            warnings.warn(
                f"the covariance was solved only to {residual:.1e}: give more shrinkage than {self.shrinkage_:g}",
                NotConverged,
                stacklevel=4,
            )
        return self._read_products(found, T, 0.5 * (M @ T + (M @ T).T))

    def _read_products(self, found: GroupProducts, T: Array, K: Array) -> Self:
        """Variates and scores from T = S^-1 M^T (d, g) and K = M S^-1 M^T (g, g)."""
        g = len(K)
        root = np.sqrt(self.priors_)
        spectrum = eigen_symmetric(root[:, None] * K * root)
        k = min(g - 1, found.d)
        self._count(k)
        values = np.maximum(spectrum.values[:k], 0.0)
        self.eigenvalues_, size = values, np.sqrt(values)
        total = float(values.sum())
        self.explained_variance_ratio_ = values / total if total > 0.0 else np.zeros(k)
        self.singular_values_ = size * np.sqrt((self.weight_ - g) / (g - 1.0))
        unit = np.divide(1.0, found.scale, out=np.zeros_like(found.scale), where=found.scale > 0.0)[:, None]
        inner = T @ (root[:, None] * spectrum.vectors[:, :k])
        inner = np.divide(inner, size, out=np.zeros_like(inner), where=size > 0.0)
        self.scalings_ = np.ascontiguousarray(inner * column_signs(inner) * unit)
        self._set_scores(np.ascontiguousarray((T * unit).T), np.log(self.priors_) - 0.5 * np.diag(K))
        return self

    def _whitening(self, frame: GroupFrame, S: Array, made: Whitener, M: Array) -> Array:
        """(r, k) A with A^T S A = I, where S is singular on the axes that it has."""
        if made.dependent is None:
            return np.ascontiguousarray(dtrtri(made.factor, lower=1)[0].T)
        axes = eigen_symmetric(S)
        kept = axes.values > SINGULAR * axes.values[0]
        # relations that rows obey within classes and between them say nothing, and are left out
        outside = M @ axes.vectors[:, ~kept]
        if np.abs(outside).max() > np.sqrt(SINGULAR) * max(np.abs(M).max(), 1.0):
            self._refuse(frame, int(kept.sum()))
        return np.asarray(axes.vectors[:, kept] / np.sqrt(axes.values[kept]))

    def _refuse(self, frame: GroupFrame, rank: int) -> None:
        d, g = frame.d, len(frame.parts)
        if self.n_samples_ < d + g:
            raise SingularError(
                f"the covariance within {g} classes of {d} columns needs at least {d + g} rows; there are "
                f"{self.n_samples_}: give shrinkage='auto' (or a share of 0 to 1), or leave columns out"
            )
        raise SingularError(
            f"rows vary within classes in {rank} of {d} directions, and the classes differ in others, where any "
            "difference is infinitely large: leave out columns that are constant within classes or follow from "
            "others, or give shrinkage='auto'"
        )

    def _read(self, frame: GroupFrame, A: Array, C: Array) -> None:
        """Variates and scores from the whitened means C (g, k), about their mean."""
        g = len(C)
        _, size, right = np.linalg.svd(np.sqrt(self.priors_)[:, None] * C, full_matrices=False)
        k = min(g - 1, len(size))
        self._count(k)
        size, inner = size[:k], right[:k] @ A.T
        self.eigenvalues_ = size**2
        total = float(self.eigenvalues_.sum())
        self.explained_variance_ratio_ = self.eigenvalues_ / total if total > 0.0 else np.zeros(k)
        self.singular_values_ = size * np.sqrt((self.weight_ - g) / (g - 1.0))
        seen = inner if frame.axes is None else inner @ frame.axes.T  # in units of the columns
        self.scalings_ = np.ascontiguousarray(frame.columns(inner * column_signs(seen.T)[:, None]).T)
        self._set_scores(frame.columns(C @ A.T), np.log(self.priors_) - 0.5 * np.einsum("ij,ij->i", C, C))

    def _count(self, k: int) -> None:
        asked = self.n_components
        whole = isinstance(asked, (int, np.integer)) and not isinstance(asked, bool)
        if asked is not None and not (whole and 1 <= asked <= k):
            raise ParameterError(
                f"n_components is None or from 1 to {k}, the smaller of classes - 1 and directions; got {asked!r}"
            )

    @property
    def _n_features_out(self) -> int:
        return self.n_components or self.scalings_.shape[1]
