"""Columns that belong together, such as the indicators of one category, made uncorrelated among themselves.

Indicators of one category exclude each other, so they are correlated whatever the data say. With C_g = V L V' the
covariance of group g and null directions (the indicators sum to one) left out,

    forward  y = L^-1/2 V' (x - mu)            uncorrelated, unit variance, as many as the group has freedom
    back     corr(x_l, z) = sum_m V_lm sqrt(L_m / C_ll) corr(y_m, z)

so that correlation among the y of different groups is all that is left to find. For indicators this is the weighting
of multiple correspondence analysis and, beside numbers, of factor analysis of mixed data.

References:
    Pages, Analyse factorielle de donnees mixtes, Revue de statistique appliquee 52 (2004).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.eigen.spectral import eigen_symmetric

__all__ = ["GroupedColumns", "grouped_columns"]


# A direction of a group with less than this share of the largest variance is rounding, not freedom.
_NULL = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class GroupedColumns:
    """How to make the columns of each group uncorrelated, and how to speak of the old columns again.

    Attributes:
        forward: (D, d) sparse; rows @ forward are the new columns.
        back: (D, d) sparse; back @ loadings are correlations of the old columns.
        groups: (d,) group of each new column.
    """

    forward: Any
    back: Any
    groups: NDArray[np.intp]

    def apply(self, rows: Array) -> Array:
        """New columns of (n, D) rows, (n, d)."""
        return np.asarray((self.forward.T @ rows.T).T)

    def loadings(self, loadings: Array) -> Array:
        """(D, k) correlations of the old columns with what (d, k) new ones correlate with."""
        return np.asarray(self.back @ loadings)


def grouped_columns(groups: NDArray[Any], covariance: Callable[[NDArray[np.intp]], Array]) -> GroupedColumns | None:
    """Uncorrelated columns within each group; None if every column is a group of its own.

    Args:
        groups: (D,) label of the group of each column.
        covariance: of the columns of the given numbers, asked for once per group of several.

    >>> C = np.array([[.25, -.25, 0.], [-.25, .25, 0.], [0., 0., 1.]])
    >>> found = grouped_columns(np.array([0, 0, 1]), lambda j: C[np.ix_(j, j)])
    >>> found.groups, found.loadings(np.array([[.6], [.1]])).round(2).ravel().tolist()
    (array([0, 1]), [0.6, -0.6, 0.1])
    """
    labels, numbers, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(labels) == len(groups):
        return None
    members = np.split(np.argsort(numbers, kind="stable"), np.cumsum(sizes)[:-1])
    # in the order of the data: a group stands where its first column stood
    members.sort(key=lambda group: int(group[0]))
    forward, back, kept = [], [], []
    for label, group in enumerate(members):
        if len(group) == 1:
            f = b = np.ones((1, 1))
        else:
            f, b = _whitened(covariance(group))
        forward.append(f)
        back.append(b)
        kept += [label] * f.shape[1]
    order = np.concatenate(members)
    return GroupedColumns(_rows_in(forward, order), _rows_in(back, order), np.array(kept, dtype=np.intp))


def _whitened(C: Array) -> tuple[Array, Array]:
    spectrum = eigen_symmetric(C)
    free = spectrum.values > _NULL * spectrum.values[0]
    L, V = spectrum.values[free], spectrum.vectors[:, free]
    spread = np.sqrt(np.diag(C))
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
    return V / np.sqrt(L), V * np.sqrt(L) * scale[:, None]


def _rows_in(parts: list[Array], order: NDArray[np.intp]) -> Any:
    stacked: Any = sp.block_diag(parts, format="csr")
    return stacked[np.argsort(order)]
