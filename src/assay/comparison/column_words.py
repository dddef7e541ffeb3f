"""The words for a column that is distributed differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.arrays import Array
from assay.asking.words import Words, one_line
from assay.comparison.looks import Looks
from assay.comparison.pair import Pair
from assay.linalg.ranks import average_ranks
from assay.views.axes.numbers import number, percent

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


def said(pair: Pair, column: LookedAt) -> tuple[str, str, dict[str, Any]]:
    """The line and the sentence of a difference, and its numbers for programs.

    Args:
        pair: the two tables.
        column: what was looked at.
    """
    return _of_levels(pair, column) if column.what in ("levels", "missing") else _of_numbers(pair, column)


def _of_numbers(pair: Pair, column: LookedAt) -> tuple[str, str, dict[str, Any]]:
    values, (a, b) = pair.values[:, pair.columns.index(column.name)], pair.names
    sides = [values[~pair.second & np.isfinite(values)], values[pair.second & np.isfinite(values)]]
    (low_a, mid_a, high_a), (low_b, mid_b, high_b) = (
        np.quantile(x, [0.25, 0.5, 0.75], method="inverted_cdf") for x in sides
    )
    above = _exceeds(*sides)
    way = column.looks.names[column.looks.strongest]
    if way == "location":
        agree = (mid_b - mid_a) * (above - 0.5) > 0.0
        lead = f"lies {'higher' if above > 0.5 else 'lower'} in {b}: median" if agree else "has a median of"
        words = (
            f"{lead} {number(mid_a)} in {a} and {number(mid_b)} in {b}; a row of {b} has the larger value in "
            f"{percent(above)} of pairs"
        )
        if agree:
            brief = f"lies {'higher' if above > 0.5 else 'lower'} in {{b}}: median {number(mid_b)}, not {number(mid_a)}"
        else:
            brief = f"has larger values in {{{'b' if above > 0.5 else 'a'}}} more often than not"
    else:
        score = column.looks.scores[:, column.looks.strongest]
        more = np.nanmean(score[pair.second]) > np.nanmean(score[~pair.second])
        shape = {"spread": f"spreads {'more' if more else 'less'} widely", "skew": "leans another way"}
        brief = f"{shape.get(way, 'has another shape')} in {{b}}"
        words = (
            f"{shape.get(way, 'has another shape')} in {b}: the middle half lies between {number(low_a)} and "
            f"{number(high_a)} in {a}, between {number(low_b)} and {number(high_b)} in {b}"
        )
    numbers = {
        "differs_in": way,
        "medians": [float(mid_a), float(mid_b)],
        "quartiles": [[float(low_a), float(high_a)], [float(low_b), float(high_b)]],
        "second_larger": above,
    }
    of = "The length of " if column.what == "length" else ""
    line = one_line(lambda short: f"{of}{short(column.name)} {brief.format(a=short(a), b=short(b))}")
    return line, f"{of}{column.name} {words}.", numbers


def _of_levels(pair: Pair, column: LookedAt) -> tuple[str, str, dict[str, Any]]:
    look = column.looks.strongest
    level, member = column.looks.names[look], column.looks.scores[:, look]
    shares = [float(np.nanmean(member[side])) for side in (~pair.second, pair.second)]
    what = "missing" if column.what == "missing" else level
    sentence = (
        f"{column.name} is {what} in {percent(shares[0])} of {pair.names[0]} and in {percent(shares[1])} of "
        f"{pair.names[1]}."
    )
    to = f"{percent(shares[1])} of the rows, not {percent(shares[0])}"
    line = one_line(lambda short: f"{short(column.name)} is {short(what)} in {to}, in {short(pair.names[1])}")
    return line, sentence, {"level": level, "shares": shares}


def _exceeds(first: Array, last: Array) -> float:
    """How often a value of the second table is the larger one of a pair; ties count half.

    >>> _exceeds(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.875
    """
    ranks = average_ranks(np.concatenate([first, last]))[len(first) :]
    return float((ranks.mean() - (len(last) + 1) / 2.0) / len(first))
