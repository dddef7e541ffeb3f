"""Are rows at near places alike?

statistic  correlation of each column with the mean of its four nearest places
chance     normal for places that mean nothing, pooled over columns by the Cauchy rule
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import ndtr

from assay.arrays import Array
from assay.evidence.design import Placed, correlogram
from assay.linalg.noise.cauchy_combination import cauchy_combined
from assay.linalg.ranks import average_ranks

LEVEL = 1e-3
_SIGNS = re.compile(r"[^a-z]+")
_NEAR = 4
_LEFT = 0.9
_FADED = 0.1
_NAMES = (("lat", "lon"), ("lat", "lng"), ("latitude", "longitude"), ("x", "y"), ("easting", "northing"))


@dataclass(frozen=True, slots=True, eq=False)
class PlaceLook:
    """Rows at places.

    Attributes:
        columns: the coordinates.
        p: chance of neighbours as much alike.
        alike: correlation with the nearest places in the typical column.
        left: share of the rows left for a typical pair of columns.
        design: rows at places.
    """

    columns: tuple[str, str]
    p: float
    alike: float
    left: float
    design: Placed


def coordinates(names: Sequence[str]) -> tuple[str, str] | None:
    """Two columns whose names say that they are places, if there are."""
    plain = {_SIGNS.sub("", name.lower()): name for name in names}
    return next(((plain[a], plain[b]) for a, b in _NAMES if a in plain and b in plain), None)


def place_look(X: Array, at: Array, columns: tuple[str, str]) -> PlaceLook | None:
    """Look at rows by their places; None where there is nothing to compare.

    Args:
        X: (n, D) rows, without the coordinates.
        at: (n, 2) coordinates.
        columns: their names.
    """
    X = X[:, X.min(axis=0) < X.max(axis=0)]
    n = len(X)
    if n < 20 or not X.shape[1] or (np.ptp(at, axis=0) == 0.0).any():
        return None
    Z = average_ranks(X, axis=0)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    near = np.asarray(cKDTree(at).query(at, _NEAR + 1)[1])[:, 1:]
    alike = np.einsum("ij,ij->j", Z, Z[near].mean(axis=1)) / n
    # nearest neighbours are mostly mutual, so that n k / 2 products are different
    p = float(cauchy_combined(ndtr(-alike * np.sqrt(n * _NEAR / 2.0))))
    design = Placed(n, at, _reach(Z, at))
    effective = design.effective(Z / np.sqrt(n))
    left = float(np.median(effective[np.triu_indices(len(effective), 1)] if len(effective) > 1 else effective)) / n
    return PlaceLook(columns, p, float(np.median(alike)), left, design)


def depends(look: PlaceLook) -> bool:
    """Whether places matter enough to be heeded where nobody said so."""
    return look.p <= LEVEL and look.left < _LEFT


def _reach(Z: Array, at: Array) -> float:
    """The distance at which columns are hardly alike any more."""
    found = correlogram(at, Z)
    faded = np.flatnonzero((found.alike.mean(axis=1) < _FADED) & (found.pairs > 0.0))
    return float(found.edges[faded[0] if len(faded) else -1])
