"""Compiled loops over pairs of points. Imported only when they run: numba takes a second to load.

Pairs i < j are kept condensed, row after row, as SciPy's pdist does: pair (i, j) at i (2 n - i - 1) / 2 + j - i - 1.
Coordinates are (k, n), one axis after another, so that the inner loops run over neighbours in memory.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from assay.compiled import njit

# Sums may be taken in another order, for SIMD; the order is the same in every run.
_SUMS = {"reassoc", "contract", "nsz"}
_NEVER_ZERO = 1e-290  # divided by in place of a distance of zero, whose difference is zero as well


@njit(cache=True, nogil=True, fastmath=_SUMS)
def squares_of_row(X: Any, i: int, row: Any) -> None:
    """Squared distances of point i to the points after it."""
    k, n = X.shape
    m = n - 1 - i
    row[:m] = 0.0
    for c in range(k):
        own, others = X[c, i], X[c, i + 1 :]
        for j in range(m):
            gap = own - others[j]
            row[j] += gap * gap


@njit(cache=True, nogil=True, fastmath=_SUMS)
def pull_of_rows(X: Any, targets: Any, weights: Any, first: int, last: int, pull: Any) -> float:
    """Stress of the pairs (i, j), first <= i < last, and half its gradient added to pull.

    stress = sum w (d - t)^2,  pull_i += sum_j w (d - t) / d (x_i - x_j); no weights mean w = 1.
    """
    k, n = X.shape
    row = np.empty(n)
    stress = 0.0
    for i in range(first, last):
        m, base = n - 1 - i, i * (2 * n - i - 1) // 2
        target = targets[base : base + m]
        squares_of_row(X, i, row)
        if weights.size == 0:
            for j in range(m):
                d = sqrt(row[j])
                gap = d - target[j]
                stress += gap * gap
                row[j] = gap / max(d, _NEVER_ZERO)
        else:
            weight = weights[base : base + m]
            for j in range(m):
                d = sqrt(row[j])
                gap = d - target[j]
                stress += weight[j] * gap * gap
                row[j] = weight[j] * gap / max(d, _NEVER_ZERO)
        for c in range(k):
            own, others, their_pull = X[c, i], X[c, i + 1 :], pull[c, i + 1 :]
            total = 0.0
            for j in range(m):
                part = row[j] * (own - others[j])
                total += part
                their_pull[j] -= part
            pull[c, i] += total
    return stress


@njit(cache=True, nogil=True, fastmath=_SUMS)
def distances_of_rows(X: Any, first: int, last: int, distances: Any) -> None:
    """Distances of the pairs (i, j), first <= i < last, into the condensed array."""
    n = X.shape[1]
    row = np.empty(n)
    for i in range(first, last):
        m, base = n - 1 - i, i * (2 * n - i - 1) // 2
        squares_of_row(X, i, row)
        for j in range(m):
            distances[base + j] = sqrt(row[j])


@njit(cache=True, nogil=True)
def pool_adjacent(values: Any, weights: Any, sums: Any, mass: Any, stops: Any) -> int:
    """The nearest non-decreasing sequence in weighted least squares, as levels; returns how many.

    Neighbours out of order are pooled to their mean until none are (Ayer et al. 1955), in one pass. Level l is
    sums[l] / mass[l] up to, not with, stops[l]; means are compared crosswise, because a division each would take most
    of the time. No weights mean weight 1.
    """
    levels = 0
    for t in range(values.size):
        weight = 1.0 if weights.size == 0 else weights[t]
        total = weight * values[t]
        while levels > 0 and sums[levels - 1] * weight >= total * mass[levels - 1]:
            levels -= 1
            total += sums[levels]
            weight += mass[levels]
        sums[levels], mass[levels], stops[levels] = total, weight, t + 1
        levels += 1
    return levels


@njit(cache=True, nogil=True)
def spread_levels(levels: int, sums: Any, mass: Any, stops: Any, starts: Any, order: Any, fitted: Any) -> None:
    """Write each level to the positions it stands for; values may stand for runs of positions, begun at starts."""
    position = 0
    for level in range(levels):
        mean = sums[level] / mass[level]
        stop = starts[stops[level]] if starts.size > 0 else stops[level]
        while position < stop:
            fitted[order[position]] = mean
            position += 1


@njit(cache=True, nogil=True)
def gather(values: Any, order: Any, out: Any) -> None:
    """Out = values[order], without a new array."""
    for t in range(order.size):
        out[t] = values[order[t]]


@njit(cache=True, nogil=True)
def sort_ties(starts: Any, stops: Any, keys: Any, order: Any) -> None:
    """Sort keys, and order with them, within each of the given stretches (Shell's method, gaps shrinking by 2.25)."""
    for block in range(starts.size):
        low, high = starts[block], stops[block]
        falls = 0
        for i in range(low + 1, high):
            falls += keys[i] < keys[i - 1]
        # from one iteration to the next a stretch stays nearly sorted, and exchanging neighbours is all it needs
        gap = high - low if falls * 4 > high - low else min(2, high - low)
        while gap > 1:
            gap = max(1, int(gap / 2.25))
            for i in range(low + gap, high):
                key, place = keys[i], order[i]
                j = i
                while j >= low + gap and keys[j - gap] > key:
                    keys[j], order[j] = keys[j - gap], order[j - gap]
                    j -= gap
                keys[j], order[j] = key, place


@njit(cache=True, nogil=True)
def place_points(
    coordinates: Any, targets: Any, weights: Any, places: Any, tol: float, max_iter: int, moves: Any
) -> None:
    """Majorise the stress of each new point with the old ones held: z <- mean of x_j + t_j (z - x_j) / |z - x_j|.

    Args:
        coordinates: (n, k) of the old points.
        targets: (m, n) distances wanted.
        weights: (m, n), not negative.
        places: (m, k) starts, overwritten by where the points end.
        tol: A point stops when it moves by no more than this.
        max_iter: Most steps of each.
        moves: (m,) the length of the last step of each.
    """
    n, k = coordinates.shape
    moved = np.empty(k)
    for i in range(len(places)):
        z = places[i]
        for _ in range(max_iter):
            moved[:] = 0.0
            mass = 0.0
            for j in range(n):
                square = 0.0
                for c in range(k):
                    square += (z[c] - coordinates[j, c]) ** 2
                ratio = targets[i, j] / max(sqrt(square), _NEVER_ZERO)
                mass += weights[i, j]
                for c in range(k):
                    moved[c] += weights[i, j] * (coordinates[j, c] + ratio * (z[c] - coordinates[j, c]))
            step = 0.0
            for c in range(k):
                place = moved[c] / mass
                step += (place - z[c]) ** 2
                z[c] = place
            moves[i] = sqrt(step)
            if moves[i] <= tol:
                break
