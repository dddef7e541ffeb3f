"""Compiled loops of the layouts. Imported only when a layout runs: numba takes a second to load.

Positions are (n, q), rows lo..hi are one thread's share, and every result is written to rows of its own: what comes out
does not depend on the number of threads. Without numba's test for division by zero (error_model) loops are vectorised;
positions that are not finite are caught by the callers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import inner, njit

SUPPORT = 6  # grid points a quintic B-spline reaches


@inner(fastmath=True, error_model="numpy")
def spline(t: float, w: Any, dw: Any) -> None:
    """The six values of the quintic B-spline about a point a share t after its third grid point, and their slopes.

    By de Boor's recursion from the quartic, whose differences are the slopes.
    """
    w[0] = 1.0
    for degree in range(1, SUPPORT):
        if degree == SUPPORT - 1:
            dw[0] = -w[0]
            for s in range(1, degree):
                dw[s] = w[s - 1] - w[s]
            dw[degree] = w[degree - 1]
        w[degree] = t * w[degree - 1] / degree
        for s in range(degree - 1, 0, -1):
            w[s] = ((t + degree - s) * w[s - 1] + (1.0 + s - t) * w[s]) / degree
        w[0] = (1.0 - t) * w[0] / degree


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def spread(Y: Any, lo: int, hi: int, origin: Any, spacing: float, grid: Any) -> None:
    """Add unit charges at rows lo..hi to a (1, 1, m), (1, m, m) or (m, m, m) grid."""
    q = Y.shape[1]
    w, dw = np.ones((3, SUPPORT)), np.zeros(SUPPORT)
    size, at = np.ones(3, np.int64), np.zeros(3, np.int64)
    for axis in range(q):
        size[3 - q + axis] = SUPPORT
    for i in range(lo, hi):
        for axis in range(q):
            place = (Y[i, axis] - origin[axis]) / spacing
            at[3 - q + axis] = int(place)
            spline(place - int(place), w[3 - q + axis], dw)
        for a in range(size[0]):
            for b in range(size[1]):
                weight = w[0, a] * w[1, b]
                row = grid[at[0] + a, at[1] + b]
                for c in range(SUPPORT):
                    row[at[2] + c] += weight * w[2, c]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def gather(Y: Any, lo: int, hi: int, origin: Any, spacing: float, grid: Any, value: Any, slope: Any) -> None:
    """Value and slope of the spline with the grid's coefficients at rows lo..hi."""
    q = Y.shape[1]
    w, dw = np.ones((3, SUPPORT)), np.zeros((3, SUPPORT))
    size, at = np.ones(3, np.int64), np.zeros(3, np.int64)
    for axis in range(q):
        size[3 - q + axis] = SUPPORT
    for i in range(lo, hi):
        for axis in range(q):
            place = (Y[i, axis] - origin[axis]) / spacing
            at[3 - q + axis] = int(place)
            spline(place - int(place), w[3 - q + axis], dw[3 - q + axis])
        total = s0 = s1 = s2 = 0.0
        for a in range(size[0]):
            for b in range(size[1]):
                row = grid[at[0] + a, at[1] + b]
                here = along = 0.0
                for c in range(SUPPORT):
                    here += w[2, c] * row[at[2] + c]
                    along += dw[2, c] * row[at[2] + c]
                total += w[0, a] * w[1, b] * here
                s0 += dw[0, a] * w[1, b] * here
                s1 += w[0, a] * dw[1, b] * here
                s2 += w[0, a] * w[1, b] * along
        value[i] = total
        slope[i, q - 1] = s2 / spacing
        if q > 1:
            slope[i, q - 2] = s1 / spacing
        if q > 2:
            slope[i, 0] = s0 / spacing


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def attract_student(starts: Any, partners: Any, P: Any, Y: Any, points: Any, lo: int, hi: int, pull: Any) -> None:
    """sum_j p_ij w_ij (y_i - b_j) with w = 1 / (1 + |y_i - b_j|^2), for rows lo..hi and points b."""
    q = Y.shape[1]
    if q == 2:
        for i in range(lo, hi):
            x, y = Y[i, 0], Y[i, 1]
            fx = fy = 0.0
            for e in range(starts[i], starts[i + 1]):
                j = partners[e]
                dx, dy = x - points[j, 0], y - points[j, 1]
                strength = P[e] / (1.0 + dx * dx + dy * dy)
                fx += strength * dx
                fy += strength * dy
            pull[i, 0] = fx
            pull[i, 1] = fy
        return
    for i in range(lo, hi):
        for a in range(q):
            pull[i, a] = 0.0
        for e in range(starts[i], starts[i + 1]):
            j = partners[e]
            square = 1.0
            for a in range(q):
                square += (Y[i, a] - points[j, a]) ** 2
            for a in range(q):
                pull[i, a] += P[e] / square * (Y[i, a] - points[j, a])


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def repel_student(points: Any, lo: int, hi: int, push: Any, mass: Any) -> None:
    """sum_j w_ij^2 (y_i - y_j) and sum_j w_ij, j not i, from all pairs of (3, n) points; an axis not there is zeros."""
    x, y, z = points[0], points[1], points[2]
    for i in range(lo, hi):
        total = -1.0  # the term of i itself
        fx = fy = fz = 0.0
        xi, yi, zi = x[i], y[i], z[i]  # taken out of the loop, which then does several j at once, four times as fast
        for j in range(x.size):
            dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
            w = 1.0 / (1.0 + dx * dx + dy * dy + dz * dz)
            total += w
            w *= w
            fx += w * dx
            fy += w * dy
            fz += w * dz
        mass[i] = total
        push[i, 0] = fx
        if push.shape[1] > 1:
            push[i, 1] = fy
        if push.shape[1] > 2:
            push[i, 2] = fz


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def repel_power(points: Any, power: float, lo: int, hi: int, push: Any, mass: Any) -> None:
    """As `repel_student` for w_ij^power: sum_j w_ij^(power + 1) (y_i - y_j) and sum_j w_ij^power, j not i."""
    x, y, z = points[0], points[1], points[2]
    for i in range(lo, hi):
        total = -1.0  # the term of i itself
        fx = fy = fz = 0.0
        xi, yi, zi = x[i], y[i], z[i]
        for j in range(x.size):
            dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
            square = 1.0 + dx * dx + dy * dy + dz * dz
            w = np.exp(-power * np.log(square))
            total += w
            w /= square
            fx += w * dx
            fy += w * dy
            fz += w * dz
        mass[i] = total
        push[i, 0] = fx
        if push.shape[1] > 1:
            push[i, 1] = fy
        if push.shape[1] > 2:
            push[i, 2] = fz


