"""Stress of a configuration and the pull on its points: what majorisation needs to know of its objective.

    d_ij = |x_i - x_j|                       raw stress   s(X) = sum over i < j of w_ij (d_ij - t_ij)^2
    V = diag(W 1) - W, (n, n)                pull         P = V X - B(X) X,  half the gradient of s, (k, n) as axes
    Guttman transform  G(X) = V^+ B(X) X = X - V^+ P      never raises the stress (de Leeuw 1977)

For ranks the targets are the disparities of X itself, and the objective is Kruskal's stress-1 squared,
s / sum w d^2, which has no minimum at the collapsed configuration. With disparities divided by 1 - stress-1^2 its
gradient is (1 - stress-1^2) / sum w d^2 times 2 P, and the same transform lowers it.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import squareform

from assay.arrays import Array
from assay.models.embedding.mds.disparities import DissimilarityRanking, Ties
from assay.optimize.team import Team

_NO_WEIGHTS = np.empty(0)
_PAIRS_PER_PART = 200_000  # half a millisecond of work: less would not be worth a thread
_MOST_PARTS = 64


class Evaluation(NamedTuple):
    """The objective at a configuration.

    Attributes:
        value: the objective.
        pull: (k, n), in the direction of its gradient.
        factor: the gradient is factor times the pull.
    """

    value: float
    pull: Array
    factor: float


class StressObjective(Protocol):
    """What `majorise` minimises."""

    def evaluate(self, X: Array) -> Evaluation:
        """The objective at (k, n) coordinates."""
        ...

    def guttman_step(self, pull: Array) -> Array:
        """V^+ times the pull: what the Guttman transform takes off the coordinates."""
        ...


class StressPairs:
    """All pairs of n points, their weights, and sums over them on a team of threads.

    Sums are taken in parts that depend on n alone, so that they are the same for any number of threads.

    Args:
        n: number of points.
        weights: (n (n - 1) / 2,) condensed, not negative, linking all points; None for equal weights.
        team: threads to work on.
    """

    def __init__(self, n: int, weights: Array | None, team: Team) -> None:
        self.n = n
        self.weights = weights
        self.team = team
        count = n * (n - 1) // 2
        parts = int(np.clip(count // _PAIRS_PER_PART, 1, _MOST_PARTS))
        rows = np.arange(n + 1)
        before = rows * (2 * n - rows - 1) // 2  # pairs in the rows before each
        cuts = [0, *np.searchsorted(before[:-1], count * np.arange(1, parts) // parts).tolist(), n]
        self._spans = list(pairwise(cuts))
        self._factor = None if weights is None else _factor_of_weights(weights)

    def pull(self, X: Array, targets: Array) -> tuple[float, Array]:
        """Raw stress at (k, n) coordinates and half its gradient."""
        from assay.models.embedding.mds._stress_kernels import pull_of_rows

        weights = _NO_WEIGHTS if self.weights is None else self.weights
        parts = len(self._spans)
        stresses, pulls = np.zeros(parts), np.zeros((parts, *X.shape))

        def work(part: int) -> None:
            first, last = self._spans[part]
            stresses[part] = pull_of_rows(X, targets, weights, first, last, pulls[part])

        self.team.run([partial(work, part) for part in range(parts)])
        return float(stresses.sum()), pulls.sum(axis=0)

    def distances(self, X: Array, out: Array | None = None) -> Array:
        """(n (n - 1) / 2,) distances at (k, n) coordinates."""
        from assay.models.embedding.mds._stress_kernels import distances_of_rows

        found = np.empty(self.n * (self.n - 1) // 2) if out is None else out

        def work(first: int, last: int) -> None:
            distances_of_rows(X, first, last, found)

        self.team.run([partial(work, *span) for span in self._spans])
        return found

    def total(self, values: Array) -> float:
        """Sum of w times the values squared."""
        return float(values @ values) if self.weights is None else float((self.weights * values) @ values)

    def guttman_step(self, pull: Array) -> Array:
        """V^+ times a (k, n) pull; for equal weights V = n I on centred coordinates."""
        if self._factor is None:
            return pull / self.n
        step: Array = cho_solve(self._factor, pull.T).T
        return np.ascontiguousarray(step - step.mean(axis=1, keepdims=True))


class RawStress:
    """sum w (d - t)^2, for dissimilarities t that are meant as numbers."""

    def __init__(self, pairs: StressPairs, targets: Array) -> None:
        self.pairs = pairs
        self.targets = targets

    def evaluate(self, X: Array) -> Evaluation:
        """Raw stress at (k, n) coordinates."""
        return Evaluation(*self.pairs.pull(X, self.targets), 2.0)

    def guttman_step(self, pull: Array) -> Array:
        """V^+ times the pull."""
        return self.pairs.guttman_step(pull)


class RankStress:
    """Stress-1 squared, for dissimilarities of which only the order is meant. Not to be shared by threads.

    Attributes:
        distances, disparities: condensed, at the coordinates last evaluated.
    """

    def __init__(self, pairs: StressPairs, ranking: DissimilarityRanking, ties: Ties) -> None:
        self.pairs = pairs
        self.ranking = ranking
        self.ties = ties
        count = pairs.n * (pairs.n - 1) // 2
        self.distances, self.disparities, self._work = np.empty(count), np.zeros(count), np.empty(count)

    def evaluate(self, X: Array) -> Evaluation:
        """Stress-1 squared at (k, n) coordinates; 0 where all points are one."""
        distances = self.pairs.distances(X, self.distances)
        disparities = self.ranking.disparities(distances, self.ties, self.pairs.weights, self.disparities)
        size = self.pairs.total(distances)
        if size == 0.0:
            return Evaluation(0.0, np.zeros_like(X), 1.0)
        share = self.pairs.total(disparities) / size  # 1 - stress-1^2, without its cancellation
        value = self.pairs.total(np.subtract(distances, disparities, out=self._work)) / size
        targets = np.divide(disparities, share, out=self._work)
        return Evaluation(value, self.pairs.pull(X, targets)[1], 2.0 * share / size)

    def guttman_step(self, pull: Array) -> Array:
        """V^+ times the pull."""
        return self.pairs.guttman_step(pull)


def _factor_of_weights(weights: Array) -> tuple[Array, bool]:
    """Cholesky factor of V + c 1 1^T, which acts as V on centred vectors and has an inverse where V has none."""
    V = -squareform(weights, checks=False)
    sums = -V.sum(axis=1)
    np.fill_diagonal(V, sums)
    V += sums.mean() / len(V)
    lower: tuple[Array, bool] = cho_factor(V, lower=True, overwrite_a=True, check_finite=False)
    return lower
