"""What chance does to a spectrum: the Marchenko-Pastur bulk, and spikes that stand out of it.

    n rows, d columns of pure noise of variance sigma^2, gamma = d / n:
        the sample eigenvalues fill sigma^2 [(1 - sqrt(gamma))^2, (1 + sqrt(gamma))^2], and 0 when gamma > 1
    one direction v with more variance, population covariance sigma^2 (I + b v v'):
        b <= sqrt(gamma)   the top eigenvalue stays at the edge of the bulk, its direction is noise
        b >  sqrt(gamma)   it goes to sigma^2 (1 + b)(1 + gamma / b), its direction to a squared cosine with v of
                           (1 - gamma / b^2) / (1 + gamma / b)

References:
    Marchenko and Pastur, Math. USSR-Sbornik 1 (1967). Baik, Ben Arous and Peche, Ann. Probab. 33 (2005).
    Paul, Asymptotics of sample eigenstructure for a large dimensional spiked covariance model, Stat. Sinica 17 (2007).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import ParameterError

__all__ = ["MarchenkoPastur", "debias", "marchenko_pastur", "spike_alignment", "spike_eigenvalue"]


@dataclass(frozen=True, slots=True)
class MarchenkoPastur:
    """The law of the sample eigenvalues of pure noise.

    Attributes:
        gamma: columns per row, d / n.
        noise: variance of the noise, sigma^2.
        lower: the least eigenvalue of the bulk.
        upper: the largest.
        atom: share of the eigenvalues that are exactly 0 (more columns than rows).
    """

    gamma: float
    noise: float
    lower: float
    upper: float
    atom: float

    def density(self, x: ArrayLike) -> Any:
        """Density of the continuous part at x, of the shape of `x`; it integrates to 1 - atom."""
        points = np.asarray(x, dtype=np.float64)
        inside = (points > max(self.lower, 0.0)) & (points < self.upper)
        at = np.where(inside, points, 1.0) / self.noise
        a, b = self.lower / self.noise, self.upper / self.noise
        root = np.sqrt(np.maximum((b - at) * (at - a), 0.0))
        values = np.where(inside, root / (2.0 * np.pi * self.gamma * at) / self.noise, 0.0)
        return values if values.ndim else float(values)

    def cdf(self, x: ArrayLike) -> Any:
        """Share of the eigenvalues up to x, the atom at 0 included; of the shape of `x`."""
        points = np.asarray(x, dtype=np.float64)
        q, scale = self._shape()
        middle = (points / self.noise / scale - 1.0 - q * q) / (2.0 * q)
        theta = np.arccos(np.clip(-middle, -1.0, 1.0))
        values = np.where(points < 0.0, 0.0, self.atom + (1.0 - self.atom) * _bulk_cdf(theta, q))
        return values if values.ndim else float(values)

    def quantile(self, p: ArrayLike) -> Any:
        """The eigenvalue below which a share p lies (0 within the atom); of the shape of `p`."""
        levels = np.asarray(p, dtype=np.float64)
        if not np.all((levels >= 0.0) & (levels <= 1.0)):
            raise ParameterError(f"p must be between 0 and 1, got {levels.tolist()}; give shares, not percentages")
        q, scale = self._shape()
        share = np.maximum(levels - self.atom, 0.0) / (1.0 - self.atom)
        low, high = np.zeros(levels.shape), np.full(levels.shape, np.pi)
        for _ in range(60):  # bisection in the angle: 2^-60 pi is below its rounding
            theta = 0.5 * (low + high)
            below = _bulk_cdf(theta, q) < share
            low, high = np.where(below, theta, low), np.where(below, high, theta)
        values = self.noise * scale * (1.0 + q * q - 2.0 * q * np.cos(0.5 * (low + high)))
        values = np.where((levels <= self.atom) & (self.atom > 0.0), 0.0, values)
        return values if values.ndim else float(values)

    def _shape(self) -> tuple[float, float]:
        """Root of the ratio and factor of the smaller side: X X' has the non-zero eigenvalues of X' X."""
        if self.gamma <= 1.0:
            return float(np.sqrt(self.gamma)), 1.0
        return float(1.0 / np.sqrt(self.gamma)), self.gamma


def marchenko_pastur(gamma: float, noise: float = 1.0) -> MarchenkoPastur:
    """Where the eigenvalues of pure noise lie.

    Args:
        gamma: columns per row, d / n (n - 1 for centred rows).
        noise: variance of the noise.

    Returns:
        The law, with its edges, its atom at 0, and methods `density`, `cdf` and `quantile`.

    >>> law = marchenko_pastur(0.5)
    >>> round(law.lower, 7), round(law.upper, 7), law.atom
    (0.0857864, 2.9142136, 0.0)
    """
    _check_gamma(gamma)
    _check_noise(noise)
    root = float(np.sqrt(gamma))
    atom = max(0.0, 1.0 - 1.0 / gamma)
    return MarchenkoPastur(float(gamma), float(noise), noise * (1.0 - root) ** 2, noise * (1.0 + root) ** 2, atom)


def spike_eigenvalue(b: ArrayLike, gamma: float) -> Any:
    """Where a direction of variance 1 + b shows up in the sample, in units of the noise.

    Args:
        b: excess variance of the direction over unit noise, >= 0, any shape.
        gamma: columns per row.

    Returns:
        (1 + b)(1 + gamma / b) above the threshold b > sqrt(gamma), the upper edge (1 + sqrt(gamma))^2 up to it.

    >>> round(spike_eigenvalue(1.5, 0.5), 4), round(spike_eigenvalue(0.5, 0.5), 4)
    (3.3333, 2.9142)
    """
    strength = np.maximum(_strengths(b, gamma), np.sqrt(gamma))  # at the threshold the formula is the edge
    values = np.asarray((1.0 + strength) * (1.0 + gamma / strength))
    return values if values.ndim else float(values)


def spike_alignment(b: ArrayLike, gamma: float) -> Any:
    """Expected squared cosine between the sample component and the true direction.

    Args:
        b: excess variance of the direction over unit noise, >= 0, any shape.
        gamma: columns per row.

    Returns:
        (1 - gamma / b^2) / (1 + gamma / b) above the threshold, 0 up to it.

    >>> round(spike_alignment(1.5, 0.5), 5), spike_alignment(0.5, 0.5)
    (0.58333, 0.0)
    """
    strength = np.maximum(_strengths(b, gamma), np.sqrt(gamma))
    values = np.asarray((1.0 - (np.sqrt(gamma) / strength) ** 2) / (1.0 + gamma / strength))
    return values if values.ndim else float(values)


def debias(value: ArrayLike, gamma: float, noise: float = 1.0) -> Any:
    """The excess variance b that shows up as a sample eigenvalue: the inverse of `spike_eigenvalue`.

    Args:
        value: sample eigenvalues, any shape.
        gamma: columns per row.
        noise: variance of the noise.

    Returns:
        b with noise * spike_eigenvalue(b, gamma) = value; 0 for values up to the edge, where b cannot be told.

    >>> round(debias(10 / 3, 0.5), 6)
    1.5
    """
    _check_gamma(gamma)
    _check_noise(noise)
    x = np.asarray(value, dtype=np.float64) / noise
    # x = (1 + b)(1 + gamma / b)  <=>  b^2 - (x - 1 - gamma) b + gamma = 0, larger root. The discriminant is
    # written as a product over the edges: no cancellation close to the edge.
    root = np.sqrt(gamma)
    half = 0.5 * (x - 1.0 - gamma)
    gap = np.maximum(x - (1.0 + root) ** 2, 0.0) * np.maximum(x - (1.0 - root) ** 2, 0.0)
    values = np.where(x > (1.0 + root) ** 2, half + 0.5 * np.sqrt(gap), 0.0)
    return values if values.ndim else float(values)


def _bulk_cdf(theta: Array, q: float) -> Array:
    """Share of the bulk below the angle theta, where x = 1 + q^2 - 2 q cos(theta) and q = sqrt(gamma) <= 1.

    The density in theta is (2 / pi) sin^2(theta) / (1 + q^2 - 2 q cos(theta)); its Fourier series sums to this.
    """
    if q < 1e-4:  # series in q: the closed form divides a difference of order q^2 by q^2
        bulk = theta - 0.5 * np.sin(2.0 * theta) + q * (np.sin(theta) - np.sin(3.0 * theta) / 3.0)
        bulk = bulk + q * q * (0.5 * np.sin(2.0 * theta) - 0.25 * np.sin(4.0 * theta))
    else:
        sine = q * np.sin(theta)
        angle = np.arctan2(sine, 1.0 - q * np.cos(theta))
        bulk = theta + sine - (1.0 - q * q) / (q * q) * (angle - sine)
    return np.asarray(np.clip(bulk / np.pi, 0.0, 1.0))


def _strengths(b: ArrayLike, gamma: float) -> Array:
    _check_gamma(gamma)
    strength = np.asarray(b, dtype=np.float64)
    if not np.all(strength >= 0.0):
        raise ParameterError(f"b, the excess variance of a spike, must be 0 or more, got {strength.tolist()}")
    return strength


def _check_gamma(gamma: float) -> None:
    if not (np.isfinite(gamma) and gamma > 0):
        raise ParameterError(f"gamma, columns per row, must be positive and finite, got {gamma}")


def _check_noise(noise: float) -> None:
    if not (np.isfinite(noise) and noise > 0):
        raise ParameterError(f"noise, a variance, must be positive and finite, got {noise}")
