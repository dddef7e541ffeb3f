"""What a graph falls into: components and specks among them, the spectra of the components, and their groups.

A component is a group that costs nothing to cut, and eigenvalue 0 comes once for each. But one row that no other links
with is a component too, and hardly what was asked for: components much smaller than an even share are specks, which
are set aside and given to a group at the end.

The spectrum of a graph is that of its parts together. Of the k smallest eigenvalues each part owns some, its 0 among
them: so many groups it is cut into, by its own vectors. That is what the eigenvectors of the whole would say, without
the arbitrary mixtures that a repeated eigenvalue allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from assay.arrays import Array, Whole
from assay.models.cluster.spectral.similarities import Space
from assay.optimize.kmeans.lloyd import lloyd
from assay.summary.graph.cuts import sweep_cut
from assay.summary.graph.edges import edges_of
from assay.summary.graph.laplacian import Kind, degree_of
from assay.summary.graph.laplacian_modes import Modes, lowest_modes

_NOTHING = 1e-14  # of the root of two degrees: a link weaker than this is lost in rounding
_STARTS = 10  # of k-means


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The components of a graph.

    Attributes:
        labels: (n,) the component of each node, numbered by its first node.
        count: how many.
        main: (m,) the components that are no specks.
        specks: (s,) the nodes of the others.
    """

    labels: Whole
    count: int
    main: Whole
    specks: Whole


def parts_of(W: sparse.csr_array, k: int, share: float, least: int) -> Parts:
    """Components. Those of fewer than share * n / k nodes are specks, and single nodes, unless share is 0.

    None is if fewer than `least` nodes were left: then the graph is too small to set any aside.
    """
    count, found = csgraph.connected_components(_links(W), directed=False)
    _, first, labels = np.unique(found, return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(first))[labels].astype(np.int64)
    sizes = np.bincount(labels, minlength=count)
    main = np.flatnonzero(sizes >= (max(2.0, share * len(labels) / k) if share > 0 else 0.0))
    if sizes[main].sum() < least:
        main = np.arange(count)
    return Parts(labels, int(count), main, np.flatnonzero(~np.isin(labels, main)))


def joined(parts: Parts, k: int, W: sparse.csr_array, space: Space) -> Whole:
    """(n,) groups 0 to k - 1 of more components than that; -1 for specks.

    If it is known where rows lie, the components nearest to each other are joined (single linkage); if not, the two of
    least volume, again and again.
    """
    group = np.full(parts.count, -1)
    group[parts.main] = _nearest_joined(parts, k, space) if space.known else _smallest_joined(parts, k, W)
    return np.asarray(group[parts.labels])


def placed(labels: Whole, specks: Whole, space: Space) -> Whole:
    """Give specks the group of the nearest row that has one; they stay -1 where nothing is known."""
    if not len(specks) or not space.known:
        return labels
    placed = labels.copy()
    placed[specks] = labels[space.nearest(specks, np.flatnonzero(labels >= 0))[0]]
    return placed


def speck_sentence(parts: Parts, space: Space) -> str:
    """What is said about specks."""
    count = parts.count - len(parts.main)
    where = "They take the group of the nearest row" if space.known else "They are labelled -1"
    return (
        f"{len(parts.specks)} of {len(parts.labels)} rows lie in components too small to be groups ({count} of them), "
        f"without a link to the rest. {where}; see specks_. Link more rows, or use min_share=0 to let each be a group."
    )


