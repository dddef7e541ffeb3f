"""Rows in groups: several of one subject, site or batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.evidence.design.design import Design, Kind


@dataclass(frozen=True, slots=True, eq=False)
class Grouped(Design):
    """Rows of independent groups; those of one group depend on each other.

    A draw gives each group the values of another as a whole, in their order but begun anywhere. Where the other has
    fewer rows they come again, where it has more the rest is left out; groups of one size are exchanged among
    themselves wherever there are several.

    Attributes:
        label: (n,) number of the group of each row, from 0 without gaps.

    >>> Grouped(4, np.array([0, 0, 1, 1])).drawn(np.random.default_rng(0))
    array([1, 0, 3, 2])
    """

    label: Indices

    kind: ClassVar[Kind] = "groups"

    @property
    def sizes(self) -> Indices:
        """(g,) rows of each group."""
        return np.bincount(self.label)

    def drawn(self, rng: np.random.Generator) -> Indices:
        """Whole groups exchanged."""
        sizes = self.sizes
        order = np.argsort(self.label, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        within = np.empty(self.n, dtype=np.intp)
        within[order] = np.arange(self.n) - np.repeat(starts, sizes)
        partner = _partners(sizes, rng)[self.label]
        begun = rng.integers(sizes)[self.label]
        return np.asarray(order[starts[partner] + (within + begun) % sizes[partner]])

    def folds(self, k: int, seed: int = 0) -> Indices:
        """Whole groups, folds of about as many rows."""
        return np.asarray(_dealt(self.sizes, k, np.random.default_rng(seed))[self.label])

    def half(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Whole groups."""
        return np.asarray(_dealt(self.sizes, 2, rng)[self.label] == 0)

    def signature(self, Z: Array) -> Array:
        """The shares of variance between groups and within."""
        sizes = self.sizes
        sums = np.zeros((len(sizes), Z.shape[1]))
        np.add.at(sums, self.label, Z)
        between = np.minimum((sums**2 / sizes[:, None]).sum(axis=0), 1.0)
        groups = float(self.n**2 / (sizes.astype(np.float64) ** 2).sum())  # as many of one size tell as much
        free = max(self.n - len(sizes), 1)
        return np.stack([between / np.sqrt(max(groups - 1.0, 1.0)), (1.0 - between) / np.sqrt(free)])

    def among(self, numbers: Indices) -> Grouped:
        """The same for some rows."""
        return Grouped(len(numbers), np.unique(self.label[numbers], return_inverse=True)[1], limit=self.limit)

    def thinned(self, rng: np.random.Generator) -> Indices:
        """One row of each group."""
        order = rng.permutation(self.n)
        return np.sort(order[np.unique(self.label[order], return_index=True)[1]])


def _partners(sizes: Indices, rng: np.random.Generator) -> Indices:
    """(g,) the group whose values each group gets: of the same size where most groups have one of theirs."""
    _, alike, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    if counts[alike].min() < 5:
        return rng.permutation(len(sizes))
    partner = np.empty(len(sizes), dtype=np.intp)
    for one in range(len(counts)):
        own = np.flatnonzero(alike == one)
        partner[own] = rng.permutation(own)
    return partner


def _dealt(sizes: Indices, k: int, rng: np.random.Generator) -> Indices:
    """(g,) fold of each group, so that folds have about as many rows each: the largest first, to the smallest fold."""
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    rows, fold = np.zeros(min(k, len(sizes))), np.empty(len(sizes), dtype=np.intp)
    for group in order:
        fold[group] = int(rows.argmin())
        rows[fold[group]] += sizes[group]
    return fold
