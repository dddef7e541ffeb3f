"""What `MCA` and `MixedPCA` share: axes of numbers and levels from moments, and what chance does to them.

    encoded   a number x;  a level k of a category: z_k = 1 in its rows, 0 in others, with share p_k
    scaled    (x - mean) / s, s^2 = sum (x - mean)^2 / n;   (z_k - p_k) / sqrt(u p_k), u one number for the model
    summary   C = D^-1 (scatter / n) D^-1, (d, d), D the scales             solver  C v_j = lambda_j v_j, descending
    within    sum_k sqrt(p_k) z_k = sqrt(p_k) is no direction: a category of L levels has L - 1, with u C = I among them

So a category weighs as much as it has free levels, numbers as much as a category of two levels, rare levels lie far out
(at a squared distance of 1 / p_k - 1), and what is left to find is what columns share with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.linalg.canonical.canonical import principal_side
from assay.linalg.eigen.principal import dense
from assay.linalg.eigen.spectral import eigen_symmetric
from assay.models.axes import _Axes
from assay.models.axis_chance import AxisChance, AxisMargin, axis_chance
from assay.models.base import on_engine
from assay.models.components.mixed.mixed_columns import _MixedColumns
from assay.models.transformer import Transformer
from assay.summary.moments.moments import Moments

_WHOLE = 1e-6  # what rounding and weights may leave of shares that sum to one


class _MixedAxes(ClassNamePrefixFeaturesOutMixin, Transformer, _MixedColumns, _Axes):
    """Base of every model whose columns are numbers and indicators of levels."""

    n_components: int | float | str | None

    @on_engine
    def fit(self, X: Any, y: None = None, *, engine: Any = None) -> Self:
        """Find the axes of (n, d) rows.

        Args:
            X: array, data frame or `Source`, without missing values.
            y: not used.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        if not 0.0 <= self.min_share < 1.0:
            raise ParameterError(f"min_share is a share from 0 to below 1; got {self.min_share!r}")
        if isinstance(X, Source):
            encoded = self._source_as_numbers(X)
            self._record_columns(encoded.numeric_columns, len(encoded.numeric_columns))
            return self._settle(Moments.of(encoded), None)
        if hasattr(self, "encoding_"):  # of an earlier fit
            del self.encoding_
        rows = self._encoded(self._typed(X, reset=True), reset=True)
        return self._settle(Moments.of(rows, columns=tuple(self.column_names_)), rows)

    def fit_moments(self, moments: Moments, variables: Sequence[Any]) -> Self:
        """Fit from a summary of numbers and indicators, however gathered: an array, a file, a cluster, three hospitals.

        Args:
            moments: of all columns, one 0/1 column for each level.
            variables: (d,) what each column belongs to, such as ["sex", "sex", "age"]: several columns of one variable
                are the levels of a category, one alone is a number.
        """
        labels = list(variables)
        if len(labels) != moments.d:
            raise ParameterError(f"variables has one label for each of the {moments.d} columns; got {len(labels)}")
        known = list(dict.fromkeys(labels))
        groups = np.array([known.index(label) for label in labels], dtype=np.intp)
        sizes = np.bincount(groups)
        names = moments.columns or tuple(f"{label} ({i})" for i, label in enumerate(labels))
        levels = [np.array([names[i] for i in np.flatnonzero(groups == g)], dtype=object) for g in range(len(known))]
        self._describe(
            [str(name) for name in known],
            [None if size == 1 and not self._only_levels else level for size, level in zip(sizes, levels, strict=True)],
            groups,
            list(names),
        )
        self._record_columns(moments.columns, moments.d)
        self._raw = False
        return self._settle(moments, None)

    def transform(self, X: Any) -> Array:
        """Coordinates of rows, (n, k); rows that took no part are supplementary ones.

        A level that was not met on fit says nothing: its column counts as if it had the shares of all rows, so that the
        row lies where its other columns put it. Where rare levels were pooled, it counts as one of them.
        """
        return self._along(X)[0]

    def chance(self, X: Any = None, *, level: float = 0.05) -> AxisChance:
        """Which axes exceed what independent columns give, tested one after the other.

        Levels of one category depend on each other by making, so laws of random matrices do not hold for them. With
        rows each column of the user is permuted as a whole, which for the first axis is exact, and the axes before are
        taken out. Without rows the first axis is judged in the same way where levels are rare, by their counts; else
        chance is drawn from normal columns made uncorrelated within each category: for two categories the law of their
        chi-square. Both assume rows that are independent.

        Args:
            X: the rows that were fitted, where they are at hand.
            level: level of each step: the chance that independent columns give any axis.
        """
        check_is_fitted(self)
        return self._chance(None if X is None else self._numbers_of(X), level)

    @property
    def variable_cos2_(self) -> Array:
        """(v, k) squared correlation of each column of the user with each axis.

        Of a category the correlation ratio, the share of the axis's variance that lies between its levels.
        """
        check_is_fitted(self)
        return self.variable_contributions_ * self.explained_variance_ * self._unit

    @property
    def variable_contributions_(self) -> Array:
        """(v, k) share of each axis that comes from each column of the user; sums to 1."""
        parts = self.column_contributions_
        return np.array([parts[self.groups_ == g].sum(axis=0) for g in range(len(self.variables_))])

    def _settle(self, moments: Moments, rows: Any) -> Self:
        """Scales, axes and what is said of them."""
        level = np.array([self.levels_[g] is not None for g in self.groups_])
        mean, variance = moments.mean, np.diag(moments.scatter) / moments.weight
        self._refuse_shares(mean, level)
        scale = np.sqrt(np.where(level, mean * self._unit, variance))
        self.scale_ = np.where(scale > 0.0, scale, 1.0)
        self.mean_ = mean
        self.n_samples_, self.weight_ = moments.count, moments.weight
        C = moments.scatter / moments.weight / self.scale_[:, None] / self.scale_
        self.column_variance_ = np.diag(C).copy()
        self.total_variance_ = float(self.column_variance_.sum())
        self._squares = float(np.sum(C**2))
        T, self._between_groups = self._free_directions(C)
        self._between = T.T @ C @ T * self._unit
        limit = min(T.shape[1], moments.count - 1)
        if limit < 1:
            raise DataError("every column is constant: there are no axes")
        spectrum = eigen_symmetric(C)
        self.eigenvalues_ = np.maximum(spectrum.values[:limit], 0.0)
        self.components_ = np.ascontiguousarray(spectrum.vectors[:, :limit].T)
        k = self._count(rows, limit)
        self.n_components_ = k
        self.components_ = self.components_[:k].copy()
        self.explained_variance_ = self.eigenvalues_[:k].copy()
        self.explained_variance_ratio_ = self.explained_variance_ / self.total_variance_
        return self

    def _refuse_shares(self, mean: Array, level: NDArray[np.bool_]) -> None:
        for g in np.unique(self.groups_[level]):
            total = float(mean[self.groups_ == g].sum())
            if abs(total - 1.0) > _WHOLE:
                raise DataError(
                    f"the indicators of {self.variables_[g]!r} sum to {total:.4g} in the mean, not to 1: every row has "
                    "one level; give a column to those that have none"
                )

    def _count(self, rows: Any, limit: int) -> int:
        asked = self.n_components
        if asked is None:
            return limit
        if isinstance(asked, str) and asked == "real":
            return self._chance(rows, 0.05).n_real
        if isinstance(asked, float) and 0.0 < asked < 1.0:
            share = np.cumsum(self.eigenvalues_) / self.total_variance_
            return min(int(np.searchsorted(share, asked - 1e-12)) + 1, limit)
        if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool) and 0 < asked <= limit:
            return int(asked)
        raise ParameterError(
            f"n_components is None, 'real', a share between 0 and 1, or an integer from 1 to {limit} (levels less "
            f"columns, numbers, and rows less one); got {asked!r}"
        )

    def _chance(self, rows: Any, level: float) -> AxisChance:
        whitened = None
        if rows is not None:
            centred = self._centred(rows)
            T, _ = self._free_directions(centred.T @ centred / len(centred))
            whitened = centred @ T * np.sqrt(self._unit)
        found = axis_chance(
            self._between,
            self._between_groups,
            self.n_samples_,
            rows=whitened,
            margins=self._margins(),
            seed=self._seed(),
            level=level,
        )
        return replace(found, upper=found.upper / self._unit)

    def _margins(self) -> list[AxisMargin]:
        """Categories by the counts of their levels; none of rows with weights, which have no counts."""
        if self.weight_ != self.n_samples_:
            return []
        found = []
        for g, levels in enumerate(self.levels_):
            at = np.flatnonzero(self._between_groups == g)
            if levels is not None and len(at):
                p = self.mean_[(self.groups_ == g) & (self.mean_ > 0.0)]
                counts = np.rint(p * self.n_samples_).astype(np.intp)
                found.append(AxisMargin(counts, (np.eye(len(p)) - p) / np.sqrt(p) @ _free_levels(p), at))
        return found

    def _free_directions(self, C: Array) -> tuple[Array, NDArray[np.intp]]:
        """(d, r) directions of the scaled columns, uncorrelated within each column of the user, and that column.

        For levels they follow from the shares alone; several numbers made from one column, such as day and month of a
        date, are made uncorrelated.
        """
        parts, groups = [], []
        for g, levels in enumerate(self.levels_):
            inside = np.flatnonzero(self.groups_ == g)
            if levels is None:
                side, _ = principal_side(C[np.ix_(inside, inside)])
                basis = side.vectors / np.sqrt(side.values)
            else:
                there = np.flatnonzero(self.mean_[inside] > 0.0)
                basis = np.zeros((len(inside), len(there) - 1))
                basis[there] = _free_levels(self.mean_[inside[there]])
            parts.append(basis)
            groups += [g] * basis.shape[1]
        T: Array = sp.block_diag(parts, format="csr").toarray()
        return T, np.array(groups, dtype=np.intp)

    @property
    def _freedom(self) -> float:
        return self.weight_

    def _centred(self, X: Any) -> Array:
        centred: Array = (dense(X) - self.mean_) / self.scale_
        return centred

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _free_levels(p: Array) -> Array:
    """(l, l - 1) orthonormal directions of scaled indicators in which rows can move: those across sqrt(p)."""
    full, _ = np.linalg.qr(np.column_stack([np.sqrt(p), np.eye(len(p))]))
    return full[:, 1:]
