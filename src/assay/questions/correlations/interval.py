"""How strong the strongest pair is, once it is known that it was chosen.

The largest of many correlations is too large: it was chosen for its luck as well. In half of the rows luck is larger by
a known factor, and so is what it adds to the largest one. On Fisher's scale, with z the strength of the named pair
and m the mean of the largest strength in halves, both less the bias r / (2 (n - 1)) of that scale,

    luck      b = (m - z) / (f - 1), at least 0,  f^2 = (n - 3) / (n / 2 - 3): extrapolated to no noise at all
    centre    z - b
    error^2   sigma^2 (1 + 5/2 pi (1 - pi)),  sigma^2 = (1 + r^2 / 2) / (n - 3), Bonett and Wright's

where pi is the share of halves whose strongest pair is the named one. With pi = 1 nothing was chosen by luck and the
interval is the usual one; with pi near 0 the pair stands for many that are as strong; in between it is open which,
and b itself is uncertain. The factor 5/2 was found by simulation: docs/guide/dependence.md says what intervals
cover.

Reference: Cook and Stefanski, Simulation-extrapolation estimation, JASA 89 (1994).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Indices
from assay.questions.correlations.halves import Halves
from assay.summary.pairs.association import Standard
from assay.summary.pairs.association_chance import fisher_interval
from assay.summary.pairs.rank_shapes import EXPECTED

_OPEN = 2.5
_WIDEST = 700  # columns of which all pairs are looked at in halves
_MOST = 1.0 - 1e-12


@dataclass(frozen=True, slots=True)
class ChosenPair:
    """The strength of a chosen pair without its luck.

    Attributes:
        strength: rank correlation, with its sign.
        low, high: 95% interval.
        share: of halves of the rows whose strongest pair it is.
    """

    strength: float
    low: float
    high: float
    share: float


def without_luck(
    standard: Standard, halves: Halves, pair: tuple[int, int], strength: float, n: float, among: tuple[Indices, Indices]
) -> ChosenPair | None:
    """The strongest pair of numbers, and what it will be in other rows; None where it is one of rare values.

    Args:
        standard: ranks, made ready.
        halves: of the rows.
        pair: its columns.
        strength: its rank correlation.
        n: rows, or as many as would tell as much if they were independent.
        among: pairs of columns that could have been named, for tables too wide for all.
    """
    first, second = _candidates(standard, among)
    named = np.flatnonzero((first == min(pair)) & (second == max(pair)))
    if not len(named):
        return None
    at = standard.starts[first], standard.starts[second]
    C = np.abs(halves.correlations(standard.Z, *at, standard.seen))
    z, largest = _scaled(np.array(abs(strength)), n), _scaled(C.max(axis=2), n / 2.0)
    share = float((C.argmax(axis=2) == named[0]).mean())
    luck = max(0.0, (largest - z) / (np.sqrt((n - 3.0) / max(n / 2.0 - 3.0, 1.0)) - 1.0))
    centre = np.tanh(z - luck)
    # the variance of Bonett and Wright at the strength seen, as if so many rows fewer were there
    rows = 3.0 + (n - 3.0) / (1.0 + _OPEN * share * (1.0 - share))
    size = np.array(min(abs(strength), _MOST))
    width = float(np.arctanh(fisher_interval(size, np.array(rows), ranks=True)[1]) - np.arctanh(size))
    ends = np.tanh(z - luck - width), np.tanh(z - luck + width)
    low, high = sorted(float(np.sign(strength) * end) for end in ends)
    return ChosenPair(float(np.sign(strength) * centre), low, high, share)


def _scaled(r: Array, n: float) -> float:
    """The mean of correlations on Fisher's scale, less its bias."""
    return float((np.arctanh(np.minimum(r, _MOST)) - r / (2.0 * max(n - 1.0, 1.0))).mean())


def _candidates(standard: Standard, among: tuple[Indices, Indices]) -> tuple[Indices, Indices]:
    """Pairs of numbers that could have been named; not those of rare values, which follow another law in halves."""
    numbers = np.flatnonzero((standard.sizes == 1) & standard.signed)
    if len(numbers) <= _WIDEST:
        i, j = np.triu_indices(len(numbers), 1)
        first, second = numbers[i], numbers[j]
    else:
        plain = np.isin(among[0], numbers) & np.isin(among[1], numbers)
        first, second = np.minimum(*among)[plain], np.maximum(*among)[plain]
    if standard.counts is None:
        return first, second
    counts = standard.counts[standard.starts[:-1]]
    often = counts[first] * counts[second] >= 2.0 * EXPECTED * len(standard.Z)
    return first[often], second[often]
