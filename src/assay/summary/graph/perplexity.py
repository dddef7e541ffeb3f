"""Affinities of stochastic neighbour embedding: how likely would each row name each other one as its neighbour?

    p_j|i = exp(-d_ij^2 / 2 sigma_i^2) / sum_k exp(-d_ik^2 / 2 sigma_i^2)      each row of (n, n) sums to one
    H_i = -sum_j p_j|i log p_j|i,  perplexity exp(H_i)                         sigma_i is found so that this is as asked
    p_ij = (p_j|i + p_i|j) / 2n                                                symmetric (n, n), sums to one

The entropy falls steadily in beta = 1 / 2 sigma^2, with dH / d log beta = -beta^2 Var(d^2), so Newton's steps in
log beta, kept within a bracket, find it to the last digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from assay.arrays import Array, Whole
from assay.engine.local import in_threads
from assay.errors import DataError, ParameterError
from assay.summary.distances.known_distances import fewest, known_distances, nearest_known, square
from assay.summary.distances.metrics import Metric
from assay.summary.graph.edges import edges_of, matrix_of, mirrored, nearest_edges
from assay.summary.graph.graph import Graph
from assay.summary.graph.target_links import kept

ALL_PAIRS = 256  # rows up to which every other row is a neighbour; beyond, the 3 * perplexity nearest are
USUAL = 30.0  # perplexity where none is asked for and there are rows enough
_BLOCK = 2**17  # distances held at a time
_STEPS = 500
_SOLVED = 1e-10  # of the entropy, which is a sum of a few hundred terms: far above its rounding


@dataclass(frozen=True, slots=True, eq=False)
class Affinities:
    """Affinities of n rows.

    Attributes:
        P: (n, n) joint affinities, symmetric, sum one, diagonal empty.
        conditional: (n, n) row i holds p_j|i, sum one.
        sigma: (n,) width of each row's Gaussian, in units of the distances; infinite where all neighbours count alike,
            0 where only the nearest do. Empty for affinities that were given.
        perplexity: what was asked for; NaN for affinities that were given.
        reached: (n,) perplexity of each row. It is off by more than 1e-5 only where it must be: more equally near
            neighbours than asked for, or fewer neighbours in all.
    """

    P: sparse.csr_array
    conditional: sparse.csr_array
    sigma: Array
    perplexity: float
    reached: Array


@dataclass(frozen=True, slots=True, eq=False)
class Widths:
    """The Gaussians of some rows.

    Attributes:
        p: (n, k) affinity to each neighbour; rows sum to one.
        sigma: (n,) width.
        reached: (n,) perplexity.
    """

    p: Array
    sigma: Array
    reached: Array


def affinities(X: Any, perplexity: float | None = None, metric: Metric = "euclidean") -> Affinities:
    """How likely would each row name each other one as its neighbour?

    Args:
        X: (n, d) rows; with metric "precomputed" their (n, n) distances. A sparse matrix holds those to at least
            3 * perplexity nearest: absent ones are not known, and farther.
        perplexity: effective number of neighbours, from 1 to below n; when not given 30, or a third of the other rows.
        metric: a name of `summary.metrics`, or a function of two rows.

    Returns:
        Affinities, to all other rows of up to `ALL_PAIRS`, else to the 3 * perplexity nearest.

    >>> affinities([[0.0], [1.0], [3.0], [4.0]], 1.5).reached.round(9)
    array([1.5, 1.5, 1.5, 1.5])
    """
    n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    if n < 2:  # no neighbours, of whatever perplexity
        empty = sparse.csr_array((n, n))
        return Affinities(empty, empty, np.zeros(n), 1.0, np.ones(n))
    asked, perplexity = perplexity is not None, checked_perplexity(perplexity, n)
    k = n - 1 if n <= ALL_PAIRS else min(n - 1, int(np.ceil(3 * perplexity)))
    if metric == "precomputed" and hasattr(X, "toarray"):
        known = square(known_distances(X))
        k, perplexity = known_neighbours(known, perplexity if asked else None, n - 1)
        indices, distances = nearest_known(known, k)
        cols, lengths = indices.ravel(), distances.ravel()
    else:
        (_, cols, lengths), n = nearest_edges(X, k, metric)
    found = widths(lengths.reshape(n, k), perplexity)
    conditional = _by_column(sparse.csr_array((found.p.ravel(), cols, np.arange(0, n * k + 1, k)), shape=(n, n)))
    return Affinities(joint(conditional), conditional, found.sigma, perplexity, found.reached)


def labelled(found: Affinities, classes: Whole, weight: float) -> Affinities:
    """Affinities in which neighbours of another label count for 1 - weight; each row still sums to one.

    >>> found = affinities([[0.0], [1.0], [3.0], [4.0]], 1.5)
    >>> labelled(found, np.array([0, 1, 0, 1]), 0.9).conditional.toarray()[0].argmax()
    np.int64(2)
    """
    rows, cols, p = edges_of(found.conditional)
    p = p * kept(classes, rows, cols, weight)
    p /= np.bincount(rows, p, minlength=len(classes))[rows]
    conditional = sparse.csr_array((p, found.conditional.indices, found.conditional.indptr), shape=found.P.shape)
    return replace(found, P=joint(conditional), conditional=conditional)


def graph_affinities(graph: Graph, perplexity: float | None = None) -> Affinities:
    """Affinities along the edges of a graph.

    Args:
        graph: lengths become affinities by perplexity, over each node's own edges; similarities are taken as they are
            and divided by their sum. Loops count for nothing.
        perplexity: for lengths, from 1 to below the most edges of a node; when not given 30, or a third of the mean
            number of edges.

    Returns:
        Affinities.

    >>> graph_affinities(Graph.of_edges([0, 1], [1, 2])).P.sum()
    np.float64(1.0)
    """
    rows, cols, values = edges_of(graph.weights)
    kept = rows != cols
    rows, cols, values = rows[kept], cols[kept], values[kept]
    links = np.bincount(rows, minlength=graph.n) + np.bincount(cols, minlength=graph.n)
    if (links == 0).any():
        raise DataError(
            f"node {int(np.argmin(links))} has no edge to another node, so nothing says where it belongs; "
            "fit graph.largest_component().graph, or add edges"
        )
    W = matrix_of((rows, cols, values), graph.n)  # keeps edges of length zero
    if graph.meaning == "similarity":
        return _given(W)
    counts = np.diff(W.indptr)
    perplexity = _graph_perplexity(perplexity, counts)
    p, sigma, reached = np.empty(W.nnz), np.full(graph.n, np.inf), np.ones(graph.n)
    for count in np.unique(counts[counts > 0]):
        nodes = np.flatnonzero(counts == count)
        places = W.indptr[nodes][:, None] + np.arange(count)
        found = widths(W.data[places], perplexity)
        p[places], sigma[nodes], reached[nodes] = found.p, found.sigma, found.reached
    conditional = sparse.csr_array((p, W.indices, W.indptr), shape=W.shape)
    return Affinities(_shares(conditional), conditional, sigma, perplexity, reached)


def joint(conditional: sparse.csr_array) -> sparse.csr_array:
    """(p_j|i + p_i|j) / 2n of an (n, n) matrix whose rows sum to one.

    >>> joint(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])).toarray()
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    both = sparse.csr_array(conditional + conditional.T)
    both.data /= 2.0 * int(conditional.shape[0])
    both.sort_indices()
    return both


