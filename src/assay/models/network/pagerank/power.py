"""The power iteration, and how far from its end it can be at most.

F(x) = d (P^T x + v sum of x over nodes without out-links) + (1 - d) v brings any two x closer by the factor d in the
1-norm. So with x* = F(x*), and y what F(x) became with roundings of at most r together,

    |y - x*| <= r + d |x - x*| <= r + d |x - y| + d |y - x*|,      |y - x*| <= (r + d |y - x|) / (1 - d).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from assay.arrays import Array
from assay.engine.local import in_threads
from assay.models.network.pagerank.links import TurnedLinks

Sums = tuple[float, float, float, float]
Step = Callable[[Array, Array, float, Array, Array], list[Sums]]

_BLOCK, _BLOCKS = 2**18, 16  # links of a block at least, and blocks at most: the same for any number of threads
_ROUNDING = float(np.finfo(np.float64).eps)  # twice the unit roundoff, for terms of higher order
_SUMS = 1 + 1e-8  # what the sum of |y - x| over fewer than 2^31 nodes in blocks may be off


@dataclass(frozen=True, slots=True, eq=False)
class PowerSolved:
    """Scores near the fixed point.

    Attributes:
        scores: (n,) sum to 1.
        bound: on the sum of their distances from the fixed point.
        iterations: steps taken.
        rounded: whether roundings, not the number of steps, keep the bound from being smaller.
    """

    scores: Array
    bound: float
    iterations: int
    rounded: bool


def solve(
    T: TurnedLinks,
    damping: float,
    v: Array,
    start: Array,
    tol: float,
    max_iter: int | None = None,
    *,
    threads: bool = True,
) -> PowerSolved:
    """Iterate from a start until the bound is below `tol`, or the steps are no larger than their rounding.

    Args:
        T: the links.
        damping: at least 0, below 1.
        v: (n,) where jumps go, sums to 1.
        start: (n,) sums to 1.
        tol: what the bound is to be.
        max_iter: steps at most; as many as always suffice when not given.
        threads: whether to use several; the bits are the same.
    """
    from assay.models.network.pagerank._kernels import step

    ends = _blocks(T)

    def walk(x: Array, z: Array, jump: float, y: Array, sent: Array) -> list[Sums]:
        def block(ends: tuple[int, int]) -> Sums:
            return step(*ends, T.starts, T.origins, T.shares, x, z, damping, jump, v, T.out, T.units, y, sent)

        return in_threads(block, ends) if threads else [block(part) for part in ends]

    return iterate(walk, T.out, damping, start, tol, max_iter)


def iterate(walk: Step, out: Array, damping: float, start: Array, tol: float, max_iter: int | None) -> PowerSolved:
    """The same by any way to take a step.

    Args:
        walk: fills the next scores y, and y * out, from the scores x, z = x * out, and the probability of a jump; gives
            sums of |y - x|, of y, of y in nodes without out-links, and of roundings, over blocks of nodes.
        out: (n,) as in `Turned`.
        damping, start, tol, max_iter: as in `solve`.
    """
    most = enough(damping, tol) if max_iter is None else max_iter
    x, y = start.astype(np.float64), np.empty(len(out))
    z, sent = x * out, np.empty(len(out))
    lost = math.fsum(x[out == 0.0])
    bound, total, rounded, steps = np.inf, 1.0, False, 0
    while steps < most:
        sums = walk(x, z, damping * lost + (1.0 - damping), y, sent)
        steps += 1
        moved, total, lost, rough = (math.fsum(part[k] for part in sums) for k in range(4))
        x, y, z, sent = y, x, sent, z
        rough *= _ROUNDING
        bound = (rough + damping * moved * _SUMS) / (1.0 - damping) + abs(1.0 - total) + _ROUNDING
        rounded = damping * moved <= rough
        if bound <= tol or rounded:
            break
    return PowerSolved(x / total, bound, steps, rounded)


def enough(damping: float, tol: float) -> int:
    """Steps after which the bound, roundings left out, is half of `tol` from any start."""
    if damping == 0.0:
        return 2
    return max(2, math.ceil(math.log(max(tol, 1e-300) * (1.0 - damping) / 4.0) / math.log(damping)) + 1)


def _blocks(T: TurnedLinks) -> list[tuple[int, int]]:
    """Rows in blocks with about as many links each."""
    n = len(T.out)
    work = T.starts + np.arange(n + 1)
    count = int(min(_BLOCKS, 1 + work[-1] // _BLOCK))
    cuts = np.searchsorted(work, work[-1] * np.arange(1, count) // count)
    cuts = np.unique(np.concatenate([[0], cuts, [n]]))
    return [(int(a), int(b)) for a, b in pairwise(cuts)]
