"""Isomap: lay data out flat so that straight lines on the map are as long as paths through the data.

graph    W, (n, n) sparse           lengths of the links between near rows; its largest component is kept
summary  S_ij = (length of the shortest path from i to j)^2, (n, n), or (m, n) from m landmarks
solver   -1/2 H S H = V diag(lambda) V^T        coordinates V sqrt(lambda), (n, k)
new row  path = one link to a near row, then along W; placed by its squared paths (Gower)
chance   residual variance 1 - R^2 of paths against map distances, for 1 to k dimensions
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array, Whole
from assay.data.source import Source
from assay.errors import Caution, DataError, ParameterError
from assay.linalg.validate import as_count, as_generator
from assay.models.embedding.isomap.geodesics import Geodesics
from assay.models.embedding.isomap.new_links import new_links
from assay.models.embedding.isomap.unrolling import DOUBLE_LIMIT, Placing, unroll
from assay.models.sampled import _Sampled
from assay.models.transformer import Transformer
from assay.summary.distances.known_distances import distances_or_rows
from assay.summary.distances.metrics import Metric, gaps_allowed, is_precomputed
from assay.summary.graph.graph import Graph
from assay.summary.graph.linking import link
from assay.summary.graph.options import Nearest, Within
from assay.summary.graph.target_links import as_classes, checked_weight, refuse_weight, with_labels

Progress: TypeAlias = Callable[[int, int], None]

EXACT_LIMIT = 2**31  # squared paths held at most, 8 GiB in single precision: 46,340 rows
AUTO_LANDMARKS = 1000
_PLACED = 2**25  # squared paths of new rows held at a time


class Isomap(ClassNamePrefixFeaturesOutMixin, Transformer, _Sampled):
    """Unroll data that lie on a curved sheet: which few coordinates keep the distances along it?

    Rows that no path links with the largest group are left out, named in `left_out_` and by a warning, and get NaN for
    coordinates, from `transform` too: there is no distance to them along the data. Any number would be invented, and a
    bridge to the nearest group, as elsewhere, is a path the data do not have.

    Args:
        n_components: dimensions of the map.
        graph: `Nearest(k)` or `Within(radius)`: which rows are linked. "auto": the 10 nearest; 20 or 40 where it takes
            so many to link all rows, and if none does, what links most. `isomap_scales` shows what a scale does.
        geodesics: "length" adds up the lengths of links along a path, "hops" counts them.
        landmarks: None: paths between all rows, refused above 46,340. A number: paths from so many rows drawn at
            random, by which all others are placed. "auto": all up to 11,585 rows, 1000 landmarks beyond.
        target_weight: how much labels given to `fit` count, from 0 (not at all) to below 1: links between different
            labels are 1 / (1 - target_weight) times as long. The map then shows labels apart because it was told to,
            even random ones: only unseen rows, which `transform` places without labels, tell whether the columns know
            them.
        random_state: seed of the landmarks and of the solver's start.

    Attributes:
        embedding_: (n, k) coordinates; NaN in the rows left out. The largest entry of each column is positive.
        eigenvalues_: (k,) of the centred squares, descending; with landmarks, of theirs. Where it is not positive, the
            column of coordinates is zero.
        residual_variance_: (k,) 1 - R^2 of path lengths against map distances in the first 1 to k dimensions. From all
            pairs of up to 5,792 rows; beyond, from 2^25 pairs, those of evenly chosen rows (or landmarks) with all.
        kept_: (m,) rows on the map, ascending.
        left_out_: (n - m,) the others.
        landmarks_: (l,) the landmarks' row numbers; None when all rows were used.
        graph_: the option used; None after `fit_graph`.
        n_components_: k.
        route_: "exact" or "landmarks", with ", single precision" where more than 2^27 squared paths had to be held.
        paths_, placing_, rows_: what placing new rows needs: the links among the kept rows, the coordinates that paths
            are compared with, and the rows. Paths themselves are not kept: they would be n^2 numbers.
        sample_: (n,) which rows of a `Source` of more than 20,000 were mapped, a fair sample; None: all.

    >>> angle = np.linspace(0, 6, 200)
    >>> spiral = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])
    >>> flat = Isomap(1, graph=Nearest(3)).fit_transform(spiral)[:, 0]
    >>> bool((np.diff(flat) > 0).all() or (np.diff(flat) < 0).all())
    True

    References:
        Tenenbaum, de Silva and Langford, Science 290, 2000; landmarks: de Silva and Tenenbaum, 2004.
    """

    _most_rows = 20_000

    def __init__(
        self,
        n_components: int = 2,
        *,
        graph: Nearest | Within | Literal["auto"] = "auto",
        geodesics: Literal["length", "hops"] = "length",
        landmarks: int | Literal["auto"] | None = "auto",
        target_weight: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.graph = graph
        self.geodesics = geodesics
        self.landmarks = landmarks
        self.target_weight = target_weight
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, progress: Progress | None = None) -> Self:
        """Lay out (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`; with a graph of metric "precomputed", (n, n) distances,
                of which a sparse matrix need hold only the nearest: absent ones are not known, and farther.
            y: (n,) labels, None for rows without; not used without `target_weight`.
            progress: called as progress(done, total) while paths are found; raise in it to stop.
        """
        weight = checked_weight(self.target_weight)
        # distances_or_rows finds what is not finite and says where
        checked = self._checked(X, reset=True, accept_sparse="csr", ensure_min_samples=2, ensure_all_finite=False)
        rows = distances_or_rows(checked, self._metric())
        option, graph = self._linked(rows)
        if weight:
            graph = with_labels(graph, as_classes(self._sampled_labels(y), len(rows)), weight)
        self._lay_out(graph, f"at {option!r}", progress)
        self.graph_: Nearest | Within | None = option
        self.rows_ = None if is_precomputed(option.metric) else rows.copy()
        return self

    def fit_graph(self, graph: Graph, *, progress: Progress | None = None) -> Self:
        """Lay out the nodes of an undirected graph, of distances or, by hops, of similarities.

        Args:
            graph: as of `Nearest(10).graph(X)`, or a network.
            progress: called as progress(done, total) while paths are found; raise in it to stop.
        """
        refuse_weight(self.target_weight)
        self._lay_out(graph, "in this graph", progress)
        self.graph_ = None
        self.rows_ = None
        return self

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Array:
        """(n, k) the map of these rows; NaN in those left out."""
        self.fit(X, y, **options)
        return self.embedding_ if self.sample_ is None else self.transform(X)

    def transform(self, X: Any) -> Array:
        """(m, k) where new rows belong on the map; NaN where none of the rows they are linked to is on it.

        A new row's paths begin with one link, chosen as `graph` says, among all rows fitted. A row that was fitted
        comes back where it is. Rows of a `Source` are placed by the workers of the engine in use.
        """
        check_is_fitted(self)
        if isinstance(X, Source):
            return self._block_by_block(X, type(self)._placed)
        return self._placed(X)

    def _placed(self, X: Any) -> Array:
        if self.graph_ is None:
            raise ParameterError("fitted on a graph, which says nothing about new rows; use fit(X) to place them")
        given = self._checked(X, reset=False, accept_sparse="csr", ensure_all_finite=False)
        checked = distances_or_rows(given, self._metric())
        count = int(checked.shape[0])
        paths = Geodesics(**self.paths_)
        place = np.full(len(self.embedding_), -1)
        place[paths.nodes] = np.arange(len(paths.nodes))
        new, known, lengths = new_links(self.graph_, checked, self.rows_)
        if self.geodesics == "hops":
            lengths = np.where(lengths > 0.0, 1.0, 0.0)
        on_map = place[known] >= 0
        new, at, lengths = new[on_map], place[known[on_map]], lengths[on_map]
        placed = np.full((count, self.n_components_), np.nan)
        reached = np.unique(new)
        placing = Placing(**self.placing_)
        step = max(1, _PLACED // len(placing.marks))
        for start in range(0, len(reached), step):
            part = reached[start : start + step]
            first, last = np.searchsorted(new, [part[0], part[-1] + 1])
            links = np.searchsorted(part, new[first:last]), at[first:last], lengths[first:last]
            placed[part] = placing.of(paths.squares_to_new(links, len(part), placing.marks)) * paths.unit
        if len(reached) < count:
            missed = np.flatnonzero(np.isnan(placed[:, 0]))
            warnings.warn(
                f"{len(missed)} of {count} new rows ({_some(missed)}) are linked to no row on the map at "
                f"{self.graph_!r}; their coordinates are NaN.",
                Caution,
                stacklevel=3,
            )
        return placed

    def _linked(self, rows: Any) -> tuple[Nearest | Within, Graph]:
        """The option taken and its graph."""
        if isinstance(self.graph, Nearest | Within):
            option = replace(self.graph, metric=self._resolved(self.graph.metric, rows))
            return option, option.graph(rows)
        if not isinstance(self.graph, str) or self.graph != "auto":
            raise ParameterError(f'graph must be Nearest(k), Within(radius) or "auto", is {self.graph!r}.')
        linked = link(rows)
        return linked.option, linked.graph

    def _metric(self) -> Metric:
        return getattr(self.graph, "metric", "euclidean")

    def _lay_out(self, graph: Graph, where: str, progress: Progress | None) -> None:
        paths = Geodesics.of(graph, self.geodesics)
        m = len(paths.nodes)
        k = as_count(self.n_components, m, name="n_components", what=f"the rows linked with each other {where}")
        landmarks = self._landmarks(m, k)
        rng = as_generator(self._seed())
        found = unroll(paths, k, landmarks, rng, progress)
        self.kept_ = np.sort(paths.nodes)
        self.left_out_ = np.setdiff1d(np.arange(graph.n), self.kept_)
        self.embedding_ = np.full((graph.n, k), np.nan)
        self.embedding_[paths.nodes] = found.coordinates * paths.unit
        with np.errstate(over="ignore"):
            self.eigenvalues_ = found.placing.values * paths.unit * paths.unit
        self.residual_variance_ = found.residual_variance
        self.landmarks_ = None if landmarks is None else paths.nodes[found.placing.marks]
        self.n_components_ = k
        self.paths_ = asdict(paths)
        self.placing_ = asdict(found.placing)
        self.route_ = ("exact" if landmarks is None else "landmarks") + (", single precision" if found.single else "")
        if len(self.left_out_):
            warnings.warn(
                f"{len(self.left_out_)} of {graph.n} rows ({_some(self.left_out_)}) have no path to the {m} on the map "
                f"{where}; they are left out (left_out_) and their coordinates are NaN. Link more rows (isomap_scales "
                "shows how many that takes), or map the groups one by one.",
                Caution,
                stacklevel=3,
            )

    def _landmarks(self, m: int, k: int) -> int | None:
        """How many of m kept rows to draw, None for all."""
        asked = self.landmarks
        if isinstance(asked, str):
            if asked != "auto":
                raise ParameterError(f'landmarks must be a whole number, "auto" or None, is {asked!r}.')
            asked = AUTO_LANDMARKS if m * m > DOUBLE_LIMIT else None
        if asked is None:
            if m * m > EXACT_LIMIT:
                raise DataError(
                    f"paths between all {m} rows would take {m * m / 2**28:.0f} GiB; the limit is 8 GiB (46,340 rows). "
                    'Use landmarks="auto".'
                )
            return None
        count = as_count(asked, m, name="landmarks", what="the rows on the map")
        if count < min(k + 1, m):
            raise ParameterError(f"{k} components need at least {k + 1} landmarks, got {count}.")
        return count

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self._metric())
        tags.input_tags.allow_nan = gaps_allowed(self._metric())
        tags.input_tags.positive_only = tags.input_tags.pairwise  # distances
        return tags


def _some(rows: Whole) -> str:
    """The first few row numbers."""
    return ", ".join(str(row) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
