"""Where to put names and dots so that they do not cover each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array

_CHARACTER = 8.0  # of a bold 12 px system font, on average
_LINE = 17.0
_GAP = 7.0
_RINGS = np.array([1.0, 2.2, 3.6, 5.0, 6.5, 8.0])
_TURNS = np.linspace(0, 2 * np.pi, 24, endpoint=False)
_GOLDEN = 0.6180339887498949


def place_labels(tips: ArrayLike, widths: ArrayLike) -> tuple[Array, Array]:
    """Find where the names of arrows go: beside the tip, clear of the other names and of every shaft.

    Names are placed one by one, longest arrow first, each at the best of the positions around its tip: overlap
    with a name costs most, then crossing a shaft, then leaving the tip or the direction of the arrow.

    Args:
        tips: (m, 2) ends of arrows that start at the origin, in pixels.
        widths: (m,) characters of each name.

    Returns:
        (m, 2) centres of the names and (m, 2) half of their widths and heights, in pixels.

    >>> centres, half = place_labels([[100.0, 0.0]], [4])
    >>> centres.round(1).tolist(), half.round(1).tolist()
    ([[123.0, 0.0]], [[16.0, 8.5]])
    """
    tips = np.asarray(tips, dtype=np.float64).reshape(-1, 2)
    half = np.empty_like(tips)
    half[:, 0] = np.asarray(widths, dtype=np.float64) * _CHARACTER / 2
    half[:, 1] = _LINE / 2
    centres = np.full_like(tips, np.inf)
    ring, turn = (grid.ravel() for grid in np.meshgrid(_RINGS, _TURNS, indexing="ij"))
    for i in np.argsort(-np.hypot(tips[:, 0], tips[:, 1]), kind="stable"):
        heading = np.arctan2(tips[i, 1], tips[i, 0]) + turn
        outward = np.stack([np.cos(heading), np.sin(heading)], axis=1)
        tried = tips[i] + outward * (_GAP * ring[:, None] + half[i])
        cost = ring + (1 - np.cos(turn)) + _conflicts(tried, half[i], centres, half, tips)
        # rounding decides no ties, or the place of a name would depend on the machine
        centres[i] = tried[np.argmin(cost.round(6))]
    return centres, half


def _conflicts(tried: Array, half: Array, placed: Array, halves: Array, tips: Array) -> Array:
    """Price of a name at each place tried: names it would cover, and shafts that would run through it."""
    covered = np.all(np.abs(tried[:, None] - placed) < half + halves, axis=2).sum(axis=1)
    # a shaft is sampled densely enough that none of its samples can step over a line of text
    along = np.linspace(0, 1, 60)[:, None, None] * tips
    struck = np.all(np.abs(tried[:, None, None] - along) < half + 1.0, axis=3).any(axis=1).sum(axis=1)
    price: Array = 50.0 * covered + 8.0 * struck
    return price


def spread(values: ArrayLike) -> Array:
    """Heights in [-1, 1] that turn numbers on a line into a strip as thick as they are dense.

    The golden-ratio sequence takes the place of random jitter, so a page is the same each time.

    Args:
        values: (n,) numbers.

    Returns:
        (n,) heights.

    >>> spread([1.0, 1.0, 1.0, 9.0]).round(2).tolist()
    [0.24, -0.53, 0.71, -0.02]
    """
    values = np.asarray(values, dtype=np.float64)
    if not len(values):
        return values
    bins = max(1, min(40, int(np.sqrt(len(values)) * 2)))
    counts, edges = np.histogram(values, bins=bins)
    # thickness between bin centres is interpolated, or the strip would show the bins
    thickness = np.interp(values, (edges[:-1] + edges[1:]) / 2, counts / counts.max())
    order = np.empty(len(values))
    order[np.argsort(values, kind="stable")] = np.arange(1, len(values) + 1)
    height: Array = thickness * (2 * ((order * _GOLDEN) % 1.0) - 1)
    return height
