"""What a reader must know of two tables before relying on their comparison: facts that are no finding."""

from __future__ import annotations

import numpy as np

from assay.asking.words import listed
from assay.comparison.pair import Pair, Side
from assay.data.row_hashes import hashes_of_numbers
from assay.views.axes.numbers import count, counted

_SHARED = 0.05  # of the rows of the smaller table
_TELLING = 0.9  # of the rows, the share that one column alone tells apart
_COLUMNS, _LEVELS = 5, 3
_SHOWN_ONLY = {"time": "times", "identifier": "identifiers", "other": "lists and records"}


def notes(sides: tuple[Side, Side], pair: Pair) -> list[str]:
    """Sentences on rows that are in both tables, levels that are in one, and columns that are not compared.

    Args:
        sides: the two tables.
        pair: the columns they share.
    """
    return [*_same_rows(sides, pair), *_levels(sides), *_not_compared(sides, pair)]


def levels_apart(sides: tuple[Side, Side]) -> dict[str, tuple[dict[str, int], dict[str, int]]]:
    """By column of both tables, the levels that only one of them has, with their rows.

    Args:
        sides: the two tables.
    """
    tallies = [
        {
            known.name: stats.levels.counts
            for known, stats in zip(side.profile.stats.settled, side.profile.columns, strict=True)
            if known.kind == "category" and stats.levels is not None and stats.levels.exact
        }
        for side in sides
    ]
    found = {}
    for name in tallies[0]:
        if name in tallies[1]:
            first, second = tallies[0][name], tallies[1][name]
            only = (
                {k: n for k, n in first.items() if k not in second},
                {k: n for k, n in second.items() if k not in first},
            )
            if any(only):
                found[name] = only
    return found


def _same_rows(sides: tuple[Side, Side], pair: Pair) -> list[str]:
    if len(pair.columns) < 2 or max(len(np.unique(x)) for x in pair.values.T[:200]) < _TELLING * pair.n / 2:
        return []
    hashes = hashes_of_numbers(pair.values)
    shared = int(np.isin(hashes[pair.second], hashes[~pair.second]).sum())
    if shared < max(2.0, _SHARED * min(pair.second.sum(), (~pair.second).sum())):
        return []
    return [
        f"{count(shared)} rows of {sides[1].name} are in {sides[0].name}, too: what two tables share cannot differ."
    ]


def _levels(sides: tuple[Side, Side]) -> list[str]:
    said = []
    for name, only in levels_apart(sides).items():
        for side, levels in zip(sides, only, strict=True):
            if levels:
                most = sorted(levels, key=lambda level: -levels[level])
                shown = listed([f"{level} ({counted(levels[level], 'row')})" for level in most[:_LEVELS]])
                more = f" and {count(len(most) - _LEVELS)} more" if len(most) > _LEVELS else ""
                said.append(f"{name} has levels that only {side.name} has: {shown}{more}.")
    beyond = f"{count(len(said) - _COLUMNS)} more columns have levels that only one table has."
    end = "Rare levels come and go by chance; the findings say where there is more to it."
    return [*said[:_COLUMNS], *([beyond] if len(said) > _COLUMNS else []), *([end] if said else [])]


def _not_compared(sides: tuple[Side, Side], pair: Pair) -> list[str]:
    said: dict[str, list[str]] = {}
    for column in sides[0].card.columns:
        if column.kind in _SHOWN_ONLY and column.name not in pair.columns:
            said.setdefault(_SHOWN_ONLY[column.kind], []).append(column.name)
    return [f"Columns of {what} are shown, not compared: {listed(names)}." for what, names in said.items()]
