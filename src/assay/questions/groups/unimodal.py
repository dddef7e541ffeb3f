"""Tables without groups that are otherwise like one at hand: the same correlations, margins with a single peak.

margins       the nearest density that rises to one peak and then falls (least squares), at the old variance; it takes
              from a margin no more than its further peaks, so that a flat one stays flat
correlations  those of the data, cleaned by the spectrum law: components above chance de-biased, the rest noise of the
              columns. The raw matrix would count its noise twice: draws from it have larger components than the data
draws         normal scores with these correlations, carried to the margins: a Gaussian copula

Reference: Liu, Hayes, Nobel, Marron, JASA 103 (2008), who test clusters against one normal group; Hartigan and
Hartigan, Annals of Statistics 13 (1985), for the nearest unimodal law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import ndtr

from assay.arrays import Array
from assay.linalg.noise.random_matrix import real_components

_GRID = 512  # places at which a margin is known
_REACH = 5.0  # normal scores beyond are as rare as one in three million
_STEPS = 401  # places at which normal scores are carried to a margin
_FACTORED = 200  # up to so many columns each has its own noise; beyond, their noise is taken as equal
_ROUNDS, _LEAST_OWN = 30, 0.005
_AT_ONCE = 256  # columns
_PEAK, _SHAPE = 0.9, 0.27  # bandwidths, times n^(-1/5): to find the highest peak, and to keep what surrounds it


@dataclass(frozen=True, slots=True, eq=False)
class Unimodal:
    """A law of rows without groups.

    Attributes:
        axes: (d, k) directions of the components above chance, each times the root of its variance beyond the noise.
        noise: (d,) standard deviation of each column's own part.
        quantiles: (401, d) value of each column at normal scores from -5 to 5.
        moved: (d,) share of each margin that had to be moved to leave a single peak.
    """

    axes: Array
    noise: Array
    quantiles: Array
    moved: Array

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """(n, d) rows."""
        d, k = self.axes.shape
        scores = rng.standard_normal((n, k)) @ self.axes.T
        scores += rng.standard_normal((n, d)) * self.noise
        for start in range(0, d, _AT_ONCE):  # some columns at a time, whose quantiles stay in the cache
            some = slice(start, start + _AT_ONCE)
            scores[:, some] = _values(scores[:, some], np.ascontiguousarray(self.quantiles[:, some]))
        return scores


def _values(scores: Array, quantiles: Array) -> Array:
    """(n, c) the values at normal scores, between those of (401, c) quantiles."""
    place = (np.clip(scores, -_REACH, _REACH) + _REACH) * ((_STEPS - 1) / (2 * _REACH))
    below = np.minimum(place.astype(np.intp), _STEPS - 2)
    part, columns = place - below, np.arange(scores.shape[1])
    low, high = quantiles[below, columns], quantiles[below + 1, columns]
    return np.asarray(low + part * (high - low))


def unimodal(Z: Array) -> Unimodal:
    """The law of rows like these, (n, d) of mean 0 and variance 1, if there were no groups among them.

    >>> rng = np.random.default_rng(0)
    >>> two = np.concatenate([rng.normal(-3, 1, (100, 1)), rng.normal(3, 1, (100, 1))])
    >>> law = unimodal(np.hstack([two / two.std(), rng.standard_normal((200, 1))]))
    >>> bool(law.moved[0] > 3 * law.moved[1])
    True
    """
    return Unimodal(*_correlations(Z), *_margins(Z))


def second_peak(Z: Array) -> NDArray[np.bool_]:
    """(d,) which columns of unit variance have more than one peak, beyond what chance makes of one.

    A sample of one peak has to be moved by some 0.02 + 0.25 / sqrt(n) of its mass, of any smooth law.

    >>> rng = np.random.default_rng(0)
    >>> two = np.where(rng.random(300) < 0.3, 5.0, 0.0) + rng.standard_normal(300)
    >>> second_peak(np.column_stack([two / two.std(), rng.standard_normal(300)]))
    array([ True, False])
    """
    return np.asarray(_margins(Z)[1] > 0.035 + 0.35 / np.sqrt(len(Z)))


def peaks(x: Array, k: int, least: float = 0.02) -> Array | None:
    """(k - 1,) where to cut values so that each part has one peak; None where no bandwidth shows k of them.

    Values are smoothed ever less, as long as there are no more than k peaks with enough rows; the cuts are the lowest
    places between.

    Args:
        x: (n,).
        k: how many peaks.
        least: share of the values that makes a peak, at least 5 of them.

    >>> rng = np.random.default_rng(0)
    >>> peaks(np.concatenate([rng.normal(0, 1, 100), rng.normal(8, 1, 50)]), 2).round(0)
    array([4.])
    """
    n, scale = len(x), float(x.std())
    if scale == 0.0:
        return None
    low = x.min() - scale
    step = (x.max() + scale - low) / (_GRID - 1)
    counts = _binned(x[:, None], np.array([low]), np.array([step]))
    needed = max(5, int(np.ceil(least * n)))
    ordered, found = np.sort(x), None
    for density in _smoothed(counts, scale * np.geomspace(1.0, 0.5 * n**-0.2, 16) / step).T:
        lows = low + step * (1 + np.flatnonzero((density[1:-1] < density[:-2]) & (density[1:-1] <= density[2:])))
        cuts = _large(lows, ordered, needed)
        if len(cuts) >= k:
            break
        if len(cuts) == k - 1:
            found = cuts
    return found


def _large(cuts: Array, ordered: Array, needed: int) -> Array:
    """The cuts that leave enough values in every part; of a part with too few, the cut on its right goes."""
    kept: list[float] = []
    start = 0
    for cut in cuts:
        place = int(np.searchsorted(ordered, cut))
        if place - start >= needed and len(ordered) - place >= needed:
            kept.append(float(cut))
            start = place
    return np.array(kept)


def _correlations(Z: Array) -> tuple[Array, Array]:
    """Factors of the cleaned correlation: axes axes^T + noise^2, of unit diagonal."""
    n, d = Z.shape
    scores = (Z - Z.mean(axis=0)) / Z.std(axis=0, ddof=1)
    if d == 1:
        return np.zeros((1, 0)), np.ones(1)
    _, singular, right = np.linalg.svd(scores / np.sqrt(n - 1), full_matrices=False)
    kept = min(n - 1, d)
    values, vectors = singular[:kept] ** 2, right[:kept].T
    law = real_components(values, n, d, vectors=vectors)
    k = law.n_real
    beyond = np.maximum(law.debiased[:k] - law.noise, 0.0)
    if d <= _FACTORED:
        axes = _factors(scores.T @ scores / (n - 1), k, law.noise)
        axes *= np.sqrt(beyond / np.maximum(values[:k] - law.noise, np.finfo(float).tiny))
    else:
        axes = vectors[:, :k] * np.sqrt(beyond)
    common = (axes**2).sum(axis=1)
    axes /= np.sqrt(np.maximum(common, 1.0))[:, None]  # a column cannot share more than all of its variance
    return axes, np.sqrt(np.maximum(1.0 - common, 0.0))


def _factors(R: Array, k: int, noise: float) -> Array:
    """(d, k) what columns share, each keeping a part of its own: R is axes axes^T off its diagonal (principal factors).

    Of two columns that go together among many that do not, flat noise would lose half.
    """
    d = len(R)
    own = np.full(d, noise)
    axes = np.zeros((d, k))
    for _ in range(_ROUNDS if k else 0):
        values, vectors = np.linalg.eigh(R - np.diag(own))
        axes = vectors[:, ::-1][:, :k] * np.sqrt(np.maximum(values[::-1][:k], 0.0))
        own = np.clip(1.0 - (axes**2).sum(axis=1), _LEAST_OWN, 1.0)
    return axes


def _margins(Z: Array) -> tuple[Array, Array]:
    """Quantiles of every column after its further peaks are taken down, and the share that this moved."""
    n, d = Z.shape
    wide, narrow = _PEAK * n**-0.2, _SHAPE * n**-0.2
    low = Z.min(axis=0) - 3 * wide
    step = (Z.max(axis=0) + 3 * wide - low) / (_GRID - 1)
    counts = _binned(Z, low, step)
    peaks = _smoothed(counts, wide / step).argmax(axis=0)
    density = _smoothed(counts, narrow / step)
    levels = ndtr(np.linspace(-_REACH, _REACH, _STEPS))
    quantiles, moved = np.empty((_STEPS, d)), np.empty(d)
    for j, peak in enumerate(peaks):
        single = _one_peak(density[:, j], int(peak))
        moved[j] = np.abs(single - density[:, j]).sum() / 2
        below = np.cumsum(single) - single / 2
        places = low[j] + step[j] * np.arange(_GRID)
        mean = np.average(places, weights=single)
        spread = np.sqrt(np.average((places - mean) ** 2, weights=single))
        quantiles[:, j] = (np.interp(levels, below, places) - mean) / spread
    return quantiles, moved


def _one_peak(density: Array, peak: int) -> Array:
    """The nearest shares that rise up to the peak and fall from there."""
    rising = isotonic_regression(density[: peak + 1]).x
    falling = isotonic_regression(density[peak:], increasing=False).x
    # both sides contain the peak; either may have lowered it to fit its own neighbours
    single = np.concatenate([rising[:-1], [max(rising[-1], falling[0])], falling[1:]])
    return np.asarray(single / single.sum())


def _smoothed(counts: Array, bandwidths: Array) -> Array:
    """(512, d) shares after smoothing each column with a normal kernel, its bandwidth in steps of the grid."""
    spectrum = np.fft.rfft(counts, 2 * _GRID, axis=0)
    waves = np.arange(len(spectrum))[:, None] * (np.pi / _GRID)
    smooth = np.fft.irfft(spectrum * np.exp(-0.5 * (waves * bandwidths) ** 2), axis=0)[:_GRID]
    smooth = np.maximum(smooth, 0.0)
    return np.asarray(smooth / smooth.sum(axis=0))


def _binned(Z: Array, low: Array, step: Array) -> Array:
    """(512, d) how many values of each column are near each place of its grid, each shared between two."""
    n, d = Z.shape
    place = (Z - low) / step
    below = np.minimum(place.astype(np.intp), _GRID - 2)
    part = place - below
    flat = below * d + np.arange(d)
    counts = np.bincount(flat.ravel(), (1 - part).ravel(), minlength=_GRID * d)
    counts += np.bincount((flat + d).ravel(), part.ravel(), minlength=_GRID * d)
    return np.asarray(counts.reshape(_GRID, d) / n)
