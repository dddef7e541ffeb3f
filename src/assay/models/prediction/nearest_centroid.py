"""Nearest centroid: a row belongs to the class whose mean is nearest.

summary  mean m_c of each class, (k, d)
reading  distance of a row of X (n, d):  D_c(x) = |x - m_c|,  predicted argmin_c D_c(x)
refusal  where the least distance is nearly the second least; see models.refusal
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from assay.arrays import Array
from assay.errors import DataError
from assay.models.base import on_engine
from assay.models.refusal import _Refusing, refuse_far
from assay.summary.classes.class_counts import ClassCounts
from assay.summary.moments.grouped import GroupedMoments


class NearestCentroid(_Refusing):
    """Which class has its mean nearest to a row, and is it clearly nearer than the next?

    Args:
        refuse: refuse rows whose nearest centroid is more than this share of the distance to the second nearest, from
            0 (nearly all) to 1 (none). None: refuse none.
        refused_label: what `predict` returns for refused rows; without one it always answers, and `refused` tells.

    Attributes:
        classes_: (k,) sorted.
        centroids_: (k, d) means of the classes.
        class_count_: (k,) weight of the rows of each class.
        target_, encoding_: the column predicted and how the others became numbers, where it was fitted on a source.

    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0], [10.0, 0.0]])
    >>> model = NearestCentroid(refuse=0.8, refused_label="?").fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[2.0, 0.0], [5.1, 0.0]])
    array(['a', '?'], dtype='<U1')

    References:
        Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2009, section 18.2.
    """

    def __init__(self, *, refuse: float | None = None, refused_label: Any = None) -> None:
        self.refuse = refuse
        self.refused_label = refused_label

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, engine: Any = None) -> Self:
        """Find the means of the classes of (n, d) rows in one pass.

        Args:
            X: array, data frame or `Source`, which is not held.
            y: (n,) classes, or the name of the column of a source.
            sample_weight: (n,) weights of the rows; weight 2 counts as the row twice.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        rows, codes = self._gathered(X, y, ensure_min_samples=2)
        names = self._column_names()
        counts = ClassCounts.of(rows, codes, labels=self.classes_.tolist(), weights=sample_weight, columns=names)
        gaps = np.argwhere(counts.observed < counts.weight[:, None])
        if len(gaps):  # rows of arrays are checked before; a source tells here
            column = int(gaps[0, 1])
            raise DataError(
                f"column {column if names is None else repr(names[column])} has missing values: a centroid needs every "
                "one; fill them by assay.FillMissing"
            )
        return self._keep(counts.mean, counts.weight)

    def fit_moments(self, moments: GroupedMoments) -> Self:
        """Fit from the moments of each class, however gathered."""
        first = moments.parts[0]
        self._record_columns(first.columns, first.d)
        self.classes_ = np.asarray(moments.labels)
        return self._keep(
            np.stack([part.mean for part in moments.parts]), np.array([part.weight for part in moments.parts])
        )

    def _keep(self, means: Array, weight: Array) -> Self:
        empty = np.flatnonzero(weight == 0.0)
        if len(empty):
            raise DataError(
                f"class {self.classes_.tolist()[empty[0]]!r} has a weight of zero in all its rows: it has no mean"
            )
        self._check_refusal()
        self.centroids_ = means
        self.class_count_ = weight
        return self

    def _distances_to(self, rows: Any, first_row: int) -> Array:
        far: Array = cdist(rows, self.centroids_)
        refuse_far(far, rows, first_row, self._column_names())
        return far
