"""The sparsest cut of a part of a graph, found along the second eigenvector of its Laplacian."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from assay.arrays import Whole
from assay.models.cluster.divisive.divisive_tree import Split
from assay.summary.graph.conductance import cuts_of
from assay.summary.graph.cuts import refine_cut, sweep_cut
from assay.summary.graph.laplacian import degree_of
from assay.summary.graph.laplacian_modes import lowest_modes


class SweepSplits:
    """Splits parts of a graph where least leaves: the height of a split is 1 - conductance within the part.

    A part that falls apart is split into its largest component and the rest, at height 1. Components with fewer than
    the least number of nodes, too few for a part together, stay with the side that has most nodes.

    Args:
        W: (n, n) symmetric similarities.
        least: fewest nodes of a part; a split that makes a smaller one is not made.
        seed: of the eigen-solver.

    >>> W = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3))))
    >>> found = SweepSplits(W)(0, np.arange(6))
    >>> found.second.tolist(), found.height
    ([False, False, False, True, True, True], 1.0)
    """

    def __init__(self, W: sparse.csr_array, *, least: int = 1, seed: int = 0) -> None:
        self._W, self._least, self._seed = W, least, seed

    def __call__(self, node: int, rows: Whole) -> Split | None:
        """The split of these nodes."""
        if len(rows) < 2 * self._least or len(rows) < 2:
            return None
        W = sparse.csr_array(self._W[rows][:, rows])
        _, component = csgraph.connected_components(W, directed=False)
        sizes = np.bincount(component)
        main = np.flatnonzero(component == np.argmax(sizes))
        side = np.ones(len(rows), dtype=np.int64)
        if len(rows) - len(main) >= self._least:
            side[main] = 0
        elif len(main) > 1:
            cut = self._cut(sparse.csr_array(W[main][:, main]))
            side[:] = np.argmax(np.bincount(cut, minlength=2))
            side[main] = cut
        count = int(side.sum())
        if not max(self._least, 1) <= count <= len(rows) - max(self._least, 1):
            return None
        return Split(side != side[0], 1.0 - float(cuts_of(W, side, 2).conductance.max()))

    def _cut(self, W: sparse.csr_array) -> Whole:
        root = np.sqrt(degree_of(W))
        along = lowest_modes(W, 1, seed=self._seed).vectors[:, 0] / root
        return refine_cut(W, sweep_cut(W, along).above.astype(np.int64), 2)
