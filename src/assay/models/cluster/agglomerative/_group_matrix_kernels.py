"""Linkage in a square matrix: filled from rows, then merged along nearest-neighbour chains."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit
from assay.models.cluster.agglomerative._linkage_kernels import CENTROID, COMPLETE, MEDIAN, WARD
from assay.summary.graph._cell_kernels import CELL, squares_to


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
