"""Agglomeration along a graph: only groups that a link joins are merged.

How far two linked groups are apart:
single, complete, average   the least, largest and mean distance over the links between them, not over all pairs
Ward                        sqrt(2 |A||B| / (|A|+|B|)) |c_A - c_B|, as without a graph

A merged group has the links of both parts. By Ward's linkage it may then come to touch a group that it is nearer to
than its parts were to each other: heights may fall. What the graph leaves apart is joined by one more link for every
two parts, between their nearest rows, so that there is one tree; scikit-learn does the same.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.models.cluster.agglomerative.linkage import Linkage
from assay.summary.distances.distances import middle, unit_scale
from assay.summary.distances.metrics import Metric, is_precomputed, nearest, pair_distances
from assay.summary.graph.merge_table import merge_sequence, merge_table

MOST_PARTS = 500  # of a graph, each pair of which gets a link

Join: TypeAlias = Callable[[int, int, int, dict[int, float], dict[int, float]], dict[int, float]]


def as_links(connectivity: Any, n: int) -> sparse.csr_array:
    """A graph of n rows as given by the user: entries other than zero are links, in both directions.

    >>> as_links([[0, 1], [0, 0]], 2).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    links = sparse.csr_array(getattr(connectivity, "weights", connectivity))
    if links.shape != (n, n):
        raise DataError(f"connectivity must be ({n}, {n}), a row and a column for each row; has shape {links.shape}.")
    rows, cols = links.tocoo().coords if hasattr(connectivity, "weights") else links.nonzero()
    kept = rows != cols
    ends = np.concatenate([rows[kept], cols[kept]]), np.concatenate([cols[kept], rows[kept]])
    both = sparse.csr_array((np.ones(len(ends[0])), ends), shape=(n, n))
    both.data[:] = 1.0
    return both


def agglomerate_linked(X: Array, links: sparse.csr_array, linkage: Linkage, metric: Metric) -> tuple[Array, int]:
    """Merge linked rows and groups until all are one.

    Args:
        X: (n, d) rows, or with "precomputed" their (n, n) dissimilarities.
        links: (n, n) from `as_links`.
        linkage: "ward", "single", "complete" or "average".
        metric: how far two rows are apart; "euclidean" for Ward.

    Returns:
        (n - 1, 4) merge table in the order of the merges, and into how many parts the graph falls.

    >>> X = np.array([[0.0], [1.0], [1.5]])
    >>> agglomerate_linked(X, as_links([[0, 1, 0], [0, 0, 0], [0, 0, 0]], 3), "single", "euclidean")[1]
    2
    """
    if linkage not in ("ward", "single", "complete", "average"):
        raise ParameterError(f"{linkage} linkage knows no connectivity; use 'ward', 'average', 'complete' or 'single'.")
    if linkage == "ward" and metric != "euclidean":
        raise ParameterError(f"Ward's linkage along links needs rows and metric 'euclidean'; got {metric!r}.")
    count, part = connected_components(links, directed=False)
    if count > 1:
        links = sparse.csr_array(links + _bridges(X, metric, part.astype(np.int64), int(count)))
    upper = sparse.triu(links, 1).tocoo()
    i, j = upper.col.astype(np.int64), upper.row.astype(np.int64)
    if linkage == "ward":
        scale = unit_scale(X)
        ward = _Ward(X * scale)
        pairs, squares = _merged(len(X), i, j, ward.growth(i, j), ward.join)
        heights = np.sqrt(2.0 * squares) / scale
    else:
        apart = X[i, j] if is_precomputed(metric) else pair_distances(X, metric, i, j)
        if linkage == "single":
            return _spanned(len(X), i, j, apart), int(count)
        pairs, heights = _merged(len(X), i, j, apart, _by_links(linkage, len(X)))
    return merge_sequence(pairs, heights), int(count)


