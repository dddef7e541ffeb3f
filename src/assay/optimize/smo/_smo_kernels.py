"""Compiled loops of the SMO solver. Imported only when they run: numba takes a second to load.

Kernel values may be float32 or float64; weights, gradients and sums are float64 always.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit

# Sums may be taken in another order, for SIMD; the order is the same in every run. Infinities are in use.
_SUMS = {"reassoc", "contract", "nsz", "nnan"}
_ROUNDING = 1e-13
_STRIP = 2048  # columns at a time, so that what is added to stays in the first cache


@njit(cache=True, nogil=True, fastmath=_SUMS)
def add_rows(table: Any, slots: Any, weights: Any, total: Any, first: int, last: int) -> None:
    """total[first:last] += sum over k of weights[k] table[slots[k], first:last]."""
    m = slots.size
    for s in range(first, last, _STRIP):
        e = min(s + _STRIP, last)
        out = total[s:e]
        k = 0
        while k + 4 <= m:
            a, b = table[slots[k], s:e], table[slots[k + 1], s:e]
            c, d = table[slots[k + 2], s:e], table[slots[k + 3], s:e]
            wa, wb, wc, wd = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
            for j in range(out.size):
                out[j] += (wa * a[j] + wb * b[j]) + (wc * c[j] + wd * d[j])
            k += 4
        while k < m:
            a, wa = table[slots[k], s:e], weights[k]
            for j in range(out.size):
                out[j] += wa * a[j]
            k += 1


@njit(cache=True, nogil=True)
def gather_block(table: Any, slots: Any, places: Any, block: Any, first: int, last: int) -> None:
    """block[a, b] = table[slots[a], places[b]] for the rows a from first to last."""
    for a in range(first, last):
        row = table[slots[a]]
        for b in range(places.size):
            block[a, b] = row[places[b]]


@njit(cache=True, nogil=True)
def keep_columns(flat: Any, width: int, slots: Any, keep: Any) -> None:
    """Move what is kept of the rows at `slots` (rising) of a table `width` wide to the front, `keep` (rising) wide.

    In place: a value never moves to a position behind its own.
    """
    to = 0
    for slot in slots:
        begin = slot * width
        for k in range(keep.size):
            flat[to + k] = flat[begin + keep[k]]
        to += keep.size


@njit(cache=True, nogil=True, fastmath=_SUMS)
def solve_block(
    K: Any, diagonal: Any, beta: Any, G: Any, lower: Any, upper: Any, stop: float, most: int, tiny: float
) -> int:
    """SMO on a block that fits in the cache: beta and its gradient G change in place; returns the steps taken.

    A step moves weight from j to i along the line: i with the least gradient of those that may rise, j the one that
    promises the largest decrease (G_j - G_i)^2 / (K_ii + K_jj - 2 K_ij) of those that may fall (second order choice).
    """
    q = beta.size
    stuck_up, stuck_low, gain = np.empty(q), np.empty(q), np.empty(q)
    for k in range(q):
        stuck_up[k] = 0.0 if beta[k] < upper[k] else np.inf
        stuck_low[k] = 0.0 if beta[k] > lower[k] else np.inf
    least, highest = np.inf, -np.inf
    for k in range(q):
        least = min(least, G[k] + stuck_up[k])
        highest = max(highest, G[k] - stuck_low[k])
    steps = 0
    while steps < most and highest - least > stop:
        i = 0
        while G[i] + stuck_up[i] != least:
            i += 1
        row, own = K[i], diagonal[i]
        best, shrunk = 0.0, 1.0 / (highest - least)  # so that squares stay within floats
        for k in range(q):
            gap = max(G[k] - stuck_low[k] - least, 0.0) * shrunk
            gain[k] = gap * gap / max(own + diagonal[k] - 2.0 * row[k], tiny)
            best = max(best, gain[k])
        j = 0
        while gain[j] != best:
            j += 1
        if i == j or best == 0.0:
            break
        rise, fall = upper[i] - beta[i], beta[j] - lower[j]
        step = min((G[j] - least) / max(own + diagonal[j] - 2.0 * row[j], tiny), min(rise, fall))
        # what rounding leaves of a weight is none
        beta[i] = upper[i] if rise - step <= _ROUNDING * step else beta[i] + step
        beta[j] = lower[j] if fall - step <= _ROUNDING * step else beta[j] - step
        for k in (i, j):
            stuck_up[k] = 0.0 if beta[k] < upper[k] else np.inf
            stuck_low[k] = 0.0 if beta[k] > lower[k] else np.inf
        other = K[j]
        least, highest = np.inf, -np.inf
        for k in range(q):
            G[k] += step * (row[k] - other[k])
            least = min(least, G[k] + stuck_up[k])
            highest = max(highest, G[k] - stuck_low[k])
        steps += 1
    return steps


@njit(cache=True, nogil=True, fastmath=_SUMS)
def solve_block_of_lines(
    lines: Any,
    K: Any,
    diagonal: Any,
    beta: Any,
    G: Any,
    lower: Any,
    upper: Any,
    stop: float,
    most: int,
    tiny: float,
) -> int:
    """The same where variables lie on several lines: both of a step are on the line that violates most."""
    q, many = beta.size, lines.max() + 1
    least, highest = np.empty(many), np.empty(many)
    steps = 0
    while steps < most:
        least[:], highest[:] = np.inf, -np.inf
        for k in range(q):
            if beta[k] < upper[k]:
                least[lines[k]] = min(least[lines[k]], G[k])
            if beta[k] > lower[k]:
                highest[lines[k]] = max(highest[lines[k]], G[k])
        line = 0
        for one in range(1, many):
            if highest[one] - least[one] > highest[line] - least[line]:
                line = one
        if not highest[line] - least[line] > stop:
            break
        i = 0
        while not (lines[i] == line and beta[i] < upper[i] and G[i] == least[line]):
            i += 1
        j, best, shrunk = i, 0.0, 1.0 / (highest[line] - least[line])
        for k in range(q):
            if lines[k] == line and beta[k] > lower[k]:
                gap = max(G[k] - G[i], 0.0) * shrunk
                gain = gap * gap / max(diagonal[i] + diagonal[k] - 2.0 * K[i, k], tiny)
                if gain > best:
                    j, best = k, gain
        if i == j:
            break
        rise, fall = upper[i] - beta[i], beta[j] - lower[j]
        step = min((G[j] - G[i]) / max(diagonal[i] + diagonal[j] - 2.0 * K[i, j], tiny), min(rise, fall))
        beta[i] = upper[i] if rise - step <= _ROUNDING * step else beta[i] + step
        beta[j] = lower[j] if fall - step <= _ROUNDING * step else beta[j] - step
        for k in range(q):
            G[k] += step * (K[i, k] - K[j, k])
        steps += 1
    return steps
