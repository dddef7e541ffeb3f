"""Spectral seriation: nodes on a line so that strong links are short.

    minimise sum_ij W_ij (x_i - x_j)^2 = 2 x^T (D - W) x,   x^T 1 = 0, |x| = 1,   W (n, n) similarities, D = diag(W 1)

The answer is the eigenvector of the second smallest eigenvalue of the Laplacian (Fiedler's). Where some order of the
nodes makes W fall away from its diagonal along every row (a Robinson matrix), sorting by it finds that order (Atkins,
Boman and Hendrickson, SIAM Journal on Computing 28, 1998). Each component of the graph is sorted by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from assay.arrays import Array, Whole
from assay.errors import DataError
from assay.linalg.eigen.bottom import bottom_eigen
from assay.linalg.validate import RandomState
from assay.summary.graph.graph import Graph

_TIE = 1e-9  # positions this close together, in units of the whole string, count as equal


def fiedler_positions(W: Any, lean: Array | None = None, *, random_state: RandomState = 0) -> Array:
    """Where each node stands on a line from 0 to 1, strong links short; components one after the other.

    Args:
        W: (n, n) symmetric similarities, dense or sparse; the diagonal does not matter.
        lean: (n,) decides what the links leave open: components come by their mean of it, each in the direction in
            which it rises. When not given, components come as they are first met, and the end farthest from the middle
            of its component comes last.
        random_state: seed of the eigen-solver's start.

    Returns:
        (n,) each component takes a share of the line by its size, and fills the middle of it.

    >>> path = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    >>> fiedler_positions(path[[2, 0, 3, 1]][:, [2, 0, 3, 1]], np.array([2.0, 0.0, 3.0, 1.0])).argsort()
    array([1, 3, 0, 2])
    """
    graph = Graph.of_adjacency(W, directed=False)
    n = graph.n
    if lean is not None and lean.shape != (n,):
        raise DataError(f"lean must have one number for each of {n} nodes, has shape {lean.shape}.")
    components = graph.components()
    parts = [np.flatnonzero(components.labels == label) for label in range(components.count)]

    def laplacian(nodes: Whole) -> sparse.csr_array:
        return Graph(sparse.csr_array(graph.weights[nodes][:, nodes])).laplacian("plain")

    return _strung(parts, laplacian, n, lean, random_state)


def few_positions(W: Array, lean: Array | None = None, *, random_state: RandomState = 0) -> Array:
    """As `fiedler_positions` for few nodes, of which thousands of small graphs are strung: nothing is checked.

    Args:
        W: (n, n) similarities, symmetric, finite, none negative, zeros on the diagonal.
        lean: (n,) as there.
        random_state: as there.

    >>> few_positions(np.array([[0.0, 0, 1], [0, 0, 2], [1, 2, 0]])).argsort()
    array([1, 2, 0])
    """

    def laplacian(nodes: Whole) -> Array:
        own = W if len(nodes) == len(W) else W[np.ix_(nodes, nodes)]
        return np.asarray(np.diag(own.sum(axis=1)) - own)

    return _strung(_parts(W > 0), laplacian, len(W), lean, random_state)


def _parts(linked: NDArray[np.bool_]) -> list[Whole]:
    """The nodes of each component of few nodes, as they are first met."""
    parts, left = [], np.ones(len(linked), np.bool_)
    while left.any():
        part = np.zeros_like(left)
        fresh = np.array([int(left.argmax())])
        while len(fresh):
            part[fresh] = True
            fresh = np.flatnonzero(linked[fresh].any(axis=0) & ~part)
        parts.append(np.flatnonzero(part))
        left &= ~part
    return parts


def _strung(
    parts: list[Whole], laplacian: Callable[[Whole], Any], n: int, lean: Array | None, random_state: RandomState
) -> Array:
    """Positions of components one after the other."""
    if lean is not None:
        parts.sort(key=lambda nodes: float(lean[nodes].mean()))
    positions, start = np.empty(n), 0
    for nodes in parts:
        along = np.full(1, 0.5)
        if len(nodes) > 1:
            along = _along(laplacian(nodes), None if lean is None else lean[nodes], random_state)
        positions[nodes] = (start + 0.5 + along * (len(nodes) - 1)) / n
        start += len(nodes)
    return positions


def order_of(positions: Array, lean: Array | None = None) -> Whole:
    """The nodes by their position; equal ones (to 1e-9 of the whole) by lean, then by number.

    >>> order_of(np.array([0.5, 0.1, 0.5]))
    array([1, 0, 2])
    """
    span = float(np.ptp(positions)) or 1.0
    ranks = np.argsort(positions, kind="stable")
    # steps between neighbours, not rounding: a grid would part positions that lie on either side of a line
    level = np.empty(len(positions), dtype=np.int64)
    level[ranks] = np.concatenate([[0], np.cumsum(np.diff(positions[ranks]) > _TIE * span)])
    second = np.zeros(len(positions)) if lean is None else lean
    return np.lexsort((np.arange(len(positions)), second, level))


def node_order(graph: Graph) -> Whole:
    """The nodes of a network in an order in which linked ones are near; directions do not count.

    Links count by D^-1/2 W D^-1/2, or single nodes that hang by one link would make the order.

    Args:
        graph: of similarities.

    >>> node_order(Graph.of_edges([0, 2, 1], [2, 1, 3]))
    array([3, 1, 2, 0])
    """
    both = graph.symmetrised()
    degree = both.degree
    shared = both.weights.tocoo()
    rows, cols = shared.coords
    # the product of both degrees first: it is the same either way round, to the last bit
    links = shared.data / np.sqrt(degree[rows] * degree[cols])
    return order_of(fiedler_positions(sparse.csr_array((links, (rows, cols)), shape=shared.shape)))


def _along(laplacian: Any, lean: Array | None, random_state: RandomState) -> Array:
    """Positions of the nodes of one component, two or more, between 0 and 1."""
    found = bottom_eigen(laplacian, 1, null=np.ones((laplacian.shape[0], 1)), random_state=random_state)
    x = found.vectors[:, 0]
    if lean is not None:
        rise = float((lean - lean.mean()) @ x)
        size = float(np.linalg.norm(lean - lean.mean()))
        if rise < -_TIE * size:
            x = -x
    low, high = float(x.min()), float(x.max())
    return (x - low) / (high - low)
