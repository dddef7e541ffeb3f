"""How strong the strongest pair is, once it is known that it was chosen.

The largest of many correlations is too large: it was chosen for its luck as well. In half of the rows luck is larger
    by sqrt(2), and so
is what it adds to the largest one. On Fisher's scale, with z the strength of the named pair and m the mean of the
largest strength in halves,

    luck      b = (m - z) / (sqrt(2) - 1), at least 0: what is left without any noise, extrapolated
    centre    z - b
    error^2   sigma^2 (1 + 5/2 pi (1 - pi)),  sigma^2 = (1 + r^2 / 2) / (n - 3), Bonett and Wright's

where pi is the share of halves whose strongest pair is the named one. With pi = 1 nothing was chosen by luck and the
interval is the usual one; with pi near 0 the pair stands for many that are as strong; in between it is open which,
and b itself is uncertain.

The factor 5/2 was found by simulation, see docs/theory/pairs.md: with it intervals cover 94 to 98%.

Reference: Cook and Stefanski, Simulation-extrapolation estimation, JASA 89 (1994).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.summary.association import Standard
from assay.summary.association_chance import fisher_interval
from assay.summary.pair_halves import Halves

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

_OPEN = 2.5
_WIDEST = 700  # columns of which all pairs are looked at in halves
_MOST = 1.0 - 1e-12


@dataclass(frozen=True, slots=True)
class Chosen:
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
) -> Chosen:
    """The strongest pair of numbers, and what it will be in other rows.

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
    C = np.abs(halves.correlations(standard.Z, standard.starts[first], standard.starts[second]))
    z = float(np.arctanh(min(abs(strength), _MOST)))
    largest = float(np.arctanh(np.minimum(C.max(axis=2), _MOST)).mean())
    share = float((C.argmax(axis=2) == named[0]).mean()) if len(named) else 0.0
    luck = max(0.0, (largest - z) / (np.sqrt(2.0) - 1.0))
    centre = np.tanh(z - luck)
    # the variance of Bonett and Wright at the strength seen, as if so many rows fewer were there
    rows = 3.0 + (n - 3.0) / (1.0 + _OPEN * share * (1.0 - share))
    top = fisher_interval(np.tanh(np.array(z)), np.array(rows), ranks=True)[1]
    width = np.arctanh(np.minimum(top, _MOST)) - z  # none for columns that are one and the same
    ends = np.tanh(z - luck - width), np.tanh(z - luck + width)
    low, high = sorted(float(np.sign(strength) * end) for end in ends)
    return Chosen(float(np.sign(strength) * centre), low, high, share)


def _candidates(standard: Standard, among: tuple[Indices, Indices]) -> tuple[Indices, Indices]:
    numbers = np.flatnonzero((standard.sizes == 1) & standard.signed)
    if len(numbers) <= _WIDEST:
        i, j = np.triu_indices(len(numbers), 1)
        return numbers[i], numbers[j]
    plain = np.isin(among[0], numbers) & np.isin(among[1], numbers)
    return np.minimum(*among)[plain], np.maximum(*among)[plain]
