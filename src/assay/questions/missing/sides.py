"""What gaps are compared with: two sides of the rows for each thing that may go with them.

high     of a number, date or length of a text, its ranks: where it is large
far      how far these ranks lie from the middle: where it is large or small
level    of a category, whether a row has this level
order    ranks of the rows in the order of the data
gap      whether another column is missing
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from assay.arrays import Array, Mask
from assay.asking.table import FirstLook
from assay.linalg.ranks import average_ranks

Way: TypeAlias = Literal["high", "far", "level", "order", "gap"]

FEWEST = 5  # rows that lack a value and rows that have it, below which a column is not compared
MOST_LACKING, MOST_COLUMNS, MOST_LEVELS = 100, 200, 20
_ORDERED = ("number", "count", "ordered", "time", "text")
_LEVELLED = ("category", "boolean")


@dataclass(frozen=True, slots=True)
class GapSide:
    """One thing that gaps may go with.

    Attributes:
        way: see above.
        column: number of the column in the look; -1 for the order of rows.
        level: which one, for a level.
    """

    way: Way
    column: int = -1
    level: str = ""

    @property
    def two(self) -> bool:
        """Whether rows are on one side or the other, without more or less."""
        return self.way in ("level", "gap")


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Gaps and what they are compared with, in m rows.

    Rows without any value are among them: without these, independent gaps would seem to take turns.

    Attributes:
        lacking: (a,) numbers of the columns whose gaps are compared.
        gaps: (m, a) where these are missing.
        sides: (v,) what they are compared with.
        values: (m, v) ranks about their middle, or -1/2 and 1/2; 0 where there is none.
        known: (m, v) where there is one.
    """

    lacking: tuple[int, ...]
    gaps: Mask
    sides: tuple[GapSide, ...]
    values: Array
    known: Mask

    def beside(self, sides: Mask) -> Compared:
        """The same by some of what gaps are compared with.

        Args:
            sides: (v,) which.
        """
        named = tuple(self.sides[v] for v in np.flatnonzero(sides))
        return Compared(self.lacking, self.gaps, named, self.values[:, sides], self.known[:, sides])

    def among(self, rows: Mask) -> Compared:
        """The same for some rows.

        Args:
            rows: (m,) which.
        """
        return Compared(self.lacking, self.gaps[rows], self.sides, self.values[rows], self.known[rows])


def compared(look: FirstLook) -> Compared:
    """Gaps of a sample of rows and what they may go with.

    Of many columns those that lack most are compared, and those that lack least are compared with.

    Args:
        look: the sample.
    """
    values = look.values
    absent = np.isnan(values)
    missing = absent.sum(axis=0)
    fit = np.flatnonzero((missing >= FEWEST) & (missing <= len(values) - FEWEST))
    lacking = np.sort(fit[np.argsort(-missing[fit], kind="stable")[:MOST_LACKING]])
    parts = [(GapSide("order"), look.rows.astype(np.float64))]
    for j in np.sort(np.argsort(missing, kind="stable")[:MOST_COLUMNS]):
        parts += _of_column(look, int(j), values[:, j])
    parts += [(GapSide("gap", int(j)), absent[:, j].astype(np.float64)) for j in lacking]
    ready = [_centred(side, value) for side, value in parts]
    return Compared(
        lacking=tuple(lacking.tolist()),
        gaps=absent[:, lacking],
        sides=tuple(side for side, _ in parts),
        values=np.stack([value for value, _ in ready], axis=1),
        known=np.stack([known for _, known in ready], axis=1),
    )


def _of_column(look: FirstLook, j: int, values: Array) -> list[tuple[GapSide, Array]]:
    """What one column is compared by, NaN where it has no value."""
    kind, there = look.kinds[j], ~np.isnan(values)
    met, counts = np.unique(values[there], return_counts=True)
    if len(met) < 2:
        return []
    if kind in _ORDERED and len(met) > 2:
        ranks = np.full(len(values), np.nan)
        ranks[there] = average_ranks(values[there])
        middle = (there.sum() + 1) / 2.0
        return [(GapSide("high", j), ranks), (GapSide("far", j), np.abs(ranks - middle))]
    if kind not in _ORDERED + _LEVELLED:
        return []
    often = np.argsort(-counts, kind="stable")
    often = often[1:2] if len(met) == 2 else often[:MOST_LEVELS]
    return [
        (GapSide("level", j, _name(look, j, met[k])), np.where(there, values == met[k], np.nan))
        for k in often
        if counts[k] >= FEWEST
    ]


def _name(look: FirstLook, j: int, value: float) -> str:
    names = look.levels.get(look.columns[j], ())
    if names and 0 <= int(value) < len(names):
        return names[int(value)]
    return ("yes" if value else "no") if look.kinds[j] == "boolean" else f"{value:g}"


def _centred(side: GapSide, value: Array) -> tuple[Array, Mask]:
    """What rows have, about the middle; where there is something."""
    known = np.isfinite(value)
    if side.two:
        return np.where(known, value - 0.5, 0.0), known
    ranks = np.zeros(len(value))
    ranks[known] = average_ranks(value[known])
    middle = (known.sum() + 1) / 2.0
    return np.where(known, (ranks - middle) / max(known.sum(), 1), 0.0), known
