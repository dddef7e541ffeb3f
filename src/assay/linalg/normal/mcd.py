"""Minimum covariance determinant: the h of n rows whose covariance has the smallest determinant.

    fit      m, S of h rows                      step     the h rows nearest to m by S are the next h rows

A step never raises det S (Rousseeuw & Van Driessen 1999, theorem 1). Many starts take one step each, the best of them
five more, and the best of these go on until nothing changes; tables above 600 rows are searched in parts first. A tiny
fixed ridge keeps every determinant positive without breaking the theorem (Boudt et al. 2020), so that h rows on a plane
are found, not fatal.

What the covariance of the most central rows means: how much too small it is, and which rows are central enough.

    consistency   the covariance of the central share of normal rows, times c, is that of all of them
    few_rows      the h rows of smallest determinant are closer together still, the more so the fewer there are
    cut           c^-1 d^2 (m - d + 1) / (d m) ~ F(d, m - d + 1) for rows not among the h chosen (Hardin & Rocke 2005)

m, the degrees of freedom of a Wishart matrix that varies as the chosen covariance does, follows from its asymptotic
variance (Croux & Haesbroeck 1999), with a correction for few rows that Green & Martin found by simulation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammainc, gammaincinv, ndtri

from assay.arrays import Array, Indices
from assay.errors import DataError, ParameterError
from assay.linalg.normal.robust_scale import robust_spread
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import as_matrix

_STARTS = 200
_KEPT = 10  # fits that go on after one step
_STEPS = 5  # that these take
_WHOLE = 600  # rows searched in one piece; of more, parts of 300 rows each, at most five
_PART, _PARTS = 300, 5
_RIDGE = 1e-10  # on the scale of the middle half of each column
_AT_ONCE = 200_000  # numbers held for the distances of several fits


@dataclass(frozen=True, slots=True, eq=False)
class MCD:
    """The fit found.

    Attributes:
        location: (d,) mean of the h rows.
        covariance: (d, d) their covariance, divided by h; not yet scaled to that of all rows.
        support: (h,) numbers of the rows, ascending.
        log_determinant: of the covariance in units of the columns' spread.
        descent: (k,) log determinants of the last fit in the course of its steps: never rising.
        scale: (d,) the spread of each column that units refer to.
    """

    location: Array
    covariance: Array
    support: Indices
    log_determinant: float
    descent: Array
    scale: Array


def majority(n: int, d: int, share: float | None = None) -> int:
    """How many of n rows a share is, at least as many as the others cannot outvote.

    >>> majority(100, 3), majority(100, 3, 0.75)
    (52, 75)
    """
    least = (n + d + 1) // 2
    return least if share is None else min(max(int(share * n), least), n)


def mcd(X: Array, h: int | None = None, *, seed: int = 0) -> MCD:
    """Find the h rows that lie closest together.

    Args:
        X: (n, d) rows, n above d; no column constant.
        h: how many; as few as the others cannot outvote, (n + d + 1) // 2, by default.
        seed: of the random starts.

    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> X[:9] += 30.0
    >>> int(mcd(X, 30).support.min())
    9

    Reference: Rousseeuw & Van Driessen, Technometrics 41, 1999; Hubert, Rousseeuw & Verdonck, JCGS 21, 2012.
    """
    rows = as_matrix(X, name="X")
    n, d = rows.shape
    least = majority(n, d)
    h = least if h is None else int(h)
    if n <= d or not least <= h <= n:
        raise ParameterError(
            f"of {n} rows and {d} columns, h is from {least}, half of rows and columns together, to {n}; got {h}"
        )
    middle = np.median(rows, axis=0)
    scale = robust_spread(rows - middle)
    if not (scale > 0.0).all():
        raise DataError(f"column {int(np.argmin(scale))} (counted from 0) is constant; leave it out")
    Z = (rows - middle) / scale
    with one_blas_thread():  # thousands of small products
        fits = _search(Z, h / n, np.random.default_rng(seed))
    best, descent = _settled(Z, fits, h)
    support = np.sort(best)
    taken = rows[support] - middle
    mean = taken.mean(axis=0)
    taken -= mean
    return MCD(mean + middle, taken.T @ taken / h, support, float(descent[-1]), descent, scale)


@dataclass(frozen=True, slots=True, eq=False)
class _Fits:
    """Means (t, d) and whitening matrices (t, d, d) of several fits, with their log determinants (t,)."""

    means: Array
    whiten: Array
    log_determinants: Array

    @classmethod
    def of(cls, means: Array, covariances: Array) -> _Fits:
        d = means.shape[1]
        L = np.linalg.cholesky(covariances + _RIDGE * np.eye(d))
        whiten = np.linalg.inv(L).transpose(0, 2, 1)
        return cls(means, whiten, 2.0 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1))

    @classmethod
    def of_rows(cls, Z: Array, chosen: Indices) -> _Fits:
        """From (t, h) row numbers."""
        h, d = chosen.shape[1], Z.shape[1]
        means, covariances = np.empty((len(chosen), d)), np.empty((len(chosen), d, d))
        step = max(1, _AT_ONCE // (h * d))
        for i in range(0, len(chosen), step):
            taken = Z[chosen[i : i + step]]
            means[i : i + step] = taken.mean(axis=1)
            taken -= means[i : i + step, None]
            np.matmul(taken.transpose(0, 2, 1), taken, out=covariances[i : i + step])
        return cls.of(means, covariances / h)

    def best(self, k: int) -> _Fits:
        """The k fits of smallest determinant, equal ones once."""
        order = np.argsort(self.log_determinants, kind="stable")
        new = np.diff(self.log_determinants[order], prepend=-np.inf) > 1e-9
        return self[order[new][:k]]

    def __getitem__(self, kept: Indices) -> _Fits:
        return _Fits(self.means[kept], self.whiten[kept], self.log_determinants[kept])

    def nearest(self, Z: Array, h: int) -> Indices:
        """(t, h) numbers of the rows nearest to each fit."""
        (n, d), t = Z.shape, len(self.means)
        chosen = np.empty((t, h), dtype=np.intp)
        step = max(1, _AT_ONCE // (n * d))
        for i in range(0, t, step):
            chosen[i : i + step] = np.argpartition(self._squares(Z, slice(i, i + step)), h - 1, axis=1)[:, :h]
        return chosen

    def _squares(self, Z: Array, part: slice) -> Array:
        """(k, n) squared distances from some fits: all their whitening matrices side by side, one product."""
        W = np.concatenate(self.whiten[part], axis=1)
        k, d = W.shape[1] // Z.shape[1], Z.shape[1]
        centre = np.einsum("td,tde->te", self.means[part], self.whiten[part]).ravel()
        squares = np.empty((k, len(Z)))
        step = max(1, _AT_ONCE // (k * d))
        for i in range(0, len(Z), step):
            moved = Z[i : i + step] @ W - centre
            squares[:, i : i + step] = np.einsum("ntd,ntd->tn", *2 * (moved.reshape(-1, k, d),))
        return squares


def _search(Z: Array, share: float, rng: np.random.Generator) -> _Fits:
    """The most promising fits, from random and from deterministic starts, on few rows if there are many."""
    n = len(Z)
    if n <= _WHOLE:
        return _stepped(Z, _joined(_random(Z, _STARTS, rng, share), _deterministic(Z)), share, _STEPS)
    parts = min(_PARTS, n // _PART)
    few = Z[np.sort(rng.choice(n, parts * _PART, replace=False))]
    found = [_random(part, _STARTS // parts, rng, share) for part in np.split(few[rng.permutation(len(few))], parts)]
    return _stepped(few, _joined(*found, _deterministic(few)), share, _STEPS)


def _stepped(Z: Array, fits: _Fits, share: float, steps: int) -> _Fits:
    """The best fits after so many steps."""
    h = int(np.ceil(share * len(Z)))
    for _ in range(steps):
        fits = _Fits.of_rows(Z, fits.nearest(Z, h))
    return fits.best(_KEPT)


def _joined(*several: _Fits) -> _Fits:
    return _Fits(
        np.concatenate([fits.means for fits in several]),
        np.concatenate([fits.whiten for fits in several]),
        np.concatenate([fits.log_determinants for fits in several]),
    )


def _random(Z: Array, starts: int, rng: np.random.Generator, share: float) -> _Fits:
    """The best of many fits that begin with d + 1 rows, as few as span the space: the likeliest to hold no outlier."""
    n, d = Z.shape
    begun = _Fits.of_rows(Z, np.argpartition(rng.random((starts, n)), d, axis=1)[:, : d + 1])
    return _stepped(Z, begun, share, 1)


def _deterministic(Z: Array) -> _Fits:
    """Three cheap robust fits: where more than a few columns are contaminated, no random one of d + 1 rows is clean."""
    n = len(Z)
    length = np.linalg.norm(Z, axis=1)
    signs = Z / np.maximum(length, 1e-300)[:, None]
    ranks = np.argsort(np.argsort(Z, axis=0, kind="stable"), axis=0, kind="stable")
    scores = ndtri((ranks + 2.0 / 3.0) / (n + 1.0 / 3.0))
    central = Z[np.argsort(length, kind="stable")[: (n + 1) // 2]]
    central = central - central.mean(axis=0)
    means, covariances = [], []
    for shape in (signs.T @ signs, scores.T @ scores, central.T @ central):
        axes = np.linalg.eigh(shape)[1]
        along = Z @ axes
        centre = np.median(along, axis=0)
        means.append(axes @ centre)
        covariances.append((axes * robust_spread(along - centre) ** 2) @ axes.T)
    return _Fits.of(np.array(means), np.array(covariances))


def _settled(Z: Array, fits: _Fits, h: int) -> tuple[Indices, Array]:
    """The best fit on all rows after as many steps as change anything, and its log determinants on the way."""
    # beyond a few thousand rows the parts have told the fits apart already
    fits = fits.best(_KEPT if len(Z) <= 5000 else 2)
    first = fits.nearest(Z, h)
    begun = _Fits.of_rows(Z, first)
    ends = [_descended(Z, begun[np.array([i])], first[i], h) for i in range(len(first))]
    return min(ends, key=lambda end: float(end[1][-1]))


def _descended(Z: Array, fit: _Fits, chosen: Indices, h: int) -> tuple[Indices, Array]:
    descent = [float(fit.log_determinants[0])]
    while True:
        following = fit.nearest(Z, h)
        fit = _Fits.of_rows(Z, following)
        if not fit.log_determinants[0] < descent[-1] - 1e-12 * max(1.0, abs(descent[-1])):
            return chosen, np.array(descent)
        chosen = following[0]
        descent.append(float(fit.log_determinants[0]))


def consistency(share: float, d: int) -> float:
    """What to multiply the covariance of the most central share of normal rows by.

    >>> round(consistency(0.5, 1), 4)
    7.0101
    """
    if share >= 1.0:
        return 1.0
    radius = float(gammaincinv(d / 2.0, share))
    return float(share / gammainc(d / 2.0 + 1.0, radius))


# Pison, Van Aelst & Willems (Metrika 55, 2002), for h / n of 0.5 and 0.875. The covariance is too small by 1 - a / n^b:
# (log a, b) for one and for two columns; for more, 1 - A / d^B at n = 2 d^2 and at n = 3 d^2.
_ONE_OR_TWO = {
    1: ((0.262024211897096, 0.604756680630497), (-0.351584646688712, 1.01646567502486)),
    2: ((0.673292623522027, 0.691365864961895), (0.446537815635445, 1.06690782995919)),
}
_MORE = (
    ((1.42764571687802, 1.26263336932151), (1.06141115981725, 1.28907991440387)),
    ((0.455179464070565, 1.11192541278794), (0.294241208320834, 1.09649329149811)),
)


def few_rows(n: int, d: int, share: float) -> float:
    """What else to multiply the covariance of the share of rows of smallest determinant by, by simulations of others.

    >>> round(few_rows(50, 5, 0.56), 2)
    1.2
    """
    half, most = (1.0 - _too_small(n, d, i) for i in (0, 1))
    if share <= 0.875:
        size = half + (most - half) * (share - 0.5) / 0.375
    else:
        size = most + (1.0 - most) * (share - 0.875) / 0.125
    return 1.0 / size


def _too_small(n: int, d: int, which: int) -> float:
    if d in _ONE_OR_TWO:
        log_a, b = _ONE_OR_TWO[d][which]
        return float(np.exp(log_a - b * np.log(n)))
    at_two, at_three = (np.log(A) - B * np.log(d) for A, B in _MORE[which])
    slope = (at_two - at_three) / np.log(3.0 / 2.0)
    return float(np.exp(at_two - slope * np.log(n / (2.0 * d**2))))


def degrees_of_freedom(n: int, d: int, h: int) -> float:
    """Of the Wishart matrix that varies as the covariance of the h chosen rows does.

    >>> round(degrees_of_freedom(1000, 20, 510))
    312
    """
    if h == n:
        return n - 1.0
    share = h / n
    bend = (12.745653 - 14.545559 * share + 0.127400 * d) / n ** (0.559217 + 0.149040 * share)
    return _asymptotic(n, d, h) * float(np.exp(bend))


def _asymptotic(n: int, d: int, h: int) -> float:
    kept = h / n
    q = 2.0 * float(gammaincinv(d / 2.0, kept))
    c = consistency(kept, d)
    c2, c3 = (-float(gammainc(d / 2.0 + k, q / 2.0)) / 2.0 for k in (1, 2))
    b1 = -2.0 * c * c3 / kept
    b2 = 0.5 + c / kept * (c3 - q / d * (c2 + kept / 2.0))
    v1 = kept * b1**2 * ((1.0 - kept) * (c * q / d - 1.0) ** 2 - 1.0)
    v1 -= 2.0 * c3 * c**2 * (3.0 * (b1 - d * b2) ** 2 + (d + 2.0) * b2 * (2.0 * b1 - d * b2))
    v2 = n * (b1 * (b1 - d * b2) * kept) ** 2 * c**2
    return 2.0 * v2 / (c**2 * v1)


def cut(n: int, d: int, h: int, level: float) -> float:
    """The squared distance, by the consistent covariance of h chosen rows, that a normal row exceeds with this chance.

    >>> round(cut(100_000, 2, 50_001, 0.025), 2)
    7.38
    """
    m = max(degrees_of_freedom(n, d, h), d + 1.0)
    g = m - d + 1.0
    rest = float(betaincinv(g / 2.0, d / 2.0, level))
    return m * (1.0 - rest) / rest


BULK = 0.975  # share of clean rows that counts as bulk
_FLAT = 1e-12
_OFF = 1e-7  # distance from a plane, in spreads of the columns, that rounding may leave


@dataclass(frozen=True, slots=True, eq=False)
class CentralRows:
    """The bulk of a table.

    Attributes:
        bulk: (n,) whether each row belongs to it.
        dimension: of the space in which rows were judged: d, or that of a plane on which most rows lie exactly.
        on_plane: how many rows lie on that plane, 0 if there is none.
        descent: (k,) log determinants of the covariance in the course of the search's last fit: never rising.
    """

    bulk: NDArray[np.bool_]
    dimension: int
    on_plane: int
    descent: Array


def central_rows(X: Array, h: int, seed: int = 0) -> CentralRows:
    """Find the bulk of (n, d) rows, of which at least h are clean.

    The rows of smallest covariance determinant are found, and then all that are no farther out, by their covariance,
    than 97.5% of normal rows are. Where h rows or more lie on a plane, those off it do not belong, and the others are
    judged within it.

    Args:
        X: (n, d) rows, no column constant.
        h: between (n + d + 1) // 2 and n.
        seed: of random starts.

    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> X[:9] += 30.0
    >>> int(central_rows(X, 30).bulk[:9].sum())
    0

    References:
        Rousseeuw & Van Driessen, Technometrics 41, 1999; Cerioli, Journal of the American Statistical Association 105,
        2010.
    """
    n, d = X.shape
    found = mcd(X, h, seed=seed)
    S = found.covariance / found.scale / found.scale[:, None]
    values, axes = np.linalg.eigh(S)
    kept = values > _FLAT * max(float(values[-1]), 1.0)
    Z = (X - found.location) / found.scale
    if kept.all():
        along = Z @ (axes / np.sqrt(values))
        size = consistency(h / n, d) * few_rows(n, d, h / n)
        squares = np.einsum("ij,ij->i", along, along) / size
        return CentralRows(squares <= cut(n, d, h, 1.0 - BULK), d, 0, found.descent)
    off = np.linalg.norm(Z @ axes[:, ~kept], axis=1)
    on = off <= _OFF * (1.0 + np.linalg.norm(Z, axis=1))
    r = int(kept.sum())
    if r == 0:
        return CentralRows(on, 0, int(on.sum()), found.descent)
    within = Z[on] @ axes[:, kept]
    inner = central_rows(within, max(h, majority(len(within), r)), seed)
    bulk = on.copy()
    bulk[on] = inner.bulk
    return CentralRows(bulk, inner.dimension, int(on.sum()), found.descent)
