"""Merge tables: a hierarchy of groups written down one merge a row, in SciPy's form.

Row i of the (n - 1, 4) table says which two groups become group n + i, at which height, and how many items it holds.
Groups 0 .. n - 1 are the items themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.linalg.validate import as_count


def as_merges(merges: Any, name: str = "merges") -> Array:
    """Take a merge table, or say in which row it is none.

    Args:
        merges: (n - 1, 4) rows of group, group, height, items; (0, 4) for a single item.
        name: what to call it in an error.

    Returns:
        (n - 1, 4) float64; the argument itself when it is that already.

    >>> as_merges([[0, 1, 2.5, 2]])
    array([[0. , 1. , 2.5, 2. ]])
    """
    table: Array = np.asarray(merges, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != 4:
        raise DataError(f"{name} must have 4 columns (group, group, height, items), has shape {table.shape}.")
    n = len(table) + 1
    born = np.arange(n, 2 * n - 1)[:, None]
    pairs = table[:, :2]
    known = (pairs >= 0) & (pairs < born) & (pairs == np.floor(pairs))
    if not known.all():
        i, j = (int(p) for p in np.argwhere(~known)[0])
        raise DataError(
            f"{name} must join groups that exist: row {i} (counted from 0) joins group {pairs[i, j]:g}, "
            f"but only 0 to {n + i - 1} exist there."
        )
    again = np.ones(pairs.size, dtype=bool)
    again[np.unique(pairs.ravel(), return_index=True)[1]] = False
    if again.any():
        place = int(again.argmax())
        raise DataError(f"{name} must join each group once: row {place // 2} joins {pairs.flat[place]:g} again.")
    heights = table[:, 2]
    if not np.isfinite(heights).all() or heights.min(initial=0.0) < 0:
        raise DataError(f"the heights of {name} must be finite and not negative.")
    sizes = [1.0] * n
    for i, (a, b) in enumerate(pairs.astype(np.int64).tolist()):
        sizes.append(sizes[a] + sizes[b])
        if sizes[-1] != table[i, 3]:
            raise DataError(f"row {i} (counted from 0) of {name} joins {sizes[-1]:g} items, says {table[i, 3]:g}.")
    return table


def merge_table(pairs: Whole, heights: Array) -> Array:
    """The merge table of merges given in any order that puts parts before the whole.

    Args:
        pairs: (n - 1, 2) an item of each of the two groups that are merged.
        heights: (n - 1,) of the merges; none is lower than those it builds on.

    Returns:
        (n - 1, 4) by ascending height, equal ones in the given order.

    >>> merge_table(np.array([[0, 1], [1, 2]]), np.array([3.0, 1.0]))
    array([[1., 2., 1., 2.],
           [0., 3., 3., 3.]])
    """
    from assay.summary.graph._merge_kernels import label

    order = np.argsort(heights, kind="stable")
    return np.asarray(label(pairs[order], heights[order]))


def merge_sequence(pairs: Whole, heights: Array) -> Array:
    """The merge table of merges in the order in which they were made, whatever their heights.

    >>> merge_sequence(np.array([[0, 1], [0, 2]]), np.array([3.0, 2.0]))
    array([[0., 1., 3., 2.],
           [2., 3., 2., 3.]])
    """
    from assay.summary.graph._merge_kernels import label

    return np.asarray(label(pairs, heights))


def inversions(merges: Array) -> Whole:
    """Numbers of the merges that are lower than one of the two groups they join.

    >>> inversions(np.array([[0, 1, 3.0, 2], [2, 3, 2.0, 3]]))
    array([1])
    """
    born = np.concatenate([np.zeros(len(merges) + 1), merges[:, 2]])
    return np.flatnonzero(merges[:, 2] < born[merges[:, :2].astype(np.int64)].max(axis=1, initial=0.0))


def whole_at(merges: Array) -> Array:
    """(n - 1,) the highest merge within each group that merges make; its own where no merge is an inversion.

    >>> whole_at(np.array([[0, 1, 3.0, 2], [2, 3, 2.0, 3]]))
    array([3., 3.])
    """
    n = len(merges) + 1
    highest = [0.0] * n
    for a, b, height, _ in merges.tolist():
        highest.append(max(height, highest[int(a)], highest[int(b)]))
    return np.array(highest[n:])


def cut(merges: Array, *, n_clusters: int | None = None, height: float | None = None) -> Whole:
    """Groups of items where a hierarchy is cut.

    Args:
        merges: (n - 1, 4) merge table.
        n_clusters: how many groups to leave, from 1 to n: the first n - n_clusters merges are made.
        height: merges up to this height are made, itself included, as SciPy and R do; an inversion only where all
            merges within it are as low.

    Returns:
        (n,) group of each item, numbered by first appearance: item 0 is always in group 0.

    >>> merges = np.array([[1, 2, 1.0, 2], [0, 3, 4.0, 3]])
    >>> cut(merges, n_clusters=2), cut(merges, height=4.0)
    (array([0, 1, 1]), array([0, 0, 0]))
    """
    n = len(merges) + 1
    if (n_clusters is None) == (height is None):
        raise ParameterError(f"cut by n_clusters or by height, one of them; got {n_clusters=}, {height=}")
    if n_clusters is not None:
        made = np.arange(n - 1) < n - as_count(n_clusters, n, name="n_clusters", what="the number of items")
    else:
        made = (whole_at(merges) if len(inversions(merges)) else merges[:, 2]) <= as_height(height)
    return first_appearance(_tops(merges, made))


def as_height(height: Any, name: str = "the height of a cut") -> float:
    """Take the height of a cut: any number from 0 on.

    >>> as_height(3)
    3.0
    """
    if isinstance(height, bool) or not isinstance(height, (int, float, np.number)) or not height >= 0.0:
        raise ParameterError(f"{name} is a number of at least 0; got {height!r}")
    return float(height)


def first_appearance(labels: Any) -> Whole:
    """Renumber groups by the first item that carries them.

    >>> first_appearance([7, 7, 2, 7, 5])
    array([0, 0, 1, 0, 2])
    """
    _, first, inverse = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse])


def _tops(merges: Array, made: NDArray[np.bool_]) -> Whole:
    """For each item the last group that holds it after some merges; parents are looked up from the last down."""
    n = len(merges) + 1
    top = list(range(2 * n - 1))
    pairs = merges[:, :2].astype(np.int64).tolist()
    for i in np.flatnonzero(made)[::-1].tolist():
        a, b = pairs[i]
        top[a] = top[b] = top[n + i]
    return np.array(top[:n])
