"""Diffusion map: coordinates in which distance is how differently a random walk goes on from two rows.

summary  W_ij = exp(-|x_i - x_j|^2 / (2 sigma^2)), (n, n), all pairs or neighbours only
         density q = W 1;  W_a = W / (q q^T)^alpha, alpha = density_exponent;  walk P = D^-1 W_a, stationary pi
solver   P psi_j = lambda_j psi_j through the symmetric conjugate, psi (n, k), the constant psi_0 left out
reading  coordinates lambda_j^t psi_j(x): squared distances between them are those of the t-step walks,
         sum_z (p_t(x, z) - p_t(y, z))^2 / pi(z), when all n - 1 are kept
         new rows: psi_j(x) = sum_i p(x, x_i) psi_j(x_i) / lambda_j (Nystroem)

In other papers' letters exp(-d^2 / (4 epsilon)) has epsilon = sigma^2 / 2, and exp(-d^2 / epsilon) has 2 sigma^2. With
alpha = 1 a step is heat flowing for a time sigma^2 / 2: lambda_j is about exp(-sigma^2 mu_j / 2), mu_j the eigenvalues
of the Laplacian on the shape the rows lie on.
"""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.linalg.validate import as_count
from assay.models.embedding.diffusion_map.gaussian_affinity import (
    Linked,
    affinities,
    common_width,
    dimension_seen,
    linked_affinities,
    log_affinities,
    own_widths,
    reach_of,
)
from assay.models.embedding.diffusion_map.random_walk import Walk, random_walk
from assay.models.sampled import _Sampled
from assay.models.transformer import Transformer
from assay.summary.distances.metrics import Metric, comparable, gaps_allowed, is_precomputed
from assay.summary.gram.gram import BLOCK
from assay.summary.graph.graph import Graph
from assay.summary.graph.options import Nearest, Within
from assay.summary.graph.target_links import as_classes, checked_weight, kept, refuse_weight

_DENSE = 2_000  # rows: all pairs are compared up to here (LAPACK takes 0.5 s at worst), neighbours beyond