def by_first(labels: Whole) -> Whole:
    """Groups numbered by their first rows, -1 left as it is."""
    found, first, number = np.unique(labels, return_index=True, return_inverse=True)
    first = np.where(found < 0, -1, first)
    ranks = np.argsort(np.argsort(first)) - int((found < 0).any())
    return np.asarray(ranks[number], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class SpectralPart:
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


def part_of(W: sparse.csr_array, nodes: Whole, k: int, kind: Kind, *, tol: float, seed: int) -> SpectralPart:
    """A connected part with at most k of its eigenpairs above 0."""
    inside = W if len(nodes) == W.shape[0] else sparse.csr_array(W[nodes][:, nodes])
    k = min(k, len(nodes) - 1)
    return SpectralPart(nodes, inside, lowest_modes(inside, k, kind, tol=tol, seed=seed) if k > 0 else None)


@dataclass(frozen=True, slots=True, eq=False)
class PartSpectrum:
    """The smallest eigenvalues of all parts together.

    Attributes:
        values: (k,) ascending, the 0 of each part first.
        owner: (k,) the part that each belongs to.
        residuals: (k,) of their vectors.
    """

    values: Array
    owner: Whole
    residuals: Array


def spectrum_of(parts: list[SpectralPart], k: int) -> PartSpectrum:
    """The k smallest eigenvalues, or all there are."""
    values = np.concatenate([part.values for part in parts])
    residuals = np.concatenate([[0.0, *(part.modes.residuals if part.modes is not None else [])] for part in parts])
    owner = np.repeat(np.arange(len(parts)), [len(part.values) for part in parts])
    place = np.concatenate([np.arange(len(part.values)) for part in parts])
    order = np.lexsort((owner, place, values))[:k]
    return PartSpectrum(values[order], owner[order], residuals[order])


def widest_gap(values: Array, m: int) -> tuple[int, float]:
    """The k with the largest lambda[k+1] / lambda[k], and that ratio: m where eigenvalue 0 comes m > 1 times.

    Differences would not do: along a chain of rows eigenvalues grow as squares, and so do their differences.
    """
    if m > 1 or len(values) < 3:
        return m, math.inf
    ratios = values[2:] / values[1:-1]
    best = int(np.argmax(ratios))
    return best + 2, float(ratios[best])


def embedded(parts: list[SpectralPart], owner: Whole, n: int, kind: Kind, t: float) -> Array:
    """(n, k) a column for each eigenvalue, in the nodes of its part; NaN where there is no part."""
    Y = np.full((n, len(owner)), np.nan)
    for part in parts:
        Y[part.nodes] = 0.0
    for number, part in enumerate(parts):
        columns = np.flatnonzero(owner == number)
        Y[np.ix_(part.nodes, columns)] = coordinates(part, len(columns), kind, t)
    return Y


def coordinates(part: SpectralPart, k: int, kind: Kind, t: float) -> Array:
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


def groups_of(part: SpectralPart, k: int, kind: Kind, t: float, seed: int) -> Whole:
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


def _nearest_joined(parts: Parts, k: int, space: Space) -> Whole:
    if len(parts.main) == k:
        return np.arange(k)
    members = [np.flatnonzero(parts.labels == part) for part in parts.main]
    pairs = [
        (float(space.nearest(members[i], members[j])[1].min()), j, i) for i in range(len(members)) for j in range(i)
    ]
    group = np.arange(len(members))
    for _, i, j in sorted(pairs):
        if len(np.unique(group)) == k:
            break
        group[group == group[j]] = group[i]
    return np.unique(group, return_inverse=True)[1]


def _smallest_joined(parts: Parts, k: int, W: sparse.csr_array) -> Whole:
    volume = np.bincount(parts.labels, degree_of(W), parts.count)[parts.main]
    groups = [[i] for i in np.argsort(volume, kind="stable")]
    while len(groups) > k:
        groups = sorted([groups[0] + groups[1], *groups[2:]], key=lambda group: float(volume[group].sum()))
    found = np.empty(len(volume), dtype=np.int64)
    for number, group in enumerate(groups):
        found[group] = number
    return found


def _links(W: sparse.csr_array) -> sparse.csr_array:
    """W without links that are lost in rounding beside the others of their nodes."""
    degree = degree_of(W)
    if not W.nnz or W.data.min() > _NOTHING * degree.max():
        return W
    rows, cols, values = edges_of(W)
    root = np.sqrt(degree)
    linked = values > _NOTHING * root[rows] * root[cols]
    return sparse.csr_array((values[linked], (rows[linked], cols[linked])), shape=W.shape)
