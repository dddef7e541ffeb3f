"""How far can a map be trusted? Measures for any embedding Y (n, q) of data X (n, d), in blocks.

    rank r(i, j)      place of j among the others of i in X by (distance, row number), r' in Y
    trust_i           1 - 2 / (k (2n - 3k - 1)) sum over j near i in Y, not in X, of r(i, j) - k
    continuity_i      1 - 2 / (k (2n - 3k - 1)) sum over j near i in X, not in Y, of r'(i, j) - k
    agreement_i       share of the k nearest in X that are among the k nearest in Y

Low trust: points that are neighbours on the map only. Low continuity: neighbours that the map tore apart. Equally near
points rank by row number, on both sides: scikit-learn leaves ties to its sort, and agrees wherever there are none.

Reference: Venna and Kaski, Neighborhood preservation in nonlinear projection methods, ICANN 2001.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.evidence._ranks import ranks
from assay.linalg.validate import RandomState, as_generator
from assay.summary.distances.metrics import Metric
from assay.summary.distances.pair_fit import PairFit, pair_fit
from assay.summary.distances.pairwise_blocks import Apart, apart

PAIRS_LIMIT = 2**32  # pairs of a judged row with another, above which rows are drawn: all rows up to n = 65,536


@dataclass(frozen=True, slots=True, eq=False)
class Fidelity:
    """What a map keeps of the data, for the whole and for each point.

    Attributes:
        n: Points on the map.
        n_neighbors: Neighbours looked at.
        judged: Points judged: all, or so many drawn at random where n is large.
        pairs: Pairs behind `stress` and `residual_variance`.
        trustworthiness: Are neighbours on the map neighbours in the data? 1 at best.
        continuity: Are neighbours in the data neighbours on the map? 1 at best.
        rank_chance: What both come to when the map knows nothing, near 1/2.
        agreement: Share of the k nearest kept by the map.
        agreement_chance: What a map that knows nothing keeps, k / (n - 1).
        agreement_beyond_chance: (agreement - chance) / (1 - chance): 0 for chance, 1 at best.
        stress: sqrt(sum (delta - scale d)^2 / sum delta^2), d on the map, delta in the data; 0 at best.
        scale: What map distances are multiplied with for that.
        residual_variance: 1 - R^2 of distances against map distances; 0 at best.
        point_trustworthiness: (n,) of each point; NaN where not judged. Its mean is `trustworthiness`; likewise below.
        point_continuity: (n,).
        point_agreement: (n,).
    """

    n: int
    n_neighbors: int
    judged: int
    pairs: int
    trustworthiness: float
    continuity: float
    rank_chance: float
    agreement: float
    agreement_chance: float
    agreement_beyond_chance: float
    stress: float
    scale: float
    residual_variance: float
    point_trustworthiness: Array
    point_continuity: Array
    point_agreement: Array

    def as_dict(self) -> dict[str, int | float]:
        """The numbers for the whole, without those of each point."""
        return {f.name: getattr(self, f.name) for f in fields(self) if not f.name.startswith("point_")}


def fidelity(
    X: Any,
    Y: Any,
    n_neighbors: int = 10,
    *,
    metric: Metric = "euclidean",
    rows: int | None = None,
    random_state: RandomState = 0,
) -> Fidelity:
    """Judge a map of data by its neighbours, ranks and distances.

    Args:
        X: (n, d) the data, or with metric "precomputed" their (n, n) dissimilarities (geodesics, say).
        Y: (n, q) the map.
        n_neighbors: Neighbours of each point, fewer than n / 2.
        metric: of X, a name of `summary.metrics` or a function of two rows; the map is always Euclidean.
        rows: How many points to judge, drawn at random; each is compared with all others. When not given: all, or from
            n = 65,536 on as many as give `PAIRS_LIMIT` comparisons.
        random_state: For the draw.

    >>> X = np.random.default_rng(0).standard_normal((200, 5))
    >>> found = fidelity(X, X[:, :2])
    >>> found.trustworthiness > 0.7 > found.agreement
    True
    """
    case = _Case(X, Y, metric, rows, random_state)
    k = case.neighbours(n_neighbors)
    near = case.x.nearest(case.rows, k), case.y.nearest(case.rows, k)
    trust, near_on_both = case.rank_quality(case.x, near[1], near[0])
    continuity, _ = case.rank_quality(case.y, near[0], near[1])
    fit = case.fit()
    agreement, chance = float(near_on_both.mean()), agreement_chance(case.n, k)
    return Fidelity(
        n=case.n,
        n_neighbors=k,
        judged=len(case.rows),
        pairs=fit.pairs,
        trustworthiness=float(trust.mean()),
        continuity=float(continuity.mean()),
        rank_chance=rank_chance(case.n, k),
        agreement=agreement,
        agreement_chance=chance,
        agreement_beyond_chance=(agreement - chance) / (1.0 - chance),
        stress=fit.stress,
        scale=fit.scale,
        residual_variance=fit.residual_variance,
        point_trustworthiness=case.for_all(trust),
        point_continuity=case.for_all(continuity),
        point_agreement=case.for_all(near_on_both),
    )


def trustworthiness(
    X: Any,
    Y: Any,
    n_neighbors: int = 10,
    *,
    metric: Metric = "euclidean",
    rows: int | None = None,
    random_state: RandomState = 0,
) -> float:
    """Are neighbours on the map Y neighbours in the data X? Arguments as of `fidelity`.

    >>> trustworthiness([[0.0], [1.0], [3.0], [7.0]], [[0.0], [1.0], [3.0], [4.0]], 1)
    0.75
    """
    case = _Case(X, Y, metric, rows, random_state)
    k = case.neighbours(n_neighbors)
    return float(case.rank_quality(case.x, case.y.nearest(case.rows, k), case.x.nearest(case.rows, k))[0].mean())


def continuity(
    X: Any,
    Y: Any,
    n_neighbors: int = 10,
    *,
    metric: Metric = "euclidean",
    rows: int | None = None,
    random_state: RandomState = 0,
) -> float:
    """Are neighbours in the data X neighbours on the map Y? Arguments as of `fidelity`.

    >>> continuity([[0.0], [1.0], [3.0], [7.0]], [[0.0], [1.0], [3.0], [4.0]], 1)
    0.875
    """
    case = _Case(X, Y, metric, rows, random_state)
    k = case.neighbours(n_neighbors)
    return float(case.rank_quality(case.y, case.x.nearest(case.rows, k), case.y.nearest(case.rows, k))[0].mean())


def neighbourhood_agreement(
    X: Any,
    Y: Any,
    n_neighbors: int = 10,
    *,
    metric: Metric = "euclidean",
    rows: int | None = None,
    random_state: RandomState = 0,
) -> float:
    """Which share of the k nearest does the map keep? Chance alone keeps `agreement_chance(n, k)`.

    >>> neighbourhood_agreement([[0.0], [1.0], [3.0], [7.0]], [[0.0], [1.0], [3.0], [4.0]], 1)
    0.75
    """
    case = _Case(X, Y, metric, rows, random_state)
    k = case.neighbours(n_neighbors)
    return float((~case.missing_from(case.y.nearest(case.rows, k), case.x.nearest(case.rows, k))).mean())


def stress(
    X: Any, Y: Any, *, metric: Metric = "euclidean", rows: int | None = None, random_state: RandomState = 0
) -> float:
    """Kruskal's stress-1 of the map with the best scale: 0 when distances agree up to one factor. As in `fidelity`.

    With the best factor it is the same number whether divided by the distances of the data or of the map.

    >>> round(stress([[0.0], [1.0], [3.0]], [[0.0], [2.0], [6.0]]), 12)
    0.0
    """
    return _Case(X, Y, metric, rows, random_state).fit().stress


def residual_variance(
    X: Any, Y: Any, *, metric: Metric = "euclidean", rows: int | None = None, random_state: RandomState = 0
) -> float:
    """1 - R^2 of the distances in the data against those on the map. Arguments as of `fidelity`.

    A constant counts as following a constant, and nothing else.

    >>> round(residual_variance([[0.0], [1.0], [3.0]], [[0.0], [2.0], [6.0]]), 12)
    0.0
    """
    return _Case(X, Y, metric, rows, random_state).fit().residual_variance


def agreement_chance(n: int, k: int) -> float:
    """The share of k neighbours that a map of n points keeps when it knows nothing.

    >>> agreement_chance(101, 10)
    0.1
    """
    return k / (n - 1)


def rank_chance(n: int, k: int) -> float:
    """Trustworthiness and continuity to expect when the map knows nothing: ranks are then uniform on 1 to n - 1.

    >>> round(rank_chance(1001, 10), 3)
    0.502
    """
    return 1.0 - (n - 1 - k) * (n - k) / ((n - 1) * (2 * n - 3 * k - 1))


class _Case:
    """Checked data, their map, and the rows to judge."""

    def __init__(self, X: Any, Y: Any, metric: Metric, rows: int | None, random_state: RandomState) -> None:
        self.x = apart(X, metric)
        self.y = apart(Y, "euclidean", "Y")
        self.n = n = self.x.n
        if self.y.n != n:
            raise DataError(f"the map must have one row for each of the data's {n}, has {self.y.n}.")
        if n < 2:
            raise DataError("a map is judged by its pairs of points: give at least 2 rows, there is 1.")
        if rows is None:
            count = n if n * n <= PAIRS_LIMIT else max(1, PAIRS_LIMIT // n)
        elif isinstance(rows, bool) or not isinstance(rows, int | np.integer) or not 1 <= rows <= n:
            raise ParameterError(f"rows must be a whole number between 1 and {n} (the rows of the data), is {rows!r}.")
        else:
            count = int(rows)
        self.rows: Whole = (
            np.arange(n) if count == n else np.sort(as_generator(random_state).choice(n, count, replace=False))
        )

    def neighbours(self, k: int) -> int:
        """A usable k: above n / 2 the worst possible map would not get the value 0."""
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < self.n / 2:
            most = (self.n - 1) // 2
            remedy = f"use 1 <= n_neighbors <= {most}" if most else "give at least 3 rows"
            raise ParameterError(
                f"n_neighbors must be a whole number of at least 1 and below half the number of rows ({self.n}), is "
                f"{k!r}; {remedy}."
            )
        return int(k)

    def fit(self) -> PairFit:
        """Distances on the map against those of the data."""
        return pair_fit(self.x, self.y, self.rows)

    def missing_from(self, found: Whole, known: Whole) -> NDArray[np.bool_]:
        """(m, k) which of the found neighbours are not among the known ones of the same row."""
        offset = np.arange(len(found))[:, None] * self.n
        return ~np.isin(found + offset, known + offset)

    def rank_quality(self, space: Apart, found: Whole, known: Whole) -> tuple[Array, Array]:
        """(m,) one minus the mean excess rank in `space` of neighbours found elsewhere, and (m,) the share known."""
        strange = self.missing_from(found, known)
        k = found.shape[1]
        excess = np.where(strange, ranks(space, self.rows, np.where(strange, found, -1)) - k, 0).sum(axis=1)
        return 1.0 - excess * (2.0 / (k * (2.0 * self.n - 3.0 * k - 1.0))), 1.0 - strange.mean(axis=1)

    def for_all(self, values: Array) -> Array:
        """(n,) the values of judged rows, NaN elsewhere."""
        spread = np.full(self.n, np.nan)
        spread[self.rows] = values
        return spread
