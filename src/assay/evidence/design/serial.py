"""Rows in an order in which neighbours are alike, as in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.evidence.design.design import Design, Kind

_ENDS = 8.0
_FREQUENCIES = 2048  # kept apart; more are averaged in runs


@dataclass(frozen=True, slots=True, eq=False)
class Serial(Design):
    """Rows in time: neighbours depend on each other, rows farther apart than `memory` hardly do.

    A circular shift keeps everything that a column has in common with its own past, but for one seam, and takes away
    what it has in common with others.

    Attributes:
        place: (n,) of each row in time, 0 to n - 1.
        memory: rows over which dependence fades.

    >>> rng = np.random.default_rng(0)
    >>> Serial(6, np.array([5, 4, 3, 2, 1, 0]), 2).drawn(rng)
    array([1, 2, 3, 4, 5, 0])
    """

    place: Indices
    memory: int

    kind: ClassVar[Kind] = "time"
    forward: ClassVar[bool] = True

    @property
    def order(self) -> Indices:
        """(n,) the rows from first to last."""
        return np.argsort(self.place, kind="stable")

    def drawn(self, rng: np.random.Generator) -> Indices:
        """A circular shift, any but none: without short ones the data would be alone among those most like them."""
        shift = int(rng.integers(1, self.n)) if self.n > 1 else 0
        return np.asarray(self.order[(self.place + shift) % self.n])

    def drawn_each(self, rng: np.random.Generator, count: int) -> Indices:
        """The same shifts as one by one, all at once."""
        if self.n < 2:
            return np.zeros((count, self.n), dtype=np.intp)
        shifts = rng.integers(1, self.n, size=count)
        if count < self.n:
            return np.asarray(self.order[(self.place + shifts[:, None]) % self.n])
        by_every_shift = self.order[(self.place + np.arange(self.n)[:, None]) % self.n]
        return np.asarray(by_every_shift[shifts])

    def folds(self, k: int, seed: int = 0) -> Indices:
        """Runs of rows, from first to last."""
        return np.asarray(self.place * min(k, self.n) // self.n)

    def half(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Half of a circle, cut anywhere."""
        return np.asarray((self.place + int(rng.integers(self.n))) % self.n < self.n // 2)

    def signature(self, Z: Array) -> Array:
        """Periodograms, by whose products the variance over all circular shifts is known."""
        power = np.abs(np.fft.rfft(Z[self.order], axis=0)[1:]) ** 2
        counts = np.full(len(power), 2.0)  # a frequency and its mirror image
        if self.n % 2 == 0:
            counts[-1] = 1.0
        power, counts = _averaged(power, counts)
        # neighbours averaged, as the noise of a periodogram would count twice in what two alike columns share
        power = np.pad(power, ((1, 1), (0, 0)), mode="edge")
        power = (power[:-2] + 2.0 * power[1:-1] + power[2:]) / 4.0
        total = counts @ power
        shares = np.divide(power, total, out=np.zeros_like(power), where=total > 0.0)
        return _with_ends(np.sqrt(counts)[:, None] * shares)

    def closed(self, Y: Array) -> Array:
        """Columns whose end meets their beginning, so that no shift of them can be told by a jump.

        The step from the last row to the first is spread over the rows as sinh(c (t - n / 2)), c = -log of the
        correlation of neighbours: over all of them for a random walk, whose increments are then exchangeable around the
        circle, and over the few at both ends that remember them for a column that forgets soon.
        """
        Z = Y[self.order]
        centred = Z - Z.mean(axis=0)
        squares = (centred**2).sum(axis=0)
        alike = np.divide(
            (centred[1:] * centred[:-1]).sum(axis=0), squares, out=np.zeros(len(squares)), where=squares > 0
        )
        c = -np.log(np.clip(alike, 0.01, 1.0 - 1e-3))
        t = np.arange(self.n)[:, None]
        # sinh(c (t - n / 2)) / (2 sinh(c n / 2)) from -1/2 to 1/2, without overflow
        share = (np.exp(c * (t - self.n + 1)) - np.exp(-c * t)) / (2.0 * -np.expm1(-c * (self.n - 1)))
        return np.asarray((Z - share * (Z[-1] - Z[0]))[self.place])

    def among(self, numbers: Indices) -> Serial:
        """The same for some rows, the memory in as many of these."""
        share = len(numbers) / self.n
        place = np.argsort(np.argsort(self.place[numbers], kind="stable"), kind="stable")
        return Serial(len(numbers), place, max(1, round(self.memory * share)), limit=self.limit)

    def thinned(self, rng: np.random.Generator) -> Indices:
        """One row in every `memory`."""
        first = int(rng.integers(self.memory))
        return np.sort(self.order[first :: self.memory])


def _averaged(power: Array, counts: Array) -> tuple[Array, Array]:
    """Frequencies in so few runs that products of all pairs stay cheap; power is a mean, counts are sums."""
    if len(power) <= _FREQUENCIES:
        return power, counts
    starts = np.linspace(0, len(power), _FREQUENCIES + 1)[:-1].astype(np.intp)
    merged = np.add.reduceat(counts, starts)
    return np.add.reduceat(power * counts[:, None], starts, axis=0) / merged[:, None], merged


def _with_ends(S: Array) -> Array:
    """Signatures of rows on a circle for rows that have ends.

    Rows near an end have neighbours on one side only, so that products vary more than over circular shifts: by a factor
    of 1 + 8 / (effective rows) or so in autoregressions of .7 and .9 (300 rows), where without it 114 and 39 rows were
    counted in place of 103 and 32.

    Args:
        S: (m, D).
    """
    return np.asarray(S * np.sqrt(1.0 + _ENDS * (S**2).sum(axis=0)))
