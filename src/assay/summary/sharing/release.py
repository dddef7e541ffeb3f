"""What is known of the noise in a summary that was released under differential privacy.

With u = (x - c) / h in [-1, 1]^d, c and h from bounds that were given, the sums N of 1, S of u and Q of u u^T were
released with noise of standard deviation sigma in each entry of each part. About the mean m, in the units of x and with
t = m - c, the scatter is off by

    E_ij = h_i h_j e_Q,ij - h_i e_S,i t_j - h_j e_S,j t_i + e_N t_i t_j

to first order, independently for every part and every release: variances add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array


@dataclass(frozen=True, slots=True)
class Release:
    """One release of sums with noise.

    Attributes:
        epsilon, delta: what it cost each person whose row was in it or not.
        sigma: standard deviation of the noise in each sum, in units in which a row adds at most 1 to each.
        low, high: (d,) bounds to which values were clipped.
        parts: how many parts, each with noise of its own.
    """

    epsilon: float
    delta: float
    sigma: float
    low: tuple[float, ...]
    high: tuple[float, ...]
    parts: int

    @property
    def centre(self) -> Array:
        """(d,) c."""
        return np.asarray((np.array(self.low) + np.array(self.high)) / 2.0)

    @property
    def half(self) -> Array:
        """(d,) h."""
        return np.asarray((np.array(self.high) - np.array(self.low)) / 2.0)

    def among(self, kept: NDArray[Any]) -> Release:
        """The same of some columns, by a mask or their numbers."""
        low, high = (tuple(np.array(ends)[kept].tolist()) for ends in (self.low, self.high))
        return Release(self.epsilon, self.delta, self.sigma, low, high, self.parts)

    def header(self) -> dict[str, Any]:
        """What a file keeps of it."""
        return {
            "epsilon": self.epsilon, "delta": self.delta, "sigma": self.sigma, "low": list(self.low),
            "high": list(self.high), "parts": self.parts, "mechanism": "discrete Gaussian",
            "neighbours": "one row more or less",
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise in a sum of parts.

    Attributes:
        releases: whose noise is in it.
        share: which share of the parts of each release is in it, such as 1 / g for one of g groups.
    """

    releases: tuple[Release, ...]
    share: float = 1.0

    def variance(self, mean: Array) -> Array:
        """(d, d) variance of each entry of the scatter.

        Args:
            mean: (d,) of the rows.
        """
        total = np.zeros((len(mean), len(mean)))
        for one in self.releases:
            h, t = one.half**2, (mean - one.centre) ** 2
            own = np.outer(h, h) + np.outer(h, t) + np.outer(t, h) + np.outer(t, t)
            own[np.diag_indices(len(h))] = h**2 + 4.0 * h * t + t**2
            total += self.share * one.parts * one.sigma**2 * own
        return total

    def drawn(self, mean: Array, rng: np.random.Generator) -> Array:
        """(d, d) what such noise does to a scatter.

        Args:
            mean: (d,) of the rows.
            rng: of the draw.
        """
        d = len(mean)
        total = np.zeros((d, d))
        for one in self.releases:
            size = one.sigma * np.sqrt(self.share * one.parts)
            upper = np.triu(rng.standard_normal((d, d)))
            e_q = upper + np.triu(upper, 1).T
            h, t, e_s = one.half, mean - one.centre, rng.standard_normal(d)
            cross = np.outer(h * e_s, t)
            total += size * (np.outer(h, h) * e_q - cross - cross.T + rng.standard_normal() * np.outer(t, t))
        return total

    def of_means(self, mean: Array, count: int, rng: np.random.Generator) -> Array:
        """(d,) what such noise does to a mean of `count` rows."""
        total = np.zeros(len(mean))
        for one in self.releases:
            size = one.sigma * np.sqrt(self.share * one.parts)
            e_s, e_n = rng.standard_normal(len(mean)), rng.standard_normal()
            total += size * (one.half * e_s - (mean - one.centre) * e_n) / count
        return total

    def among(self, kept: NDArray[Any]) -> Noise:
        """The same of some columns, by a mask or their numbers."""
        return Noise(tuple(one.among(kept) for one in self.releases), self.share)


def release_of(header: dict[str, Any], d: int) -> Release:
    """The release that a file tells of; nonsense is refused with a ValueError.

    Args:
        header: as `Release.header` gives it.
        d: how many columns there are.
    """
    low, high = (tuple(float(x) for x in header[name]) for name in ("low", "high"))
    found = Release(
        float(header["epsilon"]), float(header["delta"]), float(header["sigma"]), low, high, int(header["parts"])
    )
    numbers = np.array([found.epsilon, found.delta, found.sigma, *low, *high])
    if not np.isfinite(numbers).all() or min(found.epsilon, found.sigma, found.parts) <= 0 or not 0 < found.delta < 1:
        raise ValueError("its noise is told in numbers that make no sense")
    if not len(low) == len(high) == d or not (np.array(low) < np.array(high)).all():
        raise ValueError("its bounds do not fit its columns")
    return found


def semidefinite(S: Array) -> Array:
    """The nearest scatter that rows can have, in squares of entries: eigenvalues below zero become zero.

    >>> semidefinite(np.array([[1.0, 0.0], [0.0, -2.0]]))
    array([[1., 0.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh((S + S.T) / 2.0)
    if values[0] >= 0.0:
        return np.asarray((S + S.T) / 2.0)
    kept = values > 0.0
    made = (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
    return np.asarray((made + made.T) / 2.0)


def told(releases: Sequence[Release]) -> str:
    """How much noise there is, in words; empty where there is none."""
    if not releases:
        return ""
    worst = max(releases, key=lambda one: one.epsilon)
    of = "" if len(releases) == 1 else f" in {len(releases)} releases, at most"
    return f"noise was added for differential privacy{of} (epsilon {worst.epsilon:g}, delta {worst.delta:g})"
