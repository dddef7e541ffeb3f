"""Z-scores: how many standard deviations is a value from the middle of its column?

summary  mean m_j, standard deviation s_j          (d,), one pass; or median and median absolute deviation
reading  z_ij = (x_ij - m_j) / s_j                 (n, d)
row      far_i = max_j of the size of z_ij         (n,)
chance   of a cell: z^2 / (1 + 1/n) ~ F(1, n - 1)  of a row: 1 - (1 - p)^d at most, whatever the correlations
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, fdtrc
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import all_rows
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.principal import dense
from assay.linalg.normal.distance_law import DistanceLaw
from assay.linalg.normal.robust_scale import robust_spread
from assay.models.base import on_engine
from assay.models.detector import _Detector
from assay.models.incremental import _RowsInParts
from assay.summary.distances.distances import refuse_dense
from assay.summary.moments.column_moments import ColumnSums
from assay.summary.moments.moments import Moments

_EFFICIENCY = 0.3675  # of the median absolute deviation for normal columns: it varies as the variance of so many rows
_HELD = 1e-12  # relative distance from a constant that rounding may leave


class ZScore(_RowsInParts, _Detector):
    """Flag rows with a value far out in its own column.

    The chances below hold for normal columns, which may depend on each other. A value that differs from a constant
    column is infinitely far out.

    Args:
        level: the chance that any row of a clean table as large as the one fitted is flagged, at most.
        robust: measure from the median, in units of 1.4826 times the median absolute deviation, so that outliers do
            not hide each other. Where that is zero, more than half of a column being equal, 1.2533 times the mean
            absolute deviation is taken.

    Attributes:
        location_: (d,) mean or median of each column.
        scale_: (d,) standard deviation, or its robust counterpart; zero for constant columns.
        offset_: the score below which rows are flagged; scores are minus the largest z-score in size.
        n_samples_, weight_: rows fitted and the sum of their weights.
        encoding_: how the columns of a source became numbers, where it was fitted on one.
        summary_: moments of all rows so far, after `partial_fit`.
        route_: "moments" or "median".

    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> X[7, 1] = 9.0
    >>> found = ZScore().fit(X)
    >>> found.flagged(X)
    array([7])
    >>> print(found.explain(X, fitted=True))
    row 7: 6.60 sd away, p 1.2e-13: column 1 96% (+6.6 sd), column 0 4% (+1.3 sd), column 2 0% (+0.4 sd)

    References:
        Sidak, Journal of the American Statistical Association 62, 1967; Iglewicz & Hoaglin, How to Detect and Handle
        Outliers, 1993.
    """

    def __init__(self, level: float = 0.05, *, robust: bool = False) -> None:
        self.level = level
        self.robust = robust

    @on_engine
    def fit(self, X: Any, y: None = None, *, engine: Any = None) -> Self:
        """Find centre and spread of each column of (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`. A source is read once and not held, unless robust.
            y: not used.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        self._check_alpha()
        if isinstance(X, Source):
            X = self._as_numbers(X, reset=True)
            if self.robust:
                X = all_rows(X)
        else:
            X = self._checked(X, reset=True, accept_sparse="csr", ensure_min_samples=2, ensure_all_finite=False)
        sums = ColumnSums.of(X, self._names())
        if not self.robust:
            return self._keep(sums.mean, sums.variance, sums.count, float(sums.count), "moments")
        refuse_dense(X, remedy="Use robust=False, which takes the entries alone.")
        centre, spread = _middle(dense(X).astype(np.float64, copy=False))
        return self._keep(centre, spread**2, sums.count, float(sums.count), "median")

    def fit_moments(self, moments: Moments) -> Self:
        """Fit from a summary, however gathered: an array, a file, a cluster, three hospitals."""
        self._check_alpha()
        if self.robust:
            raise ParameterError("robust=True needs the rows: a summary has no median; use fit, or robust=False")
        self._record_columns(moments.columns, moments.d)
        return self._keep(moments.mean, moments.variance, moments.count, moments.weight, "moments")

    def _needs_rows(self) -> str | None:
        return "robust=True" if self.robust else None

    def z_scores(self, X: Any) -> Array:
        """(n, d) standard deviations of each value from the centre of its column, with their sign."""
        check_is_fitted(self)
        return self._over(X, self._measure().deviations, wide=True)

    def _keep(self, centre: Array, variance: Array, count: int, weight: float, route: str) -> Self:
        if weight <= 2.0:
            raise DataError(f"z-scores of {weight:g} rows are all of the same size; at least 3 rows are needed")
        self.location_ = centre
        self.scale_ = np.sqrt(variance)
        self.n_samples_ = count
        self.weight_ = weight
        self.route_ = route
        self.offset_ = -float(np.sqrt(self._quantile(-np.expm1(np.log1p(-self._level) / self._columns))))
        return self

    @property
    def _columns(self) -> int:
        """How many columns vary."""
        return max(int(np.count_nonzero(self.scale_)), 1)

    def _measure(self) -> _Columns:
        return _Columns(self.location_, self.scale_)

    def _distances(self, far: Array) -> Array:
        return far

    def _tail(self, far: Array, *, fitted: bool) -> Array:
        with np.errstate(over="ignore"):
            squares = far**2
        cell = self._robust_tail(squares) if self.route_ == "median" else self._law.tail(squares, fitted=fitted)
        with np.errstate(divide="ignore"):
            return np.asarray(-np.expm1(self._columns * np.log1p(-cell)))

    @property
    def _law(self) -> DistanceLaw:
        return DistanceLaw(np.ones(1), 1, self.weight_)

    @property
    def _robust_law(self) -> tuple[float, float]:
        """Scale and degrees of freedom: the median varies by pi / 2n, the deviation as that of so many rows."""
        return 1.0 + np.pi / (2.0 * self.weight_), max(_EFFICIENCY * (self.weight_ - 1.0), 1.0)

    def _robust_tail(self, squares: Array) -> Array:
        scale, free = self._robust_law
        return np.asarray(fdtrc(1.0, free, squares / scale))

    def _quantile(self, level: float) -> float:
        if self.route_ == "moments":
            return self._law.quantile(level)
        scale, free = self._robust_law
        rest = float(betaincinv(free / 2.0, 0.5, level))
        return scale * (1.0 - rest) / rest * free


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """Each column on its own: centre and spread, (d,) each."""

    location: Array
    scale: Array

    def far(self, rows: NDArray[Any]) -> Array:
        if not self.scale.all():
            return np.asarray(np.abs(self.deviations(rows)).max(axis=1))
        with np.errstate(over="ignore", invalid="ignore"):
            # column by column: a maximum along short rows would cost more than all else
            z = np.subtract(rows.T, self.location[:, None], order="C")
            z /= self.scale[:, None]
            return np.asarray(np.abs(z, out=z).max(axis=0))

    def shares(self, rows: NDArray[Any]) -> Array:
        with np.errstate(over="ignore"):
            return self.deviations(rows) ** 2

    def deviations(self, rows: NDArray[Any]) -> Array:
        varying = self.scale > 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            gap = rows - self.location
            if varying.all():
                return np.asarray(gap / self.scale)
            held = np.abs(gap) <= _HELD * np.abs(self.location)
            off = np.where(held, 0.0, np.copysign(np.inf, gap))
            return np.where(varying, gap / np.where(varying, self.scale, 1.0), off)


def _middle(rows: Array) -> tuple[Array, Array]:
    """Median and robust standard deviation of each column."""
    centre = np.median(rows, axis=0)
    return centre, robust_spread(rows - centre)
