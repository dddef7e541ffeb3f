"""Subspace classifier: a row belongs to the class whose own few directions rebuild it best.

    summary  moments of each class, where rows outnumber columns; the rows themselves otherwise
    solver   B_c (d, r): top eigenvectors of sum_i (x_i - m_c)(x_i - m_c)^T, or right singular vectors of the rows
    reading  residual of a row of X (n, d):  D_c(x) = |(I - B_c B_c^T)(x - m_c)|,  predicted argmin_c D_c(x)
    refusal  where the least residual is nearly the second least; see models.refusal

with m_c the mean of the class, or 0 where classes are not centred. All residuals of a block come from one product with
the bases side by side, D_c^2 = |x - m_c|^2 - |B_c^T (x - m_c)|^2; where that loses digits, D_c is computed directly.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.data.blocks import all_rows
from assay.data.source import Source
from assay.engine.local import in_threads
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.top import top_eigen
from assay.linalg.eigen.top_svd import top_svd
from assay.linalg.one_thread import one_blas_thread
from assay.models.base import on_engine
from assay.models.refusal import _Refusing, refuse_far
from assay.summary.moments.accumulate import checked_weights, refuse_unusable
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments

_USUAL = 12
# A squared residual below this share of the squares it is the difference of has lost too many digits.
_CANCELLED = 1e-4
_FLAT = 8.0 * np.finfo(np.float64).eps


class SubspaceClassifier(_Refusing):
    """Which class's own directions rebuild a row best, and clearly better than the next?

    Args:
        n_components: directions of each class; a class of fewer independent rows has fewer. None: 12, or a quarter of
            the columns if that is less: a subspace of nearly all columns holds nearly every row.
        centred: whether directions are taken about the mean of the class; otherwise about zero, where rows that are
            multiples of each other are the same, such as images of different contrast.
        refuse: refuse rows whose least residual is more than this share of the second least, from 0 (nearly all) to
            1 (none). None: refuse none.
        refused_label: what `predict` returns for refused rows; without one it always answers, and `refused` tells.

    Attributes:
        classes_: (k,) sorted.
        components_: for each class, its (r, d) orthonormal directions, by descending share.
        singular_values_: for each class, (r,) those of its (centred) rows.
        means_: (k, d) where the subspaces pass through; zeros if not centred.
        n_components_: (k,) directions of each class.
        class_count_: (k,) weight of the rows of each class.
        route_: "moments" or "svd".
        target_, encoding_: the column predicted and how the others became numbers, where it was fitted on a source.

    >>> X = np.array([[1.0, 1.0], [2.0, 2.1], [3.0, 2.9], [1.0, -1.0], [2.0, -2.1], [3.0, -2.9]])
    >>> model = SubspaceClassifier(1, centred=False).fit(X, ["up", "up", "up", "down", "down", "down"])
    >>> model.predict([[9.0, 8.0], [0.3, -0.2]]), model.ambiguity([[5.0, 0.1]]).round(2)
    (array(['up', 'down'], dtype='<U4'), array([0.96]))

    References:
        Oja, Subspace Methods of Pattern Recognition, 1983; Elden, Matrix Methods in Data Mining and Pattern
        Recognition, 2007, chapter 10.
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        centred: bool = True,
        refuse: float | None = None,
        refused_label: Any = None,
    ) -> None:
        self.n_components = n_components
        self.centred = centred
        self.refuse = refuse
        self.refused_label = refused_label

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, engine: Any = None) -> Self:
        """Find the directions of each class of (n, d) rows.

        Args:
            X: array, data frame or `Source`, which is not held if there are as many rows in a class as columns.
            y: (n,) classes, or the name of the column of a source.
            sample_weight: (n,) weights of the rows; weight 2 counts as the row twice.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        rows, codes = self._gathered(X, y, ensure_min_samples=2)
        n, d, k = len(codes), self.n_features_in_, len(self.classes_)
        weights = None if sample_weight is None else checked_weights(sample_weight, n)
        if d * k <= n:  # the summaries are no larger than the rows
            return self._fit_parts(GroupedMoments.of(rows, codes, weights=weights).parts)
        if isinstance(rows, Source):
            rows = all_rows(rows)
        refuse_unusable(rows, 0, self._column_names())
        w = np.ones(n) if weights is None else weights
        with one_blas_thread():  # a class at a time on each core
            found = in_threads(lambda c: self._of_rows(rows[codes == c], w[codes == c]), range(k))
        return self._keep(found, np.bincount(codes, w, k).astype(np.float64), "svd")

    def fit_moments(self, moments: GroupedMoments) -> Self:
        """Fit from the moments of each class, however gathered."""
        self._record_columns(moments.parts[0].columns, moments.parts[0].d)
        self.classes_ = np.asarray(moments.labels)
        return self._fit_parts(moments.parts)

    def _fit_parts(self, parts: tuple[Moments, ...]) -> Self:
        with one_blas_thread():
            found = in_threads(self._of_moments, parts)
        return self._keep(found, np.array([part.weight for part in parts]), "moments")

    def _of_moments(self, moments: Moments) -> tuple[Array, Array, Array]:
        """Where the subspace of a class passes through, its directions, and the singular values of its rows."""
        mean, square = moments.mean, moments.scatter
        if not self.centred:
            square = square + moments.weight * np.multiply.outer(mean, mean)
            mean = np.zeros_like(mean)
        r = self._asked(len(mean))
        if r == 0 or not square.any():
            return mean, np.empty((0, len(mean))), np.empty(0)
        found = top_eigen(square, r)
        believed = found.values > _FLAT * len(mean) * found.values[0]
        values = np.sqrt(np.where(believed, found.values, 0.0))
        kept = values > _rounding(moments.mean, moments.weight, len(mean))
        return mean, found.vectors[:, kept].T, values[kept]

    def _of_rows(self, rows: NDArray[Any], weights: Array) -> tuple[Array, Array, Array]:
        d = rows.shape[1]
        total = float(weights.sum())
        near = rows[0].astype(np.float64)
        middle = near + weights @ (rows - near) / total if total > 0.0 else near
        mean = middle if self.centred else np.zeros(d)
        scaled = (rows - mean) * np.sqrt(weights)[:, None]
        r = min(self._asked(d), len(rows))
        if r == 0 or not scaled.any():
            return mean, np.empty((0, d)), np.empty(0)
        found = top_svd(scaled, r)
        side = max(scaled.shape)
        kept = found.values > _rounding(middle, total, side) + _FLAT * side * found.values[0]
        return mean, found.right[:, kept].T, found.values[kept]

    def _fit_told(self) -> tuple[list[str], dict[str, float]]:
        lines, measures = super()._fit_told()
        each = ", ".join(f"{c} {k}" for c, k in zip(self.classes_.tolist()[:6], self.n_components_, strict=False))
        lines.append(f"directions of the classes: {each}{', ...' if len(self.classes_) > 6 else ''}")
        return lines, {**measures, "directions": float(np.sum(self.n_components_))}

    def _keep(self, found: list[tuple[Array, Array, Array]], weight: Array, route: str) -> Self:
        empty = np.flatnonzero(weight == 0.0)
        if len(empty):
            raise DataError(
                f"class {self.classes_.tolist()[empty[0]]!r} has a weight of zero in all its rows: it spans nothing"
            )
        self._check_refusal()
        self.means_ = np.stack([mean for mean, _, _ in found])
        self.components_ = tuple(np.ascontiguousarray(basis) for _, basis, _ in found)
        self.singular_values_ = tuple(values for _, _, values in found)
        self.n_components_ = np.array([len(basis) for basis in self.components_])
        self.class_count_ = weight
        self.route_ = route
        return self

    def _asked(self, d: int) -> int:
        """How many directions a class may have."""
        least = 0 if self.centred else 1
        if self.n_components is None:
            return max(min(_USUAL, d // 4), least)
        r = self.n_components
        if not isinstance(r, (int, np.integer)) or isinstance(r, bool) or not least <= r < d:
            raise ParameterError(
                f"n_components is a whole number from {least} to {d - 1}, fewer than there are columns: a subspace of "
                f"all {d} holds every row; got {r!r} for {d} feature(s)"
            )
        return int(r)

    def _distances_to(self, rows: Any, first_row: int) -> Array:
        origin = self.means_.mean(axis=0)  # near the data, so that squares do not drown what they differ by
        means = self.means_ - origin
        bases = np.concatenate(self.components_)
        with np.errstate(over="ignore", invalid="ignore"):  # named below
            x = rows - origin
            length = np.einsum("ij,ij->i", x, x)
            size = length[:, None] + np.einsum("ij,ij->i", means, means)
            squares = size - 2.0 * x @ means.T
            along = x @ bases.T
            stops = np.cumsum(self.n_components_)
            for c, (basis, stop) in enumerate(zip(self.components_, stops, strict=True)):
                own = along[:, stop - len(basis) : stop] - basis @ means[c]
                squares[:, c] -= np.einsum("ij,ij->i", own, own)
                lost = np.flatnonzero(squares[:, c] < _CANCELLED * size[:, c])
                if len(lost):
                    left = x[lost] - means[c]
                    left -= (left @ basis.T) @ basis
                    squares[lost, c] = np.einsum("ij,ij->i", left, left)
            far: Array = np.sqrt(squares)
        refuse_far(far, rows, first_row, self._column_names())
        return far


def _rounding(mean: Array, weight: float, side: int) -> float:
    """Singular values that rounding alone leaves of rows near a mean."""
    return float(_FLAT * side * np.linalg.norm(mean) * np.sqrt(weight))
