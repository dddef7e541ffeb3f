"""Tracy-Widom laws: where the largest eigenvalue of pure noise falls, centred and scaled.

    beta = 1 (real data)     F1(s) = det(I - B_s)
    beta = 2 (complex data)  F2(s) = det(I - B_s^2)      B_s(x, y) = Ai(x + y + s) on L2(0, inf)

The Fredholm determinants are those of the matrix sqrt(w_i) B_s(x_i, x_j) sqrt(w_j) at Gauss-Legendre nodes, which
converges exponentially. The eigenvalues mu of that matrix give 1 - F = -expm1(sum log1p(-mu)), so the upper tail keeps
its relative accuracy down to 1e-290 (beyond, it is 0). The first call fits Chebyshev pieces to the determinant; later
calls cost a polynomial each.

References:
    Ferrari and Spohn, A determinantal formula for the GOE Tracy-Widom distribution, J. Phys. A 38 (2005).
    Bornemann, On the numerical evaluation of distributions in random matrix theory, Markov Process. Relat. Fields 16
    (2010).

The top eigenvalue of white noise, when the noise level has to be read off the same spectrum:

    W ~ Wishart(nu, I_d) / nu      l = its top eigenvalue, t = trace / d, u = l / t
    centre = (sqrt(nu - 1/2) + sqrt(d - 1/2))^2 / nu
    scale  = (sqrt(nu - 1/2) + sqrt(d - 1/2)) (1 / sqrt(nu - 1/2) + 1 / sqrt(d - 1/2))^(1/3) / nu
    (l - centre) / scale           follows Tracy-Widom's F1 (Ma's constants, of second order)

The noise level is not known but read off as t, which takes spread away: u and t are independent and t has variance
2 / (nu d), so E u^2 = E l^2 / (1 + 2 / (nu d)). In a correlation matrix R the diagonal is fixed too: the covariance is
D^(1/2) R D^(1/2) with D independent of R, and second-order perturbation in D tells how much lower the top eigenvalue of
R lies, see `_hollow_shift`. F1 is used with these moments. In two dimensions the law is exact.

References:
    Johnstone, On the distribution of the largest eigenvalue in principal components analysis, Ann. Stat. 29 (2001).
    Ma, Accuracy of the Tracy-Widom limits for the extreme eigenvalues in white Wishart matrices, Bernoulli 18 (2012).
    Nadler, On the distribution of the ratio of the largest eigenvalue to the trace of a Wishart matrix,
    J. Multivar. Anal. 102 (2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import airy, betainc, betaincinv

from assay.arrays import Array
from assay.errors import ParameterError

__all__ = ["tracy_widom_cdf", "tracy_widom_quantile", "tracy_widom_sf"]


# Mean and variance of F1 (Bornemann 2010): for matching a TW shape to a known mean and spread.
TW1_MEAN = -1.2065335745820
TW1_VARIANCE = 1.607781034581

_LOWEST = -10.0  # F(-10) < 1e-18
_SWITCH = -2.0  # below, the cdf is interpolated; above, the logarithm of the tail
_BREAKS = {1: (-10.0, -6.0, -2.0, 2.0, 8.0, 30.0, 100.0), 2: (-10.0, -6.0, -2.0, 2.0, 8.0, 20.0, 60.0)}
_DEGREE, _NODES = 24, 40


def tracy_widom_sf(x: ArrayLike, beta: int = 1) -> Any:
    """How often pure noise has a larger top eigenvalue: 1 - F(x).

    Args:
        x: points, any shape (the top eigenvalue minus its centre, over its scale).
        beta: 1 for real data, 2 for complex data.

    Returns:
        The upper tail, of the shape of `x` (a float for a number); NaN stays NaN. Relative error below 1e-10.

    >>> round(tracy_widom_sf(0.9793), 4)
    0.05
    """
    points = np.asarray(x, dtype=np.float64)
    tail = np.where(points < _LOWEST, 1.0, 0.0)
    for lower, upper in pairwise(_BREAKS[_checked(beta)]):
        inside = (points >= lower) & (points <= upper)
        if inside.any():
            value = _fit(lower, upper, beta)(points[inside])
            tail[inside] = np.exp(value) if lower >= _SWITCH else 1.0 - value
    tail = np.where(np.isnan(points), np.nan, np.clip(tail, 0.0, 1.0))
    return tail if tail.ndim else float(tail)


def tracy_widom_cdf(x: ArrayLike, beta: int = 1) -> Any:
    """How often pure noise has a top eigenvalue up to x: F(x).

    Args:
        x: points, any shape.
        beta: 1 for real data, 2 for complex data.

    Returns:
        F at the points, of the shape of `x`. Absolute error below 1e-12.

    >>> round(tracy_widom_cdf(2.0234), 4)
    0.99
    """
    points = np.asarray(x, dtype=np.float64)
    low = np.where(points < _LOWEST, 0.0, 1.0 - np.asarray(tracy_widom_sf(points, beta)))
    for lower, upper in pairwise(_BREAKS[_checked(beta)]):
        inside = (points >= lower) & (points <= upper)
        if upper <= _SWITCH and inside.any():
            low[inside] = np.clip(_fit(lower, upper, beta)(points[inside]), 0.0, 1.0)
    return low if low.ndim else float(low)


def tracy_widom_quantile(p: ArrayLike, beta: int = 1) -> Any:
    """The point that pure noise stays below with probability p: the inverse of F.

    Args:
        p: probabilities in [0, 1], any shape.
        beta: 1 for real data, 2 for complex data.

    Returns:
        Quantiles, of the shape of `p`; -inf at 0 and inf at 1.

    >>> round(tracy_widom_quantile(0.95), 4)
    0.9793
    """
    levels = np.asarray(p, dtype=np.float64)
    if not np.all((levels >= 0.0) & (levels <= 1.0)):
        raise ParameterError(f"p must be between 0 and 1, got {levels.tolist()}; give probabilities, not percentages")
    _checked(beta)
    quantiles = np.array([_quantile(float(level), beta) for level in levels.ravel()]).reshape(levels.shape)
    return quantiles if quantiles.ndim else float(quantiles)


@lru_cache(maxsize=1024)
def _quantile(p: float, beta: int) -> float:
    if p >= 1.0:
        return np.inf
    if p < 0.5:
        if p <= tracy_widom_cdf(_LOWEST, beta):
            return -np.inf
        return float(brentq(lambda s: tracy_widom_cdf(s, beta) - p, _LOWEST, 2.0, xtol=1e-13))
    return float(brentq(lambda s: (1.0 - p) - tracy_widom_sf(s, beta), -4.0, 20.0, xtol=1e-13))


def _checked(beta: int) -> int:
    if beta not in (1, 2):
        raise ParameterError(f"beta must be 1 (real data) or 2 (complex data), got {beta}")
    return beta


@cache
def _fit(lower: float, upper: float, beta: int) -> Chebyshev:
    """A Chebyshev fit between two breaks, made when it is used: of F below the switch, of log(1 - F) above it."""

    def target(s: Array) -> Array:
        log_cdf = _log_cdf(s, beta)
        return np.log(-np.expm1(log_cdf)) if lower >= _SWITCH else np.exp(log_cdf)

    return Chebyshev.interpolate(target, _DEGREE, domain=(lower, upper))


def _log_cdf(s: Array, beta: int) -> Array:
    """Log F at the points s, (m,), by the determinant itself."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    i, j = np.triu_indices(_NODES)
    result = np.empty(len(s))
    for at, point in enumerate(s):
        # Ai(t) ~ exp(-2/3 t^1.5): 60 more in t^1.5 leave exp(-40) of the kernel beyond the end.
        length = ((max(point, 0.0) ** 1.5 + 60.0) ** (2.0 / 3.0) - point) / 2.0
        x = 0.5 * length * (nodes + 1.0)
        root = np.sqrt(0.5 * length * weights)
        kernel = np.zeros((_NODES, _NODES))
        kernel[j, i] = airy(x[i] + x[j] + point)[0] * root[i] * root[j]
        mu = np.linalg.eigvalsh(kernel, UPLO="L")
        mu = mu if beta == 1 else mu * mu
        # Far below the mean the largest mu rounds to 1: F is then 0 to working accuracy.
        result[at] = np.log1p(-np.minimum(mu, 1.0 - 2.0**-53)).sum()
    return result