def checked_perplexity(perplexity: float | None, n: int) -> float:
    """The perplexity asked for, or the usual one for n rows, or the reason why not.

    >>> checked_perplexity(None, 31), checked_perplexity(None, 1000)
    (10.0, 30.0)
    """
    if perplexity is None:
        return _usual(float(n - 1))
    if isinstance(perplexity, bool) or not isinstance(perplexity, int | float | np.number) or not perplexity >= 1:
        raise ParameterError(f"perplexity is a number of at least 1, or None; got {perplexity!r}")
    if not perplexity < n:
        raise ParameterError(
            f"perplexity must be less than n_samples={n}; got {perplexity:g}. It is the effective number of "
            "neighbours: use about a third of the rows or less, or None"
        )
    return float(perplexity)


def known_neighbours(known: sparse.csr_array, perplexity: float | None, others: int) -> tuple[int, float]:
    """How many neighbours to take where only some distances are known, and of which perplexity.

    Args:
        known: (m, n) sparse distances, of rows among themselves without the diagonal.
        perplexity: asked for; when not given a third of the neighbours, 30 at most.
        others: how many neighbours a row has in all.

    Returns:
        The neighbours and the perplexity; all that every row knows where all are few.

    >>> known_neighbours(sparse.csr_array(np.ones((2, 12))), None, 12)
    (12, 4.0)
    """
    row, least = fewest(known)
    perplexity = max(1.0, _usual(float(min(least, others)))) if perplexity is None else perplexity
    wanted = min(others, int(np.ceil(3 * perplexity)))
    if least < wanted:
        remedy = f", or ask for a perplexity of at most {least / 3:.3g}" if least >= 3 else ""
        raise DataError(
            f"perplexity {perplexity:g} takes the {wanted} nearest of each row, but row {row} (counted from 0) has "
            f"{least} known distances. Absent entries of a sparse matrix are not known, not 0: give the distances to "
            f"at least {wanted} others of each row{remedy}."
        )
    return min(least, others) if others < ALL_PAIRS else wanted, perplexity


