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

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from assay.errors import ParameterError
from assay.linalg.validate import Array

_POINTS = 600
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
        object.__setattr__(self, "weights", w[w > w.max() * 1e-12])

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
        w, v, scale = self.weights, self.dof, self.mean
        w, x = w / scale, x / scale
        high = 0.5 / float(w.max())
        low = -0.5 * (v / x if np.isfinite(v) else 1.0 / x * len(w) + 1.0)

        def slope(s: float) -> float:
            return float((w / (1.0 - 2.0 * s * w)).sum()) - (x / (1.0 + 2.0 * s * x / v) if np.isfinite(v) else x)

        if np.isfinite(v):
            low *= 1.0 - 1e-12
        s = float(brentq(slope, low, high * (1.0 - 1e-14), xtol=1e-300, rtol=1e-14, maxiter=500))
        inner = 1.0 - 2.0 * s * w
        value = -0.5 * float(np.log(inner).sum())
        curve = 2.0 * float(((w / inner) ** 2).sum())
        third = 8.0 * float(((w / inner) ** 3).sum())
        if np.isfinite(v):
            outer = 1.0 + 2.0 * s * x / v
            value -= 0.5 * v * float(np.log(outer))
            curve += 2.0 * v * (x / v / outer) ** 2
            third -= 8.0 * v * (x / v / outer) ** 3
        else:
            value -= s * x
        r = np.sign(s) * np.sqrt(max(-2.0 * value, 0.0))
        if abs(r) < 1e-3:  # the limit at the mean
            return float(np.log(0.5 - third / curve**1.5 / (6.0 * np.sqrt(2.0 * np.pi))))
        u = s * np.sqrt(curve)
        return float(log_ndtr(-(r + np.log(u / r) / r)))

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        """Places from half the mean on, equally far apart in their roots, and the logarithms of their chances."""
        top = 4.0 * self.mean
        while self.log_tail(top) > _LOWEST and top < 1e12 * self.mean:
            top *= 2.0
        x = np.linspace(np.sqrt(0.25 * self.mean), np.sqrt(top), _POINTS) ** 2
        return np.sqrt(x), np.array([self.log_tail(float(place)) for place in x])

    def quick_tail(self, x: float) -> float:
        """As `tail`, read off a table; for a law that is asked again and again. Where the table ends, its end."""
        places, logs = self._table
        return float(np.exp(np.interp(np.sqrt(max(x, 0.0)), places, logs)))
