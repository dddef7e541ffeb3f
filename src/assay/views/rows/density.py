"""Where points are too many to draw: shades of how many lie in each small square, and a fair sample of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import LinearColorMapper
from numpy.typing import NDArray

from assay.arrays import Array
from assay.views.axes.theme import CHANCE

LEVELS = 16
_GOLDEN = (5.0**0.5 - 1.0) / 2.0


def sample(n: int, most: int, always: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
    """Choose which of many points are drawn, evenly over their order and in step with no period of it.

    Points are taken by the golden-ratio sequence, so that nothing is drawn at random: a page is the same each time.

    Args:
        n: how many there are.
        most: how many may be drawn.
        always: numbers of points that are drawn in any case.

    Returns:
        Numbers of points, ascending; all of them where they are few enough.

    >>> sample(4, 9).tolist(), len(sample(100, 9))
    ([0, 1, 2, 3], 9)
    """
    if n <= most:
        return np.arange(n)
    kept = np.unique(always) if always is not None else np.empty(0, dtype=np.intp)
    others = np.setdiff1d(np.arange(n), kept, assume_unique=True)
    order = np.argsort(np.arange(len(others)) * _GOLDEN % 1.0, kind="stable")
    chosen: NDArray[np.intp] = np.sort(np.concatenate([kept, others[order[: max(most - len(kept), 0)]]]))
    return chosen


def draw_density(plot: Any, points: Array, *, squares: int = 90, equal: bool = True) -> Any:
    """Shade a figure by how many points lie where, on a scale of doublings, from clear to grey.

    Args:
        plot: the figure.
        points: (n, 2) positions.
        squares: how many along the longer side.
        equal: make them as wide as high, for axes of the same unit.

    Returns:
        The renderer; its image holds 0 where there is no point and up to 16 where there are most.
    """
    low = points.min(axis=0)
    size = np.maximum(points.max(axis=0) - low, 1e-12 * np.maximum(np.abs(points).max(axis=0), 1e-290))
    side = np.full(2, size.max() / squares) if equal else size / squares
    number = np.maximum(np.ceil(size / side - 1e-9), 1).astype(int)
    column, row = np.minimum(((points - low) / side).astype(int), number - 1).T
    counts = np.zeros((number[1], number[0]))
    np.add.at(counts, (row, column), 1)
    # counts spread over orders of magnitude: equal steps of colour for equal factors
    level = np.ceil(LEVELS * np.log2(1 + counts) / np.log2(1 + counts.max())).astype(np.uint8)
    palette = ["#00000000", *(f"{CHANCE}{round(a):02x}" for a in np.linspace(40, 225, LEVELS))]
    mapper = LinearColorMapper(palette=palette, low=-0.5, high=LEVELS + 0.5)
    width, height = number * side
    x, y = low
    return plot.image(image=[level], x=x, y=y, dw=width, dh=height, color_mapper=mapper, level="underlay")