@dataclass(frozen=True, slots=True)
class WhiteNoise:
    """Noise of equal variance in every direction.

    Attributes:
        scale: its variance.
        rows: degrees of freedom, nu.
        columns: dimensions, d; not always a whole number (see `column_noise.matching_flat_noise`).
        hollow: whether the variance of each column is given, as in a correlation matrix, and not only their mean.
    """

    scale: float
    rows: float
    columns: float
    hollow: bool


def top_tail(u: Array, noise: WhiteNoise) -> Array:
    """Chance that the top eigenvalue of the noise, in units of its scale, is u or more."""
    if _is_planar(noise):
        share = np.clip(u / noise.columns, 0.5, 1.0)
        return np.asarray(betainc(*_planar_shape(noise), np.clip(4.0 * share * (1.0 - share), 0.0, 1.0)))
    mean, sd = _top_moments(noise)
    return np.asarray(tracy_widom_sf(TW1_MEAN + np.sqrt(TW1_VARIANCE) * (u - mean) / sd))


def top_quantile(level: float, noise: WhiteNoise) -> float:
    """The u that the top eigenvalue of the noise exceeds with probability level."""
    if _is_planar(noise):
        w = float(betaincinv(*_planar_shape(noise), level))
        return 0.5 * noise.columns * (1.0 + float(np.sqrt(1.0 - w)))
    mean, sd = _top_moments(noise)
    return float(mean + sd * (tracy_widom_quantile(1.0 - level) - TW1_MEAN) / np.sqrt(TW1_VARIANCE))


