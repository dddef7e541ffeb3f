"""Similarities of rows along the graph asked for, and where the rows lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.summary.distances.metrics import Metric, is_precomputed, nearest
from assay.summary.gram.kernels import Gaussian, Kernel, Precomputed, as_kernel
from assay.summary.graph.edges import nearest_edges
from assay.summary.graph.graph import Graph
from assay.summary.graph.options import Nearest, Within

NEIGHBOURS = 10
ALL_PAIRS = 5_000  # rows: all pairs of more take above 1 GB


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


def similarities(rows: Any, option: Any, kernel: Any) -> tuple[sparse.csr_array, Space]:
    """(n, n) similarities of rows, and where the rows lie.

    Args:
        rows: (n, d); (n, n) distances or similarities with "precomputed" ones. Of sparse distances the absent
            ones are not known, and neither is where rows lie.
        option: Nearest, Within, None for all pairs, or "auto".
        kernel: from distance to similarity; None counts each link as 1.
    """
    if option is None:
        return _all_pairs(rows, kernel)
    given = option
    if isinstance(option, str) and option == "auto":
        option = Nearest(min(NEIGHBOURS, max(1, len(rows) - 1)))
    if not isinstance(option, Nearest | Within) or (isinstance(option, Nearest) and option.symmetry is None):
        raise ParameterError(
            f'graph must be Nearest(k) with a symmetry, Within(radius), None for all pairs, or "auto"; is {given!r}.'
        )
    kernel = kernel if kernel is None else _bell(kernel)
    if not is_precomputed(option.metric):
        space = Space(points=rows, metric=option.metric)
    else:
        space = Space() if isinstance(rows, sparse.csr_array) else Space(distances=rows)
    if rows.shape[0] == 1:
        return sparse.csr_array((1, 1), dtype=np.float64), space
    if isinstance(option, Nearest) and kernel is None:
        return _counted(rows, option), space
    lengths = option.graph(rows)
    return (lengths.unweighted() if kernel is None else lengths.weighted(kernel)).weights, space


def weights_of(graph: Graph, kernel: Any, notes: list[str]) -> sparse.csr_array:
    """(n, n) symmetric similarities of a network; what had to be decided for that is noted."""
    if graph.directed:
        notes.append("Edges lead one way and were taken both ways, the stronger of two.")
        graph = graph.symmetrised()
    if graph.meaning == "distance" and kernel is None:
        notes.append("Lengths of edges were not used: each counts as 1. kernel=Gaussian() makes near ones stronger.")
        graph = graph.unweighted()
    elif graph.meaning == "distance":
        graph = graph.weighted(_bell(kernel))
    return graph.weights


def _bell(kernel: Any) -> Gaussian:
    if isinstance(kernel, Gaussian):
        return kernel
    raise ParameterError(
        f"kernel must be Gaussian() or None along a graph; is {kernel!r}. Other kernels need graph=None."
    )


def _counted(rows: Any, option: Nearest) -> sparse.csr_array:
    """1 for each link given both ways; for one given one way only 1 (union), 0 (mutual) or 1/2 (average)."""
    edges, n = nearest_edges(rows, option.n_neighbors, option.metric)
    one_way = sparse.csr_array((np.ones(len(edges[1])), edges[1], np.arange(n + 1) * option.n_neighbors), shape=(n, n))
    one_way.sort_indices()
    ways = sparse.csr_array(one_way + one_way.T.tocsr())
    counted = {"union": ways.data > 0.0, "mutual": ways.data == 2.0, "average": ways.data / 2.0}[str(option.symmetry)]
    ways.data = np.asarray(counted, dtype=np.float64)
    ways.eliminate_zeros()
    return ways


def _all_pairs(rows: Array, given: Any) -> tuple[sparse.csr_array, Space]:
    n = len(rows)
    if n > ALL_PAIRS:
        raise DataError(
            f"all pairs of {n} rows are too many (the limit is {ALL_PAIRS} rows). "
            "Use graph=Nearest(k), with kernel=Gaussian() if near rows shall count more."
        )
    kernel: Kernel = as_kernel(Gaussian() if given is None else given).resolve(rows)
    similar = np.array(kernel(rows))
    if similar.min() < 0:
        i, j = (int(p) for p in np.unravel_index(int(similar.argmin()), similar.shape))
        raise DataError(
            f"Negative values in data: similarities must not be negative: rows {i} and {j} have {similar[i, j]:g}. Use "
            "kernel=Gaussian()."
        )
    np.fill_diagonal(similar, 0.0)  # that a row is like itself links it with nothing
    space = Space() if isinstance(kernel, Precomputed) else Space(points=rows)
    return sparse.csr_array(similar), space
