"""Multiple correspondence analysis: components of categories, each level with a place of its own.

indicators  Z (n, d), one column for each of the d levels of Q categories, shares p = mean of Z
summary     C = D^-1 (scatter / n) D^-1 / Q, (d, d), D = diag sqrt(p): the Burt table Z'Z, centred and scaled
solver      C v_j = lambda_j v_j, descending; d - Q of them can differ from 0, and sum to d / Q - 1
rows        F = (Z - p) D^-1 Q^-1/2 V, (n, k): the mean of the places of a row's levels, over sqrt(lambda)
levels      G = sqrt(Q lambda) D^-1 V, (d, k): the mean of the places of a level's rows, over sqrt(lambda)
chance      each column permuted as a whole
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.source import Source
from assay.models.components.mixed.mixed_axes import _MixedAxes


class MCA(_MixedAxes):
    """Map categories and rows so that levels lie close which the same rows have: which answers go together?

    Args:
        n_components: how many axes to keep. None: all. An integer: so many. A share in (0, 1): as few as explain that
            share of the inertia. "real": those above what independent columns give, possibly none, see `chance`.
        min_share: levels with a smaller share of the rows are pooled, those of one column as one level. Rare levels lie
            far out and take axes for themselves.
        random_state: seed of the permutations.

    Attributes:
        column_coordinates_: (d, k) places of the levels, in the units of FactoMineR and prince (principal coordinates).
        column_names_: (d,) of the levels, as "column = level".
        explained_variance_: (k,) inertia along the axes: that of the indicator matrix.
        explained_variance_ratio_: (k,) as shares of the total; pessimistic, see `benzecri_ratio_`.
        eigenvalues_: (d - Q,) inertia of all axes.
        total_variance_: d / Q - 1.
        components_: (k, d) orthonormal axes of the scaled indicators.
        mean_: (d,) share of the rows in each level.
        scale_: (d,) what indicators are divided by, sqrt(Q p).
        column_variance_: (d,) inertia of each level, (1 - p) / Q.
        variables_, levels_, groups_: names of the Q columns, the levels of each, and (d,) the column of each level.
        n_components_: k.
        n_samples_, weight_: rows fitted and the sum of their weights.
        encoding_: how the columns of a source became indicators, where it was fitted on one.

    >>> X = [["red", "small"], ["red", "small"], ["blue", "large"], ["blue", "large"], ["red", "large"]]
    >>> mca = MCA().fit(X)
    >>> mca.eigenvalues_.round(4)  # of two categories (1 + r) / 2 and (1 - r) / 2
    array([0.8333, 0.1667])
    >>> mca.column_names_.tolist(), mca.column_coordinates_[:, 0].round(2).tolist()
    (['x0 = blue', 'x0 = red', 'x1 = large', 'x1 = small'], [1.12, -0.75, 0.75, -1.12])

    References:
        Greenacre and Blasius, Multiple Correspondence Analysis and Related Methods, 2006; Benzecri, Sur le calcul des
        taux d'inertie dans l'analyse d'un questionnaire, Cahiers de l'analyse des donnees 4, 1979.
    """

    _only_levels = True

    def __init__(
        self, n_components: int | float | str | None = None, *, min_share: float = 0.0, random_state: Any = None
    ) -> None:
        self.n_components = n_components
        self.min_share = min_share
        self.random_state = random_state

    @property
    def column_coordinates_(self) -> Array:
        """(d, k) principal coordinates of the levels."""
        check_is_fitted(self)
        # sqrt(Q / p) = Q / scale
        places: Array = self.components_.T * np.sqrt(self.explained_variance_) * (self._unit / self.scale_)[:, None]
        return places

    @property
    def burt_variance_(self) -> Array:
        """(k,) inertia along the axes of the Burt table, which has the same axes; the squares.

        Its places of levels are `column_coordinates_ * sqrt(explained_variance_)`.
        """
        check_is_fitted(self)
        return self.explained_variance_**2

    @property
    def benzecri_variance_(self) -> Array:
        """(k,) inertia by what columns share with each other, (Q / (Q - 1))^2 (lambda - 1 / Q)^2.

        0 up to 1 / Q, the mean, which all axes of independent columns have.
        """
        check_is_fitted(self)
        return self._corrected(self.explained_variance_)

    @property
    def benzecri_ratio_(self) -> Array:
        """(k,) as shares of their sum over all axes; optimistic."""
        total = float(self._corrected(self.eigenvalues_).sum())
        return self.benzecri_variance_ / total if total > 0.0 else np.zeros(self.n_components_)

    @property
    def greenacre_ratio_(self) -> Array:
        """(k,) as shares of the mean inertia of tables of two columns, Q / (Q - 1) (sum lambda^2 - (d - Q) / Q^2)."""
        Q = self._unit
        if Q == 1:
            return np.zeros(self.n_components_)
        d = float(np.count_nonzero(self.mean_ > 0.0))
        total = Q / (Q - 1.0) * (self._squares - (d - Q) / Q**2)
        # of independent columns rounding is all that is left
        return self.benzecri_variance_ / total if total > 1e-12 else np.zeros(self.n_components_)

    def _corrected(self, values: Array) -> Array:
        Q = self._unit
        return (Q / (Q - 1.0) * np.maximum(values - 1.0 / Q, 0.0)) ** 2 if Q > 1 else np.zeros_like(values)

    def _unit_of(self, variables: int) -> float:
        return float(variables)

    def _level_point(self, middle: Array, full: Array, r: Array) -> tuple[Array, Array]:
        inertia = np.sqrt(self.explained_variance_)
        return np.divide(middle, inertia, out=np.zeros_like(middle), where=inertia > 0.0), r**2

    def _kinds_of(self, X: Source) -> dict[str, Any]:
        levels = [field.name for field in X.schema if field.kind in ("boolean", "ordered", "category")]
        return {"as_kind": dict.fromkeys(levels, "category"), "words": 0}
