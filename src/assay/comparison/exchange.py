"""What chance does to the names of two tables: rows change tables, those that depend on each other together.

If nothing differs, it is chance which rows came in which table. So the name of the table is drawn anew:

independent     among all rows
groups, runs    among whole groups or runs; a group with rows in both tables changes sides with itself or not at all,
                which holds for pairs (before and after) and for names that two tables only happen to share
time            the border between the tables is shifted around the circle that both make, one behind the other

Reference: Good, Permutation, parametric and bootstrap tests of hypotheses (2005), chapters 3 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.arrays import Indices, Mask
from assay.evidence.design import Design, Grouped, Independent, Placed, Runs, Serial

_ENDS = 8.0  # as in `evidence.design.serial`
_CELL = 3.0  # rows that lie so many times nearer than dependence reaches move together
_PLACES = "rows lie at places, and no chance is known that exchanges two maps"
_UNEVEN = "the tables hold such uneven parts of the groups that exchanging these changes the sizes of the tables"
_TRIED, _CHANGED = 99, 0.25
_FEWEST = 199  # draws by which the question of the least weight can still be called supported beside all others
_MIXED = "rows of the two tables depend on each other in different ways"


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """Rows of two tables, one behind the other, and what may change tables.

    Attributes:
        second: (n,) whether a row is of the second table.
        unit: (n,) rows with the same number move together; all rows of a unit are of one table.
        twin: (u,) of each unit the number of a group, the same for its part in the other table.
        run: rows of a run of time, where the border is shifted; 0 where units change tables.
        limit: why nothing can be called supported; empty where it can.
        ends: by how much the tables as they are may differ more than by a shift: a series ends where the border is,
            while a shifted border has neighbours on both sides that are alike.
        times: how many times as many draws are made as usual.
    """

    second: Mask
    unit: Indices
    twin: Indices
    run: int = 0
    limit: str = ""
    ends: float = 1.0
    times: float = 1.0

    @property
    def n(self) -> int:
        """Rows of both tables."""
        return len(self.second)

    @property
    def independent(self) -> bool:
        """Whether every row moves alone."""
        return self.run == 0 and len(self.twin) == self.n

    def drawn(self, draws: int, seed: int) -> Mask:
        """(n, m + 1) the rows of the second table: first as they are, then as chance has them; m is at most `draws`.

        Args:
            draws: how many are usual; fewer come where there are fewer shifts.
            seed: of the draws.
        """
        draws = max(round(self.times * draws), min(draws, _FEWEST))
        rng = np.random.default_rng(seed)
        if self.run:
            shifts = rng.permutation(self.n - 1)[:draws] + 1
            return np.stack([np.roll(self.second, int(shift)) for shift in (0, *shifts)], axis=1)
        of_unit = np.zeros(len(self.twin), dtype=bool)
        of_unit[self.unit] = self.second
        every = np.repeat(of_unit[:, None], draws + 1, axis=1)
        both = np.isin(self.twin, np.flatnonzero(np.bincount(self.twin) > 1))
        every[~both, 1:] = rng.permuted(every[~both, 1:], axis=0)
        turned = rng.random((int(self.twin.max()) + 1, draws)) < 0.5
        every[both, 1:] ^= turned[self.twin[both]]
        return every[self.unit]

    def folds(self, k: int, seed: int) -> Indices:
        """(n,) fold of each row, whatever its table: whole groups, or short runs of time in turn.

        Args:
            k: how many folds.
            seed: of the assignment.
        """
        if self.run:
            return np.asarray(np.arange(self.n) // self.run % k)
        group = np.unique(self.twin, return_inverse=True)[1][self.unit]
        if self.independent:
            return np.asarray(np.random.default_rng(seed).permutation(np.arange(self.n) % k))
        return Grouped(self.n, group).folds(k, seed)

    def among(self, rows: Indices) -> Exchange:
        """The same for some rows, ascending."""
        unit, place = np.unique(self.unit[rows], return_inverse=True)
        run = max(1, round(self.run * len(rows) / self.n)) if self.run else 0
        return Exchange(self.second[rows], place, self.twin[unit], run, self.limit, self.ends, self.times)


def exchange_of(
    designs: tuple[Design, Design],
    second: tuple[bool, bool],
    groups: tuple[Indices, Indices] | None,
    effective: float,
) -> Exchange:
    """How rows of two tables, one behind the other, may change tables. What holds in one is taken to hold in both.

    Args:
        designs: how rows of each depend on each other.
        second: which of the two is the second table.
        groups: by row of each table what it was taken from, numbered alike in both; None where no column says so.
        effective: rows that count, in the table that has fewer.
    """
    sizes = [design.n for design in designs]
    which = np.repeat(np.array(second), sizes)
    kinds = {type(design) for design in designs} - {Independent}
    limit = next((design.limit for design in designs if design.limit), "")
    if not kinds:
        return Exchange(which, np.arange(len(which)), np.arange(len(which)), limit=limit)
    if kinds <= {Serial, Runs} and Serial in kinds:
        run = max(2 * design.memory for design in designs if isinstance(design, Serial))
        rows = np.arange(len(which))
        return Exchange(which, rows, rows, min(run, len(which) // 10 + 1), limit, np.sqrt(1.0 + _ENDS / effective))
    length = max((design.length for design in designs if isinstance(design, Runs)), default=0)
    units, twins, start = [], [], 0
    for place, design in enumerate(designs):
        label = groups[place] if groups is not None else _units(design, length)
        names, unit = np.unique(label, return_inverse=True)
        twins.append(names if groups is not None else start + np.arange(len(names)))
        units.append(start + unit)
        start += len(names)
    if Placed in kinds:
        limit = limit or _PLACES
    elif len(kinds) > 1:
        limit = limit or _MIXED
    found = Exchange(which, np.concatenate(units), np.concatenate(twins), limit=limit)
    return found if limit or not _uneven(found) else replace(found, limit=_UNEVEN)


def _uneven(exchange: Exchange) -> bool:
    """Whether a draw changes the sizes of the tables much: chance would then compare tables of other sizes."""
    sizes = exchange.drawn(_TRIED, 0).sum(axis=0)
    fewer = min(sizes[0], exchange.n - sizes[0])
    return bool(np.median(np.abs(sizes[1:] - sizes[0])) > _CHANGED * fewer)


def _units(design: Design, length: int) -> Indices:
    """(n,) rows of one table that move together; a table without a reason of its own takes the other's."""
    if isinstance(design, Grouped):
        return design.label
    if isinstance(design, Runs):
        return np.asarray(design.place // length)
    if isinstance(design, Serial):
        return np.asarray(design.place // max(2 * design.memory, 1))
    if isinstance(design, Placed):
        sides = np.ptp(design.at, axis=0)
        cells = max(2, int(np.prod(np.maximum(sides / max(_CELL * design.reach, 1e-300), 1.0)).clip(2, design.n)))
        return design.folds(cells)
    return np.asarray(np.arange(design.n) // max(length, 1))
