"""How far to draw a covariance towards a multiple of the identity, and what distances mean afterwards.

    S* = (1 - delta) S + delta mu I,   S (d, d) of n rows,   mu = tr S / d

The delta that is nearest to the unknown covariance in mean square is beta / (beta + alpha), beta the variance of S and
alpha the squared distance of the covariance from mu I. Ledoit & Wolf estimate beta from fourth powers of the rows; for
normal rows its expectation given S is known (Rao & Blackwell), and S alone is enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.arrays import Array


def ledoit_wolf(values: Array, d: int, n: float, fourth: float) -> float:
    """The share delta of the identity, from the spectrum and the fourth powers of the rows.

    Args:
        values: eigenvalues of S = sum x x^T / n, those that are zero may be left out.
        d: number of columns.
        n: number of rows x, centred.
        fourth: sum of the fourth powers of the lengths of the rows.

    Returns:
        In [0, 1]; 0 where S is a multiple of the identity already.

    >>> rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    >>> ledoit_wolf(np.array([2.0, 0.5]), 2, 4, float(np.sum(np.sum(rows**2, axis=1) ** 2)))
    0.9444444444444444

    Reference: Ledoit & Wolf, Journal of Multivariate Analysis 88, 2004.
    """
    return ledoit_wolf_of(float(values.sum()), float(values @ values), d, n, fourth)


def ledoit_wolf_of(trace: float, square: float, d: int, n: float, fourth: float) -> float:
    """The same from tr S and tr S^2.

    >>> ledoit_wolf_of(2.5, 4.25, 2, 4, 34.0)
    0.9444444444444444
    """
    apart = square - trace**2 / d
    variance = (fourth / n - square) / n
    return _share(variance, apart, square)


def rao_blackwell(values: Array, d: int, n: float) -> float:
    """The share delta of the identity from the spectrum alone: Ledoit and Wolf's, as expected for normal rows.

    Args:
        values: eigenvalues of S = scatter / n, those that are zero may be left out.
        d: number of columns.
        n: degrees of freedom: rows less one where the mean was estimated.

    >>> round(rao_blackwell(np.array([2.0, 0.5]), 2, 20), 4)
    0.4071

    Reference: Chen, Wiesel, Eldar & Hero, IEEE Transactions on Signal Processing 58, 2010, theorem 2.
    """
    trace, square = float(values.sum()), float(values @ values)
    apart = square - trace**2 / d
    return _share(((n - 2.0) / n * square + trace**2) / (n + 2.0), apart, square)


def _share(variance: float, apart: float, square: float) -> float:
    # eigenvalues equal but for rounding: every share gives the same matrix. Rows alike but for rounding: none is needed
    if min(apart, variance) <= square * 1e-14:
        return 0.0
    return float(np.clip(variance / apart, 0.0, 1.0))


class Inflation(NamedTuple):
    """tr A, tr A^2 and tr A^3 of A = S*^-1 C, C the unknown covariance: they give the moments of new distances."""

    first: float
    second: float
    third: float


def inflation(values: Array, d: int, n: float, keep: float, ridge: float) -> Inflation:
    """What distances by S* = keep S + ridge I make of rows that were not among those of S, for d and n large.

    The k-th cumulant of x^T S*^-1 x for a normal row x is 2^(k - 1) (k - 1)! tr((S*^-1 C)^k). Random matrix theory
    gives the traces from the spectrum of S, whatever C is: differentiate tr C (S* + t C)^-1 in t, with its
    deterministic equivalent. At ridge 0 they are d / g, d / g^3 and d (2 - g) / g^5 with g = 1 - d / n: distances of
    new rows are longer than those of the rows fitted, and the more so the nearer d is to n.

    Args:
        values: eigenvalues of S = scatter / n, those that are zero may be left out.
        d: number of columns.
        n: degrees of freedom.
        keep: factor of S.
        ridge: factor of the identity; positive where S is singular.

    >>> inflation(np.ones(10), 10, 20.0, 1.0, 0.0)
    Inflation(first=20.0, second=80.0, third=480.0)

    Reference: Chen, Paul, Prentice & Wang, Journal of the American Statistical Association 106, 2011 (the first two).
    """
    ratio = values / (keep * values + ridge)
    a, b, c = (float(np.sum(ratio**k)) / n for k in (1, 2, 3))
    gap = 1.0 - keep * a
    spread = b - a**2
    first = n * a / gap
    # estimates of traces need not obey Cauchy and Schwarz; the traces do
    second = max(n * spread / gap**4, first**2 / d)
    third = n * ((c - 3.0 * a * b + 2.0 * a**3) * gap + 3.0 * keep * spread**2) / gap**7
    return Inflation(first, second, max(third, second**2 / first))
