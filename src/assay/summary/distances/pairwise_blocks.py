"""How far apart points are, one block of rows and columns at a time, whatever the distances come from.

Blocks are quick, their error is bounded by `slack`; whole rows and single pairs are exact to the rounding of
`distances.pair_squares`, and order points as the neighbour search does. All are in
units of its own, `unit` times the user's, in which neither 1e300 nor 1e-300 loses its square.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.errors import DataError
from assay.linalg.validate import as_symmetric, power_of_two
from assay.summary.distances.distances import as_rows, middle, pair_squares, unit_scale
from assay.summary.distances.known_distances import all_given
from assay.summary.distances.metrics import Metric, checked_metric, distances, is_precomputed
from assay.summary.distances.neighbours import nearest_neighbours

FEW = 8  # columns up to which differences are as quick as a product: 2 ns a pair at 2, 14 ns at 50 beside 3 + 1


class Apart(Protocol):
    """Distances between n points."""

    n: int
    unit: float

    def block(self, rows: Whole, first: int, last: int) -> Array:
        """(m, last - first) distances from some points to those numbered first to last - 1; zero to itself."""

    def row(self, i: int) -> Array:
        """(n,) distances from one point."""

    def pairs(self, rows: Whole, cols: Whole) -> Array:
        """(m,) distances of some pairs."""

    def slack(self, rows: Whole) -> Array:
        """(m,) how far the square of a block's distance may be off, beyond rounding."""

    def nearest(self, rows: Whole, k: int) -> Whole:
        """(m, k) the nearest others of some points, equally near ones by number."""


class RowBlocks:
    """Euclidean distances of (n, d) rows: from the differences for few columns, by matrix products for many."""

    def __init__(self, X: Array) -> None:
        self.n, self.d = X.shape
        self.unit = unit_scale(X)
        self._rows = X * self.unit
        self._columns = np.ascontiguousarray(self._rows.T)
        if self.d > FEW:
            self._centred = self._rows - middle(self._rows)
            self._norms = np.einsum("ij,ij->i", self._centred, self._centred)

    def block(self, rows: Whole, first: int, last: int) -> Array:
        """From differences or products."""
        from assay.summary.distances import _fidelity_kernels as kernels

        if self.d > FEW:
            found: Array = (-2.0 * self._centred[rows]) @ self._centred[first:last].T
            kernels.roots(found, self._norms[rows], self._norms[first:last])
        else:
            found = np.empty((len(rows), last - first))
            kernels.measured(self._rows[rows], self._columns[:, first:last], found)
        return _without_own(found, rows, first, last)

    def row(self, i: int) -> Array:
        """From differences."""
        from assay.summary.distances import _fidelity_kernels as kernels

        found = np.empty((1, self.n))
        kernels.measured(self._rows[i : i + 1], self._columns, found)
        return np.asarray(found[0])

    def pairs(self, rows: Whole, cols: Whole) -> Array:
        """From differences."""
        return np.sqrt(pair_squares(self._rows, self._rows, rows, cols))

    def slack(self, rows: Whole) -> Array:
        """Of a product: shifting rows costs 2 eps (|x|^2 + |y|^2), the sums (d + 4) eps; twice that, to be safe."""
        if self.d <= FEW:
            return np.zeros(len(rows))
        bound = 2 * (self.d + 8) * np.finfo(float).eps
        return np.asarray(bound * (self._norms[rows] + self._norms.max()))

    def nearest(self, rows: Whole, k: int) -> Whole:
        """By search; copies of a row, itself among them, are told apart by number."""
        if len(rows) == self.n:
            return nearest_neighbours(self._rows, k).indices
        found = nearest_neighbours(self._rows[rows], k + 1, self._rows).indices
        own = found == rows[:, None]
        own[~own.any(axis=1), -1] = True  # k + 1 copies before it: the last of them is one too many
        return np.asarray(found[~own].reshape(-1, k))


class Given:
    """Distances given as a matrix.

    Args:
        values: (n, n) distances, or their squares; or (m, n) those from some points only.
        squared: whether squares are given.
        places: (n,) the row of `values` that belongs to each point; the point's own number when not given.
    """

    def __init__(self, values: NDArray[Any], *, squared: bool = False, places: Whole | None = None) -> None:
        self.n = values.shape[1]
        largest = power_of_two(values)
        self.unit = 1.0 / (math.sqrt(largest) if squared else largest)
        self._factor = 1.0 / largest
        self._values = values
        self._squared = squared
        self._places = places

    def block(self, rows: Whole, first: int, last: int) -> Array:
        """Looked up."""
        places = rows if self._places is None else self._places[rows]
        return _without_own(self._scaled(self._values[places, first:last]), rows, first, last)

    def row(self, i: int) -> Array:
        """Looked up."""
        return self._scaled(self._values[i if self._places is None else self._places[i]])

    def pairs(self, rows: Whole, cols: Whole) -> Array:
        """Looked up."""
        return self._scaled(self._values[rows if self._places is None else self._places[rows], cols])

    def slack(self, rows: Whole) -> Array:
        """None."""
        return np.zeros(len(rows))

    def nearest(self, rows: Whole, k: int) -> Whole:
        """By sorting each row."""
        found = np.empty((len(rows), k), np.int64)
        for place, i in enumerate(rows):
            order = np.argsort(self.row(int(i)), kind="stable")
            found[place] = order[order != i][:k]
        return found

    def _scaled(self, values: NDArray[Any]) -> Array:
        found = values * np.float64(self._factor)
        return np.asarray(np.sqrt(found, out=found) if self._squared else found)


def apart(X: Any, metric: Metric, name: str = "X") -> RowBlocks | Given:
    """The distances of checked rows, or a checked matrix of them.

    Args:
        X: (n, d) rows, or with metric "precomputed" their (n, n) symmetric dissimilarities.
        metric: of `summary.metrics`; all pairs are held, in at most 1 GiB, unless it is "euclidean".
        name: What to call X in an error.

    >>> apart([[0.0], [3.0]], "euclidean").row(0) * 4
    array([0., 3.])
    """
    if isinstance(metric, str) and metric == "euclidean":
        return RowBlocks(as_rows(X, name))
    if not is_precomputed(checked_metric(metric)):
        return Given(distances(X, metric))
    D = as_symmetric(all_given(X), name=f"{name} (precomputed dissimilarities)")
    if D.min() < 0:
        i, j = np.unravel_index(int(D.argmin()), D.shape)
        raise DataError(f"dissimilarities must not be negative: row {i}, column {j} of {name} is {D[i, j]:g}.")
    return Given(D)


def own_places(rows: Whole, first: int, last: int) -> tuple[Whole, Whole]:
    """Where in a block points meet themselves.

    >>> own_places(np.array([7, 2]), 5, 9)
    (array([0]), array([2]))
    """
    inside = np.flatnonzero((rows >= first) & (rows < last))
    return inside, rows[inside] - first


def _without_own(block: Array, rows: Whole, first: int, last: int) -> Array:
    block[own_places(rows, first, last)] = 0.0
    return block
