"""Cuts of a graph: the best threshold of a function on its nodes, and a given cut made smaller.

    sweep   S_t = {i : f_i <= t}, the t of least conductance; for the second eigenvector of the normalised Laplacian
            it is at most sqrt(2 lambda2) (Cheeger)
    refine  nodes move to the linked group where the normalised cut falls; between two groups, the smallest cut that
            parts their cores, by maximum flow through a band of nodes along the border. Taken only if it is better

Reference: Spielman and Teng, Linear Algebra and its Applications 421, 2007 (sweep); Sanders and Schulz, Engineering
multilevel graph partitioning algorithms, ESA 2011 (flow along the border).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from assay.arrays import Array, Whole
from assay.summary.graph.edges import edges_of
from assay.summary.graph.laplacian import degree_of

_BAND = 30_000  # edges along a border through which the flow goes
_SWEEPS, _ROUNDS = 50, 10
_LEAST = 1e-12  # of the normalised cut: less is rounding
_WHOLE = 2**30  # SciPy's flow takes whole numbers of 32 bits


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The best threshold.

    Attributes:
        above: (n,) whether the node's value is above it.
        threshold: midway between the values on both sides.
        conductance: of the cut.
    """

    above: np.ndarray[tuple[int], np.dtype[np.bool_]]
    threshold: float
    conductance: float


def sweep_cut(W: sparse.csr_array, f: Array) -> Sweep:
    """Cut a connected graph where a function of its nodes is cut best, by conductance.

    Args:
        W: (n, n) symmetric similarities, n at least 2.
        f: (n,), not all equal.

    >>> path = sparse.csr_array(sparse.diags_array([[1.0, 0.1, 1.0]] * 2, offsets=[1, -1], shape=(4, 4)))
    >>> sweep_cut(path, np.array([0.0, 1.0, 2.0, 3.0])).threshold
    1.5
    """
    from assay.summary.graph._cut_kernels import cuts_along

    order = np.argsort(f, kind="stable")
    n = len(order)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    cut = cuts_along(W.indptr, W.indices, W.data, order, place)[:-1]
    degree = degree_of(W)[order]
    phi = np.maximum(cut, 0.0) / np.minimum(np.cumsum(degree)[:-1], np.cumsum(degree[::-1])[::-1][1:])
    level = f[order]
    phi[level[1:] == level[:-1]] = np.inf  # no threshold parts equal values
    at = int(np.argmin(phi))
    above = np.zeros(n, dtype=np.bool_)
    above[order[at + 1 :]] = True
    return Sweep(above, float(level[at] / 2.0 + level[at + 1] / 2.0), float(phi[at]))


def refine_cut(W: sparse.csr_array, labels: Whole, k: int) -> Whole:
    """Lower the normalised cut of a partition; its largest conductance never rises.

    Args:
        W: (n, n) symmetric similarities.
        labels: (n,) groups 0 to k - 1, none of them empty.
        k: how many.

    >>> ring = sparse.csr_array(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    >>> refine_cut(ring, np.array([0, 1, 0, 0, 1, 1]), 2)
    array([1, 0, 0, 0, 1, 1])
    """
    before = best = _tallied(W, labels, k)
    kept, changed = labels, set(range(k))
    for _ in range(_ROUNDS):
        trial = _moved(W, kept, best)
        changed |= _differing(trial, kept)
        for a, b in _touching(W, trial, k):
            if a in changed or b in changed:
                trial = _flowed(W, trial, a, b, k)
        cuts = _tallied(W, trial, k)
        if not cuts.normalized < best.normalized - _LEAST:
            break
        changed = _differing(trial, kept)
        kept, best = trial, cuts
    return kept if best.worst <= before.worst else labels


@dataclass(frozen=True, slots=True, eq=False)
class _Tally:
    cut: Array
    inside: Array

    @property
    def normalized(self) -> float:
        return float(_share(self.cut, self.cut + self.inside).sum())

    @property
    def worst(self) -> float:
        volume = self.cut + self.inside
        return float(_share(self.cut, np.minimum(volume, volume.sum() - volume)).max())


def _share(cut: Array, volume: Array) -> Array:
    return np.divide(cut, volume, out=np.zeros(len(cut)), where=cut > 0)


def _tallied(W: sparse.csr_array, labels: Whole, k: int) -> _Tally:
    from assay.summary.graph._cut_kernels import tally

    return _Tally(*tally(W.indptr, W.indices, W.data, labels, k))


def _moved(W: sparse.csr_array, labels: Whole, before: _Tally) -> Whole:
    from assay.summary.graph._cut_kernels import move_nodes

    labels, inside = labels.copy(), before.inside.copy()
    degree, volume = degree_of(W), before.cut + before.inside
    for _ in range(_SWEEPS):
        if not move_nodes(W.indptr, W.indices, W.data, degree, labels, volume, inside, _LEAST):
            break
    return labels


def _differing(after: Whole, before: Whole) -> set[int]:
    """Groups that gained or lost a node."""
    moved = after != before
    return {*after[moved].tolist(), *before[moved].tolist()}


def _touching(W: sparse.csr_array, labels: Whole, k: int) -> list[tuple[int, int]]:
    """Pairs of groups with edges between them, the most first."""
    if k == 2:
        return [(0, 1)]
    rows, cols, values = edges_of(W)
    a, b = labels[rows], labels[cols]
    between = np.bincount((a * k + b)[a < b], values[a < b], k * k)
    order = np.argsort(-between, kind="stable")
    return [(int(p) // k, int(p) % k) for p in order if between[p] > 0]


def _flowed(W: sparse.csr_array, labels: Whole, a: int, b: int, k: int) -> Whole:
    """The smallest cut between the cores of two groups, if that lowers the normalised cut; else what was given."""
    from assay.summary.graph._cut_kernels import border_band

    band = border_band(W.indptr, W.indices, labels, a, b, _BAND)
    if not len(band):
        return labels
    m = len(band)
    number = np.full(len(labels), -1)
    number[labels == a], number[labels == b] = m, m + 1  # the cores are one node each
    number[band] = np.arange(m)
    start, end, values = edges_of(sparse.csr_array(W[band]))
    end = number[end]
    inside = (end >= 0) & (end != start)
    F = sparse.csr_array(sparse.coo_array((values[inside], (start[inside], end[inside])), shape=(m + 2, m + 2)))
    F = sparse.csr_array(F.maximum(F.T))  # the edges of the cores, the other way
    F.data = np.rint(F.data * (_WHOLE / F.data.sum())).astype(np.int32)
    trial = labels.copy()
    trial[band] = np.where(_reached(F, m, m + 1)[:m], a, b)
    better = _tallied(W, trial, k).normalized < _tallied(W, labels, k).normalized - _LEAST
    return trial if better else labels


def _reached(F: sparse.csr_array, source: int, sink: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which nodes the source still reaches once the flow to the sink is as large as it can be: its side of the cut."""
    left = sparse.csr_array(F - csgraph.maximum_flow(F, source, sink).flow)
    left.data = (left.data > 0).astype(np.int32)
    left.eliminate_zeros()
    reached = np.zeros(int(F.shape[0]), dtype=np.bool_)
    reached[csgraph.breadth_first_order(left, source, return_predecessors=False)] = True
    return reached
