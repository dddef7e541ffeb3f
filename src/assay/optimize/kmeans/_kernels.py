"""Compiled loops of k-means: passes, ranges of columns, starts, and the whole search for few rows.

Imported only when they run: numba takes a second to load.

Rows are seen as z = scale x - origin, so that neither a far offset nor huge values cost digits. Nearest centres are
found from c.c / 2 - z.c, in the precision of the data, four rows and two centres at a time, which is as fast as a
matrix product and keeps nothing. Where rounding might decide between the best two, the squared differences are summed
in float64: labels are those of exact distances, in float32 too.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from assay.arrays import Array
from assay.compiled import inner, njit

# Sums may be taken in another order, for SIMD; the order is the same in every run.
SUMS = {"reassoc", "contract", "nsz"}
_TILE = 64  # rows searched at a time; a multiple of 4
_FIRST = np.int64(0)  # a centre; with a plain 0 numba compiles what it is handed to once more
_CANCELLED = 1000  # a sum so many times smaller than its terms has lost too many digits of float32


class RowsByCentre(NamedTuple):
    """What is grouped.

    Attributes:
        X: (n, d).
        weights: (n,) or empty.
        origin: (d,) in scaled units.
        scale: a power of two.
    """

    X: Any
    weights: Any
    origin: Any
    scale: float


class Centres(NamedTuple):
    """Centres in the units of z.

    Attributes:
        exact: (k, d) float64.
        tile: (k', d') in the precision of the data, filled up with zeros to what the search takes at a time.
        half: (k' + 1,) half the squared norms; huge where filled up, and at the end.
        reach: largest norm.
        slop: relative error of a product of a row and a centre, at most.
        gaps: (k,) half the distance to the nearest other centre.
        moves: (k,) how far each centre moved since the last search.
        others: (k,) how far any other moved at most.
    """

    exact: Any
    tile: Any
    half: Any
    reach: float
    slop: float
    gaps: Any
    moves: Any
    others: Any


class CentreBounds(NamedTuple):
    """What is known of rows.

    Attributes:
        labels: (n,) their centres.
        upper: (n,) they are at most so far from it.
        lower: (n,) they are at least so far from any other.
    """

    labels: Any
    upper: Any
    lower: Any


@inner()
def gather(rows: RowsByCentre, index: Any, m: int, tile: Any) -> None:
    """Put z of some rows in a tile.

    Without fast mathematics: (scale x - origin) - c must not become scale x - (origin + c).
    """
    d = rows.X.shape[1]
    for t in range(m):
        x, z = rows.X[index[t]], tile[t]
        for j in range(d):
            z[j] = rows.scale * x[j] - rows.origin[j]


@inner(fastmath=SUMS)
def square_of_difference(a: Any, b: Any) -> float:
    total = 0.0
    for j in range(b.size):
        gap = a[j] - b[j]
        total += gap * gap
    return total


@inner(fastmath=SUMS)
def square_of(z: Any) -> Any:
    total = z[0] - z[0]
    for j in range(z.size):
        total += z[j] * z[j]
    return total


@inner()
def _closer(value: Any, c: int, best: Any, second: Any, label: Any) -> Any:
    return min(value, best), min(second, max(value, best)), c if value < best else label


@inner(fastmath=SUMS, inline="always")
def eight_products(tile: Any, t: int, centres: Any, c: int) -> Any:
    """Products of rows t to t + 3 of a tile with centres c and c + 1: as many as registers hold."""
    z0, z1, z2, z3 = tile[t], tile[t + 1], tile[t + 2], tile[t + 3]
    a, b = centres[c], centres[c + 1]
    zero = z0[0] - z0[0]
    a0, a1, a2, a3 = zero, zero, zero, zero
    b0, b1, b2, b3 = zero, zero, zero, zero
    for j in range(tile.shape[1]):
        a0 += z0[j] * a[j]
        a1 += z1[j] * a[j]
        a2 += z2[j] * a[j]
        a3 += z3[j] * a[j]
        b0 += z0[j] * b[j]
        b1 += z1[j] * b[j]
        b2 += z2[j] * b[j]
        b3 += z3[j] * b[j]
    return a0, a1, a2, a3, b0, b1, b2, b3


@inner(fastmath=SUMS)
def _two_nearest(tile: Any, m: int, centres: Any, half: Any, best: Any, second: Any, label: Any) -> None:
    """The smallest two of c.c / 2 - z.c for each row of a tile, and the centre of the smallest, the first of equals."""
    huge = half[-1]
    for t in range(0, m, 4):
        p0, p1, p2, p3 = huge, huge, huge, huge
        q0, q1, q2, q3 = huge, huge, huge, huge
        l0, l1, l2, l3 = _FIRST, _FIRST, _FIRST, _FIRST
        for c in range(0, centres.shape[0], 2):
            a0, a1, a2, a3, b0, b1, b2, b3 = eight_products(tile, t, centres, c)
            p0, q0, l0 = _closer(half[c] - a0, c, p0, q0, l0)
            p1, q1, l1 = _closer(half[c] - a1, c, p1, q1, l1)
            p2, q2, l2 = _closer(half[c] - a2, c, p2, q2, l2)
            p3, q3, l3 = _closer(half[c] - a3, c, p3, q3, l3)
            p0, q0, l0 = _closer(half[c + 1] - b0, c + 1, p0, q0, l0)
            p1, q1, l1 = _closer(half[c + 1] - b1, c + 1, p1, q1, l1)
            p2, q2, l2 = _closer(half[c + 1] - b2, c + 1, p2, q2, l2)
            p3, q3, l3 = _closer(half[c + 1] - b3, c + 1, p3, q3, l3)
        best[t], best[t + 1], best[t + 2], best[t + 3] = p0, p1, p2, p3
        second[t], second[t + 1], second[t + 2], second[t + 3] = q0, q1, q2, q3
        label[t], label[t + 1], label[t + 2], label[t + 3] = l0, l1, l2, l3


@inner()
def _exact(z: Any, exact: Any) -> Any:
    """Nearest centre of z, the first of equals, and its squared distance and the next one's."""
    best, second, label = np.inf, np.inf, _FIRST
    for c in range(exact.shape[0]):
        best, second, label = _closer(square_of_difference(z, exact[c]), c, best, second, label)
    return best, second, label


@inner()
def _still_near(rows: RowsByCentre, centres: Centres, bounds: CentreBounds, index: Any, m: int, tile: Any) -> int:
    """Measure rows of the tile against their own centres, and keep those that may have another nearest; how many."""
    kept, d, slop = 0, rows.X.shape[1], centres.slop
    for t in range(m):
        i = index[t]
        label = bounds.labels[i]
        z = tile[t]
        own = sqrt(square_of_difference(z, centres.tile[label]))
        upper = own * (1.0 + slop) + slop * centres.reach
        bounds.upper[i] = upper
        if upper >= max(bounds.lower[i], centres.gaps[label]):
            index[kept] = i
            for j in range(d):
                tile[kept, j] = z[j]
            kept += 1
    return kept


@inner()
def _judge(
    rows: RowsByCentre, centres: Centres, bounds: CentreBounds, index: Any, m: int, tile: Any, near: Any, label: Any
) -> None:
    """Bounds of the m rows of a tile from their smallest two values; a new look where rounding may have chosen."""
    best, second = near[0], near[1]
    upper, lower, slop, reach = bounds.upper, bounds.lower, centres.slop, centres.reach
    for t in range(m):
        square = square_of(tile[t])
        error = slop * (square + reach * (sqrt(square) + reach))
        p, q = square + 2.0 * (best[t] + error), square + 2.0 * (second[t] - error)
        if p >= q:
            z = np.empty((1, rows.X.shape[1]))
            gather(rows, index[t : t + 1], len(z), z)
            p, q, label[t] = _exact(z[0], centres.exact)
        upper[index[t]] = sqrt(max(p, 0.0)) * (1.0 + slop)
        lower[index[t]] = sqrt(max(q, 0.0)) * (1.0 - slop)


@inner(fastmath=SUMS)
def _account(
    rows: RowsByCentre, labels: Any, index: Any, m: int, found: Any, fresh: bool, sums: Any, sizes: Any, counts: Any
) -> int:
    """Give m rows the labels found, and what they weigh to the sums; how many labels changed."""
    X, weights, origin, scale = rows
    d, changed = X.shape[1], 0
    for t in range(m):
        i, label = index[t], found[t]
        before = labels[i]
        labels[i] = label
        changed += before != label
        weight = weights[i] if weights.size else 1.0
        if weight > 0.0 and (fresh or before != label):
            for j in range(d):
                sums[label, j] += weight * (scale * X[i, j] - origin[j])
            sizes[label] += weight
            counts[label] += 1
            if not fresh:
                for j in range(d):
                    sums[before, j] -= weight * (scale * X[i, j] - origin[j])
                sizes[before] -= weight
                counts[before] -= 1
    return changed


@njit(cache=True, nogil=True)
def reassign(
    rows: RowsByCentre,
    centres: Centres,
    bounds: CentreBounds,
    lo: int,
    hi: int,
    fresh: bool,
    sums: Any,
    sizes: Any,
    counts: Any,
) -> int:
    """Move rows lo to hi to their nearest centres, and what they add to the sums of z with them.

    Args:
        rows, centres: see there.
        bounds: of all rows; those of lo to hi are brought up to date.
        lo, hi: which rows.
        fresh: search every row, and add all rows to the sums; else only what changed since the last search.
        sums: (k, d) weighted sums of z, added to.
        sizes: (k,) weights, added to.
        counts: (k,) rows of positive weight, added to.

    Returns:
        How many labels changed.
    """
    labels, upper, lower = bounds.labels, bounds.upper, bounds.lower
    gaps, moves, others = centres.gaps, centres.moves, centres.others
    tile = np.zeros((_TILE, centres.tile.shape[1]), dtype=rows.X.dtype)
    near = np.empty((2, _TILE), dtype=rows.X.dtype)
    found, index = np.empty(_TILE, dtype=np.int64), np.empty(_TILE, dtype=np.int64)
    grow, shrink = 1.0 + centres.slop, 1.0 - centres.slop
    changed, m = 0, 0
    for i in range(lo, hi):
        kept = True
        if not fresh:  # Hamerly's test: at most so far from its own centre, at least so far from all others
            label = labels[i]
            upper[i] = (upper[i] + moves[label]) * grow
            lower[i] = (lower[i] - others[label]) * shrink
            kept = upper[i] >= max(lower[i], gaps[label])
        if kept:
            index[m] = i
            m += 1
        if m == _TILE or (i == hi - 1 and m > 0):
            gather(rows, index, m, tile)
            if not fresh:
                m = _still_near(rows, centres, bounds, index, m, tile)
            _two_nearest(tile, m, centres.tile, centres.half, near[0], near[1], found)
            _judge(rows, centres, bounds, index, m, tile, near, found)
            changed += _account(rows, labels, index, m, found, fresh, sums, sizes, counts)
            m = 0
    return changed


@njit(cache=True, nogil=True)
def squares_to_own(rows: RowsByCentre, exact: Any, labels: Any, lo: int, hi: int, squares: Any) -> None:
    """Squared distances of rows lo to hi to the centres of their labels, in float64."""
    z = np.empty((1, rows.X.shape[1]))
    index = np.empty(1, dtype=np.int64)
    for i in range(lo, hi):
        index[0] = i
        gather(rows, index, len(z), z)
        squares[i] = square_of_difference(z[0], exact[labels[i]])


@njit(cache=True, nogil=True)
def half_gaps(exact: Any, lo: int, hi: int, gaps: Any) -> None:
    """Half the distance of centres lo to hi to the nearest other one."""
    for a in range(lo, hi):
        least = np.inf
        for b in range(exact.shape[0]):
            if a != b:
                least = min(least, square_of_difference(exact[a], exact[b]))
        gaps[a] = 0.5 * sqrt(least)


@njit(cache=True, nogil=True)
def ranges(X: Any, lo: int, hi: int, low: Any, high: Any) -> None:
    """Smallest and largest value of each column in rows lo to hi; low and high (d,) are brought up to date."""
    for i in range(lo, hi):
        x = X[i]
        for j in range(x.size):
            low[j] = min(low[j], x[j])
            high[j] = max(high[j], x[j])


@njit(cache=True, nogil=True, fastmath=SUMS)
def spread(rows: RowsByCentre, lo: int, hi: int, sums: Any, squares: Any) -> None:
    """Weighted sums of z and z^2 of rows lo to hi, by column, added to sums (d,) and squares (d,)."""
    for i in range(lo, hi):
        x = rows.X[i]
        weight = rows.weights[i] if rows.weights.size else 1.0
        for j in range(x.size):
            z = rows.scale * x[j] - rows.origin[j]
            sums[j] += weight * z
            squares[j] += weight * z * z


@njit(cache=True, nogil=True)
def lay_out(rows: RowsByCentre, lo: int, hi: int, tiles: Any, sizes: Any) -> None:
    """Put z of rows lo to hi in tiles (n', d') and their squared norms in sizes (n',)."""
    index = np.empty(1, dtype=np.int64)
    for i in range(lo, hi):
        index[0] = i
        gather(rows, index, len(index), tiles[i : i + 1])
        sizes[i] = square_of(tiles[i])


@njit(cache=True, nogil=True, fastmath=SUMS)
def lowered(tiles: Any, sizes: Any, near: Any, candidates: Any, lo: int, hi: int, squares: Any) -> None:
    """Squared distances to the nearest centre, were a candidate added to the centres.

    They come from products, and from differences where those cancel.

    Args:
        tiles, sizes: of all rows, from `lay_out`; n' is a multiple of 4.
        near: (n',) squared distances to the nearest centre so far.
        candidates: (m, d') z of an even number of rows, as a tile has them.
        lo, hi: which rows; multiples of 4.
        squares: (m, n'), set.
    """
    own = np.empty(candidates.shape[0], dtype=candidates.dtype)
    for c in range(own.size):
        own[c] = square_of(candidates[c])
    for t in range(lo, hi, 4):
        for c in range(0, candidates.shape[0], 2):
            products = eight_products(tiles, t, candidates, c)
            for half in range(2):
                for u in range(4):
                    i = t + u
                    both = sizes[i] + own[c + half]
                    square = both - 2 * products[4 * half + u]
                    if square < both / _CANCELLED:
                        square = square_of_difference(tiles[i], candidates[c + half])
                    squares[c + half, i] = min(square, near[i])


@njit(cache=True, nogil=True)
def group_few(X: Array, k: int, draws: Array, max_iter: int, bound: float) -> tuple[Array, Any, float, int, bool]:
    """Greedy k-means++ and Lloyd's iteration from each of several starts; the best of them.

    One compiled call: a pass over few rows takes microseconds, calling it from Python would take longer. Columns lie
    one behind the other, so that the distances of several rows are taken at once, each in the order of its own
    columns: the same bits as row by row.

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
        centers = _few_seeded(X, T, k, draws[start])
        owner = np.empty(len(X), np.int32)
        done, n_iter = False, 0
        while n_iter < max_iter and not done:
            n_iter += 1
            _few_assigned(T, centers, owner, near, far)
            done = _few_means(X, centers, owner, near) <= bound
        total = _few_assigned(T, centers, owner, near, far)
        if total < least:
            best, labels, least, passes, rested = centers, owner, total, n_iter, done
    return best, labels, least, passes, rested


@inner()
def _few_distances(T: Array, place: Array, far: Array) -> None:
    """Squared distances of all rows to a place."""
    n = T.shape[1]
    for i in range(n):
        far[i] = (T[0, i] - place[0]) ** 2
    for j in range(1, len(T)):
        at = place[j]
        for i in range(n):
            far[i] += (T[j, i] - at) ** 2


@inner()
def _few_seeded(X: Array, T: Array, k: int, draws: Array) -> Array:
    n, d = X.shape
    centers = np.empty((k, d))
    near = np.empty(n)
    _few_copied(X[min(int(draws[0, 0] * n), n - 1)], centers[0])
    _few_distances(T, centers[0], near)
    running, trial, kept = np.empty(n), np.empty(n), np.empty(n)
    for c in range(1, k):
        total = 0.0
        for i in range(n):
            total += near[i]
            running[i] = total
        least, row = np.inf, 0
        for draw in draws[c]:
            candidate = _few_drawn(running, draw * total)
            _few_distances(T, X[candidate], trial)
            left = 0.0
            for i in range(n):
                trial[i] = min(near[i], trial[i])
                left += trial[i]
            if left < least:
                least, row = left, candidate
                _few_copied(trial, kept)
        _few_copied(X[row], centers[c])
        _few_copied(kept, near)
    return centers


@inner()
def _few_copied(values: Array, to: Array) -> None:
    """As `to[:] = values`, for which numba compiles three seconds of words on what may be wrong with it."""
    for i in range(len(to)):
        to[i] = values[i]


@inner()
def _few_drawn(running: Array, value: float) -> int:
    """The first row whose running sum is above a value; the last one where none is."""
    low, high = 0, len(running) - 1
    while low < high:
        middle = (low + high) // 2
        if running[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@inner()
def _few_assigned(T: Array, centers: Array, owner: Any, near: Array, far: Array) -> float:
    """Rows to their nearest centre, the first of equally near ones; the sum of squared distances."""
    n = T.shape[1]
    _few_distances(T, centers[0], near)
    for i in range(n):
        owner[i] = 0
    for c in range(1, len(centers)):
        _few_distances(T, centers[c], far)
        for i in range(n):
            closer = far[i] < near[i]
            owner[i] = c if closer else owner[i]
            near[i] = far[i] if closer else near[i]
    total = 0.0
    for i in range(n):
        total += near[i]
    return total


@inner()
def _few_means(X: Array, centers: Array, owner: Any, near: Array) -> float:
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
            row = 0
            for i in range(len(near)):
                if near[i] > near[row]:
                    row = i
            if near[row] > 0.0 and counts[owner[row]] > 1.0:
                counts[owner[row]] -= 1.0
                for j in range(d):
                    sums[owner[row], j] -= X[row, j]
                    sums[c, j] = X[row, j]
                owner[row], near[row] = c, 0.0
                counts[c] = 1.0
    moved = 0.0
    for c in range(k):
        for j in range(d):
            mean = sums[c, j] / counts[c] if counts[c] > 0.0 else centers[c, j]
            moved += (mean - centers[c, j]) ** 2
            centers[c, j] = mean
    return moved
