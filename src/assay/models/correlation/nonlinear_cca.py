"""Nonlinear canonical correlations: pairs of curves of the columns that go together most.

features phi(x), (n, d) to (n, D), of columns standardised first, such as x, x^2, x^3
summary  moments of [phi(X), psi(Y)], (D + E, D + E): one pass after the one for means and spreads
solver   canonical pairs of the features, with a ridge; from (n, n) products where there are more features than rows
reading  u = sum_j w_j phi_j(x), (n, k), weights by the names of the features
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from assay.arrays import Array
from assay.data.blocks import block_slices
from assay.linalg.eigen.principal import dense
from assay.models.base import on_engine
from assay.models.canonical import RidgeOption, gathered
from assay.models.canonical_linear import _LinearPairs
from assay.summary.gram.features import Features, Powers, as_features
from assay.summary.moments.column_moments import ColumnSums
from assay.summary.moments.paired import Paired


class NonlinearCCA(_LinearPairs):
    """Find curves of the columns of X and of y that correlate most: are two sides related, though not along lines?

    Args:
        n_components: how many pairs; None for as many as the smaller rank.
        features: an expansion, `Powers(3)`, `Products(2)` or `RandomFourier(100)`, or a pair of them, one for each
            side. Columns are centred and divided by their standard deviation before.
        ridge: as in `CCA`, in units of each feature's variance.

    Attributes:
        canonical_correlations_: (k,) descending.
        x_feature_names_: (D,) the features of X, such as "x0^2", in the order of the weights.
        y_feature_names_: (E,) those of y.
        x_weights_: (D, k), of the centred features.
        y_weights_: (E, k).
        x_loadings_: (D, k) correlation of each feature with its variates; the largest of each pair is positive.
        y_loadings_: (E, k).
        x_cross_loadings_, y_cross_loadings_: with the variates of the other side.
        variate_correlations_, held_out_correlations_, held_out_table_, ridge_, rank_, condition_, forced_: as
            in `CCA`.
        x_features_, y_features_: the expansions used.
        x_mean_, y_mean_: means of the features.
        n_components_, n_samples_, n_targets_, y_names_, encoding_, y_encoding_: as in `CCA`.
        route_: "moments", "svd" or "dual".

    >>> angle = 2 * np.pi * np.arange(100) / 100
    >>> circle = NonlinearCCA(1, features=Powers(2)).fit(np.cos(angle)[:, None], np.sin(angle))
    >>> circle.canonical_correlations_.round(3), circle.x_feature_names_
    (array([0.999]), array(['x0', 'x0^2'], dtype=object))
    >>> np.abs(circle.x_loadings_.ravel()).round(3)
    array([0., 1.])
    """

    scale = True  # what a ridge is measured in; features have no units worth keeping

    def __init__(
        self,
        n_components: int | None = None,
        *,
        features: Any = Powers(3),  # noqa: B008  frozen, so that sharing it is harmless
        ridge: RidgeOption = 1e-3,
    ) -> None:
        self.n_components = n_components
        self.features = features
        self.ridge = ridge

    @on_engine
    def fit(self, X: Any, y: Any = None, *, engine: Any = None) -> Self:
        """Find the pairs of (n, p) and (n, q) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`.
            y: the other side, or the names of its columns where X is a source.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        X, Y = self._sides(X, y, reset=True, finite=False)
        given = self.features if isinstance(self.features, (tuple, list)) else (self.features, self.features)
        self.x_features_, self.y_features_ = map(as_features, given)
        columns = super()._names()
        self.x_feature_names_ = np.asarray(self.x_features_.names(columns[0]), dtype=object)
        self.y_feature_names_ = np.asarray(self.y_features_.names(columns[1]), dtype=object)
        sums = [ColumnSums.of(side, known) for side, known in zip((X, Y), columns, strict=True)]
        self._x_units, self._y_units = map(_units, sums)
        D, E = len(self.x_feature_names_), len(self.y_feature_names_)
        if max(D, E) >= sums[0].count:
            return self._fit_dual(self._x_expanded(gathered(X)), self._y_expanded(gathered(Y)), "auto")
        return self._fit_paired(Paired(X, Y, columns, (self._x_expanded, self._y_expanded)), D, "auto")

    def _x_expanded(self, rows: Any) -> Array:
        return _expanded(self.x_features_, rows, self._x_units)

    def _y_expanded(self, rows: Any) -> Array:
        return _expanded(self.y_features_, rows, self._y_units)

    def _x_scores(self, rows: Any) -> Array:
        return self._in_blocks(rows, self._x_expanded, super()._x_scores)

    def _y_scores(self, rows: Any) -> Array:
        return self._in_blocks(rows, self._y_expanded, super()._y_scores)

    def _in_blocks(self, rows: Any, expand: Callable[[Any], Array], score: Callable[[Array], Array]) -> Array:
        """Scores without holding the features of all rows."""
        width = max(len(self.x_feature_names_), len(self.y_feature_names_))
        return np.concatenate([score(expand(dense(rows[part]))) for part in block_slices(rows.shape[0], width)])

    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return tuple(self.x_feature_names_), tuple(self.y_feature_names_)


def _units(sums: ColumnSums) -> Array:
    """(2, d) mean and standard deviation of each column, 1 for a constant one."""
    spread = np.sqrt(sums.variance)
    return np.stack([sums.mean, np.where(spread > 0.0, spread, 1.0)])


def _expanded(features: Features, rows: Any, units: Array) -> Array:
    return features((dense(rows) - units[0]) / units[1])
