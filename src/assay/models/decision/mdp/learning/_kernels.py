"""Compiled draws of counts and the solution of what they say. Imported only when they run.

The pairs of state s are first[s] .. first[s + 1] - 1, none in an end; the outcomes of pair i are start[i] .. start[i +
1] - 1, with weights w and `after` -1 where nobody knows. A share `loose[i]` of pair i leads anywhere, to any state
alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit

_GAIN = 0.1  # sweeps of one policy end once they have made the span so much smaller


@njit(cache=True, nogil=True)
def weigh(of_step: Any, trial: Any, reward: Any, by_trial: Any, w: Any, g: Any) -> None:
    """Weights and weighted rewards of outcomes, where each step has the weight of its trial."""
    w[:] = 0.0
    g[:] = 0.0
    for i in range(len(of_step)):
        e = by_trial[trial[i]]
        w[of_step[i]] += e
        g[of_step[i]] += e * reward[i]


@njit(cache=True, nogil=True)
def estimate(
    first: Any, start: Any, after: Any, w: Any, g: Any, usual: float, prior: Any, leave: bool, p: Any, r: Any,
    loose: Any, share: Any, shut: Any,
) -> None:  # fmt: skip
    """Probabilities of outcomes, rewards of pairs, the share of each that leads anywhere, and how often it is taken.

    With `leave` pairs without any weight are shut, unless all of their state are.
    """
    for i in range(len(r)):
        total, known, gain = 0.0, 0.0, 0.0
        for j in range(start[i], start[i + 1]):
            total += w[j]
            gain += g[j]
            if after[j] >= 0:
                known += w[j]
        share[i] = total
        r[i] = gain / total if total > 0.0 else usual
        full = known + prior[i]
        loose[i] = prior[i] / full if known > 0.0 else 1.0
        for j in range(start[i], start[i + 1]):
            p[j] = w[j] / full if after[j] >= 0 and known > 0.0 else 0.0
    for s in range(len(first) - 1):
        total = 0.0
        for i in range(first[s], first[s + 1]):
            total += share[i]
        for i in range(first[s], first[s + 1]):
            shut[i] = leave and share[i] == 0.0 and total > 0.0
            share[i] = share[i] / total if total > 0.0 else 1.0 / (first[s + 1] - first[s])


@njit(cache=True, nogil=True)
def _value(i: int, start: Any, after: Any, p: Any, r: Any, loose: Any, discount: float, v: Any, mean: float) -> float:
    total = loose[i] * mean
    for j in range(start[i], start[i + 1]):
        if after[j] >= 0:
            total += p[j] * v[after[j]]
    return float(r[i] + discount * total)


@njit(cache=True, nogil=True)
def solve(
    first: Any, start: Any, after: Any, p: Any, r: Any, loose: Any, share: Any, shut: Any, discount: float, chosen: Any,
    way: int, tol: float, most: int, v: Any, q: Any,
) -> float:  # fmt: skip
    """Values in place, from those in v, of the best policy (way 0), of the chosen one (1), of the usual one (2).

    The usual policy takes pairs by `share`. Modified policy iteration, stopped by the span of the last change (MacQueen
    1966); returns the distance reached.
    """
    n = len(first) - 1
    new = np.empty(n)
    far = discount / (1.0 - discount)
    radius = np.inf
    for _ in range(most):
        mean = v.mean()
        low, high = 0.0, 0.0
        for s in range(n):
            new[s] = v[s]
            if first[s] == first[s + 1]:
                continue
            if way == 0:
                best = -np.inf
                for i in range(first[s], first[s + 1]):
                    if not shut[i]:
                        q[i] = _value(i, start, after, p, r, loose, discount, v, mean)
                        if q[i] > best:
                            best = q[i]
                            chosen[s] = i
                new[s] = best
            elif way == 1:
                new[s] = _value(chosen[s], start, after, p, r, loose, discount, v, mean)
            else:
                new[s] = 0.0
                for i in range(first[s], first[s + 1]):
                    if share[i] > 0.0:
                        new[s] += share[i] * _value(i, start, after, p, r, loose, discount, v, mean)
            low, high = min(low, new[s] - v[s]), max(high, new[s] - v[s])
        v[:] = new
        radius = far * (high - low) / 2.0
        if radius <= tol:
            for s in range(n):
                if first[s] < first[s + 1]:
                    v[s] += far * (low + high) / 2.0
            break
        if way == 2:
            continue
        span = high - low
        for _ in range(50):
            mean = v.mean()
            less, more = 0.0, 0.0
            for s in range(n):
                if first[s] < first[s + 1]:
                    old = v[s]
                    v[s] = _value(chosen[s], start, after, p, r, loose, discount, v, mean)
                    less, more = min(less, v[s] - old), max(more, v[s] - old)
            if more - less <= _GAIN * span:
                break
    mean = v.mean()
    for i in range(len(r)):
        q[i] = _value(i, start, after, p, r, loose, discount, v, mean)
    return radius
