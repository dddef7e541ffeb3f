"""What a hierarchy grown from the top says: its merge table, its groups, and the squares that each split takes off."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.data.blocks import block_slices
from assay.models.cluster.divisive.divisive_tree import Bisection
from assay.summary.distances.distances import unit_scale
from assay.summary.graph.merge_table import first_appearance


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


def placing_of(X: NDArray[Any]) -> tuple[float, Array]:
    """The power of two and the shift that bring rows near zero and to a moderate size."""
    unit = unit_scale(X)
    if X.dtype == np.float32:
        unit = float(np.clip(unit, 2.0**-100, 2.0**100))
    return unit, np.asarray((X * unit).mean(axis=0, dtype=np.float64))


def placed(X: NDArray[Any], unit: float, shift: Array) -> NDArray[Any]:
    """Rows brought there, of the same precision."""
    Z = X * unit
    np.subtract(Z, shift, out=Z, casting="same_kind")
    return Z
