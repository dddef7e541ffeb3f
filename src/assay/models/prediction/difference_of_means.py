"""Difference of means: the direction from the mean of one class to that of another, cut in the middle.

summary   mean m_k of each class, (g, d), m the mean of the rows
rule      |x - m_k|^2 is least: the score (m_k - m)^T (x - m) - |m_k - m|^2 / 2 is largest
two       direction m_2 - m_1, threshold at the midpoint (m_1 + m_2) / 2
reading   coordinates (X - m) Q, (n, k): Q (d, k) orthonormal, along the differences of means, k at most g - 1
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import DataError
from assay.linalg.eigen.spectral import svd
from assay.models.base import on_engine
from assay.models.discriminant import _Directions
from assay.summary.classes.group_frame import column_counts
from assay.summary.moments.accumulate import checked_weights
from assay.summary.moments.grouped import GroupedMoments

_SAME = 1e-12  # differences of means at most this share of the largest are zero but for rounding


class DifferenceOfMeans(_Directions):
    """Tell classes apart by the nearest mean, along the differences of means.

    The plainest rule there is: it asks neither how rows vary within classes nor how many rows a class has, so it needs
    no covariance, works with any number of columns, and gives neither priors a place nor probabilities. It is the best
    rule only where columns vary alike and independently within classes; `Fisher` takes their covariance into account.
    Columns of large scale decide: standardise where units differ.

    Attributes:
        classes_: (g,) the classes, sorted.
        means_: (g, d) their means.
        xbar_: (d,) mean of all rows.
        scalings_: (d, k) orthonormal directions that span the differences of means, by how far means lie apart along
            them; the entry of largest modulus of each is positive.
        eigenvalues_: (k,) scatter of the means along each, weighted by the rows of the classes.
        coef_: (1, d) for two classes, the difference of their means; (g, d) for more.
        intercept_: (1,) or (g,).
        weights_: (g,) rows of each class, or the sums of their weights.
        encoding_: how the columns of a source became numbers, where it was fitted on one.
        target_: the column of a source that holds the classes.

    >>> rule = DifferenceOfMeans().fit([[0, 0], [2, 0], [6, 8], [8, 8]], ["a", "a", "b", "b"])
    >>> rule.coef_, rule.intercept_
    (array([[6., 8.]]), array([-56.]))
    >>> rule.predict([[4, 3], [4, 5]])
    array(['a', 'b'], dtype='<U1')
    """

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, engine: Any = None) -> Self:
        """Learn the means of the classes of (n, d) rows in one pass over them.

        Args:
            X: array, data frame, sparse matrix or `Source`; a source is read by blocks and not held.
            y: (n,) class of each row; for a source the name of its target column, or None for the one in that role.
            sample_weight: (n,) non-negative weight of each row; weight 2 counts as the row twice.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        data, codes = self._gathered(X, y, accept_sparse="csr", ensure_min_samples=2, ensure_all_finite=False)
        weights = None if sample_weight is None else checked_weights(sample_weight, len(codes))
        self._refuse_weightless(np.bincount(codes, weights, len(self.classes_)))
        counts = column_counts(data, codes, weights, self._column_names())
        return self._fit_means(counts.weight, counts.mean)

    def fit_moments(self, moments: GroupedMoments) -> Self:
        """Fit from the moments of each class, however gathered: an array, a file, a cluster, three hospitals."""
        if len(moments) < 2:
            raise DataError(f"DifferenceOfMeans tells at least 2 classes apart; the summary has {len(moments)}")
        self.classes_ = np.asarray(moments.labels)
        self._record_columns(moments.parts[0].columns, moments.parts[0].d)
        weights = np.array([part.weight for part in moments.parts])
        self._refuse_weightless(weights)
        return self._fit_means(weights, np.stack([part.mean for part in moments.parts]))

    def _fit_means(self, weights: Array, means: Array) -> Self:
        self.weights_ = weights
        self.means_ = means
        self.xbar_ = weights @ means / weights.sum()
        gaps = means - self.xbar_
        found = svd(np.sqrt(weights)[:, None] * gaps)
        kept = found.values > _SAME * max(float(found.values[0]), float(np.abs(means).max()))
        if not kept.any():
            raise DataError("all classes have the same mean: there is no difference to tell them apart by")
        self.scalings_ = np.ascontiguousarray(found.right[:, kept])
        self.eigenvalues_ = found.values[kept] ** 2
        self._set_scores(gaps, -0.5 * np.einsum("ij,ij->i", gaps, gaps))
        return self
