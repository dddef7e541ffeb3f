"""What axes say of rows and columns beyond coordinates: how well they show each, who made them, who took no part.

With rows z = (x - mu) / scale, axes v_j (d,), coordinates f_ij = z_i . v_j and lambda_j = sum_i f_ij^2 / m:

    rows      cos2_ij = f_ij^2 / |z_i|^2                     contribution_ij = f_ij^2 / (m lambda_j), sum to 1 over rows
    columns   r_lj = sqrt(lambda_j) v_lj / s_l, cos2 = r^2   contribution_lj = v_lj^2, sum to 1 over columns
    others    a number: its correlation with f_j.  a level: the mean of f_j over its rows

These are the meanings of FactoMineR, as shares where it gives percent.

Reference: Husson, Le and Pages, Exploratory Multivariate Analysis by Example Using R, 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names, check_consistent_length, check_is_fitted

from assay.arrays import Array
from assay.data.blocks import block_slices
from assay.data.columns.typed import told_levels, typed_columns
from assay.errors import DataError
from assay.models.base import Estimator


@dataclass(frozen=True, slots=True, eq=False)
class Supplementary:
    """Columns that took no part in finding the axes, seen along them.

    Attributes:
        names: of m numbers, and of levels as "column = level".
        coordinates: (m, k) of a number its correlation with each axis; of a level the middle of its rows, in `MCA`
            divided by the root of the axis's inertia, as its own levels are.
        cos2: (m, k) share of it that lies along the axis; of levels in `PCA` and `MixedPCA`, of their middle.
        correlations: (m, k) with the axes, of a level that of its indicator.
        z: (m, k) correlation * sqrt(n - 1): about standard normal where the column is independent of the axis. Fair for
            columns that took no part, and only for them.
    """

    names: tuple[str, ...]
    coordinates: Array
    cos2: Array
    correlations: Array
    z: Array


class _Axes(Estimator):
    """Base of every model with orthonormal axes of centred and scaled columns."""

    components_: Array
    explained_variance_: Array
    column_variance_: Array

    @property
    def loadings_(self) -> Array:
        """(d, k) correlation of each column with each component; zero for constant columns."""
        check_is_fitted(self)
        spread = np.sqrt(self.column_variance_)
        moved = self.components_.T * np.sqrt(self.explained_variance_)
        return np.divide(moved, spread[:, None], out=np.zeros_like(moved), where=spread[:, None] > 0.0)

    @property
    def column_cos2_(self) -> Array:
        """(d, k) share of each column's variance along each axis, the squared correlation."""
        return self.loadings_**2

    @property
    def column_contributions_(self) -> Array:
        """(d, k) share of each axis that comes from each column; sums to 1 over columns."""
        check_is_fitted(self)
        return self.components_.T**2

    def row_cos2(self, X: Any) -> Array:
        """(n, k) how much of each row's squared distance from the centre lies along each axis: near 1, well shown.

        Args:
            X: rows, fitted or not; a row at the centre has 0.
        """
        F, squares, _ = self._along(X)
        return np.divide(F**2, squares[:, None], out=np.zeros_like(F), where=squares[:, None] > 0.0)

    def row_contributions(self, X: Any) -> Array:
        """(n, k) share of each axis that comes from each row; of the rows fitted they sum to 1.

        Args:
            X: rows; of others than those fitted, what each would have been beside them.
        """
        F, _, _ = self._along(X)
        inertia = self.explained_variance_ * self._freedom
        return np.divide(F**2, inertia, out=np.zeros_like(F), where=inertia > 0.0)

    def supplementary(self, X: Any, others: Any) -> Supplementary:
        """See columns that took no part along the axes: numbers by correlation, levels by the middle of their rows.

        Rows that took no part need no word of their own: `transform` gives their coordinates.

        Args:
            X: (n, d) rows, as for `transform`.
            others: (n,) or (n, m) more columns of the same rows, numbers or categories; rows where one is missing are
                left out for this column.
        """
        F, _, Z = self._along(X, middle=True)
        names = [others.name] if getattr(others, "name", None) is not None else _get_feature_names(others)
        columns = typed_columns(others)
        check_consistent_length(F, columns[0])
        found: list[tuple[str, Array, Array, Array, int]] = []
        for j, column in enumerate(columns):
            name = f"other {j + 1}" if names is None else str(names[j])
            known = ~column.missing
            n = int(np.count_nonzero(known))
            if n < 3:
                raise DataError(f"column {name!r} has {n} values; at least 3 are needed to see it along the axes")
            if column.values is not None:
                r = _correlations(column.values[known], F[known])
                found.append((name, r, r**2, r, n))
                continue
            for code, level in enumerate(told_levels(column.levels.tolist())):
                inside = column.codes == code
                r = _correlations(inside[known].astype(np.float64), F[known])
                point, cos2 = self._level_point(F[inside].mean(axis=0), Z[inside].mean(axis=0), r)
                found.append((f"{name} = {level}", point, cos2, r, n))
        told, points, cos2s, rs, ns = zip(*found, strict=True)
        correlations = np.array(rs)
        z = correlations * np.sqrt(np.array(ns) - 1.0)[:, None]
        return Supplementary(told, np.array(points), np.array(cos2s), correlations, z)

    @property
    def _freedom(self) -> float:
        """What sums of squared coordinates are divided by to give the variances of the axes."""
        raise NotImplementedError

    def _level_point(self, middle: Array, full: Array, r: Array) -> tuple[Array, Array]:
        """Where a level lies, (k,), and how much of it the axes show; its middle along them and in all columns."""
        squares = float(full @ full)
        return middle, middle**2 / squares if squares > 0.0 else np.zeros_like(middle)

    def _numbers_of(self, X: Any) -> Any:
        """Rows as (n, d) numbers, dense or sparse."""
        return self._checked(X, reset=False, accept_sparse="csr")

    def _centred(self, X: Any) -> Array:
        raise NotImplementedError

    def _along(self, X: Any, *, middle: bool = False) -> tuple[Array, Array, Array]:
        """Coordinates (n, k), squared distances from the centre (n,), and where asked for the centred rows (n, d)."""
        check_is_fitted(self)
        rows = self._numbers_of(X)
        n, d = rows.shape
        F, squares = np.empty((n, len(self.components_))), np.empty(n)
        kept = np.empty((n, d) if middle else (0, d))
        for part in block_slices(n, d):
            centred = self._centred(rows[part])
            F[part] = centred @ self.components_.T
            squares[part] = np.einsum("ij,ij->i", centred, centred)
            if middle:
                kept[part] = centred
        return F, squares, kept


def _correlations(x: Array, F: Array) -> Array:
    """(k,) correlation of one column with each of (n, k); 0 where one of them is constant."""
    x, F = x - x.mean(), F - F.mean(axis=0)
    spread = np.linalg.norm(x) * np.linalg.norm(F, axis=0)
    across: Array = x @ F
    shares: Array = np.divide(across, spread, out=np.zeros_like(across), where=spread > 0.0)
    return shares
