"""Small histograms as drawings in words of the page itself (SVG): as read, by logarithm, standardised, by level.

Two dozen of these weigh less than one figure of the plotting library, take their colours from the page's style
sheet, and need no script.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array, column_strips
from assay.errors import ParameterError
from assay.shown import shortened
from assay.views.axes.numbers import percent
from assay.views.axes.ticks import Tick, log_ticks, number_ticks, time_ticks

BINS = 40
LEVELS = 7
REACH = 4.0
WIDTH, HEIGHT = 240.0, 128.0
LEFT, RIGHT, TOP, BASE = 6.0, 234.0, 8.0, 104.0
_LEAST = 2.0  # a bar for one row of a thousand is still seen
_LOG_BINS = 24
_FEW = 12  # whole numbers that get a bar each, however few the rows
_NAME = 15
_NAMES = 112.0  # pixels for the names of levels, at most
_LETTERS = ((3.8, "ijl.,:;'|!() "), (9.5, "MWmw@%"), (8.2, "ABCDEFGHJKLNOPQRSTUVXYZ"))
_APART = 3.0  # pixels between two words under an axis
_BROAD = 11.0  # of Chinese and other full-width letters
_TILE = 1 << 18  # values looked at together


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Counts in equal bins.

    Attributes:
        counts: (b,) how many values fall in each.
        low, high: ends of the first and the last bin.
    """

    counts: NDArray[np.intp]
    low: float
    high: float


