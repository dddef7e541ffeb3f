"""How well do groups of nodes hang together, and how well could any two? Conductance beside Cheeger's bounds.

    volume       vol(S) = sum of the degrees of S          cut(S) = weight of the edges that leave S
    conductance  phi(S) = cut(S) / min(vol(S), vol(rest))  normalised cut = sum over groups of cut(S) / vol(S)
    Cheeger      lambda2 / 2 <= phi_G <= sqrt(2 lambda2),  phi_G the least phi of any set of nodes,
                 lambda2 the second smallest eigenvalue of I - D^-1/2 W D^-1/2

The bounds are about the best cut into two that the graph has, not about the groups given: groups above the upper bound
are certainly not the best two; none is below the lower one.

Reference: Chung, Spectral Graph Theory, AMS 1997, chapter 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.summary.graph.edges import edges_of
from assay.summary.graph.graph import Graph
from assay.summary.graph.laplacian import degree_of
from assay.summary.graph.laplacian_modes import lowest_modes


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """What a partition cuts, group by group.

    Attributes:
        cut: (k,) weight of the edges that leave the group.
        volume: (k,) sum of its degrees; a self-loop counts once.
        conductance: (k,) phi; 0 where nothing is cut, be the volume 0 or not.
        normalized_cut: sum over groups of cut / volume.
    """

    cut: Array
    volume: Array
    conductance: Array
    normalized_cut: float


@dataclass(frozen=True, slots=True, eq=False)
class Conductance:
    """What a partition of a graph cuts, and what the best cut into two can be.

    Attributes:
        groups: (k,) the labels, ascending.
        sizes: (k,) nodes of each group.
        cut: (k,) weight of the edges that leave it.
        volume: (k,) sum of the degrees of its nodes.
        conductance: (k,) cut over the smaller of its volume and that of the rest; 0 where nothing is cut.
        worst: the largest of them.
        normalized_cut: sum over groups of cut / volume.
        lambda2: second smallest eigenvalue of the normalised Laplacian; 0 if the graph falls apart, NaN for one node.
        residual: of its eigenvector; some eigenvalue lies within this distance of lambda2.
        lower: lambda2 / 2: no set of nodes has a smaller conductance.
        upper: sqrt(2 lambda2): some set of nodes has at most this.
    """

    groups: NDArray[Any]
    sizes: Whole
    cut: Array
    volume: Array
    conductance: Array
    worst: float
    normalized_cut: float
    lambda2: float
    residual: float
    lower: float
    upper: float


def conductance(graph: Graph, labels: ArrayLike) -> Conductance:
    """How much of each group's weight leaves it, and how little any cut of this graph could leave?

    Args:
        graph: undirected, of similarities.
        labels: (n,) the group of each node: numbers or text.

    >>> two_triangles = Graph.of_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> found = conductance(two_triangles, [0, 0, 0, 1, 1, 1])
    >>> found.conductance  # one edge of 7 leaves, volumes are 7
    array([0.14285714, 0.14285714])
    >>> round(found.lower, 3), round(found.upper, 3)
    (0.102, 0.64)
    """
    if not isinstance(graph, Graph):
        raise ParameterError(
            f"conductance is of a Graph; got {type(graph).__name__}. Make one with Graph.of_adjacency."
        )
    if graph.directed:
        raise ParameterError("conductance is of an undirected graph. Use symmetrised() first.")
    if graph.meaning != "similarity":
        raise ParameterError(
            "conductance is of similarities, these are distances. Use weighted(Gaussian()) or unweighted() first."
        )
    given = np.asarray(labels)
    if given.shape != (graph.n,):
        raise DataError(f"one label is needed for each of {graph.n} nodes; got shape {given.shape}.")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise DataError(f"labels must not be NaN or infinite: that of node {int(np.argmin(np.isfinite(given)))} is.")
    groups, number = np.unique(given, return_inverse=True)
    cuts = cuts_of(graph.weights, number, len(groups))
    lambda2, residual = _second(graph)
    lower, upper = cheeger(lambda2)
    return Conductance(
        groups=groups,
        sizes=np.bincount(number),
        cut=cuts.cut,
        volume=cuts.volume,
        conductance=cuts.conductance,
        worst=float(cuts.conductance.max()),
        normalized_cut=cuts.normalized_cut,
        lambda2=lambda2,
        residual=residual,
        lower=lower,
        upper=upper,
    )


def cuts_of(W: sparse.csr_array, labels: Whole, k: int) -> Cuts:
    """Cut, volume and conductance of the groups 0 to k - 1 of a matrix of similarities.

    >>> cuts_of(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1]), 2).normalized_cut
    2.0
    """
    rows, cols, values = edges_of(W)
    crossing = labels[rows] != labels[cols]
    cut: Array = np.bincount(labels[rows[crossing]], values[crossing], k).astype(np.float64)
    volume: Array = np.bincount(labels, degree_of(W), k).astype(np.float64)
    rest = _others(volume)
    # a cut is part of both volumes: 0 / 0 is a set that nothing leaves
    phi = np.divide(cut, np.minimum(volume, rest), out=np.zeros(k), where=cut > 0)
    share = np.divide(cut, volume, out=np.zeros(k), where=cut > 0)
    return Cuts(cut, volume, phi, float(share.sum()))


def cheeger(lambda2: float) -> tuple[float, float]:
    """Between which values the least conductance of a graph lies.

    >>> cheeger(0.02)
    (0.01, 0.2)
    """
    return lambda2 / 2.0, float(np.sqrt(2.0 * lambda2))


def _others(volume: Array) -> Array:
    """The sum of all other volumes, added up without taking away, which would leave rounding where it is 0."""
    before = np.concatenate([[0.0], np.cumsum(volume)[:-1]])
    after = np.concatenate([np.cumsum(volume[::-1])[::-1][1:], [0.0]])
    return np.asarray(before + after)


def _second(graph: Graph) -> tuple[float, float]:
    if graph.n == 1:
        return float("nan"), 0.0
    if graph.components().count > 1:
        return 0.0, 0.0
    found = lowest_modes(graph.weights, 1)
    return float(found.values[0]), float(found.residuals[0])
