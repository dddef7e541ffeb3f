"""Which values are missing in the same rows, and in rows that follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.asking.gap_patterns import missing_sets
from assay.asking.table import FirstLook

MOST = 200  # patterns kept, the commonest
_SHORTEST = 10  # rows of a run that is told
_RARE = 1e-3  # chance of a run as long


@dataclass(frozen=True, slots=True)
class Pattern:
    """A set of columns that are missing in the same rows.

    Attributes:
        columns: those missing; none for complete rows.
        rows: how many rows lack these and no others.
    """

    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Run:
    """Rows that follow each other and lack a value.

    Attributes:
        column: what they lack.
        first, last: numbers of the rows in the data, from 1.
    """

    column: str
    first: int
    last: int


def patterns_of(look: FirstLook, columns: Sequence[str]) -> tuple[Pattern, ...]:
    """The sets of columns that are missing in the same rows, the commonest first.

    Args:
        look: the rows.
        columns: those that lack a value.
    """
    places = [look.columns.index(name) for name in columns]
    absent = np.isnan(look.values[:, places])
    return tuple(Pattern(names, rows) for names, rows in missing_sets(absent, columns, MOST))


def runs_of(look: FirstLook, columns: Sequence[str]) -> tuple[Run, ...]:
    """For each column the longest run of rows that lack it, where chance makes none as long in a thousand tables.

    Rows in any order have a run of L rows with a chance of at most n s^L, s the share missing.

    Args:
        look: the rows, in the order of the data; of a sample, a run reaches from its first to its last row drawn.
        columns: those that lack a value.
    """
    found = []
    for name in columns:
        absent = np.isnan(look.values[:, look.columns.index(name)])
        share = float(absent.mean())
        edges = np.flatnonzero(np.diff(np.concatenate([[0], absent.astype(np.int8), [0]])))
        starts, ends = edges[::2], edges[1::2]
        if not len(starts) or share == 1.0:
            continue
        k = int((ends - starts).argmax())
        length = int(ends[k] - starts[k])
        if length >= _SHORTEST and np.log(len(absent)) + length * np.log(share) < np.log(_RARE / len(columns)):
            found.append(Run(name, int(look.rows[starts[k]]), int(look.rows[ends[k] - 1])))
    return tuple(found)
