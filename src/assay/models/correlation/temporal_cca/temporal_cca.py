"""Temporal canonical correlations: which combination of X goes with which combination of later (or earlier) y?

summary  P_j = sum_t z_t z_(t+j)^T of z = [x, y], (d, d) for each distance j: one pass, see summary.lagged
stacked  [x_t, y_(t+l1), ..., y_(t+lm)], (n, d) with d = p + m q; its covariance is block-Toeplitz, made of the P_j
solver   canonical pairs of x_t and the stacked y, with a ridge
reading  u_t = (x_t - mu) W_x, v_t = sum_l (y_(t+l) - mu_l) W_y(l), (n, k)
         correlogram c(l) = corr(u_t, y_(t+l) W_y(l)); delay = the lag at which it is largest

Reference: Biessmann, Meinecke, Gretton, Rauch, Rainer, Logothetis and Mueller, Temporal kernel CCA and its application
in multimodal neuronal data analysis, Machine Learning 79, 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length, column_or_1d

from assay.arrays import Array
from assay.data.held_out_folds import is_number
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.principal import dense
from assay.models.base import on_engine
from assay.models.canonical import HeldOutRidge, RidgeOption, gathered
from assay.models.canonical_linear import _LinearPairs
from assay.models.correlation.temporal_cca.lagged import LaggedMoments
from assay.summary.moments.moments import Moments
from assay.summary.moments.paired import Paired


class TemporalCCA(_LinearPairs):
    """Find combinations of two series that correlate most over time, and the delay between them: what follows what?

    Rows are moments in time, equally spaced, in order. y follows X by `delay_` steps; before it, if that is negative.

    Args:
        n_components: how many pairs; None for as many as the smaller rank.
        lags: how many steps later y is looked at. A number m: from -m to m, since either side may lead. A sequence:
            these.
        ridge: as in `CCA`; series that change slowly need one, since their lags nearly repeat each other. "held-out"
            judges by stretches of time, not by single rows.
        scale: as in `CCA`.

    Attributes:
        delay_: the lag at which y's part of the first pair correlates most with X's.
        lags_: (m,) the lags, ascending.
        canonical_correlogram_: (m, k) correlation of X's variate with y's part at each lag.
        canonical_correlations_: (k,) of X's variates with y's over all lags together.
        variate_correlations_, held_out_correlations_, held_out_table_, ridge_, rank_, condition_, forced_: as
            in `CCA`.
        x_weights_: (p, k), of the centred columns.
        y_weights_: (m, q, k), for each lag.
        x_loadings_: (p, k) correlation of each column of X with its variates.
        y_loadings_: (m, q, k) of each column of y at each lag.
        x_cross_loadings_: (p, k) with the variates of y.
        y_cross_loadings_: (m, q, k) with the variates of X.
        x_mean_: (p,) means over the rows that have all lags.
        y_mean_: (m, q) means at each lag.
        n_components_, n_samples_: k, and the rows that have all lags.
        n_targets_, y_names_, encoding_, y_encoding_: as in `CCA`.
        route_: "moments".

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(200)
    >>> y = np.roll(x, 3) + 0.5 * rng.standard_normal(200)
    >>> TemporalCCA(lags=6).fit(x[:, None], y).delay_
    3

    References:
        Biessmann and others, Temporal kernel CCA, Machine Learning 79, 2010.
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        lags: int | Sequence[int] = 3,
        ridge: RidgeOption = 1e-3,
        scale: bool = True,
    ) -> None:
        self.n_components = n_components
        self.lags = lags
        self.ridge = ridge
        self.scale = scale

    @on_engine
    def fit(self, X: Any, y: Any = None, groups: ArrayLike | None = None, *, engine: Any = None) -> Self:
        """Find the pairs of (n, p) and (n, q) rows in the order of time.

        Args:
            X: array, data frame or `Source`.
            y: the other series, or the names of its columns where X is a source.
            groups: (n,) which series each row belongs to, where there are several; no lag reaches from one to another.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        X, Y = self._sides(X, y, reset=True, finite=False)
        lags, option = self._known_lags(), self._ridge_option()
        span, names = max(0, *lags) - min(0, *lags), (*self._names()[0], *self._names()[1])
        if groups is None and not isinstance(option, HeldOutRidge):
            blocks = Paired(X, Y, self._names()).joined()
            return self._fit_series([LaggedMoments.of(blocks, span, names)], [])
        rows = np.hstack([dense(gathered(X)), dense(gathered(Y))])
        series = [rows] if groups is None else _apart(rows, groups)
        if not isinstance(option, HeldOutRidge):
            return self._fit_series([LaggedMoments.of([one], span, names) for one in series], [])
        if not is_number(option.cv):
            raise ParameterError(
                f"folds of series are stretches of time without a break: cv is how many; got {option.cv!r}"
            )
        cut = [_stretches(one, option.cv, span) for one in series]
        summaries = [[LaggedMoments.of([part], span, names) for part in one] for one in cut]
        folds = [[one[i] for one in summaries] for i in range(option.cv)]
        return self._fit_series([reduce(LaggedMoments.__add__, one) for one in summaries], folds)

    def fit_lagged(
        self,
        lagged: LaggedMoments | Sequence[LaggedMoments],
        split: int,
        folds: Sequence[Sequence[LaggedMoments]] = (),
    ) -> Self:
        """Fit from lagged moments of [X, y] together, of one series or several.

        Args:
            lagged: one summary for each series.
            split: how many of the columns are X's, which come first.
            folds: summaries of stretches of time to choose the ridge by, a list for each fold.
        """
        series = [lagged] if isinstance(lagged, LaggedMoments) else list(lagged)
        width = series[0].products.shape[1]
        if not 0 < split < width:
            raise ParameterError(f"split says how many of the {width} columns are X's, 1 to {width - 1}; got {split}")
        if isinstance(self._ridge_option(), HeldOutRidge) != (len(folds) > 0):
            raise ParameterError(f"folds are for ridge='held-out', and it needs them; got {len(folds)} folds")
        self._record_columns(None, split)
        self.n_targets_, self.y_names_ = width - split, None
        return self._fit_series(series, folds)

    def _fit_series(self, series: Sequence[LaggedMoments], folds: Sequence[Sequence[LaggedMoments]]) -> Self:
        lags, p = self._known_lags(), self.n_features_in_
        total = _stacked(series, lags, p)
        self._fit_moments(total, [_stacked(fold, lags, p) for fold in folds], p)
        return self._read(total, lags)

    def _read(self, total: Moments, lags: list[int]) -> Self:
        m, q = len(lags), self.n_targets_
        self.canonical_correlogram_ = _correlogram(total.covariance, self.x_weights_, self.y_weights_, m)
        for name in ("y_weights_", "y_loadings_", "y_cross_loadings_"):
            setattr(self, name, getattr(self, name).reshape(m, q, -1))
        self.y_mean_ = self.y_mean_.reshape(m, q)
        self.lags_ = np.array(lags)
        self.delay_ = int(self.lags_[np.argmax(np.abs(self.canonical_correlogram_[:, 0]))])
        return self

    def _y_scores(self, rows: Any) -> Array:
        """Scores of y's rows; NaN for those that do not have all lags."""
        n = len(rows)
        scores = np.full((n, self.n_components_), np.nan)
        low, high = min(0, int(self.lags_[0])), max(0, int(self.lags_[-1]))
        t = np.arange(-low, n - high)
        if len(t):
            parts = zip(self.lags_, self.y_mean_, self.y_weights_, strict=True)
            scores[t] = sum((rows[t + lag] - mean) @ weights for lag, mean, weights in parts)
        return scores

    def _known_lags(self) -> list[int]:
        given = self.lags
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given >= 0:
            return list(range(-int(given), int(given) + 1))
        lags: list[Any] = list(given) if isinstance(given, (Sequence, np.ndarray)) else []
        whole = all(isinstance(lag, (int, np.integer)) and not isinstance(lag, bool) for lag in lags)
        if not lags or not whole or len(set(lags)) != len(lags):
            raise ParameterError(
                f"lags is a whole number of steps, not negative, or a sequence of distinct ones; got {given!r}"
            )
        return sorted(int(lag) for lag in lags)