@inner(fastmath=True, error_model="numpy")
def bell(square: float) -> float:
    """exp(-square) as the 256th power of a Taylor polynomial, which vectorises; to 1e-10 where it is above 1e-11.

    Here at 300, so that a lone point still has partners to compare.
    """
    t = min(square, 300.0) / 256.0
    e = 1.0 - t * (
        1.0 - t / 2.0 * (1.0 - t / 3.0 * (1.0 - t / 4.0 * (1.0 - t / 5.0 * (1.0 - t / 6.0 * (1.0 - t / 7.0)))))
    )
    for _ in range(8):
        e *= e
    return e


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def mass_gaussian(at: Any, points: Any, alone: bool, lo: int, hi: int, mass: Any) -> None:
    """sum_j exp(-|a_i - b_j|^2) over all points b for rows lo..hi of a; if not alone, a is b and j = i is left out.

    Both are (3, n), coordinates by axis, zeros where there are fewer axes.
    """
    x, y, z = points
    for i in range(lo, hi):
        total = 0.0 if alone else -1.0
        for j in range(x.size):
            dx, dy, dz = at[0, i] - x[j], at[1, i] - y[j], at[2, i] - z[j]
            total += bell(dx * dx + dy * dy + dz * dz)
        mass[i] = total


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def repel_gaussian(at: Any, points: Any, own: Any, other: Any, lo: int, hi: int, push: Any) -> None:
    """sum_j exp(-|a_i - b_j|^2) (own_i + other_j) (a_i - b_j), as in mass_gaussian."""
    x, y, z = points
    for i in range(lo, hi):
        fx = fy = fz = 0.0
        for j in range(x.size):
            dx, dy, dz = at[0, i] - x[j], at[1, i] - y[j], at[2, i] - z[j]
            e = bell(dx * dx + dy * dy + dz * dz) * (own[i] + other[j])
            fx += e * dx
            fy += e * dy
            fz += e * dz
        push[i, 0] = fx
        if push.shape[1] > 1:
            push[i, 1] = fy
        if push.shape[1] > 2:
            push[i, 2] = fz


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def apart_cost(starts: Any, partners: Any, P: Any, Y: Any, points: Any, lo: int, hi: int, cost: Any) -> None:
    """sum_j p_ij log(1 + |y_i - b_j|^2) for rows lo..hi and points b."""
    for i in range(lo, hi):
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            square = 0.0
            for a in range(Y.shape[1]):
                square += (Y[i, a] - points[partners[e], a]) ** 2
            total += P[e] * np.log(1.0 + square)
        cost[i] = total


@njit(cache=True, nogil=True, error_model="numpy")
def centre(Y: Any) -> None:
    """Move the points so that their mean is zero, in place."""
    n, q = Y.shape
    for a in range(q):
        mean = 0.0
        for i in range(n):
            mean += Y[i, a]
        mean /= n
        for i in range(n):
            Y[i, a] -= mean


@njit(cache=True, nogil=True, error_model="numpy")
def advance(Y: Any, gradient: Any, step: Any, gains: Any, rate: float, momentum: float, longest: float) -> None:
    """One step of descent with momentum, gains and restarts, in place."""
    n, q = Y.shape
    uphill = 0.0
    for i in range(n):
        for a in range(q):
            uphill += gradient[i, a] * step[i, a]
    if uphill > 0.0:
        momentum = 0.0
    for i in range(n):
        length = 0.0
        for a in range(q):
            g = gradient[i, a]
            gains[i, a] = max(gains[i, a] * 0.8, 0.01) if g * step[i, a] > 0.0 else gains[i, a] + 0.2
            step[i, a] = momentum * step[i, a] - rate * gains[i, a] * g
            length += step[i, a] ** 2
        shrink = longest / np.sqrt(length) if length > longest * longest else 1.0
        for a in range(q):
            step[i, a] *= shrink
            Y[i, a] += step[i, a]
