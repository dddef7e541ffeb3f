"""Generalised canonical correlations: what two or more sets of columns have in common (MAXVAR).

summary  S = scatter / (n - 1) of all columns, (d, d), in blocks S_ab of sets a and b
whitened y_a = S_aa^-1/2 (x_a - mu_a): columns of a set uncorrelated, with variance 1
solver   R v_j = lambda_j v_j, R (r, r) the correlations of [y_1, ..., y_m], identity blocks on its diagonal, descending
reading  common f_j = sum_a y_a v_aj / sqrt(lambda_j), (n, k), of variance 1;  of set a  u_aj = y_a v_aj / |v_aj|
         lambda_j = sum_a corr(f_j, u_aj)^2, the squared multiple correlations of f_j with the sets
two sets lambda = 1 + rho, rho the canonical correlations; sets of one column: PCA of correlations; of levels: MCA
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import block_slices
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.linalg.canonical.canonical import principal_side
from assay.linalg.eigen.principal import dense
from assay.linalg.eigen.spectral import column_signs, eigen_symmetric
from assay.linalg.validate import as_count
from assay.models.axis_chance import AxisChance, axis_chance
from assay.models.base import Estimator, on_engine
from assay.models.transformer import Transformer
from assay.summary.moments.moments import Moments

_MOST_COLUMNS = 4_096  # moments of so many take 128 MB


class MultisetCCA(ClassNamePrefixFeaturesOutMixin, Transformer, Estimator):
    """Find combinations of the columns of each set that go together across all sets: what do several sides share?

    Args:
        sets: how many columns each set has, in their order, such as (3, 2, 4); or the columns of each set by its name,
            such as {"blood": ["iron", "sugar"], "body": ["weight", "height"]}, by name or number; columns in none of
            them are not used. None: each column is a set.
        n_components: how many; None for as many as can be shared, all directions less those of the largest set.
        random_state: seed of the permutations.

    Attributes:
        eigenvalues_: (k,) sum over sets of the squared multiple correlation with the common variate, up to the number
            of sets; 1 where a variate has nothing in common with other sets.
        canonical_correlations_: (k,) (eigenvalue - 1) / (sets - 1): of two sets their canonical correlations, of more a
            mean of the correlations between the variates of sets.
        set_correlations_: (m, k) correlation of the variate of each set with the common one.
        weights_: (d, k) of centred columns: their sums are the common variates. 0 for columns that are not used.
        loadings_: (d, k) correlation of each column with the common variates; the largest of each is positive.
        set_names_: (m,) of the sets.
        groups_: (d,) the set of each column, -1 for none.
        rank_: (m,) how many directions each set has.
        forced_: how many variates are common to all sets for want of rows, whatever the data.
        mean_: (d,) column means.
        n_components_: k.
        n_samples_: rows fitted.
        encoding_: how the columns of a source became numbers, where it was fitted on one.

    >>> rng = np.random.default_rng(0)
    >>> shared = rng.standard_normal((200, 1))
    >>> X = np.hstack([rng.standard_normal((200, 6)) + shared, rng.standard_normal((200, 3))])
    >>> found = MultisetCCA((2, 2, 2, 3), n_components=1).fit(X)
    >>> found.set_correlations_[:, 0].round(1)  # three sets share something, the fourth has no part in it
    array([0.9, 0.9, 0.9, 0.1])

    References:
        Carroll, Generalization of canonical correlation analysis to three or more sets of variables, 1968; Kettenring,
        Canonical analysis of several sets of variables, Biometrika 58, 1971.
    """

    def __init__(
        self,
        sets: Sequence[int] | Mapping[str, Sequence[Any]] | None = None,
        n_components: int | None = None,
        *,
        random_state: Any = None,
    ) -> None:
        self.sets = sets
        self.n_components = n_components
        self.random_state = random_state

    @on_engine
    def fit(self, X: Any, y: None = None, *, engine: Any = None) -> Self:
        """Find what the sets of columns of (n, d) rows share.

        Args:
            X: array, data frame, sparse matrix or `Source`, all sets beside each other.
            y: not used.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        if isinstance(X, Source):
            numbers = self._as_numbers(X, reset=True)
            names = numbers.numeric_columns
            own = [self.encoding_.source_column(j) for j in range(len(names))]
            return self._settle(Moments.of(numbers), self._groups(own, len(names)))
        X = self._checked(X, reset=True, accept_sparse="csr", ensure_min_samples=2, ensure_all_finite=False)
        known = tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        groups = self._groups(known, X.shape[1])
        return self._settle(Moments.of(X, columns=known), groups)

    def fit_moments(self, moments: Moments) -> Self:
        """Fit from a summary of all columns, however gathered: an array, a file, a cluster, three hospitals."""
        self._record_columns(moments.columns, moments.d)
        return self._settle(moments, self._groups(moments.columns, moments.d))

    def transform(self, X: Any) -> Array:
        """Common variates of the rows, (n, k), with variance 1 on the rows fitted."""
        check_is_fitted(self)
        rows = self._checked(X, reset=False, accept_sparse="csr")
        return self._scores(rows, self.weights_)

    def variates(self, X: Any) -> Array:
        """Variates of each set, (m, n, k), with variance 1 on the rows fitted; all 0 for a set without a part in one.

        Args:
            X: (n, d) rows.
        """
        check_is_fitted(self)
        rows = self._checked(X, reset=False, accept_sparse="csr")
        return np.array(
            [self._scores(rows, np.where((self.groups_ == g)[:, None], self._set_weights, 0.0)) for g in range(self._m)]
        )

    def chance(self, X: Any = None, *, level: float = 0.05) -> AxisChance:
        """Which common variates exceed what independent sets give, tested one after the other.

        Args:
            X: the rows that were fitted, where they are at hand: the rows of each set are permuted as a whole, which
                for the first variate is exact. None: chance is drawn from normal rows.
            level: level of each step: the chance that independent sets give any.
        """
        check_is_fitted(self)
        rows = None
        if X is not None:
            rows = self._scores(self._checked(X, reset=False, accept_sparse="csr"), self._whiten)
        return axis_chance(self._between, self._axis_groups, self.n_samples_, rows=rows, seed=self._seed(), level=level)

    @property
    def _m(self) -> int:
        """How many sets there are."""
        return len(self.set_names_)

    def _groups(self, names: Sequence[str] | None, d: int) -> NDArray[np.intp]:
        """The set of each column; sets `set_names_`."""
        asked = self.sets
        if asked is None:
            told = [str(name) for name in names] if names is not None else [f"x{j}" for j in range(d)]
            if len(set(told)) < 2:
                raise DataError(f"sets share something where there are two or more; these data have {d} feature(s)")
            known = list(dict.fromkeys(told))  # numbers made from one column of a source are a set
            self.set_names_ = np.array(known, dtype=object)
            return np.array([known.index(name) for name in told], dtype=np.intp)
        if isinstance(asked, Mapping):
            groups = self._named(asked, names, d)
            self.set_names_ = np.array([str(name) for name in asked], dtype=object)
        else:
            sizes = [as_count(size, d, name="sets", what="columns") for size in asked]
            if sum(sizes) != d:
                raise ParameterError(f"sets says how many of the {d} columns each set has; they sum to {sum(sizes)}")
            groups = np.repeat(np.arange(len(sizes), dtype=np.intp), sizes)
            self.set_names_ = np.array([f"set {g + 1}" for g in range(len(sizes))], dtype=object)
        if self._m < 2:
            raise ParameterError(f"sets share something where there are two or more; got {self._m}")
        return groups

    def _named(self, asked: Mapping[str, Sequence[Any]], names: Sequence[str] | None, d: int) -> NDArray[np.intp]:
        groups = np.full(d, -1, dtype=np.intp)
        for g, (name, columns) in enumerate(asked.items()):
            for column in columns:
                if isinstance(column, str):
                    at = [j for j in range(d) if names is not None and names[j] == column]
                else:
                    at = [int(column)] if 0 <= int(column) < d else []
                if not at:
                    known = ", ".join(names) if names is not None else f"columns 0 to {d - 1}"
                    raise ParameterError(f"no column {column!r} for set {name!r}; there are {known}")
                if (groups[at] >= 0).any():
                    raise ParameterError(f"column {column!r} is in two sets; each column belongs to one")
                groups[at] = g
            if not len(columns):
                raise ParameterError(f"set {name!r} has no columns")
        return groups

    def _settle(self, moments: Moments, groups: NDArray[np.intp]) -> Self:
        if moments.d > _MOST_COLUMNS:
            raise DataError(f"{moments.d:,} columns are too many for a summary of all pairs; at most {_MOST_COLUMNS:,}")
        spread = np.sqrt(moments.variance)
        scale = np.where(spread > 0.0, spread, 1.0)
        C = moments.covariance / scale[:, None] / scale
        whiten, axis_groups = self._whitening(C, groups, moments.count)
        r, most = whiten.shape[1], int(np.bincount(axis_groups, minlength=self._m).max())
        limit = r - most
        if limit < 1:
            raise DataError("fewer than two sets have columns that vary: there is nothing to share")
        self._between = whiten.T @ C @ whiten
        spectrum = eigen_symmetric(self._between)
        k = limit if self.n_components is None else min(
            as_count(self.n_components, moments.d, name="n_components", what="columns"), limit
        )  # fmt: skip
        values, V = np.maximum(spectrum.values[:limit], 0.0), spectrum.vectors[:, :limit]
        loadings = C @ whiten @ V[:, :k] / np.sqrt(np.maximum(values[:k], np.finfo(np.float64).tiny))
        signs = column_signs(loadings)
        lengths = np.array([np.linalg.norm(V[axis_groups == g, :k], axis=0) for g in range(self._m)])
        self.groups_, self.mean_, self.n_samples_ = groups, moments.mean, moments.count
        self.rank_ = np.bincount(axis_groups, minlength=self._m)
        self.forced_ = max(0, int(self.rank_.sum()) - (self._m - 1) * (moments.count - 1))
        self.n_components_ = k
        self.eigenvalues_ = values[:k].copy()
        self.canonical_correlations_ = (self.eigenvalues_ - 1.0) / (self._m - 1.0)
        self.set_correlations_ = np.minimum(lengths * np.sqrt(self.eigenvalues_), 1.0)
        self.loadings_ = np.clip(np.where(spread[:, None] > 0.0, loadings, 0.0), -1.0, 1.0) * signs
        raw = whiten @ V[:, :k] * signs / scale[:, None]
        self.weights_ = raw / np.sqrt(np.maximum(self.eigenvalues_, np.finfo(np.float64).tiny))
        length = lengths[np.maximum(groups, 0)]
        self._set_weights = np.divide(raw, length, out=np.zeros_like(raw), where=length > 1e-9)
        self._whiten, self._axis_groups = whiten / scale[:, None], axis_groups
        return self

    def _whitening(self, C: Array, groups: NDArray[np.intp], n: int) -> tuple[Array, NDArray[np.intp]]:
        """(d, r) what makes the columns of each set uncorrelated with variance 1, and the set of each of the r."""
        parts, owners = [], []
        for g in range(self._m):
            inside = np.flatnonzero(groups == g)
            side, _ = principal_side(C[np.ix_(inside, inside)], n)
            keep = min(len(side.values), n - 1)
            part = np.zeros((len(C), keep))
            part[inside] = side.vectors[:, :keep] / np.sqrt(side.values[:keep])
            parts.append(part)
            owners += [g] * keep
        return np.hstack(parts), np.array(owners, dtype=np.intp)

    def _scores(self, rows: Any, weights: Array) -> Array:
        scores = np.empty((rows.shape[0], weights.shape[1]))
        for part in block_slices(*rows.shape):
            scores[part] = (dense(rows[part]) - self.mean_) @ weights
        return scores

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
