"""Ways to describe groups, the simplest first; each learnt on some rows and applied to others.

column      the peaks of one column, cut where few rows lie between
projection  the same along the direction with the largest dip, of the components and the unusual directions
centres     k-means
mixture     normal laws with covariances of their own, in few components
shapes      dense parts of any shape, in a few components

Every rule but the last has centres: between two of them that are neighbours unseen rows can be looked at for a valley.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Indices
from assay.questions.groups.dense import Dense
from assay.questions.groups.dip import dips
from assay.questions.groups.directions import components, unusual
from assay.questions.groups.group_search import Room, SearchSpace
from assay.questions.groups.grouping import grouped, labelled
from assay.questions.groups.unimodal import peaks
from assay.summary.distances.distances import squared_distances

_TRIES = 10  # starts of k-means from which a mixture begins
_MOST = 4  # groups that are sought otherwise than by k-means


@dataclass(frozen=True, slots=True, eq=False)
class GroupRule:
    """Groups, as learnt on some rows.

    Attributes:
        k: how many.
        place: (n, r) where rows lie, from their comparable columns.
        assign: (n,) group of each, from where they lie.
        centres: (k, r) in the middle of each; None where a group may have any shape.
    """

    k: int
    place: Callable[[Array], Array]
    assign: Callable[[Array], Indices]
    centres: Array | None

    def labels(self, Z: Array) -> Indices:
        """(n,) group of each row."""
        return self.assign(self.place(Z))


class Way(ABC):
    """A way to describe groups."""

    name: str
    numbers: tuple[int, ...]

    @abstractmethod
    def lies(self, Z: Array) -> Array:
        """(n, r) where (n, d) comparable rows lie, by what is learnt of themselves."""

    @abstractmethod
    def learnt(self, Z: Array, k: int, seed: int) -> GroupRule | None:
        """The rule for k groups of (n, d) comparable rows; None where there are not as many."""

    @abstractmethod
    def said(self, columns: Sequence[str]) -> str:
        """How groups are described, as part of a sentence: "The groups are ..."."""


@dataclass(frozen=True, slots=True)
class ColumnCut(Way):
    """Peaks of one column."""

    j: int
    name = "column"
    numbers = tuple(range(2, _MOST + 1))

    def lies(self, Z: Array) -> Array:
        """The column."""
        return Z[:, [self.j]]

    def learnt(self, Z: Array, k: int, seed: int) -> GroupRule | None:
        """Cut between the peaks."""
        return _cut(self.lies, Z, k)

    def said(self, columns: Sequence[str]) -> str:
        """Name the column."""
        return f"peaks of one column, {columns[self.j]}"


@dataclass(frozen=True, slots=True)
class Projection(Way):
    """Peaks along the direction with the largest dip."""

    name = "projection"
    numbers = tuple(range(2, _MOST + 1))

    def lies(self, Z: Array) -> Array:
        """Along the direction."""
        return np.asarray(Z @ _dipped(Z))

    def learnt(self, Z: Array, k: int, seed: int) -> GroupRule | None:
        """Cut between the peaks."""
        w = _dipped(Z)
        return _cut(lambda rows: rows @ w, Z, k)

    def said(self, columns: Sequence[str]) -> str:
        """One direction of all columns."""
        return "peaks along one direction in which all columns count"


@dataclass(frozen=True, slots=True)
class NearestCentres(Way):
    """k-means in a space."""

    space: SearchSpace
    numbers: tuple[int, ...]
    name = "centres"

    def lies(self, Z: Array) -> Array:
        """In the space."""
        return self.space.scores(Z)

    def learnt(self, Z: Array, k: int, seed: int) -> GroupRule | None:
        """The centres."""
        place = self.space.of(Z)
        found = grouped(place(Z), k, seed)
        return GroupRule(k, place, lambda S: labelled(S, found.centers), found.centers)

    def said(self, columns: Sequence[str]) -> str:
        """Where k-means found them."""
        where = "the columns" if self.space.whole else f"the {self.space.axes} largest components"
        return f"round lumps among {where} (k-means)"


@dataclass(frozen=True, slots=True)
class Laws(Way):
    """A mixture of normal laws with covariances of their own."""

    space: SearchSpace
    name = "mixture"
    numbers = tuple(range(2, _MOST + 1))

    def lies(self, Z: Array) -> Array:
        """In the space."""
        return self.space.scores(Z)

    def learnt(self, Z: Array, k: int, seed: int) -> GroupRule | None:
        """The mixture, from the groups of k-means on."""
        from assay.models.cluster.mixture.mixture import GaussianMixture

        place = self.space.of(Z)
        S = place(Z)
        mean, scale = S.mean(axis=0), S.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        start = grouped((S - mean) / scale, k, seed, _TRIES).centers * scale + mean
        found = GaussianMixture(k, floor=1e-2, means_init=start, random_state=seed).fit(S)
        return GroupRule(
            k,
            place,
            lambda T: np.asarray(found.predict(T), dtype=np.intp),
            np.asarray(found.means_),
        )

    def said(self, columns: Sequence[str]) -> str:
        """Lumps that may be long."""
        return "lumps of any length and slope (a mixture of normal laws)"


@dataclass(frozen=True, slots=True)
class DenseShapes(Way):
    """Dense parts of any shape."""

    room: Room
    name = "shapes"
    numbers = tuple(range(2, _MOST + 1))

    def lies(self, Z: Array) -> Array:
        """In the room."""
        return self.room.scores(Z)

    def learnt(self, Z: Array, k: int, seed: int) -> GroupRule | None:
        """The parts; another row belongs to that of the nearest row."""
        place = self.room.of(Z)
        S = place(Z)
        own = Dense.of(S).labels(k)
        if own is None:
            return None
        return GroupRule(k, place, lambda T: own[squared_distances(T, S).argmin(axis=1)], None)

    def said(self, columns: Sequence[str]) -> str:
        """Any shape."""
        return "dense parts of any shape, with a gap between"


def _dipped(Z: Array) -> Array:
    """(d, 1) the direction with the largest dip."""
    axes = np.hstack([components(Z), unusual(Z)])
    return axes[:, [int(dips(Z @ axes).argmax())]]


def _cut(place: Callable[[Array], Array], Z: Array, k: int) -> GroupRule | None:
    x = place(Z)[:, 0]
    cuts = peaks(x, k)
    if cuts is None:
        return None
    own = np.searchsorted(cuts, x)
    centres = np.array([[np.median(x[own == g])] for g in range(k)])
    return GroupRule(k, place, lambda S: np.searchsorted(cuts, S[:, 0]), centres)
