"""From the lowest modes of connected parts to groups of nodes.

The spectrum of a graph is that of its parts together. Of the k smallest eigenvalues each part owns some, its 0 among
them: so many groups it is cut into, by its own vectors. That is what the eigenvectors of the whole would say, without
the arbitrary mixtures that a repeated eigenvalue allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from assay.arrays import Array, Whole
from assay.optimize.kmeans.lloyd import lloyd
from assay.summary.graph.cuts import sweep_cut
from assay.summary.graph.laplacian import Kind, degree_of
from assay.summary.graph.laplacian_modes import Modes, lowest_modes

_STARTS = 10  # of k-means


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One connected part.

    Attributes:
        nodes: (m,) its nodes in the whole graph.
        weights: (m, m) the similarities among them.
        modes: its lowest eigenpairs above 0; None where none was sought.
    """

    nodes: Whole
    weights: sparse.csr_array
    modes: Modes | None

    @property
    def values(self) -> Array:
        """Eigenvalues, its 0 first."""
        return np.concatenate([[0.0], self.modes.values if self.modes is not None else []])


def part_of(W: sparse.csr_array, nodes: Whole, k: int, kind: Kind, *, tol: float, seed: int) -> Part:
    """A connected part with at most k of its eigenpairs above 0."""
    inside = W if len(nodes) == W.shape[0] else sparse.csr_array(W[nodes][:, nodes])
    k = min(k, len(nodes) - 1)
    return Part(nodes, inside, lowest_modes(inside, k, kind, tol=tol, seed=seed) if k > 0 else None)


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The smallest eigenvalues of all parts together.

    Attributes:
        values: (k,) ascending, the 0 of each part first.
        owner: (k,) the part that each belongs to.
        residuals: (k,) of their vectors.
    """

    values: Array
    owner: Whole
    residuals: Array


def spectrum_of(parts: list[Part], k: int) -> Spectrum:
    """The k smallest eigenvalues, or all there are."""
    values = np.concatenate([part.values for part in parts])
    residuals = np.concatenate([[0.0, *(part.modes.residuals if part.modes is not None else [])] for part in parts])
    owner = np.repeat(np.arange(len(parts)), [len(part.values) for part in parts])
    place = np.concatenate([np.arange(len(part.values)) for part in parts])
    order = np.lexsort((owner, place, values))[:k]
    return Spectrum(values[order], owner[order], residuals[order])


def widest_gap(values: Array, m: int) -> tuple[int, float]:
    """The k with the largest lambda[k+1] / lambda[k], and that ratio: m where eigenvalue 0 comes m > 1 times.

    Differences would not do: along a chain of rows eigenvalues grow as squares, and so do their differences.
    """
    if m > 1 or len(values) < 3:
        return m, math.inf
    ratios = values[2:] / values[1:-1]
    best = int(np.argmax(ratios))
    return best + 2, float(ratios[best])


def embedded(parts: list[Part], owner: Whole, n: int, kind: Kind, t: float) -> Array:
    """(n, k) a column for each eigenvalue, in the nodes of its part; NaN where there is no part."""
    Y = np.full((n, len(owner)), np.nan)
    for part in parts:
        Y[part.nodes] = 0.0
    for number, part in enumerate(parts):
        columns = np.flatnonzero(owner == number)
        Y[np.ix_(part.nodes, columns)] = coordinates(part, len(columns), kind, t)
    return Y


def coordinates(part: Part, k: int, kind: Kind, t: float) -> Array:
    """(m, k) the first k modes of a part after a time t, its constant one first.

    "random-walk": psi with mean square 1 under the stationary weights, times |1 - lambda|^t. "symmetric": the same
    vectors times the root of the degree, rows of unit length. "plain": unit vectors times exp(-lambda t).
    """
    m = len(part.nodes)
    values = part.values[:k]
    root = np.ones(m) if kind == "plain" else np.sqrt(degree_of(part.weights))
    null = root / np.linalg.norm(root) if root.any() else np.ones(m)
    vectors = null[:, None] if part.modes is None else np.column_stack([null, part.modes.vectors[:, : k - 1]])
    scaled = vectors * (np.exp(-values * t) if kind == "plain" else np.abs(1.0 - values) ** t)
    if kind == "random-walk":
        scaled /= null[:, None]
    elif kind == "symmetric":
        scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled)


def groups_of(part: Part, k: int, kind: Kind, t: float, seed: int) -> Whole:
    """(m,) groups 0 to k - 1 of the nodes of a part: two by the best threshold, more by k-means."""
    if k == 1:
        return np.zeros(len(part.nodes), dtype=np.int64)
    if k == len(part.nodes):
        return np.arange(k)
    degree = degree_of(part.weights)
    if k == 2 and part.modes is not None:
        slowest = part.modes.vectors[:, 0]
        return sweep_cut(part.weights, slowest if kind == "plain" else slowest / np.sqrt(degree)).above.astype(np.int64)
    Y = np.ascontiguousarray(coordinates(part, k, kind, t))
    weights = degree / degree.mean() if kind == "random-walk" else None
    return lloyd(Y, k, seed=seed, n_init=_STARTS, weights=weights).labels.astype(np.int64)
