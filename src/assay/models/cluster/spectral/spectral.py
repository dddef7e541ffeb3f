"""Spectral clustering: groups of rows between which a random walk along near rows seldom passes.

summary  W, (n, n) similarities along the edges of a graph, symmetric; D = diag(W 1)
solver   L v = lambda v, the k smallest: D - W, I - D^-1/2 W D^-1/2 or I - D^-1 W; embedding (n, k)
         eigenvalue 0 comes once for each component, so components are found by following edges, not by eigenvectors
reading  two groups: the threshold of the second vector with least conductance; more: k-means in the embedding,
         after a time t of the walk |1 - lambda|^t psi (a diffusion map); then nodes move where the normalised cut falls
bounds   lambda_2 / 2 <= least conductance <= sqrt(2 lambda_2);  lambda_1 + ... + lambda_k <= normalised cut
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClusterMixin

from assay.arrays import Array
from assay.errors import Caution, ParameterError
from assay.linalg.validate import as_count
from assay.models.base import Estimator
from assay.models.cluster.spectral.parts import (
    Parts,
    SpectralPart,
    by_first,
    embedded,
    groups_of,
    joined,
    part_of,
    parts_of,
    placed,
    speck_sentence,
    spectrum_of,
    widest_gap,
)
from assay.models.cluster.spectral.similarities import Space, similarities, weights_of
from assay.summary.distances.known_distances import distances_or_rows
from assay.summary.distances.metrics import Metric, gaps_allowed, is_precomputed
from assay.summary.gram.kernels import Precomputed
from assay.summary.graph.conductance import cheeger, cuts_of
from assay.summary.graph.cuts import refine_cut
from assay.summary.graph.graph import Graph
from assay.summary.graph.laplacian import Kind
from assay.summary.graph.options import Nearest, Within

_TOL = 1e-2  # residuals, as a share of the k-th eigenvalue; the eigenvalues are then right to a ten-thousandth of it


class SpectralClustering(ClusterMixin, Estimator):
    """Which rows hang together along chains of near rows, whatever the shape of the group?

    Components of the graph that hold fewer rows than `min_share` of an even share, or a single one, are specks: they do
    not count as groups, are named in a warning, and take the group of the nearest row (-1 after `fit_graph`, where
    none is nearest).

    Args:
        n_clusters: how many groups; or "eigengap": the k from 2 to `max_clusters` with the largest
            lambda[k+1] / lambda[k], or the number of components if the graph falls apart.
        graph: `Nearest(k)` or `Within(radius)`: which rows are linked. "auto": the 10 nearest. None: all pairs, with
            the similarities of `kernel`.
        kernel: `Gaussian(sigma)` makes near rows more similar; None counts each link as 1 (with
            `Nearest(k, symmetry="average")` a link given one way only as 1/2). With `graph=None` any kernel that is
            nowhere negative, Gaussian() when not given; with `Precomputed()` X holds the (n, n) similarities.
        laplacian: "random-walk", "symmetric" or "plain". For two groups the first two are one; "plain" is easily
            tempted by single rows that hang by a weak link.
        t: time of the random walk, 0 or more: modes count by abs(1 - lambda)^t (exp(-lambda t) with "plain") where
            k-means finds the groups. 0 lets all count alike.
        refine: whether rows then move between groups as long as the normalised cut falls; it never rises by that, nor
            does the largest conductance.
        max_clusters: the most groups that "eigengap" may choose.
        min_share: components below this share of n / n_clusters rows are specks, unless fewer than two rows for each
            group were left; 0 lets each component be a group.
        random_state: seed of k-means.

    Attributes:
        labels_: (n,) the group of each row, numbered by their first rows; -1 for specks after `fit_graph`.
        n_clusters_: k.
        embedding_: (n, k) what k-means sees, a column for each eigenvalue, with 0 outside the component that owns it;
            NaN in specks.
        eigenvalues_: (k,) the smallest of the Laplacian, specks left out; (up to max_clusters + 1,) with "eigengap".
        residuals_: how far each eigenpair is from solving its equation.
        eigengap_: lambda[k+1] / lambda[k]; None unless n_clusters is "eigengap". An undivided chain of rows has 4, a
            square 2: no more than that is no evidence of groups.
        n_components_: components of the graph, specks included.
        component_labels_: (n,) the component of each row, numbered by first row.
        specks_: (s,) the rows in specks.
        cut_: (k,) weight of the edges that leave each group.
        volume_: (k,) sum of its degrees.
        conductance_: (k,) cut over the smaller of its volume and that of the rest.
        cheeger_: (2,) between which values the least conductance of any set of rows lies, specks left out.
        normalized_cut_: sum of cut / volume over groups.
        normalized_cut_bound_: sum of the k smallest eigenvalues of the normalised Laplacian: no k groups have less.
        route_: "components" (they were the groups), "sweep" (two groups, by threshold) or "k-means".
        solver_: of the eigenvalues: "multilevel", "lapack", "dense", "lanczos", "filtered" or "none".
        names_: of the nodes after `fit_graph`, None where they have none.
        notes_: what was decided on the way, in sentences.

    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = SpectralClustering(2, graph=Nearest(4)).fit(np.vstack([circle, 3 * circle]))
    >>> np.flatnonzero(np.diff(model.labels_)), model.route_
    (array([59]), 'components')
    >>> halves = SpectralClustering(2, graph=Nearest(2)).fit(circle)
    >>> halves.conductance_.round(4), halves.cheeger_.round(4)  # 2 of 60 edges are cut
    (array([0.0333, 0.0333]), array([0.0027, 0.1047]))

    References:
        Luxburg, A tutorial on spectral clustering, 2007; Shi and Malik, 2000; Ng, Jordan and Weiss, 2001.
    """

    eigengap_: float | None

    def __init__(
        self,
        n_clusters: int | Literal["eigengap"] = "eigengap",
        *,
        graph: Nearest | Within | Literal["auto"] | None = "auto",
        kernel: Any = None,
        laplacian: Kind = "random-walk",
        t: float = 0.0,
        refine: bool = True,
        max_clusters: int = 15,
        min_share: float = 0.05,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.graph = graph
        self.kernel = kernel
        self.laplacian = laplacian
        self.t = t
        self.refine = refine
        self.max_clusters = max_clusters
        self.min_share = min_share
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Group (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`; (n, n) distances or similarities with "precomputed" ones,
                of which a sparse matrix need hold only the nearest or most similar; or a `Graph`.
            y: not used.
        """
        if isinstance(X, Graph):
            return self.fit_graph(X)
        self._check()
        # distances_or_rows finds what is not finite and says where
        given = self._checked(X, reset=True, accept_sparse="csr", ensure_all_finite=False)
        rows = distances_or_rows(given, self._metric())
        self._count(int(rows.shape[0]), "rows")
        option = self.graph
        if isinstance(option, Nearest | Within):
            option = replace(option, metric=self._resolved(option.metric, rows))
        W, space = similarities(rows, option, self.kernel)
        notes: list[str] = []
        self._few_distinct(rows, notes)
        self.names_: tuple[str, ...] | None = None
        return self._group(W, space, notes)

    def fit_graph(self, graph: Graph) -> Self:
        """Group the nodes of a network, as `assay.read_network` gives it; `graph` of the model is not used.

        Edges that lead one way are taken both ways, the stronger of two. Lengths become similarities by `kernel`, or
        each edge counts as 1. Either is noted in `notes_`.
        """
        self._check()
        self._count(graph.n, "nodes")
        notes: list[str] = []
        weights = weights_of(graph, self.kernel, notes)
        self._record_columns(None, graph.n)
        self.names_ = graph.names
        return self._group(weights, Space(), notes)

    def _metric(self) -> Metric:
        return self.graph.metric if isinstance(self.graph, Nearest | Within) else "euclidean"

    def _check(self) -> None:
        if self.laplacian not in get_args(Kind):
            raise ParameterError(f"laplacian must be one of {', '.join(get_args(Kind))}; is {self.laplacian!r}.")
        if not _number(self.t) or not 0.0 <= self.t < math.inf:
            raise ParameterError(f"t is a finite number of at least 0; got {self.t!r}")
        if not _number(self.min_share) or not 0.0 <= self.min_share <= 1.0:
            raise ParameterError(f"min_share is a number from 0 to 1; got {self.min_share!r}")
        most: Any = self.max_clusters
        if isinstance(most, bool) or not isinstance(most, Integral) or int(most) < 2:
            raise ParameterError(f"max_clusters is a whole number of at least 2; got {most!r}")

    def _count(self, n: int, what: str) -> None:
        k: Any = self.n_clusters
        if isinstance(k, str) and k != "eigengap":
            raise ParameterError(f'n_clusters must be a whole number or "eigengap", is {k!r}.')
        if not isinstance(k, str):
            as_count(k, n, name="n_clusters", what=f"the {what}")

    def _few_distinct(self, rows: Any, notes: list[str]) -> None:
        k: Any = self.n_clusters
        if isinstance(k, str) or self.__sklearn_tags__().input_tags.pairwise:
            return
        if len(np.unique(rows[: 4 * k], axis=0)) < k and (distinct := len(np.unique(rows, axis=0))) < k:
            _tell(notes, f"only {distinct} rows are distinct: {k} groups have to part equal rows. Ask for fewer.")

    def _group(self, W: sparse.csr_array, space: Space, notes: list[str]) -> Self:
        n = int(W.shape[0])
        k = None if isinstance(self.n_clusters, str) else int(self.n_clusters)
        parts = parts_of(W, k or self.max_clusters, self.min_share, least=2 * (k or 2))
        self.n_components_, self.component_labels_, self.specks_ = parts.count, parts.labels, parts.specks
        kept = np.setdiff1d(np.arange(n), parts.specks, assume_unique=True)
        if len(parts.specks):
            _tell(notes, speck_sentence(parts, space))
        if k is not None and 1 < k <= len(parts.main):
            labels = self._by_components(W, parts, k, space, notes)
        else:
            labels = self._by_modes(W, parts, k, len(kept))
        inside = W if len(kept) == n else sparse.csr_array(W[kept][:, kept])
        labels = by_first(labels)
        self.n_clusters_ = int(labels.max()) + 1
        if k is not None and self.n_clusters_ < k:
            _tell(notes, f"k-means left only {self.n_clusters_} of {k} groups with rows. Ask for fewer.")
        if self.refine and self.route_ != "components":
            labels[kept] = refine_cut(inside, labels[kept], self.n_clusters_)
        self.labels_ = by_first(placed(labels, parts.specks, space))
        self._judge(inside, self.labels_[kept], notes)
        self.notes_ = tuple(notes)
        return self

    def _by_components(
        self, W: sparse.csr_array, parts: Parts, k: int, space: Space, notes: list[str]
    ) -> NDArray[np.int64]:
        if len(parts.main) > k:
            how = "nearest to each other" if space.known else "of least weight"
            _tell(
                notes,
                f"the graph falls into {len(parts.main)} components, {k} groups were asked for: those {how} were "
                'joined. Link more rows, ask for more groups, or let n_clusters="eigengap" count them.',
            )
        labels = joined(parts, k, W, space)
        self.eigenvalues_, self.residuals_, self.eigengap_ = np.zeros(k), np.zeros(k), None
        self.embedding_ = np.where(labels[:, None] < 0, np.nan, (labels[:, None] == np.arange(k)).astype(np.float64))
        self.cheeger_, self.normalized_cut_bound_ = np.zeros(2), 0.0
        self.route_, self.solver_ = "components", "none"
        return labels

    def _by_modes(self, W: sparse.csr_array, parts: Parts, k: int | None, kept: int) -> NDArray[np.int64]:
        m, seed = len(parts.main), self._seed()
        asked = min(max(self.max_clusters, m) + 1 if k is None else max(k, 2), kept)
        built = [
            part_of(W, np.flatnonzero(parts.labels == p), asked - m, self.laplacian, tol=_TOL, seed=seed)
            for p in parts.main
        ]
        spectrum = spectrum_of(built, asked)
        shown, self.eigengap_ = asked if k is None else k, None
        if k is None:
            k, self.eigengap_ = widest_gap(spectrum.values, m)
        self.eigenvalues_, self.residuals_ = spectrum.values[:shown], spectrum.residuals[:shown]
        owner = spectrum.owner[:k]
        self.embedding_ = embedded(built, owner, len(parts.labels), self.laplacian, self.t)
        labels = np.full(len(parts.labels), -1)
        for number, part in enumerate(built):
            count = int((owner == number).sum())
            labels[part.nodes] = groups_of(part, count, self.laplacian, self.t, seed) + int((owner < number).sum())
        shares = np.bincount(owner, minlength=m)
        self.route_ = "k-means" if shares.max() > 2 else "sweep" if shares.max() == 2 else "components"
        self.solver_ = next((part.modes.solver for part in built if part.modes is not None), "none")
        self._bound(built, spectrum.values, k)
        return labels

    def _bound(self, built: list[SpectralPart], values: Array, k: int) -> None:
        """What the eigenvalues of the normalised Laplacian say about any cut."""
        if self.laplacian == "plain":
            normal = [
                part_of(part.weights, np.arange(len(part.nodes)), len(part.values) - 1, "symmetric", tol=_TOL, seed=0)
                for part in built
            ]
            values = spectrum_of(normal, len(values)).values
        self.normalized_cut_bound_ = float(values[:k].sum())
        self.cheeger_ = np.array(cheeger(float(values[1]) if len(values) > 1 else math.nan))

    def _judge(self, W: sparse.csr_array, labels: NDArray[np.int64], notes: list[str]) -> None:
        cuts = cuts_of(W, labels, self.n_clusters_)
        self.cut_, self.volume_, self.conductance_ = cuts.cut, cuts.volume, cuts.conductance
        self.normalized_cut_ = cuts.normalized_cut
        loose = np.flatnonzero(cuts.conductance > 0.5)
        if len(loose):
            notes.append(
                f"More than half of the weight of group {', '.join(map(str, loose))} leaves it: "
                "these are no groups that the graph keeps together."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = gaps_allowed(self._metric())
        tags.input_tags.pairwise = is_precomputed(self._metric()) or (self.graph is None and _precomputed(self.kernel))
        tags.input_tags.positive_only = tags.input_tags.pairwise  # distances or similarities
        return tags


def _tell(notes: list[str], sentence: str) -> None:
    notes.append(sentence[0].upper() + sentence[1:])
    warnings.warn(notes[-1], Caution, stacklevel=5)


def _number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _precomputed(kernel: Any) -> bool:
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")