def widths(distances: Array, perplexity: float) -> Widths:
    """Gaussians about each row whose perplexity over the given neighbours is as asked, to 1e-8 where it can be.

    Args:
        distances: (n, k) to the neighbours.
        perplexity: at least 1.

    Returns:
        Widths.

    >>> widths(np.array([[1.0, 2.0, 3.0]]), 2.0).reached.round(9)
    array([2.])
    """
    n, k = distances.shape
    p, sigma, reached = np.empty((n, k)), np.empty(n), np.empty(n)
    step = max(1, _BLOCK // k)

    def solve(first: int) -> None:
        part = slice(first, first + step)
        p[part], sigma[part], reached[part] = _solved(distances[part], perplexity)

    in_threads(solve, range(0, n, step))
    return Widths(p, sigma, reached)


def _solved(distances: Array, perplexity: float) -> tuple[Array, Array, Array]:
    k = distances.shape[1]
    nearest, furthest = distances.min(axis=1), distances.max(axis=1)
    unit = np.where(furthest > 0, furthest, 1.0)  # squares of 1e300 would overflow
    with np.errstate(under="ignore"):
        squares = (distances / unit[:, None]) ** 2 - ((nearest / unit) ** 2)[:, None]
    scale = squares.mean(axis=1)
    scale[scale == 0] = 1.0
    squares /= scale[:, None]  # beta is near 1 then
    tied = (squares == 0).sum(axis=1)
    few, many = k <= perplexity, tied >= perplexity
    p = np.where(squares == 0, 1.0 / tied[:, None], 0.0)
    beta = np.where(many, np.inf, 0.0)
    if few:
        p[:] = 1.0 / k
        beta[:] = 0.0
    else:
        open_rows = np.flatnonzero(~many)
        beta[open_rows], p[open_rows] = _newton(squares[open_rows], np.log(perplexity))
    reached = np.exp(-np.sum(p * np.log(p, where=p > 0, out=np.zeros_like(p)), axis=1))
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        sigma = unit * np.sqrt(scale / (2 * beta))
    return p, sigma, reached


def _newton(squares: Array, target: float) -> tuple[Array, Array]:
    """Beta of each row whose entropy is the target, and the affinities."""
    n = len(squares)
    t, low, high = np.zeros(n), np.full(n, -np.inf), np.full(n, np.inf)
    p = np.empty_like(squares)
    left = np.arange(n)
    with np.errstate(under="ignore", over="ignore", divide="ignore", invalid="ignore"):
        for _ in range(_STEPS):
            d, beta = squares[left], np.exp(t[left])
            e = np.exp(-beta[:, None] * d)
            total = e.sum(axis=1)
            e /= total[:, None]
            mean = np.einsum("ij,ij->i", e, d)
            variance = np.einsum("ij,ij,ij->i", e, d, d) - mean**2
            gap = np.log(total) + beta * mean - target  # above zero: too wide
            p[left] = e
            wide = gap > 0
            low[left[wide]], high[left[~wide]] = t[left[wide]], t[left[~wide]]
            # a solved row stays where it is, so that beta belongs to p; the second test is where numbers end
            unsolved = (np.abs(gap) > _SOLVED) & (high[left] - low[left] > 1e-14)
            if not unsolved.any():
                break
            left, wide = left[unsolved], wide[unsolved]
            step = (gap / (beta**2 * variance))[unsolved]
            newton = t[left] + np.clip(np.where(np.isfinite(step), step, np.where(wide, 3.0, -3.0)), -3.0, 3.0)
            outside = (newton <= low[left]) | (newton >= high[left])
            middle = 0.5 * (low[left] + high[left])
            t[left] = np.where(outside & np.isfinite(middle), middle, newton)
    return np.exp(t), p


def _usual(neighbours: float) -> float:
    """30, or a third of the neighbours; of very few at least 1.5, so that not only the nearest counts."""
    return max(1.0, min(USUAL, max(neighbours / 3, 1.5), neighbours))


def _graph_perplexity(perplexity: float | None, counts: Whole) -> float:
    if perplexity is None:
        return _usual(float(counts.mean()))
    most = int(counts.max())
    perplexity = checked_perplexity(perplexity, len(counts))
    if perplexity >= most:
        raise ParameterError(
            f"perplexity must be less than the most edges of a node, {most}; got {perplexity:g}. "
            "Use about a third of the edges of a node, or None"
        )
    return perplexity


def _given(W: sparse.csr_array) -> Affinities:
    totals = np.asarray(W.sum(axis=1)).ravel()
    rows = np.repeat(np.arange(len(totals)), np.diff(W.indptr))
    conditional = sparse.csr_array((W.data / totals[rows], W.indices, W.indptr), shape=W.shape)
    logs = np.log(conditional.data)
    entropy = -np.bincount(rows, conditional.data * logs, minlength=len(totals))
    return Affinities(_shares(W), conditional, np.empty(0), float("nan"), np.exp(entropy))


def _shares(W: sparse.csr_array) -> sparse.csr_array:
    """The mean of both directions, divided by its sum."""
    both = mirrored(W, "average", lengths=False)
    both.data /= both.data.sum()
    return both


def _by_column(W: sparse.csr_array) -> sparse.csr_array:
    W.sort_indices()
    return W
