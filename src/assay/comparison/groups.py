"""Do groups of rows have other shares in one table than in the other?

statistic  rows of both tables together in 2 to 8 groups by k-means, which does not know the tables; then the look at
           levels (`looks.py`) for each number of groups
chance     the names of the tables exchanged among rows; the groups stay, so the test is exact
unseen     the difference of the share in each fifth of the rows, its direction by the other four
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from assay.arrays import Array
from assay.asking.words import Words
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
from assay.comparison.looks import level_looks, standard_errors
from assay.comparison.pair import Pair
from assay.evidence.evidence import Null
from assay.optimize.kmeans.lloyd import group_few_rows
from assay.views.axes.numbers import percent, told_apart

WORDING = "Do groups of rows have other shares?"
WORDS = Words(
    "group of rows",
    "groups of rows",
    statistic="The difference in standard errors",
    held_out="apart in share",
    held_out_format=percent,
    reading="Rows of both tables that lie near each other, found without knowing the tables. Their shares can be "
    "compared whether or not they stand apart from other rows; that is a question for a report on each table.",
)
_GROUPS = range(2, 9)
_FAR = 5.0
_ROWS_EACH = 10
_NAMED = 0.7
_STARTS = 5
_SAMPLED = 2000


def ask(pair: Pair, seed: int, level: float) -> Differences | None:
    """The group whose share differs most; None where no column is measured or rows are few.

    Args:
        pair: the two tables.
        seed: of the groups and draws.
        level: level of the comparison.
    """
    if not pair.measured.any() or pair.n < _ROWS_EACH * _GROUPS[0]:
        return None
    X = _standard(pair.numbers[:, pair.measured])
    second = pair.exchange.drawn(DRAWS, seed).astype(np.float64)
    labels = [_grouped(X, k, seed) for k in _GROUPS if pair.n >= _ROWS_EACH * k]
    looks = [
        level_looks(one.astype(np.float64), tuple(map(str, range(one.max() + 1))), second, pair.exchange.ends)
        for one in labels
    ]
    best = np.max([look.column for look in looks], axis=0)
    at = int(np.argmax([look.column[0] for look in looks]))
    upper = standard_errors(float(np.quantile(best[1:], 1.0 - level)))
    null = Null(METHOD, standard_errors(float(np.median(best[1:]))), upper, len(best) - 1)
    member = looks[at].scores[:, looks[at].strongest]
    unseen = held_out_difference(member, pair.second, pair.exchange.folds(FOLDS, seed))
    evidence = evidence_of(
        standard_errors(float(best[0])),
        null,
        against_all(looks[at].column, best),
        unseen,
        n=pair.n,
        looks=sum(int(one.max()) + 1 for one in labels),
        method=METHOD,
        level=level,
        limit=pair.exchange.limit,
    )
    shares = [float(member[side].mean()) for side in (~pair.second, pair.second)]
    count = int(labels[at].max()) + 1
    share = told_apart(percent, shares, 1)
    sentence = (
        f"Rows with {_described(pair, X, member > 0)} make up {share[0]} of {pair.names[0]} and {share[1]} of "
        f"{pair.names[1]}: one of {count} groups of both tables together."
    )
    lines = lines_of(
        lambda short: (
            f"A group of rows makes up {share[0]} of {short(pair.names[0])} and {share[1]} of {short(pair.names[1])}"
        )
    )
    numbers = {"groups": count, "shares": shares}
    one = Difference("groups", "groups", "groups of rows", lines, sentence, evidence, WORDS, unseen.holds, numbers)
    return Differences((one,), evidence.looks, f"against the most surprising group in each of {null.draws} draws")


def _standard(X: Array) -> Array:
    """(n, d) from the median, in units of the middle half, drawn in at 5; gaps at the median."""
    Z = np.zeros_like(X)
    for j, x in enumerate(X.T):
        there = np.isfinite(x)
        low, middle, high = np.quantile(x[there], [0.25, 0.5, 0.75], method="inverted_cdf")
        unit = (high - low) / 1.349 or float(np.abs(x[there] - middle).max()) or 1.0
        Z[there, j] = np.clip((x[there] - middle) / unit, -_FAR, _FAR)
    return Z


def _grouped(X: Array, k: int, seed: int) -> NDArray[np.intp]:
    """(n,) nearest of k centres, which a fair sample of rows gives."""
    some = np.random.default_rng(seed).permutation(len(X))[:_SAMPLED]
    centers = group_few_rows(X[some], k, seed=seed, n_init=_STARTS).centers
    nearest = cdist(X, centers, "sqeuclidean").argmin(axis=1)
    return np.unique(nearest, return_inverse=True)[1]


def _described(pair: Pair, X: Array, member: NDArray[np.bool_]) -> str:
    """What is special about the rows of a group: up to three columns that lie far from the others."""
    names = [pair.labels[j] for j in np.flatnonzero(pair.measured)]
    apart = X[member].mean(axis=0) - X[~member].mean(axis=0)
    order = np.argsort(-np.abs(apart), kind="stable")[:3]
    far = [j for j in order if abs(apart[j]) >= _NAMED * abs(apart[order[0]])]
    return ", ".join(f"{'high' if apart[j] > 0 else 'low'} {names[j]}" for j in far)
