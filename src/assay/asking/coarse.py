"""Values of a column coarse enough that no row can be read off: at most 64 steps, and no level of few rows.

A page that others get shows these in the place of the values themselves, unless whoever makes it asks for the rows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.asking.table import FirstLook

STEPS = 64
FEWEST = 5  # rows that a level, or a number on its own, must have to be shown
LEVELS = 30
MISSING = 255
OTHER = "other"
_FAR = 30.0  # a range so many times as wide as the middle half of the values leaves these in one step
_GOLDEN, _SILVER = 0.6180339887498949, 0.41421356237309515
_WITHIN = 0.8  # of the width of a step that its rows are spread over
_REACH = 1e140

Codes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Numbers by the step they are in.

    Attributes:
        codes: (m,) number of the step, 255 where missing.
        low, high: (k,) ends of the steps, rounded; equal where a step is one number that several rows have.
    """

    codes: Codes
    low: Array
    high: Array

    def spread(self, which: int = 0) -> Array:
        """(m,) a number within the step of each row, about its middle, which says nothing of the row's own.

        Args:
            which: number of the column, so that rows of one step lie in another order in each.
        """
        there = self.codes != MISSING
        found = np.full(len(self.codes), np.nan)
        step = self.codes[there]
        part = 0.5 + _WITHIN * ((np.flatnonzero(there) * (_GOLDEN + which * _SILVER)) % 1.0 - 0.5)
        width = (self.high - self.low)[step]
        unit = np.where(width > 0, 10.0 ** (np.floor(np.log10(np.where(width > 0, width, 1.0))) - 1), 0.0)
        place = self.low[step] + part * width
        # no more digits than the step has, or the pointer would tell what nobody knows
        found[there] = np.where(unit > 0, np.round(place / np.where(unit > 0, unit, 1.0)) * unit, place)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Categories by their more frequent levels.

    Attributes:
        codes: (m,) number of the level, 255 where missing.
        names: (k,) of the levels; the last may stand for several that few rows have.
        pooled: how many levels that last one stands for; 0 where there is none.
    """

    codes: Codes
    names: tuple[str, ...]
    pooled: int


def stepped(values: Array, *, log: bool = False) -> Steps | None:
    """Numbers in at most 64 steps: one for each where they are few and several rows have each, else even steps.

    Ends are rounded outwards, so that they tell neither the least nor the largest value. Where few values lie far
    from all others, steps are even on a scale that draws these in.

    Args:
        values: (m,) NaN where missing.
        log: whether steps are even on the scale of log(1 + x), for values above -1.

    Returns:
        The steps; None where no value is finite, or values leave the range in which steps can be computed.

    >>> steps = stepped(np.array([0.0, 1.0, np.nan] * 5))
    >>> steps.low.tolist(), steps.codes[:3].tolist()
    ([0.0, 1.0], [0, 1, 255])
    """
    there = np.isfinite(values)
    x = values[there]
    if not len(x) or np.abs(x).max() > _REACH:
        return None
    codes = np.full(len(values), MISSING, dtype=np.uint8)
    different, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    if len(different) <= STEPS and counts.min() >= FEWEST:
        codes[there] = place
        return Steps(codes, different, different)
    low, high = _round_ends(float(different[0]), float(different[-1]))
    scale, back = _scale(x, log and low > -1.0, high - low)
    ends = back(np.linspace(scale(low), scale(high), STEPS + 1))
    ends[0], ends[-1] = low, high
    ends = _told(ends)
    codes[there] = np.clip(np.searchsorted(ends, x, side="right") - 1, 0, STEPS - 1)
    return Steps(codes, ends[:-1], ends[1:])


def _round_ends(low: float, high: float) -> tuple[float, float]:
    """Ends a little farther apart, of two digits of their distance; of a single value, of two of its own."""
    reach = (high - low) or abs(low) or 1.0
    unit = 10.0 ** (np.floor(np.log10(reach)) - 1)
    if unit == 0.0:
        return low - reach, high + reach
    first, last = float(np.floor(low / unit)), float(np.ceil(high / unit))
    # a round value is no end either; but 0 is where many things begin
    first -= first * unit == low != 0.0
    last += last * unit == high != 0.0
    return first * unit, (last if last > first else first + 1) * unit


def _scale(x: Array, log: bool, span: float) -> tuple[Any, Any]:
    """A scale on which steps are even, there and back."""
    if log:
        return np.log1p, np.expm1
    quarter, middle, three = np.quantile(x, [0.25, 0.5, 0.75])
    width = float(three - quarter) or float(np.abs(x - middle).mean())
    if not width or span <= _FAR * width:
        return (lambda v: v), (lambda v: v)
    return (lambda v: np.arcsinh((v - middle) / width)), (lambda v: middle + width * np.sinh(v))


def _told(ends: Array) -> Array:
    """Ends with three digits of their least distance, ascending as they were."""
    least = float(np.diff(ends).min(initial=np.inf))
    if not (np.isfinite(least) and least > 0):
        return ends
    unit = 10.0 ** (np.floor(np.log10(least)) - 2)
    rounded = np.round(ends / unit) * unit
    return rounded if np.isfinite(rounded).all() and (np.diff(rounded) > 0).all() else ends


def pooled(codes: Array, names: tuple[str, ...], *, ordered: bool = False, fewest: int = FEWEST) -> Levels:
    """Levels that several rows have, at most 30; all others are one.

    Args:
        codes: (m,) numbers of levels, NaN where missing.
        names: of the levels; one that has no name is called by its number.
        ordered: whether levels stay in their order, rather than the most frequent first.
        fewest: rows that a level must have.

    >>> pooled(np.array([0.0] * 5 + [1.0, np.nan]), ("ham", "spam")).names
    ('ham', 'other')
    """
    there = np.isfinite(codes)
    numbers = codes[there].astype(np.intp)
    counts = np.bincount(numbers, minlength=len(names))
    shown = np.flatnonzero(counts >= fewest)
    shown = shown[np.argsort(-counts[shown], kind="stable")][:LEVELS]
    shown = np.sort(shown) if ordered else shown
    place = np.full(len(counts), len(shown), dtype=np.uint8)
    place[shown] = np.arange(len(shown))
    found = np.full(len(codes), MISSING, dtype=np.uint8)
    found[there] = place[numbers]
    rest = int(np.count_nonzero(counts)) - len(shown)
    told = [names[j] if j < len(names) else f"level {j + 1}" for j in shown]
    return Levels(found, (*told, *([OTHER] if rest else [])), rest)


def coarse_look(look: FirstLook, of: Collection[str]) -> FirstLook:
    """The same rows with coarse numbers: each somewhere within its step, about the middle.

    Levels of categories keep their numbers; their names are those of `pooled`.

    Args:
        look: rows as they came.
        of: the columns that are wanted; nothing is left of the values of others.
    """
    values = np.full_like(look.values, np.nan)
    levels = {name: names for name, names in look.levels.items() if name in of}
    for j, (name, kind) in enumerate(zip(look.columns, look.kinds, strict=True)):
        if name not in of:
            continue
        if name in levels:
            found = pooled(look.values[:, j], levels[name], ordered=kind == "ordered")
            values[:, j] = np.where(found.codes == MISSING, np.nan, found.codes)
            levels[name] = found.names
        elif kind in ("number", "count", "ordered", "time"):
            steps = stepped(look.values[:, j], log=name in look.log)
            values[:, j] = np.nan if steps is None else steps.spread(j)
        else:
            values[:, j] = look.values[:, j]
    return replace(look, values=values, levels=levels)
