"""Coordinates from geodesics: classical scaling of squared path lengths, from all points or from landmarks.

S, (s, m)     squared path lengths from s landmarks (or all points) to m points
scaling       of the landmarks among themselves, (s, k); the others are placed by their column of S (Gower)
what is left  1 - R^2 of path lengths against map distances, in 1 to k dimensions
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.linalg.eigen.classical_scaling import classical_scaling, place_new
from assay.models.embedding.isomap.geodesics import Geodesics
from assay.summary.distances.pair_fit import pair_fit
from assay.summary.distances.pairwise_blocks import Given, RowBlocks

DOUBLE_LIMIT = 2**27  # squares held in double precision, 1 GiB: all of 11,585 points; more are held in single precision
FIT_LIMIT = 2**25  # pairs behind a residual variance: all of 5,792 points
_BLOCK = 2**22  # squares widened at a time


@dataclass(frozen=True, slots=True, eq=False)
class Placing:
    """What puts a point on the map by its squared path lengths, in units of the geodesics.

    Attributes:
        marks: (s,) the places that paths are measured from.
        row_means: (s,) of the squares among them.
        values: (k,) eigenvalues of the centred squares.
        coordinates: (s, k) of the marks.
    """

    marks: Whole
    row_means: Array
    values: Array
    coordinates: Array

    def of(self, squares: NDArray[Any]) -> Array:
        """(n, k) coordinates of points with these (n, s) squares."""
        placed = np.empty((len(squares), len(self.values)))
        step = max(1, _BLOCK // len(self.marks))
        for start in range(0, len(squares), step):
            part = slice(start, start + step)
            placed[part] = place_new(squares[part], self.row_means, self.values, self.coordinates)
        return placed


@dataclass(frozen=True, slots=True, eq=False)
class Unrolled:
    """A map of the nodes of geodesics.

    Attributes:
        coordinates: (m, k), in units of the geodesics.
        placing: For new points.
        residual_variance: (k,) in 1 to k dimensions. From all pairs of up to 5,792 points; beyond, from about
            `FIT_LIMIT` pairs, those of evenly chosen points (or landmarks) with all others.
        single: Whether squares were held in single precision.
    """

    coordinates: Array
    placing: Placing
    residual_variance: Array
    single: bool


def unroll(
    paths: Geodesics,
    k: int,
    landmarks: int | None,
    rng: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
) -> Unrolled:
    """Map the m nodes of geodesics to k dimensions.

    Args:
        paths: Of one component.
        k: Dimensions, at most m, or as many as landmarks.
        landmarks: How many to draw; None for paths between all nodes.
        rng: For the draw and the solver's start.
        progress: Called as progress(done, total) in paths' sources.

    >>> from assay.summary.graph.graph import Graph
    >>> line = Geodesics.of(Graph.of_edges([0, 1], [1, 2], [1.0, 3.0], meaning="distance"))
    >>> found = unroll(line, 1, None, np.random.default_rng(0))
    >>> (np.abs(np.diff(found.coordinates[:, 0])) * line.unit).round(12)
    array([3., 1.])
    """
    m = len(paths.nodes)
    marks = np.arange(m) if landmarks is None else np.sort(rng.choice(m, landmarks, replace=False))
    single = len(marks) * m > DOUBLE_LIMIT
    squares = paths.squares(marks, np.float32 if single else np.float64, progress)
    among = squares if len(marks) == m else squares[:, marks]
    scaling = classical_scaling(among, k, random_state=rng)
    placing = Placing(marks, scaling.row_means, scaling.values, scaling.coordinates)
    coordinates = scaling.coordinates if len(marks) == m else placing.of(squares.T)
    return Unrolled(coordinates, placing, _residual_variances(squares, marks, coordinates), single)


def _residual_variances(squares: NDArray[Any], marks: Whole, coordinates: Array) -> Array:
    m, k = coordinates.shape
    if m == 1:
        return np.zeros(k)
    count = min(len(marks), max(1, FIT_LIMIT // m))
    chosen = marks[np.linspace(0, len(marks) - 1, count).astype(np.int64)]
    places = np.full(m, -1)
    places[marks] = np.arange(len(marks))
    lengths = Given(squares, squared=True, places=places)
    return np.array([pair_fit(lengths, RowBlocks(coordinates[:, : j + 1]), chosen).residual_variance for j in range(k)])
