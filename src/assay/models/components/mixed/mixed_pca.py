"""Components of numbers and categories together: factor analysis of mixed data (FAMD).

encoded   numbers x, and for each level k of each category an indicator z_k with share p_k: d columns, rows (n, d)
scaled    (x - mean) / s with s^2 the mean square, and (z_k - p_k) / sqrt(p_k)
summary   C = D^-1 (scatter / n) D^-1, (d, d), D the scales         solver  C v_j = lambda_j v_j, descending
reading   coordinates F (n, k) of rows; numbers by their correlation with F; levels by the middle of their rows
chance    each column of the user permuted as a whole

Of numbers alone C is their correlation matrix (PCA); of Q categories alone it is Q times that of MCA. Among all columns
f of unit variance, F_1 maximises  sum of r(f, x)^2 over numbers + sum of eta(f, category)^2 over categories.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.source import Source
from assay.models.components.mixed.mixed_axes import _MixedAxes


class MixedPCA(_MixedAxes):
    """Rotate numbers and categories to common axes: which directions carry what they share?

    A category is no set of columns with 0 and 1: each has as many directions as it has levels but one, all of variance
    1, as a standardised number has one. Columns of yes and no are categories of two levels, and a number the same.

    Args:
        n_components: how many axes to keep. None: all. An integer: so many. A share in (0, 1): as few as explain that
            share of the inertia. "real": those above what independent columns give, possibly none, see `chance`.
        min_share: levels with a smaller share of the rows are pooled, those of one column as one level. Rare levels lie
            far out and take axes for themselves.
        random_state: seed of the permutations.

    Attributes:
        column_coordinates_: (d, k) of numbers the correlation with each axis, of levels the middle of their rows.
        column_names_: (d,) of numbers, and of levels as "column = level".
        explained_variance_: (k,) inertia along the axes.
        explained_variance_ratio_: (k,) as shares of the total.
        eigenvalues_: inertia of all axes.
        total_variance_: numbers plus free levels.
        components_: (k, d) orthonormal axes of the scaled columns.
        mean_: (d,) means of numbers, shares of levels.
        scale_: (d,) what columns are divided by.
        column_variance_: (d,) inertia of each column: 1, of levels 1 - p.
        variables_, levels_, groups_: names of the columns, the levels of each (None for numbers), and (d,) the column
            that each number or level comes from.
        n_components_: k.
        n_samples_, weight_: rows fitted and the sum of their weights.
        encoding_: how the columns of a source became numbers, where it was fitted on one.

    >>> X = [["a", 1.0], ["a", 1.5], ["b", 4.0], ["b", 3.5], ["c", 2.0], ["c", 3.0]]
    >>> mixed = MixedPCA(2).fit(X)
    >>> mixed.explained_variance_.round(4), round(mixed.total_variance_, 4)  # 1 + eta and 1
    (array([1.9449, 1.    ]), 3.0)
    >>> mixed.variable_cos2_[:, 0].round(4)  # a correlation ratio and a squared correlation
    array([0.9725, 0.9725])

    References:
        Pages, Analyse factorielle de donnees mixtes, Revue de statistique appliquee 52, 2004.
    """

    _only_levels = False

    def __init__(
        self, n_components: int | float | str | None = None, *, min_share: float = 0.0, random_state: Any = None
    ) -> None:
        self.n_components = n_components
        self.min_share = min_share
        self.random_state = random_state

    @property
    def column_coordinates_(self) -> Array:
        """(d, k) correlations of numbers with the axes, middles of the rows of levels."""
        check_is_fitted(self)
        level = np.array([self.levels_[g] is not None for g in self.groups_])
        middles = self.components_.T * self.explained_variance_ / self.scale_[:, None]
        return np.where(level[:, None], middles, self.loadings_)

    def _unit_of(self, variables: int) -> float:
        return 1.0

    def _kinds_of(self, X: Source) -> dict[str, Any]:
        return {}
