"""How strongly columns go together by chance alone.

two numbers            t, that is F with 1 and n - 2 degrees of freedom
their ranks            all orders of few rows; else Pearson's law with the fourth moment of ranks
number and category    F with r and n - 1 - r
two categories         chi^2 with r s
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import scipy.special as sc
from numpy.typing import NDArray

from assay.arrays import Array

_ALL_ORDERS = 8  # rows whose orders are gone through one by one
_NORMAL_975 = float(sc.ndtri(0.975))


@dataclass(frozen=True, slots=True, eq=False)
class Likely:
    """The chance of a correlation of n rows, from a table, for very many of them: in the right order, and near enough
    to say which are the smallest.

    Its logarithm is nearly linear in -log(1 - rho^2), which straight lines between 4096 points follow.

    Attributes:
        least: correlations below count as certain to come by chance: their p is above 0.1.
        x: (4096,) values of -log(1 - rho^2).
        log_p: (4096,) the logarithm of p there.
    """

    least: float
    x: Array
    log_p: Array

    @staticmethod
    def of(n: int, *, ranks: bool) -> Likely:
        """The table for n rows."""
        free = max(n - 2.0, 1.0)
        outer = float(sc.betaincinv(free / 2.0, 0.5, 0.1))
        # to the end of float64, or of what n! allows
        x = np.linspace(-np.log(outer), max(-2.0 * np.log(outer), 1400.0 / free), 4096)
        exact = chance(np.sqrt(-np.expm1(-x)), float(n), np.ones(1, np.intp), np.ones(1, np.intp), ranks=ranks)
        return Likely(float(np.sqrt(1.0 - outer)), x, np.log(np.maximum(exact, 1e-320)))

    def __call__(self, strength: Array) -> Array:
        """P of strengths, any shape, at least `least`."""
        with np.errstate(divide="ignore"):
            x = -np.log1p(-np.minimum(strength**2, 1.0))
        return np.exp(np.interp(x, self.x, self.log_p))


def chance(
    strength: Array, n: Array | float, first: NDArray[np.intp], second: NDArray[np.intp], *, ranks: bool = False
) -> Array:
    """Probability that columns without any connection are this strongly connected, two-sided.

    Args:
        strength: as of `Standard.strengths`, any shape.
        n: rows behind each.
        first: numbers of the first column, to be broadcast.
        second: of the second.
        ranks: whether two numbers were replaced by their ranks, whose correlation has heavier tails than t.
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    shared = np.minimum(strength**2, 1.0) * np.maximum(low, 1)
    used = np.where(low <= 1, high, low * high)
    return chance_of_share(np.where(np.isnan(strength), np.nan, shared), used, n, low == 1, ranks=ranks)


def chance_of_share(
    shared: Array, used: NDArray[Any], n: Array | float, one: NDArray[np.bool_], *, ranks: bool = False
) -> Array:
    """The same from sums of squared correlations; NaN where there are none.

    Args:
        shared: of `used` products of orthonormal numbers.
        used: how many, to be broadcast.
        n: rows behind each, or as many as would know as much if they were independent.
        one: where one side is a single number, so that F holds.
        ranks: whether two numbers were replaced by their ranks.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # one number on one side: F of the regression on the other, which for two numbers is t squared
        free = np.where(one, np.maximum(n - 1.0 - used, 0.0), 1.0)
        F: Array = np.asarray(sc.betainc(free / 2.0, used / 2.0, np.maximum(1.0 - shared, 0.0)), dtype=np.float64)
        if ranks:
            F = np.where(used == 1, _of_ranks(np.sqrt(shared), n, F), F)
        # the other law takes four times as long and is needed for two columns of levels only
        p = F if np.all(one) else np.where(one, F, sc.chdtrc(np.maximum(used, 1), n * shared))
    # no order of n rows is rarer than one in n!, which the continuous laws do not know
    p = np.maximum(p, 2.0 * np.exp(-sc.gammaln(np.minimum(n, 150) + 1.0)))
    return np.asarray(np.where(np.isnan(shared) | (used < 1) | (free <= 0), np.nan, np.minimum(p, 1.0)))


def _of_ranks(r: Array, n: Array | float, pearson: Array) -> Array:
    """The chance of Spearman's correlations: by all orders of few rows, else from Pearson's by the moments."""
    count = np.broadcast_to(np.asarray(n), np.shape(r))
    p = pearson + _rank_tail(r, n)
    for few in range(3, _ALL_ORDERS + 1):
        at = count == few
        if np.any(at):
            sizes = _all_orders(few)
            beyond = len(sizes) - np.searchsorted(sizes, r[at] - 1e-9)
            p[at] = beyond / len(sizes)
    return np.asarray(p)


@cache
def _all_orders(n: int) -> Array:
    """The moduli of Spearman's correlation over all orders of n rows, ascending."""
    centred = np.arange(n) - (n - 1) / 2.0
    orders = np.array(list(permutations(centred)))
    return np.sort(np.abs(orders @ centred)) / float(centred @ centred)


def _rank_tail(r: Array, n: Array | float) -> Array:
    """What Spearman's two-sided tail beyond r has more than Pearson's.

    With f(r) = c (1 - r^2)^(m - 1/2), m = (n - 3) / 2, the law of Pearson's correlation, f (1 + e C_4) has all moments
    up to the fourth of Spearman's, C_4 being Gegenbauer's polynomial for m and e = E C_4 / E_f C_4^2. Its tail follows
    from Rodrigues' formula. Moments: Kendall and Gibbons, Rank Correlation Methods, section 5.
    """
    n = np.maximum(np.asarray(n, dtype=np.float64), 5.0)
    m = (n - 3.0) / 2.0
    fourth = 3.0 * (25.0 * n**3 - 38.0 * n**2 - 35.0 * n + 72.0) / (25.0 * n * (n + 1.0) * (n - 1.0) ** 3)
    mean = m * (m + 1.0) * (0.5 - 2.0 * (m + 2.0) / (n - 1.0) + 2.0 / 3.0 * (m + 2.0) * (m + 3.0) * fourth)
    square = m * (2.0 * m) * (2.0 * m + 1.0) * (2.0 * m + 2.0) * (2.0 * m + 3.0) / (24.0 * (m + 4.0))
    third = 4.0 / 3.0 * (m + 1.0) * (m + 2.0) * r * ((m + 3.0) * r**2 - 1.5)
    scale = np.exp(sc.gammaln(m + 1.0) - sc.gammaln(m + 0.5)) / np.sqrt(np.pi)
    with np.errstate(divide="ignore"):
        edge = np.exp((m + 0.5) * np.log1p(-np.minimum(r**2, 1.0)))
    return np.asarray(mean / square * scale * third * edge * m / (2.0 * (m + 2.0)))


def fisher_interval(r: Array, n: Array, *, ranks: bool = False) -> tuple[Array, Array]:
    """Fisher's 95% interval of correlations, for ranks with the variance of Bonett and Wright (Psychometrika 65, 2000).

    Args:
        r: correlations, any shape.
        n: rows behind each.
        ranks: whether they are of ranks.

    >>> low, high = fisher_interval(np.array([0.5]), np.array([103]))
    >>> low.round(3), high.round(3)
    (array([0.339]), array([0.632]))
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        error = _NORMAL_975 * np.sqrt((1.0 + r**2 / 2.0 if ranks else 1.0) / np.maximum(n - 3.0, 0.0))
        z = np.arctanh(r)
        return np.tanh(z - error), np.tanh(z + error)
