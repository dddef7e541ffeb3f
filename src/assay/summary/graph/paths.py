"""Shortest paths on a sparse graph, all sources in parallel.

SciPy's csgraph keeps the interpreter locked; these kernels do not, and zero-length edges stay edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from assay.arrays import Array, Whole
from assay.engine.local import in_threads
from assay.errors import DataError, ParameterError
from assay.optimize.team import available_cores

_EDGES_PER_CHUNK = 2**22  # about a third of a second of work between two looks at an interrupt


def shortest_paths(
    lengths: sparse.csr_array,
    sources: npt.ArrayLike | None = None,
    *,
    by: Literal["length", "hops"] = "length",
    progress: Callable[[int, int], None] | None = None,
) -> Array:
    """How long is the shortest path from each source to each node?

    Args:
        lengths: (n, n) one entry per edge, row to column; an explicit zero is an edge of length zero.
        sources: Nodes to start from (landmarks), all when not given.
        by: "length" adds up the lengths, "hops" counts edges.
        progress: Called as progress(done, total) in sources.

    Returns:
        (sources, n) distances, infinite where there is no path.

    >>> W = sparse.csr_array(([1.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    >>> shortest_paths(W, [0])
    array([[0., 1., 3.]])
    """
    if by not in ("length", "hops"):
        raise ParameterError(f'by must be "length" or "hops", got {by!r}')
    n = int(lengths.shape[0])
    nodes = _nodes(sources, n)
    if by == "length":
        _check_lengths(lengths)
    return _run(lengths, nodes, by, progress)


def _run(lengths: sparse.csr_array, nodes: Whole, by: str, progress: Callable[[int, int], None] | None) -> Array:
    from assay.summary.graph import _paths_kernels as kernels

    starts = lengths.indptr.astype(np.int64, copy=False)
    ends = lengths.indices.astype(np.int32, copy=False)
    data = lengths.data.astype(np.float64, copy=False)
    out = np.empty((len(nodes), int(lengths.shape[0])))
    width, buckets = _buckets(data)
    work_per_source = max(1, len(ends) + 4 * out.shape[1])
    step = int(np.clip(_EDGES_PER_CHUNK // work_per_source, 1, max(1, -(-len(nodes) // available_cores()))))

    def chunk(start: int) -> None:
        part = slice(start, start + step)
        if by == "length":
            kernels.lengths_from(starts, ends, data, nodes[part], width, buckets, out[part])
        else:
            kernels.hops(starts, ends, nodes[part], out[part])

    def report(done: int, _: int) -> None:
        if progress is not None:
            progress(min(done * step, len(nodes)), len(nodes))

    in_threads(chunk, range(0, len(nodes), step), report)
    return out


def _buckets(lengths: Array) -> tuple[float, int]:
    """Width and number of the buckets: a quarter of the mean length, best of 1/4, 1/2, 1 on neighbour graphs."""
    longest = float(lengths.max(initial=0.0))
    if longest == 0:
        return 1.0, 3
    width = longest * max(float(np.mean(lengths / longest)) / 4, 2.0**-16)
    # beyond these, positions in units of the width would not be numbers
    usable = width > 1e-290 and longest < 1e290
    return width, int(longest / width) + 3 if usable else 0


def _nodes(sources: npt.ArrayLike | None, n: int) -> Whole:
    if sources is None:
        return np.arange(n)
    nodes: npt.NDArray[Any] = np.atleast_1d(np.asarray(sources))
    if nodes.ndim != 1 or (nodes.size and nodes.dtype.kind not in "iu"):
        raise ParameterError(f"sources must be a list of node numbers, got {sources!r}")
    outside = np.flatnonzero((nodes < 0) | (nodes >= n))
    if len(outside):
        raise ParameterError(f"sources must be nodes 0 to {n - 1}, got {nodes[outside[0]]} at place {outside[0]}")
    return nodes.astype(np.int64)


def _check_lengths(lengths: sparse.csr_array) -> None:
    bad = np.flatnonzero(~(np.isfinite(lengths.data) & (lengths.data >= 0)))
    if len(bad):
        row = int(np.searchsorted(lengths.indptr, bad[0], side="right")) - 1
        raise DataError(
            f"lengths must be finite and not negative, found {lengths.data[bad[0]]} on the edge from node {row} "
            f"to node {lengths.indices[bad[0]]}; leave out edges that are not there"
        )
