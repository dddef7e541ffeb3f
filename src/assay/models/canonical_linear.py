"""What linear canonical correlations share: pairs from moments, from a triangle of the rows, or from their products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from assay.arrays import Array
from assay.data.blocks import block_slices
from assay.errors import ParameterError
from assay.linalg.canonical.canonical import Coupling, canonical_pairs, coupled_grams, coupled_triangle
from assay.linalg.canonical.held_out import CanonicalFold, choose_ridge, gram_folds, usual_ridges
from assay.linalg.eigen.principal import centred_gram, dense
from assay.linalg.eigen.spectral import column_signs
from assay.models.canonical import HeldOutRidge, Ridge, _Paired
from assay.summary.moments.column_moments import column_moments
from assay.summary.moments.moments import Moments
from assay.summary.moments.paired import Paired, couple, moment_folds

Route: TypeAlias = Literal["moments", "svd", "dual"]
Lift: TypeAlias = Callable[[Array], Array]


class _LinearPairs(_Paired):
    """Base of every model whose scores are weighted sums of columns (or of what columns are expanded to)."""

    scale: bool

    def _fit_paired(self, paired: Paired, p: int, solver: str = "moments") -> Self:
        """Fit from two tables in one pass, and one more where the moments would lose digits."""
        option = self._ridge_option()
        if isinstance(option, HeldOutRidge):
            parts: Sequence[Moments] = paired.fold_moments(option.cv).parts
        else:
            parts = [paired.moments()]
        return self._fit_moments(sum(parts[1:], start=parts[0]), parts, p, paired.triangle, solver)

    def _fit_moments(
        self,
        total: Moments,
        parts: Sequence[Moments],
        p: int,
        triangle: Callable[[Array, Array], Array] | None = None,
        solver: str = "moments",
    ) -> Self:
        """Fit from moments of both sides together, of all rows and of each fold."""
        option = self._ridge_option()
        spread = np.sqrt(total.variance)
        scale = self._scales(spread, p)
        coupling = couple(total, p, scale)
        k = self._count(coupling, (p, total.d - p))
        folds = None
        if isinstance(option, HeldOutRidge):
            option.check_rows(total.count)
            folds = moment_folds(parts, p, scale)
        ridge = self._settled_ridge(option, coupling, folds)
        route: Route = "moments"
        if triangle is not None and (solver == "svd" or (solver == "auto" and coupling.doubtful(ridge))):
            R = triangle(total.mean, scale)
            coupling = coupled_triangle(R, p, total.count, total.weight - 1.0)
            k, route = self._count(coupling, (p, total.d - p)), "svd"
        self._describe(total.mean, spread, scale, p, total.count)
        return self._settle(coupling, ridge, k, _along(coupling), folds, route)

    def _fit_dual(self, X: Any, Y: Any, solver: str = "dual") -> Self:
        """Fit from the products of rows with rows, for more columns than rows."""
        option, n = self._ridge_option(), X.shape[0]
        names = self._names()
        sides = [column_moments(side, known) for side, known in zip((X, Y), names, strict=True)]
        mean = np.concatenate([side.mean for side in sides])
        spread = np.sqrt(np.concatenate([side.variance for side in sides]))
        p = X.shape[1]
        scale = self._scales(spread, p)
        parts = slice(None, p), slice(p, None)
        Kx, Ky = (centred_gram(side, mean[at], scale[at]) for side, at in zip((X, Y), parts, strict=True))
        widths = int(np.count_nonzero(spread[:p])), int(np.count_nonzero(spread[p:]))
        coupling = coupled_grams(Kx, Ky, n - 1.0, widths)
        k = self._count(coupling, (p, Y.shape[1]))
        folds = None
        if isinstance(option, HeldOutRidge):
            option.check_rows(n)
            folds = gram_folds(Kx, Ky, option.folds(n), widths)
        ridge = self._settled_ridge(option, coupling, folds)
        self._describe(mean, spread, scale, p, n)
        if solver == "auto" and coupling.doubtful(ridge):
            rows = (np.hstack([dense(X), dense(Y)]) - mean) / scale
            coupling = coupled_triangle(rows, p, n, n - 1.0)
            k = self._count(coupling, (p, Y.shape[1]))
            return self._settle(coupling, ridge, k, _along(coupling), folds, "svd")
        Dx, Dy = coupling.x.vectors, coupling.y.vectors
        lifts = (
            lambda M: _across(X, mean[:p], scale[:p], Dx @ M),
            lambda M: _across(Y, mean[p:], scale[p:], Dy @ M),
        )
        return self._settle(coupling, ridge, k, lifts, folds, "dual")

    def _scales(self, spread: Array, p: int) -> Array:
        """What columns are divided by; a side without a ridge does not depend on it, and keeps more digits so."""
        option = self._ridge_option()
        plain = (False, False) if isinstance(option, HeldOutRidge) else (option[0] == 0.0, option[1] == 0.0)
        scaled = np.repeat([self.scale or without for without in plain], [p, len(spread) - p])
        return np.where(scaled & (spread > 0.0), spread, 1.0)

    def _settled_ridge(
        self, option: Ridge | HeldOutRidge, coupling: Coupling, folds: list[CanonicalFold] | None
    ) -> Ridge:
        self.held_out_table_: Any = None
        if not isinstance(option, HeldOutRidge):
            self.ridge_ = option
            return option
        assert folds is not None  # made wherever a ridge is to be chosen
        choice = choose_ridge(folds, *(option.candidates(usual_ridges(side)) for side in (coupling.x, coupling.y)))
        self.ridge_, self.held_out_table_ = choice.ridge, choice.table
        return choice.ridge

    def _describe(self, mean: Array, spread: Array, scale: Array, p: int, rows: int) -> None:
        self.x_mean_, self.y_mean_ = mean[:p].copy(), mean[p:].copy()
        self._x_scale, self._y_scale = scale[:p].copy(), scale[p:].copy()
        self._x_spread, self._y_spread = spread[:p] / scale[:p], spread[p:] / scale[p:]
        self.n_samples_ = rows

    def _settle(
        self,
        coupling: Coupling,
        ridge: Ridge,
        k: int,
        lifts: tuple[Lift, Lift],
        folds: list[CanonicalFold] | None,
        route: Route,
    ) -> Self:
        """Pairs, weights and loadings; `lifts` take principal coordinates to the (scaled) columns of each side."""
        pairs = canonical_pairs(coupling, ridge, k)
        self._keep(pairs, coupling, ridge, folds)
        lx, ly = coupling.x.values[:, None], coupling.y.values[:, None]
        # weights, covariances with the own variate, covariances with the other one
        wx, xu, xv = np.split(lifts[0](np.hstack([pairs.x, lx * pairs.x, coupling.cross @ pairs.y])), 3, axis=1)
        wy, yv, yu = np.split(lifts[1](np.hstack([pairs.y, ly * pairs.y, coupling.cross.T @ pairs.x])), 3, axis=1)
        su = np.sqrt(coupling.x.values @ pairs.x**2)
        sv = np.sqrt(coupling.y.values @ pairs.y**2)
        self.x_loadings_ = _as_correlations(xu / su, self._x_spread)
        signs = column_signs(self.x_loadings_)
        self.x_loadings_ = self.x_loadings_ * signs
        self.y_loadings_ = _as_correlations(yv / sv, self._y_spread) * signs
        self.x_cross_loadings_ = _as_correlations(xv / sv, self._x_spread) * signs
        self.y_cross_loadings_ = _as_correlations(yu / su, self._y_spread) * signs
        self.x_weights_ = wx * signs / self._x_scale[:, None]
        self.y_weights_ = wy * signs / self._y_scale[:, None]
        # least squares of y on the variates of X; these are uncorrelated, but for a ridge
        within = pairs.x.T @ (lx * pairs.x)
        self._y_from_x = np.linalg.lstsq(within, yu.T, rcond=None)[0] * self._y_scale * signs[:, None]
        self.forced_ = max(0, sum(self.rank_) - (self.n_samples_ - 1)) if ridge == (0.0, 0.0) else 0
        self.condition_ = coupling.condition(ridge)
        self.route_ = route
        return self

    def _x_scores(self, rows: Any) -> Array:
        return _scores(rows, self.x_mean_, self.x_weights_)

    def _y_scores(self, rows: Any) -> Array:
        return _scores(rows, self.y_mean_, self.y_weights_)


def checked_solver(solver: str) -> str:
    """The name of a way to solve, or "auto"."""
    if solver not in ("auto", "moments", "svd", "dual"):
        raise ParameterError(f"solver is one of auto, moments, svd, dual; got {solver!r}")
    return solver


def _scores(rows: Any, mean: Array, weights: Array) -> Array:
    scores = np.empty((rows.shape[0], weights.shape[1]))
    for part in block_slices(*rows.shape):
        scores[part] = (dense(rows[part]) - mean) @ weights
    return scores


def _along(coupling: Coupling) -> tuple[Lift, Lift]:
    """From coordinates to columns, where the axes are at hand."""
    return lambda M: coupling.x.vectors @ M, lambda M: coupling.y.vectors @ M


def _across(X: Any, mean: Array, scale: Array, coefficients: Array) -> Array:
    """Xs^T coefficients, with Xs the centred and scaled rows, in strips of columns."""
    product = np.empty((X.shape[1], coefficients.shape[1]))
    width = max(512, X.shape[0])
    for start in range(0, X.shape[1], width):
        part = slice(start, start + width)
        product[part] = ((dense(X[:, part]) - mean[part]) / scale[part]).T @ coefficients
    return product


def _as_correlations(covariances: Array, spread: Array) -> Array:
    """Covariances of columns with variates of unit variance, as correlations; 0 for constant columns."""
    shares = np.divide(covariances, spread[:, None], out=np.zeros_like(covariances), where=spread[:, None] > 0.0)
    return np.clip(shares, -1.0, 1.0)
