"""Which columns are distributed differently in two tables?

statistic  the most surprising look at each column (`looks.py`), and at which of its values are missing
chance     the names of the tables exchanged among rows (`exchange.py`); the most surprising column of each draw covers all
unseen     the difference in each fifth of the rows, its direction by the other four
reference  Westfall and Young, Resampling-based multiple testing (1993): the largest of all statistics in each draw
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from assay.asking.words import Words
from assay.comparison.differences import DRAWS, FOLDS, Difference, Differences, against_all, evidence_of
from assay.comparison.held_out import held_out_difference
from assay.comparison.looks import Looks, level_looks, measured_looks, standard_errors
from assay.comparison.pair import Pair
from assay.evidence.evidence import Null
from assay.views.numbers import number, percent

WORDING = "Which columns are distributed differently?"
METHOD = "names of the tables exchanged among rows"
LEVELLED = ("category", "boolean")
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
class _Column:
    name: str
    what: str
    looks: Looks


def ask(pair: Pair, seed: int, alpha: float) -> Differences | None:
    """The columns that differ, and those that do not.

    Args:
        pair: the two tables.
        seed: of the draws.
        alpha: level of the comparison.
    """
    second = pair.exchange.drawn(DRAWS, seed)
    columns = [column for j in range(len(pair.columns)) for column in _looked(pair, j, second)]
    if not columns:
        return None
    best = np.max([column.looks.column for column in columns], axis=0)
    folds = pair.exchange.folds(FOLDS, seed)
    upper = standard_errors(float(np.quantile(best[1:], 1.0 - alpha)))
    null = Null(METHOD, standard_errors(float(np.median(best[1:]))), upper, len(best) - 1)
    order = sorted(range(len(columns)), key=lambda c: (-columns[c].looks.column[0], c))
    found = tuple(_difference(pair, columns[c], best, null, folds, len(columns), alpha) for c in order)
    return Differences(found, len(columns), f"against the most surprising of {len(columns)} in each of {null.draws} draws")


def _looked(pair: Pair, j: int, second: NDArray[np.bool_]) -> list[_Column]:
    """The looks at the values of a column and at which are missing, where there is something to see."""
    name, values = pair.columns[j], pair.values[:, j]
    present = np.isfinite(values)
    found = []
    both = present[pair.second].any() and present[~pair.second].any()
    if both and values[present].min() < values[present].max():
        if pair.kinds[j] in LEVELLED:
            names = pair.levels.get(name, ("no", "yes"))
            found.append(_Column(name, "levels", level_looks(values, names, second)))
        else:
            what = "length" if pair.kinds[j] == "text" else "values"
            found.append(_Column(name, what, measured_looks(values, second)))
    if not present.all() and present.any():
        found.append(_Column(name, "missing", level_looks((~present).astype(np.float64), ("present", "missing"), second)))
    return found


def _difference(
    pair: Pair, column: _Column, best: NDArray[np.float64], null: Null, folds: NDArray[np.intp], looks: int, alpha: float
) -> Difference:
    look = column.looks.strongest
    scores = column.looks.scores[:, look]
    measured = column.what in ("values", "length")
    evidence = evidence_of(
        standard_errors(float(column.looks.column[0])),
        null,
        against_all(column.looks.column, best),
        held_out_difference(scores, pair.second, folds),
        n=pair.n,
        looks=looks,
        method=METHOD,
        alpha=alpha,
        limit=pair.exchange.limit,
    )
    sentence, numbers = _measured(pair, column) if measured else _levels(pair, column, look)
    name = "column" if column.what in ("values", "levels", "length") else column.what
    words = WORDS if measured else SHARE_WORDS
    return Difference(
        f"{name}-{column.name}", "column", column.name, sentence, evidence, words, (evidence.held_out or 0.0) > 0.0, numbers
    )


def _measured(pair: Pair, column: _Column) -> tuple[str, dict[str, Any]]:
    values = pair.values[:, pair.columns.index(column.name)]
    sides = [values[~pair.second & np.isfinite(values)], values[pair.second & np.isfinite(values)]]
    quarters = [np.quantile(x, [0.25, 0.5, 0.75], method="inverted_cdf") for x in sides]
    above = _exceeds(*sides)
    what = f"The length of {column.name}" if column.what == "length" else column.name
    a, b = pair.names
    way = column.looks.names[column.looks.strongest]
    (low_a, mid_a, high_a), (low_b, mid_b, high_b) = quarters
    if way == "location":
        say = f"lies {'higher' if above > 0.5 else 'lower'} in {b}: median {number(mid_a)} in {a}, {number(mid_b)} in {b}"
        say += f"; a row of {b} has the larger value in {percent(above)} of pairs"
    else:
        wider = high_b - low_b > high_a - low_a
        lead = {"spread": f"spreads {'more' if wider else 'less'} in {b}", "skew": f"leans another way in {b}"}
        say = f"{lead.get(way, f'has other ends in {b}')}: the middle half lies between {number(low_a)} and {number(high_a)} in {a}"
        say += f", between {number(low_b)} and {number(high_b)} in {b}"
    numbers = {
        "differs in": way,
        "medians": [float(mid_a), float(mid_b)],
        "quartiles": [[float(low_a), float(high_a)], [float(low_b), float(high_b)]],
        "second larger": above,
    }
    return f"{what} {say}.", numbers


def _levels(pair: Pair, column: _Column, look: int) -> tuple[str, dict[str, Any]]:
    level, member = column.looks.names[look], column.looks.scores[:, look]
    shares = [float(np.nanmean(member[side])) if np.isfinite(member[side]).any() else 0.0 for side in (~pair.second, pair.second)]
    a, b = pair.names
    what = f"{column.name} is missing" if column.what == "missing" else f"{column.name} is {level}"
    said = f"{what} in {percent(shares[0])} of {a} and in {percent(shares[1])} of {b}."
    return said, {"level": level, "shares": shares}


def _exceeds(first: NDArray[np.float64], last: NDArray[np.float64]) -> float:
    """How often a value of the second table is the larger one of a pair; ties count half."""
    ranks = rankdata(np.concatenate([first, last]))[len(first) :]
    return float((ranks.mean() - (len(last) + 1) / 2.0) / len(first))
