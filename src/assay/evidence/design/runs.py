"""Rows whose neighbours are a little alike, in an order that may be sorted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.data.folds import fold_numbers
from assay.evidence.design.design import Design, Kind
from assay.evidence.design.serial import Serial


@dataclass(frozen=True, slots=True, eq=False)
class Runs(Design):
    """Rows in an order in which neighbours are weakly alike, over a few rows.

    What changes slowly along such an order, as classes do in a table that is sorted by them, is structure of the rows
    and not dependence: short runs of rows are exchanged, and the variance of products is that of what is left within
    the parts between `cuts`.

    Attributes:
        place: (n,) of each row in the order, 0 to n - 1.
        length: rows of a run.
        cuts: (c + 1,) where parts begin in the order, from 0, and n.
    """

    place: Indices
    length: int
    cuts: Indices

    kind: ClassVar[Kind] = "time"

    @property
    def _run(self) -> Indices:
        return np.asarray(self.place // self.length)

    def drawn(self, rng: np.random.Generator) -> Indices:
        """Runs in any order; the rows that are left over stay."""
        runs = self.n // self.length
        order = np.arange(self.n)
        order[: runs * self.length] = rng.permutation(order[: runs * self.length].reshape(runs, -1)).ravel()
        return np.asarray(np.argsort(self.place, kind="stable")[order][self.place])

    def drawn_each(self, rng: np.random.Generator, count: int) -> Indices:
        """The same as one by one: `permuted` takes the same numbers for each line."""
        runs = self.n // self.length
        moved = self.length * rng.permuted(np.tile(np.arange(runs), (count, 1)), axis=1)
        rows = np.empty((count, self.n), dtype=np.intp)
        for i in range(self.length):
            np.add(moved, i, out=rows[:, i : runs * self.length : self.length])
        rows[:, runs * self.length :] = np.arange(runs * self.length, self.n)
        if (self.place == np.arange(self.n)).all():  # rows lie in their order
            return rows
        return np.argsort(self.place, kind="stable").take(rows.take(self.place, axis=1))

    def folds(self, k: int, seed: int = 0) -> Indices:
        """Runs at random."""
        runs = -(-self.n // self.length)
        return np.asarray(fold_numbers(0, runs, min(k, max(runs, 2)), seed)[self._run])

    def half(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Runs at random."""
        runs = -(-self.n // self.length)
        return np.asarray((rng.permutation(runs) < runs // 2)[self._run])

    def signature(self, Z: Array) -> Array:
        """Periodograms of what is left within the parts."""
        order = np.argsort(self.place, kind="stable")
        return Serial(self.n, np.arange(self.n), 1).signature(within_parts(Z[order], self.cuts))

    def among(self, numbers: Indices) -> Runs:
        """The same for some rows, runs and parts of as many of these."""
        chosen = np.sort(self.place[numbers])
        place = np.argsort(np.argsort(self.place[numbers], kind="stable"), kind="stable")
        cuts = np.unique(np.searchsorted(chosen, self.cuts))
        length = max(1, round(self.length * len(numbers) / self.n))
        return Runs(len(numbers), place, length, cuts, limit=self.limit)

    def thinned(self, rng: np.random.Generator) -> Indices:
        """All rows: they are nearly independent."""
        return np.arange(self.n)


def within_parts(Z: Array, cuts: Indices) -> Array:
    """Columns less their means in each part, of length 1 again; 0 where nothing is left.

    Args:
        Z: (n, D) in the order of the parts.
        cuts: (c + 1,) where parts begin, from 0, and n.

    >>> within_parts(np.array([[1.0], [3.0], [10.0], [10.0]]), np.array([0, 2, 4])).ravel().round(2)
    array([-0.71,  0.71,  0.  ,  0.  ])
    """
    counts = np.diff(cuts)
    means = np.add.reduceat(Z, cuts[:-1], axis=0) / counts[:, None]
    left = Z - np.repeat(means, counts, axis=0)
    size = np.linalg.norm(left, axis=0)
    return np.asarray(np.divide(left, size, out=np.zeros_like(left), where=size > 1e-12))
