"""How rare is a value beyond all others? The tail of a sample, extrapolated, with the doubt about it counted in.

A rank among n values cannot say less than 1 / (n + 1). Beyond a high threshold u most laws look like a generalised
Pareto law,

    P(Y > u + y | Y > u) = (1 + xi y / sigma)^(-1 / xi),

whose heaviness xi and scale sigma are fitted to the largest m values. The topmost quarter of these enters only as
"beyond here" (censored), so that outliers do not make the tail in which they hide; and the chance is averaged over
what xi and sigma may be, given the values (predictive), not read off at the best guess. m is a fifth of the values,
and a smaller share of many.

Prior: xi is normal about 0.1 with standard deviation 0.2, log sigma flat. Normal distances have xi just below 0, those
of Student's t with 5 degrees of freedom 0.2.

Reference: Coles, An Introduction to Statistical Modeling of Extreme Values, Springer 2001, chapters 4 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

FEWEST = 50
_SHARE, _GROWTH = 0.2, 0.75
_CENSORED = 0.25
_PRIOR = 0.1, 0.2  # mean and standard deviation of xi
_XI = np.linspace(-0.6, 1.2, 73)
_LOG_SIGMA = np.linspace(-2.5, 2.5, 81)
_NEGLIGIBLE = 1e-16


@dataclass(frozen=True, slots=True, eq=False)
class FarTail:
    """The tail of a sample.

    Attributes:
        threshold: where it begins.
        share: of the values beyond.
        heaviness: posterior mean of xi; 0 falls off like a normal law, 0.5 has no variance.
        weights: (73, 81) posterior of (xi, sigma) on a grid.
        sigmas: (81,) of the grid.
    """

    threshold: float
    share: float
    heaviness: float
    weights: Array
    sigmas: Array

    def chance(self, values: Array) -> Array:
        """(k,) probability of a value as large, for values beyond the threshold."""
        heavy, wide = np.nonzero(self.weights > _NEGLIGIBLE)
        weights, xi, sigma = self.weights[heavy, wide], _XI[heavy], self.sigmas[wide]
        beyond = np.maximum(values - self.threshold, 0.0)
        return np.concatenate(
            [self.share * np.exp(_log_survival(part[:, None], xi, sigma)) @ weights for part in _parts(beyond)]
        )

    def reached_once_in(self, count: float) -> float:
        """The value that is exceeded once in so many draws: what chance alone reaches."""
        grid = np.concatenate([[0.0], np.geomspace(1e-3, 1e6, 400)]) * self.sigmas[len(self.sigmas) // 2]
        rarity = -np.log(np.maximum(self.chance(self.threshold + grid), 1e-300))
        return float(self.threshold + np.interp(np.log(count), rarity, grid))


def far_tail(values: Array) -> FarTail:
    """Fit the tail of (n,) values, of which most follow one law.

    >>> rng = np.random.default_rng(0)
    >>> tail = far_tail(np.abs(rng.standard_normal(2000)))
    >>> bool(tail.chance(np.array([8.0]))[0] < 1e-5)
    True
    """
    n = len(values)
    m = int(max(10, min(_SHARE * n, n**_GROWTH)))
    largest = np.sort(values)[::-1][: m + 1]
    threshold = float(largest[m])
    beyond = largest[:m] - threshold
    censored = int(np.ceil(_CENSORED * m))
    seen = beyond[censored:]
    scale = float(seen.mean())
    if not scale > 0.0:  # one value many times: nothing but ranks to go by
        return FarTail(threshold, m / n, np.nan, np.zeros((len(_XI), len(_LOG_SIGMA))), np.exp(_LOG_SIGMA))
    sigmas = scale * np.exp(_LOG_SIGMA)
    xi = _XI[:, None]
    survival = _log_survival(seen, xi[:, :, None], sigmas[:, None])
    likelihood = (1.0 + xi) * survival.sum(axis=2) - len(seen) * np.log(sigmas)
    likelihood = likelihood + censored * survival[:, :, 0] - 0.5 * ((xi - _PRIOR[0]) / _PRIOR[1]) ** 2
    weights = np.exp(likelihood - likelihood.max())
    weights /= weights.sum()
    return FarTail(threshold, (m + 1) / (n + 1), float((weights * xi).sum()), weights, sigmas)


def _log_survival(y: Array, xi: Array, sigma: Array) -> Array:
    """Log P(Y > u + y), broadcast; -inf beyond the end of a tail that has one."""
    t = y / sigma
    with np.errstate(divide="ignore", invalid="ignore"):
        bent = -np.log1p(np.maximum(xi * t, -1.0)) / xi
    return np.where(np.abs(xi) < 1e-12, -t, bent)


def _parts(values: Array) -> list[Array]:
    """In pieces, so that no more than a few million numbers are at hand at once."""
    return np.array_split(values, max(1, len(values) // 1000))