class DiffusionMap(ClassNamePrefixFeaturesOutMixin, Transformer, _Sampled):
    """Unfold the shape that rows lie on by the slow modes of a random walk between near rows.

    Args:
        n_components: how many coordinates, at most one less than the rows.
        graph: "auto" compares all pairs up to 2,000 rows and the nearest beyond, None all pairs. `Nearest(k)` or
            `Within(radius)`: those neighbours only, by the metric of the option.
        sigma: width of the kernel exp(-d^2 / (2 sigma^2)). "auto": half the distance to the k-th nearest row, the
            median over rows, with k = 2 log2(n), at least 10, or that of `Nearest`; half the radius with
            `Within`. "local": the same for each row by itself, in exp(-d^2 / (2 sigma_i sigma_j)). A number: itself.
        density_exponent: how much of the density of rows is taken out. 1: none is left, only the shape shows; 0: all
            is left, as in spectral clustering; 0.5: the Fokker-Planck walk.
        t: time, in steps of the walk, not necessarily whole; 0 gives all coordinates equal weight.
        target_weight: how much labels given to `fit` count, from 0 (not at all) to below 1: similarities of rows of
            different labels are 1 - target_weight times as large. The map then shows labels apart because it was told
            to, even random ones: only unseen rows, which `transform` places without labels, tell whether the columns
            know them.
        random_state: seed of the solver's start.

    Attributes:
        embedding_: (n, k) coordinates of the training rows; those whose eigenvalue is rounding are zero.
        eigenvalues_: (k,) of the walk, descending, without the trivial 1; those that are rounding are zero.
        sigma_: the width, or (n,) widths; None after `fit_graph`.
        dimension_: how fast the similarities grow with the width, which is the dimension of the rows at this scale;
            None after `fit_graph`.
        n_connected_: how many parts the walk falls into. With several, the first coordinates (one fewer than parts)
            only tell parts apart.
        parts_: (n,) the part of each row, numbered by its first row.
        note_: that in a sentence, where there is more than one; else None.
        stationary_: (n,) where the walk is found in the long run.
        density_: (n,) sum of the similarities of each row.
        points_: (n, d) the training rows; None after `fit_graph`.
        metric_: the metric, with what it learned from the rows.
        reach_: (n,) distance to the k-th nearest row, or the radius, where that was used; else None.
        n_neighbors_: k, whether used or not.
        residual_: largest residual of an eigenpair.
        route_: "dense" (all pairs), "neighbours" (sparse) or "graph" (one was given).
        sample_: (n,) which rows of a `Source` of more than 20,000 were mapped, a fair sample; None: all.

    >>> angle = 2 * np.pi * np.arange(60) / 60
    >>> found = DiffusionMap(2, sigma=0.3).fit(np.column_stack([np.cos(angle), np.sin(angle)]))
    >>> bool(np.ptp(np.linalg.norm(found.embedding_, axis=1)) < 1e-9)  # the circle again
    True
    >>> found.eigenvalues_.round(3)  # exp(-sigma^2 / 2) is 0.956
    array([0.954, 0.954])

    References:
        Coifman and Lafon, Diffusion maps, 2006; Nadler, Lafon, Coifman and Kevrekidis, 2006.
    """

    sigma_: Any
    reach_: Any

    _most_rows = 20_000

    def __init__(
        self,
        n_components: int = 2,
        *,
        graph: Nearest | Within | Literal["auto"] | None = "auto",
        sigma: float | Literal["auto", "local"] = "auto",
        density_exponent: float = 1.0,
        t: float = 1.0,
        target_weight: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.graph = graph
        self.sigma = sigma
        self.density_exponent = density_exponent
        self.t = t
        self.target_weight = target_weight
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Map (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`.
            y: (n,) labels, None for rows without; not used without `target_weight`.
        """
        metric, finite = self._metric(), "allow-nan" if gaps_allowed(self._metric()) else True
        rows = comparable(
            self._checked(X, reset=True, accept_sparse="csr", ensure_min_samples=2, ensure_all_finite=finite), metric
        ).copy()
        n = len(rows)
        k = self._check(n)
        option = self._links(n)
        self.metric_ = self._resolved(metric, rows)
        if option is not None:
            option = replace(option, metric=self.metric_)
        self.n_neighbors_ = self._neighbours(n, option)
        self._measure(rows, option)
        self.dimension_: Any = dimension_seen(rows, self.sigma_, self.metric_)
        if option is None:
            W: Any = affinities(rows, self.sigma_)
        else:
            W = linked_affinities(option.graph(rows), self.sigma_)
        if self.target_weight:
            classes, everyone = as_classes(self._sampled_labels(y), n), np.arange(n)
            if option is None:
                W *= kept(classes, everyone[:, None], everyone, self.target_weight)
            else:
                W.data *= kept(classes, np.repeat(everyone, np.diff(W.indptr)), W.indices, self.target_weight)
        self.points_: Any = rows
        self.route_ = "dense" if option is None else "neighbours"
        return self._keep(random_walk(W, k, alpha=self.density_exponent, random_state=self._seed()))

    def fit_graph(self, graph: Graph) -> Self:
        """Map the nodes of an undirected graph of similarities; a node without edges stays where it is."""
        if graph.meaning != "similarity" or graph.directed:
            raise ParameterError(
                "a diffusion map needs an undirected graph of similarities. "
                "Use weighted(Gaussian()) for distances, symmetrised() for directed edges."
            )
        refuse_weight(self.target_weight)
        if graph.n < 2:
            raise ParameterError(f"a diffusion map needs at least 2 nodes; got {graph.n}")
        k = self._check(graph.n)
        self._record_columns(None, graph.n)
        W = sparse.csr_array(graph.weights + sparse.diags_array((graph.degree == 0.0).astype(np.float64)))
        self.sigma_ = self.reach_ = self.dimension_ = self.points_ = None
        self.n_neighbors_ = 0
        self.route_ = "graph"
        return self._keep(random_walk(W, k, alpha=self.density_exponent, random_state=self._seed()))

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and give the coordinates of the same rows: (n, k)."""
        self.fit(X, y)
        return self.embedding_ if self.sample_ is None else self.transform(X)

    def transform(self, X: Any) -> Array:
        """Coordinates of (m, d) new rows, (m, k): where one step of the walk leads from them, over the eigenvalues.

        After `fit_graph`: of (m, n) similarities of new nodes with the fitted ones. Rows of a `Source` are placed by
        the workers of the engine in use.
        """
        check_is_fitted(self)
        if isinstance(X, Source):
            return self._block_by_block(X, type(self)._placed)
        return self._placed(X)

    def _placed(self, X: Any) -> Array:
        finite = "allow-nan" if gaps_allowed(self._metric()) else True
        rows = comparable(self._checked(X, reset=False, accept_sparse="csr", ensure_all_finite=finite), self._metric())
        values = self.eigenvalues_
        grown = np.divide(1.0, values, out=np.zeros_like(values), where=values != 0.0)
        coordinates = np.empty((len(rows), len(grown)))
        step = max(1, BLOCK // len(self.embedding_))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            coordinates[part] = self._walk_from(rows[part], start) @ self.embedding_ * grown
        return coordinates

    def _walk_from(self, rows: Array, first: int) -> Array:
        """(m, n) where the first step leads from new rows; q(x) of the new row itself cancels."""
        if self.points_ is None:
            if rows.min() < 0.0:
                raise DataError("similarities of new nodes must not be negative")
            with np.errstate(divide="ignore"):
                logs = np.log(rows)
        else:
            reach = 0.0 if self.reach_ is None else self.reach_
            logs = log_affinities(
                rows,
                self.points_,
                self.sigma_,
                k=self.n_neighbors_,
                linked=self._linked(),
                reach=reach,
                metric=self.metric_,
            )
        logs -= self.density_exponent * np.log(self.density_)
        highest = logs.max(axis=1, keepdims=True)
        alone = np.flatnonzero(np.isneginf(highest))
        if len(alone):
            raise DataError(
                f"row {first + alone[0]} is linked with no training row, so the walk cannot start there. "
                "Use a larger radius, or Nearest(k)."
            )
        with np.errstate(under="ignore"):
            steps = np.exp(logs - highest)  # by the largest, so that a far row does not underflow to 0 / 0
        return np.asarray(steps / steps.sum(axis=1, keepdims=True))

    def _check(self, n: int) -> int:
        k = as_count(self.n_components, n - 1, name="n_components", what="one less than the rows")
        if not _number(self.density_exponent) or not 0.0 <= self.density_exponent <= 1.0:
            raise ParameterError(f"density_exponent is a number from 0 to 1; got {self.density_exponent!r}")
        checked_weight(self.target_weight)
        if not _number(self.t) or not 0.0 <= self.t < math.inf:
            raise ParameterError(f"t is a finite number of at least 0; got {self.t!r}")
        width: Any = self.sigma
        if width not in ("auto", "local") and not (_number(width) and 0.0 < width < math.inf):
            raise ParameterError(f"sigma is 'auto', 'local' or a positive number; got {width!r}")
        return k

    def _links(self, n: int) -> Nearest | Within | None:
        option = self.graph
        if isinstance(option, str) and option == "auto":
            return None if n <= _DENSE else Nearest(self._neighbours(n, None))
        if option is None:
            return None
        if not isinstance(option, Nearest | Within):
            raise ParameterError(f"graph is 'auto', Nearest(k), Within(radius), or None for all pairs; got {option!r}")
        if is_precomputed(option.metric) or (isinstance(option, Nearest) and option.symmetry is None):
            raise ParameterError(
                f"graph is of rows and undirected here; got {option!r}. "
                "For others make a Graph of similarities and use fit_graph."
            )
        return option

    def _neighbours(self, n: int, option: Nearest | Within | None) -> int:
        if isinstance(option, Nearest):
            return option.n_neighbors
        return min(max(10, math.ceil(2.0 * math.log2(n))), n - 1)

    def _measure(self, rows: Array, option: Nearest | Within | None) -> None:
        """Widths and, where links or widths need it, reaches."""
        self.reach_ = option.radius if isinstance(option, Within) else None
        if isinstance(option, Nearest) or self.sigma == "local" or (self.sigma == "auto" and option is None):
            reach = reach_of(rows, self.n_neighbors_, self.metric_)
            if isinstance(option, Nearest):
                self.reach_ = reach
        if self.sigma == "local":
            self.sigma_ = own_widths(reach)
        elif self.sigma != "auto":
            self.sigma_ = float(self.sigma)
        else:
            self.sigma_ = option.radius / 2.0 if isinstance(option, Within) else common_width(reach)

    def _metric(self) -> Metric:
        return getattr(self.graph, "metric", "euclidean")

    def _linked(self) -> Linked:
        if self.route_ == "dense":
            return "all"
        if isinstance(self.graph, Within):
            return "within"
        return "mutual" if isinstance(self.graph, Nearest) and self.graph.symmetry == "mutual" else "union"

    def _keep(self, walk: Walk) -> Self:
        self.stationary_ = walk.stationary
        self.density_ = walk.density
        self.parts_ = walk.parts
        self.n_connected_ = int(walk.parts.max()) + 1
        self.residual_ = walk.residual
        # an eigenvalue may be negative on a graph without self-links; its powers are taken of its size
        size = np.abs(walk.values)
        certain = size > len(walk.density) * np.finfo(float).eps
        self.eigenvalues_ = np.where(certain, walk.values, 0.0)
        self.embedding_ = np.where(certain, walk.functions * size**self.t, 0.0)
        self.note_ = None if self.n_connected_ == 1 else _apart(self.n_connected_)
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = gaps_allowed(self._metric())
        return tags


def _number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _apart(parts: int) -> str:
    return (
        f"the walk falls into {parts} parts that it cannot leave (eigenvalue 1 comes {parts} times): coordinates up to "
        f"number {parts - 1} only tell parts apart, see parts_. Use a larger sigma or more neighbours, or map each "
        "part by itself."
    )
