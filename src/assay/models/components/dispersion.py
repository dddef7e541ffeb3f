"""How spread out is a set of points: how many differ, how far they lie from their mean, which ball holds them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.blocks import float_blocks
from assay.engine.current import gathered_blocks
from assay.errors import DataError
from assay.linalg.one_thread import one_blas_thread
from assay.optimize.enclosing_ball import enclosing_ball
from assay.summary.moments.column_moments import column_moments


@dataclass(frozen=True, slots=True, eq=False)
class Dispersion:
    """Measures of spread.

    Attributes:
        distinct: how many different points there are.
        mean_square: mean squared Euclidean distance to the mean.
        radius: of the smallest ball that holds all points.
        center: (d,) of that ball.
    """

    distinct: int
    mean_square: float
    radius: float
    center: NDArray[np.float64]


def dispersion(X: Any) -> Dispersion:
    """Measure the spread of (n, d) points.

    Args:
        X: anything a model's `fit` takes.

    >>> found = dispersion([[0.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    >>> found.distinct, found.mean_square, round(found.radius, 9), found.center.round(9)
    (2, 2.0, 1.5, array([1.5, 0. ]))
    """
    blocks = [block for _, block in gathered_blocks(float_blocks(X))]
    points = np.concatenate(blocks) if blocks else np.empty((0, 0))
    if not points.size:
        raise DataError("a set without points has no dispersion")
    n = len(points)
    mean_square = float(column_moments(points).variance.sum()) * (n - 1) / n
    with one_blas_thread():  # many products with one vector
        ball = enclosing_ball(points)
    # + 0.0 makes -0.0 and 0.0 the same point
    return Dispersion(len(np.unique(points + 0.0, axis=0)), mean_square, ball.radius, ball.center)
