"""Which columns are distributed differently in two tables?

statistic  the most surprising look at each column (`looks.py`), and at which of its values are missing
chance     the names of the tables exchanged among rows (`exchange.py`); against the most surprising column of each draw
unseen     the difference in each fifth of the rows, its direction by the other four
reference  Westfall and Young, Resampling-based multiple testing (1993): the largest of all statistics in each draw
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.comparison.column_words import SHARE_WORDS, WORDS, LookedAt, said
from assay.comparison.differences import (
    DRAWS,
    FOLDS,
    METHOD,
    Difference,
    Differences,
    against_all,
    evidence_of,
    lines_of,
)
from assay.comparison.held_out import held_out_difference
from assay.comparison.looks import level_looks, measured_looks, standard_errors
from assay.comparison.pair import Pair
from assay.evidence.evidence import Null

WORDING = "Which columns are distributed differently?"
_LEVELLED = ("category", "boolean")


def ask(pair: Pair, seed: int, level: float) -> Differences | None:
    """The columns that differ, and those that do not.

    Args:
        pair: the two tables.
        seed: of the draws.
        level: level of the comparison.
    """
    second = pair.exchange.drawn(DRAWS, seed).astype(np.float64)
    columns = [column for j in range(len(pair.columns)) for column in _looked(pair, j, second)]
    if not columns:
        return None
    best = np.max([column.looks.column for column in columns], axis=0)
    folds = pair.exchange.folds(FOLDS, seed)
    upper = standard_errors(float(np.quantile(best[1:], 1.0 - level)))
    null = Null(METHOD, standard_errors(float(np.median(best[1:]))), upper, len(best) - 1)
    order = sorted(range(len(columns)), key=lambda c: (-columns[c].looks.column[0], c))
    found = tuple(_difference(pair, columns[c], best, null, folds, len(columns), level) for c in order)
    how = f"against the most surprising of {len(columns)} in each of {null.draws} draws"
    return Differences(found, len(columns), how)


def _looked(pair: Pair, j: int, second: Array) -> list[LookedAt]:
    """The looks at the values of a column and at which are missing, where there is something to see."""
    name, values = pair.columns[j], pair.values[:, j]
    present = np.isfinite(values)
    found = []
    both = present[pair.second].any() and present[~pair.second].any()
    if both and values[present].min() < values[present].max():
        if pair.kinds[j] in _LEVELLED:
            names = pair.levels.get(name, ("no", "yes"))
            found.append(LookedAt(name, "levels", level_looks(values, names, second, pair.exchange.ends)))
        else:
            looks = measured_looks(values, second, pair.exchange.ends)
            found.append(LookedAt(name, "length" if pair.kinds[j] == "text" else "values", looks))
    if not present.all() and present.any():
        gaps = level_looks((~present).astype(np.float64), ("present", "missing"), second, pair.exchange.ends)
        found.append(LookedAt(name, "missing", gaps))
    return found


def _difference(
    pair: Pair, column: LookedAt, best: Array, null: Null, folds: NDArray[np.intp], looks: int, level: float
) -> Difference:
    unseen = held_out_difference(column.looks.scores[:, column.looks.strongest], pair.second, folds)
    evidence = evidence_of(
        standard_errors(float(column.looks.column[0])),
        null,
        against_all(column.looks.column, best),
        unseen,
        n=pair.n,
        looks=looks,
        method=METHOD,
        level=level,
        limit=pair.exchange.limit,
    )
    line, sentence, numbers = said(pair, column)
    name = f"{'missing' if column.what == 'missing' else 'column'}-{column.name}"
    words = SHARE_WORDS if column.what in ("levels", "missing") else WORDS
    return Difference(name, "column", column.name, lines_of(line), sentence, evidence, words, unseen.holds, numbers)
