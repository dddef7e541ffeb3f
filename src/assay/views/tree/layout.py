"""Where the parts of a tree of merges go: which merges are shown, in which order, and what each mark stands for.

Nodes are numbered as in SciPy's merge table: leaves 0 .. n - 1, merge i is node n + i. A tree that is too large shows
the merges that tell most; each part below them becomes one end. Nothing is recursive: a tree may be one long chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array, Whole
from assay.errors import ParameterError
from assay.summary.graph.merge_table import as_merges

Order: TypeAlias = Literal["size", "table"]

SHARE = 0.5  # room given out by numbers of rows, beside that of equal slots
_FILLED = 0.85
_CRUMBS = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class MergeTree:
    """A merge table with what follows from it.

    Attributes:
        joined: (n - 1, 2) the two nodes of each merge.
        height: (2 n - 1,) of each node; 0 for leaves.
        leaves: (2 n - 1,) leaves under each node.
        rows: (2 n - 1,) rows under each node; leaves may be groups of rows.
    """

    joined: Whole
    height: Array
    leaves: Whole
    rows: Whole

    @property
    def n(self) -> int:
        """How many leaves there are."""
        return len(self.joined) + 1

    @classmethod
    def of(cls, merges: ArrayLike, sizes: ArrayLike | None = None) -> MergeTree:
        """Read a merge table.

        Args:
            merges: (n - 1, 4) SciPy's table.
            sizes: (n,) rows in each leaf; one each by default.

        >>> MergeTree.of([[0, 1, 2.5, 2]], sizes=[10, 20]).rows
        array([10, 20, 30])
        """
        table = as_merges(merges)
        n = len(table) + 1
        rows = [1] * n
        if sizes is not None:
            given = np.asarray(sizes)
            if given.shape != (n,) or given.dtype.kind not in "iu" or given.min() < 1:
                told = f"{given.shape} of {given.dtype}" + (f" from {given.min()} on" if given.size else "")
                raise ParameterError(f"sizes are whole numbers from 1 on, one for each of {n} leaves; got {told}")
            rows = given.tolist()
        joined = table[:, :2].astype(np.int64)
        for a, b in joined.tolist():
            rows.append(rows[a] + rows[b])
        leaves = np.concatenate([np.ones(n, dtype=np.int64), table[:, 3].astype(np.int64)])
        return cls(joined, np.concatenate([np.zeros(n), table[:, 2]]), leaves, np.array(rows, dtype=np.int64))

    @property
    def joins(self) -> Array:
        """(2 n - 1,) the height at which each node is merged with another; its own for the last."""
        height = self.height.copy()
        height[self.joined] = self.height[self.n :, None]
        return height

    @property
    def lesser(self) -> Whole:
        """(n - 1,) rows in the smaller of the two parts of each merge."""
        return np.asarray(self.rows[self.joined].min(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class ShownMerges:
    """Which merges of a tree are shown as forks.

    Attributes:
        forks: (n - 1,) whether each is.
        least: parts of fewer rows are twigs: they hang on the branch they join. 1 where there are none.
    """

    forks: NDArray[np.bool_]
    least: int


def choose(tree: MergeTree, most: int, least: int | None = None) -> ShownMerges:
    """Choose the merges to show: the last ones, or, where these only shed crumbs, those of parts that count.

    The last merges are left for those of larger parts when half of the marks would stand for less than 1% of the rows
    while a merge of two parts of more than 1% each stayed hidden: chains, as single linkage makes them.

    Args:
        tree: the tree.
        most: how many ends may be shown.
        least: rows that a part must have to be an end of its own; by default as the rule says, and then 1% of all. It
            is raised where that leaves too many ends.

    >>> chain = MergeTree.of([[0, 1, 1.0, 2], [2, 4, 2.0, 3], [3, 5, 3.0, 4]])
    >>> choose(chain, 2).forks
    array([False, False,  True])
    """
    if least is not None and (not isinstance(least, (int, np.integer)) or least < 1):
        raise ParameterError(f"min_size is a whole number of at least 1; got {least!r}")
    lesser, last = tree.lesser, np.arange(tree.n - 1) >= tree.n - most
    if least is None:
        if tree.n <= most or not _only_crumbs(tree, last, lesser):
            return ShownMerges(last, 1)
        least = int(np.ceil(_CRUMBS * tree.rows[-1]))
    # one more than the (most)th largest lesser part: at most (most - 1) forks are left
    smallest = int(np.sort(lesser)[-most]) + 1 if len(lesser) >= most else 1
    least = max(least, smallest)
    return ShownMerges(lesser >= least, least)


def _only_crumbs(tree: MergeTree, last: NDArray[np.bool_], lesser: Whole) -> bool:
    few = _CRUMBS * tree.rows[-1]
    below = tree.joined[last].ravel()
    ends = np.sort(tree.rows[below[below < 2 * tree.n - 1 - np.count_nonzero(last)]])
    return bool(ends[: (len(ends) + 1) // 2].sum() < few and (lesser[~last] > few).any())


@dataclass(frozen=True, slots=True, eq=False)
class TreeLayout:
    """The shown part of a tree, placed: ends side by side, each fork over the middle of its two branches.

    Places run along the line of ends, heights across it. The rows of the ends and of the twigs are all rows, once.

    Attributes:
        ends: (p,) nodes, in their order.
        forks: (p - 1,) nodes, from the last merge down.
        branches: (p - 1, 2) the shown nodes that the two branches of each fork lead to, forks or ends.
        top: the shown node that the trunk leads to.
        twigs: by the shown node that their branch leads to, nodes of the parts too small to be shown, highest first.
        place: (2 n - 1,) of shown nodes; NaN for the others.
        breadth: (p,) of the mark of each end, in proportion to its rows.
        length: the ends lie between 0 and this.
        order: (n,) leaves in an order in which those of any node lie side by side.
        first: (2 n - 1,) where in this order the leaves of each node begin.
    """

    ends: Whole
    forks: Whole
    branches: Whole
    top: int
    twigs: dict[int, list[int]]
    place: Array
    breadth: Array
    length: float
    order: Whole
    first: Whole


def lay_out(tree: MergeTree, shown: ShownMerges, *, order: Order = "size") -> TreeLayout:
    """Place the shown part of a tree.

    Args:
        tree: the tree.
        shown: from `choose`.
        order: "size": of the two parts of a merge the one with more rows comes first, then the one merged lower, then
            the one with the lower number. "table": as the table has them, for instance by
            `scipy.cluster.hierarchy.optimal_leaf_ordering`.

    >>> tree = MergeTree.of([[1, 2, 1.0, 2], [0, 3, 4.0, 3]])
    >>> found = lay_out(tree, choose(tree, 9))
    >>> found.order.tolist(), found.place.tolist()
    ([1, 2, 0], [2.5, 0.5, 1.5, 1.0, 1.75])
    """
    if order not in ("size", "table"):
        raise ParameterError(f"order is 'size' or 'table'; got {order!r}")
    pairs = _larger_first(tree) if order == "size" else tree.joined
    first = _first_leaves(tree, pairs)
    forks: list[int] = []
    branches: list[tuple[int, int]] = []
    twigs: dict[int, list[int]] = {}
    leads = _leads(tree.n, pairs, shown.forks)
    for merge, (a, b) in reversed(list(enumerate(pairs.tolist()))):
        node = tree.n + merge
        if shown.forks[merge]:
            forks.append(node)
            branches.append((leads[a], leads[b]))
        elif leads[node] != node:
            twigs.setdefault(leads[node], []).append(b if leads[a] == leads[node] else a)
    top = leads[2 * tree.n - 2]
    ends = np.setdiff1d([top, *(node for pair in branches for node in pair)], forks).astype(np.int64)
    ends = ends[np.argsort(first[ends])]
    place, breadth, length = _places(tree, ends, forks, branches)
    leaves = np.empty(tree.n, dtype=np.int64)
    leaves[first[: tree.n]] = np.arange(tree.n)
    joined = np.array(branches, dtype=np.int64).reshape(-1, 2)
    return TreeLayout(ends, np.array(forks, np.int64), joined, top, twigs, place, breadth, length, leaves, first)


def _larger_first(tree: MergeTree) -> Whole:
    a, b = tree.joined.min(axis=1), tree.joined.max(axis=1)
    swap = (tree.rows[b] > tree.rows[a]) | ((tree.rows[b] == tree.rows[a]) & (tree.height[b] < tree.height[a]))
    return np.stack([np.where(swap, b, a), np.where(swap, a, b)], axis=1)


def _first_leaves(tree: MergeTree, pairs: Whole) -> Whole:
    """Where the leaves of each node begin: a parent is placed before its parts, from the last merge down."""
    first = [0] * (2 * tree.n - 1)
    leaves = tree.leaves.tolist()
    for merge, (a, b) in reversed(list(enumerate(pairs.tolist()))):
        first[a] = first[tree.n + merge]
        first[b] = first[a] + leaves[a]
    return np.array(first, dtype=np.int64)


def _leads(n: int, pairs: Whole, forks: NDArray[np.bool_]) -> list[int]:
    """The shown node that a branch to each node leads to: the next fork below, or itself where there is none.

    A merge that is no fork has forks under one of its parts at most: where both have, both are large enough for one.
    """
    leads = list(range(2 * n - 1))
    forked = [False] * n + forks.tolist()
    for merge, (a, b) in enumerate(pairs.tolist()):
        if not forked[n + merge] and (forked[a] or forked[b]):
            leads[n + merge] = leads[a if forked[a] else b]
            forked[n + merge] = True
    return leads


def _places(
    tree: MergeTree, ends: Whole, forks: list[int], branches: list[tuple[int, int]]
) -> tuple[Array, Array, float]:
    """Each end has a slot for its words and, where ends stand for many rows, more of it for more rows.

    A mark in a slot of 1 + room r_i, r_i the share of rows, may be b r_i broad: it fits for b <= room + 1 / max(r).
    """
    share = tree.rows[ends] / tree.rows[ends].sum()
    room = SHARE * len(ends) if tree.rows[ends].max() > 1 else 0.0
    edges = np.concatenate([[0.0], np.cumsum(1.0 + room * share)])
    place = np.full(2 * tree.n - 1, np.nan)
    place[ends] = (edges[:-1] + edges[1:]) / 2
    for fork, (a, b) in zip(reversed(forks), reversed(branches), strict=True):
        place[fork] = (place[a] + place[b]) / 2
    return place, _FILLED * (room + 1.0 / share.max()) * share, float(edges[-1])
