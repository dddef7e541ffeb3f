"""Where a curve goes up and where it goes down: the swings that are there in both halves of the rows.

Rows are put into bins of as many each along x, and what is asked about (ranks of y, or how far they spread) has a mean
in each. A swing is a pair of bins that differ beyond Bonferroni's point of all pairs of bins, and in the same
direction, by an error or more, in either half of the rows. A shape is the longest chain of swings that alternate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from assay.arrays import Array, Indices, Mask
from assay.linalg.ranks import average_ranks

_BINS = 8
_IN_BIN = 25  # rows, unless there are too few for three bins
_LEVEL = 0.01
_AGAIN = 1.0  # errors that a swing must have in either half
_SMALL = 0.25  # of the largest swing: a smaller one is not worth a word


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """Means of a number in bins, with their errors."""

    mean: Array
    error: Array

    @classmethod
    def of(cls, values: Array, codes: Indices, bins: int, worth: float) -> Means:
        """Of (n,) values in bins.

        Args:
            values: (n,).
            codes: (n,) bin of each.
            bins: how many.
            worth: independent rows that a row is worth, at most 1.
        """
        n = np.bincount(codes, minlength=bins).astype(np.float64)
        there = np.maximum(n, 1.0)
        mean = np.bincount(codes, values, bins) / there
        spread = np.maximum(np.bincount(codes, values**2, bins) / there - mean**2, 0.0)
        pooled = float((spread * n).sum() / max(n.sum(), 1.0))
        # few rows tell little of their own spread: it is drawn towards that of all
        spread = (spread * n + 5.0 * pooled) / (n + 5.0)
        error = np.sqrt(spread / np.maximum(there * worth, 1.0))
        return cls(np.where(n > 0, mean, np.nan), np.maximum(error, 1e-12))

    def z(self, a: int, b: int) -> float:
        """By how many errors the mean rises from bin a to bin b; 0 where one has no rows."""
        difference = (self.mean[b] - self.mean[a]) / np.hypot(self.error[a], self.error[b])
        return float(np.nan_to_num(difference))


def bins_along(x: Array) -> Indices:
    """(n,) bins of as many rows each along x, from 0 without gaps; equal values stay together.

    Args:
        x: (n,) numbers.

    >>> bins_along(np.arange(9.0))
    array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    """
    n = len(x)
    bins = int(np.clip(n // _IN_BIN, 3, _BINS))
    u = (average_ranks(x) - 0.5) / n
    return np.unique(np.floor(u * bins), return_inverse=True)[1]


def swings(values: Array, codes: Indices, half: Mask, worth: float = 1.0) -> tuple[tuple[int, int, float], ...]:
    """Alternating swings, from left to right: (bin, bin, by how much), the most that stand; none where nothing does.

    Args:
        values: (n,) what is asked about.
        codes: (n,) bin of each row, from 0 without gaps.
        half: (n,) one of two halves of the rows.
        worth: independent rows that a row is worth.
    """
    bins = int(codes.max()) + 1
    if bins < 2:
        return ()
    whole = Means.of(values, codes, bins, worth)
    halves = [Means.of(values[part], codes[part], bins, worth) for part in (half, ~half)]
    least = float(-ndtri(_LEVEL / (bins * (bins - 1))))
    rises = np.zeros((bins, bins), dtype=np.int8)  # +1 or -1 where the swing stands
    for a, b in combinations(range(bins), 2):
        z = whole.z(a, b)
        if abs(z) >= least and all(np.sign(z) * part.z(a, b) >= _AGAIN for part in halves):
            rises[a, b] = np.sign(z)
    best = max(_chains(rises, whole.mean), key=lambda chain: chain[:2], default=(0, 0.0, ()))
    return best[2]


def _chains(rises: NDArray[np.int8], mean: Array) -> Iterator[tuple[int, float, tuple[tuple[int, int, float], ...]]]:
    """Every chain of swings that alternate and of which none is small: how many, how large together, and which."""
    bins = len(rises)
    for size in range(2, bins + 1):
        for chosen in combinations(range(bins), size):
            signs = [rises[a, b] for a, b in pairwise(chosen)]
            if 0 in signs or any(one == other for one, other in pairwise(signs)):
                continue
            chain = tuple((a, b, float(mean[b] - mean[a])) for a, b in pairwise(chosen))
            sizes = [abs(by) for _, _, by in chain]
            if min(sizes) >= _SMALL * max(sizes):
                yield len(chain), sum(sizes), chain
