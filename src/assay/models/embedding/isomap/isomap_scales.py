"""Which scale for Isomap? What each number of neighbours or radius leaves unexplained, and how many rows it links.

    share     rows in the largest component of the graph / n
    residual  1 - R^2 of path lengths against distances on the map, (n, n) pairs or (m, n) from landmarks

Too small a scale breaks the data into pieces and lengthens paths; too large a one cuts across folds, and what is left
unexplained jumps up. Between lies the range to choose from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.linalg.validate import RandomState, as_count, as_generator
from assay.models.embedding.isomap.geodesics import Geodesics
from assay.models.embedding.isomap.unrolling import unroll
from assay.summary.distances.known_distances import distances_or_rows
from assay.summary.distances.metrics import Metric
from assay.summary.graph.options import Nearest, Within

KS = (4, 6, 8, 11, 16, 23, 32, 45)  # tried when no scales are given: each about 1.4 times the last
EXACT_UP_TO, LANDMARKS = 2000, 500  # rows up to which all paths are measured, and how many to measure from beyond


@dataclass(frozen=True, slots=True, eq=False)
class ScaleChoice:
    """What Isomap leaves unexplained, scale by scale.

    Attributes:
        scales: (s,) the numbers of neighbours or radii tried, ascending.
        residual_variance: (s,) at `n_components`; NaN where too few rows were linked to map them.
        share_kept: (s,) of the rows, in the largest component.
        chosen: The scale the rule takes.
        graph: The option for Isomap that goes with it.
        rule: The rule, in words.
        n_components: Dimensions of the maps.
        sources: (s,) rows that paths were measured from: all kept ones, or landmarks drawn at random.
    """

    scales: Array
    residual_variance: Array
    share_kept: Array
    chosen: float
    graph: Nearest | Within
    rule: str
    n_components: int
    sources: NDArray[np.int64]


def isomap_scales(
    X: Any,
    n_neighbors: Sequence[int] | None = None,
    radii: Sequence[float] | None = None,
    *,
    n_components: int = 2,
    geodesics: Literal["length", "hops"] = "length",
    metric: Metric = "euclidean",
    share: float = 0.95,
    random_state: RandomState = 0,
) -> ScaleChoice:
    """Try scales for Isomap and choose one: the least residual variance among those that keep enough rows.

    Paths are measured between all kept rows up to 2000, beyond that from 500 drawn at random to all.

    Args:
        X: (n, d) rows; with metric "precomputed" their (n, n) distances, of which a sparse matrix need hold only the
            nearest.
        n_neighbors: Numbers of neighbours to try; 4 to 45 in eight steps, where neither is given.
        radii: Radii to try instead.
        n_components: Dimensions of the map.
        geodesics: "length" or "hops".
        metric: as of `Nearest`.
        share: The least share of rows to keep. Where no scale keeps so many, only those that keep most are compared.
        random_state: For the landmarks.

    >>> angle = np.linspace(3, 12, 300)
    >>> spiral = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])
    >>> found = isomap_scales(spiral, n_neighbors=[2, 5, 100], n_components=1)
    >>> bool(found.residual_variance[2] > 0.1 > found.residual_variance[1])
    True
    """
    rows = distances_or_rows(X, metric)
    n = int(rows.shape[0])
    if not 0.0 < share <= 1.0:
        raise ParameterError(f"share must be above 0 and at most 1, is {share!r}.")
    options = _options(n, n_neighbors, radii, metric)
    left = np.full(len(options), np.nan)
    kept, sources = np.empty(len(options), np.int64), np.empty(len(options), np.int64)
    for place, option in enumerate(options):
        paths = Geodesics.of(option.graph(rows), geodesics)
        kept[place] = m = len(paths.nodes)
        sources[place] = m if m <= EXACT_UP_TO else LANDMARKS
        if m > n_components:
            landmarks = None if m <= EXACT_UP_TO else LANDMARKS
            rng = as_generator(random_state)
            left[place] = unroll(paths, as_count(n_components, m), landmarks, rng).residual_variance[-1]
    return _chosen(options, left, kept / n, share, n_components, sources)


def _options(
    n: int, n_neighbors: Sequence[int] | None, radii: Sequence[float] | None, metric: Metric
) -> list[Nearest | Within]:
    if n_neighbors is not None and radii is not None:
        raise ParameterError("give n_neighbors or radii, not both: a graph is made by one of them.")
    if radii is not None:
        if not len(radii):
            raise ParameterError("radii is empty; give at least one radius.")
        return [Within(float(radius), metric) for radius in sorted(set(radii))]
    if n_neighbors is None:
        n_neighbors = [k for k in KS if k < n] or [max(n - 1, 1)]
    if not len(n_neighbors):
        raise ParameterError("n_neighbors is empty; give at least one number of neighbours.")
    return [Nearest(k, metric) for k in sorted(set(n_neighbors))]


def _chosen(
    options: list[Nearest | Within],
    left: Array,
    kept: Array,
    share: float,
    n_components: int,
    sources: NDArray[np.int64],
) -> ScaleChoice:
    scales = np.array(
        [option.n_neighbors if isinstance(option, Nearest) else option.radius for option in options], dtype=float
    )
    if np.isnan(left).all():
        raise ParameterError(
            f"no scale links more than {n_components} rows, so there is nothing to map in {n_components} dimensions; "
            f"the largest tried is {scales[-1]:g}. Try larger ones."
        )
    least = min(share, float(kept[~np.isnan(left)].max()))
    best = int(np.nanargmin(np.where(kept >= least, left, np.nan)))
    reached = f"at least {share:.0%}" if least == share else f"most ({least:.1%}; none keeps {share:.0%})"
    rule = f"the least residual variance in {n_components} dimensions among scales that keep {reached} of the rows"
    return ScaleChoice(scales, left, kept, float(scales[best]), options[best], rule, n_components, sources)
