"""Compiled passes over arriving rows. What is said of a row does not depend on how rows were cut into blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit

_TILE = 256

# places of the counters of `judge`
OLD, OLD_KEPT, NEW, NEW_KEPT, PLACE, FOUND = range(6)
COUNTERS = 6


@njit(cache=True, nogil=True)
def whitened(columns: Any, centre: Any, root: Any, out: Any, far: Any) -> None:
    """Rows in coordinates in which the law has unit covariance, and their squared lengths.

    Each row takes the same operations in the same order whatever its neighbours, which a product by BLAS would not
    promise.

    Args:
        columns: (d, n) values.
        centre: (d,).
        root: (d, d) lower triangular, the inverse of the Cholesky factor.
        out: (d, n) written.
        far: (n,) written.
    """
    d, n = columns.shape
    gap = np.empty((d, _TILE))
    for start in range(0, n, _TILE):
        size = min(_TILE, n - start)
        for j in range(d):
            for t in range(size):
                gap[j, t] = columns[j, start + t] - centre[j]
        for t in range(size):
            far[start + t] = 0.0
        for i in range(d):
            row = out[i, start : start + size]
            for t in range(size):
                row[t] = root[i, 0] * gap[0, t]
            for j in range(1, i + 1):
                factor = root[i, j]
                for t in range(size):
                    row[t] += factor * gap[j, t]
            for t in range(size):
                far[start + t] += row[t] * row[t]


@njit(cache=True, nogil=True)
def draw_in(columns: Any, far: Any, limit: float) -> None:
    """Draw rows that are farther out than a limit in to it, along the line to the centre.

    Args:
        columns: (d, n) whitened, written.
        far: (n,) squared lengths.
        limit: the squared length that is kept.
    """
    d, n = columns.shape
    for t in range(n):
        if far[t] > limit:
            factor = np.sqrt(limit / far[t])
            for i in range(d):
                columns[i, t] *= factor


@njit(cache=True, nogil=True)
def _larger(kept: Any, size: int, score: float) -> Any:
    """How many of ascending numbers are larger than a score, and how many are equal to it."""
    right = np.searchsorted(kept[:size], score, side="right")
    left = np.searchsorted(kept[:size], score, side="left")
    return size - right, right - left


@njit(cache=True, nogil=True)
def _insert(kept: Any, size: int, score: float) -> int:
    """Put a score in its place among the largest; returns how many are kept."""
    if size == len(kept):
        if score <= kept[0]:
            return size
        at = np.searchsorted(kept, score) - 1
        kept[:at] = kept[1 : at + 1]
        kept[at] = score
        return size
    at = np.searchsorted(kept[:size], score)
    for i in range(size, at, -1):
        kept[i] = kept[i - 1]
    kept[at] = score
    return size + 1


@njit(cache=True, nogil=True)
def extrapolated(kept: Any, size: int, count: int, score: float) -> Any:
    """Chance of a score beyond all, if the largest fall off by a power law that is known only from them.

    With h the mean of log(s_i / s_m) over the m largest, log-excesses are exponential, and the predictive chance of
    another beyond s is (m / n) (1 + log(s / s_m) / (m h))^-m.

    Args:
        kept: ascending, the largest of them.
        size: how many of `kept` there are.
        count: of how many scores they are the largest.
        score: larger than all of them.
    """
    m = min(int(np.sqrt(count)), size - 1)
    if m < 10:
        return 1.0
    start = kept[size - m - 1]
    if not start > 0.0:
        return 1.0
    total = 0.0
    for i in range(size - m, size):
        total += np.log(kept[i] / start)
    if not total > 0.0:
        return 1.0
    return m / count * np.exp(-m * np.log1p(np.log(score / start) / total))


@njit(cache=True, nogil=True)
def _level(place: int, found: Any, many: int, alpha: float, horizon: int, harmonic: float) -> float:
    """LORD++ within a stretch of `horizon` rows: half of alpha spread evenly, the rest and alpha for each discovery
    spread behind it as 1 / k.
    """
    level = 0.5 * alpha / horizon
    for j in range(many):
        reward = alpha if j else 0.5 * alpha
        level += reward / ((place - found[j]) * harmonic)
    return min(level, alpha)


@njit(cache=True, nogil=True)
def judge(
    scores: Any, keys: Any, old: Any, new: Any, counters: Any, found: Any, alpha: float, horizon: int, renewed: int,
    tail: bool, p: Any, level: Any, among: Any, flags: Any,
) -> None:  # fmt: skip
    """Conformal p of each row among the rows before it, and whether it is an alert.

    Args:
        scores: (n,) in order of arrival.
        keys: (n,) uniform numbers, which put a row among those with the same score.
        old, new: (K,) largest scores of rows without alert, ascending, of the last generation and this one.
        counters: rows of the old generation, of them kept, of the new one, of them kept, place in the stretch,
            discoveries in it. Written.
        found: places of the discoveries of this stretch. Written.
        alpha, horizon: share of false alerts, and rows of a stretch.
        renewed: rows of a generation; 0 for ever.
        tail: whether the tail is extrapolated beyond all earlier rows.
        p, level: (n,) written; p is 1 where it is only known not to be among the smallest.
        among: (n,) written, the number of rows that each was ranked among.
        flags: (n,) written: 0 nothing, 1 alert by rank, 2 alert by the extrapolated tail.
    """
    harmonic = np.log(horizon) + 0.5772156649015329 + 0.5 / horizon  # at least sum 1/k up to horizon - 1
    for i in range(len(scores)):
        if counters[PLACE] == horizon:
            counters[PLACE] = counters[FOUND] = 0
        counters[PLACE] += 1
        if renewed and counters[NEW] >= renewed:
            old[:] = new
            counters[OLD], counters[OLD_KEPT] = counters[NEW], counters[NEW_KEPT]
            counters[NEW] = counters[NEW_KEPT] = 0
        score = scores[i]
        count = counters[OLD] + counters[NEW]
        among[i] = count
        flags[i] = 0
        p[i] = 1.0
        level[i] = 0.0
        known = True
        if counters[OLD] > counters[OLD_KEPT] and score <= old[0]:
            known = False
        if counters[NEW] > counters[NEW_KEPT] and score <= new[0]:
            known = False
        if known:
            larger, equal = _larger(new, counters[NEW_KEPT], score)
            before, same = _larger(old, counters[OLD_KEPT], score)
            larger += before
            equal += same
            p[i] = (1.0 + larger + np.floor(keys[i] * (equal + 1))) / (count + 1.0)
            if p[i] <= alpha:
                level[i] = _level(counters[PLACE], found, counters[FOUND], alpha, horizon, harmonic)
                if p[i] <= level[i]:
                    flags[i] = 1
                elif tail and larger + equal == 0:
                    if counters[NEW] >= counters[OLD]:
                        beyond = extrapolated(new, counters[NEW_KEPT], counters[NEW], score)
                    else:
                        beyond = extrapolated(old, counters[OLD_KEPT], counters[OLD], score)
                    if beyond <= level[i]:
                        p[i] = beyond
                        flags[i] = 2
        if flags[i]:
            many = counters[FOUND]
            if many == len(found):  # the oldest rewards the least
                found[:-1] = found[1:]
                many -= 1
            found[many] = counters[PLACE]
            counters[FOUND] = many + 1
        else:
            counters[NEW] += 1
            counters[NEW_KEPT] = _insert(new, counters[NEW_KEPT], score)