def _bridges(X: Array, metric: Metric, part: Whole, count: int) -> sparse.csr_array:
    if count > MOST_PARTS:
        raise DataError(
            f"the connectivity falls into {count} parts, and no more than {MOST_PARTS} are joined. Link more rows."
        )
    members = [np.flatnonzero(part == p) for p in range(count)]
    ends = []
    for p, own in enumerate(members):
        for other in members[:p]:
            if is_precomputed(metric):
                block = X[np.ix_(own, other)]
                a, b = (int(p) for p in np.unravel_index(int(block.argmin()), block.shape))
            else:
                found = nearest(X[own], 1, metric, X[other])
                a = int(found.distances[:, 0].argmin())
                b = int(found.indices[a, 0])
            ends.append((own[a], other[b]))
    rows, cols = np.array(ends).T
    bridges = sparse.csr_array((np.ones(len(rows)), (rows, cols)), shape=(len(X), len(X)))
    return sparse.csr_array(bridges + bridges.T)


def _spanned(n: int, rows: Whole, cols: Whole, lengths: Array) -> Array:
    """Single linkage is the least tree that spans the links."""
    rank = np.empty(len(lengths))
    rank[np.argsort(lengths, kind="stable")] = np.arange(1.0, len(lengths) + 1)  # a link of length 0 is one, too
    ends = rows.astype(np.int32), cols.astype(np.int32)  # SciPy 1.15 spans no others
    tree = minimum_spanning_tree(sparse.csr_array((rank, ends), shape=(n, n))).tocoo()
    place = np.empty(len(lengths) + 1, np.int64)
    place[rank.astype(np.int64)] = np.arange(len(lengths))
    chosen = place[tree.data.astype(np.int64)]
    return merge_table(np.column_stack([rows[chosen], cols[chosen]]), lengths[chosen])


def _merged(n: int, rows: Whole, cols: Whole, values: Array, join: Join) -> tuple[Whole, Array]:
    """Merge the two linked groups that are least apart, again and again; groups are numbered on from n.

    Args:
        n: how many rows.
        rows, cols, values: the links, and how far their ends are apart.
        join: from the numbers of two groups and of their whole, and how far each part is from those it is linked with,
            to how far the whole is from all of these.
    """
    apart: list[dict[int, float]] = [{} for _ in range(n)]
    for i, j, value in zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True):
        apart[i][j] = apart[j][i] = value
    heap = [(value, i, j) for i in range(n) for j, value in apart[i].items() if j < i]
    heapify(heap)
    first, gone = list(range(n)), [False] * n
    pairs, heights = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    for new in range(n, 2 * n - 1):
        value, i, j = heappop(heap)
        while gone[i] or gone[j]:
            value, i, j = heappop(heap)
        pairs[new - n], heights[new - n] = (first[j], first[i]), value
        first.append(first[j])
        gone[i] = gone[j] = True
        gone.append(False)
        del apart[i][j], apart[j][i]
        whole = join(i, j, new, apart[i], apart[j])
        for k, value in whole.items():
            apart[k].pop(i, None)
            apart[k].pop(j, None)
            apart[k][new] = value
            heappush(heap, (value, new, k))
        apart.append(whole)
    return pairs, heights


def _by_links(linkage: str, n: int) -> Join:
    sizes = [1] * n

    def join(i: int, j: int, new: int, a: dict[int, float], b: dict[int, float]) -> dict[int, float]:
        sizes.append(sizes[i] + sizes[j])
        share = sizes[j] / sizes[new]
        whole = a | b
        for k in a.keys() & b.keys():
            whole[k] = (1.0 - share) * a[k] + share * b[k] if linkage == "average" else max(a[k], b[k])
        return whole

    return join


class _Ward:
    """By how much the squares within grow, from sizes and centres of groups."""

    def __init__(self, rows: Array) -> None:
        n, d = rows.shape
        self.centres, self.sizes = np.empty((2 * n - 1, d)), np.ones(2 * n - 1)
        self.centres[:n] = rows - middle(rows)

    def growth(self, i: Any, j: Any) -> Array:
        square = ((self.centres[i] - self.centres[j]) ** 2).sum(axis=-1)
        return np.asarray(self.sizes[i] * self.sizes[j] / (self.sizes[i] + self.sizes[j]) * square)

    def join(self, i: int, j: int, new: int, a: dict[int, float], b: dict[int, float]) -> dict[int, float]:
        self.sizes[new] = self.sizes[i] + self.sizes[j]
        share = self.sizes[j] / self.sizes[new]
        self.centres[new] = self.centres[i] + share * (self.centres[j] - self.centres[i])
        near = list(a | b)
        return dict(zip(near, self.growth(new, near).tolist(), strict=True)) if near else {}
