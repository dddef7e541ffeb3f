"""The search for groups that is compared with chance, as numbers that are large where there are groups.

centres     -log(W_k / W_1) for k = 2..8, W_k the sum of squares that k-means leaves within groups; among the leading
            components above chance (many columns of noise would drown the groups) and, where they are few, among all
            columns (groups that each show in columns of their own make no component)
columns     the largest dip of a column
directions  the largest dip along a component or an unusual direction
shapes      the largest rise between dense parts, in the leading components and in the unusual directions
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array
from assay.linalg.noise.random_matrix import spectrum_law
from assay.questions.groups.dense import Dense
from assay.questions.groups.dip import dips
from assay.questions.groups.directions import components, leading, unusual
from assay.questions.groups.grouping import grouped

SIZES = tuple(range(2, 9))
_ALONE = 3  # up to so many columns there is no other space than their own
_FEW = 30  # up to so many columns their own space is searched too
_MOST_AXES = 10
_DIPPED = 200  # up to so many columns each is looked at for peaks
_LINKED = 300  # rows that are linked by a tree
SHAPED = 3  # dimensions in which dense parts are sought


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Where groups are sought.

    Attributes:
        axes: how many dimensions it has.
        whole: whether these are the columns themselves, not components.
    """

    axes: int
    whole: bool

    def of(self, Z: Array) -> Callable[[Array], Array]:
        """Where any rows lie in the space of (n, d) rows: (m, d) to (m, axes)."""
        mean, scale = Z.mean(axis=0), Z.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        if self.whole:
            return lambda rows: np.ascontiguousarray((rows - mean) / scale)
        axes = leading((Z - mean) / scale, self.axes)[1]
        return lambda rows: np.ascontiguousarray((rows - mean) / scale @ axes)

    def scores(self, Z: Array) -> Array:
        """(n, axes) where rows lie in their own space."""
        return self.of(Z)(Z)


@dataclass(frozen=True, slots=True)
class Room:
    """A few dimensions in which dense parts are sought.

    Attributes:
        odd: whether these are the unusual directions, not the leading components; columns where they are few.
    """

    odd: bool

    def of(self, Z: Array) -> Callable[[Array], Array]:
        """Where any rows lie in the room of (n, d) rows: (m, d) to (m, r)."""
        if not self.odd and Z.shape[1] <= SHAPED:
            return lambda rows: rows
        axes = unusual(Z)[:, : SHAPED - 1] if self.odd else components(Z, SHAPED)
        return lambda rows: np.asarray(rows @ axes)

    def scores(self, Z: Array) -> Array:
        """(n, r) where rows lie in their own room."""
        return self.of(Z)(Z)


def spaces_of(Z: Array) -> tuple[SearchSpace, ...]:
    """Where groups of (n, d) comparable rows are sought by k-means."""
    n, d = Z.shape
    if d <= _ALONE:
        return (SearchSpace(d, True),)
    _, singular, right = np.linalg.svd(Z / np.sqrt(n - 1), full_matrices=False)
    kept = min(n - 1, d)
    law = spectrum_law(singular[:kept] ** 2, n, d, vectors=right[:kept].T, max_components=_MOST_AXES)
    among = SearchSpace(int(np.clip(law.n_real, 2, min(_MOST_AXES, kept))), False)
    return (among, SearchSpace(d, True)) if d <= _FEW else (among,)


def rooms_of(Z: Array) -> tuple[Room, ...]:
    """Where dense parts of (n, d) comparable rows are sought."""
    return (Room(False),) if Z.shape[1] <= SHAPED else (Room(False), Room(True))


@dataclass(frozen=True, slots=True, eq=False)
class GroupLook:
    """What is found in one table, or how far beyond chance that is.

    Attributes:
        gains: (spaces, 7) of k-means.
        columns: largest dip of a column.
        directions: largest dip along another direction; that of the column where there is a single one.
        shapes: largest rise between dense parts.
    """

    gains: Array
    columns: float
    directions: float
    shapes: float

    @property
    def all(self) -> Array:
        """(7 spaces + 3,)."""
        return np.concatenate([self.gains.ravel(), [self.columns, self.directions, self.shapes]])

    def like(self, values: Array) -> GroupLook:
        """The same with other numbers, as `all` gives them."""
        *gains, columns, directions, shapes = values.tolist()
        return GroupLook(np.array(gains).reshape(self.gains.shape), columns, directions, shapes)


def look(Z: Array, spaces: tuple[SearchSpace, ...], seed: int) -> GroupLook:
    """Search one table, always in the same way.

    Args:
        Z: (n, d) comparable rows in no order.
        spaces: of `spaces_of`.
        seed: of the starts of k-means.
    """
    gains = np.empty((len(spaces), len(SIZES)))
    for i, space in enumerate(spaces):
        S = space.scores(Z)
        total = float(((S - S.mean(axis=0)) ** 2).sum())
        for j, k in enumerate(SIZES):
            gains[i, j] = -np.log(max(grouped(S, k, seed).inertia / total, np.finfo(float).tiny))
    columns = float(dips(Z).max()) if Z.shape[1] <= _DIPPED else 0.0
    if Z.shape[1] == 1:
        return GroupLook(gains, columns, columns, Dense.of(Z[:_LINKED]).highest)
    leading, odd = components(Z), unusual(Z)
    along = float(dips(Z @ np.hstack([leading, odd])).max())
    rooms = [Z] if Z.shape[1] <= SHAPED else [Z @ leading[:, :SHAPED], Z @ odd[:, : SHAPED - 1]]
    return GroupLook(gains, columns, along, max(Dense.of(room[:_LINKED]).highest for room in rooms))
