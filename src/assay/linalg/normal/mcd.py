"""Minimum covariance determinant: the h of n rows whose covariance has the smallest determinant.

    fit      m, S of h rows                      step     the h rows nearest to m by S are the next h rows

A step never raises det S (Rousseeuw & Van Driessen 1999, theorem 1). Many starts take one step each, the best of them
five more, and the best of these go on until nothing changes; tables above 600 rows are searched in parts first. A tiny
fixed ridge keeps every determinant positive without breaking the theorem (Boudt et al. 2020), so that h rows on a plane
are found, not fatal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from assay.arrays import Array, Indices
from assay.errors import DataError, ParameterError
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
    scale = _spread(rows - middle)
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
        covariances.append((axes * _spread(along - centre) ** 2) @ axes.T)
    return _Fits.of(np.array(means), np.array(covariances))


def _spread(centred: Array) -> Array:
    """Median absolute value of each column; where more than half are zero, the mean absolute value."""
    size = np.abs(centred)
    median = np.median(size, axis=0)
    return np.asarray(np.where(median > 0.0, 1.4826 * median, 1.2533 * size.mean(axis=0)))


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
