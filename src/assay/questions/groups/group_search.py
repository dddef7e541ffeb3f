"""The search for groups that is compared with chance: k-means with 2 to 8 groups, in one or two spaces.

components  the leading components above chance: many columns of noise would drown the groups
columns     all columns, where they are few: groups that each show in columns of their own make no component
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.linalg.random_matrix import spectrum_law
from assay.linalg.top import top_eigen
from assay.questions.groups.grouping import grouped, shares_between

Array: TypeAlias = NDArray[np.float64]

SIZES = tuple(range(2, 9))
_ALONE = 3  # up to so many columns there is no other space than their own
_FEW = 30  # up to so many columns their own space is searched too
_MOST_AXES = 10


@dataclass(frozen=True, slots=True)
class Space:
    """Where groups are sought.

    Attributes:
        axes: how many dimensions it has.
        whole: whether these are the columns themselves, not components.
    """

    axes: int
    whole: bool

    def scores(self, Z: Array, like: Array | None = None) -> Array:
        """(n, axes) where rows lie: Z, or other rows in the space of `like`."""
        base = Z if like is None else like
        mean, scale = base.mean(axis=0), base.std(axis=0)
        X, B = (Z - mean) / scale, (base - mean) / scale
        if self.whole:
            return np.ascontiguousarray(X)
        n, d = B.shape
        if d <= n:
            return np.ascontiguousarray(X @ top_eigen(B.T @ B, self.axes).vectors)
        spectrum = top_eigen(B @ B.T, self.axes)
        return np.ascontiguousarray(X @ (B.T @ (spectrum.vectors / np.sqrt(spectrum.values))))


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What k-means makes of one table.

    Attributes:
        gains: (spaces, 7) -log(W_k / W_1).
        between: (spaces, 7, d) share of each column's variance that lies between the groups.
    """

    gains: Array
    between: Array


def spaces_of(Z: Array) -> tuple[Space, ...]:
    """Where groups of (n, d) comparable rows are sought."""
    n, d = Z.shape
    if d <= _ALONE:
        return (Space(d, True),)
    _, singular, right = np.linalg.svd(Z / np.sqrt(n - 1), full_matrices=False)
    kept = min(n - 1, d)
    law = spectrum_law(singular[:kept] ** 2, n, d, vectors=right[:kept].T, max_components=_MOST_AXES)
    components = Space(int(np.clip(law.n_real, 2, min(_MOST_AXES, kept))), False)
    return (components, Space(d, True)) if d <= _FEW else (components,)


def look(Z: Array, spaces: tuple[Space, ...], seed: int) -> Look:
    """Search one table, always in the same way."""
    gains, between = np.empty((len(spaces), len(SIZES))), np.empty((len(spaces), len(SIZES), Z.shape[1]))
    for i, space in enumerate(spaces):
        S = space.scores(Z)
        total = float(((S - S.mean(axis=0)) ** 2).sum())
        for j, k in enumerate(SIZES):
            group = grouped(S, k, seed)
            gains[i, j] = -np.log(max(group.inertia / total, np.finfo(float).tiny))
            between[i, j] = shares_between(Z, group.labels, k)
    return Look(gains, between)
