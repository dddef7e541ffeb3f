"""The words for a column that is distributed differently."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.arrays import Array
from assay.asking.words import Words
from assay.comparison.differences import Say
from assay.comparison.looks import Looks
from assay.comparison.pair import Pair
from assay.linalg.ranks import average_ranks
from assay.views.axes.numbers import percent, told_apart, value

_READING = (
    "A column whose values lie elsewhere, spread otherwise or are missing more often in one table. Rows are exchanged "
    "between the tables by chance; the difference counts where hardly any exchange makes one as large in any column."
)
_ERRORS = "The difference in standard errors"
WORDS = Words("column", "columns", statistic=_ERRORS, held_out="standard deviations apart in ranks", reading=_READING)
SHARE_WORDS = Words(
    "column", "columns", statistic=_ERRORS, held_out="apart in share", held_out_format=percent, reading=_READING
)


@dataclass(frozen=True, slots=True, eq=False)
class LookedAt:
    """A column and the looks at it.

    Attributes:
        name: of the column.
        what: whether its values, the length of its texts, its levels or its gaps were compared.
        looks: at these.
    """

    name: str
    what: Literal["values", "length", "levels", "missing"]
    looks: Looks


def said(pair: Pair, column: LookedAt) -> tuple[Say, str, dict[str, Any]]:
    """What writes the line, and the sentence of a difference and its numbers for programs.

    Args:
        pair: the two tables.
        column: what was looked at.
    """
    return _of_levels(pair, column) if column.what in ("levels", "missing") else _of_numbers(pair, column)


def _of_numbers(pair: Pair, column: LookedAt) -> tuple[Say, str, dict[str, Any]]:
    values, (a, b) = pair.values[:, pair.columns.index(column.name)], pair.names
    sides = [values[~pair.second & np.isfinite(values)], values[pair.second & np.isfinite(values)]]
    (low_a, mid_a, high_a), (low_b, mid_b, high_b) = (
        np.quantile(x, [0.25, 0.5, 0.75], method="inverted_cdf") for x in sides
    )
    above = _exceeds(*sides)
    middles = told_apart(value, [float(mid_a), float(mid_b)], 3)
    way = column.looks.names[column.looks.strongest]
    if way == "location":
        agree = (mid_b - mid_a) * (above - 0.5) > 0.0
        way_up = "higher" if above > 0.5 else "lower"
        lead = f"lies {way_up} in {b}: median" if agree else "has a median of"
        words = (
            f"{lead} {middles[0]} in {a} and {middles[1]} in {b}; a row of {b} has the larger value in "
            f"{percent(above)} of pairs"
        )
        if agree:
            brief = f"lies {way_up} in {{b}}: median {middles[1]}, in {{a}} {middles[0]}"
        else:
            brief = f"has larger values in {{{'b' if above > 0.5 else 'a'}}} more often than not"
    else:
        score = column.looks.scores[:, column.looks.strongest]
        more = np.nanmean(score[pair.second]) > np.nanmean(score[~pair.second])
        shape = {"spread": f"spreads {'more' if more else 'less'} widely", "skew": "leans another way"}
        brief = f"{shape.get(way, 'has another shape')} in {{b}}"
        ends = told_apart(value, [float(end) for end in (low_a, high_a, low_b, high_b)], 3)
        words = (
            f"{shape.get(way, 'has another shape')} in {b}: the middle half lies between {ends[0]} and "
            f"{ends[1]} in {a}, between {ends[2]} and {ends[3]} in {b}"
        )
    numbers = {
        "differs_in": way,
        "medians": [float(mid_a), float(mid_b)],
        "quartiles": [[float(low_a), float(high_a)], [float(low_b), float(high_b)]],
        "second_larger": above,
    }
    of = "The length of " if column.what == "length" else ""

    def line(short: Callable[[str], str]) -> str:
        return f"{of}{short(column.name)} {brief.format(a=short(a), b=short(b))}"

    return line, f"{of}{column.name} {words}.", numbers


def _of_levels(pair: Pair, column: LookedAt) -> tuple[Say, str, dict[str, Any]]:
    look = column.looks.strongest
    level, member = column.looks.names[look], column.looks.scores[:, look]
    shares = [float(np.nanmean(member[side])) for side in (~pair.second, pair.second)]
    what = "missing" if column.what == "missing" else level
    before, after = told_apart(percent, shares, 1)

    def said(short: Callable[[str], str]) -> str:
        a, b = map(short, pair.names)
        return f"{short(column.name)} is {short(what)} in {before} of {a} and {after} of {b}"

    return said, f"{said(str)}.", {"level": level, "shares": shares}


def _exceeds(first: Array, last: Array) -> float:
    """How often a value of the second table is the larger one of a pair; ties count half.

    >>> _exceeds(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.875
    """
    ranks = average_ranks(np.concatenate([first, last]))[len(first) :]
    return float((ranks.mean() - (len(last) + 1) / 2.0) / len(first))
