"""The links of a graph as arrays: by the node they leave, and by the node they lead to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from assay.arrays import Array
from assay.errors import DataError
from assay.linalg.sparse.structure import as_sparse
from assay.summary.graph.edges import edges_of, refuse_unusable, symmetric
from assay.summary.graph.graph import Graph
from assay.summary.network.networks import read_network

EXACT = 2.0**53  # whole numbers add up exactly below
_LARGE = 2.0**500


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Links by the node they leave.

    Attributes:
        starts: (n + 1,) where the out-links of each node begin.
        ends: (m,) the nodes they lead to.
        weights: (m,) larger than zero, or None where all are the same.
        directed: whether links lead one way; None: look when it matters.
        names: of the nodes, if they have any.
        notes: what was decided while they were read.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int32]
    weights: Array | None
    directed: bool | None
    names: tuple[str, ...] | None
    notes: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.starts) - 1

    @property
    def count(self) -> int:
        """Number of links; one that leads both ways is one."""
        if self.one_way:
            return len(self.ends)
        loops = int((np.repeat(np.arange(self.n), self.leaving) == self.ends).sum())
        return (len(self.ends) + loops) // 2

    @property
    def leaving(self) -> NDArray[np.int64]:
        """(n,) out-links of each node."""
        return np.diff(self.starts)

    @property
    def arriving(self) -> NDArray[np.int64]:
        """(n,) in-links of each node."""
        return np.bincount(self.ends, minlength=self.n)

    @property
    def one_way(self) -> bool:
        """Whether links lead one way."""
        if self.directed is not None:
            return self.directed
        values = np.ones(len(self.ends)) if self.weights is None else self.weights
        return not symmetric(sparse.csr_array((values, self.ends, self.starts), shape=(self.n, self.n)))


@dataclass(frozen=True, slots=True, eq=False)
class TurnedLinks:
    """Links by the node they lead to, with what a step of the walk needs.

    Attributes:
        starts: (n + 1,) where the in-links of each node begin.
        origins: (m,) the nodes they come from.
        shares: (m,) of the score of their origin; none where all out-links of a node have the same.
        out: (n,) 0 of a node without out-links; otherwise 1, or the share of each out-link where there are no `shares`.
        units: (n,) bound on the rounding of one step, as a multiple of the unit roundoff and the score.
    """

    starts: NDArray[np.int64]
    origins: NDArray[np.uint32]
    shares: Array
    out: Array
    units: Array


def links_of(data: Any, directed: bool | None = None) -> Links:
    """The links of whatever a network is kept in; see `assay.read_network`."""
    if sparse.issparse(data):
        return _of_matrix(sparse.csr_array(as_sparse(data)), directed, None, ())
    if isinstance(data, Graph):
        graph = data
    else:
        if isinstance(data, list | tuple):
            if not data:
                raise DataError("there are no links: a ranking needs one node or more; give (from, to) of each link")
            directed = True if directed is None else directed
        graph = read_network(data, directed=directed)
    if graph.meaning != "similarity":
        raise DataError(
            "the weights of this graph are distances, and a walk needs similarities: use weighted() or unweighted()"
        )
    return _of_matrix(graph.weights, graph.directed, graph.names, graph.notes)


def _of_matrix(
    W: sparse.csr_array, directed: bool | None, names: tuple[str, ...] | None, notes: tuple[str, ...]
) -> Links:
    n, columns = (int(size) for size in W.shape)
    if n != columns:
        raise DataError(f"a matrix of links has a row and a column for each node; this one has shape {(n, columns)}")
    if not n:
        raise DataError("there are no nodes: a ranking needs one or more")
    if n >= 2**31:
        raise DataError(f"a ranking takes fewer than {2**31:,} nodes; these are {n:,}")
    values = np.asarray(W.data, dtype=np.float64)
    if not (np.isfinite(values) & (values > 0)).all():
        rows, cols, _ = edges_of(W)
        refuse_unusable(values, rows, cols)
    if not W.has_canonical_format or (values == 0).any():
        W = W.copy()
        W.sum_duplicates()
        W.eliminate_zeros()
        values = np.asarray(W.data, dtype=np.float64)
    if directed is False and not symmetric(W):
        raise DataError("links that lead both ways need symmetric weights; say directed=True, or use W.maximum(W.T)")
    same = not len(values) or bool((values == values[0]).all())
    return Links(
        W.indptr.astype(np.int64, copy=False),
        W.indices.astype(np.int32),
        None if same else _in_range(values, W.indptr),
        directed,
        names,
        notes,
    )


def _in_range(values: Array, starts: Any) -> Array:
    """Weights whose sums are numbers: where some are huge or tiny, those of a node in units of its largest."""
    if not len(values) or (values.max() < _LARGE and values.min() > 1 / _LARGE):
        return values
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    largest = np.zeros(len(starts) - 1)
    np.maximum.at(largest, rows, values)
    return np.asarray(np.ldexp(values, -np.frexp(largest)[1][rows]), dtype=np.float64)


def turned(links: Links) -> TurnedLinks:
    """The same links by the node they lead to."""
    by_end, origins, place = turned_places(links, wanted=links.weights is not None)
    leaving = links.leaving
    out = np.zeros(links.n)
    there = leaving > 0
    if links.weights is None:
        out[there] = 1.0 / leaving[there]
        return TurnedLinks(by_end, origins, np.empty(0), out, rounding(by_end, None))
    from assay.models.network.pagerank._kernels import share

    out[there] = 1.0
    shares = np.empty(len(origins))
    share(links.starts, links.weights, np.ones(len(origins), np.int32), place, shares)
    whole = bool((links.weights == np.floor(links.weights)).all() and links.weights.sum() < EXACT)
    return TurnedLinks(by_end, origins, shares, out, rounding(by_end, None if whole else leaving))


def turned_places(
    links: Links, *, wanted: bool = True
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
    """Where the in-links of each node begin, where they come from, and where each link went, if that is wanted."""
    from assay.models.network.pagerank._kernels import turn

    m = len(links.ends)
    by_end, origins = np.zeros(links.n + 1, np.int64), np.empty(m, np.uint32)
    place = np.empty(m if wanted else 0, np.int64)
    turn(links.starts, links.ends, by_end, origins, place)
    return by_end, origins, place


def rounding(by_end: NDArray[np.int64], summed: NDArray[np.int64] | None) -> Array:
    """Bound on the roundings of a node: of the sum over its in-links, of the sums of weights, and ten around them."""
    from assay.models.network.pagerank._kernels import RUN

    arriving = np.diff(by_end)
    units: Array = np.minimum(arriving, RUN) + arriving // RUN + 10.0
    return units if summed is None else units + summed
