"""How spread out is a set of points: how many differ, and how far they lie from their mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.data.blocks import float_blocks
from assay.errors import DataError
from assay.summary.columns import column_moments


@dataclass(frozen=True, slots=True)
class Dispersion:
    """Measures of spread.

    Attributes:
        distinct: how many different points there are.
        mean_square: mean squared Euclidean distance to the mean.
    """

    distinct: int
    mean_square: float


def dispersion(X: Any) -> Dispersion:
    """Measure the spread of (n, d) points.

    Args:
        X: anything a model's `fit` takes.

    >>> dispersion([[0.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    Dispersion(distinct=2, mean_square=2.0)
    """
    blocks = [block for _, block in float_blocks(X)]
    points = np.concatenate(blocks) if blocks else np.empty((0, 0))
    if not points.size:
        raise DataError("a set without points has no dispersion")
    n = len(points)
    variance = column_moments(points).variance
    # + 0.0 makes -0.0 and 0.0 the same point
    return Dispersion(len(np.unique(points + 0.0, axis=0)), float(variance.sum()) * (n - 1) / n)
