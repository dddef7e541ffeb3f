"""Disparities: distances made to rise with the dissimilarities, and what to do about ties among these."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from assay.arrays import Array, Whole

Ties: TypeAlias = Literal["primary", "secondary"]

_NO_WEIGHTS = np.empty(0)
_NO_RUNS = np.empty(0, dtype=np.int64)


class DissimilarityRanking:
    """The order of dissimilarities, sorted once and used in every iteration.

    It keeps its own working memory, and within a tie the order of the distances last seen, which is nearly that of the
    next ones: no two threads may share a ranking, see `copy`.

    Args:
        order: (p,) positions of pairs by rising dissimilarity.
        starts: (b + 1,) where each run of equal dissimilarities begins in `order`, and p at the end.
    """

    def __init__(self, order: Whole, starts: Whole) -> None:
        self.order = order
        self.starts = starts
        tied = np.diff(starts) > 1
        self._tie_starts, self._tie_stops = starts[:-1][tied], starts[1:][tied]
        self._ranked, self._sums, self._mass = (np.empty(len(order)) for _ in range(3))
        self._stops = np.empty(len(order), dtype=np.int64)

    @staticmethod
    def of(dissimilarities: Array, weights: Array | None = None) -> DissimilarityRanking:
        """Rank pairs; those of weight 0 are left out.

        >>> DissimilarityRanking.of(np.array([5.0, 1.0, 5.0])).starts
        array([0, 1, 3])
        """
        order = np.argsort(dissimilarities, kind="stable")
        if weights is not None:
            order = order[weights[order] > 0.0]
        ranked = dissimilarities[order]
        rises = np.flatnonzero(ranked[1:] != ranked[:-1]) + 1
        return DissimilarityRanking(order, np.concatenate([[0], rises, [len(order)]]).astype(np.int64))

    def copy(self) -> DissimilarityRanking:
        """The same ranking, for another thread."""
        return DissimilarityRanking(self.order.copy(), self.starts)

    def disparities(
        self, distances: Array, ties: Ties, weights: Array | None = None, out: Array | None = None
    ) -> Array:
        """Distances made to rise with the dissimilarities, moved as little as possible.

        Args:
            distances: (pairs,), all of them.
            ties: "primary" lets equal dissimilarities have different disparities, in the order of their distances;
                "secondary" gives them one (Kruskal 1964).
            weights: (pairs,), not negative.
            out: (pairs,) where to write, zero at pairs that are left out.

        Returns:
            (pairs,) disparities; 0 for pairs that were left out.

        >>> DissimilarityRanking.of(np.array([1.0, 2.0, 2.0])).disparities(np.array([3.0, 1.0, 5.0]), "primary")
        array([2., 2., 5.])
        >>> DissimilarityRanking.of(np.array([1.0, 2.0, 2.0])).disparities(np.array([3.0, 1.0, 5.0]), "secondary")
        array([3., 3., 3.])
        """
        from assay.models.embedding.mds import _stress_kernels as kernels

        kernels.gather(distances, self.order, self._ranked)
        if ties == "primary":
            kernels.sort_ties(self._tie_starts, self._tie_stops, self._ranked, self.order)
        values, mass, runs = self._ranked, _NO_WEIGHTS if weights is None else weights[self.order], _NO_RUNS
        if ties == "secondary" and len(self._tie_starts):
            mass = np.ones(len(values)) if weights is None else mass
            values, runs = np.add.reduceat(mass * values, self.starts[:-1]), self.starts
            mass = np.add.reduceat(mass, self.starts[:-1])
            values /= mass
        fitted = np.zeros_like(distances) if out is None else out
        levels = kernels.pool_adjacent(values, mass, self._sums, self._mass, self._stops)
        kernels.spread_levels(levels, self._sums, self._mass, self._stops, runs, self.order, fitted)
        return fitted

    def levels(self, dissimilarities: Array, disparities: Array) -> Array:
        """The rising function from dissimilarities to disparities, by the ends of its flat stretches.

        Returns:
            (2, p): dissimilarities, and the disparity of each, the mean over a tie.

        >>> DissimilarityRanking.of(np.arange(4.0)).levels(np.arange(4.0), np.array([1.0, 2.0, 2.0, 2.0]))
        array([[0., 1., 3.],
               [1., 2., 2.]])
        """
        at = dissimilarities[self.order[self.starts[:-1]]]
        level = np.add.reduceat(disparities[self.order], self.starts[:-1]) / np.diff(self.starts)
        inner = (level[1:-1] == level[:-2]) & (level[1:-1] == level[2:])
        kept = np.concatenate([[True], ~inner, [True]])[: len(at)]
        return np.stack([at[kept], level[kept]])
