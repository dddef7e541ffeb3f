"""k-means of few rows in one compiled call: a pass takes microseconds, calling it from Python would take longer.

Columns lie one behind the other, so that the distances of several rows are taken at once, each in the order of its own
columns: the same bits as row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.arrays import Array
from assay.compiled import njit


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
    T = np.ascontiguousarray(X.T)
    best = X[:k].copy()
    labels = np.zeros(len(X), np.int32)
    least, passes, rested = np.inf, 0, False
    far, near = np.empty(len(X)), np.empty(len(X))
    for start in range(len(draws)):
        centers = _seeded(X, T, k, draws[start])
        owner = np.empty(len(X), np.int32)
        done, n_iter = False, 0
        while n_iter < max_iter and not done:
            n_iter += 1
            _assign(T, centers, owner, near, far)
            done = _means(X, centers, owner, near) <= bound
        total = _assign(T, centers, owner, near, far)
        if total < least:
            best, labels, least, passes, rested = centers, owner, total, n_iter, done
    return best, labels, least, passes, rested


@njit(cache=True, nogil=True)
def _distances(T: Array, place: Array, far: Array) -> None:
    """Squared distances of all rows to a place."""
    n = T.shape[1]
    for i in range(n):
        far[i] = (T[0, i] - place[0]) ** 2
    for j in range(1, len(T)):
        at = place[j]
        for i in range(n):
            far[i] += (T[j, i] - at) ** 2


@njit(cache=True, nogil=True)
def _seeded(X: Array, T: Array, k: int, draws: Array) -> Array:
    n, d = X.shape
    centers = np.empty((k, d))
    centers[0] = X[min(int(draws[0, 0] * n), n - 1)]
    near = np.empty(n)
    _distances(T, centers[0], near)
    running, trial, kept = np.empty(n), np.empty(n), np.empty(n)
    for c in range(1, k):
        total = 0.0
        for i in range(n):
            total += near[i]
            running[i] = total
        least, row = np.inf, 0
        for draw in draws[c]:
            candidate = min(np.searchsorted(running, draw * total, side="right"), n - 1)
            _distances(T, X[candidate], trial)
            left = 0.0
            for i in range(n):
                trial[i] = min(near[i], trial[i])
                left += trial[i]
            if left < least:
                least, row = left, candidate
                kept[:] = trial
        centers[c] = X[row]
        near[:] = kept
    return centers


@njit(cache=True, nogil=True)
def _assign(T: Array, centers: Array, owner: Any, near: Array, far: Array) -> float:
    """Rows to their nearest centre, the first of equally near ones; the sum of squared distances."""
    n = T.shape[1]
    _distances(T, centers[0], near)
    owner[:] = 0
    for c in range(1, len(centers)):
        _distances(T, centers[c], far)
        for i in range(n):
            closer = far[i] < near[i]
            owner[i] = c if closer else owner[i]
            near[i] = far[i] if closer else near[i]
    total = 0.0
    for i in range(n):
        total += near[i]
    return total


@njit(cache=True, nogil=True)
def _means(X: Array, centers: Array, owner: Any, near: Array) -> float:
    """Centres to the mean of their rows; one without rows takes the row farthest from its own. The squared moves."""
    k, d = centers.shape
    sums, counts = np.zeros((k, d)), np.zeros(k)
    for i in range(len(X)):
        c = owner[i]
        counts[c] += 1.0
        for j in range(d):
            sums[c, j] += X[i, j]
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
