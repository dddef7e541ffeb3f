"""Coordinate descent for the elastic net in products of columns. Imported only when it runs.

    f(w) = c / 2 - q^T w + w^T Q w / 2 + l1 |w|_1 + l2 / 2 |w|^2            g = q - Q w,  h = g - l2 w

A coordinate alone is at its best at S(g_j + Q_jj w_j, l1) / (Q_jj + l2), S soft thresholding. Between sweeps, the signs
held fixed, the best w of its support solves a linear system; the way there is walked to the first change of sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit

_FEW = 48  # coefficients for which a linear system costs nothing beside sweeps
ROUNDING = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)  # what moved does not vanish where its square does
_FAST: Any = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def gap(c: float, q: Any, w: Any, g: Any, l1: float, l2: float, positive: bool) -> float:
    """How far f(w) is above its least, at most.

    The lesser of two dual points. Residuals r, and roots l2 w beside them, scaled by s to |h| <= l1:
    |r|^2 (1 - s)^2 / 2 + sum l1 |w_j| - s h_j w_j; and for l2 > 0 the residuals as they are, by Fenchel and Young:
    sum l1 |w_j| + l2 w_j^2 / 2 + (|g_j| - l1)_+^2 / (2 l2) - g_j w_j. No term of a sum is below 0, so nothing cancels.
    """
    left, top = c, 0.0
    for j in range(len(w)):
        left -= (q[j] + g[j]) * w[j]
        h = g[j] - l2 * w[j]
        top = max(top, h if positive else abs(h))
    left = max(left, 0.0)
    s = 1.0 if top <= l1 else l1 / top
    one, other = 0.0, 0.0
    for j in range(len(w)):
        left += l2 * w[j] * w[j]
        one += max(l1 * abs(w[j]) - s * (g[j] - l2 * w[j]) * w[j], 0.0)
        if l2 > 0.0:
            over = max((g[j] if positive else abs(g[j])) - l1, 0.0)
            other += max(l1 * abs(w[j]) + 0.5 * l2 * w[j] * w[j] + 0.5 * over * over / l2 - g[j] * w[j], 0.0)
    one += 0.5 * left * (1.0 - s) ** 2
    return min(one, other) if l2 > 0.0 else one


@njit(cache=True, nogil=True, fastmath=_FAST)
def violation(g: Any, w: Any, l1: float, l2: float, positive: bool) -> float:
    """Largest entry of the least subgradient: how far the conditions of a minimum are from holding."""
    worst = 0.0
    for j in range(len(w)):
        h = g[j] - l2 * w[j]
        if w[j] > 0.0:
            off = abs(h - l1)
        elif w[j] < 0.0:
            off = abs(h + l1)
        else:
            off = max((h if positive else abs(h)) - l1, 0.0)
        worst = max(worst, off)
    return worst


@njit(cache=True, nogil=True, fastmath=_FAST)
def _sweep(Q: Any, w: Any, g: Any, l1: float, l2: float, positive: bool) -> float:
    """Put every coordinate in turn at its best; returns their squared moves, in units of f."""
    moved = 0.0
    for j in range(len(w)):
        curve = Q[j, j] + l2
        if curve <= 0.0:
            continue
        at = g[j] + Q[j, j] * w[j]
        new = 0.0
        if at > l1:
            new = (at - l1) / curve
        elif at < -l1 and not positive:
            new = (at + l1) / curve
        step = new - w[j]
        if step != 0.0:
            moved += max(curve * step * step, _TINY)
            w[j] = new
            row = Q[j]
            for i in range(len(w)):
                g[i] -= step * row[i]
    return moved


@njit(cache=True, nogil=True, fastmath=_FAST)
def _settle(Q: Any, q: Any, w: Any, g: Any, l1: float, l2: float, support: Any, m: int) -> bool:
    """Walk to the best w with these signs on this support, or to where the first sign changes; False if singular."""
    L, v = np.empty((m, m)), np.empty(m)
    for a in range(m):
        i = support[a]
        for b in range(a + 1):
            total = Q[i, support[b]]
            for k in range(b):
                total -= L[a, k] * L[b, k]
            if b < a:
                L[a, b] = total / L[b, b]
            else:
                total += l2
                if not total > 1e-13 * (Q[i, i] + l2):
                    return False
                L[a, a] = np.sqrt(total)
        total = q[i] - (l1 if w[i] > 0.0 else -l1)
        for k in range(a):
            total -= L[a, k] * v[k]
        v[a] = total / L[a, a]
    for a in range(m - 1, -1, -1):
        total = v[a]
        for k in range(a + 1, m):
            total -= L[k, a] * v[k]
        v[a] = total / L[a, a]
    share, first = 1.0, -1
    for a in range(m):
        here = w[support[a]]
        if v[a] * here <= 0.0 and here / (here - v[a]) < share:
            share, first = here / (here - v[a]), a
    for a in range(m):
        i = support[a]
        w[i] = v[a] if first < 0 else w[i] + share * (v[a] - w[i])
    if first >= 0:
        w[support[first]] = 0.0
    g[:] = q
    for a in range(m):
        row, value = Q[support[a]], w[support[a]]
        for i in range(len(w)):
            g[i] -= value * row[i]
    return True


@njit(cache=True, nogil=True, fastmath=_FAST)
def fitted(c: float, q: Any, w: Any) -> float:
    """What a gap is measured in: c, or q^T w where a high penalty leaves less to be fitted, down to rounding of c."""
    total = 0.0
    for j in range(len(w)):
        total += q[j] * w[j]
    return min(c, max(total, ROUNDING * c))


@njit(cache=True, nogil=True, fastmath=_FAST)
def descend(
    Q: Any, q: Any, c: float, w: Any, g: Any, l1: float, l2: float, positive: bool, goal: float, most: int
) -> int:
    """Lower f from w, with g = q - Q w kept beside it, until its gap is `goal` of what is fitted; the sweeps taken."""
    support = np.empty(len(w), np.int64)
    since = 0
    for sweep in range(most):
        moved = _sweep(Q, w, g, l1, l2, positive)
        since += 1
        m = 0
        for j in range(len(w)):
            if w[j] != 0.0:
                support[m] = j
                m += 1
        if m <= max(_FEW, 6 * since) and m > 0 and moved > 0.0:
            _settle(Q, q, w, g, l1, l2, support, m)
            since = 0
        unit = fitted(c, q, w)
        # after a sweep of large moves a small gap still is the root of itself in coefficients: another costs little
        still = since == 0 or moved <= np.sqrt(goal) * unit
        if moved == 0.0 or (still and gap(c, q, w, g, l1, l2, positive) <= goal * unit):
            # a gap allows coefficients its root; a system no dearer than the sweeps leaves nothing
            if since > 0 and 0 < m <= 6 * (sweep + 1):
                _settle(Q, q, w, g, l1, l2, support, m)
            return sweep + 1
    return most


@njit(cache=True, nogil=True, fastmath=_FAST)
def _entering(g: Any, w: Any, l1: float, l2: float, positive: bool, chosen: Any) -> int:
    """Mark columns that are in use, or whose slope beats the penalty; returns how many."""
    count = 0
    for j in range(len(w)):
        h = g[j] - l2 * w[j]
        if w[j] != 0.0 or (h if positive else abs(h)) > l1 * (1.0 + 1e-14):
            chosen[count] = j
            count += 1
    return count


@njit(cache=True, nogil=True, fastmath=_FAST)
def path(
    Q: Any, q: Any, c: float, ones: Any, twos: Any, positive: bool, tol: float, most: int, W: Any, told: Any
) -> None:
    """Solutions for descending penalties, each from the one before.

    Args:
        Q: (d, d), q: (d,), c: as above.
        ones, twos: (k,) l1 and l2.
        positive: whether no coefficient may be below 0.
        tol: gap at the end, as a share of what is fitted.
        most: sweeps for each penalty.
        W: (k, d) solutions, to be filled; its first row is where to begin.
        told: (k, 3) gap, violation and sweeps of each, to be filled.
    """
    d = len(q)
    w, g, chosen = W[0].copy(), q.copy(), np.empty(d, np.int64)
    for k in range(len(ones)):
        l1, l2, goal, sweeps, last = ones[k], twos[k], 0.5 * tol, 0, 0
        for _ in range(50):
            g[:] = q
            for j in range(d):
                if w[j] != 0.0:
                    row, value = Q[j], w[j]
                    for i in range(d):
                        g[i] -= value * row[i]
            told[k, 0] = gap(c, q, w, g, l1, l2, positive)
            a = _entering(g, w, l1, l2, positive, chosen)
            if told[k, 0] <= tol * fitted(c, q, w) or a == 0 or sweeps >= most:
                break
            P, p, u, slope = np.empty((a, a)), np.empty(a), np.empty(a), np.empty(a)
            for i in range(a):
                p[i], u[i], slope[i] = q[chosen[i]], w[chosen[i]], g[chosen[i]]
                for j in range(a):
                    P[i, j] = Q[chosen[i], chosen[j]]
            sweeps += descend(P, p, c, u, slope, l1, l2, positive, goal, most - sweeps)
            for i in range(a):
                w[chosen[i]] = u[i]
            if a == last:  # nothing entered, and still it is not met: rounding
                goal *= 0.1
            last = a
        told[k, 1], told[k, 2] = violation(g, w, l1, l2, positive), sweeps
        W[k] = w
