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
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import airy

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
    for lower, upper, fit in _pieces(_checked(beta)):
        inside = (points >= lower) & (points <= upper)
        if inside.any():
            value = fit(points[inside])
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
    for lower, upper, fit in _pieces(_checked(beta)):
        inside = (points >= lower) & (points <= upper)
        if upper <= _SWITCH and inside.any():
            low[inside] = np.clip(fit(points[inside]), 0.0, 1.0)
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
    if p <= tracy_widom_cdf(_LOWEST, beta):
        return -np.inf
    if p >= 1.0:
        return np.inf
    if p < 0.5:
        return float(brentq(lambda s: tracy_widom_cdf(s, beta) - p, _LOWEST, 2.0, xtol=1e-13))
    return float(brentq(lambda s: (1.0 - p) - tracy_widom_sf(s, beta), -4.0, 20.0, xtol=1e-13))


def _checked(beta: int) -> int:
    if beta not in (1, 2):
        raise ParameterError(f"beta must be 1 (real data) or 2 (complex data), got {beta}")
    return beta


@lru_cache(maxsize=2)
def _pieces(beta: int) -> tuple[tuple[float, float, Chebyshev], ...]:
    """Chebyshev fits: of F below the switch, of log(1 - F) above it."""
    fits = []
    for lower, upper in pairwise(_BREAKS[beta]):

        def target(s: Array, tail: bool = lower >= _SWITCH) -> Array:
            log_cdf = _log_cdf(s, beta)
            return np.log(-np.expm1(log_cdf)) if tail else np.exp(log_cdf)

        fits.append((lower, upper, Chebyshev.interpolate(target, _DEGREE, domain=(lower, upper))))
    return tuple(fits)


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
