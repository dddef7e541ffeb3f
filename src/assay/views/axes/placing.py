"""Where names and dots go, so that none covers another: names of points at any width of the page, and of arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.shown import shortened
from assay.views.axes.theme import label

NAMED = 60
_NAME = 20
# pixels for the data, from a phone to a wide page, without axes
_WIDTHS = np.array([300.0, 420.0, 560.0, 760.0, 1100.0])
_AXIS = 60
_AROUND = 90
_MARGIN = np.array([0.16, 0.08])
_PADDED = 1.1  # a figure leaves a twentieth free on either side of its data

_CHARACTER = 7.0  # of a 12 px system font, on average
_LINE = 15.0
_GAP = 4.0
# beside its point: right, left, above, below, then the corners
_SIDES = np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 0.8], [1, -0.8], [-1, 0.8], [-1, -0.8]])
_PRICE = np.array([0.0, 0.3, 0.5, 0.6, 0.4, 0.5, 0.7, 0.8])

_BOLD = 8.0  # of a bold 12 px system font, on average
_BOLD_LINE = 17.0
_TIP_GAP = 7.0
_BETWEEN = np.array([5.0, 0.0])  # pixels between names that stand side by side
_RINGS = np.array([1.0, 2.2, 3.6, 5.0, 6.5, 8.0])
_TURNS = np.linspace(0, 2 * np.pi, 24, endpoint=False)
_GOLDEN = 0.6180339887498949


def written(names: Sequence[Any]) -> NDArray[np.intp]:
    """Tell whose names are written beside their points: all that are not empty, or none if they are more than 60.

    Args:
        names: (n,) of the points.

    Returns:
        Numbers of points.

    >>> written(["Rome", "", "Oslo"]).tolist(), len(written(["a"] * 61))
    ([0, 2], 0)
    """
    named = np.flatnonzero([bool(name) for name in names])
    return named if len(named) <= NAMED else named[:0]


def write_names(
    plot: Any, points: Array, names: Sequence[Any], *, height: int, axes: bool = False, equal: bool = True
) -> bool:
    """Write names beside their points, and leave a margin around them.

    A name that has room on a wide page alone carries the tags "name" and the least width of the figure in pixels; the
    page's script hides it below that.

    Args:
        plot: the figure.
        points: (n, 2) all that are drawn; NaN where one is not.
        names: (n,) of them; those that are empty are not written.
        height: of the figure in pixels.
        axes: whether it has axes.
        equal: whether both have the same scale.

    Returns:
        Whether all names are seen on a page of any width.
    """
    found: NDArray[np.bool_] = np.all(np.isfinite(points), axis=1)
    points, names = points[found], [name for name, there in zip(names, found, strict=True) if there]
    named = written(names)
    if not len(named):
        return True
    size = np.ptp(points, axis=0)
    size = np.where(size > 0, size, size.max() or 1.0)
    limits = np.stack([points.min(axis=0) - _MARGIN * size, points.max(axis=0) + _MARGIN * size])
    widths = _WIDTHS - _AXIS * axes
    across, upward = _PADDED * (limits[1] - limits[0])
    scales = np.stack([widths / across, np.full(len(widths), (height - _AROUND) / upward)], axis=1)
    scales = np.repeat(scales.min(axis=1, keepdims=True), 2, axis=1) if equal else scales
    texts = [shortened(str(names[i]), _NAME) for i in named]
    bare = np.delete(points, named, axis=0)
    offsets, half, fits = place_names(points[named], [len(text) for text in texts], scales, limits=limits, around=bare)
    for i in np.flatnonzero(fits < len(scales)):
        x, y = points[named[i]]
        side = int(np.sign(offsets[i, 0]))  # written from its point outward, whatever the width of its letters
        words = label(
            float(x), float(y), texts[i], text_baseline="middle", text_align=("center", "left", "right")[side],
            x_offset=float(offsets[i, 0] - side * half[i, 0]), y_offset=float(offsets[i, 1]), background_fill_alpha=0.0,
        )  # fmt: skip
        words.tags = ["name", float(widths[fits[i]]) if fits[i] else 0.0]
        plot.add_layout(words)
    plot.scatter(limits[:, 0], limits[:, 1], size=0, alpha=0.0)
    return not fits.any()


def place_names(
    points: ArrayLike,
    lengths: ArrayLike,
    scales: ArrayLike,
    *,
    limits: ArrayLike = ((-np.inf, -np.inf), (np.inf, np.inf)),
    around: ArrayLike | None = None,
    radius: float = 5.0,
) -> tuple[Array, Array, NDArray[np.intp]]:
    """Find a place beside each point where its name covers neither another name nor another point that has one.

    Names keep their distance in pixels while the points move apart on a wider page, so a name that has no place on a
    narrow page may have one on a wider one. Those with the nearest neighbours choose first.

    Args:
        points: (m, 2) in the units of the data.
        lengths: (m,) characters of each name.
        scales: (s, 2) pixels per unit, across and upward, at which the figure may be shown, ascending.
        limits: (2, 2) the lower left and the upper right end of the figure, in the units of the data.
        around: (n, 2) points without names, which had better not be covered.
        radius: of a point in pixels.

    Returns:
        (m, 2) offsets of the middle of each name from its point and (m, 2) half of its width and height, in pixels, and
        (m,) the first scale from which on it has its place; s where there is none.

    >>> offsets, half, fits = place_names([[0.0, 0.0]], [4], [[1.0, 1.0]])
    >>> offsets.tolist(), half.tolist(), fits.tolist()
    ([[23.0, 0.0]], [[14.0, 7.5]], [0])
    """
    points, scales = np.asarray(points, dtype=np.float64).reshape(-1, 2), np.asarray(scales, dtype=np.float64)
    bounds, others = np.asarray(limits, dtype=np.float64), np.asarray(() if around is None else around).reshape(-1, 2)
    half = np.stack([np.asarray(lengths, dtype=np.float64) * _CHARACTER / 2, np.full(len(points), _LINE / 2)], axis=1)
    offsets, fits = np.zeros_like(half), np.full(len(half), len(scales))
    order = _crowded_first(points * scales[:1].ravel())
    for first in range(len(scales)):
        shown = scales[first:, None] * points
        low, high = (scales[first:, None] * bound for bound in bounds)
        for i in order[fits[order] == len(scales)]:
            tried = _SIDES * (radius + _GAP + half[i])
            middles = shown[:, None, i] + tried  # (s - first, places, 2)
            done = fits < len(scales)
            free = np.all((middles - half[i] >= low) & (middles + half[i] <= high), axis=(0, 2))
            free &= ~_within(middles, shown[:, done] + offsets[done], half[i] + half[done]).any(axis=(0, 2))
            free &= ~_within(middles, shown, half[i] + radius).any(axis=(0, 2))
            covered = _within(middles, scales[first:, None] * others, half[i] + radius).sum(axis=2).max(axis=0)
            cost = np.where(free, _PRICE + covered, np.inf)
            # rounding decides no ties, or the place of a name would depend on the machine
            best = int(np.argmin(cost.round(6)))
            if free[best]:
                offsets[i], fits[i] = tried[best], first
    return offsets, half, fits


def _within(middles: Array, places: Array, reach: Array) -> NDArray[np.bool_]:
    """Which places lie in boxes about the middles, (s, middles, places)."""
    return _in_boxes(middles[:, :, None], places[:, None], reach)


def _in_boxes(middles: Array, places: Array, reach: Array) -> NDArray[np.bool_]:
    """Whether places (..., 2) lie in boxes about middles (..., 2), one coordinate after the other: that is faster."""
    across = np.abs(middles[..., 0] - places[..., 0]) < reach[..., 0]
    across &= np.abs(middles[..., 1] - places[..., 1]) < reach[..., 1]
    return np.asarray(across)


def _crowded_first(points: Array) -> NDArray[np.intp]:
    apart = np.hypot(*(points[:, None] - points).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart.min(axis=1, initial=np.inf).round(6), kind="stable")


def place_arrow_names(tips: ArrayLike, widths: ArrayLike) -> tuple[Array, Array]:
    """Find where the names of arrows go: beside the tip, clear of the other names and of every shaft.

    Names are placed one by one, longest arrow first, each at the best of the positions around its tip: overlap
    with a name costs most, then crossing a shaft, then leaving the tip or the direction of the arrow.

    Args:
        tips: (m, 2) ends of arrows that start at the origin, in pixels.
        widths: (m,) characters of each name.

    Returns:
        (m, 2) centres of the names and (m, 2) half of their widths and heights, in pixels.

    >>> centres, half = place_arrow_names([[100.0, 0.0]], [4])
    >>> centres.round(1).tolist(), half.round(1).tolist()
    ([[123.0, 0.0]], [[16.0, 8.5]])
    """
    tips = np.asarray(tips, dtype=np.float64).reshape(-1, 2)
    half = np.empty_like(tips)
    half[:, 0] = np.asarray(widths, dtype=np.float64) * _BOLD / 2
    half[:, 1] = _BOLD_LINE / 2
    centres = np.full_like(tips, np.inf)
    ring, turn = (grid.ravel() for grid in np.meshgrid(_RINGS, _TURNS, indexing="ij"))
    for i in np.argsort(-np.hypot(tips[:, 0], tips[:, 1]), kind="stable"):
        heading = np.arctan2(tips[i, 1], tips[i, 0]) + turn
        outward = np.stack([np.cos(heading), np.sin(heading)], axis=1)
        tried = tips[i] + outward * (_TIP_GAP * ring[:, None] + half[i])
        cost = ring + (1 - np.cos(turn)) + _conflicts(tried, half[i], centres, half, tips)
        # rounding decides no ties, or the place of a name would depend on the machine
        centres[i] = tried[np.argmin(cost.round(6))]
    return centres, half


def _conflicts(tried: Array, half: Array, placed: Array, halves: Array, tips: Array) -> Array:
    """Price of a name at each place tried: names it would cover, and shafts that would run through it."""
    covered = _in_boxes(tried[:, None], placed, half + halves + _BETWEEN).sum(axis=1)
    # a shaft is sampled densely enough that none of its samples can step over a line of text
    along = np.linspace(0, 1, 60)[:, None, None] * tips
    struck = _in_boxes(tried[:, None, None], along, half + 1.0).any(axis=1).sum(axis=1)
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
