"""Groups that merge: which is nearest to which by their centres, and rounds of merges; the same in a square matrix.

A group stands for its items by its centre c, their number, and w: for Ward's linkage w = 1 / items, for the others the
mean squared distance from c. Whatever the linkage, group j can be nearer to a group than `near` only if

    |c - c_j|^2  <=  alpha + beta w_j        Ward:      near (w + w_j), the linkage itself
                                             complete:  near^2 - w - w_j, since the largest >= the root mean square
                                             average:   near^2, since mean |x - y| >= |mean x - mean y|

so one pass over the centres leaves few groups to be compared item by item.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assay.compiled import njit
from assay.summary.graph._cell_kernels import CELL, square_to_box, squares_to

WARD, COMPLETE, AVERAGE, CENTROID, MEDIAN = 0, 1, 2, 3, 4
FAR = 1e150  # no group is so far: coordinates are in a unit of about their range
NOWHERE = 1e100  # coordinates of a place without a group, further than any limit
BLOCK = 16  # groups that pass over a cell together
FEW = 0.1  # share of the groups that do not know their nearest
SLACK, ABSOLUTE = 1e-9, 1e-13  # room for rounding in distances between centres


class LinkageGroups(NamedTuple):
    """The groups there are, by place.

    Attributes:
        cells: (t, d, CELL) centres.
        boxes: (2, t, d + 1) around each cell's centres and w.
        w: (t, CELL) see above.
        sizes: (t * CELL,) items, 0 for a place without a group.
        first: (t * CELL,) first item.
        final: (t * CELL,) last item.
        nearest: (t * CELL,) place of the nearest group, -1 when not known.
        near: (t * CELL,) how near it is; for Ward half the squared height, for complete linkage squared.
    """

    cells: Any
    boxes: Any
    w: Any
    sizes: Any
    first: Any
    final: Any
    nearest: Any
    near: Any


@njit(cache=True, nogil=True, fastmath=True)
def search(asking: Any, kind: int, groups: LinkageGroups, rows: Any, following: Any) -> int:
    """Find the nearest of some groups; among equally near ones the next by place, counted round from their own.

    With the lowest place instead, all of many equally distant groups would wait for one.

    Args:
        asking: (q,) places, ascending; their `nearest` and `near` are written, no others.
        kind: WARD, COMPLETE or AVERAGE.
        groups: all groups.
        rows: (n, d) the items.
        following: (n,) the item after each in its group, -1 for the last.

    Returns:
        How many pairs of items were measured.
    """
    # fields by name once: each further mention of one in a loop costs an atomic count of its users
    cells, boxes, w, near, nearest = groups.cells, groups.boxes, groups.w, groups.near, groups.nearest
    count, d, _ = cells.shape
    square = np.empty(CELL)
    centre = np.empty((BLOCK, d))
    measured = 0
    for start in range(0, len(asking), BLOCK):
        block = asking[start : start + BLOCK]
        for q in range(len(block)):
            centre[q] = cells[block[q] // CELL, :, block[q] % CELL]
            near[block[q]], nearest[block[q]] = FAR, -1
        for turn in range(count):
            t = (block[0] // CELL + turn) % count
            for q in range(len(block)):
                i = block[q]
                alpha, beta = limits(kind, near[i], w[i // CELL, i % CELL])
                if square_to_box(boxes, t, centre[q]) > alpha + max(beta * boxes[0, t, d], beta * boxes[1, t, d]):
                    continue
                squares_to(cells, t, centre[q], square)
                hits = 0
                for j in range(CELL):
                    hits += square[j] <= alpha + beta * w[t, j]
                if hits > 0:
                    measured += look_closer(i, t, kind, square, groups, rows, following)
    return measured


@njit(cache=True, nogil=True)
def look_closer(i: int, t: int, kind: int, square: Any, groups: LinkageGroups, rows: Any, following: Any) -> int:
    """Measure those groups of a cell that the centres, `square` apart, do not rule out; count the pairs of items."""
    measured = 0
    places = len(groups.sizes)
    own = groups.w[i // CELL, i % CELL]
    alpha, beta = limits(kind, groups.near[i], own)
    for j in range(CELL):
        at = t * CELL + j
        if square[j] > alpha + beta * groups.w[t, j] or at == i or groups.sizes[at] == 0:
            continue
        if kind == WARD:
            value = square[j] / (own + groups.w[t, j])
        else:
            a, b = groups.first[min(i, at)], groups.first[max(i, at)]
            value = between(kind, rows, a, b, following, groups.near[i])
            measured += groups.sizes[i] * groups.sizes[at]
        sooner = (at - i) % places < (groups.nearest[i] - i) % places
        if value < groups.near[i] or (value == groups.near[i] and sooner):
            groups.near[i], groups.nearest[i] = value, at
            alpha, beta = limits(kind, value, own)
    return measured


@njit(cache=True, nogil=True)
def limits(kind: int, near: float, own: float) -> tuple[float, float]:
    """Alpha and beta for a group with w = `own`, with room for rounding."""
    if kind == WARD:
        reach = near * (1.0 + SLACK)
        return reach * own, reach
    if kind == COMPLETE:
        reach = np.sqrt(near) * (1.0 + SLACK) + ABSOLUTE
        return reach * reach - own, -1.0
    reach = near * (1.0 + SLACK) + ABSOLUTE
    return reach * reach, 0.0


@njit(cache=True, nogil=True, fastmath=True)
def between(kind: int, rows: Any, a: int, b: int, following: Any, limit: float) -> float:
    """The mean distance of two groups, given by their first items, or the largest squared one, up to the limit."""
    d = rows.shape[1]
    total, count = 0.0, 0
    while a >= 0:
        y = b
        while y >= 0:
            square = 0.0
            for k in range(d):
                square += (rows[a, k] - rows[y, k]) * (rows[a, k] - rows[y, k])
            if kind == AVERAGE:
                total += np.sqrt(square)
                count += 1
            elif square > limit:
                return square
            else:
                total = max(total, square)
            y = following[y]
        a = following[a]
    return total / count if kind == AVERAGE else total


@njit(cache=True, nogil=True)
def merge_round(kind: int, groups: LinkageGroups, following: Any, pairs: Any, heights: Any) -> int:
    """Merge the pairs of groups that are nearest to each other, at most len(pairs).

    Who pointed to one of them forgets its nearest. Another keeps it: a merged group is no nearer than its nearer part.
    There is a pair whenever all know their nearest: distances are symmetric to the last bit, so the two groups that
    are the nearest of all are one.

    Args:
        kind: WARD, COMPLETE or AVERAGE.
        groups: changed.
        following: (n,) changed.
        pairs: (m, 2) out: first items of the two groups.
        heights: (m,) out.

    Returns:
        How many were merged.
    """
    done = 0
    gone = np.zeros(len(groups.sizes), np.bool_)
    for i in range(len(gone)):
        j = groups.nearest[i]
        if j < 0 or gone[i] or gone[j] or groups.nearest[j] < 0 or done == len(pairs):
            continue
        if groups.nearest[j] == i or groups.near[j] == groups.near[i]:
            join(kind, i, j, groups, following, pairs[done], heights[done:])
            gone[i] = gone[j] = True
            done += 1
    for i in range(len(gone)):
        if gone[i] or (groups.nearest[i] >= 0 and gone[groups.nearest[i]]):
            groups.nearest[i] = -1
    return done


@njit(cache=True, nogil=True)
def join(kind: int, i: int, j: int, groups: LinkageGroups, following: Any, pair: Any, height: Any) -> None:
    """Make one group of two, at the lower place."""
    value = groups.near[i]
    a, b = min(i, j), max(i, j)
    ta, ja, tb, jb = a // CELL, a % CELL, b // CELL, b % CELL
    cells, boxes, w, sizes = groups.cells, groups.boxes, groups.w, groups.sizes
    d = cells.shape[1]
    share = sizes[b] / (sizes[a] + sizes[b])
    square = 0.0
    for k in range(d):
        apart = cells[tb, k, jb] - cells[ta, k, ja]
        square += apart * apart
        c = cells[ta, k, ja] + share * apart
        cells[ta, k, ja], cells[tb, k, jb] = c, NOWHERE
        boxes[0, ta, k], boxes[1, ta, k] = min(boxes[0, ta, k], c), max(boxes[1, ta, k], c)
    sizes[a], sizes[b] = sizes[a] + sizes[b], 0
    if kind == WARD:
        w[ta, ja] = 1.0 / sizes[a]
    else:
        w[ta, ja] += share * (w[tb, jb] - w[ta, ja]) + share * (1.0 - share) * square
    boxes[0, ta, d], boxes[1, ta, d] = min(boxes[0, ta, d], w[ta, ja]), max(boxes[1, ta, d], w[ta, ja])
    pair[0], pair[1] = groups.first[a], groups.first[b]
    height[0] = value if kind == AVERAGE else np.sqrt(value)
    following[groups.final[a]], groups.final[a] = groups.first[b], groups.final[b]


@njit(cache=True, nogil=True)
def choose(groups: LinkageGroups, limit: int) -> Any:
    """Up to `limit` groups to search for: those that others wait for, and when these are few, any that do not know.

    With a limit of 1 this is the nearest-neighbour chain.
    """
    sizes, nearest = groups.sizes, groups.nearest
    chosen = np.zeros(len(sizes), np.bool_)
    count, unknown = 0, 0
    for i in range(len(sizes)):
        at = nearest[i]
        if at < 0:
            unknown += sizes[i] > 0
        elif nearest[at] < 0 and not chosen[at] and count < limit:
            chosen[at] = True
            count += 1
    if count < FEW * unknown:
        for i in range(len(sizes)):
            if sizes[i] > 0 and nearest[i] < 0 and not chosen[i] and count < limit:
                chosen[i] = True
                count += 1
    return np.flatnonzero(chosen)


@njit(cache=True, nogil=True, fastmath=True)
def fill(kind: int, rows: Any, cells: Any, starts: Any, owner: Any, lo: int, hi: int, out: Any) -> None:
    """How far groups lo .. hi - 1 are from all later ones: the mean distance, or the largest.

    Args:
        kind: COMPLETE or AVERAGE.
        rows: (n, d) items, group after group.
        cells: (t, d, CELL) the same.
        starts: (m + 1,) where each group begins.
        owner: (t * CELL,) group of each item, m where there is none.
        lo, hi: which groups.
        out: (m, m), zero; in row g the places after g are written.
    """
    m = len(starts) - 1
    square = np.empty(CELL)
    line = np.empty(m + 1)
    for g in range(lo, hi):
        line[:] = 0.0
        for i in range(starts[g], starts[g + 1]):
            for t in range(starts[g + 1] // CELL, len(cells)):
                squares_to(cells, t, rows[i], square)
                of = owner[t * CELL : (t + 1) * CELL]
                if kind == COMPLETE:
                    for j in range(CELL):
                        line[of[j]] = max(line[of[j]], square[j])
                else:
                    for j in range(CELL):
                        square[j] = np.sqrt(square[j])
                    for j in range(CELL):
                        line[of[j]] += square[j]
        for h in range(g + 1, m):
            items = (starts[g + 1] - starts[g]) * (starts[h + 1] - starts[h])
            out[g, h] = np.sqrt(line[h]) if kind == COMPLETE else line[h] / items


@njit(cache=True, nogil=True)
def follow_chain(kind: int, D: Any, sizes: Any, first: Any, chain: Any, length: int, pairs: Any, heights: Any) -> int:
    """Make len(pairs) merges.

    Args:
        kind: WARD, COMPLETE or AVERAGE.
        D: (m, m) linkage of groups, squared for Ward; changed.
        sizes: (m,) items, 0 for what is merged away.
        first: (m,) first item of each group.
        chain: (m,) groups, each the nearest of the one before.
        length: of the chain.
        pairs: (k, 2) out: first items.
        heights: (k,) out.

    Returns:
        The length of the chain.
    """
    m = len(sizes)
    done = 0
    while done < len(pairs):
        if length == 0:
            while sizes[chain[0]] == 0:
                chain[0] = (chain[0] + 1) % m
            length = 1
        x = chain[length - 1]
        # of equally near ones the one before, so that chains end
        best = chain[length - 2] if length > 1 else -1
        near = D[x, best] if length > 1 else np.inf
        row = D[x]
        for k in range(m):
            if row[k] < near and sizes[k] > 0 and k != x:
                best, near = k, row[k]
        if length == 1 or best != chain[length - 2]:
            chain[length] = best
            length += 1
            continue
        length -= 2
        a, b = min(x, best), max(x, best)
        pairs[done, 0], pairs[done, 1] = first[a], first[b]
        heights[done] = np.sqrt(near) if kind == WARD else near
        merge_rows(kind, D, sizes, a, b)
        done += 1
    return length


@njit(cache=True, nogil=True)
def merge_rows(kind: int, D: Any, sizes: Any, a: int, b: int) -> None:
    """Make group b part of group a, by the recurrence of Lance and Williams."""
    together = sizes[a] + sizes[b]
    share, apart = sizes[b] / together, D[a, b]
    for k in range(len(sizes)):
        if sizes[k] == 0 or k in (a, b):
            continue
        p, q = D[a, k], D[b, k]
        if kind == COMPLETE:
            value = max(p, q)
        elif kind == WARD:
            value = ((sizes[a] + sizes[k]) * p + (sizes[b] + sizes[k]) * q - sizes[k] * apart) / (together + sizes[k])
        elif kind == CENTROID:
            value = max(0.0, p + share * (q - p) - share * (1.0 - share) * apart)
        elif kind == MEDIAN:
            value = max(0.0, 0.5 * (p + q) - 0.25 * apart)
        else:
            value = p + share * (q - p)
        D[a, k] = D[k, a] = value
    sizes[a], sizes[b] = together, 0


@njit(cache=True, nogil=True)
def merge_nearest(kind: int, D: Any, sizes: Any, near: Any, apart: Any, pairs: Any, heights: Any) -> None:
    """Make len(pairs) merges, each time of the two groups that are least apart of all.

    For linkages by which a merged group may be nearer to others than its parts were; chains do not find these. Each
    group keeps the nearest of those with a higher number (Anderberg, Cluster Analysis for Applications, 1973).

    Args:
        kind: CENTROID or MEDIAN.
        D: (m, m) squares of how far groups are apart; changed.
        sizes: (m,) items, 0 for what is merged away; changed.
        near: (m,) nearest group with a higher number, -1 where it has to be found; changed.
        apart: (m,) D to it, infinite where there is none; changed.
        pairs: (k, 2) out: groups, that of the whole on the left.
        heights: (k,) out.
    """
    m = len(sizes)
    for i in range(m):
        if near[i] < 0 and sizes[i] > 0:
            look(D, sizes, i, near, apart)
    for done in range(len(pairs)):
        a = int(np.argmin(apart))
        b = near[a]
        pairs[done, 0], pairs[done, 1], heights[done] = a, b, np.sqrt(apart[a])
        merge_rows(kind, D, sizes, a, b)
        apart[b] = np.inf
        for i in range(b):
            if sizes[i] == 0:
                continue
            if i == a or near[i] == b or near[i] == a:
                look(D, sizes, i, near, apart)
            elif i < a and D[i, a] < apart[i]:
                near[i], apart[i] = a, D[i, a]


@njit(cache=True, nogil=True)
def look(D: Any, sizes: Any, i: int, near: Any, apart: Any) -> None:
    """Find the nearest group with a higher number than i."""
    apart[i] = np.inf
    for k in range(i + 1, len(sizes)):
        if sizes[k] > 0 and D[i, k] < apart[i]:
            near[i], apart[i] = k, D[i, k]
