"""Do the levels of a column explain too much of the others: rows of one subject, site or batch?

A category of a few levels, each in many rows, is a property of rows like any other. A column of many levels, each in a
few rows, that explains a good part of most other columns names what rows were taken from.

statistic  share of the variance of ranks between levels, for each other column, beyond what the order of levels gives
           where they are numbers (an age explains much, but smoothly)
chance     F of an analysis of variance, pooled over columns by the Cauchy rule
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import fdtrc

from assay.arrays import Array, Indices
from assay.evidence.design import Grouped
from assay.linalg.noise.cauchy_combination import cauchy_combined
from assay.linalg.ranks import average_ranks

LEVEL = 1e-3
_LEFT = 0.9  # of the rows, for the pair of columns that loses most: above, nothing is done
_MANY, _FEW = 12, 4  # levels of a column that names subjects; the second where its name says so
_SEVERAL = 2  # columns that the levels explain, at least
_ROWS_EACH = 60  # at most, on average, where its name does not say so
_OFF_EACH = 2  # rows for each level that lack a column's commonest value: by fewer of them F is not what it is called
_SMOOTH = 6  # waves of its ranks that stand for the order of a number, at least
_LEVELS_A_WAVE = 3  # of many levels more waves, which follow a step: at some length all birds are of another species
_NAMES = re.compile(
    r"(^|[^a-z])(subj(ect)?|patient|participant|person|pupil|student|user|customer|client|animal|mouse|rat|donor|site|"
    r"batch|plate|school|class(room)?|household|family|hospital|clinic|centre|center|farm|plot|block|session|cluster|"
    r"litter|id|nr|no|number)([^a-z]|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, eq=False)
class LevelCandidate:
    """A column that may name what rows were taken from.

    Attributes:
        codes: (n,) number of the level of each row, -1 where missing.
        ordered: whether the levels are numbers, whose order may explain as much.
    """

    codes: Indices
    ordered: bool


@dataclass(frozen=True, slots=True, eq=False)
class LevelsLook:
    """A column whose levels explain too much.

    Attributes:
        column: its name.
        p: chance of as much by levels that mean nothing.
        shared: intraclass correlation of the typical column.
        design: rows of one level together.
    """

    column: str
    p: float
    shared: float
    design: Grouped


def levels_look(X: Array, owner: tuple[str, ...], candidates: Mapping[str, LevelCandidate]) -> LevelsLook | None:
    """The column that explains most, of those that explain too much; None if none does.

    Args:
        X: (n, D) rows.
        owner: (D,) the column of the data that each number was made from.
        candidates: columns that repeat.
    """
    if not candidates:
        return None
    off = np.array([_off_commonest(column) for column in X.T], dtype=np.intp)
    Z = _units(average_ranks(X, axis=0))  # of all columns once, whichever candidate is judged by them
    found = [
        look
        for name, candidate in candidates.items()
        if (look := _judged(Z, off, owner, name, candidate, len(candidates))) is not None
    ]
    return max(found, key=lambda look: look.shared, default=None)


def could_name_subjects(name: str, levels: int, rows: int) -> bool:
    """Whether a column has the shape of one that names subjects: many levels in a few rows each, or a telling name."""
    if rows < 2 * levels:
        return False
    return levels >= _FEW if _NAMES.search(name) else levels >= _MANY and rows <= _ROWS_EACH * levels


def _judged(
    Z: Array, off: Indices, owner: tuple[str, ...], name: str, candidate: LevelCandidate, looks: int
) -> LevelsLook | None:
    """What a candidate explains of the ranks of the others, (n, D) of length 1.

    Args:
        Z: ranks of all columns.
        off: (D,) rows that do not have the commonest value of a column.
        owner: as `levels_look` has it.
        name: of the candidate.
        candidate: its levels.
        looks: how many are judged.
    """
    label = np.unique(candidate.codes, return_inverse=True)[1]
    n, groups = len(Z), int(label.max()) + 1
    used = [j for j, own in enumerate(owner) if own != name and off[j] >= _OFF_EACH * groups]
    Z, owner = Z[:, used], tuple(owner[j] for j in used)
    if not Z.shape[1] or not could_name_subjects(name, groups, n):
        return None
    free = groups - 1
    if candidate.ordered:
        waves = max(_SMOOTH, groups // _LEVELS_A_WAVE)
        Z, free = _units(_without_order(Z, candidate.codes, waves)), max(free - waves, 1)
    design = Grouped(n, label)
    sums = np.asarray(sp.csr_array((np.ones(n), (label, np.arange(n))), shape=(groups, n)) @ Z)
    between = np.minimum((sums**2 / design.sizes[:, None]).sum(axis=0), 1.0 - 1e-12)
    ratio = between / free / ((1.0 - between) / (n - groups))
    each = fdtrc(free, n - groups, ratio)
    p = float(cauchy_combined(each)) * looks
    # one column that goes with the levels is a pair of columns, several are rows of one kind
    if p > LEVEL or len({owner[j] for j in np.flatnonzero(each <= LEVEL)}) < _SEVERAL:
        return None
    if design.least_effective(Z) > _LEFT * n:
        return None
    return LevelsLook(name, min(p, 1.0), float(np.median((ratio - 1.0) / (ratio - 1.0 + n / groups))), design)


def _off_commonest(x: Array) -> int:
    """How many rows do not have the commonest value."""
    return len(x) - int(np.unique(x, return_counts=True)[1].max())


def _units(Z: Array) -> Array:
    """Columns of length 1; 0 where nothing is left."""
    Z = Z - Z.mean(axis=0)
    size = np.linalg.norm(Z, axis=0)
    return np.asarray(np.divide(Z, size, out=np.zeros_like(Z), where=size > 1e-9))


def _without_order(Z: Array, codes: Indices, many: int) -> Array:
    """What the order of the levels, in so many waves, does not explain."""
    u = (average_ranks(codes) - 0.5) / len(codes)
    waves = np.cos(np.pi * np.outer(u, np.arange(many + 1)))
    basis = np.linalg.qr(waves)[0]
    return np.asarray(Z - basis @ (basis.T @ Z))
