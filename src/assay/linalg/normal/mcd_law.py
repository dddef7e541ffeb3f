"""What the covariance of the most central rows means: how much too small it is, and which rows are central enough.

    consistency   the covariance of the central share of normal rows, times c, is that of all of them
    few_rows      the h rows of smallest determinant are closer together still, the more so the fewer there are
    cut           c^-1 d^2 (m - d + 1) / (d m) ~ F(d, m - d + 1) for rows not among the h chosen (Hardin & Rocke 2005)

m, the degrees of freedom of a Wishart matrix that varies as the chosen covariance does, follows from its asymptotic
variance (Croux & Haesbroeck 1999), with a correction for few rows that Green & Martin found by simulation.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, gammainc, gammaincinv


def consistency(share: float, d: int) -> float:
    """What to multiply the covariance of the most central share of normal rows by.

    >>> round(consistency(0.5, 1), 4)
    7.0101
    """
    if share >= 1.0:
        return 1.0
    radius = float(gammaincinv(d / 2.0, share))
    return float(share / gammainc(d / 2.0 + 1.0, radius))


# Pison, Van Aelst & Willems (Metrika 55, 2002), for h / n of 0.5 and 0.875. The covariance is too small by 1 - a / n^b:
# (log a, b) for one and for two columns; for more, 1 - A / d^B at n = 2 d^2 and at n = 3 d^2.
_ONE_OR_TWO = {
    1: ((0.262024211897096, 0.604756680630497), (-0.351584646688712, 1.01646567502486)),
    2: ((0.673292623522027, 0.691365864961895), (0.446537815635445, 1.06690782995919)),
}
_MORE = (
    ((1.42764571687802, 1.26263336932151), (1.06141115981725, 1.28907991440387)),
    ((0.455179464070565, 1.11192541278794), (0.294241208320834, 1.09649329149811)),
)


def few_rows(n: int, d: int, share: float) -> float:
    """What else to multiply the covariance of the share of rows of smallest determinant by, by simulations of others.

    >>> round(few_rows(50, 5, 0.56), 2)
    1.2
    """
    half, most = (1.0 - _too_small(n, d, i) for i in (0, 1))
    if share <= 0.875:
        size = half + (most - half) * (share - 0.5) / 0.375
    else:
        size = most + (1.0 - most) * (share - 0.875) / 0.125
    return 1.0 / size


def _too_small(n: int, d: int, which: int) -> float:
    if d in _ONE_OR_TWO:
        log_a, b = _ONE_OR_TWO[d][which]
        return float(np.exp(log_a - b * np.log(n)))
    at_two, at_three = (np.log(A) - B * np.log(d) for A, B in _MORE[which])
    slope = (at_two - at_three) / np.log(3.0 / 2.0)
    return float(np.exp(at_two - slope * np.log(n / (2.0 * d**2))))


def degrees_of_freedom(n: int, d: int, h: int) -> float:
    """Of the Wishart matrix that varies as the covariance of the h chosen rows does.

    >>> round(degrees_of_freedom(1000, 20, 510))
    312
    """
    if h == n:
        return n - 1.0
    share = h / n
    bend = (12.745653 - 14.545559 * share + 0.127400 * d) / n ** (0.559217 + 0.149040 * share)
    return _asymptotic(n, d, h) * float(np.exp(bend))


def _asymptotic(n: int, d: int, h: int) -> float:
    kept = h / n
    q = 2.0 * float(gammaincinv(d / 2.0, kept))
    c = consistency(kept, d)
    c2, c3 = (-float(gammainc(d / 2.0 + k, q / 2.0)) / 2.0 for k in (1, 2))
    b1 = -2.0 * c * c3 / kept
    b2 = 0.5 + c / kept * (c3 - q / d * (c2 + kept / 2.0))
    v1 = kept * b1**2 * ((1.0 - kept) * (c * q / d - 1.0) ** 2 - 1.0)
    v1 -= 2.0 * c3 * c**2 * (3.0 * (b1 - d * b2) ** 2 + (d + 2.0) * b2 * (2.0 * b1 - d * b2))
    v2 = n * (b1 * (b1 - d * b2) * kept) ** 2 * c**2
    return 2.0 * v2 / (c**2 * v1)


def cut(n: int, d: int, h: int, level: float) -> float:
    """The squared distance, by the consistent covariance of h chosen rows, that a normal row exceeds with this chance.

    >>> round(cut(100_000, 2, 50_001, 0.025), 2)
    7.38
    """
    m = max(degrees_of_freedom(n, d, h), d + 1.0)
    g = m - d + 1.0
    rest = float(betaincinv(g / 2.0, d / 2.0, level))
    return m * (1.0 - rest) / rest
