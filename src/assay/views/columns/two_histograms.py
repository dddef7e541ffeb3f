"""One column of two tables in one small drawing: shares of the rows of each, so that tables of any size compare."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.shown import shortened
from assay.views.axes.ticks import number_ticks
from assay.views.columns.histogram import (
    BASE,
    HEIGHT,
    LEFT,
    LEVELS,
    RIGHT,
    TOP,
    WIDTH,
    Bins,
    binned,
    level_name,
    part_of,
    room_for,
    svg,
)

_NAME = 15
_FAR = 0.005  # of the values on each side, drawn in the outermost bars where they would squeeze the rest
_SQUEEZED = 0.5  # of the width, what the others must keep


def overlaid(first: ArrayLike, second: ArrayLike, *, whole: bool = False, label: str = "") -> str:
    """Draw two sets of numbers on one axis: the first as bars, the second as a line of steps.

    Args:
        first, second: NaN where missing.
        whole: whether these are whole numbers.
        label: what the drawing shows, in words.

    Returns:
        SVG.

    >>> overlaid([1.0, 2.0], [2.0, 3.0], label="a").count('<path class="second"')
    1
    """
    made = binned_beside(first, second, whole=whole)
    if made is None:
        return svg(f'<text x="{WIDTH / 2:g}" y="{BASE / 2:g}">no values</text>', label)
    bins, shares = made
    top = max(float(share.max(initial=0.0)) for share in shares) or 1.0
    step, height = (RIGHT - LEFT) / len(bins.counts), (BASE - TOP) / top
    bars = "".join(
        f"M{LEFT + j * step:.1f} {BASE:g}v{-share * height:.1f}h{step:.1f}V{BASE:g}z"
        for j, share in enumerate(shares[0])
        if share
    )
    steps = "".join(f"V{BASE - share * height:.1f}h{step:.1f}" for share in shares[1])
    drawing = (
        f'<path class="first" d="{bars}"/><path class="second" d="M{LEFT:g} {BASE:g}{steps}V{BASE:g}"/>'
        f'<path class="axis" d="M{LEFT:g} {BASE:g}H{RIGHT:g}"/>'
    )
    for at, words in number_ticks(bins.low, bins.high):
        x = LEFT + part_of(bins, at) * (RIGHT - LEFT)
        align = ' class="start"' if x < LEFT + 14 else ' class="end"' if x > RIGHT - 14 else ""
        drawing += (
            f'<path class="axis" d="M{x:.1f} {BASE:g}v4"/><text x="{x:.1f}" y="{BASE + 16:g}"{align}>{words}</text>'
        )
    return svg(drawing, label)


def levels_beside(first: Sequence[int], second: Sequence[int], names: Sequence[str], *, label: str = "") -> str:
    """Draw how often each level occurs in two tables, one bar below the other, as shares of each table.

    Args:
        first, second: (k,) counts.
        names: (k,) of the levels; beyond seven the last stands for the others.
        label: what the drawing shows, in words.

    Returns:
        SVG.

    >>> levels_beside([1, 1], [2, 0], ["a", "b"]).count("%")
    4
    """
    counts = np.array([first, second], dtype=np.float64)
    shown = list(names)
    if len(shown) > LEVELS:
        shown = [*shown[: LEVELS - 1], f"{len(shown) - LEVELS + 1:,} others"]
        counts = np.column_stack([counts[:, : LEVELS - 1], counts[:, LEVELS - 1 :].sum(axis=1)])
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    words = [shortened(name, _NAME) for name in shown]
    left = room_for(words)
    line = min(30.0, (HEIGHT - 8.0) / max(len(words), 1))
    room = (RIGHT - 34 - left) / max(float(shares.max(initial=0.0)), 1e-9)
    drawing = ""
    for i, name in enumerate(words):
        y, half = 4.0 + i * line, line / 2 - 1
        drawing += level_name(name, left, y + line / 2 + 4)
        for side, css in enumerate(("first", "second")):
            width, at = shares[side, i] * room, y + side * half
            drawing += (
                f'<rect class="{css}" x="{left:.1f}" y="{at:.1f}" width="{width:.1f}" height="{max(half - 1, 2):.1f}"/>'
            )
            size = f"{min(half + 1, 11.0):.1f}px"
            drawing += (
                f'<text x="{left + width + 4:.1f}" y="{at + half / 2 + 3.5:.1f}" class="start" '
                f'style="font-size:{size}">{shares[side, i]:.0%}</text>'
            )
    return svg(drawing, label, 8.0 + line * len(words))


def binned_beside(
    first: ArrayLike, second: ArrayLike, *, whole: bool = False
) -> tuple[Bins, list[NDArray[np.float64]]] | None:
    """Bins for the values of two tables, and the share of the values of each in every one; None without values.

    Args:
        first, second: NaN where missing; the farthest count in the outermost bins where they would squeeze the rest.
        whole: whether these are whole numbers.
    """
    sides = [_finite(first), _finite(second)]
    every = np.concatenate(sides)
    if not len(every):
        return None
    low, high = _shown(every)
    bins = binned(np.clip(every, low, high), whole=whole)
    return bins, [_shares(np.clip(x, low, high), bins) for x in sides]


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    x = np.asarray(values, dtype=np.float64)
    return x[np.isfinite(x)]


def _shown(every: NDArray[np.float64]) -> tuple[float, float]:
    """Ends of the axis: all values, or, where a few far ones would squeeze the others, nearly all."""
    low, near, far, high = np.quantile(every, [0.0, _FAR, 1.0 - _FAR, 1.0], method="inverted_cdf")
    squeezed = far / 2 - near / 2 < _SQUEEZED * (high / 2 - low / 2)
    return (float(near), float(far)) if squeezed and near < far else (float(low), float(high))


def _shares(x: NDArray[np.float64], bins: Bins) -> NDArray[np.float64]:
    """(b,) share of the values in each bin."""
    b = len(bins.counts)
    if not len(x):
        return np.zeros(b)
    half = bins.high / 2 - bins.low / 2
    part = (x / 2 - bins.low / 2) / half if half > 0 and math.isfinite(half) else np.zeros(len(x))
    return np.bincount(np.clip((part * b).astype(np.intp), 0, b - 1), minlength=b) / len(x)
