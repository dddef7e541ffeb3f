"""Which rows belong to the bulk: those that the minimum covariance determinant does not find too far out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.normal.mcd import majority, mcd
from assay.linalg.normal.mcd_law import consistency, cut, few_rows

BULK = 0.975  # share of clean rows that counts as bulk
_FLAT = 1e-12
_OFF = 1e-7  # distance from a plane, in spreads of the columns, that rounding may leave


@dataclass(frozen=True, slots=True, eq=False)
class CentralRows:
    """The bulk of a table.

    Attributes:
        bulk: (n,) whether each row belongs to it.
        dimension: of the space in which rows were judged: d, or that of a plane on which most rows lie exactly.
        on_plane: how many rows lie on that plane, 0 if there is none.
        descent: (k,) log determinants of the covariance in the course of the search's last fit: never rising.
    """

    bulk: NDArray[np.bool_]
    dimension: int
    on_plane: int
    descent: Array


def central_rows(X: Array, h: int, seed: int = 0) -> CentralRows:
    """Find the bulk of (n, d) rows, of which at least h are clean.

    The rows of smallest covariance determinant are found, and then all that are no farther out, by their covariance,
    than 97.5% of normal rows are. Where h rows or more lie on a plane, those off it do not belong, and the others are
    judged within it.

    Args:
        X: (n, d) rows, no column constant.
        h: between (n + d + 1) // 2 and n.
        seed: of random starts.

    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> X[:9] += 30.0
    >>> int(central_rows(X, 30).bulk[:9].sum())
    0

    References:
        Rousseeuw & Van Driessen, Technometrics 41, 1999; Cerioli, Journal of the American Statistical Association 105,
        2010.
    """
    n, d = X.shape
    found = mcd(X, h, seed=seed)
    S = found.covariance / found.scale / found.scale[:, None]
    values, axes = np.linalg.eigh(S)
    kept = values > _FLAT * max(float(values[-1]), 1.0)
    Z = (X - found.location) / found.scale
    if kept.all():
        along = Z @ (axes / np.sqrt(values))
        size = consistency(h / n, d) * few_rows(n, d, h / n)
        squares = np.einsum("ij,ij->i", along, along) / size
        return CentralRows(squares <= cut(n, d, h, 1.0 - BULK), d, 0, found.descent)
    off = np.linalg.norm(Z @ axes[:, ~kept], axis=1)
    on = off <= _OFF * (1.0 + np.linalg.norm(Z, axis=1))
    r = int(kept.sum())
    if r == 0:
        return CentralRows(on, 0, int(on.sum()), found.descent)
    within = Z[on] @ axes[:, kept]
    inner = central_rows(within, max(h, majority(len(within), r)), seed)
    bulk = on.copy()
    bulk[on] = inner.bulk
    return CentralRows(bulk, inner.dimension, int(on.sum()), found.descent)
