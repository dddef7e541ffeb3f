"""Are canonical correlations more than chance gives normal rows? Four classical statistics, pairs taken out one by one.

Of the pairs j + 1, ..., k that remain after the first j, with r their correlations, p - j and q - j columns, s the
fewer of these, v = n - 1 - q degrees of freedom for error, m = (|p - q| - 1) / 2 and N = (v - p + j - 1) / 2:

    Wilks             prod (1 - r^2)            F of Rao, exact where a side has one or two columns
    Pillai            V = sum r^2               F = (2N + s + 1) / (2m + s + 1) * V / (s - V)
    Hotelling-Lawley  U = sum r^2 / (1 - r^2)   F of McKeon where N > 1, of Pillai and Samson otherwise
    Roy               max r^2 / (1 - r^2)       an upper bound of F: its p is a lower bound

Reference: Rao, Bull. Int. Stat. Inst. 33 (1951); McKeon, Biometrika 61 (1974); SAS/STAT, Multivariate Tests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from assay.arrays import Array
from assay.linalg.canonical.canonical import log_lambda


@dataclass(frozen=True, slots=True, eq=False)
class FTest:
    """One statistic, for each number of pairs taken out before: entry j asks whether any pair from j on correlates.

    Attributes:
        statistic: (k,).
        F: (k,) what it is compared by.
        df: (k, 2) degrees of freedom of F.
        p: (k,) chance of one as extreme where no pair from j on correlates in the population.
    """

    statistic: Array
    F: Array
    df: Array
    p: Array


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalTests:
    """The four classical tests; those of entry 0 ask whether the sides have anything in common.

    Attributes:
        wilks, pillai, hotelling_lawley: each an `FTest`.
        roy: the same; its p is a lower bound.
    """

    wilks: FTest
    pillai: FTest
    hotelling_lawley: FTest
    roy: FTest


def canonical_tests(correlations: Array, n: int, p: int, q: int) -> CanonicalTests:
    """The tests of canonical correlations of normal rows.

    Args:
        correlations: (k,) all of them, descending.
        n: rows, more than p + q; less the columns that were held fixed.
        p, q: independent columns of both sides.

    >>> club = canonical_tests(np.array([0.795608, 0.200556, 0.072570]), 20, 3, 3)  # SAS's fitness club
    >>> club.wilks.statistic.round(4), club.wilks.F.round(2), club.wilks.p.round(4)
    (array([0.3504, 0.9547, 0.9947]), array([2.05, 0.18, 0.08]), array([0.0635, 0.9491, 0.7748]))
    """
    rows = [_four(correlations[j:], n - 1 - q, p - j, q - j) for j in range(len(correlations))]
    return CanonicalTests(*(_gathered([row[i] for row in rows]) for i in range(4)))


def _gathered(rows: list[tuple[float, float, float, float]]) -> FTest:
    statistic, F, first, second = np.array(rows).T
    return FTest(statistic, F, np.column_stack([first, second]), fdtrc(first, second, F))


def _four(r: Array, v: int, p: int, q: int) -> list[tuple[float, float, float, float]]:
    """Statistic, F and its degrees of freedom, of each test."""
    s, m, N = min(p, q), (abs(p - q) - 1) / 2.0, (v - p - 1) / 2.0
    squares = np.minimum(r**2, 1.0)
    # a correlation of 1 but for rounding gives all that doubles can hold
    odds = squares / np.maximum(1.0 - squares, 1e-300)
    return [_wilks(r, v, p, q), _pillai(float(squares.sum()), s, m, N), _hotelling(float(odds.sum()), p, q, s, m, N),
            _roy(float(odds.max()), v, p, q)]  # fmt: skip


def _wilks(r: Array, v: int, p: int, q: int) -> tuple[float, float, float, float]:
    log = log_lambda(r)
    many = p * p + q * q - 5
    t = float(np.sqrt((p * p * q * q - 4) / many)) if many > 0 else 1.0
    second = (v - (p - q + 1) / 2.0) * t - (p * q - 2) / 2.0
    with np.errstate(over="ignore"):
        return float(np.exp(log)), float(np.expm1(-log / t)) * second / (p * q), p * q, second


def _pillai(V: float, s: int, m: float, N: float) -> tuple[float, float, float, float]:
    first, second = s * (2 * m + s + 1), s * (2 * N + s + 1)
    return V, second / first * V / max(s - V, 1e-300), first, second


def _hotelling(U: float, p: int, q: int, s: int, m: float, N: float) -> tuple[float, float, float, float]:
    if N > 1.0:  # McKeon's law needs a finite variance
        b = (p + 2 * N) * (q + 2 * N) / (2 * (2 * N + 1) * (N - 1))
        first, second = float(p * q), 4 + (p * q + 2) / (b - 1)
        return U, U * second / first * 2 * N / (second - 2), first, second
    first, second = s * (2 * m + s + 1), 2 * (s * N + 1)
    return U, second * U / (s * first), first, second


def _roy(root: float, v: int, p: int, q: int) -> tuple[float, float, float, float]:
    more = max(p, q)
    return root, root * (v - more + q) / more, more, v - more + q