def _is_planar(noise: WhiteNoise) -> bool:
    return noise.columns == 2 or (noise.rows == 2 and not noise.hollow)


def _planar_shape(noise: WhiteNoise) -> tuple[float, float]:
    """4 l_1 l_2 / (l_1 + l_2)^2 of two dimensions of noise follows Beta(a, b); for a correlation it is 1 - r^2."""
    fixed = noise.hollow and noise.columns == 2
    return (max(noise.rows, noise.columns) - 1.0) / 2.0, 0.5 if fixed else 1.0


def _top_moments(noise: WhiteNoise) -> tuple[float, float]:
    """Mean and standard deviation of u, the top eigenvalue over the mean eigenvalue."""
    nu, d = noise.rows, max(noise.columns, 1.0)
    a, b = float(np.sqrt(nu - 0.5)), float(np.sqrt(d - 0.5))
    scale = (a + b) * (1.0 / a + 1.0 / b) ** (1.0 / 3.0) / nu
    mean, variance = (a + b) ** 2 / nu + scale * TW1_MEAN, scale**2 * TW1_VARIANCE
    square = mean**2 + variance
    if min(nu, d) >= 3.0:  # below, u has too little freedom for two moments: the wider law stays
        variance = square / (1.0 + 2.0 / (nu * d)) - mean**2
    if noise.hollow:
        mean -= _hollow_shift(mean, square, nu, d)
    return mean, float(np.sqrt(variance))


def _hollow_shift(mean: float, square: float, nu: float, d: float) -> float:
    """How much lower the top eigenvalue of R lies than that of S = D^(1/2) R D^(1/2), on average.

    With D = (1 + delta)^2, E delta = -1/(4 nu) and Var delta = 1/(2 nu):
        E l(S) - E l(R) = (1 - E l) / (2 nu) + sum_j E (l + l_j)^2 / (l - l_j) / (2 nu (d + 2)).
    Integrating the Wishart density by parts gives the sum as 2 nu E l^2 - (2 nu + d + 2) E l - d, whichever of
    nu and d is the larger.
    """
    repulsion = 2.0 * nu * square - (2.0 * nu + d + 2.0) * mean - d
    return (1.0 - mean) / (2.0 * nu) + repulsion / (2.0 * nu * (d + 2.0))
