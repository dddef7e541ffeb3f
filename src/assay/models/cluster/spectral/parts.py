"""What a graph falls into before any eigenvector is sought: components, and specks among them.

A component is a group that costs nothing to cut, and eigenvalue 0 comes once for each. But one row that no other links
with is a component too, and hardly what was asked for: components much smaller than an even share are specks, which
are set aside and given to a group at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from assay.arrays import Array, Whole
from assay.summary.distances.metrics import Metric, nearest
from assay.summary.graph.edges import edges_of
from assay.summary.graph.laplacian import degree_of

_NOTHING = 1e-14  # of the root of two degrees: a link weaker than this is lost in rounding


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Where rows lie, as far as it is known: which of some rows is nearest to each of others?

    Attributes:
        points: (n, d) rows; or None.
        metric: how far these are apart.
        distances: (n, n) given ones; or None. With neither, nothing is known.
    """

    points: Array | None = None
    distances: Array | None = None
    metric: Metric = "euclidean"

    @property
    def known(self) -> bool:
        """Whether anything is."""
        return self.points is not None or self.distances is not None

    def nearest(self, rows: Whole, among: Whole) -> tuple[Whole, Array]:
        """(m,) the nearest of `among` to each of `rows`, and how far it is."""
        if self.points is not None:
            found = nearest(self.points[rows], 1, self.metric, self.points[among])
            return among[found.indices[:, 0]], found.distances[:, 0]
        assert self.distances is not None
        block = self.distances[np.ix_(rows, among)]
        at = block.argmin(axis=1)
        return among[at], block[np.arange(len(rows)), at]


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The components of a graph.

    Attributes:
        labels: (n,) the component of each node, numbered by its first node.
        count: how many.
        main: (m,) the components that are no specks.
        specks: (s,) the nodes of the others.
    """

    labels: Whole
    count: int
    main: Whole
    specks: Whole


def parts_of(W: sparse.csr_array, k: int, share: float, least: int) -> Parts:
    """Components. Those of fewer than share * n / k nodes are specks, and single nodes, unless share is 0.

    None is if fewer than `least` nodes were left: then the graph is too small to set any aside.
    """
    count, found = csgraph.connected_components(_links(W), directed=False)
    _, first, labels = np.unique(found, return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(first))[labels].astype(np.int64)
    sizes = np.bincount(labels, minlength=count)
    main = np.flatnonzero(sizes >= (max(2.0, share * len(labels) / k) if share > 0 else 0.0))
    if sizes[main].sum() < least:
        main = np.arange(count)
    return Parts(labels, int(count), main, np.flatnonzero(~np.isin(labels, main)))


def joined(parts: Parts, k: int, W: sparse.csr_array, space: Space) -> Whole:
    """(n,) groups 0 to k - 1 of more components than that; -1 for specks.

    If it is known where rows lie, the components nearest to each other are joined (single linkage); if not, the two of
    least volume, again and again.
    """
    group = np.full(parts.count, -1)
    group[parts.main] = _nearest_joined(parts, k, space) if space.known else _smallest_joined(parts, k, W)
    return np.asarray(group[parts.labels])


def placed(labels: Whole, specks: Whole, space: Space) -> Whole:
    """Give specks the group of the nearest row that has one; they stay -1 where nothing is known."""
    if not len(specks) or not space.known:
        return labels
    placed = labels.copy()
    placed[specks] = labels[space.nearest(specks, np.flatnonzero(labels >= 0))[0]]
    return placed


def speck_sentence(parts: Parts, space: Space) -> str:
    """What is said about specks."""
    count = parts.count - len(parts.main)
    where = "They take the group of the nearest row" if space.known else "They are labelled -1"
    return (
        f"{len(parts.specks)} of {len(parts.labels)} rows lie in components too small to be groups ({count} of them), "
        f"without a link to the rest. {where}; see specks_. Link more rows, or use min_share=0 to let each be a group."
    )


def by_first(labels: Whole) -> Whole:
    """Groups numbered by their first rows, -1 left as it is."""
    found, first, number = np.unique(labels, return_index=True, return_inverse=True)
    first = np.where(found < 0, -1, first)
    ranks = np.argsort(np.argsort(first)) - int((found < 0).any())
    return np.asarray(ranks[number], dtype=np.int64)


def _nearest_joined(parts: Parts, k: int, space: Space) -> Whole:
    if len(parts.main) == k:
        return np.arange(k)
    members = [np.flatnonzero(parts.labels == part) for part in parts.main]
    pairs = [
        (float(space.nearest(members[i], members[j])[1].min()), j, i) for i in range(len(members)) for j in range(i)
    ]
    group = np.arange(len(members))
    for _, i, j in sorted(pairs):
        if len(np.unique(group)) == k:
            break
        group[group == group[j]] = group[i]
    return np.unique(group, return_inverse=True)[1]


def _smallest_joined(parts: Parts, k: int, W: sparse.csr_array) -> Whole:
    volume = np.bincount(parts.labels, degree_of(W), parts.count)[parts.main]
    groups = [[i] for i in np.argsort(volume, kind="stable")]
    while len(groups) > k:
        groups = sorted([groups[0] + groups[1], *groups[2:]], key=lambda group: float(volume[group].sum()))
    found = np.empty(len(volume), dtype=np.int64)
    for number, group in enumerate(groups):
        found[group] = number
    return found


def _links(W: sparse.csr_array) -> sparse.csr_array:
    """W without links that are lost in rounding beside the others of their nodes."""
    degree = degree_of(W)
    if not W.nnz or W.data.min() > _NOTHING * degree.max():
        return W
    rows, cols, values = edges_of(W)
    root = np.sqrt(degree)
    linked = values > _NOTHING * root[rows] * root[cols]
    return sparse.csr_array((values[linked], (rows[linked], cols[linked])), shape=W.shape)
