"""The top eigenvalue of white noise: its law when the noise level has to be read off the same spectrum.

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

import numpy as np
from scipy.special import betainc, betaincinv

from assay.arrays import Array
from assay.linalg.noise.tracy_widom import TW1_MEAN, TW1_VARIANCE, tracy_widom_quantile, tracy_widom_sf

__all__ = ["WhiteNoise", "top_quantile", "top_tail"]


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
