"""A hierarchy grown from the top, and what it says.

Of all parts the one whose split is highest is split next. Read afterwards: the merge table, the groups, and the squares
that each split takes off.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.data.blocks import block_slices
from assay.summary.graph.merge_table import first_appearance


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """One part in two.

    Attributes:
        second: (m,) which of its m rows leave the first of them.
        height: how far apart the two parts are.
        bounds: how high splits of the two parts can be at most.
    """

    second: NDArray[np.bool_]
    height: float
    bounds: tuple[float, float] = (math.inf, math.inf)


Splitter: TypeAlias = Callable[[int, Whole], Split | None]


@dataclass(frozen=True, slots=True, eq=False)
class Bisection:
    """A hierarchy grown from the top. Node 0 is all rows; split t makes nodes 2 t + 1 and 2 t + 2.

    Attributes:
        parents: (s,) the node that each split divides.
        heights: (s,) of the splits.
        leaf: (n,) the node, never split, that each row ended in.
    """

    parents: Whole
    heights: Array
    leaf: Whole


def bisect(n: int, split: Splitter, *, most: int, above: float = 0.0) -> Bisection:
    """Split n rows again and again, always where the split is highest; the older part where two are equal.

    A part is tried only when no height known exceeds the bound on its own: the same splits as by trying all,
    with fewer tries.

    Args:
        n: how many rows.
        split: from a node and its rows, ascending, to their split; None where there is none.
        most: stop at so many parts.
        above: stop where no split is higher.

    >>> def halve(node, rows):
    ...     return Split(np.arange(len(rows)) >= len(rows) / 2, float(len(rows))) if len(rows) > 1 else None
    >>> found = bisect(6, halve, most=3)
    >>> found.heights.tolist(), found.leaf.tolist()
    ([6.0, 3.0], [3, 3, 4, 2, 2, 2])
    """
    leaf = np.zeros(n, dtype=np.int64)
    rows: dict[int, Whole] = {0: np.arange(n)}
    parents: list[int] = []
    heights: list[float] = []
    waiting: list[tuple[float, int, Split | None]] = [(-math.inf, 0, None)]  # least first, so heights are negated
    while waiting and len(parents) + 1 < most:
        lowest, node, found = heapq.heappop(waiting)
        if -lowest <= above:
            break
        if found is None:
            found = split(node, rows[node])
            if found is not None:
                heapq.heappush(waiting, (-found.height, node, found))
            continue
        members = rows.pop(node)
        for side, bound in zip((~found.second, found.second), found.bounds, strict=True):
            child = 2 * len(parents) + 1 + (side is found.second)
            rows[child] = members[side]
            leaf[rows[child]] = child
            heapq.heappush(waiting, (-bound, child, None))
        parents.append(node)
        heights.append(found.height)
    return Bisection(np.array(parents, dtype=np.int64), np.array(heights, dtype=np.float64), leaf)


def merges_of(grown: Bisection, heights: Array) -> tuple[Array, Whole]:
    """The splits from the last to the first as merges, and the rows of each leaf; leaves go by their first row.

    Args:
        grown: s splits.
        heights: (s,) never rising.

    >>> grown = Bisection(np.array([0, 2]), np.array([9.0, 1.0]), np.array([1, 3, 1, 4]))
    >>> merges_of(grown, grown.heights)[0]
    array([[1., 2., 1., 2.],
           [0., 3., 9., 3.]])
    """
    s = len(grown.parents)
    leaf = first_appearance(grown.leaf)
    number = np.empty(2 * s + 1, dtype=np.int64)
    number[grown.leaf] = leaf
    number[grown.parents] = 2 * s - np.arange(s)
    pairs = np.sort(number[1:].reshape(s, 2)[::-1], axis=1)
    items = [1] * (s + 1)
    for a, b in pairs.tolist():
        items.append(items[a] + items[b])
    return np.column_stack([pairs, heights[::-1], items[s + 1 :]]), np.bincount(leaf)


def nodes_of(grown: Bisection, k: int) -> Whole:
    """(n,) the node that holds each row when there are k groups."""
    top = np.arange(2 * len(grown.parents) + 1)
    for node in range(2 * k - 1, len(top)):
        top[node] = top[grown.parents[(node - 1) // 2]]
    return np.asarray(top[grown.leaf])


def means_of(Z: NDArray[Any], labels: Whole, k: int) -> tuple[Array, float]:
    """Means of the groups, and the sum of squares about them."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(k))
    means = np.add.reduceat(Z[order], starts, axis=0, dtype=np.float64) / np.bincount(labels, minlength=k)[:, None]
    squares = 0.0
    for block in block_slices(*Z.shape):
        apart = Z[block] - means[labels[block]]
        squares += float(np.einsum("ij,ij->", apart, apart))
    return means, squares


def gains_of(parents: Whole, means: Array, counts: Whole) -> Array:
    """What each split takes off the sum of squares, from the means and sizes of the parts at the end.

    Args:
        parents: (s,) the node that each split divides.
        means: (2 s + 1, d) of nodes that were not split; the others are not looked at.
        counts: (2 s + 1,) rows of them.

    >>> gains_of(np.array([0]), np.array([[0.0], [1.0], [3.0]]), np.array([0, 5, 5]))
    array([10.])
    """
    means, counts, gains = means.copy(), counts.astype(np.float64), np.zeros(len(parents))
    for split in range(len(parents) - 1, -1, -1):
        a, b, whole = 2 * split + 1, 2 * split + 2, parents[split]
        counts[whole] = counts[a] + counts[b]
        gains[split] = counts[a] / counts[whole] * counts[b] * np.sum((means[a] - means[b]) ** 2)
        means[whole] = means[a] + (means[b] - means[a]) * (counts[b] / counts[whole])
    return gains
