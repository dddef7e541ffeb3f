"""The ratings row by row, of users or of items, here or with workers: each row is solved on its own."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from assay.arrays import Array
from assay.engine.current import map_reduce
from assay.models.prediction.recommender.spread_ratings import RatedRows, SpreadRatings
from assay.optimize.team import Team
from assay.summary.ratings.ratings import Ratings

Given = Ratings | SpreadRatings
Kernel = Literal["explicit_rows", "implicit_rows"]


class HereSide(NamedTuple):
    """The ratings row by row, of users or of items."""

    starts: Any
    index: Any
    value: Array

    def solve(
        self, kernel: Kernel, other: tuple[Any, ...], own: Array, costs: tuple[Any, ...], told: Array, team: Team
    ) -> None:
        """Solve every row; see the kernels.

        Args:
            kernel: which.
            other: of the other side: F and offset, or F and G.
            own: (n, k) overwritten.
            costs: penalties of rows, and of biases where there are any.
            told: (n, 4) filled.
            team: of threads.
        """
        rows = getattr(_kernels(), kernel)
        fixed = (self.starts, self.index, self.value, *other, own, *costs, told)
        team.run(team.over_rows(len(own), lambda lo, hi: rows(lo, hi, *fixed)))


class SpreadSide(NamedTuple):
    """The same where workers keep the rows: the other side goes to them, their solutions come back."""

    blocks: Any
    change: Any
    measured: bool  # whether the gradient before the step is asked for, which needs what the rows were

    def solve(
        self, kernel: Kernel, other: tuple[Any, ...], own: Array, costs: tuple[Any, ...], told: Array, team: Team
    ) -> None:
        """Solve every row; arguments as above."""
        change, shape, before = self.change, own.shape[1:], own if self.measured else None

        def rows(part: RatedRows) -> list[tuple[Array, Array]]:
            n = len(part.starts) - 1
            X = np.zeros((n, *shape)) if before is None else before[part.rows].copy()
            said = np.zeros((n, 4))
            value = part.value if change is None else change(part.value)
            fixed = (part.starts, part.index, value, *other, X, costs[0][part.rows], *costs[1:], said)
            getattr(_kernels(), kernel)(0, n, *fixed)
            return [(X, said)]

        found = map_reduce(self.blocks, rows, list.__add__)
        np.concatenate([X for X, _ in found], out=own)
        np.concatenate([said for _, said in found], out=told)


def _kernels() -> Any:
    from assay.models.prediction.recommender import _kernels

    return _kernels


Side = HereSide | SpreadSide


def sides_of(ratings: Given) -> tuple[Side, Side]:
    """The ratings by user and by item."""
    if isinstance(ratings, SpreadRatings):
        return (
            SpreadSide(ratings.by_user, ratings.change, measured=False),
            SpreadSide(ratings.by_item, ratings.change, measured=True),
        )
    return here_sides(ratings)


def here_sides(ratings: Ratings) -> tuple[HereSide, HereSide]:
    """The same of ratings here."""
    turned = ratings.turned
    return (
        HereSide(ratings.starts, ratings.item, ratings.value),
        HereSide(turned.starts, turned.user, ratings.value[turned.place]),
    )