def binned(values: ArrayLike, *, whole: bool = False, most: int = BINS) -> Bins:
    """Count numbers in bins of the width of Freedman and Diaconis, 2 IQR n^(-1/3), Sturges' where that is zero.

    Args:
        values: (n,) NaN where missing; what is not finite is not counted.
        whole: whether these are whole numbers, which get bins of whole width centred on them.
        most: how many bins there may be.

    Returns:
        Counts, and the ends.

    >>> binned([1, 1, 2, 5], whole=True).counts.tolist()
    [2, 1, 0, 0, 1]
    """
    x = np.sort(_vector(values))
    x = x[np.isfinite(x)]
    if not len(x):
        return Bins(np.zeros(1, dtype=np.intp), 0.0, 1.0)
    low, high = float(x[0]), float(x[-1])
    half = high / 2 - low / 2  # halves, for high - low may overflow
    if half == 0:
        return Bins(np.array([len(x)]), low, high)
    part = (x / 2 - low / 2) / half
    width = _width(part, most)
    if whole and half < 2**52:
        step = 1 if 2 * half < _FEW else max(1, round(2 * half * width))
        b = math.ceil((2 * half + 1) / step)
        counts = np.bincount(((x - low) // step).astype(np.intp), minlength=b)
        return Bins(counts, low - 0.5, low - 0.5 + b * step)
    counts, _ = np.histogram(part, bins=math.ceil(1 / width), range=(0.0, 1.0))
    return Bins(counts, low, high)


def _width(part: Array, most: int) -> float:
    """Width of a bin for sorted values from 0 to 1."""
    quarter, three_quarters = np.quantile(part, [0.25, 0.75])
    width = float(2 * (three_quarters - quarter) / len(part) ** (1 / 3))
    return min(1.0, max(width or 1 / (1 + math.ceil(math.log2(len(part)))), 1 / most))


def skewness(values: ArrayLike) -> float:
    """How lopsided the values are: the mean cube of the standardised values, 0 for what does not vary.

    Args:
        values: (n,) NaN where missing.

    >>> round(skewness([0.0, 0.0, 0.0, 0.0, 10.0]), 2)
    1.5
    """
    return float(skewness_by_column(_vector(values)[:, None])[0])


def skewness_by_column(values: Array) -> Array:
    """The same of each column.

    Args:
        values: (n, d) NaN where missing.
    """
    found = np.zeros(values.shape[1])
    for strip in column_strips(values.shape, _TILE) if len(values) else ():
        x = values[:, strip]
        there = np.isfinite(x)
        n = there.sum(axis=0)
        largest = np.abs(x).max(axis=0, initial=0.0, where=there)
        x = np.divide(x, largest, out=np.zeros(x.shape), where=there & (largest > 0))
        centred = np.where(there, x - x.sum(axis=0) / np.maximum(n, 1), 0.0)
        spread = np.sqrt((centred**2).sum(axis=0) / np.maximum(n, 1))
        vary = (n >= 3) & (spread > 1e-14)
        cubes = (np.divide(centred, spread, out=np.zeros(x.shape), where=vary) ** 3).sum(axis=0)
        found[strip] = np.where(vary, cubes / np.maximum(n, 1), 0.0)
    return found


def as_read(values: ArrayLike, *, kind: str = "number", label: str = "") -> str:
    """Draw values on their own axis.

    Args:
        values: (n,) NaN where missing.
        kind: "count" aligns bins with whole numbers, "time" writes dates under the axis.
        label: what the drawing shows, in words.

    Returns:
        SVG.

    >>> as_read([1.0, 2.0, 2.0], label="a").startswith('<svg viewBox="0 0 240 128" role="img" aria-label="a">')
    True
    """
    known = _vector(values)
    known = known[np.isfinite(known)]
    whole = kind == "count" or (kind == "number" and bool((known == np.round(known)).all()))  # such as years
    bins = binned(known, whole=whole)
    low, high = bins.low, bins.high
    ticks = time_ticks(low, high) if kind == "time" else number_ticks(low, high, whole=whole)
    return _drawn(bins, [(part_of(bins, at), words) for at, words in ticks], label)


def by_logarithm(values: ArrayLike, *, label: str = "") -> str:
    """Draw values on the axis of log(1 + x), with the values themselves written under it.

    Args:
        values: (n,) NaN where missing; where one is negative there is no drawing.
        label: what the drawing shows, in words.

    Returns:
        SVG, or "" where there is none.

    >>> by_logarithm([-1.0, 2.0])
    ''
    """
    x = _vector(values)
    x = x[np.isfinite(x)]
    if (x < 0).any():
        return ""
    bins = binned(np.log1p(x), most=_LOG_BINS)
    with np.errstate(over="ignore"):
        low, high = float(np.expm1(bins.low)), float(min(np.expm1(bins.high), np.finfo(float).max))
    return _drawn(bins, [(part_of(bins, math.log1p(at)), words) for at, words in log_ticks(low, high)], label)


def in_standard_units(values: ArrayLike, centre: float, scale: float, *, label: str = "") -> str:
    """Draw (x - centre) / scale from -4 to 4, the same axis for every column, over the curve of a normal law.

    What lies farther out is counted in the outermost bars.

    Args:
        values: (n,) NaN where missing.
        centre: mean.
        scale: standard deviation; where it is zero there is no drawing.
        label: what the drawing shows, in words.

    Returns:
        SVG, or "" where there is none.

    >>> in_standard_units([1.0, 1.0], 1.0, 0.0)
    ''
    """
    if not (math.isfinite(centre) and math.isfinite(scale) and scale > 0):
        return ""
    x = _vector(values)
    with np.errstate(all="ignore"):
        z = np.clip((x[np.isfinite(x)] - centre) / scale, -REACH, REACH)
    counts, edges = np.histogram(z, bins=32, range=(-REACH, REACH))
    grid = np.linspace(-REACH, REACH, 65)
    curve = len(z) * (edges[1] - edges[0]) * np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)
    bins = Bins(counts, -REACH, REACH)
    ticks = [(part_of(bins, at), words) for at, words in ((-4, "≤ −4"), (-2, "−2"), (0, "0"), (2, "2"), (4, "≥ 4"))]
    return _drawn(bins, ticks, label, curve)


def by_level(counts: ArrayLike, names: Sequence[str], *, label: str = "") -> str:
    """Draw how often each level occurs, with its name; beyond seven levels the last bar stands for the others.

    Args:
        counts: (k,) in the order they are drawn in.
        names: (k,) of the levels.
        label: what the drawing shows, in words.

    Returns:
        SVG.

    >>> "3 others" in by_level(range(9), "abcdefghi")
    True
    """
    sizes = _vector(counts)
    if len(sizes) != len(names):
        raise ParameterError(f"names are one per level; got {len(names)} for {len(sizes)} counts")
    if len(sizes) > LEVELS:
        others = len(sizes) - LEVELS + 1
        names = [*names[: LEVELS - 1], f"{others:,} others"]
        sizes = np.array([*sizes[: LEVELS - 1], sizes[LEVELS - 1 :].sum()])
    total, top = sizes.sum(), sizes.max(initial=0.0)
    words = [shortened(name, _NAME) for name in names]
    left = room_for(words)
    line = min(21.0, (HEIGHT - 2 * TOP) / max(len(sizes), 1))
    lines, bars = [], []
    for i, (size, name) in enumerate(zip(sizes, words, strict=True)):
        middle = TOP + (i + 0.5) * line
        width = (RIGHT - 34 - left) * (size / top if top else 0.0)
        share = html.escape(percent(float(size / total), 0)) if total else ""
        lines.append(level_name(name, left, middle + 4))
        lines.append(f'<text x="{left + width + 4:.1f}" y="{middle + 4:.1f}" class="start">{share}</text>')
        bar = f"h{max(width, _LEAST if size else 0):.1f}v{line - 4:.1f}H{left:.1f}z"
        bars.append(f"M{left:.1f} {middle - line / 2 + 2:.1f}{bar}")
    height = 2 * TOP + line * len(sizes)  # under its name, with the numbers right below, also of two levels
    return svg(f'<path class="bars" d="{"".join(bars)}"/>{"".join(lines)}', label, height)


def room_for(names: Sequence[str]) -> float:
    """Pixels to the left of the bars that the names of levels take.

    Args:
        names: as they are written.
    """
    return min(_NAMES, 7 + max(map(_letters, names), default=0.0))


def level_name(name: str, left: float, y: float) -> str:
    """The name of a level beside its bar, never cut: fonts differ, so one that may be too wide is made to fit.

    Args:
        name: as it is written; it is escaped here.
        left: where the bar begins.
        y: the foot of the words.

    >>> level_name("a", 40.0, 9.0)
    '<text x="35.0" y="9.0" class="end">a</text>'
    """
    fitted = f' textLength="{left - 7:.0f}" lengthAdjust="spacingAndGlyphs"' if _letters(name) > left - 7 else ""
    return f'<text x="{left - 5:.1f}" y="{y:.1f}" class="end"{fitted}>{html.escape(name)}</text>'


def _letters(name: str) -> float:
    """Pixels that a name needs in an 11 px system font, a wide one."""
    return sum(next((size for size, those in _LETTERS if c in those), _BROAD if ord(c) > 0x2E7F else 7.0) for c in name)


def _drawn(bins: Bins, ticks: list[Tick], label: str, curve: Array | None = None) -> str:
    total = bins.counts.sum()
    if not total:
        return svg(f'<text x="{WIDTH / 2:g}" y="{BASE / 2:g}">no values</text>', label)
    top = max(float(bins.counts.max()), 0.0 if curve is None else float(curve.max()))
    height = (BASE - TOP) / top
    b = len(bins.counts)
    step = (RIGHT - LEFT) / max(b, 3)  # a bar alone is not a wall
    left = (LEFT + RIGHT) / 2 - b * step / 2
    bars = "".join(
        f"M{left + j * step:.1f} {BASE:g}v{-max(count * height, _LEAST):.1f}h{step * 0.94:.1f}V{BASE:g}z"
        for j, count in enumerate(bins.counts)
        if count
    )
    drawing = f'<path class="bars" d="{bars}"/><path class="axis" d="M{LEFT:g} {BASE:g}H{RIGHT:g}"/>'
    if curve is not None:
        across = np.linspace(LEFT, RIGHT, len(curve))
        points = " ".join(f"{x:.1f} {BASE - y * height:.1f}" for x, y in zip(across, curve, strict=True))
        drawing += f'<path class="curve" d="M{points}"/>'
    free = 0.0
    for part, words in ticks:
        x, wide = left + part * b * step, _letters(words)
        begins = x < LEFT + wide / 2
        ends = not begins and x > RIGHT - wide / 2
        x_words = max(x, 1.0) if begins else min(x, WIDTH - 1) if ends else x
        align = ' class="start"' if begins else ' class="end"' if ends else ""
        drawing += f'<path class="axis" d="M{x:.1f} {BASE:g}v4"/>'
        starts = x_words - wide * (0.0 if begins else 1.0 if ends else 0.5)
        if starts < free:
            continue  # two words never touch
        free = starts + wide + _APART
        drawing += f'<text x="{x_words:.1f}" y="{BASE + 16:g}"{align}>{words}</text>'
    return svg(drawing, label)


def svg(drawing: str, label: str, height: float = HEIGHT) -> str:
    """A drawing as wide as all of them.

    Args:
        drawing: paths and texts, already safe.
        label: what it shows, in words.
        height: of it, where it is not that of all.
    """
    return f'<svg viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="{html.escape(label)}">{drawing}</svg>'


def part_of(bins: Bins, at: float) -> float:
    """Where a value lies between the ends of the bins, from 0 to 1.

    Args:
        bins: the bins.
        at: the value.
    """
    half = bins.high / 2 - bins.low / 2
    return (at / 2 - bins.low / 2) / half if half else 0.5


def _vector(values: ArrayLike) -> Array:
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ParameterError(f"a histogram is of one column; got an array of shape {vector.shape}")
    return vector
