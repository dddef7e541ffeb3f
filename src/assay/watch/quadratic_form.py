"""How far out is a weighted sum of squares of normal numbers?

    P(sum_i w_i chi2_1 > x chi2_v / v)       v infinite: P(sum_i w_i chi2_1 > x)

With all weights equal this is the chi-square or the F law. The tail is a saddlepoint approximation, whose error is
relative, so that chances of 1e-12 mean what they say: with K the cumulant generating function of the difference and
K'(s) = 0,  p = 1 - Phi(r + log(u / r) / r),  r = sign(s) sqrt(-2 K(s)),  u = s sqrt(K''(s)).

References: Lugannani & Rice, Advances in Applied Probability 12, 1980; Kuonen, Biometrika 86, 1999.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from assay.arrays import Array
from assay.errors import ParameterError

_POINTS = 200
_LOWEST = -700.0  # log of the smallest chance that is told


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """The law of sum_i w_i chi2_1, or of its ratio to an estimate of scale.

    Attributes:
        weights: (q,) not negative, not all zero.
        dof: v, degrees of freedom of the scale; infinite where it is known.

    >>> from scipy.stats import chi2
    >>> float(round(QuadraticForm(np.ones(5)).tail(20.0) / chi2.sf(20.0, 5), 1))
    1.0
    """

    weights: Array
    dof: float = np.inf

    def __post_init__(self) -> None:
        w = np.asarray(self.weights, dtype=np.float64)
        if w.ndim != 1 or not len(w) or not np.isfinite(w).all() or (w < 0.0).any() or not w.any():
            raise ParameterError("weights are finite numbers of at least 0, one of them above 0")
        if not self.dof > 0.0:
            raise ParameterError(f"degrees of freedom are above 0; got {self.dof}")
        object.__setattr__(self, "weights", w[w > w.max() * 1e-9])

    @property
    def mean(self) -> float:
        """Of the sum."""
        return float(self.weights.sum())

    def tail(self, x: float) -> float:
        """Chance of a sum larger than x."""
        return float(np.exp(self.log_tail(x)))

    def log_tail(self, x: float) -> float:
        """Logarithm of the chance of a sum larger than x."""
        if not x > 0.0:
            return 0.0
        x = x / self.mean
        high = self._end * (1.0 - 1e-12)
        s = float(brentq(lambda s: self._place(s) - x, self._below(x), high, xtol=1e-300, rtol=1e-14, maxiter=500))
        return float(self._log_tail(np.array([s]), np.array([x]))[0])

    def quick_tail(self, x: float) -> float:
        """As `tail`, read off a table; for a law that is asked again and again. Where the table ends, its end."""
        places, logs = self._table
        return float(np.exp(np.interp(np.sqrt(max(x / self.mean, 0.0)), places, logs)))

    @cached_property
    def _distinct(self) -> tuple[Array, Array]:
        """The weights as shares of their sum, and how often each occurs, but for rounding."""
        unit, times = np.unique(np.round(self.weights / self.weights.max(), 10), return_counts=True)
        return unit * self.weights.max() / self.mean, times.astype(np.float64)

    @cached_property
    def _end(self) -> float:
        """Where s ends: at the pole of K, or where x would be infinite."""
        pole = 0.5 / float(self._distinct[0].max())
        if not np.isfinite(self.dof):
            return pole
        return float(brentq(lambda s: 2.0 * s * self._slope(s) - self.dof, 0.0, pole * (1.0 - 1e-15), rtol=1e-14))

    def _slope(self, s: Any) -> Any:
        """Derivative of the cumulant generating function of the sum."""
        w, times = self._distinct
        return (w / (1.0 - 2.0 * np.multiply.outer(s, w))) @ times

    def _place(self, s: Any) -> Any:
        """The x, in units of the mean, whose saddlepoint is s."""
        slope = self._slope(s)
        return slope if not np.isfinite(self.dof) else slope / (1.0 - 2.0 * s * slope / self.dof)

    def _below(self, x: float) -> float:
        """An s whose place is below x."""
        low = -1.0
        while self._place(low) > x:
            low *= 2.0
        return low

    def _log_tail(self, s: Array, x: Array) -> Array:
        """At saddlepoints s, which belong to x."""
        (w, times), v = self._distinct, self.dof
        ratio = w / (1.0 - 2.0 * s[:, None] * w)
        value = -0.5 * np.log1p(-2.0 * s[:, None] * w) @ times
        curve, third = 2.0 * (ratio**2) @ times, 8.0 * (ratio**3) @ times
        if np.isfinite(v):
            other = x / v / (1.0 + 2.0 * s * x / v)
            value -= 0.5 * v * np.log1p(2.0 * s * x / v)
            curve, third = curve + 2.0 * v * other**2, third - 8.0 * v * other**3
        else:
            value -= s * x
        r = np.sign(s) * np.sqrt(np.maximum(-2.0 * value, 0.0))
        near = np.abs(r) < 1e-3  # the limit at the mean
        r = np.where(near, 1.0, r)
        u = np.where(near, 1.0, s * np.sqrt(curve))
        middle = np.log(0.5 - third / curve**1.5 / (6.0 * np.sqrt(2.0 * np.pi)))
        return np.asarray(np.where(near, middle, log_ndtr(-(r + np.log(u / r) / r))))

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        """Roots of places from a quarter of the mean on, and the logarithms of their chances."""
        low = self._below(0.2)
        even, left = np.linspace(0.0, 0.9, _POINTS), np.geomspace(0.1, 1e-9, _POINTS)
        s = np.unique(np.concatenate([np.linspace(low, 0.0, _POINTS), even * self._end, (1.0 - left) * self._end]))
        x = self._place(s)
        logs = self._log_tail(s, x)
        kept = logs > _LOWEST
        return np.sqrt(x[kept]), logs[kept]