def _stacked(series: Sequence[LaggedMoments], lags: list[int], split: int) -> Moments:
    parts = [one.stacked(lags, split) for one in series]
    return sum(parts[1:], start=parts[0])


def _correlogram(C: Array, Wx: Array, Wy: Array, m: int) -> Array:
    """(m, k) correlation of x Wx with the part of y at each lag."""
    p, q, k = len(Wx), len(Wy) // m, Wx.shape[1]
    spread_x = np.sqrt(np.einsum("ik,ij,jk->k", Wx, C[:p, :p], Wx, optimize=True))
    shown = np.zeros((m, k))
    for i in range(m):
        at = slice(p + i * q, p + (i + 1) * q)
        w = Wy[i * q : (i + 1) * q]
        across = np.einsum("ik,ij,jk->k", Wx, C[:p, at], w, optimize=True)
        spread = spread_x * np.sqrt(np.maximum(np.einsum("ik,ij,jk->k", w, C[at, at], w, optimize=True), 0.0))
        np.divide(across, spread, out=shown[i], where=spread > 0.0)
    return np.clip(shown, -1.0, 1.0)


def _apart(rows: Array, groups: ArrayLike) -> list[Array]:
    """The rows of each series, in order."""
    labels = column_or_1d(groups)
    check_consistent_length(rows, labels)
    known, codes = np.unique(labels, return_inverse=True)
    return [rows[codes == code] for code in range(len(known))]


def _stretches(rows: Array, folds: int, span: int) -> list[Array]:
    """One series cut into as many stretches as there are folds."""
    if len(rows) < folds * (span + 2):
        raise DataError(
            f"{folds} stretches of time with all lags need at least {folds * (span + 2)} rows of each series; one has "
            f"{len(rows)}. Take fewer folds or lags, or give ridge as a number"
        )
    return np.array_split(rows, folds)
