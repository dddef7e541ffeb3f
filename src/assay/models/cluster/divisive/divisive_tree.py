"""Growing a hierarchy from the top: of all parts the one whose split is highest is split next."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole


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
