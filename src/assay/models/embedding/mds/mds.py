"""Multidimensional scaling: a map whose distances follow dissimilarities, as numbers or in their order alone.

d_ij = |z_i - z_j|, Z (n, k)     metric      minimise  sum_{i<j} w_ij (t_ij - d_ij)^2,  t the dissimilarities
non-metric  minimise  stress-1 = sqrt(sum w (t - d)^2 / sum w d^2),  t rising
with the dissimilarities (disparities, by isotonic regression)
solver   Guttman transforms Z <- V^+ B(Z) Z, V and B (n, n), sped up by quasi-Newton steps; the stress never rises
new      each new row by the same transform with the others held
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.source import Source
from assay.engine.local import in_threads
from assay.errors import DataError, NotConverged, ParameterError
from assay.linalg.eigen.classical_scaling import classical_scaling, scaling_of_rows
from assay.linalg.eigen.spectral import fix_signs
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import as_generator, power_of_two
from assay.models.embedding.mds.disparities import DissimilarityRanking, Ties
from assay.models.embedding.mds.multistart import from_all
from assay.models.embedding.mds.new_points import place_among
from assay.models.embedding.mds.smacof import Majorised
from assay.models.embedding.mds.stress import RankStress, RawStress, StressObjective, StressPairs
from assay.models.sampled import _Sampled
from assay.models.transformer import Transformer
from assay.optimize.team import Team, available_cores
from assay.summary.distances.dissimilarities import as_dissimilarities, completed, new_dissimilarities, pair_weights
from assay.summary.distances.distances import as_rows, squared_distances, unit_scale
from assay.summary.distances.known_distances import all_given
from assay.summary.distances.metrics import Metric, checked_metric, comparable, distances, gaps_allowed, is_precomputed

Callback: TypeAlias = Callable[[int, int, float], bool | None]

_PLACED_AT_A_TIME = 16  # new rows between two looks at an interrupt


class MDS(ClassNamePrefixFeaturesOutMixin, Transformer, _Sampled):
    """Draw a map from dissimilarities, weighing every pair: where must points lie so that their distances agree?

    Args:
        n_components: dimensions of the map, at most the number of rows.
        metric_mds: True: the dissimilarities are meant as numbers. False: only their order is.
        ties: where only the order is meant, "primary": equal dissimilarities may get different disparities;
            "secondary": they get one.
        n_init: how many starts. The first is the classical solution, the others are random; the best is kept.
        max_iter: most iterations of each start.
        tol: a start ends when a Guttman transform moves the points by less than this share of their size.
        metric: how unlike rows are: "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming", "gower"
            (columns of numbers and of categories, with gaps), or a function of two rows. "precomputed": X is the
            (n, n) dissimilarities; NaN for a pair that was not measured. True or False: what `metric_mds` says, as in
            scikit-learn before 1.8.
        dissimilarity: "euclidean" or "precomputed", the word for `metric` in scikit-learn before 1.8; None: as `metric`
            says.
        weights: (n, n), symmetric, not negative: how much each pair counts. None: all the same. 0: not at all.
        random_state: seed of the random starts.

    Attributes:
        embedding_: (n, k) the map, centred, turned to its principal axes; from order alone as large as the
            dissimilarities in the mean square.
        stress_: raw stress, sum over i < j of w (t - d)^2.
        stress1_: Kruskal's stress-1, sqrt(sum w (t - d)^2 / sum w d^2).
        normalized_stress_: sum w (t - d)^2 / sum w t^2, the share of the squares that the map does not show.
        disparities_: (n, n) the t above: from order alone what rises with the dissimilarities, else these themselves.
        dissimilarity_matrix_: (n, n), NaN where not known.
        metric_: the metric, with what it learned from the rows.
        stresses_: (n_init,) raw stress each start ended with, from order alone stress-1; the classical start first.
        start_: which of them was kept.
        stress_history_: (iterations + 1,) the same along the iterations of that start; it never rises.
        n_iter_, converged_: of that start.
        move_: how far its last Guttman transform moved the points, as a share of their size.
        sample_: (n,) which rows of a `Source` of more than 5,000 were mapped, a fair sample; None: all.

    >>> D = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> mds = MDS(2, metric="precomputed").fit(D)
    >>> bool(mds.stress1_ < 1e-6)
    True

    References:
        Kruskal, Psychometrika 29, 1964; Borg & Groenen, Modern Multidimensional Scaling, 2005.
    """

    _most_rows = 5_000

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric_mds: bool = True,
        ties: Ties = "primary",
        n_init: int = 4,
        max_iter: int = 1000,
        tol: float = 1e-4,
        metric: Metric | bool = "euclidean",
        dissimilarity: Metric | None = None,
        weights: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.metric_mds = metric_mds
        self.ties = ties
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.dissimilarity = dissimilarity
        self.weights = weights
        self.random_state = random_state

    def fit(self, X: Any, y: None = None, *, callback: Callback | None = None) -> Self:
        """Draw the map.

        Args:
            X: (n, d) rows, or with "precomputed" the (n, n) dissimilarities.
            y: not used.
            callback: called as callback(start, iteration, stress) after each iteration; True ends the fit.
        """
        self._refuse_options()
        X = all_given(X) if is_precomputed(self._metric()) else X
        X = self._checked(X, reset=True, dtype=np.float64, ensure_min_samples=2, ensure_all_finite=False)
        if not 1 <= self.n_components <= len(X):
            raise ParameterError(
                f"n_components is an integer from 1 to the number of rows, {len(X)}; got {self.n_components!r}"
            )
        given = is_precomputed(self._metric())
        rows = None if given else comparable(X, self._metric())
        self.metric_ = self._metric() if rows is None else self._resolved(self._metric(), rows)
        if rows is not None and self._metric() == "euclidean":
            self.unit_ = 1.0 / unit_scale(rows)
            D = np.sqrt(squared_distances(rows, unit=self.unit_))
        else:
            D = as_dissimilarities(X, missing=True) if rows is None else distances(rows, self.metric_)
            self.unit_ = power_of_two(D[~np.isnan(D)])
            D = D / self.unit_
        weights, self._weight_unit = pair_weights(self.weights, D)
        with one_blas_thread():
            return self._fit(D, rows, weights, callback)

    def transform(self, X: Any) -> Array:
        """Place new rows on the map, each by majorising its own stress with the map held.

        Args:
            X: (m, d) rows, or with "precomputed" their (m, n) dissimilarities to the n fitted ones, NaN if unknown.

        Returns:
            (m, k) coordinates. A row at dissimilarity 0 from a fitted one is put on it.
        """
        check_is_fitted(self)
        if isinstance(X, Source):
            return self._block_by_block(X, type(self)._placed)
        return self._placed(X)

    def _placed(self, X: Any) -> Array:
        X = all_given(X, own=False) if is_precomputed(self._metric()) else X
        X = self._checked(X, reset=False, dtype=np.float64, ensure_all_finite=False)
        if is_precomputed(self._metric()):
            given = new_dissimilarities(X, self.n_features_in_, missing=True) / self.unit_
        elif self._metric() == "euclidean":
            given = np.sqrt(squared_distances(as_rows(X), self._rows, unit=self.unit_))
        else:
            given = distances(X, self.metric_, self._rows) / self.unit_
        known = ~np.isnan(given)
        if not known.any(axis=1).all():
            empty = int(np.argmin(known.any(axis=1)))
            raise DataError(f"row {empty} (counted from 0) has no known dissimilarity, so that it cannot be placed.")
        targets = given if self._as_numbers_meant() else np.where(given == 0.0, 0.0, self._as_disparities(given))
        fixed = self.embedding_ / self.unit_

        def place(start: int) -> tuple[Array, NDArray[np.bool_]]:
            part = slice(start, start + _PLACED_AT_A_TIME)
            return place_among(fixed, targets[part], known[part])

        placed = in_threads(place, range(0, len(targets), _PLACED_AT_A_TIME))
        late = int(sum((~arrived).sum() for _, arrived in placed))
        if late:
            warnings.warn(f"{late} of {len(targets)} new rows had not come to rest.", NotConverged, stacklevel=3)
        return np.concatenate([places for places, _ in placed]) * self.unit_

    @property
    def disparities_(self) -> Array:
        """(n, n) what the distances of the map were compared with."""
        check_is_fitted(self)
        if self._as_numbers_meant():
            return self.dissimilarity_matrix_
        full: Array = squareform(self._disparities) * self.unit_
        return np.where(np.isnan(self.dissimilarity_matrix_), np.nan, full)

    def _fit(self, D: Array, rows: Array | None, weights: Array | None, callback: Callback | None) -> Self:
        """All in units of `unit_`, weights condensed."""
        n = len(D)
        known = None if weights is None else squareform(weights > 0.0, checks=False) | np.eye(n, dtype=bool)
        full = D if known is None else completed(D, known)
        targets = squareform(np.where(np.isnan(D), 0.0, D), checks=False)
        ranking = None if self._as_numbers_meant() else DissimilarityRanking.of(targets, weights)
        cores = available_cores()
        with Team(1 if self.n_init > 1 else cores) as team:
            pairs = StressPairs(n, weights, team)

            def objective() -> StressObjective:
                return RawStress(pairs, targets) if ranking is None else RankStress(pairs, ranking.copy(), self.ties)

            starts = self._starts(full, rows if known is None and self._metric() == "euclidean" else None)
            runs = from_all(
                starts,
                objective,
                tol=self.tol,
                max_iter=self.max_iter,
                threads=cores,
                callback=self._in_units(callback),
            )
            values = np.array([run.value for run in runs])
            # of starts that differ by rounding the first is kept: with ties, ranks may be met by any configuration
            rounding = 1e-14 * (pairs.total(targets) if self._as_numbers_meant() else 1.0)
            best = int(np.argmax(values <= values.min() * (1.0 + 1e-9) + rounding))
            self._keep(runs, best, pairs, targets, ranking)
        with np.errstate(over="ignore", under="ignore"):
            self.dissimilarity_matrix_ = D * self.unit_
        self._rows = rows
        if not self.converged_ and self.n_iter_ >= self.max_iter:
            warnings.warn(
                f"after {self.n_iter_} iterations a Guttman transform still moves the points by {self.move_:.2g} of "
                f"their size, allowed was {self.tol:.2g}: raise max_iter, or tol.",
                NotConverged,
                stacklevel=4,
            )
        return self

    def _keep(
        self, runs: list[Majorised], best: int, pairs: StressPairs, targets: Array, ranking: DissimilarityRanking | None
    ) -> None:
        kept = runs[best]
        Z = _principal(kept.coordinates)
        distances = pairs.distances(np.ascontiguousarray(Z.T))
        if ranking is not None:
            size = pairs.total(distances)
            scale = np.sqrt(pairs.total(targets) / size) if size > 0.0 else 1.0
            Z, distances = Z * scale, distances * scale
            dissimilarities, targets = targets, ranking.disparities(distances, self.ties, pairs.weights)
            self._disparities = targets
            self._shepard = ranking.levels(dissimilarities, targets)
        stress, shown, wanted = (pairs.total(v) for v in (distances - targets, distances, targets))
        self.embedding_ = Z * self.unit_
        self.stress_ = self._raw(stress)
        self.stress1_ = float(np.sqrt(stress / shown)) if shown > 0.0 else 0.0
        self.normalized_stress_ = stress / wanted if wanted > 0.0 else 0.0
        self.stresses_ = np.array([self._figure(run.value) for run in runs])
        self.stress_history_ = np.array([self._figure(value) for value in kept.history])
        self.start_, self.n_iter_, self.move_, self.converged_ = best, kept.iterations, kept.move, kept.converged

    def _raw(self, stress: float) -> float:
        with np.errstate(over="ignore", under="ignore"):
            return float(np.float64(stress) * self._weight_unit * self.unit_ * self.unit_)

    def _figure(self, value: float) -> float:
        """What is shown of an objective: raw stress in the user's units, or stress-1."""
        return self._raw(value) if self._as_numbers_meant() else float(np.sqrt(value))

    def _in_units(self, callback: Callback | None) -> Callback | None:
        if callback is None:
            return None
        return lambda start, iteration, value: callback(start, iteration, self._figure(value))

    def _starts(self, D: Array, rows: Array | None) -> list[Array]:
        n, k = len(D), int(self.n_components)
        rng = as_generator(self._seed())
        if rows is not None:
            first = scaling_of_rows(rows / self.unit_, k).coordinates
        else:
            first = classical_scaling(D * D, k).coordinates.copy()
        flat = ~first.any(axis=0)
        if flat.any() and rows is None:
            # a Guttman transform leaves a zero axis zero, though stress may gain by it: a slight stir opens it
            first[:, flat] = rng.standard_normal((n, int(flat.sum()))) * 1e-3 * D.max()
        return [first, *(rng.standard_normal((n, k)) for _ in range(self.n_init - 1))]

    def _as_disparities(self, given: Array) -> Array:
        """New dissimilarities as the fitted ones were read; beyond the largest in proportion."""
        at, level = self._shepard
        beyond = np.maximum(given / at[-1], 1.0) if at[-1] > 0.0 else 1.0
        return np.asarray(np.interp(given, at, level) * beyond)

    def _refuse_options(self) -> None:
        checked_metric(self._metric())
        if self.ties not in ("primary", "secondary"):
            raise ParameterError(f"ties is 'primary' or 'secondary'; got {self.ties!r}")
        for name in ("n_components", "n_init", "max_iter"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ParameterError(f"{name} is an integer of at least 1; got {value!r}")
        if not (isinstance(self.tol, (int, float, np.floating)) and self.tol >= 0.0):
            raise ParameterError(f"tol is a number of at least 0; got {self.tol!r}")

    def _metric(self) -> Metric:
        given = self.metric if self.dissimilarity is None else self.dissimilarity
        return "euclidean" if isinstance(given, bool) else given

    def _as_numbers_meant(self) -> bool:
        return self.metric if isinstance(self.metric, bool) else self.metric_mds

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self._metric())
        tags.input_tags.allow_nan = is_precomputed(self._metric()) or gaps_allowed(self._metric())
        tags.input_tags.positive_only = tags.input_tags.pairwise  # distances
        return tags


def _principal(Z: Array) -> Array:
    """The configuration centred and turned so that its axes are uncorrelated, of falling variance, signs fixed."""
    centred = Z - Z.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    turned = centred @ axes.T
    return np.ascontiguousarray(fix_signs(turned))
