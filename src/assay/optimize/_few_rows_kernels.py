"""k-means of few rows in one compiled call: a pass takes microseconds, calling it from Python would take longer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]


@njit(cache=True, nogil=True)
def group_few(X: Array, k: int, draws: Array, max_iter: int, bound: float) -> tuple[Array, Any, float, int, bool]:
    """Greedy k-means++ and Lloyd's iteration from each of several starts; the best of them.

    Args:
        X: (n, d), centred.
        k: how many centres.
        draws: (starts, k, candidates) random numbers in [0, 1).
        max_iter: most passes of a start.
        bound: stop when the squared moves of the centres sum to at most this.

    Returns:
        (k, d) centres, (n,) labels, the sum of squares, passes of the best start, and whether it came to rest.
    """
    best = X[:k].copy()
    labels = np.zeros(len(X), np.int32)
    least, passes, rested = np.inf, 0, False
    for start in range(len(draws)):
        centers = _seeded(X, k, draws[start])
        owner = np.empty(len(X), np.int32)
        near = np.empty(len(X))
        done, n_iter = False, 0
        while n_iter < max_iter and not done:
            n_iter += 1
            _assign(X, centers, owner, near)
            done = _means(X, centers, owner, near) <= bound
        total = _assign(X, centers, owner, near)
        if total < least:
            best, labels, least, passes, rested = centers, owner, total, n_iter, done
    return best, labels, least, passes, rested


@njit(cache=True, nogil=True)
def _distance(a: Array, b: Array) -> float:
    total = 0.0
    for j in range(len(a)):
        total += (a[j] - b[j]) ** 2
    return total


@njit(cache=True, nogil=True)
def _seeded(X: Array, k: int, draws: Array) -> Array:
    n, d = X.shape
    centers = np.empty((k, d))
    centers[0] = X[min(int(draws[0, 0] * n), n - 1)]
    near = np.empty(n)
    for i in range(n):
        near[i] = _distance(X[i], centers[0])
    running, trial, kept = np.empty(n), np.empty(n), np.empty(n)
    for c in range(1, k):
        total = 0.0
        for i in range(n):
            total += near[i]
            running[i] = total
        least, row = np.inf, 0
        for draw in draws[c]:
            candidate = min(np.searchsorted(running, draw * total, side="right"), n - 1)
            left = 0.0
            for i in range(n):
                trial[i] = min(near[i], _distance(X[i], X[candidate]))
                left += trial[i]
            if left < least:
                least, row = left, candidate
                kept[:] = trial
        centers[c] = X[row]
        near[:] = kept
    return centers


@njit(cache=True, nogil=True)
def _assign(X: Array, centers: Array, owner: Any, near: Array) -> float:
    """Rows to their nearest centre, the first of equally near ones; the sum of squared distances."""
    total = 0.0
    for i in range(len(X)):
        least, which = np.inf, 0
        for c in range(len(centers)):
            far = _distance(X[i], centers[c])
            if far < least:
                least, which = far, c
        owner[i], near[i] = which, least
        total += least
    return total


@njit(cache=True, nogil=True)
def _means(X: Array, centers: Array, owner: Any, near: Array) -> float:
    """Centres to the mean of their rows; one without rows takes the row farthest from its own. The squared moves."""
    k, d = centers.shape
    sums, counts = np.zeros((k, d)), np.zeros(k)
    for i in range(len(X)):
        counts[owner[i]] += 1.0
        sums[owner[i]] += X[i]
    for c in range(k):
        if counts[c] == 0.0:
            row = np.argmax(near)
            if near[row] > 0.0 and counts[owner[row]] > 1.0:
                counts[owner[row]] -= 1.0
                sums[owner[row]] -= X[row]
                owner[row], near[row] = c, 0.0
                counts[c] = 1.0
                sums[c] = X[row]
    moved = 0.0
    for c in range(k):
        for j in range(d):
            mean = sums[c, j] / counts[c] if counts[c] > 0.0 else centers[c, j]
            moved += (mean - centers[c, j]) ** 2
            centers[c, j] = mean
    return moved
