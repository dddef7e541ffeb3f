"""Mahalanobis distance: how far is a row from the centre, in standard deviations of its own direction?

summary   mean m, covariance S = scatter / (n - 1), (d, d)     in units of the columns: z = (x - m) / s, (n, d)
estimate  keep S + ridge I = V diag(w) V^T                     wide tables: V (d, k) from the rows, never (d, d)
reading   d^2 = sum of (V^T z)^2 / w                           the squared length of whitened principal scores
columns   d^2 = sum_j u_j^2,  u = V diag(w)^-1/2 V^T z         (n, d), each u_j as near to column j as can be
chance    of normal rows: linalg.distance_law
robust    m and S of the bulk: linalg.central_rows
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import all_rows, float_blocks
from assay.data.source import Source
from assay.engine.current import map_reduce
from assay.errors import Caution, DataError, ParameterError
from assay.linalg.eigen.principal import axes_of_rows, dense
from assay.linalg.eigen.spectral import Spectrum, eigen_symmetric
from assay.linalg.normal.distance_law import DistanceLaw
from assay.linalg.normal.mcd import BULK, central_rows, consistency, majority
from assay.linalg.normal.shrinkage import ledoit_wolf, rao_blackwell
from assay.linalg.normal.whitening import Whitening
from assay.models.base import on_engine
from assay.models.detector import _Detector
from assay.models.incremental import _RowsInParts
from assay.summary.distances.distances import refuse_axes
from assay.summary.moments.column_moments import column_moments
from assay.summary.moments.moments import Moments

Shrinkage: TypeAlias = Literal["auto", "ledoit-wolf"] | float | None

ROWS_PER_COLUMN = 5  # with fewer, "auto" shrinks, and there is no robust estimate
_FLAT = 1e-12  # an eigenvalue at most this share of the largest is zero but for rounding


class Mahalanobis(_RowsInParts, _Detector):
    """Flag rows that are far out given how the columns vary together.

    The chances below hold for normal rows. A row that breaks a relation which all fitted rows obey exactly (a constant
    column, a sum of others) is infinitely far out, where nothing is added to the covariance.

    Args:
        shrinkage: what to do about covariances that few rows leave uncertain. "ledoit-wolf": draw them towards a
            multiple of the identity, as far as Ledoit and Wolf's formula says; from a summary, which has no fourth
            powers, as far as that formula is expected to say for normal rows. "auto": do so where there are fewer
            than 5 rows for each column, and else nothing, which leaves the chances exact and the distances
            independent of units and rotations. A number: add so many times the identity. None: do nothing.
        robust: estimate centre and covariance from the bulk of the rows (minimum covariance determinant, then
            reweighting), so that outliers do not hide each other. Needs 5 rows for each column.
        level: the chance that any row of a clean table as large as the one fitted is flagged, at most.
        scale: shrink in units of each column's standard deviation, so that units do not matter; else in the
            units of the data, where a ridge of 0.1 is 0.1 in squared units.
        support_fraction: share of the rows that are surely clean, from 0.5 to 1, where robust. None: as few as can
            be, (n + d + 1) / 2n; a larger share is more precise, and bears fewer outliers.
        random_state: seed of the robust search.

    Attributes:
        location_: (d,) the centre.
        scale_: (d,) the unit of each column; zero for constant ones.
        eigenvalues_: (k,) of the covariance in these units, before shrinkage, without those that are zero.
        axes_: (d, k) their eigenvectors.
        shrinkage_: share of the identity that was taken in, 0 to 1.
        ridge_: factor of the identity in the estimate, in these units.
        rule_: where that came from: "none", "ledoit-wolf", "rao-blackwell" (from a summary) or "ridge".
        offset_: the score below which rows are flagged; scores are negative squared distances.
        n_samples_, weight_: rows fitted, and how many (or what weight of) rows the estimate rests on.
        support_: (n,) which rows the estimate rests on, where robust.
        on_plane_: how many rows lie exactly on a plane, where robust and where these are most; else 0.
        encoding_: how the columns of a source became numbers, where it was fitted on one.
        summary_: moments of all rows so far, after `partial_fit`.
        route_: the way taken: "moments", "gram" (more columns than rows) or "mcd".

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 1)) + 0.3 * rng.standard_normal((200, 3))
    >>> X[5] = [1.5, -1.5, 1.5]  # no value is unusual, all together are
    >>> found = Mahalanobis().fit(X)
    >>> found.flagged(X)
    array([5])
    >>> print(found.explain(X, fitted=True))
    row 5: 6.84 sd away, p 1.8e-11: column 1 60% (-1.4 sd), column 0 20% (+1.5 sd), column 2 20% (+1.4 sd)

    References:
        Ledoit & Wolf, Journal of Multivariate Analysis 88, 2004; contributions: Garthwaite & Koch, Australian & New
        Zealand Journal of Statistics 58, 2016; robust: Cerioli, Journal of the American Statistical Association 105,
        2010.
    """

    def __init__(
        self,
        *,
        shrinkage: Shrinkage = "auto",
        robust: bool = False,
        level: float = 0.05,
        scale: bool = True,
        support_fraction: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.robust = robust
        self.level = level
        self.scale = scale
        self.support_fraction = support_fraction
        self.random_state = random_state

    @on_engine
    def fit(self, X: Any, y: None = None, *, engine: Any = None) -> Self:
        """Find centre and covariance of (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`. A source is read once and not held (once more where its
                covariances are shrunk by Ledoit and Wolf's formula), unless robust, or wider than long.
            y: not used.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        self._begin()
        if isinstance(X, Source):
            numbers = self._as_numbers(X, reset=True)
            d = len(numbers.numeric_columns)
            if not self.robust and (numbers.rows is None or numbers.rows >= d):
                return self._fit_moments(Moments.of(numbers), numbers)
            rows: Any = all_rows(numbers)
        else:
            rows = self._checked(X, reset=True, accept_sparse="csr", ensure_min_samples=2, ensure_all_finite=False)
        refuse_axes(rows, "Use ZScore, which takes the entries alone, or PCA(n_components=100) first.")
        if self.robust:
            return self._fit_bulk(dense(rows).astype(np.float64, copy=False))
        if rows.shape[1] > rows.shape[0]:
            return self._fit_wide(rows)
        return self._fit_moments(Moments.of(rows, columns=self._names()), rows)

    def fit_moments(self, moments: Moments) -> Self:
        """Fit from a summary, however gathered: an array, a file, a cluster, three hospitals."""
        self._begin()
        if self.robust:
            raise ParameterError("robust=True needs the rows: a summary has no bulk to pick; use fit, or robust=False")
        self._record_columns(moments.columns, moments.d)
        return self._fit_moments(moments, None)

    def distance(self, X: Any) -> Array:
        """(n,) Mahalanobis distances of rows from the centre: the square roots of the negative scores."""
        return np.sqrt(self._measured(X))

    @property
    def covariance_(self) -> Array:
        """(d, d) the estimate, shrunk and in the units of the data."""
        check_is_fitted(self)
        # what no axis carries has the variance of the ridge
        inner = (self.axes_ * (self._spread - self.ridge_)) @ self.axes_.T
        inner[np.diag_indices(len(inner))] += self.ridge_
        return np.asarray(self.scale_[:, None] * inner * self.scale_)

    def _needs_rows(self) -> str | None:
        return "robust=True" if self.robust else None

    def _fit_bulk(self, rows: Array) -> Self:
        n, names = len(rows), self._names()
        varying = column_moments(rows, names).variance > 0.0
        r = int(varying.sum())
        if n < ROWS_PER_COLUMN * max(r, 1):
            raise DataError(
                f"robust=True needs {ROWS_PER_COLUMN} rows for each column; there are {n} rows and {r} columns that "
                "vary: leave columns out, take principal components first, or use robust=False, which shrinks"
            )
        found = central_rows(rows[:, varying], majority(n, r, self.support_fraction), self._seed())
        self.support_ = found.bulk
        self.on_plane_ = found.on_plane
        bulk = rows[found.bulk]
        if found.dimension == 0:
            raise DataError(f"{len(bulk)} of {n} rows are identical: most rows have no spread to measure distances by")
        if found.on_plane:
            warnings.warn(
                f"{found.on_plane} of {n} rows lie exactly on a plane of fewer dimensions, from which the others are "
                "infinitely far: leave out columns that are mostly constant or follow from others, or raise "
                "support_fraction",
                Caution,
                stacklevel=4,
            )
        # the bulk is cut off where 97.5% of normal rows are, which makes its covariance too small
        size = consistency(BULK, found.dimension)
        self._fit_moments(Moments.of(bulk, columns=names), bulk, size=size, count=n)
        self.route_ = "mcd"
        return self

    def _fit_wide(self, rows: Any) -> Self:
        n = rows.shape[0]
        mean, variance = column_moments(rows, self._names())
        varying = self._describe(mean, variance, n, float(n))
        picked = rows if varying.all() else rows[:, varying]
        spectrum = axes_of_rows(picked, mean[varying], self.scale_[varying], None, "gram", 0)
        return self._keep(spectrum, varying, rows, "gram")

    def _fit_moments(self, moments: Moments, data: Any, *, size: float = 1.0, count: int | None = None) -> Self:
        varying = self._describe(moments.mean, moments.variance, count or moments.count, moments.weight, size)
        scale = self.scale_[varying] / np.sqrt(size)
        S = moments.scatter[np.ix_(varying, varying)] / (moments.weight - 1.0) / scale / scale[:, None]
        return self._keep(eigen_symmetric(S), varying, data, "moments")

    def _describe(
        self, mean: Array, variance: Array, count: int, weight: float, size: float = 1.0
    ) -> NDArray[np.bool_]:
        varying = variance > 0.0
        if not varying.any():
            raise DataError("every column is constant: there is no spread to measure distances by")
        self.location_ = mean
        self.scale_ = np.sqrt(variance * size)
        self.rule_ = self._rule(weight, int(varying.sum()))
        if not self.scale and self.rule_ != "none":  # without shrinkage units do not matter but for rounding
            self.scale_ = np.where(varying, np.sqrt(np.mean(variance[varying] * size)), 0.0)
        self.n_samples_ = count
        self.weight_ = weight
        return varying

    def _keep(self, spectrum: Spectrum, varying: NDArray[np.bool_], data: Any, route: str) -> Self:
        values = spectrum.values
        kept = values > values[0] * max(_FLAT, 8.0 * np.finfo(float).eps * min(self.weight_, len(values)))
        self.eigenvalues_ = values[kept]
        self.axes_ = np.zeros((len(varying), int(kept.sum())))
        self.axes_[varying] = spectrum.vectors[:, kept]
        self._shrink(int(varying.sum()), data)
        self._refuse_equal_rows()
        self.route_ = route
        self.offset_ = -self._law.quantile(self._level)
        return self

    def _rule(self, n: float, d: int) -> str:
        if self.shrinkage == "ledoit-wolf" or (self.shrinkage == "auto" and n < ROWS_PER_COLUMN * d):
            return "ledoit-wolf"
        return "none" if self.shrinkage in ("auto", None) else "ridge"

    def _shrink(self, d: int, data: Any) -> None:
        n, values = self.weight_, self.eigenvalues_
        self.shrinkage_ = self.ridge_ = 0.0
        if self.rule_ == "ridge":
            self.ridge_ = float(self.shrinkage or 0.0) / (1.0 if self.scale else float(self.scale_.max()) ** 2)
        elif self.rule_ == "ledoit-wolf":
            if data is None:
                self.shrinkage_, self.rule_ = rao_blackwell(values, d, n - 1.0), "rao-blackwell"
            else:
                self.shrinkage_ = ledoit_wolf(values * ((n - 1.0) / n), d, n, self._fourth(data))
            self.ridge_ = self.shrinkage_ * float(values.sum()) / d

    def _fourth(self, data: Any) -> float:
        """Sum of the fourth powers of the lengths of the rows, in units of the columns."""
        measure, varying = self._measure(), self.scale_ > 0.0

        def work(part: tuple[int, NDArray[Any]]) -> float:
            z = np.where(varying, measure.deviations(part[1]), 0.0)
            return float(np.sum(np.einsum("ij,ij->i", z, z) ** 2))

        return map_reduce(float_blocks(data), work, float.__add__)

    def _refuse_equal_rows(self) -> None:
        r = len(self.eigenvalues_)
        if self.ridge_ == 0.0 and r >= self.weight_ - 1.0:
            raise DataError(
                f"{self.weight_:g} rows that span {r} directions are all equally far from their mean; at least {r + 2} "
                "rows are needed, or a ridge, as in shrinkage=0.1"
            )

    @property
    def _spread(self) -> Array:
        """(k,) variance of the estimate along the axes."""
        spread: Array = (1.0 - self.shrinkage_) * self.eigenvalues_ + self.ridge_
        return spread

    @property
    def _law(self) -> DistanceLaw:
        d = int(np.count_nonzero(self.scale_))
        return DistanceLaw(self.eigenvalues_, d, self.weight_, 1.0 - self.shrinkage_, self.ridge_)

    def _tail(self, far: Array, *, fitted: bool) -> Array:
        new = self._law.tail(far)
        if not fitted:
            return new
        own = self._law.tail(far, fitted=True)
        return np.where(self.support_, own, new) if self.route_ == "mcd" else own

    def _measure(self) -> Whitening:
        return Whitening(self.location_, self.scale_, self.axes_, self._spread, self.ridge_)

    def _distances(self, far: Array) -> Array:
        return np.sqrt(far)

    def _begin(self) -> None:
        """Check the options, and forget what only a robust fit has."""
        self._check_alpha()
        asked = self.shrinkage
        if isinstance(asked, (int, float, np.floating, np.integer)):
            fine = not isinstance(asked, bool) and 0.0 <= asked < np.inf
        else:
            fine = asked in ("auto", "ledoit-wolf", None)
        if not fine:
            raise ParameterError(f"shrinkage is 'auto', 'ledoit-wolf', None or a number of at least 0; got {asked!r}")
        share = self.support_fraction
        if share is not None and not 0.5 <= share <= 1.0:
            raise ParameterError(f"support_fraction is a share from 0.5 to 1, or None; got {share!r}")
        for name in ("support_", "on_plane_"):
            self.__dict__.pop(name, None)
