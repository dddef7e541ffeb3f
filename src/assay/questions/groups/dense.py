"""Dense parts of any shape: rows linked by the shortest tree, cut where the rows are thin.

    thin_i   log distance of row i to its 8th neighbour or so
    link     of i and j: the largest of both of these distances and their own: a few rows in between are no bridge
    rise     of a link of the shortest tree: how much longer it is than the mean `thin` of the thinner part it joins
    faced    rows of two parts that lie within 1.5 times their least distance of the other: many where two shapes lie
             beside each other, few at a gap that chance leaves in a curve

Parts of fewer than one row in twenty do not count. This is single linkage, of this package's spanning tree, on
distances that do not follow chains.

Reference: Campello, Moulavi and Sander, PAKDD (2013); Chazal, Guibas, Oudot and Skraba, J. ACM 60 (2013).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Indices
from assay.summary.distances.distances import squared_distances
from assay.summary.graph.spanning_tree import spanning_tree_of_dissimilarities

_NEAR = 1.5**2
_LEAST = 0.05  # share of the rows that makes a part


def neighbours_of(n: int) -> int:
    """Which neighbour tells how thin rows are, of n rows."""
    return max(6, round(0.5 * float(np.sqrt(n))))


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """The tree of rows, and where it may be cut.

    Attributes:
        edges: (n - 1, 2) its links, the shortest first.
        rises: (n - 1,) how much thinner rows are at each link than in the parts it joins; -inf where one is small.
    """

    edges: Indices
    rises: Array

    @classmethod
    def of(cls, S: Array) -> Dense:
        """Of (n, r) rows, few."""
        from assay.questions.groups._dense_kernels import distances, raised, rises

        n = len(S)
        D = distances(np.ascontiguousarray(S.T, dtype=np.float64))
        k = neighbours_of(n)
        near = np.maximum(np.partition(D, k, axis=1)[:, k], np.finfo(float).tiny)
        raised(D, near)
        tree = spanning_tree_of_dissimilarities(D)
        order = np.argsort(tree.lengths, kind="stable")
        edges = np.ascontiguousarray(tree.edges[order], dtype=np.intp)
        least = max(5, int(np.ceil(_LEAST * n)))
        return cls(edges, rises(edges, np.log(tree.lengths[order]), np.log(near), least))

    @property
    def highest(self) -> float:
        """The largest rise; 0 where no link joins two large parts."""
        return max(float(self.rises.max()), 0.0)

    def labels(self, k: int) -> Indices | None:
        """(n,) k parts, cut at the k - 1 largest rises; None where there are not as many."""
        from assay.questions.groups._dense_kernels import parts

        cut = np.argsort(-self.rises, kind="stable")[: k - 1]
        if not np.isfinite(self.rises[cut]).all():
            return None
        kept = np.ones(len(self.edges), dtype=bool)
        kept[cut] = False
        return np.asarray(
            np.unique(parts(self.edges, kept, len(self.edges) + 1), return_inverse=True)[1], dtype=np.intp
        )


def faced(S: Array, labels: Indices, k: int) -> float:
    """Share of the rows of two parts that face the other, for the two nearest parts that fewest do.

    Args:
        S: (n, r).
        labels: (n,) part of each row.
        k: how many parts.
    """
    least = 1.0
    for g in range(k):
        gaps, shares = [], []
        for h in range(k):
            D = squared_distances(S[labels == g], S[labels == h])
            if h != g and D.size:
                gap = float(D.min())
                gaps.append(gap)
                near = (D.min(axis=0) <= _NEAR * gap).sum() + (D.min(axis=1) <= _NEAR * gap).sum()
                shares.append(near / sum(D.shape))
        least = min(least, shares[int(np.argmin(gaps))] if gaps else 0.0)
    return float(least)
