"""The dip of sorted values in one compiled call: it is taken of many directions in many tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.compiled import inner, njit


@njit(cache=True, nogil=True)
def dip_of(x: Array) -> float:
    """The dip of (n,) ascending values, ties allowed.

    Below its peak a law of one peak is convex, above it concave. So the greatest convex function under the shares of
    the rows and the least concave one above them are taken between two places; where they lie farthest apart the peak
    is to be found, and what is left outside is settled. The places move together until nothing is gained by it.
    """
    n = len(x)
    values, below, upto = _apart(x), np.empty(n), np.empty(n)
    for i in range(n):
        below[i], upto[i] = i, i + 1
    low: Any = np.intp(0)  # with a plain 0 numba compiles what it is handed to once more
    high, dip = n - 1, 1.0
    under, over = np.empty(n, np.intp), np.empty(n, np.intp)
    while high > low:
        a = _hull(values, below, low, high, 1.0, under)
        b = _hull(values, upto, low, high, -1.0, over)
        apart, start, end = _farthest(values, below, upto, under[:a], over[:b])
        if apart <= dip:
            break
        dip = max(dip, _left(values, below, upto, under[:a], low, start))
        dip = max(dip, _right(values, below, upto, over[:b], end, high))
        if start == low and end == high:
            break
        low, high = start, end
    return dip / (2.0 * n)


@inner()
def _apart(x: Array) -> Array:
    """The same values, equal ones a millionth of the way to the next: a heap may be the peak of a law."""
    n = len(x)
    placed = x.copy()
    first = 0
    while first < n:
        last = first
        while last + 1 < n and x[last + 1] == x[first]:
            last += 1
        gap = x[last + 1] - x[first] if last + 1 < n else (x[first] - x[first - 1] if first > 0 else 1.0)
        for i in range(first, last + 1):
            placed[i] = x[first] + gap * 1e-6 * (i - first) / (last - first + 1)
        first = last + 1
    return placed


@inner()
def _hull(x: Array, y: Array, low: int, high: int, side: float, kept: NDArray[np.intp]) -> int:
    """Corners of the greatest convex function below the points (side 1), or the least concave one above (-1)."""
    count = 0
    for i in range(low, high + 1):
        while count > 1:
            p, q = kept[count - 2], kept[count - 1]
            turn = (y[q] - y[p]) * (x[i] - x[q]) - (y[i] - y[q]) * (x[q] - x[p])
            if side * turn < 0.0:
                break
            count -= 1
        kept[count] = i
        count += 1
    return count


@inner()
def _at(x: Array, y: Array, p: int, q: int, place: float) -> float:
    share = 1.0 if x[q] <= x[p] else (place - x[p]) / (x[q] - x[p])
    return float(y[p] + (y[q] - y[p]) * share)


@inner()
def _farthest(
    x: Array, below: Array, upto: Array, under: NDArray[np.intp], over: NDArray[np.intp]
) -> tuple[float, int, int]:
    """Where the two functions lie farthest apart: how far, and the corners of either nearest to there."""
    apart, start, end = -1.0, under[0], over[-1]
    i = 0
    for g in range(len(under)):
        while i < len(over) - 1 and x[over[i]] < x[under[g]]:
            i += 1
        far = _at(x, upto, over[max(i - 1, 0)], over[i], x[under[g]]) - below[under[g]]
        if far > apart:
            apart, start, end = far, under[g], over[i]
    i = len(under) - 1
    for g in range(len(over) - 1, -1, -1):
        while i > 0 and x[under[i]] > x[over[g]]:
            i -= 1
        far = upto[over[g]] - _at(x, below, under[i], under[min(i + 1, len(under) - 1)], x[over[g]])
        if far > apart:
            apart, start, end = far, under[i], over[g]
    return apart, start, end


@inner()
def _left(x: Array, below: Array, upto: Array, under: NDArray[np.intp], low: int, start: int) -> float:
    """How far the shares rise above the convex function up to a corner of it."""
    far = 0.0
    for g in range(len(under) - 1):
        if under[g] >= start:
            break
        for i in range(under[g], under[g + 1] + 1):
            far = max(far, upto[i] - _at(x, below, under[g], under[g + 1], x[i]))
    return far


@inner()
def _right(x: Array, below: Array, upto: Array, over: NDArray[np.intp], end: int, high: int) -> float:
    """How far the shares fall below the concave function from a corner of it on."""
    far = 0.0
    for g in range(len(over) - 1):
        if over[g] < end:
            continue
        for i in range(over[g], over[g + 1] + 1):
            far = max(far, _at(x, upto, over[g], over[g + 1], x[i]) - below[i])
    return far
